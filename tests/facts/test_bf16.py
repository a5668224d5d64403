"""What can be compared between two precisions, and how far apart the records say they are at least."""

from calaudit.checks.g01_reference.bf16_out_of_tolerance import _margin
from calaudit.facts.reference.bf16 import Likeness, Pair, difference, likeness, top_differences
from calaudit.facts.reference.output_records import Output, Step
from calaudit.model import Location


def step(*top: tuple[int, float], sha256: str = "") -> Step:
    return Step(token=top[0][0], margin=top[0][1] - top[1][1], top=top, logits_sha256=sha256)


def output(*steps: Step) -> Output:
    return Output(at=Location(path="x"), sample_id="s", dtype="d", steps=steps, refused=None)


def test_the_step_after_the_first_other_token_had_another_input() -> None:
    same, other = step((1, 2.0), (2, 1.0)), step((2, 2.0), (1, 1.0))
    pair = Pair(single=output(same, same, same), half=output(same, other, same))
    assert [number for number, _, _ in pair.comparable()] == [0, 1]


def test_difference_of_the_top_token() -> None:
    assert difference(step((1, 2.0), (2, 1.0)), step((2, 1.75), (1, 1.5))) == 0.5
    assert difference(step((1, 2.0), (2, 1.0)), step((2, 1.75), (3, 1.5))) is None


def test_a_token_that_a_list_lacks_is_below_its_last() -> None:
    single, half = step((1, 5.0), (2, 1.0)), step((3, 2.0), (2, 1.0))
    assert {token: apart for apart, token in top_differences(single, half)} == {1: 4.0, 2: 0.0, 3: 1.0}


def test_margin_over_a_token_that_the_list_lacks() -> None:
    single = step((1, 5.0), (2, 4.5), (3, 4.0))
    assert (_margin(single, 2), _margin(single, 9)) == (0.5, 1.0)


def test_likeness() -> None:
    one, two = step((1, 2.0), (2, 1.0), sha256="a"), step((1, 2.5), (2, 1.0), sha256="b")
    same = likeness([(output(one), output(one))])
    assert (same.steps, same.digests, same.values) == (1, 1.0, 1.0)
    other = likeness([(output(one), output(two))])
    assert (other.digests, other.values) == (0.0, 0.5)
    renamed = step((1, 2.0), (2, 1.0), sha256="c")  # another digest over the very logits
    assert likeness([(output(one), output(renamed))]).values == 1.0
    apart = step((3, 2.0), (4, 1.0), sha256="a")  # behind another token, and no token in common
    found = likeness([(output(apart, one), output(one, one))])
    assert (found.steps, found.digests, found.values) == (1, 1.0, 0.0)


def test_likeness_of_nothing() -> None:
    assert likeness([]) == Likeness(steps=0, digests=0.0, values=0.0)

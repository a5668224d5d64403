"""Which token ids to feed, call by call, to reach a tensor of a profile and a step."""

from collections.abc import Sequence

from calaudit.errors import Malformed

__all__ = ["feeds"]


def feeds(prompt: Sequence[int], generated: Sequence[int], profile: str, step: int) -> list[Sequence[int]]:
    """The calls of a model; the tensor is that of the last one.

    - ``prefill``, step 0: the whole prompt at once.
    - ``decode``, step 0: all but the last token of the prompt, then that one alone.
    - ``decode``, step n: the whole prompt, then the first n generated tokens one by one.

    Raises:
        Malformed: there is no such step.
    """
    if profile == "prefill" and step == 0 and prompt:
        return [prompt]
    if profile == "decode" and step == 0 and prompt:
        return [call for call in (prompt[:-1], prompt[-1:]) if call]
    if profile == "decode" and 0 < step <= len(generated) and prompt:
        return [prompt, *([token] for token in generated[:step])]
    raise Malformed(
        f"There is no {profile} step {step} of a prompt of {len(prompt)} tokens with {len(generated)} expected ones."
    )

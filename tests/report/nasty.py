"""Reports in which every string that can come from a port is hostile."""

from dataclasses import replace

from hypothesis import strategies as st

from calaudit.model import Kind, Location, Port, Report, Suppression, TrustSummary, Verdict
from tests.report import samples

HOSTILE = (
    "\x1b[2J\x1b]0;title\x07",
    "line\nbreak\r\nreturn",
    "\u202egnp.exe\u2066\u2069",
    "a\ud800b",
    "\x00\x7f\x9b\ufffe\uffff",
    "`code` **bold** | cell <script>alert(1)</script>",
    "]]><!-- &amp; -->",
    "::error file=x::owned",
    "::set-output name=a::b",
    "##[error]owned ##vso[task.setvariable]",
    "100% %0A, a:b,c",
    "[click](http://example.invalid) {0} {{",
    "\u200b\u200d\ufeff\U000e0041",
    "参考输出" * 40,
    "x" * 300,
    "",
    " ",
)

text = st.one_of(
    st.sampled_from(HOSTILE),
    st.text(st.characters(exclude_categories=()), max_size=60),
    st.lists(st.sampled_from(HOSTILE), max_size=4).map(" ".join),
)
locations = st.one_of(
    st.none(),
    st.builds(
        Location,
        path=text.filter(bool),
        pointer=st.one_of(st.none(), text),
        line=st.one_of(st.none(), st.integers(min_value=1, max_value=10**6)),
    ),
)


@st.composite
def reports(draw: st.DrawFn) -> Report:
    """A report of one failed gate and one incomplete one."""
    keys = list(samples.RULES)

    def result(gate: str) -> object:
        key = draw(st.sampled_from([k for k in keys if k.startswith(("common", gate))]))
        made = samples.result(key, gate, draw(st.sampled_from(list(Kind))), draw(text), location=draw(locations))
        optional = st.one_of(st.none(), text)
        waiver = Suppression(
            waiver=draw(text), reason=draw(text), ticket=draw(text), until=draw(text), by=(draw(text),)
        )
        suppression = waiver if made.kind is Kind.FAIL and draw(st.booleans()) else None
        return replace(made, expected=draw(optional), actual=draw(optional), suppression=suppression)

    gates = [
        replace(
            samples.gate(
                name,
                *(result(name) for _ in range(draw(st.integers(min_value=1, max_value=4)))),  # type: ignore[arg-type]
                verdict=verdict,
            ),
            owned_by=(draw(text),),
            signed_by=(draw(text),),
        )
        for name, verdict in (("G1", Verdict.FAILED), ("G2", Verdict.INCOMPLETE))
    ]
    port = Port(id=draw(text), profile=draw(text), stage=draw(text), claim="G2")
    trust = TrustSummary(
        origin=draw(text),
        label=draw(text),
        root_version=1,
        registry_version=1,
        registry_digest="4f" * 32,
        rollback_checked=draw(st.booleans()),
    )
    return samples.report(Verdict.FAILED, 1, *gates, port=port, notes=(draw(text),), unsafe=(draw(text),), trust=trust)

"""There is one chat template that everybody can find, or a reason why there is none.

Why: Whoever serves a chat model without its template makes one up, and the model answers worse for a reason no test
of the port shows. Two templates are two products.
Fix: Take the template from the model and record its place and digest in tokenizer-conformance.json. For a base model,
which has none, write that as the reason.
"""

from collections.abc import Iterator

from calaudit.checks import View, check
from calaudit.facts.tokens.chat_template import ChatTemplatesFact
from calaudit.facts.tokens.conformance import CONFORMANCE, ConformanceFact
from calaudit.model import Location, Result


@check("chat-template-missing", gate="G1")
def chat_template_missing(view: View) -> Iterator[Result]:
    """Compare the templates in the source with what the report says."""
    found = view.fact(ChatTemplatesFact)
    for at in found.faults:
        yield view.fail("Here should be a chat template, and there is none.", at=at)
    defaults = [t for t in view.each(found.templates) if t.default]
    for template in defaults[1:]:
        if template.sha256 != defaults[0].sha256:
            yield view.fail(
                "The source has two chat templates that differ.",
                at=template.at,
                expected=f"that of {defaults[0].at}",
                actual=f"sha256 {template.sha256}",
            )
    view.saw()
    claim = view.fact(ConformanceFact).document["chat_template"]
    if claim["present"]:
        yield from _present(view, found, claim["where"], claim["sha256"])
    elif found.templates:
        yield view.fail(
            "The report says that there is no chat template, but the source has one.",
            at=Location(path=CONFORMANCE, pointer="/chat_template/present"),
            expected=f"true, at {found.templates[0].at}",
            actual="false",
        )
    elif not _is_reason(view, claim["reason"]):
        yield view.fail(
            "There is no chat template, and no reason why.",
            at=Location(path=CONFORMANCE, pointer="/chat_template/reason"),
            expected="a template, or a sentence such as: a base model, not tuned for chats",
            actual=claim["reason"] or "null",
        )


def _present(view: View, found: ChatTemplatesFact, where: str | None, sha256: str | None) -> Iterator[Result]:
    template = next((t for t in found.templates if str(t.at) == where), None)
    if template is None:
        yield view.fail(
            "The chat template is not where the report says.",
            at=Location(path=CONFORMANCE, pointer="/chat_template/where"),
            expected=", ".join(str(t.at) for t in found.templates) or "a template in the source",
            actual=where or "null",
        )
    elif template.sha256 != sha256:
        yield view.fail(
            "The chat template is another than the report says.",
            at=Location(path=CONFORMANCE, pointer="/chat_template/sha256"),
            expected=template.sha256,
            actual=sha256 or "null",
        )


def _is_reason(view: View, reason: str | None) -> bool:
    words = view.facts.contract.gates.placeholders
    return reason is not None and len(reason.split()) > 1 and not words.is_placeholder(reason)

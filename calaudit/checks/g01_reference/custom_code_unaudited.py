"""Every piece of code that comes with the model was read and approved, by its digest.

Why: Custom modelling code, and any pickle, runs with the rights of whoever loads the model. Code that is fetched at
load time can be another tomorrow.
Fix: Remove the code and the pickles (safetensors hold weights without code), or let a named person read each file and
enter it, with its SHA-256 and verdict, in 00-source/code-audit.json. Never load with trust_remote_code from
elsewhere.
"""

from collections.abc import Iterator

from calaudit.checks import View, check
from calaudit.checks.g01_reference._parts import in_parts
from calaudit.evidence import Entry
from calaudit.facts.reference.custom_code import CodeAuditFact, CustomCodeFact
from calaudit.facts.source.manifest import PATH as MANIFEST
from calaudit.model import Location, Result


@check("custom-code-unaudited", gate="G1", unwaivable=True)
def custom_code_unaudited(view: View) -> Iterator[Result]:
    """Match code files and references with the audit."""
    yield from in_parts(view, _references, _declared, _files)


def _references(view: View) -> Iterator[Result]:
    code = view.fact(CustomCodeFact)
    view.saw(code.examined)
    for reference in code.references:
        if reference.path is None:
            yield view.fail(
                f"The model loads code from another repository: {reference.target}.",
                at=reference.at,
                expected="code inside 00-source/hf-config",
            )
        elif reference.path not in code.files:
            yield view.fail(
                f"The model loads {reference.target}, but {reference.path} is not in the port.", at=reference.at
            )
    if not code.files:
        for at in code.trusts_remote:
            yield view.fail("Code from elsewhere is trusted here, and none of it is in the port.", at=at)


def _declared(view: View) -> Iterator[Result]:
    code = view.fact(CustomCodeFact)
    found = bool(code.files or code.references)
    if code.declared is not None and code.declared != found:
        yield view.fail(
            "The manifest is wrong about custom code.",
            at=Location(path=MANIFEST, pointer="/architecture/custom_code"),
            expected=f"{str(found).lower()}: {', '.join(code.files[:3]) or 'no code, no auto_map'}",
            actual=str(code.declared).lower(),
        )


def _files(view: View) -> Iterator[Result]:
    code = view.fact(CustomCodeFact)
    if not code.code:
        return
    audit = view.fact(CodeAuditFact)
    for entry in view.each(code.code):
        yield from _audited(view, audit, entry)


def _audited(view: View, audit: CodeAuditFact, entry: Entry) -> Iterator[Result]:
    entries = audit.by_path.get(entry.path, ())
    about = [e for e in entries if e.sha256 == entry.sha256]
    if not entries:
        yield view.fail("Nobody has audited this code.", at=entry.path, expected="an entry in code-audit.json")
    elif not about:
        yield view.fail(
            "Another version of this code was audited.",
            at=entries[0].at,
            expected=f"sha256 {entry.sha256}",
            actual=f"sha256 {entries[0].sha256}",
        )
    for found in about:
        if not found.approved:
            yield view.fail(f"{found.auditor} rejected this code: {entry.path}.", at=found.at)
        elif not found.auditor.strip():
            yield view.fail(f"The audit of {entry.path} names nobody.", at=found.at)

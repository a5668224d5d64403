"""README.md of a vendor kit: what is asked for, and the exact commands."""

import shlex
from collections.abc import Iterator, Mapping, Sequence

from calaudit.trust.steps import ChainStep

__all__ = ["readme"]


def readme(  # noqa: PLR0913 - what it tells, by name
    *,
    port: str,
    roles: Sequence[str],
    steps: Sequence[ChainStep],
    missing: Mapping[str, str],
    documents: Mapping[str, tuple[str, str]],
    layout: bool,
) -> str:
    """The text.

    ``missing`` are titles of deliverables by id; ``documents`` the format and the CUE definition by path.
    """
    parts = [
        *_head(port, roles, layout=layout),
        *_owed(missing),
        *_vetting(documents),
        *_steps(steps),
        *_return(port),
    ]
    return "\n".join(parts) + "\n"


def _head(port: str, roles: Sequence[str], *, layout: bool) -> Iterator[str]:
    yield f"# Vendor kit of the port {port}"
    yield ""
    yield f"For whoever is {' and '.join(roles)}. Unpack it into an empty folder and work there: paths are relative to"
    yield "that folder, and are those of the port."
    yield ""
    yield "- `manifest.json`: digests of all files here, and of what the steps read"
    yield "- `port.yaml`: the steps that are yours"
    yield "- `schemas/`, `cue/`: what documents have to look like"
    yield "- `vendor/kickoff.json`: what came, and what has not, if the port has the list"
    if layout:
        yield "- `attestations/root.layout`: the signed in-toto layout of the port; do not change it"


def _owed(missing: Mapping[str, str]) -> Iterator[str]:
    yield ""
    yield "## What is missing"
    yield ""
    if not missing:
        yield "Nothing: all eight deliverables of the kick-off came."
        return
    yield from (f"- `{item}`: {title}" for item, title in missing.items())
    yield ""
    yield "Each with its SHA-256 and a version."


def _vetting(documents: Mapping[str, tuple[str, str]]) -> Iterator[str]:
    yield ""
    yield "## Vet documents before you send them"
    yield ""
    yield "With nothing but the `cue` command (0.12 or newer); no output means that a document follows its definition:"
    yield ""
    yield "```console"
    for path, (form, name) in documents.items():
        yield f"$ cue vet -c -E -d '#{name}' cue/*.cue {form}: {path}"
    yield "```"


def _steps(steps: Sequence[ChainStep]) -> Iterator[str]:
    yield ""
    yield "## Run and attest"
    yield ""
    if not steps:
        yield "The port declares no step of yours yet: there is nothing to attest."
        return
    yield "Sign with a key whose public half the port's owners have in their registry, for the role's functionary. Run"
    yield "a step here, with what it reads and no file that it does not declare. What it reads is not in this kit: the"
    yield "port's owners send it, and `manifest.json` has the digests, which `calaudit attest` holds it against."
    for step in steps:
        yield from _step(step)


def _step(step: ChainStep) -> Iterator[str]:
    command = shlex.join(step.command)
    yield ""
    yield f"### {step.name} ({step.gate}, signed by {step.functionary})"
    yield ""
    yield f"It reads {_listed(step.inputs)} and writes {_listed(step.products)}. The command has to be the one that is"
    yield "written here. With calaudit, after the build:"
    yield ""
    yield "```console"
    yield f"$ calaudit attest {step.name} . --key KEY.pem \\"
    yield "    --started 2026-01-01T00:00:00Z --finished 2026-01-01T01:00:00Z \\"
    yield f"    -- {command}"
    yield "```"
    yield ""
    yield "With in-toto alone, which runs the command itself:"
    yield ""
    yield "```console"
    yield "$ mkdir -p attestations"
    yield f"$ in-toto-run --step-name {step.name} --use-dsse --signing-key KEY.pem --metadata-directory attestations \\"
    yield f"    --materials {_operands(step.inputs)} --products {_operands(step.products)} \\"
    yield f"    -- {command}"
    yield "```"


def _return(port: str) -> Iterator[str]:
    yield ""
    yield "## Send it back"
    yield ""
    yield "One plain tar archive (not compressed) with regular files: `attestations/`, `vendor/`, and the products that"
    yield "your attestations name. What came with this kit stays out, unless you changed it: it is older than"
    yield "`manifest.json`, or as old."
    yield ""
    yield "```console"
    yield "$ find attestations vendor PRODUCTS… -type f -newer manifest.json -print0 | sort -z \\"
    yield "    | tar --null -T - --owner 0 --group 0 --numeric-owner -cf return.tar"
    yield "```"
    yield ""
    yield f"The port's owners take it in with `calaudit receive return.tar {port}`, which refuses it whole where one"
    yield "thing is wrong, and says what."


def _listed(patterns: Sequence[str]) -> str:
    return ", ".join(f"`{pattern}`" for pattern in patterns)


def _operands(patterns: Sequence[str]) -> str:
    """As in-toto takes them: it records a folder with all that is in it."""
    return " ".join(shlex.quote(pattern.removesuffix("/**")) for pattern in patterns)

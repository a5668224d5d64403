"""One step from its inputs to its published products: all of it, or nothing."""

import errno
import os
import uuid
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from calaudit.errors import UsageError
from calaudit.execute import journal, workspace
from calaudit.execute.attested import number_for, outdated
from calaudit.execute.ending import demand_good_end, demand_no_leak, logs
from calaudit.execute.executor import Executor
from calaudit.execute.masking import Needles, masked_text, read_secrets
from calaudit.execute.nouns import Job, Record, Step, StepFailed, Toolchain
from calaudit.execute.record import Tree
from calaudit.trust.isolation import builder_id

__all__ = ["LOG_CAP", "Attest", "Setting", "execute", "publish", "run_step"]

LOG_CAP = 16 << 20
"""Bytes of each stream that are kept; what a command writes beyond them is counted and dropped."""

Attest = Callable[[Record, int], Mapping[str, bytes]]
"""The signed files about a record, by port-relative path; the number is that of the statement."""


@dataclass(frozen=True, kw_only=True)
class Setting:
    """What a run takes from whoever starts it.

    ``attest`` signs (None: nothing is signed), ``keyid`` is the id of its key. ``environment`` is where secrets come
    from. ``runs`` holds workspaces, ``logs`` the logs; both lie outside the port. ``invocation`` names the run: a new
    id, unless the bytes that it goes into have to be those of another run.
    """

    port: Path
    name: str
    executor: Executor
    toolchain: Toolchain | None
    runs: Path
    logs: Path
    attest: Attest | None = None
    keyid: str = ""
    environment: Mapping[str, str] = field(default_factory=lambda: dict(os.environ), repr=False)
    log_cap: int = LOG_CAP
    reached: journal.Reached = lambda _: None
    invocation: Callable[[Step], str] = lambda _: str(uuid.uuid4())
    started: Callable[[Job], None] = lambda _: None


def run_step(step: Step, setting: Setting) -> Record:
    """Run a step and publish what it made; the caller holds the port's lock.

    Raises:
        UsageError: something that the step needs is missing; it did not run.
        StepFailed: it ran, and nothing of it is published; the message names the logs.
    """
    invocation = setting.invocation(step)
    with workspace.workspace(setting.runs, invocation) as space:
        record = execute(step, setting, space, invocation)
        publish(record, setting, space.port)
    return record


def execute(step: Step, setting: Setting, space: workspace.Workspace, invocation: str) -> Record:
    """Run a step in a workspace; its products stay there.

    Raises:
        UsageError, StepFailed: as :func:`run_step`.
    """
    secrets = read_secrets(step.secrets, setting.environment)
    try:
        return _execute(step, setting, space, invocation, secrets)
    except (StepFailed, UsageError) as error:
        # A command chooses the names of files, and messages name files.
        said = masked_text(str(error), Needles(secrets))
        if said == str(error):
            raise
        if isinstance(error, StepFailed):
            raise StepFailed(said, interrupted=error.interrupted) from None
        raise UsageError(said) from None


def _execute(
    step: Step, setting: Setting, space: workspace.Workspace, invocation: str, secrets: Mapping[str, str]
) -> Record:
    present = Tree(setting.port).digests(step.inputs)
    inputs = workspace.fill(space.port, setting.port, step, present)
    folder = setting.logs / setting.name
    folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    job = Job(
        argv=step.run,
        invocation=invocation,
        workspace=space.port,
        sealed=workspace.sealed(step, inputs),
        private=space.private,
        stdout=folder / f"{step.name}.{invocation}.stdout.log",
        stderr=folder / f"{step.name}.{invocation}.stderr.log",
        log_cap=setting.log_cap,
        env=step.env,
        secrets=secrets,
        network=step.network,
        image=step.image,
        toolchain=setting.toolchain,
        timeout_s=step.timeout_s,
    )
    setting.started(job)
    outcome = setting.executor.run(job)
    demand_good_end(step, outcome)
    try:
        products = workspace.collect(space.port, step, inputs)
        demand_no_leak(step, space.port, products, secrets)
    except StepFailed as failed:
        raise StepFailed(f"{failed}\n{logs(outcome)}") from failed
    toolchain = setting.toolchain
    return Record(
        port=setting.name,
        step=step,
        command=step.run,
        materials=inputs,
        products=products,
        toolchain=toolchain,
        executor=setting.executor.kind,
        builder=builder_id(setting.executor.kind),
        guarantees=setting.executor.guarantees,
        outcome=outcome,
        invocation=invocation,
        versions={**({} if toolchain is None else toolchain.versions), **setting.executor.versions()},
    )


def publish(record: Record, setting: Setting, space: Path) -> None:
    """Put the products of a record, and what is signed about it, into the port; take away what they replace.

    Raises:
        StepFailed: the disk is full, or cannot be written; or a product is another file than the record says.
        UsageError: something is in the way.
    """
    step, port = record.step, setting.port
    gone = outdated(port, step, materials=record.materials, products=record.products)
    signed: Mapping[str, bytes] = {}
    if setting.attest is not None:
        signed = setting.attest(record, number_for(port, step, setting.keyid, without=gone))
    writes: dict[str, Path | bytes] = {path: space / path for path in record.products}
    writes |= signed
    removes = {*gone, *Tree(port).digests(step.products)} - set(writes)
    try:
        journal.publish(port, writes, removes, digests=record.products, reached=setting.reached)
    except journal.Swapped as error:
        raise StepFailed(f"The products of {step.name} are not what it made. {error} Nothing was published.") from error
    except OSError as error:
        after = " Run again to complete it." if journal.pending(port) else " Nothing was changed in it."
        what = "there is no space left" if error.errno in (errno.ENOSPC, errno.EDQUOT) else str(error.strerror)
        raise StepFailed(f"The products of {step.name} could not be put into {port}: {what}.{after}") from error

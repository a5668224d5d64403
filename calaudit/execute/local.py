"""``local``: a process of this user, in a clean environment and a private workspace, and not shut in at all.

While it runs, the environment and the memory of calaudit itself, where a passphrase may be, are closed to it. Not when
calaudit runs as root; and what other processes and files of this user hold is open to it like to any program.
"""

import platform
from collections.abc import Mapping

from calaudit.execute.executor import base_environment, system_version
from calaudit.execute.nouns import Guarantees, Job, Outcome
from calaudit.execute.process import Spawn, supervise
from calaudit.trust.isolation import Isolation

__all__ = ["Local"]


class Local:
    """Runs a command with declared variables only; it could read any file and reach any network all the same."""

    kind = "local"
    guarantees = Guarantees(isolation=Isolation.NONE, network=False, inputs=False)

    def probe(self) -> None:
        """It always works."""

    def versions(self) -> Mapping[str, str]:
        """The system."""
        return {"system": system_version(), "machine": platform.machine()}

    def run(self, job: Job) -> Outcome:
        """Run it in the workspace itself; ``inside``, ``hostname`` and ``uid`` of the job mean nothing here."""
        env = base_environment(job, home=str(job.private / "home"), tmp=str(job.private / "tmp"))
        return supervise(job, Spawn(argv=job.argv, env={**env, **job.secrets}, cwd=job.workspace))

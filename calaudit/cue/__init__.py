"""The real ``cue`` command, which vets a document against an organisation's ``.cue`` policy.

CUE has no engine in Python, so the command is found, identified by the SHA-256 of the bytes that are executed, and run
shut in. Whatever it does not clearly accept is a fault: there is no way here to a pass by accident. The library
(:mod:`calaudit.api`) starts no process, so it never imports this package: the command line hands it a :class:`Cue`.
"""

from calaudit.cue.engine import Cue
from calaudit.cue.output import Fault
from calaudit.cue.search import find

__all__ = ["Cue", "Fault", "find"]

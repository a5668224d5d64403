"""Evidence: the only walk, strict parsers, streaming hashes; each byte is read once.

:func:`gather` reads a port and hands back :class:`Evidence`: bytes, digests and documents, unjudged. What it meets on
the way (a link, a malformed document, a file that changes meanwhile) is a :class:`~calaudit.model.Problem` in the words
of the rule that will report it. Whatever the port holds, it gives results and never an exception.
"""

from calaudit.evidence.gathering import gather
from calaudit.evidence.nouns import Block, Checksum, Entry, Record
from calaudit.evidence.store import Evidence

__all__ = ["Block", "Checksum", "Entry", "Evidence", "Record", "gather"]

"""Trust: who signed what, verified; nothing here signs, reads a file, knows the time or connects.

A station takes bytes and ``now`` and goes through numbered steps; the first one that does not hold is named by its own
rule, and what comes after it is not looked at. Three parts build on each other:

1. :func:`establish`: from the pinned root to a sound role registry (``root``, ``registry``);
2. ``envelope``, ``signatures``: a DSSE envelope or Sigstore bundle, parsed once, whose every signature is by a role;
3. ``signoff``, ``waiver``, ``provenance``: what a statement says, held against the port as it is now.

The design document puts trust below evidence. It stands above it: envelopes and registries are read by the one strict
parser and held to the contract's schemas, since a second reader of the same bytes is how forgeries begin.

Importing this package is cheap: what verifies (python-tuf, securesystemslib) is imported when there is a root.
"""

from calaudit.trust.establishing import establish
from calaudit.trust.fault import Fault, Refused
from calaudit.trust.nouns import Signed, Slot, Trust
from calaudit.trust.source import Seen, TrustSource

__all__ = ["Fault", "Refused", "Seen", "Signed", "Slot", "Trust", "TrustSource", "establish"]

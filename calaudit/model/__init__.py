"""The nouns: frozen, from the standard library only, without I/O.

Everything the auditor passes from one station to the next is one of these. Paths are port-relative POSIX paths in
Unicode NFC; a name that is not UTF-8 is shown with backslash escapes. Digests are lower-case hexadecimal SHA-256.
"""

from calaudit.model.data import Json, plain
from calaudit.model.declared import ArtifactSpec, Duty, Format, Gate, HashList
from calaudit.model.reports import Artifact, GateReport, Port, Report, TechnicalVerdict, TrustSummary
from calaudit.model.results import EVERY_GATE, PORT, Kind, Level, Location, Problem, Result, Rule, Suppression, Verdict

__all__ = [
    "EVERY_GATE",
    "PORT",
    "Artifact",
    "ArtifactSpec",
    "Duty",
    "Format",
    "Gate",
    "GateReport",
    "HashList",
    "Json",
    "Kind",
    "Level",
    "Location",
    "Port",
    "Problem",
    "Report",
    "Result",
    "Rule",
    "Suppression",
    "TechnicalVerdict",
    "TrustSummary",
    "Verdict",
    "plain",
]

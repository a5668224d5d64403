"""What of a port is signed: its signoffs, waivers and attestations, each held against the port as it is now.

Every file in ``signoffs/``, ``waivers/`` and ``attestations/`` comes to something: it holds, or it is a fault with a
rule. Nothing is left out because of its name.
"""

from collections.abc import Mapping

from calaudit.contract import Contract
from calaudit.evidence import Evidence
from calaudit.model import Port, Rule, TechnicalVerdict
from calaudit.signed.attestations import read_attestations, read_links
from calaudit.signed.grounds import Grounds
from calaudit.signed.signoffs import read_slots
from calaudit.signed.waivers import read_waivers
from calaudit.trust import Fault, Signed, Trust

__all__ = ["read_signed"]


def read_signed(  # noqa: PLR0913 - everything that signatures are held against
    evidence: Evidence,
    contract: Contract,
    trust: Trust,
    *,
    port: Port,
    unread: frozenset[str] = frozenset(),
    technical: Mapping[str, TechnicalVerdict],
    rules: Mapping[str, Rule],
) -> Signed:
    """Verify everything that is signed in a port.

    ``technical`` holds the verdict of every gate that was judged; ``rules`` the metadata of the planned rules.
    ``unread`` are the members of ``port`` that cannot be read from its manifest. Without a sound registry nothing is
    verified and nothing holds.
    """
    if trust.registry is None:
        return Signed(trust=trust)
    grounds = Grounds(
        evidence=evidence,
        contract=contract,
        trust=trust,
        registry=trust.registry,
        port=port,
        unread=unread,
        technical=technical,
        rules=rules,
    )
    faults: list[Fault] = []
    waivers = tuple(read_waivers(grounds, faults))
    attestations = tuple(read_attestations(grounds, faults))
    chain = read_links(grounds, attestations, faults)
    slots = read_slots(grounds, faults)
    return Signed(
        trust=trust, slots=slots, waivers=waivers, attestations=attestations, chain=chain, faults=tuple(faults)
    )

"""Somebody who can sign: a trust root, a registry and every role's keys, made from seeds, so that all runs agree.

Forgers have it too. It writes what `calaudit signoff` and `calaudit run` would, without asking whether it is right.
"""

import copy
import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from functools import cache
from itertools import count
from pathlib import Path
from typing import Any

import rfc8785
import yaml
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from securesystemslib.signer import CryptoSigner, Key
from tuf.api.metadata import DelegatedRole, Delegations, Metadata, Root, Targets
from tuf.api.serialization.json import JSONSerializer

from calaudit import Report
from calaudit.contract import Contract
from calaudit.model import GateReport
from calaudit.sign.envelopes import sign_payload
from calaudit.trust.envelope import STATEMENT
from calaudit.trust.isolation import ISOLATION, Isolation, builder_id
from calaudit.trust.keys import key_id
from calaudit.trust.roles import FUNCTIONARY, ROLES
from calaudit.trust.source import Seen, TrustSource
from calaudit.trust.steps import ChainStep, read_chain

NOW = datetime(2026, 11, 30, 12, tzinfo=UTC)
EXPIRES = datetime(2027, 11, 30, tzinfo=UTC)
PORT_ID = "tiny-dense"


def key(seed: str) -> CryptoSigner:
    """The ed25519 key of a seed, with its right id."""
    private, keyid, public = _key(seed)
    return CryptoSigner(private, Key.from_dict(keyid, copy.deepcopy(public)))


@cache
def _key(seed: str) -> tuple[Ed25519PrivateKey, str, dict[str, Any]]:
    private = Ed25519PrivateKey.from_private_bytes(hashlib.sha256(seed.encode()).digest())
    public = CryptoSigner(private).public_key
    return private, key_id(public), public.to_dict()


def public(signer: CryptoSigner) -> Key:
    return signer.public_key


def files(port: Path) -> dict[str, str]:
    """Every file of a port and its SHA-256."""
    found = sorted(path for path in port.rglob("*") if path.is_file())
    return {path.relative_to(port).as_posix(): hashlib.sha256(path.read_bytes()).hexdigest() for path in found}


def named(digests: Mapping[str, str]) -> list[dict[str, Any]]:
    return [{"name": name, "digest": {"sha256": digest}} for name, digest in sorted(digests.items())]


@dataclass
class Authority:
    """Keys, root and registry; change a member, then call :meth:`source` again.

    ``owners`` are the registry's owner entries, ``delegations`` its roles as (key seeds, threshold), ``keyless`` one
    more owner of some roles, who signs without a key.
    """

    version: int = 1
    expires: datetime = EXPIRES
    root_expires: datetime = EXPIRES
    ports: list[str] = field(default_factory=lambda: [PORT_ID])
    root_seeds: list[str] = field(default_factory=lambda: ["root-1", "root-2", "root-3"])
    root_threshold: int = 2
    signed_by: list[str] = field(default_factory=lambda: ["root-1", "root-2"])
    delegations: dict[str, tuple[list[str], int]] = field(default_factory=dict)
    owners: list[dict[str, Any]] = field(default_factory=list)
    revoked: list[dict[str, str]] = field(default_factory=list)
    extra: dict[str, Any] = field(default_factory=dict)
    keyless: dict[str, Key] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if not self.delegations:
            for role in ROLES:
                self.add(role, [role, f"{role}-2"] if role == "release" else [role], 2 if role == "release" else 1)
                self.add(role + FUNCTIONARY, [role + FUNCTIONARY], 1)

    def add(self, role: str, seeds: list[str], threshold: int) -> None:
        """Let one owner a seed own a role."""
        self.delegations[role] = (seeds, threshold)
        for seed in seeds:
            self.owners.append(
                {
                    "name": f"{seed.capitalize()} team",
                    "contact": f"mailto:{seed}@example.org",
                    "role": role,
                    "keyids": [key(seed).public_key.keyid],
                    "delivery_date": "2026-12-01",
                    "delivery_version": "1.0",
                }
            )

    def root(self) -> Metadata[Root]:
        """The root's metadata, signed."""
        root = Root(version=1, expires=self.root_expires)
        for seed in self.root_seeds:
            for role in ("root", "targets"):
                root.add_key(public(key(seed)), role)
        for role in ("snapshot", "timestamp"):
            root.add_key(public(key(self.root_seeds[0])), role)
        root.roles["root"].threshold = root.roles["targets"].threshold = self.root_threshold
        return sign_metadata(Metadata(root), self.signed_by)

    def registry(self) -> Metadata[Targets]:
        """The registry's metadata, signed."""
        keys = {public(key(s)).keyid: public(key(s)) for seeds, _ in self.delegations.values() for s in seeds}
        roles = {
            name: DelegatedRole(name, [public(key(s)).keyid for s in seeds], threshold, True, paths=["*"])
            for name, (seeds, threshold) in self.delegations.items()
        }
        owners = list(self.owners)
        for name, identity in self.keyless.items():
            keys[identity.keyid] = identity
            roles[name].keyids.append(identity.keyid)
            like = next(owner for owner in owners if owner["role"] == name)
            owners.append({**like, "name": "Keyless crew", "keyids": [identity.keyid]})
        members = {
            "schema": "calaudit-registry/v1",
            "label": "tests",
            "ports": self.ports,
            "owners": owners,
            "revoked": self.revoked,
            **self.extra,
        }
        targets = Targets(
            version=self.version,
            expires=self.expires,
            delegations=Delegations(keys, roles),
            unrecognized_fields={"x-calaudit": members},
        )
        return sign_metadata(Metadata(targets), self.signed_by)

    def source(self, **changes: Any) -> TrustSource:
        """What a trust directory with all this would hold; ``changes`` replace members of it."""
        members: dict[str, Any] = {
            "roots": (("1.root.json", to_bytes(self.root())),),
            "registry": to_bytes(self.registry()),
            "origin": "the test's root",
            **changes,
        }
        return TrustSource(**members)

    def seen(self) -> Seen:
        """What somebody remembers who saw this registry."""
        digest = hashlib.sha256(to_bytes(self.registry())).hexdigest()
        root = hashlib.sha256(self.root().signed_bytes).hexdigest()
        return Seen(root_version=1, registry_version=self.version, registry_sha256=digest, root_sha256=root)

    # What is signed --------------------------------------------------------------------------------------------------

    def signoff(
        self, gate: GateReport, role: str, report: Report, port: Path, contract: Contract, **changes: Any
    ) -> dict[str, Any]:
        """The statement of a signoff as it should be; ``changes`` replace members of the predicate."""
        spec = contract.gates.gates.get(gate.gate)
        subjects = {a.path: a.sha256 for a in gate.artifacts}
        if spec is None:
            subjects = {path: digest for path, digest in files(port).items() if path.startswith("vendor/")}
        depends = [
            {"gate": below, "role": by, "digest": payload_digest(port / f"signoffs/{below}.{by}.dsse.json")}
            for below in (spec.depends if spec else ())
            for by in contract.gates.gates[below].signers
        ]
        found = files(port)
        evidence = {
            path: found[path]
            for path in found
            if path.startswith("attestations/")
            and path.endswith(".dsse.json")
            and attested_gate(port / path) == gate.gate
        }
        predicate: dict[str, Any] = {
            "port": report.port.id,
            "profile": report.port.profile,
            "stage": report.port.stage,
            "gate": gate.gate,
            "role": role,
            "decision": "approve",
            "contract": {"version": report.contract_version, "digest": report.contract_digest},
            "registry": {
                "version": self.version,
                "digest": hashlib.sha256(to_bytes(self.registry())).hexdigest(),
            },
            "depends": depends,
            "evidence": named(evidence),
            "waivers": [],
            "signed_on": "2026-11-30T12:00:00Z",
        }
        if spec is not None:
            predicate["technical"] = {"verdict": str(gate.technical), "digest": gate.technical_digest}
        predicate |= changes
        return statement(named(subjects), "urn:calaudit:predicate:gate-signoff:v1", predicate)

    def waiver(self, gate: str, rule: str, path: str, digest: str, **changes: Any) -> dict[str, Any]:
        """The statement of a waiver."""
        predicate = {
            "id": "w-1",
            "port": PORT_ID,
            "gate": gate,
            "rule": rule,
            "reason": "It is mended next week.",
            "ticket": "PORT-17",
            "until": "2027-01-31T00:00:00Z",
            "signed_on": "2026-11-30T12:00:00Z",
            **changes,
        }
        return statement(named({path: digest}), "urn:calaudit:predicate:waiver:v1", predicate)

    def provenance(
        self,
        step: str,
        gate: str,
        invocation: str,
        products: Mapping[str, str],
        materials: Mapping[str, str],
        **changes: Any,
    ) -> dict[str, Any]:
        """The statement of one attested run."""
        predicate = {
            "buildDefinition": {
                "buildType": "urn:calaudit:build:step:v1",
                "externalParameters": {
                    "port": PORT_ID,
                    "step": step,
                    "gate": gate,
                    "command": ["python", "x"],
                    **changes,
                },
                "resolvedDependencies": named(materials),
            },
            "runDetails": {
                "builder": {"id": "urn:calaudit:executor:local:v1"},
                "metadata": {
                    "invocationId": invocation,
                    "startedOn": "2026-11-29T08:00:00Z",
                    "finishedOn": "2026-11-29T08:01:00Z",
                },
            },
        }
        return statement(named(products), "https://slsa.dev/provenance/v1", predicate)

    def sign_port(
        self, port: Path, report: Report, contract: Contract, *, through: Sequence[str] = ("G0", "G1", "G2")
    ) -> None:
        """Attest every run and sign every gate of a port that was audited without signatures."""
        self.attest(port)
        gates = {gate.gate: gate for gate in report.gates}
        self.write_signoff(port, gates["port"], "compiler", report, contract)
        for gate in through:
            for role in contract.gates.gates[gate].signers:
                self.write_signoff(port, gates[gate], role, report, contract)

    def write_signoff(
        self, port: Path, gate: GateReport, role: str, report: Report, contract: Contract, **changes: Any
    ) -> None:
        """Sign one slot as it should be signed."""
        seeds = self.delegations[role][0][: self.delegations[role][1]]
        write(
            port / f"signoffs/{gate.gate}.{role}.dsse.json",
            self.signoff(gate, role, report, port, contract, **changes),
            seeds,
        )

    def attest(self, port: Path) -> None:
        """Provenance of every step of the example port, as often as it is to be built: one run a minute."""
        found = {p: d for p, d in files(port).items() if not p.startswith(("signoffs/", "attestations/", "waivers/"))}
        minutes = count()
        for step in read_chain(yaml.safe_load((port / "port.yaml").read_text("utf-8"))):
            made = step.made(found)
            if not made:
                continue
            report = next((path for path in made if path.endswith("-report.json")), None)
            invocation = "run" if report is None else json.loads((port / report).read_text())["invocation"]["id"]
            for number in range(1, step.rebuilds + 1):
                name = invocation if number == 1 else f"{invocation}-{number}"
                document = self.provenance(
                    step.name, step.gate, f"{step.name}-{name}" if report is None else name, made, step.consumed(found)
                )
                document["predicate"]["buildDefinition"]["externalParameters"]["command"] = list(step.command)
                document["predicate"]["runDetails"]["metadata"].update(minute(next(minutes)))
                run_with(document, step.executor, of=step)
                write_provenance(port, document, step.functionary, number)


def minute(number: int) -> dict[str, str]:
    """When a run began and ended, the first of a morning being number 0."""
    start = datetime(2026, 11, 29, 8, tzinfo=UTC) + timedelta(minutes=number)
    ends = {"startedOn": start, "finishedOn": start + timedelta(minutes=1)}
    return {member: f"{moment:%Y-%m-%dT%H:%M:%SZ}" for member, moment in ends.items()}


def run_with(
    document: dict[str, Any], kind: str, image: str | None = None, *, of: ChainStep | None = None, **said: Any
) -> None:
    """Let provenance say by which executor it was run, in the environment of a step or in none.

    ``said`` are other guarantees than that executor gives.
    """
    level = ISOLATION[kind]
    shut = level > Isolation.NONE
    guarantees = {"isolation": level.word, "networkEnforced": shut, "inputsEnforced": shut, "fixed": [], **said}
    document["predicate"]["runDetails"]["builder"]["id"] = builder_id(kind)
    document["predicate"]["buildDefinition"]["internalParameters"] = {
        "executor": {"kind": kind, "image": image, "network": "none", "guarantees": guarantees},
        "environment": {} if of is None else dict(of.env),
        "secrets": [] if of is None else list(of.secrets),
        "toolchain": None if of is None or of.toolchain is None else {"name": of.toolchain, "digest": {}},
    }


def write_provenance(port: Path, document: Mapping[str, Any], seed: str, number: int = 1) -> Path:
    """Sign provenance and put it where its name says."""
    step = document["predicate"]["buildDefinition"]["externalParameters"]["step"]
    path = port / f"attestations/{step}.{key(seed).public_key.keyid[:8]}.{number}.dsse.json"
    write(path, document, [seed])
    return path


def statement(subject: list[dict[str, Any]], kind: str, predicate: Mapping[str, Any]) -> dict[str, Any]:
    return {"_type": STATEMENT, "subject": subject, "predicateType": kind, "predicate": dict(predicate)}


def write(path: Path, document: Mapping[str, Any], seeds: Iterable[str]) -> None:
    """Sign a statement and write the envelope."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(sign_payload(rfc8785.dumps(dict(document)), [key(seed) for seed in seeds]))


def payload_digest(path: Path) -> str:
    return hashlib.sha256(payload(path)).hexdigest()


def payload(path: Path) -> bytes:
    """The bytes that an envelope's signatures cover."""
    import base64

    return base64.b64decode(json.loads(path.read_text())["payload"])


def attested_gate(path: Path) -> str:
    return str(json.loads(payload(path))["predicate"]["buildDefinition"]["externalParameters"]["gate"])


def sign_metadata(metadata: Metadata[Any], seeds: Iterable[str]) -> Metadata[Any]:
    metadata.signatures.clear()
    for seed in seeds:
        metadata.sign(key(seed), append=True)
    return metadata


def to_bytes(metadata: Metadata[Any]) -> bytes:
    return metadata.to_bytes(JSONSerializer())

"""A transparency log: the Merkle tree of RFC 6962 behind the entry points of Rekor v1 and v2."""

import base64
import hashlib
import json
import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

import rfc8785

from tests.sigstore.certificates import Key, key_id, new_key, now, sign


def b64(data: bytes) -> str:
    return base64.b64encode(data).decode()


def tree_hash(leaves: list[bytes]) -> bytes:
    """The root over leaf hashes; there is at least one."""
    if len(leaves) == 1:
        return leaves[0]
    split = _split(len(leaves))
    return hashlib.sha256(b"\1" + tree_hash(leaves[:split]) + tree_hash(leaves[split:])).digest()


def audit_path(index: int, leaves: list[bytes]) -> list[bytes]:
    """The hashes that lead from one leaf to the root."""
    if len(leaves) == 1:
        return []
    split = _split(len(leaves))
    left, right = leaves[:split], leaves[split:]
    if index < split:
        return [*audit_path(index, left), tree_hash(right)]
    return [*audit_path(index - split, right), tree_hash(left)]


def _split(size: int) -> int:
    """The largest power of two below ``size``."""
    return 1 << ((size - 1).bit_length() - 1)


@dataclass(frozen=True, slots=True)
class Inclusion:
    """A new entry's place in the tree, and the signed note (checkpoint) about the tree."""

    index: int
    size: int
    root: bytes
    path: list[bytes]
    checkpoint: str


@dataclass
class Log:
    """An append-only log; ``origin`` is the name in its checkpoints, which sigstore-js wants to be its host.

    It is born with one leaf: an index of zero is what no real log gives any more, and sigstore-js does not write it.
    """

    clock: Callable[[], datetime] = now
    origin: str = "loopback"
    key: Key = field(default_factory=new_key)
    leaves: list[bytes] = field(default_factory=lambda: [bytes(32)])
    lock: threading.Lock = field(default_factory=threading.Lock)

    @property
    def log_id(self) -> bytes:
        return key_id(self.key)

    def append(self, body: bytes) -> Inclusion:
        with self.lock:
            self.leaves.append(hashlib.sha256(b"\0" + body).digest())
            leaves = list(self.leaves)
        index = len(leaves) - 1
        root = tree_hash(leaves)
        note = f"{self.origin}\n{len(leaves)}\n{b64(root)}\n"
        signature = b64(self.log_id[:4] + sign(self.key, note.encode()))
        checkpoint = f"{note}\n\u2014 {self.origin} {signature}\n"
        return Inclusion(index, len(leaves), root, audit_path(index, leaves), checkpoint)

    def entry_v1(self, request: dict[str, Any]) -> dict[str, Any]:
        """``POST /api/v1/log/entries``: the log notes the time and promises inclusion by its signature over both."""
        body = rfc8785.dumps(_canonical_dsse(request) if request["kind"] == "dsse" else request)
        inclusion = self.append(body)
        entry: dict[str, Any] = {
            "body": b64(body),
            "integratedTime": int(self.clock().timestamp()),
            "logID": self.log_id.hex(),
            "logIndex": inclusion.index,
        }
        proof = {
            "checkpoint": inclusion.checkpoint,
            "hashes": [node.hex() for node in inclusion.path],
            "logIndex": inclusion.index,
            "rootHash": inclusion.root.hex(),
            "treeSize": inclusion.size,
        }
        promise = b64(sign(self.key, rfc8785.dumps(entry)))
        verification = {"signedEntryTimestamp": promise, "inclusionProof": proof}
        return {hashlib.sha256(body).hexdigest(): {**entry, "verification": verification}}

    def entry_v2(self, request: dict[str, Any]) -> dict[str, Any]:
        """``POST /api/v2/log/entries``: no time and no promise, only the proof; the time comes from an authority."""
        kind, spec = _hashed(request) if "hashedRekordRequestV002" in request else _dsse_v2(request)
        body = rfc8785.dumps({"apiVersion": "0.0.2", "kind": kind, "spec": spec})
        inclusion = self.append(body)
        return {
            "logIndex": str(inclusion.index),
            "logId": {"keyId": b64(self.log_id)},
            "kindVersion": {"kind": kind, "version": "0.0.2"},
            "canonicalizedBody": b64(body),
            "inclusionProof": {
                "logIndex": str(inclusion.index),
                "rootHash": b64(inclusion.root),
                "treeSize": str(inclusion.size),
                "hashes": [b64(node) for node in inclusion.path],
                "checkpoint": {"envelope": inclusion.checkpoint},
            },
        }


def _hashed(request: dict[str, Any]) -> tuple[str, dict[str, Any]]:
    """How sigstore-python enters what it signed: by the digest of the signed bytes."""
    asked = request["hashedRekordRequestV002"]
    data = {"algorithm": "SHA2_256", "digest": asked["digest"]}
    return "hashedrekord", {"hashedRekordV002": {"data": data, "signature": asked["signature"]}}


def _dsse_v2(request: dict[str, Any]) -> tuple[str, dict[str, Any]]:
    """How sigstore-js enters an envelope: by the digest of its payload."""
    asked = request["dsseRequestV002"]
    envelope, (verifier,) = asked["envelope"], asked["verifiers"]
    digest = hashlib.sha256(base64.b64decode(envelope["payload"])).digest()
    signatures = [{"content": item["sig"], "verifier": verifier} for item in envelope["signatures"]]
    payload = {"algorithm": "SHA2_256", "digest": b64(digest)}
    return "dsse", {"dsseV002": {"payloadHash": payload, "signatures": signatures}}


def _canonical_dsse(request: dict[str, Any]) -> dict[str, Any]:
    """What Rekor v1 keeps of a proposed DSSE envelope: digests and signatures, not the payload."""
    proposed = request["spec"]["proposedContent"]
    envelope = json.loads(proposed["envelope"])
    (verifier,) = proposed["verifiers"]

    def digest(data: bytes) -> dict[str, Any]:
        return {"algorithm": "sha256", "value": hashlib.sha256(data).hexdigest()}

    return {
        "apiVersion": "0.0.1",
        "kind": "dsse",
        "spec": {
            "envelopeHash": digest(rfc8785.dumps(envelope)),
            "payloadHash": digest(base64.b64decode(envelope["payload"])),
            "signatures": [{"signature": item["sig"], "verifier": verifier} for item in envelope["signatures"]],
        },
    }

"""Hash a tree of 5 GiB (three files of 1.5 GiB and 5 000 of 100 KiB) as `verify` does, as whole processes, warm cache.

Also a tree whose halves are alike against two cores of SHA-256 over memory, and one huge file against one core.
"""

import hashlib
import os
import shlex
import subprocess
import sys
import tempfile
import threading
from collections.abc import Sequence
from pathlib import Path

from bench._timing import Row, inside, main, measure, outside, row, tool

MIB = 1 << 20


def rows(scale: float, repeats: int) -> Sequence[Row]:
    """Make the tree and measure against the peers that are there."""
    with tempfile.TemporaryDirectory() as name:
        root = Path(name)
        tree = root / "tree"
        make(tree, scale)
        me = "calaudit"
        runs = {me: outside([sys.executable, "-m", "bench.hashing", "--gather", str(tree)])}
        limits: dict[str, float] = {}
        for peer, command, limit in peers(root, tree):
            runs[peer] = outside(command, cwd=root)
            limits[peer] = limit
        seconds = measure(runs, repeats=repeats)
        work = f"hash a tree of {5 * scale:.1f} GiB"
        found = [row(seconds, work=work, peer=peer, limit=limit) for peer, limit in limits.items()]
        return [*found, balanced(root, scale, repeats), huge(root, scale, repeats)]


def peers(root: Path, tree: Path) -> list[tuple[str, list[str], float]]:
    """Name, command and limit of each peer that this machine has."""
    found: list[tuple[str, list[str], float]] = []
    files = f"find {shlex.quote(str(tree))} -type f -print0"
    if openssl := tool("openssl"):
        digest = f"{shlex.quote(openssl)} dgst -sha256"
        found += [
            ("openssl dgst, 1 process", ["sh", "-c", f"{files} | xargs -0 {digest}"], 0.62),
            ("openssl dgst, xargs -P2", ["sh", "-c", f"{files} | xargs -0 -P2 -n8 {digest}"], 0.85),
        ]
        make_key(root, openssl)
        if verify := model_signing(root, tree):
            found.append(("model_signing verify", verify, 0.75))
        if recorder := tool("in-toto-run"):
            record = [
                recorder,
                "--step-name",
                "x",
                "--signing-key",
                "key.pem",
                "--materials",
                str(tree),
                "--no-command",
            ]
            found.append(("in-toto-run", record, 0.45))
    return found


def make_key(root: Path, openssl: str) -> None:
    """A key pair for the peers that sign."""
    key = ["genpkey", "-algorithm", "EC", "-pkeyopt", "ec_paramgen_curve:P-256", "-out", "key.pem"]
    for command in (key, ["pkey", "-in", "key.pem", "-pubout", "-out", "pub.pem"]):
        subprocess.run([openssl, *command], cwd=root, check=True, capture_output=True)


def model_signing(root: Path, tree: Path) -> list[str] | None:
    """Sign the tree with the key; the command that verifies it, or None where the peer is missing."""
    signer = tool("model_signing")
    if signer is None:
        return None
    sign = [signer, "sign", "key", str(tree), "--private_key", "key.pem", "--signature", "model.sig"]
    done = subprocess.run(sign, cwd=root, check=False, capture_output=True)
    if done.returncode:
        sys.exit(f"model_signing cannot sign here: {done.stderr.decode(errors='replace')[-300:]}")
    return [signer, "verify", "key", str(tree), "--signature", "model.sig", "--public_key", "pub.pem"]


def balanced(root: Path, scale: float, repeats: int) -> Row:
    """Two big files and small ones, against two threads that each hash half as many bytes, in memory already."""
    folder = root / "balanced"
    big, small = max(32 * MIB, round(1024 * MIB * scale)), round(2000 * scale)
    for number in range(2):
        fill(folder / f"big-{number}", big)
    for number in range(small):
        fill(folder / f"d{number // 100:02}" / f"f{number}.bin", 100 << 10)
    half = (2 * big + small * (100 << 10)) // 2

    def memory() -> None:
        threads = [threading.Thread(target=hash_memory, args=(half,)) for _ in range(2)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()

    peer = "SHA-256 over RAM, 2 threads"
    seconds = measure({"calaudit": inside(lambda: gather_tree(str(folder))), peer: inside(memory)}, repeats=repeats)
    return row(seconds, work=f"hash a balanced tree of {2 * half / MIB:.0f} MiB", peer=peer, limit=1 / 0.78)


def huge(root: Path, scale: float, repeats: int) -> Row:
    """One file alone, against hashing as many bytes that are in memory already."""
    folder = root / "huge"
    size = max(64 * MIB, round(2048 * MIB * scale))
    fill(folder / "one", size)
    peer = "SHA-256 over RAM"
    seconds = measure(
        {"calaudit": inside(lambda: gather_tree(str(folder))), peer: inside(lambda: hash_memory(size))},
        repeats=repeats,
    )
    return row(seconds, work=f"one file of {size / MIB:.0f} MiB", peer=peer, limit=1 / 0.93)


def hash_memory(size: int) -> None:
    """Hash so many bytes (to a MiB) of one block that stays in the cache."""
    block = memoryview(bytes(MIB))
    hasher = hashlib.sha256()
    for _ in range(size // MIB):
        hasher.update(block)


def make(tree: Path, scale: float) -> None:
    """Three big files and many small ones."""
    for number in range(3):
        fill(tree / "weights" / f"part-{number}.bin", round(1536 * MIB * scale))
    for number in range(round(5000 * scale)):
        fill(tree / f"d{number // 100:02}" / f"f{number}.bin", 100 << 10)


def fill(path: Path, size: int) -> None:
    """A file of random bytes (the same MiB again and again: what is in it does not matter)."""
    path.parent.mkdir(parents=True, exist_ok=True)
    block = os.urandom(MIB)
    with path.open("wb") as file:
        while size > 0:
            size -= file.write(block[:size])


def gather_tree(root: str) -> None:
    """What calaudit does with the tree."""
    from bench._contract import OneArtifact, OneSchema
    from calaudit.evidence import gather

    evidence = gather(Path(root), specs=OneArtifact(), schemas=OneSchema())
    if evidence.problems or not evidence.entries:
        sys.exit("the tree was not read")


if __name__ == "__main__":
    if sys.argv[1:2] == ["--gather"]:
        gather_tree(sys.argv[2])
    else:
        main(rows, __doc__ or "")

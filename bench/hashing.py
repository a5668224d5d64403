"""Hash a tree of 5 GiB (three files of 1.5 GiB and 5 000 of 100 KiB) as `verify` does, as whole processes, warm cache.

Also one huge file against one core of SHA-256 over memory.
"""

import hashlib
import os
import shlex
import subprocess
import sys
import tempfile
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
        return [*found, huge(root, scale, repeats)]


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
        key = ["genpkey", "-algorithm", "EC", "-pkeyopt", "ec_paramgen_curve:P-256", "-out", "key.pem"]
        subprocess.run([openssl, *key], cwd=root, check=True, capture_output=True)
        subprocess.run(
            [openssl, "pkey", "-in", "key.pem", "-pubout", "-out", "pub.pem"], cwd=root, check=True, capture_output=True
        )
        if signer := tool("model_signing"):
            sign = [signer, "sign", "key", str(tree), "--private_key", "key.pem", "--signature", "model.sig"]
            done = subprocess.run(sign, cwd=root, check=False, capture_output=True)
            if done.returncode:
                sys.exit(f"model_signing cannot sign here: {done.stderr.decode(errors='replace')[-300:]}")
            verify = [signer, "verify", "key", str(tree), "--signature", "model.sig", "--public_key", "pub.pem"]
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


def huge(root: Path, scale: float, repeats: int) -> Row:
    """One file alone, against hashing as many bytes that are in memory already."""
    from bench._contract import OneArtifact, OneSchema
    from calaudit.evidence import gather

    folder = root / "huge"
    size = max(64 * MIB, round(2048 * MIB * scale))
    fill(folder / "one", size)
    block = memoryview(os.urandom(MIB))

    def memory() -> None:
        hasher = hashlib.sha256()
        for _ in range(size // MIB):
            hasher.update(block)

    def ours() -> None:
        gather(folder, specs=OneArtifact(), schemas=OneSchema())

    seconds = measure({"calaudit": inside(ours), "SHA-256 over RAM": inside(memory)}, repeats=repeats)
    work = f"one file of {size / MIB:.0f} MiB"
    return row(seconds, work=work, peer="SHA-256 over RAM", limit=1 / 0.93)


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

"""Take the SARIF 2.1.0 schema from the npm package that ships it, for the tests: ``python scripts/sarif_schema.py``."""

import hashlib
import subprocess
import tarfile
import tempfile
from pathlib import Path

PACKAGE = "@microsoft/jest-sarif@1.0.0-beta.0"
MEMBER = "package/lib/schemas/sarif-2.1.0-rtm.5.json"
SHA256 = "2d99159ae54a3eea97f81781cff48780548657c35949f4b7f25e99a2ba4de4f8"
TARGET = Path(__file__).resolve().parent.parent / "tests/fixtures/sarif/sarif-schema-2.1.0.json"


def main() -> None:
    """Pack, compare, write."""
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run(["npm", "pack", "--silent", PACKAGE], cwd=folder, check=True)  # noqa: S603, S607 - by its name
        (archive,) = Path(folder).glob("*.tgz")
        with tarfile.open(archive) as tar:
            member = tar.extractfile(MEMBER)
            if member is None:
                raise SystemExit(f"{PACKAGE} has no file {MEMBER}.")
            data = member.read()
    found = hashlib.sha256(data).hexdigest()
    if found != SHA256:
        raise SystemExit(f"{MEMBER} of {PACKAGE}: expected sha256 {SHA256}, found {found}.")
    TARGET.write_bytes(data)
    print(TARGET)


if __name__ == "__main__":
    main()

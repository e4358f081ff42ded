"""Digests of the source files that the product runs: its own, and those of plug-ins.

They are part of the key of every stored report, which may outlive the code that computed it: caches
are kept in the database or in Redis. Any function of the product may change a number, so every
source file counts.
"""

from collections.abc import Iterable
from functools import cache
from hashlib import sha256
from pathlib import Path

from django.conf import settings

from benchmarks.core import plugins
from benchmarks.core.plugins import PlugIn

FOLDERS = ("config", "benchmarks", "annotation", "analysis", "devtools", "templates")
SUFFIXES = {".py", ".html", ".txt", ".yaml"}
LOCK_FILE = "requirements/core.lock"


@cache
def source_digest() -> str:
    """Return the digest of this process's source files, read once.

    The server reads them before it starts its processes, so that all have the digest of the code
    that they loaded, even where a file is edited while they run.
    """
    own = digest_of(settings.BASE_DIR)
    outside = [plug_in_digest(plug_in) for plug_in in plugins.loaded]
    return sha256(" ".join([own, *outside]).encode()).hexdigest() if outside else own


def digest_of(base: Path) -> str:
    """Return the SHA-256 of the source files and the lock file in ``base``, names and contents."""
    files = {path for folder in FOLDERS for path in (base / folder).rglob("*")}
    return _digest(base, {path for path in files if path.suffix in SUFFIXES} | {base / LOCK_FILE})


@cache
def plug_in_digest(plug_in: PlugIn) -> str:
    """Return the SHA-256 of the source files of a plug-in, read once."""
    digests = []
    for root in plugins.source_roots(plug_in):
        files = [path for path in root.rglob("*") if path.suffix in SUFFIXES] or [root]
        digests.append(_digest(root.parent, files))
    return sha256(" ".join(digests).encode()).hexdigest()


def sealed_plug_in(plug_in: PlugIn) -> dict[str, str]:
    """Return what runs and reports record of a plug-in: where it comes from, version, digest."""
    return {
        "kind": plug_in.kind,
        "name": plug_in.name,
        "package": plug_in.package,
        "version": plug_in.version,
        "sha256": plug_in_digest(plug_in),
    }


def _digest(base: Path, files: Iterable[Path]) -> str:
    digest = sha256()
    for path in sorted(files):
        content = path.read_bytes()
        digest.update(f"{path.relative_to(base).as_posix()}\0{len(content)}\0".encode())
        digest.update(content)
    return digest.hexdigest()

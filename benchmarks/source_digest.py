"""A digest of the source files that the product runs: part of the key of every stored report.

A stored report may outlive the code that computed it: caches are kept in the database or in Redis.
Any function of the product may change a number, so every source file counts.
"""

from functools import cache
from hashlib import sha256
from pathlib import Path

from django.conf import settings

FOLDERS = ("config", "benchmarks", "annotation", "analysis", "devtools", "templates")
SUFFIXES = {".py", ".html", ".txt", ".yaml"}
LOCK_FILE = "requirements/core.lock"


@cache
def source_digest() -> str:
    """Return the digest of this process's source files, read once.

    The server reads them before it starts its processes, so that all have the digest of the code
    that they loaded, even where a file is edited while they run.
    """
    return digest_of(settings.BASE_DIR)


def digest_of(base: Path) -> str:
    """Return the SHA-256 of the source files and the lock file in ``base``, names and contents."""
    files = (path for folder in FOLDERS for path in (base / folder).rglob("*"))
    digest = sha256()
    for path in sorted({path for path in files if path.suffix in SUFFIXES} | {base / LOCK_FILE}):
        content = path.read_bytes()
        digest.update(f"{path.relative_to(base).as_posix()}\0{len(content)}\0".encode())
        digest.update(content)
    return digest.hexdigest()

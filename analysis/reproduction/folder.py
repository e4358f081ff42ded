"""A reproduction as a folder: written whole or not at all, and checked file by file."""

import json
import os
import shutil
import tempfile
from collections.abc import Iterable
from hashlib import sha256
from pathlib import Path
from typing import Any

from analysis.reproduction.files import FORMAT, MANIFEST
from benchmarks.core.errors import CoreError


class FolderRefused(CoreError):
    """A folder that would be written over, or that does not hold what it should."""


def check_target(target: Path, design_digest: str, *, force: bool) -> None:
    """Refuse a folder that holds anything but an earlier reproduction of the same design.

    With ``force`` such a folder is set aside, never deleted.
    """
    if target.is_symlink() or (target.exists() and not target.is_dir()):
        raise FolderRefused(f"{target} exists and is no folder; name another one")
    if force or _is_ours(target, design_digest):
        return
    raise FolderRefused(
        f"{target} holds something else; name a new folder, or take --force, which sets it aside"
    )


def _is_ours(target: Path, design_digest: str) -> bool:
    """Whether there is nothing, or a reproduction of this design with nothing else beside it."""
    if not target.exists() or not any(target.iterdir()):
        return True
    try:
        manifest = read_manifest(target)
    except FolderRefused:
        return False
    return manifest.get("design_digest") == design_digest and not folder_faults(target, manifest)


def write_folder(
    target: Path, files: Iterable[tuple[str, bytes]], design_digest: str, *, force: bool
) -> int:
    """Write all files beside the target, then put the folder in its place; how many there are.

    Cut off at any moment there is the old folder or the new one; what is left of a half-written
    one has another name and no manifest.
    """
    target = target.absolute()
    target.parent.mkdir(parents=True, exist_ok=True)
    part = Path(tempfile.mkdtemp(prefix=f".{target.name}-partial-", dir=target.parent))
    count = 0
    try:
        for name, content in files:
            path = part / name
            path.parent.mkdir(parents=True, exist_ok=True)
            with path.open("wb") as file:
                file.write(content)
                file.flush()
                os.fsync(file.fileno())
            count += 1
        part.chmod(0o755)
        _put(part, target, design_digest, force)
    except BaseException:
        shutil.rmtree(part, ignore_errors=True)
        raise
    return count


def _put(part: Path, target: Path, design_digest: str, force: bool) -> None:
    check_target(target, design_digest, force=force)
    if not target.exists():
        part.rename(target)
        return
    ours, aside = _is_ours(target, design_digest), _free_name(target)
    target.rename(aside)
    part.rename(target)
    if ours:
        shutil.rmtree(aside, ignore_errors=True)


def _free_name(target: Path) -> Path:
    number = 1
    while (aside := target.with_name(f"{target.name}.before-{number}")).exists():
        number += 1
    return aside


def read_manifest(folder: Path) -> dict[str, Any]:
    """The manifest of a folder; raises ``FolderRefused`` where there is none that can be read."""
    try:
        manifest: Any = json.loads((folder / MANIFEST).read_bytes())
    except OSError:
        raise FolderRefused(
            f"{folder} has no {MANIFEST}: it is no reproduction, or was not finished"
        ) from None
    except ValueError:
        raise FolderRefused(f"{folder / MANIFEST} is damaged: it is no JSON") from None
    if not isinstance(manifest, dict) or manifest.get("format") != FORMAT:
        raise FolderRefused(f"{folder / MANIFEST} is not of the format {FORMAT}")
    if not isinstance(manifest.get("files"), dict) or not isinstance(manifest.get("runs"), list):
        raise FolderRefused(f"{folder / MANIFEST} names no files or no runs")
    return manifest


def folder_faults(folder: Path, manifest: dict[str, Any]) -> list[str]:
    """Which files are missing, changed, or not in the manifest; one line each."""
    faults = []
    wanted: dict[str, str] = manifest["files"]
    for name, digest in wanted.items():
        path = folder / name
        if not path.is_file():
            faults.append(f"{name} is missing")
        elif sha256(path.read_bytes()).hexdigest() != digest:
            faults.append(f"{name} was changed")
    there = {str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file()}
    faults += [f"{name} is not in the manifest" for name in sorted(there - {*wanted, MANIFEST})]
    return faults

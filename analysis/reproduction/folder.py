"""A reproduction as a folder: written whole or not at all, and verified file by file."""

import json
import os
import shutil
import tempfile
from collections.abc import Iterable
from hashlib import sha256
from pathlib import Path
from typing import Any

from analysis.reproduction.files import FORMAT, MANIFEST, METRICS
from analysis.reproduction.manifest import metrics_of
from benchmarks.core.errors import CoreError
from benchmarks.core.problems import FileRefused
from benchmarks.experiments.design import design_of
from benchmarks.models import Dataset, Run


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
    """Return whether there is nothing, or a reproduction of this design with nothing else beside
    it.
    """
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
    """Return the manifest of a folder; raises ``FolderRefused`` where there is none that can be
    read.
    """
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
    """Return one line for each file that is missing, changed or not in the manifest."""
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


def check_folder(folder: Path) -> list[str]:
    """Return everything that is not as it should be, one line each; raises ``FolderRefused`` where
    there is no reproduction.
    """
    manifest = read_manifest(folder)
    return [*folder_faults(folder, manifest), *_database_faults(folder, manifest)]


def _database_faults(folder: Path, manifest: dict[str, Any]) -> list[str]:
    """Return what the database says otherwise."""
    try:
        design = design_of(manifest.get("design"))
    except FileRefused as error:
        return [f"the design in the manifest cannot be read: {error}"]
    if design.digest != manifest.get("design_digest"):
        return ["the design in the manifest has another digest than it says"]
    ids = [one.get("id") for one in manifest["runs"]]
    there = Run.objects.select_related("dataset", "agent", "primary_judging").in_bulk(ids)
    gone = [f"run {pk} is not in this database" for pk in ids if pk not in there]
    if gone or not ids:
        return gone or ["the manifest names no runs"]
    faults = []
    stated = manifest.get("dataset", {})
    dataset = Dataset.objects.get(pk=there[ids[0]].dataset_id)
    if dataset.checksum != stated.get("checksum"):
        faults.append(f"the runs are on {dataset}, not on the dataset of the manifest")
    for one in manifest["runs"]:
        run = there[one["id"]]
        same = ("seed", "settings", "roles", "pins", "level")
        faults += [
            f"run {run.pk}: {name} is another than in the manifest"
            for name in same
            if getattr(run, name) != one.get(name)
        ]
    return faults + _metric_faults(folder, manifest, [there[pk] for pk in ids], design)


def _metric_faults(
    folder: Path, manifest: dict[str, Any], runs: list[Run], design: Any
) -> list[str]:
    """Return the metrics that come out otherwise when they are computed anew, run by run."""
    try:
        kept = json.loads((folder / METRICS).read_bytes())
        rows = {one["run"]: one for one in kept["runs"]}
    except (OSError, ValueError, KeyError, TypeError):
        return [f"{METRICS} cannot be read"]
    computed = metrics_of(design, manifest.get("preset", ""), runs)
    faults = []
    for row in computed["runs"]:
        row = json.loads(json.dumps(row))  # as the file has it: keys are texts
        # Later releases state more of a run; what the folder states has to come out again.
        before = rows.get(row["run"], {"run": None})
        if names := [name for name in before if row.get(name) != before[name]]:
            faults.append(f"run {row['run']}: computed anew, {', '.join(names)} come out otherwise")
    return faults

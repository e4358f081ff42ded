"""Whether a folder still says what was written, and what the database says."""

import json
from pathlib import Path
from typing import Any

from analysis.reproduction.files import METRICS
from analysis.reproduction.folder import folder_faults, read_manifest
from analysis.reproduction.manifest import metrics_of
from benchmarks.core.problems import FileRefused
from benchmarks.experiments.design import design_of
from benchmarks.models import Dataset, Run


def check_folder(folder: Path) -> list[str]:
    """Everything that is not as it should be, one line each; raises ``FolderRefused`` where there
    is no reproduction.
    """
    manifest = read_manifest(folder)
    return [*folder_faults(folder, manifest), *_database_faults(folder, manifest)]


def _database_faults(folder: Path, manifest: dict[str, Any]) -> list[str]:
    """What the database says otherwise."""
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
    told = manifest.get("dataset", {})
    dataset = Dataset.objects.get(pk=there[ids[0]].dataset_id)
    if dataset.checksum != told.get("checksum"):
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
    """Metrics that come out otherwise when they are computed anew, run by run."""
    try:
        kept = json.loads((folder / METRICS).read_bytes())
        rows = {one["run"]: one for one in kept["runs"]}
    except (OSError, ValueError, KeyError, TypeError):
        return [f"{METRICS} cannot be read"]
    made = metrics_of(design, manifest.get("preset", ""), runs)
    faults = []
    for row in made["runs"]:
        row = json.loads(json.dumps(row))  # as the file has it: keys are texts
        if rows.get(row["run"]) != row:
            names = [name for name in row if row[name] != rows.get(row["run"], {}).get(name)]
            faults.append(f"run {row['run']}: computed anew, {', '.join(names)} come out otherwise")
    return faults

"""Importing files of datasets: checked as a whole, then stored as a whole, or not at all."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import IO

from django.db.models import Prefetch

from benchmarks.core import types
from benchmarks.core.digests import storable
from benchmarks.datasets.services import CHUNK, SavedDataset, save_dataset
from benchmarks.exports.services import ExportRefused
from benchmarks.mappers import core_profile
from benchmarks.models import Dataset, Profile
from benchmarks.runs.cautions import tasks_cautions
from benchmarks.systems.adaplanbench.dataset import (
    Checked,
    check_file,
    read_about,
    read_tasks,
    write_tasks,
)
from benchmarks.systems.planbench_xl import dataset as planbench_xl

# The system whose datasets can be written in the published format.
PUBLISHED_FORMAT = "adaplanbench"
# Judges that say so where they cannot decide: constraints of this file do not say what they are
# about, and the scripted judges would take every plan for valid.
ROLES = {"world_judge": ("lexicon-world",), "user_judge": ("lexicon-user",)}


@dataclass(frozen=True)
class Imported:
    """What a file held, and what became of it."""

    checked: Checked
    saved: SavedDataset


def import_adaplanbench(*, path: Path, source: str, name: str, licence: str = "") -> Imported:
    """The published AdaPlanBench file; the same content a second time adds nothing.

    Where the tasks of a file came from, what they are labelled as, and its licence are taken from
    the file if it says so, as files that were written here do.
    """
    checked = check_file(path)
    about = {key: storable(text).strip() for key, text in read_about(path).items()}
    origin = "; ".join(filter(None, [about.get("source"), about.get("label")]))
    saved = save_dataset(
        system=PUBLISHED_FORMAT,
        name=name,
        version="",
        source=": ".join(filter(None, [source, origin]))[:400],
        licence=licence or about.get("licence", "")[:200],
        checksum=checked.checksum,
        tasks=read_tasks(path),
        roles=ROLES,
        notes=f"{checked.tasks} queries, {checked.profiles} profiles, "
        f"{checked.constraints} constraints; {checked.repeated} stood twice in a list.",
    )
    return Imported(checked, saved)


def import_planbench_xl(
    *, folder: Path, name: str, domain: str = planbench_xl.DOMAIN, licence: str = ""
) -> SavedDataset:
    """A folder of PlanBench-XL's eight files; the same content a second time adds nothing."""
    loaded = planbench_xl.load_dataset(folder, domain)
    saved = save_planbench_xl(
        loaded=loaded, name=name, source=folder.resolve().name, licence=licence
    )
    return replace(saved, warnings=loaded.warnings)


def save_planbench_xl(
    *,
    loaded: planbench_xl.Dataset,
    name: str,
    source: str,
    licence: str = "",
    is_demo: bool = False,
) -> SavedDataset:
    """Store a loaded dataset of PlanBench-XL."""
    tools = {kind: len(entries) for kind, entries in loaded.shared["tools"].items()}
    return save_dataset(
        system="planbench_xl",
        name=name,
        version="",
        source=source,
        licence=licence,
        is_demo=is_demo,
        checksum=loaded.checksum,
        tasks=[(task, ()) for task in loaded.tasks],
        shared=loaded.shared,
        notes=f"{tools['baseline']} tools, {tools['noisy']} noisy and {tools['blocker']} blocking "
        f"ones, {len(loaded.shared['rows'])} records.",
    )


def export_adaplanbench(*, dataset: Dataset, file: IO[str]) -> int:
    """Write a dataset in the published format; how many queries were written.

    Levels that are no construction round are left out, and so is what the format has no field for.
    """
    if dataset.system != PUBLISHED_FORMAT:
        raise ExportRefused(f"{dataset} is no dataset of AdaPlanBench")
    about = {
        "name": dataset.name, "version": dataset.version, "source": dataset.source,
        "licence": dataset.licence, "checksum": dataset.checksum,
    }  # fmt: skip
    if labels := [one.title for one in tasks_cautions(dataset)]:
        about["label"] = "; ".join(labels)
    return write_tasks(_with_profiles(dataset), file, about)


def _with_profiles(dataset: Dataset) -> Iterator[tuple[types.Task, list[types.Profile]]]:
    rows = dataset.tasks.defer("payload").order_by("pk")
    profiles = Prefetch("profiles", Profile.objects.order_by("rank"))
    for task in rows.prefetch_related(profiles, "profiles__constraints").iterator(CHUNK):
        found = [core_profile(profile) for profile in task.profiles.all()]
        yield types.Task(task.external_id, task.prompt, task.category), found

"""Importing files of datasets: checked as a whole, then stored as a whole, or not at all."""

import tempfile
from dataclasses import dataclass
from pathlib import Path

from django.core.files.uploadedfile import UploadedFile

from benchmarks.services.datasets import SavedDataset, save_dataset
from benchmarks.systems.adaplanbench.dataset import Checked, check_file, read_tasks
from benchmarks.systems.planbench_xl import dataset as planbench_xl

# Judges that say so where they cannot decide: constraints of this file do not say what they are
# about, and the scripted judges would take every plan for valid.
ROLES = {"world_judge": ("lexicon-world",), "user_judge": ("lexicon-user",)}


@dataclass(frozen=True)
class Imported:
    """What a file held, and what became of it."""

    checked: Checked
    saved: SavedDataset


def import_adaplanbench(*, path: Path, source: str, name: str, licence: str = "") -> Imported:
    """The published AdaPlanBench file; the same content a second time adds nothing."""
    checked = check_file(path)
    saved = save_dataset(
        system="adaplanbench",
        name=name,
        version="",
        source=source,
        licence=licence,
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
    return save_planbench_xl(
        loaded=loaded, name=name, source=folder.resolve().name, licence=licence
    )


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


def import_upload(*, upload: "UploadedFile[bytes]", name: str, licence: str = "") -> Imported:
    """A file that somebody sent by the form; it is read piece by piece and not kept."""
    source = Path(upload.name or "upload").name
    with tempfile.TemporaryDirectory(prefix="planjury-import-") as folder:
        path = Path(folder) / "upload.json"
        with path.open("wb") as file:
            for chunk in upload.chunks():
                file.write(chunk)
        return import_adaplanbench(path=path, source=source, name=name, licence=licence)

"""The data of PlanBench-XL: eight JSON files in a folder, read, checked, and made into tasks.

The published data have no licence and are not shipped; whoever has them loads them from a folder.
The complete data, a part of them that is whole in itself, and the world in ``world/`` load alike.
"""

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks.core.digests import digest
from benchmarks.core.errors import CoreError
from benchmarks.core.ports.importer import Importer, ImportOption, TaskFile, TaskFormat
from benchmarks.core.problems import Problems
from benchmarks.core.types import Json, Task
from benchmarks.systems.planbench_xl.checks import Checker
from benchmarks.systems.planbench_xl.files import NAMES, Source, read_files

DOMAIN = "retail"
# What a tool is known by at run time; the published files say more about each.
_KEPT = (
    "type", "name", "description", "parameters", "strict", "input_datatypes", "output_datatype",
    "surface_argument_to_datatype", "baseline_tool_name", "noise_type", "return_value",
)  # fmt: skip
# The published catalogue: how many baseline tools, and tools in all.
FULL_CATALOGUE = (185, 1665)


@dataclass(frozen=True)
class Dataset:
    """A loaded dataset. ``shared`` is what all tasks have in common; every task refers to it.

    ``checksums`` are the SHA-256 of the unpacked files by name, ``checksum`` stands for all.
    ``warnings`` name entries that were taken although something about them is odd.
    """

    domain: str
    shared: Json
    tasks: tuple[Task, ...]
    checksums: Mapping[str, str]
    checksum: str
    warnings: tuple[str, ...] = ()

    @property
    def has_full_catalogue(self) -> bool:
        """Whether searches see the whole published catalogue, judged by its size."""
        tools = {kind: len(entries) for kind, entries in self.shared["tools"].items()}
        return (tools["baseline"], sum(tools.values())) == FULL_CATALOGUE


def load_dataset(
    folder: Path, domain: str = DOMAIN, checksums: Mapping[str, str] | None = None
) -> Dataset:
    """Load a folder; raise ``FileRefused`` with its faults, if it has any.

    Where ``checksums`` are given, by name of a file, the files must have them.
    """
    problems = Problems()
    files = read_files(folder, problems)
    for name, wanted in (checksums or {}).items():
        if name in files and files[name].sha256 != wanted:
            problems.add(files[name].name, f"the SHA-256 {wanted}", files[name].sha256)
    problems.check()
    checker = Checker(files, problems)
    checker.check()
    problems.check()
    return _dataset(files, domain, checker.warnings.lines())


def _dataset(files: Mapping[str, Source], domain: str, warnings: Sequence[str]) -> Dataset:
    checksums = {name: files[name].sha256 for name in NAMES}
    checksum = digest([domain, checksums])
    shared = {
        "domain": domain,
        "checksum": checksum,
        "datatypes": files["datatypes"].content,
        "rows": files["database"].content["order_cases"],
        "tools": {
            kind: [_slim(entry) for entry in files[f"{kind}_tools"].content]
            for kind in ("baseline", "noisy", "blocker")
        },
    }
    tasks = {entry["task_id"]: entry for entry in files["tasks"].content}
    paths = files["paths_set_catalog"].content
    return Dataset(
        domain,
        shared,
        tuple(
            _task(query, tasks[query["task_id"]], paths[query["task_id"]], shared)
            for query in files["queries"].content
        ),
        checksums,
        checksum,
        tuple(warnings),
    )


def _slim(entry: Json) -> dict[str, Any]:
    return {key: entry[key] for key in _KEPT if key in entry}


def _task(query: Json, task: Json, paths: Sequence[Json], shared: Json) -> Task:
    """A query as a task: what it asks, and what only the environment knows of it."""
    payload = {
        "task_id": task["task_id"],
        "input_datatypes": query["input_datatypes"],
        "input_values": query.get("input_values", {}),
        "input_type": str(query.get("input_type", "")),
        "target_datatype": query["target_datatype"],
        "correct_answer": query["correct_answer"],
        "example_path": task["one_available_path"],
        "paths": [path["tool_set"] for path in paths],
    }
    return Task(
        query["query_id"], query["query_text"], payload["input_type"], payload, shared=shared
    )


def sample_queries(tasks: Sequence[Task], size: int | None, seed: int) -> list[Task]:
    """A random sample in the order of the file, the same for the same seed; all without a size."""
    if size is None or size >= len(tasks):
        return list(tasks)
    chosen = set(random.Random(seed).sample(range(len(tasks)), size))
    return [task for number, task in enumerate(tasks) if number in chosen]


def read_folder(paths: Sequence[Path], options: Mapping[str, Any]) -> TaskFile:
    """Read a folder with the eight files, or the eight files of one folder."""
    folder = paths[0] if paths[0].is_dir() else paths[0].parent
    alone = paths[0].is_dir() and len(paths) == 1
    if not alone and (paths[0].is_dir() or any(path.parent != folder for path in paths)):
        raise CoreError("expected one folder, or the eight files of one folder")
    loaded = load_dataset(folder, options["domain"])
    return task_file(loaded, source=folder.resolve().name if alone else "uploaded files")


def task_file(loaded: Dataset, source: str) -> TaskFile:
    """Return a loaded dataset as it is stored."""
    tools = {kind: len(entries) for kind, entries in loaded.shared["tools"].items()}
    notes = (
        f"{tools['baseline']} tools, {tools['noisy']} noisy and {tools['blocker']} blocking "
        f"ones, {len(loaded.shared['rows'])} records."
    )
    return TaskFile(
        tasks=[(task, ()) for task in loaded.tasks],
        checksum=loaded.checksum,
        source=source,
        shared=loaded.shared,
        notes=notes,
        summary=f". {notes}",
        warnings=loaded.warnings,
    )


IMPORTER = Importer(
    (
        TaskFormat(
            "published",
            "Published folder",
            "a folder with the eight JSON files, plain or as .gz",
            "PlanBench-XL",
            read_folder,
            lambda paths: paths[0].is_dir() or len(paths) == len(NAMES),
            options=(ImportOption("domain", DOMAIN, f"what the data is about ({DOMAIN})"),),
            uploads=len(NAMES),
            accept=".json,.gz",
        ),
    )
)

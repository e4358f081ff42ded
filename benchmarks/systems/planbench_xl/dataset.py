"""The data of PlanBench-XL: eight JSON files in a folder, read, checked, and made into tasks.

The published data have no licence and are not shipped; whoever has them loads them from a folder.
The complete data, a part of them that is whole in itself, and the world in ``world/`` load alike.
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from benchmarks.core.digests import digest
from benchmarks.core.errors import CoreError
from benchmarks.core.ports.importer import Importer, ImportOption, TaskFile, TaskFormat
from benchmarks.core.problems import Problems, Unquoted, text_fault
from benchmarks.core.types import Json, Task
from benchmarks.systems.planbench_xl.environment.catalogue import (
    BLOCKER_TYPES,
    NOISY_TYPES,
    TOOL_TYPES,
)
from benchmarks.systems.planbench_xl.files import NAMES, DataFile, read_files

# --- Checks ---------------------------------------------------------------------------------------

LONGEST_NAME, LONGEST_TEXT = 120, 20_000
VALUE_TYPES = ("string", "number", "timestamp")
_TOOL_FILES = {"baseline": "baseline_tools", "noisy": "noisy_tools", "blocker": "blocker_tools"}
_NOISE = {"noisy": NOISY_TYPES, "blocker": BLOCKER_TYPES}

Entry = Mapping[str, Any]


class Checker:
    """Goes through the files in the order in which they refer to each other, and notes faults.

    ``warnings`` are oddities that do not keep the data from being used.
    """

    def __init__(self, files: Mapping[str, DataFile], problems: Problems) -> None:
        self.files, self.problems = files, problems
        self.warnings = Problems()
        self.where = ""
        self.datatypes: set[str] = set()
        self.tools: dict[str, Entry] = {}
        self.baseline: dict[str, Entry] = {}
        self.tasks: dict[str, Entry] = {}

    def check(self) -> None:
        self._datatypes()
        self._database()
        for kind, file in _TOOL_FILES.items():
            self._tools(kind, file)
        self._tasks()
        self._queries()
        self._catalogue()

    # --- the files ---------------------------------------------------------------------------

    def _datatypes(self) -> None:
        for entry in self._entries("datatypes", "name"):
            self.datatypes.add(entry["name"])
            self._text(entry, "description")
            self._names(entry, "aliases", empty=True)
            self._one_of(entry, "value_type", VALUE_TYPES)

    def _database(self) -> None:
        file = self.files["database"]
        content = file.content if isinstance(file.content, dict) else {}
        rows = content.get("order_cases")
        if not isinstance(rows, dict) or not rows:
            self.problems.add(f"{file.name}, order_cases", "an object with rows", rows)
            return
        for key, row in rows.items():
            self.where = f"{file.name}, row {key[:LONGEST_NAME]}"
            if not isinstance(row, dict):
                self._fault("", "an object", row)
                continue
            for missing in sorted(self.datatypes - set(row)):
                self._fault(missing, "a value or null", Unquoted("no such field"))
            for name, value in row.items():
                if isinstance(value, dict | list):
                    self._fault(name, "a text, a number, true, false or null", value)

    def _tools(self, kind: str, file: str) -> None:
        seen: dict[str, set[str]] = {}
        for entry in self._entries(file, "name"):
            name = entry["name"]
            if name in self.tools:
                self._fault("name", "a name that no other tool has", name)
            self.tools[name] = entry
            self._tool(entry, kind)
            if kind == "baseline":
                self.baseline[name] = entry
                continue
            self._one_of(entry, "noise_type", _NOISE[kind])
            if "return_value" not in entry:
                self._fault("return_value", "a value or null", Unquoted("no such field"))
            base = self.baseline.get(str(entry.get("baseline_tool_name")))
            if base is None:
                found = entry.get("baseline_tool_name")
                self._fault("baseline_tool_name", "the name of a baseline tool", found)
                continue
            noise = str(entry.get("noise_type"))
            if noise in seen.setdefault(base["name"], set()):
                self._fault("noise_type", f"each type once for {base['name']}", noise)
            seen[base["name"]].add(noise)
            if kind == "noisy":
                self._same(entry, base, "output_datatype")
                self._same(entry, base, "input_datatypes")
        if kind == "baseline":
            return
        for name in self.baseline:
            for missing in sorted(set(_NOISE[kind]) - seen.get(name, set())):
                self.where = self.files[file].name
                self._fault("", f"a tool of type {missing!r} for {name}", Unquoted("none"))

    def _tool(self, entry: Entry, kind: str) -> None:
        self._text(entry, "description")
        self._one_of(entry, "tool_type", (TOOL_TYPES[kind],), absent=True)
        for field, wanted, expected in (
            ("type", str, "a text"),
            ("strict", bool, "true or false"),
            ("parameters", dict, "an object"),
        ):
            if not isinstance(entry.get(field), wanted):
                self._fault(field, expected, entry.get(field))
        inputs = self._names(entry, "input_datatypes", self.datatypes)
        # Blocking tools may claim to give what is no data type.
        self._name(entry, "output_datatype", None if kind == "blocker" else self.datatypes)
        arguments = entry.get("surface_argument_to_datatype")
        if not isinstance(arguments, dict) or sorted(map(str, arguments.values())) != inputs:
            expected = "an object from argument names to the input data types"
            self._fault("surface_argument_to_datatype", expected, arguments)
            return
        parameters = entry.get("parameters")
        properties = parameters.get("properties") if isinstance(parameters, dict) else None
        if not isinstance(properties, dict) or set(properties) != set(arguments):
            expected = "the argument names of surface_argument_to_datatype"
            self._fault("parameters.properties", expected, properties)

    def _tasks(self) -> None:
        for entry in self._entries("tasks", "task_id"):
            self.tasks[entry["task_id"]] = entry
            self._given(entry)
            self._name(entry, "target_datatype", self.datatypes)
            self._names(entry, "one_available_path", self.baseline, what="baseline tools")

    def _queries(self) -> None:
        asked: set[str] = set()
        for entry in self._entries("queries", "query_id"):
            self._text(entry, "query_text")
            self._text(entry, "correct_answer")
            task = self.tasks.get(str(entry.get("task_id")))
            if task is None:
                self._fault("task_id", "the id of a task", entry.get("task_id"))
                continue
            if task["task_id"] in asked:
                self._fault("task_id", "one query for each task", task["task_id"])
            asked.add(task["task_id"])
            self._given(entry)
            self._same(entry, task, "input_datatypes", of=self.datatypes)
            self._same(entry, task, "target_datatype")
            if not isinstance(entry.get("input_values", {}), dict):
                self._fault("input_values", "an object", entry["input_values"])
        self.where = self.files["queries"].name
        for task_id in self.tasks:
            if task_id not in asked:
                self._fault("", f"a query for task {task_id}", Unquoted("none"))

    def _catalogue(self) -> None:
        file = self.files["paths_set_catalog"]
        content = file.content
        if not isinstance(content, dict):
            self.problems.add(file.name, "an object with the paths of each task", content)
            return
        for task_id, paths in content.items():
            self.where = f"{file.name}, {task_id[:LONGEST_NAME]}"
            if task_id not in self.tasks:
                self._fault("", "the id of a task", task_id)
            if not isinstance(paths, list) or not paths:
                self._fault("", "a list with at least one path", paths)
                continue
            for number, path in enumerate(paths):
                self.where = f"{file.name}, {task_id[:LONGEST_NAME]}[{number}]"
                if not isinstance(path, dict):
                    self._fault("", "an object", path)
                    continue
                tools = self._names(path, "tool_set", self.baseline, what="baseline tools")
                if tools and path.get("steps") != len(tools):
                    self._fault("steps", f"the number of tools, {len(tools)}", path.get("steps"))
        self.where = file.name
        for task_id in self.tasks:
            if task_id not in content:
                self._fault("", f"the paths of task {task_id}", Unquoted("none"))

    # --- parts of entries --------------------------------------------------------------------

    def _entries(self, name: str, key: str) -> Iterator[dict[str, Any]]:
        """Yield the entries of a file that can be told apart; other ones are noted."""
        file = self.files[name]
        if not isinstance(file.content, list) or not file.content:
            self.problems.add(file.name, "a list with at least one entry", file.content)
            return
        seen: set[str] = set()
        for number, entry in enumerate(file.content):
            self.where = f"{file.name}, entry {number}"
            if not isinstance(entry, dict):
                self._fault("", "an object", entry)
                continue
            if fault := text_fault(entry.get(key), LONGEST_NAME):
                self._fault(key, fault, entry.get(key))
                continue
            self.where = f"{file.name}, entry {number} ({entry[key]})"
            if entry[key] in seen:
                self._fault(key, "each one once", entry[key])
                continue
            seen.add(entry[key])
            yield entry

    def _fault(self, field: str, expected: str, found: Any) -> None:
        where = f"{self.where}, {field}" if field else self.where
        self.problems.add(where, expected, found)

    def _text(self, entry: Entry, field: str) -> None:
        if fault := text_fault(entry.get(field), LONGEST_TEXT):
            self._fault(field, fault, entry.get(field))

    def _one_of(
        self, entry: Entry, field: str, known: Collection[str], absent: bool = False
    ) -> None:
        if absent and field not in entry:
            return
        if entry.get(field) not in known:
            self._fault(field, "one of " + ", ".join(known), entry.get(field))

    def _name(self, entry: Entry, field: str, known: Collection[str] | None) -> None:
        value = entry.get(field)
        if fault := text_fault(value, LONGEST_NAME):
            self._fault(field, fault, value)
        elif known is not None and value not in known:
            self._fault(field, "a known data type", value)

    def _names(
        self,
        entry: Entry,
        field: str,
        known: Collection[str] | None = None,
        what: str = "data types",
        empty: bool = False,
    ) -> list[str]:
        """Return the names in a list, sorted; [] where it is no list of different (known) names."""
        value = entry.get(field)
        if not isinstance(value, list) or not (value or empty):
            self._fault(field, "a list of texts" if empty else f"a list of {what}", value)
            return []
        for number, name in enumerate(value):
            if fault := text_fault(name, LONGEST_TEXT):
                self._fault(f"{field}[{number}]", fault, name)
                return []
            if known is not None and name not in known:
                self._fault(f"{field}[{number}]", f"one of the known {what}", name)
                return []
        if not empty and len(set(value)) < len(value):
            self._fault(field, f"different {what}", Unquoted("one of them twice"))
            return []
        return sorted(value)

    def _given(self, entry: Entry) -> None:
        """Check what a task gives: a data type that is not listed is harmless, because no tool
        takes it. The published data have two such tasks.
        """
        field = "input_datatypes"
        unlisted = set(self._names(entry, field)) - self.datatypes
        for name in sorted(unlisted):
            self.warnings.add(f"{self.where}, {field}", "a known data type", name)

    def _same(
        self, entry: Entry, other: Entry, field: str, of: Collection[str] | None = None
    ) -> None:
        """Return whether two entries that belong together say the same; lists in any order.

        Only members ``of`` a collection are compared, if there is one.
        """
        values = [each.get(field) for each in (entry, other)]
        values = [
            sorted(name for name in map(str, v) if of is None or name in of)
            if isinstance(v, list)
            else v
            for v in values
        ]
        if values[0] != values[1]:
            other_name = other.get("name") or other.get("task_id")
            self._fault(field, f"what {other_name} has", entry.get(field))


DOMAIN = "retail"
# What a tool is known by at run time; the published files say more about each.
_KEPT = (
    "type", "name", "description", "parameters", "strict", "input_datatypes", "output_datatype",
    "surface_argument_to_datatype", "baseline_tool_name", "noise_type", "return_value",
)  # fmt: skip
# The published catalogue: how many baseline tools, and tools in all.
FULL_CATALOGUE = (185, 1665)


class LoadedDataset(NamedTuple):
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
        """Return whether searches see the whole published catalogue, judged by its size."""
        tools = {kind: len(entries) for kind, entries in self.shared["tools"].items()}
        return (tools["baseline"], sum(tools.values())) == FULL_CATALOGUE


def load_dataset(
    folder: Path, domain: str = DOMAIN, checksums: Mapping[str, str] | None = None
) -> LoadedDataset:
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


def _dataset(files: Mapping[str, DataFile], domain: str, warnings: Sequence[str]) -> LoadedDataset:
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
    return LoadedDataset(
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
    """Return a query as a task: what it asks, and what only the environment knows of it."""
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


def read_folder(paths: Sequence[Path], options: Mapping[str, Any]) -> TaskFile:
    """Read a folder with the eight files, or the eight files of one folder."""
    folder = paths[0] if paths[0].is_dir() else paths[0].parent
    alone = paths[0].is_dir() and len(paths) == 1
    if not alone and (paths[0].is_dir() or any(path.parent != folder for path in paths)):
        raise CoreError("expected one folder, or the eight files of one folder")
    loaded = load_dataset(folder, options["domain"])
    return task_file(loaded, source=folder.resolve().name if alone else "uploaded files")


def task_file(loaded: LoadedDataset, source: str) -> TaskFile:
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

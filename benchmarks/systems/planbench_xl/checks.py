"""Whether the files of a dataset are sound, each by itself and all of them together."""

from collections.abc import Collection, Iterator, Mapping
from typing import Any

from benchmarks.core.problems import Problems, Said, text_fault
from benchmarks.systems.planbench_xl.catalogue import BLOCKER_TYPES, NOISY_TYPES, TOOL_TYPES
from benchmarks.systems.planbench_xl.files import Source

LONGEST_NAME, LONGEST_TEXT = 120, 20_000
VALUE_TYPES = ("string", "number", "timestamp")
_TOOL_FILES = {"baseline": "baseline_tools", "noisy": "noisy_tools", "blocker": "blocker_tools"}
_NOISE = {"noisy": NOISY_TYPES, "blocker": BLOCKER_TYPES}

Entry = Mapping[str, Any]


class Checker:
    """Goes through the files in the order in which they refer to each other, and notes faults.

    ``warnings`` are oddities that do not keep the data from being used.
    """

    def __init__(self, files: Mapping[str, Source], problems: Problems) -> None:
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
                self._fault(missing, "a value or null", Said("no such field"))
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
                self._fault("return_value", "a value or null", Said("no such field"))
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
                self._fault("", f"a tool of type {missing!r} for {name}", Said("none"))

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
                self._fault("", f"a query for task {task_id}", Said("none"))

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
                self._fault("", f"the paths of task {task_id}", Said("none"))

    # --- parts of entries --------------------------------------------------------------------

    def _entries(self, name: str, key: str) -> Iterator[dict[str, Any]]:
        """The entries of a file that can be told apart; other ones are noted."""
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
        """The names in a list, sorted; [] where it is no list of different (known) names."""
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
            self._fault(field, f"different {what}", Said("one of them twice"))
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
        """Whether two entries that belong together say the same; lists in any order.

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
            kin = other.get("name") or other.get("task_id")
            self._fault(field, f"what {kin} has", entry.get(field))

"""The persona files of ADAPT: read, checked, and turned into one task per persona and meal.

A file has ``tasks`` (what is to be made) and ``personas`` (who for, with preferences and rules); a
second one may describe another household. The product ships one of each.
"""

from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

from benchmarks.core.digests import digest
from benchmarks.core.ports.importer import Importer, TaskFile, TaskFormat
from benchmarks.core.problems import FileRefused, Problem, Problems, Unquoted, describe, text_fault
from benchmarks.core.types import Constraint, Json, Profile, Task
from benchmarks.core.yaml_files import YamlDocument, read_yaml
from benchmarks.systems.adapt.household.dishes import KINDS, STYLES
from benchmarks.systems.adapt.household.inventory import (
    TYPES as THING_TYPES,
)
from benchmarks.systems.adapt.household.inventory import (
    Inventory,
    as_shared,
    inventory_of,
    load_content,
)
from benchmarks.systems.adapt.preferences import TYPES, RuleNames, RuleReader
from benchmarks.systems.adapt.preferences import Path as FieldPath

FILE = Path(__file__).with_name("personas.yaml")
# The one level of every profile: a persona's preferences are not graded.
LEVEL = "preferences"
FOLDS = 4
LONGEST_FILE = 400_000
_LONGEST_TEXT, _LONGEST_ID = 1000, 60


class _File:
    """One YAML file: its value, and its faults with line and field."""

    def __init__(self, path: Path, problems: Problems) -> None:
        self.name, self.problems = path.name, problems
        try:
            raw = path.read_bytes()
            if len(raw) > LONGEST_FILE:
                expected = f"at most {LONGEST_FILE:,} bytes"
                raise FileRefused([Problem(path.name, expected, f"{len(raw):,}")])
            self.read = read_yaml(raw.decode("utf-8"), longest=LONGEST_FILE)
        except UnicodeDecodeError:
            raise FileRefused([Problem(path.name, "text in UTF-8", "other bytes")]) from None
        except FileRefused as refused:
            raise FileRefused([_named(path.name, p) for p in refused.problems]) from None

    def fault(self, path: FieldPath, expected: str, found: Any) -> None:
        """Note a fault of the field at a path."""
        line = _line(self.read, path)
        field = "".join(f"[{p}]" if isinstance(p, int) else f".{p}" for p in path).lstrip(".")
        self.problems.add(f"{self.name}, line {line}, {field or 'the file'}", expected, found)

    def fields(self, value: Any, path: FieldPath, names: Sequence[str], more: str = "") -> bool:
        """Return whether a value has these fields; ``more`` names those that it may have beside
        them.
        """
        if not isinstance(value, dict):
            self.fault(path, f"fields {', '.join(names)}", value)
            return False
        for name in names:
            if name not in value:
                self.fault(path, f"a field {name}", value)
        for name in value:
            if name not in (*names, *more.split()):
                self.fault((*path, name), f"fields {', '.join([*names, *more.split()])} only", name)
        return all(name in value for name in names)

    def text(self, value: Any, path: FieldPath, longest: int = _LONGEST_TEXT) -> str:
        if fault := text_fault(value, longest):
            self.fault(path, fault, value)
            return ""
        return str(value).strip()


def _named(name: str, problem: Problem) -> Problem:
    """Return a problem that says in which file it is."""
    if problem.where.startswith(name):
        return problem
    return Problem(f"{name}, {problem.where}", problem.expected, problem.found)


def _line(read: YamlDocument, path: FieldPath) -> int:
    """Return the line of a field, or of the nearest thing around it."""
    while path and path not in read.lines:
        path = path[:-1]
    return read.lines.get(path, 1)


def read_files(paths: Sequence[Path], options: Mapping[str, Any]) -> TaskFile:
    """Read a file of personas, and of a household where there is a second one.

    Every fault is named by file, line and field in ``FileRefused``.
    """
    if not 1 <= len(paths) <= 2:
        found = describe(Unquoted(", ".join(path.name for path in paths)))
        raise FileRefused([Problem("files", "PERSONAS.yaml, and HOUSEHOLD.yaml if any", found)])
    problems = Problems()
    files = [_File(path, problems) for path in paths]
    households = [f for f in files if isinstance(f.read.value, dict) and "movable" in f.read.value]
    personas = [f for f in files if f not in households]
    if len(personas) != 1:
        expected = "one file with personas, and at most one with a household"
        raise FileRefused([Problem("files", expected, f"{len(personas)} with personas")])
    content = _check_household(households[0]) if households else load_content()
    problems.check()
    shared = _check_personas(personas[0], inventory_of(as_shared(content)))
    problems.check()
    shared["household"] = as_shared(content)
    shared["checksum"] = digest(shared)
    tasks = list(make_tasks(shared))
    count = sum(len(one["preferences"]) for one in shared["personas"].values())
    things = f"{len(content['movable'])} movable objects"
    return TaskFile(
        tasks=tasks,
        checksum=shared["checksum"],
        source=", ".join(path.name for path in paths),
        shared=shared,
        notes=f"{len(shared['personas'])} personas with {count} preferences, "
        f"{len(shared['tasks'])} meals, a household of {things}.",
        summary=f" of {len(shared['personas'])} personas with {count} preferences",
    )


def _check_household(file: _File) -> Json:
    value = file.read.value
    names = ("inclusion_probability", "mandatory", "rooms", "static", "movable")
    if not file.fields(value, (), names, "version"):
        return {}
    odds = value["inclusion_probability"]
    if isinstance(odds, bool) or not isinstance(odds, int | float) or not 0 <= odds <= 1:
        file.fault(("inclusion_probability",), "a number from 0 to 1", odds)
    places: set[str] = set()
    for group, check in (("rooms", _room), ("static", _static), ("movable", _movable)):
        if not isinstance(value[group], dict) or not value[group]:
            file.fault((group,), "things by their id", value[group])
            continue
        for name, row in value[group].items():
            if text_fault(name, _LONGEST_ID) or name in places:
                file.fault((group, name), "an id that stands once", name)
            check(file, row, (group, name), value)
        places.update(value[group])
    for number, name in enumerate(value["mandatory"] or ()):
        if not isinstance(value["movable"], dict) or name not in value["movable"]:
            file.fault(("mandatory", number), "the id of a movable object", name)
    return dict(value)


def _room(file: _File, row: Any, path: FieldPath, whole: Json) -> None:
    if file.fields(row, path, ("name",)):
        file.text(row["name"], (*path, "name"))


def _static(file: _File, row: Any, path: FieldPath, whole: Json) -> None:
    if file.fields(row, path, ("room", "description", "tags")):
        file.text(row["description"], (*path, "description"))
        if row["room"] not in whole["rooms"]:
            file.fault((*path, "room"), "the id of a room", row["room"])
        _texts(file, row["tags"], (*path, "tags"))


def _movable(file: _File, row: Any, path: FieldPath, whole: Json) -> None:
    if not isinstance(row, list) or len(row) != 5:
        file.fault(path, "[description, category, type, [attributes], place]", row)
        return
    file.text(row[0], (*path, 0))
    file.text(row[1], (*path, 1), _LONGEST_ID)
    if row[2] not in THING_TYPES:
        file.fault((*path, 2), f"one of {', '.join(THING_TYPES)}", row[2])
    _texts(file, row[3], (*path, 3))
    if not isinstance(whole["static"], dict) or row[4] not in whole["static"]:
        file.fault((*path, 4), "the id of a piece of furniture", row[4])


def _texts(file: _File, value: Any, path: FieldPath) -> None:
    if not isinstance(value, list) or any(text_fault(item, _LONGEST_ID) for item in value):
        file.fault(path, "a list of short texts", value)


def _check_personas(file: _File, inventory: Inventory) -> dict[str, Any]:
    """Return tasks and personas of a file; faults are noted in it."""
    value = file.read.value
    shared: dict[str, Any] = {"tasks": {}, "personas": {}}
    if not file.fields(value, (), ("tasks", "personas"), "version"):
        return shared
    if not isinstance(value["tasks"], dict) or not value["tasks"]:
        file.fault(("tasks",), "tasks by their id", value["tasks"])
        return shared
    for name, row in value["tasks"].items():
        shared["tasks"][name] = _check_task(file, row, ("tasks", name))
    reader = RuleReader(RuleNames(inventory, tuple(value["tasks"])), file.fault)
    if not isinstance(value["personas"], list) or not value["personas"]:
        file.fault(("personas",), "a list of personas", value["personas"])
        return shared
    for number, row in enumerate(value["personas"]):
        path: FieldPath = ("personas", number)
        if not file.fields(row, path, ("id", "name", "preferences"), "fold"):
            continue
        name = file.text(row["id"], (*path, "id"), _LONGEST_ID)
        if name in shared["personas"]:
            file.fault((*path, "id"), "an id that stands once", name)
        fold = row.get("fold", 0)
        if isinstance(fold, bool) or not isinstance(fold, int) or not 0 <= fold < FOLDS:
            file.fault((*path, "fold"), f"a fold from 0 to {FOLDS - 1}", fold)
        shared["personas"][name] = {
            "name": file.text(row["name"], (*path, "name"), _LONGEST_ID),
            "fold": fold,
            "preferences": _check_preferences(file, row, path, reader),
        }
    return shared


def _check_task(file: _File, row: Any, path: FieldPath) -> dict[str, Any]:
    if not file.fields(row, path, ("text", "expects"), "style"):
        return {}
    expects = row["expects"]
    if not isinstance(expects, list) or not expects or not all(kind in KINDS for kind in expects):
        file.fault((*path, "expects"), f"a list of dishes among {', '.join(KINDS)}", expects)
    style = row.get("style", "")
    if style and style not in STYLES:
        file.fault((*path, "style"), f"a style of eggs among {', '.join(STYLES)}", style)
    task = {"text": file.text(row["text"], (*path, "text")), "expects": expects}
    return {**task, "style": style} if style else task


def _check_preferences(
    file: _File, row: Json, path: FieldPath, reader: RuleReader
) -> list[dict[str, Any]]:
    rows, path = row["preferences"], (*path, "preferences")
    if not isinstance(rows, list) or not rows:
        file.fault(path, "a list of preferences", rows)
        return []
    numbers: set[int] = set()
    texts: set[str] = set()
    checked = []
    for place, given in enumerate(rows):
        here = (*path, place)
        if not file.fields(given, here, ("n", "dim", "text", "rule")):
            continue
        number, text = given["n"], file.text(given["text"], (*here, "text"))
        if isinstance(number, bool) or not isinstance(number, int) or number < 1:
            file.fault((*here, "n"), "a whole number from 1", number)
        elif number in numbers:
            file.fault((*here, "n"), "each number once", number)
        else:
            numbers.add(number)
        if text.casefold() in texts:
            file.fault((*here, "text"), "each text once", text)
        texts.add(text.casefold())
        if given["dim"] not in TYPES:
            file.fault((*here, "dim"), f"a type among {', '.join(TYPES)}", given["dim"])
        reader.read(given["rule"], (*here, "rule"))
        checked.append({"n": number, "dim": given["dim"], "text": text, "rule": given["rule"]})
    return checked


def make_tasks(shared: Json) -> list[tuple[Task, tuple[Profile, ...]]]:
    """Return a task for each pair of persona and meal, persona by persona."""
    made: list[tuple[Task, tuple[Profile, ...]]] = []
    for persona, one in shared["personas"].items():
        constraints = tuple(
            Constraint(f"n{row['n']}", row["dim"], row["text"]) for row in one["preferences"]
        )
        for name, meal in shared["tasks"].items():
            payload = {
                "persona": persona,
                "fold": one["fold"],
                "task": name,
                "expects": meal["expects"],
                "style": meal.get("style", ""),
            }
            task = Task(f"{persona}-{name}", meal["text"], name, payload, shared=shared)
            made.append((task, (Profile(LEVEL, constraints),)))
    return made


@cache
def load_personas() -> TaskFile:
    """Return the shipped personas and household as a dataset's file."""
    return read_files([FILE], {})


IMPORTER = Importer(
    (
        TaskFormat(
            "personas",
            "Personas, and a household if it is another one",
            "PERSONAS.yaml, and HOUSEHOLD.yaml if any",
            "ADAPT",
            read_files,
            lambda paths: all(path.suffix.lower() in (".yaml", ".yml") for path in paths),
            uploads=2,
            accept=".yaml,.yml",
        ),
    )
)

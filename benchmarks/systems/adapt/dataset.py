"""The persona files of ADAPT: read, checked, and turned into one task per persona and meal.

A file has ``tasks`` (what is to be made) and ``personas`` (who for, with preferences and rules); a
second one may describe another household. The product ships one of each.
"""

from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Annotated, Any, TypeVar

from pydantic import BaseModel

from benchmarks.core.digests import digest
from benchmarks.core.ports.importer import Importer, TaskFile, TaskFormat
from benchmarks.core.problems import FileRefused, Problem, Problems, Unquoted, describe, text_fault
from benchmarks.core.schemas import FieldsSchema, must, one_of, read_value, text
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
M = TypeVar("M", bound=BaseModel)


# --- what a file must be --------------------------------------------------------------------------


def _is_whole(value: Any, least: int, most: int | None = None) -> bool:
    whole = isinstance(value, int) and not isinstance(value, bool)
    return whole and least <= value <= (value if most is None else most)


def _is_share(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value <= 1


def _are_dishes(value: Any) -> bool:
    texts = isinstance(value, list) and bool(value)
    return texts and all(isinstance(kind, str) and kind in KINDS for kind in value)


def _are_texts(value: Any) -> bool:
    return isinstance(value, list) and not any(text_fault(item, _LONGEST_ID) for item in value)


_text, _name = text(_LONGEST_TEXT), text(_LONGEST_ID)
_filled_list = must("a list of at least one", lambda value: isinstance(value, list) and bool(value))
_texts = must("a list of short texts", _are_texts)
_by_id = must("things by their id", lambda value: isinstance(value, dict) and bool(value))
Key = Annotated[str, _name]


class MealRow(FieldsSchema):
    """What is to be made, and the dishes that it is made of."""

    text: Annotated[Any, _text]
    expects: Annotated[Any, must(f"a list of dishes among {', '.join(KINDS)}", _are_dishes)]
    style: Annotated[
        Any,
        must(
            f"a style of eggs among {', '.join(STYLES)}",
            lambda value: isinstance(value, str) and value in ("", *STYLES),
        ),
    ] = ""


class PreferenceRow(FieldsSchema):
    """What a persona prefers, and the rule that tells whether it is met."""

    n: Annotated[Any, must("a whole number from 1", lambda value: _is_whole(value, 1))]
    dim: Annotated[Any, one_of(f"a type among {', '.join(TYPES)}", TYPES)]
    text: Annotated[Any, _text]
    rule: Any


class PersonaRow(FieldsSchema):
    """Who something is made for."""

    id: Annotated[Any, _name]
    name: Annotated[Any, _name]
    preferences: Annotated[list[PreferenceRow], _filled_list]
    fold: Annotated[
        Any, must(f"a fold from 0 to {FOLDS - 1}", lambda value: _is_whole(value, 0, FOLDS - 1))
    ] = 0


class PersonasFile(FieldsSchema):
    """A file of personas."""

    tasks: Annotated[dict[Key, MealRow], _by_id]
    personas: Annotated[list[PersonaRow], _filled_list]
    version: Any = None


class RoomRow(FieldsSchema):
    name: Annotated[Any, _text]


class StaticRow(FieldsSchema):
    """A piece of furniture."""

    room: Annotated[Any, _name]
    description: Annotated[Any, _text]
    tags: Annotated[Any, _texts]


MovableRow = Annotated[
    tuple[
        Annotated[Any, _text],
        Annotated[Any, _name],
        Annotated[Any, one_of(f"one of {', '.join(THING_TYPES)}", THING_TYPES)],
        Annotated[Any, _texts],
        Annotated[Any, _name],
    ],
    must(
        "[description, category, type, [attributes], place]",
        lambda value: isinstance(value, list) and len(value) == 5,
    ),
]


class HouseholdFile(FieldsSchema):
    """A file of a household."""

    inclusion_probability: Annotated[Any, must("a number from 0 to 1", _is_share)]
    mandatory: Annotated[Any, must("a list of short texts", lambda v: v is None or _are_texts(v))]
    rooms: Annotated[dict[Key, RoomRow], _by_id]
    static: Annotated[dict[Key, StaticRow], _by_id]
    movable: Annotated[dict[Key, MovableRow], _by_id]
    version: Any = None


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

    def checked(self, schema: type[M]) -> M | None:
        """Return the file by its schema, or None with its faults noted."""
        return read_value(schema, self.read.value, self.fault)


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
    house = file.checked(HouseholdFile)
    if house is None:
        return {}
    places: set[str] = set()
    for group in ("rooms", "static", "movable"):
        names = getattr(house, group)
        for name in names:
            if name in places:
                file.fault((group, name), "an id that stands once", name)
        places.update(names)
    for name, one in house.static.items():
        if one.room not in house.rooms:
            file.fault(("static", name, "room"), "the id of a room", one.room)
    for name, thing in house.movable.items():
        if thing[4] not in house.static:
            file.fault(("movable", name, 4), "the id of a piece of furniture", thing[4])
    for number, name in enumerate(house.mandatory or ()):
        if name not in house.movable:
            file.fault(("mandatory", number), "the id of a movable object", name)
    return dict(file.read.value)


def _check_personas(file: _File, inventory: Inventory) -> dict[str, Any]:
    """Return tasks and personas of a file; faults are noted in it."""
    shared: dict[str, Any] = {"tasks": {}, "personas": {}}
    given = file.checked(PersonasFile)
    if given is None:
        return shared
    for name, meal in given.tasks.items():
        task = {"text": meal.text.strip(), "expects": meal.expects}
        shared["tasks"][name] = {**task, "style": meal.style} if meal.style else task
    reader = RuleReader(RuleNames(inventory, tuple(given.tasks)), file.fault)
    for number, persona in enumerate(given.personas):
        path: FieldPath = ("personas", number)
        name = persona.id.strip()
        if name in shared["personas"]:
            file.fault((*path, "id"), "an id that stands once", name)
        shared["personas"][name] = {
            "name": persona.name.strip(),
            "fold": persona.fold,
            "preferences": _check_preferences(file, persona, path, reader),
        }
    return shared


def _check_preferences(
    file: _File, persona: PersonaRow, path: FieldPath, reader: RuleReader
) -> list[dict[str, Any]]:
    numbers: set[int] = set()
    texts: set[str] = set()
    checked = []
    for place, given in enumerate(persona.preferences):
        here = (*path, "preferences", place)
        text = given.text.strip()
        if given.n in numbers:
            file.fault((*here, "n"), "each number once", given.n)
        if text.casefold() in texts:
            file.fault((*here, "text"), "each text once", text)
        numbers.add(given.n)
        texts.add(text.casefold())
        reader.read(given.rule, (*here, "rule"))
        checked.append({"n": given.n, "dim": given.dim, "text": text, "rule": given.rule})
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

"""Read and check questionnaires in YAML; all problems are reported at once."""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from annotation.questionnaires.types import (
    ANY,
    NEEDS,
    PARTS,
    SHOWS,
    UNITS,
    USUALLY_SHOWN,
    AnswerOption,
    Question,
    Questionnaire,
    QuestionnaireError,
    Scale,
)
from benchmarks.core.errors import CoreError
from benchmarks.core.problems import FileRefused
from benchmarks.core.registry import EXTERNAL, get_system
from benchmarks.core.system import Dimension
from benchmarks.core.yaml_files import read_yaml

# The remark on a whole item; no question may be called so.
COMMENT = "comment"
MOST_POINTS = 9
LONGEST_TEXT = 5000
MARKED = ("all", "world", "user")
REQUIRED = ("id", "version", "kind", "system", "title", "sections", "questions")
_KEY = re.compile(r"[a-z][a-z0-9_]{0,59}")
# Keys that the desk uses itself.
_DESK_KEYS = frozenset("cdefhjnpu[]?/!")


def read_questionnaire(text: str, *, source: str, id: str) -> Questionnaire:
    """Return a questionnaire from YAML; every problem is named at once, with ``source``."""
    try:
        # Versions stored before this was refused may name a field twice.
        data = read_yaml(text, repeated=True).value
    except FileRefused as refused:
        faults = [str(fault) for fault in refused.problems]
        raise QuestionnaireError(f"{source}: " + "; ".join(faults), faults) from None
    problems = list(_problems(data, id))
    if problems:
        raise QuestionnaireError(f"{source}: " + "; ".join(problems[:20]), problems[:20])
    dimensions = {d.key: d for d in _dimensions(data["system"])}
    questions = (
        _question(number, row, dimensions.get(row.get("dimension", "")))
        for number, row in enumerate(data["questions"], 1)
    )
    return Questionnaire(
        name=data["id"],
        version=data["version"],
        kind=data["kind"],
        system=data["system"],
        title=data["title"],
        instructions=tuple(data.get("instructions", ())),
        sections={section["key"]: section["title"] for section in data["sections"]},
        questions=tuple(questions),
        unit=data.get("unit", "trajectory"),
        shows=frozenset(data.get("shows", USUALLY_SHOWN)),
        own_criteria=tuple(data.get("criteria", ())),
    )


def _question(number: int, row: Mapping[str, Any], dimension: Dimension | None) -> Question:
    scale = _scale(row)
    return Question(
        key=row.get("dimension") or row["key"],
        number=number,
        section=row["section"],
        title=dimension.title if dimension else row["title"],
        definition=dimension.definition if dimension else row.get("definition", ""),
        anchors=dict(dimension.anchors) if dimension else _by_point(row.get("anchors")),
        examples=dict(dimension.examples) if dimension else _by_point(row.get("examples")),
        needs=frozenset(row.get("needs", ())),
        dimension=row.get("dimension", ""),
        about=row.get("about", "item"),
        scale=scale,
        required=bool(row.get("required", scale.kind != "text")),
    )


def _by_point(given: Mapping[str, str] | None) -> dict[int, str]:
    return {int(point): text for point, text in (given or {}).items()}


def _scale(row: Mapping[str, Any]) -> Scale:
    given = row.get("scale") or {"points": 5}
    ((kind, what),) = given.items()
    if kind == "points":
        return Scale("points", what)
    if kind == "choice":
        options = tuple(
            AnswerOption(o["value"], o["label"], str(o.get("key", place)))
            for place, o in enumerate(what, 1)
        )
        return Scale("choice", options=options)
    if kind == "marks":
        return Scale("marks", of="" if what == "all" else what)
    return Scale("text", what)


def _dimensions(system: str) -> Sequence[Dimension]:
    """Return the rubric of a system; trajectories made elsewhere and people come without one."""
    return () if system in (EXTERNAL, ANY) else get_system(system).dimensions


def _problems(data: Any, id: str) -> Iterator[str]:
    if not isinstance(data, dict):
        yield "expected a mapping at the top"
        return
    missing = [name for name in REQUIRED if not data.get(name)]
    if missing:
        yield "missing: " + ", ".join(missing)
        return
    unknown = sorted(set(data) - {*REQUIRED, "instructions", "criteria", "unit", "shows"}, key=str)
    if unknown:
        yield f"what is {', '.join(map(str, unknown))}? It is not part of a questionnaire"
    if f"{data['id']}@{data['version']}" != id:
        yield f"is {data['id']}@{data['version']} inside, but was asked for as {id}"
    if not isinstance(data["sections"], list) or not isinstance(data["questions"], list):
        yield "sections and questions must be lists"
        return
    if data.get("unit", "trajectory") not in list(UNITS):
        yield f"unit {data['unit']!r} is not among {list(UNITS)}"
    shows = data.get("shows", [])
    if not isinstance(shows, list) or not set(map(str, shows)) <= set(SHOWS):
        yield f"shows {shows!r} must be a list from {list(SHOWS)}"
    for name in ("instructions", "criteria"):
        if not _all_words(data.get(name, [])):
            yield f"{name} must be a list of sentences"
    try:
        dimensions = {d.key for d in _dimensions(str(data["system"]))}
    except CoreError as error:
        yield str(error)
        return
    for name in ("kind", "system", "title"):
        if not _is_words(data[name]):
            yield f"{name} must be a text"
            return
    if type(data["version"]) is not int:
        yield "version must be a whole number"
    for number, row in enumerate(data["sections"], 1):
        if not isinstance(row, dict) or not (
            _is_words(row.get("key")) and _is_words(row.get("title"))
        ):
            yield f"section {number}: expected a key and a title"
            return
    sections = [row["key"] for row in data["sections"]]
    seen: set[str] = {COMMENT}
    for number, row in enumerate(data["questions"], 1):
        if not isinstance(row, dict):
            yield f"question {number}: expected a mapping"
            continue
        for problem in (
            *_place_problems(row, dimensions, sections, seen),
            *_scale_problems(row),
            *_word_problems(row),
        ):
            yield f"question {number}: {problem}"


def _place_problems(
    row: Mapping[str, Any], dimensions: set[str], sections: Sequence[str], seen: set[str]
) -> Iterator[str]:
    """Yield what is wrong with its key, its section, its needs and what it is asked of."""
    key = row.get("dimension") or row.get("key")
    if not isinstance(key, str) or not _KEY.fullmatch(key):
        yield f"key {key!r} must be small letters, digits and _"
    elif key in seen:
        yield f"key {key!r} is taken"
    else:
        seen.add(key)
    if row.get("section") not in sections:
        yield f"section {row.get('section')!r} is not among {sorted(sections)}"
    needs = row.get("needs", [])
    if not isinstance(needs, list) or not set(map(str, needs)) <= set(NEEDS):
        yield f"needs {needs!r} must be a list from {list(NEEDS)}"
    if row.get("about", "item") not in list(PARTS):
        yield f"about {row['about']!r} is not among {list(PARTS)}"
    if "dimension" in row and row["dimension"] not in list(dimensions):
        yield f"dimension {row['dimension']!r} is not among {sorted(dimensions)}"


def _scale_problems(row: Mapping[str, Any]) -> Iterator[str]:
    scale = row.get("scale", {"points": 5})
    if not isinstance(scale, dict) or len(scale) != 1:
        yield "scale must be one of points, choice, marks, text, such as {points: 5}"
        return
    ((kind, what),) = scale.items()
    if "dimension" in row and (kind, what) != ("points", 5):
        yield "a rubric dimension is scored from 1 to 5"
    match kind:
        case "points":
            if type(what) is not int or not 2 <= what <= MOST_POINTS:
                yield f"points {what!r} must be a whole number from 2 to {MOST_POINTS}"
        case "choice":
            yield from _choice_problems(what)
        case "marks":
            if what not in MARKED:
                yield f"marks {what!r} is not among {list(MARKED)}"
        case "text":
            if type(what) is not int or not 1 <= what <= LONGEST_TEXT:
                yield f"text {what!r} must be its greatest length, at most {LONGEST_TEXT}"
        case _:
            yield f"scale {kind!r} is not among points, choice, marks, text"


def _choice_problems(options: Any) -> Iterator[str]:
    if not isinstance(options, list) or not 2 <= len(options) <= 20:
        yield "choice must be a list of 2 to 20 options {value, label, key}"
        return
    if not all(
        isinstance(o, dict)
        and type(o.get("value")) is int
        and -1000 <= o["value"] <= 1000
        and isinstance(o.get("label"), str)
        and o["label"].strip()
        for o in options
    ):
        yield "every option needs a value (a small whole number) and a label"
        return
    keys = [str(o.get("key", place)) for place, o in enumerate(options, 1)]
    for what, entries in (("value", [o["value"] for o in options]), ("key", keys)):
        if len(set(entries)) < len(entries):
            yield f"two options have the same {what}"
    taken = sorted(key for key in keys if key in _DESK_KEYS)
    if taken:
        yield f"the keys {', '.join(taken)} have another meaning at the desk"


def _word_problems(row: Mapping[str, Any]) -> Iterator[str]:
    """Yield what is wrong with the words beside it; those of a rubric dimension come from the
    rubric.
    """
    if "dimension" in row:
        return
    if not _is_words(row.get("title")):
        yield "title is missing"
    scale = row.get("scale", {"points": 5})
    if not isinstance(scale, dict):
        return  # said above
    try:
        anchored = {str(point) for point in _scale(row).anchored}
    except (TypeError, ValueError, KeyError, AttributeError):
        return  # said above
    if "points" in scale and not _is_words(row.get("definition")):
        yield "definition is missing"
    for name in ("anchors", "examples"):
        given = row.get(name)
        if not anchored:
            if given:
                yield f"{name} belong to points"
        elif not isinstance(given, dict) or set(given) != anchored:
            points = ", ".join(map(str, sorted(anchored)))
            yield f"{name} must be given for {points}"
        elif not all(map(_is_words, given.values())):
            yield f"{name} must be sentences"


def _is_words(text: Any) -> bool:
    return isinstance(text, str) and bool(text.strip())


def _all_words(rows: Any) -> bool:
    return isinstance(rows, list) and all(map(_is_words, rows))

"""Read and check questionnaires in YAML; all problems are reported at once."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field, StrictInt, StrictStr

from annotation.questionnaires.types import (
    ANY,
    MANY,
    NEEDS,
    SHOWS,
    USUALLY_SHOWN,
    About,
    AnswerOption,
    Condition,
    Question,
    Questionnaire,
    QuestionnaireError,
    Scale,
    Unit,
    pair_answers,
)
from annotation.remarks.label_sets import LabelRow, find_label_set
from benchmarks.core.errors import CoreError, UnknownName
from benchmarks.core.ports.labels import plain
from benchmarks.core.problems import FileRefused, Problems
from benchmarks.core.registry import EXTERNAL, SYSTEMS, get_system
from benchmarks.core.schemas import STRICT, Checked, Loc, RowSchema, expects
from benchmarks.core.system import Dimension
from benchmarks.core.yaml_files import Path, place_of, read_yaml

# The remark on a whole item; no question may be called so.
COMMENT = "comment"
MOST_POINTS = 9
MOST_SPAN_LABELS = 30
LONGEST_TEXT = 5000
# Keys that the desk uses itself.
_DESK_KEYS = frozenset("cdefhjnpu[]?/!=")

Words = Annotated[StrictStr, expects("a text that is not blank", pattern=r"\S")]
Key = Annotated[
    StrictStr,
    expects("lowercase letters, digits and _, a letter first", pattern="^[a-z][a-z0-9_]{0,59}$"),
]


class OptionRow(RowSchema):
    """An answer to choose from; its place in the list is its key, unless it names one."""

    value: Annotated[StrictInt, Field(ge=-1000, le=1000)]
    label: Words
    key: Annotated[str, BeforeValidator(str, json_schema_input_type=str | int)] = ""


class ScaleRow(RowSchema):
    """The kind of answer: the one field that is given."""

    model_config = STRICT

    points: Annotated[StrictInt, Field(ge=2, le=MOST_POINTS)] | None = None
    choice: Annotated[list[OptionRow], Field(min_length=2, max_length=20)] | None = None
    marks: Literal["all", "world", "user"] | None = None
    decisions: Literal["all", "world", "user"] | None = None
    pair: Literal["ties", "no_ties"] | None = None
    text: Annotated[StrictInt, Field(ge=1, le=LONGEST_TEXT)] | None = None
    spans: (
        Annotated[list[LabelRow], Field(min_length=1, max_length=MOST_SPAN_LABELS)]
        | Annotated[
            StrictStr, expects("a label set, KEY@VERSION", pattern=r"^[a-z][a-z0-9_]*@\d+$")
        ]
        | None
    ) = None

    @property
    def scale(self) -> Scale:
        if self.points is not None:
            return Scale("points", self.points)
        if self.choice is not None:
            options = (
                AnswerOption(option.value, option.label, option.key or str(place))
                for place, option in enumerate(self.choice, 1)
            )
            return Scale("choice", options=tuple(options))
        if self.pair is not None:
            return Scale("choice", options=pair_answers(self.pair == "ties"), pair=True)
        if self.spans is not None:
            return Scale("spans", labels=span_labels(self.spans))
        of = self.decisions or self.marks
        if of is not None:
            return Scale("marks", of="" if of == "all" else of, each=self.decisions is not None)
        return Scale("text", self.text or LONGEST_TEXT)


def span_labels(spans: Sequence[LabelRow] | str) -> dict[str, str]:
    """Return the labels for passages by key, without headings; of a set by its name, if known."""
    rows = spans
    if isinstance(spans, str):
        file = find_label_set(spans)
        rows = file.labels if file is not None else []
    assert not isinstance(rows, str)
    heads = {row.parent for row in rows}
    return {row.key: row.name for row in rows if row.key not in heads}


class SectionRow(RowSchema):
    """Questions are grouped by sections; ``note`` is a sentence that ends each one's definition."""

    key: Words
    title: Words
    note: Words | None = None


class ConditionRow(RowSchema):
    """Ask only if another question has one of these answers."""

    model_config = STRICT

    question: StrictStr
    answers: Annotated[list[StrictInt], Field(min_length=1, max_length=20)]


class QuestionRow(RowSchema):
    """A question; one with a ``dimension`` takes its words from the rubric of the system."""

    key: Key | None = None
    dimension: StrictStr = ""
    section: StrictStr
    about: About = "item"
    needs: frozenset[Literal[tuple(NEEDS)]] = frozenset()  # type: ignore[valid-type]
    scale: ScaleRow = Field(default_factory=lambda: ScaleRow(points=5))
    required: bool | None = None
    when: ConditionRow | None = None
    title: Words | None = None
    definition: StrictStr | None = None
    anchors: Annotated[dict[str, Words], expects("words by point")] | None = None
    examples: Annotated[dict[str, Words], expects("words by point")] | None = None

    @property
    def name(self) -> str:
        return self.dimension or self.key or ""


class QuestionnaireFile(RowSchema):
    """A questionnaire as it is written; ``rubric`` is the version of the system's rubric whose
    words it takes, by default the one that judges read.
    """

    model_config = STRICT

    id: Words
    version: Annotated[StrictInt, Field(ge=1)]
    kind: Words
    system: Words
    title: Words
    instructions: tuple[Words, ...] = ()
    criteria: tuple[Words, ...] = ()
    unit: Unit = "trajectory"
    rubric: Annotated[StrictInt, Field(ge=1)] | None = None
    shows: tuple[Literal[tuple(SHOWS)], ...] = USUALLY_SHOWN  # type: ignore[valid-type]
    sections: Annotated[list[SectionRow], Field(min_length=1)]
    questions: Annotated[list[QuestionRow], Field(min_length=1)]


FILES = Checked[QuestionnaireFile](QuestionnaireFile)


def read_questionnaire(
    text: str,
    *,
    source: str,
    id: str,
    lines: Mapping[Path, int] | None = None,
    stored: bool = False,
) -> Questionnaire:
    """Return a questionnaire from YAML; every problem is named at once, with ``source``.

    ``lines`` are those of its parts where it was typed, if they are not those of ``text``. One that
    is ``stored`` is read even if its system is a plug-in that is gone.
    """
    problems = Problems()
    try:
        # Versions stored before this was refused may name a field twice.
        document = read_yaml(text, repeated=True)

        def fault(path: Loc, expected: str, found: Any) -> None:
            place = place_of(path, document.lines if lines is None else lines)
            problems.add(place or "the file", expected, found)

        file = FILES.read(document.value, fault)
        dimensions: dict[str, Dimension] = {}
        if file is not None:
            try:
                dimensions = {dimension.key: dimension for dimension in _dimensions(file, stored)}
            except CoreError as error:
                raise QuestionnaireError(f"{source}: {error}", [str(error)]) from None
            for path, expected, found in _contradictions(file, id, dimensions):
                fault(path, expected, found)
        problems.check()
    except FileRefused as refused:
        faults = [str(fault) for fault in refused.problems]
        raise QuestionnaireError(f"{source}: " + "; ".join(faults), faults) from None
    assert file is not None
    notes = {section.key: section.note or "" for section in file.sections}
    return Questionnaire(
        name=file.id,
        version=file.version,
        kind=file.kind,
        system=file.system,
        title=file.title,
        instructions=file.instructions,
        sections={section.key: section.title for section in file.sections},
        questions=tuple(
            _question(number, row, dimensions.get(row.dimension), notes[row.section])
            for number, row in enumerate(file.questions, 1)
        ),
        unit=file.unit,
        shows=frozenset(file.shows),
        own_criteria=file.criteria,
    )


def _question(
    number: int, row: QuestionRow, dimension: Dimension | None, section_note: str
) -> Question:
    scale = row.scale.scale
    definition = dimension.definition if dimension else row.definition or ""
    return Question(
        key=row.name,
        number=number,
        section=row.section,
        title=dimension.title if dimension else row.title or "",
        definition=f"{definition} {section_note}".strip(),
        anchors=dict(dimension.anchors) if dimension else _by_point(row.anchors),
        examples=dict(dimension.examples) if dimension else _by_point(row.examples),
        needs=row.needs,
        dimension=row.dimension,
        about=row.about,
        scale=scale,
        required=scale.kind != "text" if row.required is None else row.required,
        note=dimension.note if dimension else "",
        when=Condition(row.when.question, tuple(row.when.answers)) if row.when else None,
    )


def _by_point(words: Mapping[str, str] | None) -> dict[int, str]:
    return {int(point): text for point, text in (words or {}).items()}


def _dimensions(file: QuestionnaireFile, stored: bool) -> Sequence[Dimension]:
    """Return the rubric of a system; trajectories made elsewhere and people come without one.

    The rubric of a system that is gone has its dimensions by name alone.
    """
    if file.system in (EXTERNAL, ANY):
        return ()
    if stored and file.system not in SYSTEMS:
        names = [row.dimension for row in file.questions if row.dimension]
        return [Dimension(name, plain(name), "") for name in names]
    if file.system not in SYSTEMS:
        raise UnknownName("system", file.system, sorted({*SYSTEMS, ANY, EXTERNAL}))
    system = get_system(file.system)
    if file.rubric is None:
        return system.dimensions
    if file.rubric not in system.rubrics:
        known = ", ".join(str(version) for version in sorted(system.rubrics)) or "none"
        raise CoreError(
            f"rubric: {file.system} has no rubric in version {file.rubric}; it has {known}"
        )
    return system.rubrics[file.rubric]


def _contradictions(
    file: QuestionnaireFile, id: str, dimensions: Mapping[str, Dimension]
) -> Iterator[tuple[Loc, str, Any]]:
    """Yield what does not fit together: its place, what was expected, what is there."""
    if f"{file.id}@{file.version}" != id:
        yield ("id",), id, f"{file.id}@{file.version}"
    sections = [section.key for section in file.sections]
    names = {COMMENT}
    for number, row in enumerate(file.questions):
        at = ("questions", number)
        if not row.name:
            yield (*at, "key"), "a key, or a dimension of the rubric", None
        elif row.name in names:
            yield (*at, "key"), "a key that is not taken", row.name
        names.add(row.name)
        if row.section not in sections:
            yield (*at, "section"), f"one of {', '.join(sections)}", row.section
        if len(row.scale.model_fields_set) != 1:
            words = (
                "one of points, choice, marks, decisions, pair, spans, text, such as {points: 5}"
            )
            yield (*at, "scale"), words, row.scale.model_dump(exclude_unset=True)
        elif row.dimension:
            if row.dimension not in dimensions:
                known = ", ".join(dimensions) or "no dimension, as this system has no rubric"
                yield (*at, "dimension"), f"one of {known}", row.dimension
            if row.scale.points != 5:
                yield (*at, "scale"), "points: 5, as a dimension is scored", row.scale.scale.kind
        else:
            yield from _missing_words(at, row)
            yield from _choice_faults((*at, "scale", "choice"), row.scale.scale)
        yield from _pair_faults(at, file.unit, row)
        yield from _span_faults(at, file.unit, row)
    yield from _condition_faults(file.questions)


def _span_faults(at: Loc, unit: Unit, row: QuestionRow) -> Iterator[tuple[Loc, str, Any]]:
    """Yield labels that cannot be put on passages, and places where there are none to mark."""
    if row.scale.spans is None:
        return
    if row.about != "item" or unit != "trajectory":
        words = "item of unit trajectory: passages of any turn are marked together"
        yield (*at, "about"), words, f"{row.about} of unit {unit}"
    labels = row.scale.scale.labels
    place = (*at, "scale", "spans")
    if not labels:
        yield place, "a label set that is here (page Labels)", row.scale.spans
    elif len(labels) > MOST_SPAN_LABELS:
        yield place, f"at most {MOST_SPAN_LABELS} labels", len(labels)
    if isinstance(row.scale.spans, list):
        keys = [label.key for label in row.scale.spans]
        for number, key in enumerate(keys):
            if key in keys[:number]:
                yield (*place, number, "key"), "each key once", key


def _pair_faults(at: Loc, unit: Unit, row: QuestionRow) -> Iterator[tuple[Loc, str, Any]]:
    """Yield what cannot be asked of two trajectories, or of anything else."""
    scale = row.scale.scale
    if scale.pair and unit != "pair":
        yield (*at, "scale"), "unit: pair, for a question about two trajectories", unit
    if unit == "pair" and row.about != "item":
        yield (*at, "about"), "item, as two trajectories are judged together", row.about
    if unit == "pair" and scale.kind == "marks":
        yield (*at, "scale"), "pair, choice, points or text, for two trajectories", scale.kind


def _condition_faults(rows: Sequence[QuestionRow]) -> Iterator[tuple[Loc, str, Any]]:
    """Yield conditions on what is no question, not asked of the same part, or a circle."""
    by_name = {row.name: row for row in rows if row.name}
    for number, row in enumerate(rows):
        if row.when is None:
            continue
        at: Loc = ("questions", number, "when")
        other = by_name.get(row.when.question)
        if other is None:
            known = ", ".join(name for name in by_name if name != row.name) or "no other question"
            yield (*at, "question"), f"a question of this file ({known})", row.when.question
            continue
        values = other.scale.scale.values
        if not values:
            yield (*at, "question"), "a question with points or a choice", row.when.question
        for place, value in enumerate(row.when.answers if values else ()):
            if value not in values:
                yield (*at, "answers", place), f"one of {', '.join(map(str, values))}", value
        if _part_of(row) != _part_of(other):
            words = f"a question of the same part ({row.about})"
            yield (*at, "question"), words, f"{row.when.question} ({other.about})"
        path = [row.name]
        while other is not None and other.when is not None and other.name not in path:
            path.append(other.name)
            other = by_name.get(other.when.question)
        if other is not None and other.name == row.name:
            circle = " → ".join([*path, row.name])
            yield (*at, "question"), "conditions without a circle", circle


def _part_of(row: QuestionRow) -> str:
    return row.about if row.about in MANY else ""


def _missing_words(at: Loc, row: QuestionRow) -> Iterator[tuple[Loc, str, Any]]:
    """Yield the words that stand beside a question and are missing, or belong to no point."""
    if row.title is None:
        yield (*at, "title"), "a title", None
    points = [str(point) for point in row.scale.scale.anchored]
    if points and not (row.definition or "").strip():
        yield (*at, "definition"), "what is scored, in words", row.definition
    for name, words in (("anchors", row.anchors), ("examples", row.examples)):
        if set(words or ()) != set(points):
            expected = (
                f"words for {', '.join(points)}"
                if points
                else "nothing, as this question has no points"
            )
            yield (*at, name), expected, words


def _choice_faults(at: Loc, scale: Scale) -> Iterator[tuple[Loc, str, Any]]:
    """Yield what hinders people from choosing by value and by key."""
    for name in ("value", "key"):
        entries = [getattr(option, name) for option in scale.options]
        for place, entry in enumerate(entries):
            if entry in entries[:place]:
                yield (*at, place, name), f"another {name} than that of an option above", entry
            elif entry in _DESK_KEYS and not scale.pair:
                yield (*at, place, name), "a key without another meaning at the desk", entry

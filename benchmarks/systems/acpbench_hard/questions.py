"""Questions of ACPBench Hard, and the published files that hold them.

Files are JSON lists, plain or gzipped: ``app.dev.gen.json`` in one folder, or ``app/dev.gen.json``.
The task of a question is its ``group``; whether it is of ``dev`` or ``test`` is in the file's name.
"""

import re
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

from pydantic import BeforeValidator, create_model, model_validator

from benchmarks.core.problems import FileRefused, Problems, Unquoted
from benchmarks.core.schemas import (
    MISSING,
    RowSchema,
    expect,
    list_of,
    must,
    one_of,
    read_row,
    text,
)
from benchmarks.formats.source import File
from benchmarks.systems.acpbench_hard.tasks import BY_GROUP, MCQ, YES_NO, is_choice

SPLITS = ("dev", "test")

LONGEST_TEXT = 1 << 20
MOST_QUESTIONS = 100_000
MOST_ANSWERS = 20_000
LETTERS = "ABCDEFGH"
# Ids are signed 64-bit integers; JSON readers that know only doubles would change them.
LARGEST_ID = 2**63
_DOMAIN = re.compile(r"\(\s*domain\s+([^\s()]+)", re.IGNORECASE)
_GENERATIVE = re.compile(r"(?<![a-z])gen(?![a-z])")
_GIVEN = re.compile(r"(?<![a-z])(bool|mcq)(?![a-z])")
_SPLIT = re.compile(r"(?<![a-z])(dev|test)(?![a-z])")


@dataclass(frozen=True)
class PlanningQuestion:
    """One question. ``answer`` is what the benchmark stores; its form depends on the task.

    app: list of actions. prog: ``{"pos": atoms, "neg": atoms}``. reach: unreachable atoms without
    parentheses, areach: one unreachable action, both empty where the answer is None. val: index
    from 0. just: parts that can be removed, which no score uses. land: ``{"yes": atoms, "no":
    atoms}``. nexta: ``{"yes", "no", "maybe": actions, "opt": length of an optimal plan as text}``.
    Where the possible answers are given it is ``yes`` or ``no``, or the letter of one of
    ``choices``, which have a letter and a text each; such questions have no PDDL.
    """

    task: str
    split: str
    question_id: int
    group: str
    context: str
    question: str
    pddl_domain: str
    pddl_problem: str
    answer: Any
    choices: tuple[tuple[str, str], ...] = ()

    @property
    def options(self) -> tuple[str, ...]:
        """The possible answers, where they are given."""
        if not is_choice(self.task):
            return ()
        return tuple(letter for letter, _ in self.choices) or YES_NO

    @property
    def domain(self) -> str:
        """Name of the planning domain, in lower case; empty where the PDDL does not say."""
        match = _DOMAIN.search(self.pddl_domain)
        return match.group(1).lower() if match else ""


def find_files(folder: Path, forms: Collection[str] = ()) -> list[Path]:
    """Return the files of questions in a folder, at any depth, in the order of their paths.

    ``forms`` names further forms of questions whose files are taken beside: ``bool``, ``mcq``.

    The source repository has other JSON files beside them (``dev.bool.json``,
    ``app_example.gen.json``); where names with ``gen`` are there, only they count, and of these
    only those with a split where some have one.
    """
    every = [
        path
        for path in sorted(folder.rglob("*"))
        if path.name.endswith((".json", ".json.gz")) and path.is_file()
    ]
    given = [
        path
        for path in every
        if (form := _GIVEN.search(path.name)) and form[1] in forms and _SPLIT.search(path.name)
    ]
    every = [path for path in every if _GENERATIVE.search(path.name)] or ([] if given else every)
    return sorted([path for path in every if _SPLIT.search(path.name)] or every) + given


def read_questions(paths: Sequence[Path]) -> list[PlanningQuestion]:
    """Return the questions of files; ``FileRefused`` names the first twenty faults.

    The same question in two files counts once. Two different ones with the same id and task are a
    fault.
    """
    problems = Problems()
    by_key: dict[tuple[str, int], PlanningQuestion] = {}
    if not paths:
        problems.add(
            "files of questions", "at least one, such as app.dev.gen.json", Unquoted("none")
        )
    # A checkout of the repository has a ``dev.gen.json`` in the folder of every task.
    same_name = Counter(path.name for path in paths)
    for path in paths:
        name = f"{path.parent.name}/{path.name}" if same_name[path.name] > 1 else path.name
        try:
            _read_file(File(path, name), split_of(path), by_key, problems)
        except FileRefused as refused:
            problems.extend(refused)
    problems.check()
    return list(by_key.values())


def _read_file(
    file: File,
    split: str,
    by_key: dict[tuple[str, int], PlanningQuestion],
    problems: Problems,
) -> None:
    empty = True
    for field, index, item in file.entries():
        empty = False
        if field or index is None:
            problems.add(file.name, "a JSON list of questions", Unquoted("an object"))
            return
        if len(by_key) >= MOST_QUESTIONS:
            problems.add(file.name, f"at most {MOST_QUESTIONS} questions", Unquoted("more"))
            return
        where = f"{file.name}, row {index + 1}"
        question = _read_question(where, item, split, problems)
        if question is None:
            continue
        key = (question.task, question.question_id)
        if by_key.setdefault(key, question) != question:
            problems.add(f"{where}, id", "an id of its own", question.question_id)
    if empty:
        problems.add(file.name, "at least one question", Unquoted("none"))


def split_of(path: Path) -> str:
    """Return ``dev`` or ``test``, from the name of the file or of its folder; else nothing."""
    for part in (path.name, path.parent.name):
        if match := _SPLIT.search(part.lower()):
            return match.group(1)
    return ""


def parse_id(given: Any) -> int | None:
    """Return an id that is a number or a text; None where it is neither or has over 64 bits."""
    number = int(given) if isinstance(given, str) and _is_number(given) else given
    if isinstance(number, bool) or not isinstance(number, int) or abs(number) > LARGEST_ID:
        return None
    return number


def _id(given: Any) -> int:
    number = parse_id(given)
    if number is None:
        raise expect("a whole number of 64 bits")
    return number


def _is_number(text: str) -> bool:
    return re.fullmatch(r"-?[0-9]{1,19}", text) is not None


Text = Annotated[str, text(LONGEST_TEXT)]
Texts = Annotated[list[Text], list_of(MOST_ANSWERS)]


class QuestionRow(RowSchema):
    """What all questions have."""

    id: Annotated[int, BeforeValidator(_id)] = MISSING
    group: Annotated[str, one_of(f"one of {', '.join(BY_GROUP)}", BY_GROUP)] = MISSING
    context: Text = MISSING
    question: Text = MISSING


class OpenRow(QuestionRow):
    """A question whose answer is written, and checked against the PDDL."""

    PDDL_domain: Text = MISSING
    PDDL_problem: Text = MISSING


class Choices(RowSchema):
    """The possible answers, each with its letter."""

    text: Texts = MISSING
    label: list[Annotated[str, one_of("a letter from A to H", tuple(LETTERS))]] = MISSING

    @model_validator(mode="after")
    def check_labels(self) -> "Choices":
        if len(self.text) != len(self.label):
            raise expect("a text for each label")
        return self


class ChoiceRow(QuestionRow):
    """A question with several possible answers."""

    choices: Choices = MISSING


class Effects(RowSchema):
    pos: Texts = MISSING
    neg: Texts = MISSING


class Landmarks(RowSchema):
    yes: Texts = MISSING
    no: Texts = MISSING


class NextActions(Landmarks):
    maybe: Texts = MISSING
    opt: Annotated[Any, must("a whole number", lambda given: _is_number(str(given)))] = MISSING


Index = Annotated[
    int, must("an index from 0, or -1", lambda given: type(given) is int and -1 <= given < 10**9)
]
_ANSWERS: Mapping[str, Any] = {
    "app": Texts, "prog": Effects, "reach": Texts, "areach": Texts, "val": Index,
    "just": list[Texts], "land": Landmarks, "nexta": NextActions,
}  # fmt: skip
_SCHEMAS: Mapping[str, type[QuestionRow]] = {
    task: create_model(f"{task}_row", __base__=OpenRow, answer=(answer, MISSING))
    for task, answer in _ANSWERS.items()
}


def _read_question(
    where: str, item: Any, split: str, problems: Problems
) -> PlanningQuestion | None:
    """Return the question of a row, or None with its faults noted."""
    group = item.get("group") if isinstance(item, dict) else None
    task = BY_GROUP.get(group, "") if isinstance(group, str) else ""
    schema = _SCHEMAS.get(task, ChoiceRow if task.endswith(MCQ) else QuestionRow)
    row = read_row(schema, where, item, problems)
    if row is None:
        return None
    answer = item.get("answer")
    about = (task, split, row.id, row.group, row.context, row.question)
    if isinstance(row, OpenRow):
        return PlanningQuestion(*about, row.PDDL_domain, row.PDDL_problem, answer)
    choices: tuple[tuple[str, str], ...] = ()
    if isinstance(row, ChoiceRow):
        choices = tuple(zip(row.choices.label, row.choices.text, strict=True))
    options = [letter for letter, _ in choices] or YES_NO
    known = {option.lower(): option for option in options}
    right = known.get(answer.strip().lower()) if isinstance(answer, str) else None
    if right is None:
        problems.add(f"{where}, answer", "one of " + ", ".join(options), answer)
        return None
    return PlanningQuestion(*about, "", "", right, choices)

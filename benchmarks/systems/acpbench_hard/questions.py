"""Questions of ACPBench Hard, and the published files that hold them.

Files are JSON lists, plain or gzipped: ``app.dev.gen.json`` in one folder, or ``app/dev.gen.json``.
The task of a question is its ``group``; whether it is of ``dev`` or ``test`` is in the file's name.
"""

import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks.core.problems import FileRefused, Problems, Unquoted, text_fault
from benchmarks.formats.source import File
from benchmarks.systems.acpbench_hard.tasks import BOOL, BY_GROUP, YES_NO, is_choice

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
        if not isinstance(item, dict):
            problems.add(where, "an object", item)
            continue
        question = _Item(where, item, problems).read(split)
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


class _Item:
    """One member of a file; notes what is wrong with it."""

    def __init__(self, where: str, item: Mapping[str, Any], problems: Problems) -> None:
        self.where, self.item, self.problems, self.faults = where, item, problems, 0

    def fault(self, field: str, expected: str, found: Any) -> None:
        self.faults += 1
        self.problems.add(f"{self.where}, {field}", expected, found)

    def read(self, split: str) -> PlanningQuestion | None:
        """Return the question, or None with its faults noted."""
        number = self._id()
        group = self.item.get("group")
        if not isinstance(group, str) or group not in BY_GROUP:
            self.fault("group", "one of " + ", ".join(BY_GROUP), group)
            return None
        task = BY_GROUP[group]
        context, question = self._text("context"), self._text("question")
        answer = self.item.get("answer")
        if is_choice(task):
            return self._choice(task, split, number, group, context, question, answer)
        domain, problem = self._text("PDDL_domain"), self._text("PDDL_problem")
        _ANSWERS[task](self, answer)
        if self.faults:
            return None
        return PlanningQuestion(
            task, split, number, group, context, question, domain, problem, answer
        )

    def _choice(
        self,
        task: str,
        split: str,
        number: int,
        group: str,
        context: str,
        question: str,
        answer: Any,
    ) -> PlanningQuestion | None:
        """Return a question whose possible answers are given, or None with its faults noted."""
        choices: tuple[tuple[str, str], ...] = ()
        options: Sequence[str] = YES_NO
        if not task.endswith(BOOL):
            given = self.item.get("choices")
            parts = given if isinstance(given, dict) else {}
            for name in ("text", "label"):
                self.texts(f"choices.{name}", parts.get(name))
            if self.faults:
                return None
            if len(parts["text"]) != len(parts["label"]) or not set(parts["label"]) <= set(LETTERS):
                self.fault(
                    "choices", f"a text for each label, {LETTERS[0]} to {LETTERS[-1]}", given
                )
            choices = tuple(zip(parts["label"], parts["text"], strict=False))
            options = [letter for letter, _ in choices]
        known = {option.lower(): option for option in options}
        right = known.get(answer.strip().lower()) if isinstance(answer, str) else None
        if right is None:
            self.fault("answer", "one of " + ", ".join(options), answer)
        if self.faults:
            return None
        return PlanningQuestion(
            task, split, number, group, context, question, "", "", right, choices
        )

    def _id(self) -> int:
        number = parse_id(self.item.get("id"))
        if number is None:
            self.fault("id", "a whole number of 64 bits", self.item.get("id"))
            return 0
        return number

    def _text(self, name: str) -> str:
        value = self.item.get(name)
        if expected := text_fault(value, LONGEST_TEXT):
            self.fault(name, expected, value)
        return str(value)

    def texts(self, field: str, value: Any) -> None:
        """Check a list of texts, which may be empty."""
        if not isinstance(value, list):
            self.fault(field, "a list of texts", value)
        elif len(value) > MOST_ANSWERS:
            self.fault(field, f"at most {MOST_ANSWERS} texts", value)
        else:
            for place, one in enumerate(value):
                if expected := text_fault(one, LONGEST_TEXT):
                    self.fault(f"{field}[{place}]", expected, one)

    def lists(self, value: Any, names: Iterable[str]) -> None:
        """Check an object of lists of texts."""
        if not isinstance(value, dict):
            self.fault("answer", "an object with " + ", ".join(names), value)
            return
        for name in names:
            self.texts(f"answer.{name}", value.get(name))


def _is_number(text: str) -> bool:
    return re.fullmatch(r"-?[0-9]{1,19}", text) is not None


def _check_texts(item: _Item, value: Any) -> None:
    item.texts("answer", value)


def _check_index(item: _Item, value: Any) -> None:
    if isinstance(value, bool) or not isinstance(value, int) or not -1 <= value < 10**9:
        item.fault("answer", "an index from 0, or -1", value)


def _check_removable(item: _Item, value: Any) -> None:
    if not isinstance(value, list):
        item.fault("answer", "a list of lists", value)
        return
    for place, one in enumerate(value):
        item.texts(f"answer[{place}]", one)


def _check_next(item: _Item, value: Any) -> None:
    item.lists(value, ("yes", "no", "maybe"))
    if isinstance(value, dict) and not _is_number(str(value.get("opt"))):
        item.fault("answer.opt", "a whole number", value.get("opt"))


_ANSWERS: Mapping[str, Callable[[_Item, Any], None]] = {
    "app": _check_texts,
    "prog": lambda item, value: item.lists(value, ("pos", "neg")),
    "reach": _check_texts,
    "areach": _check_texts,
    "val": _check_index,
    "just": _check_removable,
    "land": lambda item, value: item.lists(value, ("yes", "no")),
    "nexta": _check_next,
}

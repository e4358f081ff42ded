"""Scoring a file of answers: both scores of each, with reasons, and where the scores differ."""

import resource
import time
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from benchmarks.core.problems import FileRefused, Problems
from benchmarks.formats.source import File, read_line
from benchmarks.systems.acpbench_hard.pddl.domain import read_domain
from benchmarks.systems.acpbench_hard.questions import (
    SPLITS,
    PlanningQuestion,
    find_files,
    parse_id,
    read_questions,
)
from benchmarks.systems.acpbench_hard.scoring import QUIRKS, AnswerVerdict, score
from benchmarks.systems.acpbench_hard.search.result import DEFAULTS, Limits
from benchmarks.systems.acpbench_hard.tasks import TASKS

MOST_ANSWERS = 1_000_000
LONGEST_SHOWN = 70


class ScoredAnswer(NamedTuple):
    """One answer with its verdict. ``question_id`` is as the file has it, a text or a number."""

    question: PlanningQuestion
    question_id: str | int
    response: str
    verdict: AnswerVerdict
    cpu_seconds: float

    def row(self) -> dict[str, Any]:
        """Return what is printed about it."""
        return {
            "task": self.question.task,
            "question_id": self.question_id,
            "reference": self.verdict.reference,
            "corrected": self.verdict.corrected,
            "reasons": list(self.verdict.reasons),
            "cpu_seconds": round(self.cpu_seconds, 6),
        }


class ScoringReport(NamedTuple):
    """All answers of a file, in its order."""

    scored: Sequence[ScoredAnswer]

    def record(self) -> dict[str, Any]:
        """Return the report as JSON has it."""
        return {"rows": [one.row() for one in self.scored], "by_task": self.by_task()}

    def by_task(self) -> dict[str, dict[str, Any]]:
        """Return for each task the numbers of answers, of known scores and of right answers."""
        tasks: dict[str, list[ScoredAnswer]] = defaultdict(list)
        for one in self.scored:
            tasks[one.question.task].append(one)
        return {task: _summary(tasks[task]) for task in TASKS if task in tasks}

    def lines(self) -> list[str]:
        """Return the report in words, a line for each task."""
        lines = []
        for task, counted in self.by_task().items():
            scores = ", ".join(
                f"{kind} {counted[kind]['right']} of {counted[kind]['known']} right"
                + (f" ({undecided} undecided)" if (undecided := counted[kind]["undecided"]) else "")
                for kind in ("reference", "corrected")
            )
            seconds = counted["mean_cpu_seconds"]
            lines.append(
                f"{task}: {counted['answers']} answers; {scores}; {counted['differ']} differ; "
                f"{seconds * 1000:.1f} ms of CPU per answer"
            )
        return lines

    def differences(self) -> list[str]:
        """Return a Markdown table of the answers whose scores differ, by quirk."""
        lines = ["| quirk | task | domain | answer | reference | corrected | why |"]
        lines.append("|" + "---|" * 7)
        for quirk in QUIRKS:
            for one in self.scored:
                if quirk in one.verdict.quirks:
                    lines.append(f"| {' | '.join(_cells(quirk, one))} |")
        counts = [
            f"{quirk}: {count}"
            for quirk in QUIRKS
            if (count := sum(quirk in one.verdict.quirks for one in self.scored))
        ]
        total = sum(bool(one.verdict.quirks) for one in self.scored)
        summary = f"{total} of {len(self.scored)} answers differ. {'; '.join(counts)}."
        return [summary, "", *lines]


def _cells(quirk: str, one: ScoredAnswer) -> Iterator[str]:
    verdict = one.verdict
    why = verdict.reasons[1].removeprefix("Corrected: ")
    cells = (one.response, str(verdict.reference), str(verdict.corrected), why)
    yield from (quirk, one.question.task, one.question.domain)
    for cell in cells:
        text = " ".join(cell.split()).replace("|", "\\|")
        yield text if len(text) <= LONGEST_SHOWN else f"{text[: LONGEST_SHOWN - 1]}…"


def _summary(scored: Sequence[ScoredAnswer]) -> dict[str, Any]:
    seconds = [one.cpu_seconds for one in scored]
    return {
        "answers": len(scored),
        "reference": _counts([one.verdict.reference for one in scored]),
        "corrected": _counts([one.verdict.corrected for one in scored]),
        "differ": sum(bool(one.verdict.quirks) for one in scored),
        "mean_cpu_seconds": round(sum(seconds) / len(seconds), 6),
        "max_cpu_seconds": round(max(seconds), 6),
    }


def _counts(scores: Sequence[int | None]) -> dict[str, Any]:
    known = [value for value in scores if value is not None]
    return {
        "known": len(known),
        "right": sum(known),
        "accuracy": sum(known) / len(known) if known else None,
        "undecided": len(scores) - len(known),
    }


def score_acpbench(answers: Path, data: Path, *, limits: Limits = DEFAULTS) -> ScoringReport:
    """Score a file of answers (JSON lines, plain or gzipped) to the questions in a folder.

    Both are checked as a whole first; ``FileRefused`` names the first twenty faults. What was read
    for one answer is not kept for the next, so that ``cpu_seconds`` is the cost of each.
    """
    questions = {(one.task, one.question_id): one for one in read_questions(find_files(data))}
    read = _read_answers(answers, questions)
    return ScoringReport([_score(*one, limits) for one in read])


def _score(
    question: PlanningQuestion, given: str | int, response: str, limits: Limits
) -> ScoredAnswer:
    read_domain.cache_clear()
    began = _cpu()
    verdict = score(question, response, limits=limits)
    return ScoredAnswer(question, given, response, verdict, _cpu() - began)


def _cpu() -> float:
    """Return the CPU time of this process and of the planners that it started."""
    children = resource.getrusage(resource.RUSAGE_CHILDREN)
    return time.process_time() + children.ru_utime + children.ru_stime


def _read_answers(
    path: Path, questions: Mapping[tuple[str, int], PlanningQuestion]
) -> list[tuple[PlanningQuestion, str | int, str]]:
    problems = Problems()
    read = []
    try:
        for number, line in File(path).lines():
            where = f"{path.name}, line {number}"
            item = read_line(path.name, number, line, problems)
            if not isinstance(item, dict):
                if item is not None:
                    problems.add(where, "an object", item)
                continue
            answer = _read_answer(where, item, questions, problems)
            if answer is not None:
                read.append(answer)
            if len(read) > MOST_ANSWERS:
                problems.add(where, f"at most {MOST_ANSWERS} answers", number)
                break
    except FileRefused as refused:
        problems.extend(refused)
    problems.check()
    return read


def _read_answer(
    where: str,
    item: Mapping[str, Any],
    questions: Mapping[tuple[str, int], PlanningQuestion],
    problems: Problems,
) -> tuple[PlanningQuestion, str | int, str] | None:
    before = problems.total
    task, split, given = item.get("task"), item.get("split"), item.get("question_id")
    response = item.get("response_text")
    if task not in TASKS:
        problems.add(f"{where}, task", "one of " + ", ".join(TASKS), task)
    if split is not None and split not in SPLITS:
        problems.add(f"{where}, split", " or ".join(SPLITS), split)
    if not isinstance(response, str):
        problems.add(f"{where}, response_text", "a text", response)
    number = parse_id(given)
    if number is None:
        problems.add(f"{where}, question_id", "a whole number of 64 bits", given)
    if problems.total > before or number is None or given is None:
        return None
    question = questions.get((str(task), number))
    if question is None or (split and question.split and question.split != split):
        problems.add(f"{where}, question_id", f"a question of {task} in the folder", given)
        return None
    return question, given, str(response)

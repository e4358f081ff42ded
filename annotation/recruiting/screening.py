"""Screening questions: written one a line, asked before somebody joins a study.

A line is ``Question? | *Answer that lets in | Other answer``. A star marks each answer that lets
somebody in. Answers are checked and not stored.
"""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

MOST_QUESTIONS, MOST_ANSWERS, LONGEST = 10, 12, 300
EXAMPLE = "Do you cook at home? | *Every week | *Every month | Never"


class ScreeningError(ValueError):
    """Lines that are no screening questions; one sentence each."""

    def __init__(self, problems: Sequence[str]) -> None:
        self.problems = tuple(problems)
        super().__init__(" ".join(problems))


class ScreeningQuestion(NamedTuple):
    """A question with its answers; ``accepted`` are the places of those that let somebody in."""

    text: str
    answers: tuple[str, ...]
    accepted: tuple[int, ...]

    def stored(self) -> dict[str, Any]:
        return {"text": self.text, "answers": list(self.answers), "accepted": list(self.accepted)}


def read_screening(text: str) -> list[ScreeningQuestion]:
    """Return the questions of a text; ScreeningError names every line that is wrong."""
    questions, problems = [], []
    lines = [(n, line) for n, line in enumerate(text.splitlines(), 1) if line.strip()]
    if len(lines) > MOST_QUESTIONS:
        raise ScreeningError([f"At most {MOST_QUESTIONS} questions."])
    for number, line in lines:
        question, *answers = (part.strip() for part in line.split("|"))
        accepted = tuple(n for n, answer in enumerate(answers) if answer.startswith("*"))
        plain = tuple(answer.removeprefix("*").strip() for answer in answers)
        wrong = _wrong(question, plain, accepted)
        if wrong:
            problems.append(f"Line {number}: {wrong}.")
        questions.append(ScreeningQuestion(question, plain, accepted))
    if problems:
        raise ScreeningError(problems)
    return questions


def _wrong(question: str, answers: Sequence[str], accepted: Sequence[int]) -> str:
    if not question or len(question) > LONGEST:
        return f"expected a question of at most {LONGEST} characters before the first “|”"
    if not 2 <= len(answers) <= MOST_ANSWERS:
        return f"expected 2 to {MOST_ANSWERS} answers, separated by “|”, found {len(answers)}"
    if any(not answer or len(answer) > LONGEST for answer in answers):
        return f"expected answers of 1 to {LONGEST} characters"
    if len(set(answers)) < len(answers):
        return "two answers are the same"
    if not accepted:
        return "mark each answer that lets somebody in with a star, such as “*Yes”"
    return ""


def stored_screening(rows: Sequence[Mapping[str, Any]]) -> list[ScreeningQuestion]:
    """Return the questions that a link keeps."""
    return [
        ScreeningQuestion(row["text"], tuple(row["answers"]), tuple(row["accepted"]))
        for row in rows
    ]


def passes(questions: Sequence[ScreeningQuestion], answers: Sequence[str]) -> bool | None:
    """Say whether answers (places, as texts) let somebody in; None where one is missing."""
    if len(answers) != len(questions):
        return None
    chosen = []
    for question, answer in zip(questions, answers, strict=True):
        if not (answer.isascii() and answer.isdigit() and len(answer) < 3):
            return None
        if int(answer) >= len(question.answers):
            return None
        chosen.append(int(answer) in question.accepted)
    return all(chosen)

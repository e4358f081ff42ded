"""Answers of a model to questions about failures, once people have checked a random part."""

from collections.abc import Sequence
from typing import NamedTuple

from analysis.filters.selection import ChosenRun
from analysis.frames.questions import YES, AnsweredQuestion, questions_about
from analysis.pages.failures.rows import NO_FAILURE, NO_OTHER, Failures
from analysis.stats.descriptive.trials import success_rate
from analysis.stats.results import Estimate

MOST_QUESTIONS = 20
NOT_ASKED = "not asked about"


class QuestionRow(NamedTuple):
    """A question with the share of failures for which a model said yes, and how right it is.

    ``ids`` are the agent's failures with yes, ``other_ids`` those of the other agents.
    """

    question: AnsweredQuestion
    mine: Estimate
    others: Estimate
    ids: tuple[int, ...]
    other_ids: tuple[int, ...]


def question_rows(
    data: Failures, run: ChosenRun
) -> tuple[list[QuestionRow], list[AnsweredQuestion]]:
    """Return the questions that may be counted, and those that may not be yet."""
    failed = data.failed
    asked = questions_about(set(failed["trajectory"].tolist()))[:MOST_QUESTIONS]
    rows = []
    for question in (one for one in asked if one.usable):
        sides = []
        for own in (True, False):
            side = failed[(failed["run"] == run.pk) == own]
            ids = side["trajectory"].tolist()
            answers = [question.answers.get(pk) for pk in ids]
            sides.append((_share(answers, side["task"].tolist(), len(data.runs)), ids, answers))
        (mine, ids, said), (others, other_ids, others_said) = sides
        rows.append(
            QuestionRow(question, mine, others, _yes(ids, said), _yes(other_ids, others_said))
        )
    return rows, [one for one in asked if not one.usable]


def _share(answers: Sequence[str | None], tasks: Sequence[int], agents: int) -> Estimate:
    """Estimate the share of yes among the failures with an answer."""
    if not answers:
        return Estimate.without_value(NO_FAILURE if agents > 1 else NO_OTHER)
    known = [(answer == YES, task) for answer, task in zip(answers, tasks, strict=True) if answer]
    left = len(answers) - len(known)
    excluded = {NOT_ASKED: left} if left else {}
    if not known:
        return Estimate.without_value(NOT_ASKED, excluded=excluded)
    return success_rate([is_yes for is_yes, _ in known], [t for _, t in known], excluded=excluded)


def _yes(ids: Sequence[int], answers: Sequence[str | None]) -> tuple[int, ...]:
    return tuple(pk for pk, answer in zip(ids, answers, strict=True) if answer == YES)

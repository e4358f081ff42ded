"""Which of two trajectories people prefer, one row per answer."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from analysis.filters.selection import ChosenRun
from analysis.filters.study_kinds import pair_questions
from annotation.models import Study
from annotation.questionnaires import load_questionnaire
from annotation.questionnaires.types import FIRST, SECOND, TIE
from annotation.ratings.duel_votes import votes_of
from annotation.ratings.selectors import pair_answers

if TYPE_CHECKING:
    from pandas import DataFrame

COLUMNS = (
    "pair", "task", "first", "second", "annotator", "simulated", "unblinded", "question", "value",
)  # fmt: skip


def preference_frame(study: Study, runs: Sequence[ChosenRun]) -> "DataFrame":
    """Return the current preferences of submitted items about two of these runs: `COLUMNS`.

    ``pair`` is the item, ``first`` and ``second`` are the labels of its runs, and ``value`` says
    which of them is preferred (0 for neither). In a study of duels answers are votes, ``pair`` is
    the duel with the turn, and its left side comes first; *both bad* is a tie.
    """
    import pandas as pd

    labels = {run.pk: run.label for run in runs}
    if study.has_duels:
        return pd.DataFrame.from_records(_votes(study, labels), columns=list(COLUMNS))
    keys = [question.key for question in pair_questions(load_questionnaire(study.questionnaire))]
    records = [
        (
            row.item, row.task, labels[row.first], labels[row.second], row.annotator,
            bool(row.is_simulated), row.unblinded, row.question, row.value,
        )
        for row in pair_answers(study, keys)
        if row.first in labels and row.second in labels
    ]  # fmt: skip
    return pd.DataFrame.from_records(records, columns=list(COLUMNS))


# Votes in duels as answers, and the questions of `duel@1` that they answer.
_VALUES = {"left": FIRST, "right": SECOND, "tie": TIE, "both_bad": TIE}
AT_THE_END, IN_A_TURN = "all_in_all", "by_turn"


def _votes(study: Study, labels: Mapping[int, str]) -> list[tuple[object, ...]]:
    return [
        (
            f"{vote.duel}.{vote.turn}", vote.task, labels[vote.left_run], labels[vote.right_run],
            vote.by, vote.simulated, False, IN_A_TURN if vote.turn else AT_THE_END,
            _VALUES[vote.choice],
        )
        for vote in votes_of(study.pk)
        if vote.counts and vote.left_run in labels and vote.right_run in labels
    ]  # fmt: skip

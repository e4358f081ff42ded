"""Which of two trajectories people prefer, one row per answer."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from analysis.filters.selection import ChosenRun
from analysis.filters.study_kinds import pair_questions
from annotation.models import Study
from annotation.questionnaires import load_questionnaire
from annotation.ratings.selectors import pair_answers

if TYPE_CHECKING:
    from pandas import DataFrame

COLUMNS = (
    "pair", "task", "first", "second", "annotator", "simulated", "unblinded", "question", "value",
)  # fmt: skip


def preference_frame(study: Study, runs: Sequence[ChosenRun]) -> "DataFrame":
    """Return the current preferences of submitted items about two of these runs: `COLUMNS`.

    ``pair`` is the item, ``first`` and ``second`` are the labels of its runs, and ``value`` says
    which of them is preferred (0 for neither).
    """
    import pandas as pd

    labels = {run.pk: run.label for run in runs}
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

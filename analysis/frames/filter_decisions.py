"""People's decisions to keep or remove candidate constraints, beside the checker's."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

from analysis.filters.selection import Selection
from analysis.filters.study_kinds import DECISIONS, decisions_of, filter_question
from annotation.adjudication.disagreement import compared_ratings
from annotation.models import Item, Study
from annotation.questionnaires import load_questionnaire
from annotation.ratings.selectors import meant_annotators
from benchmarks.models import Candidate

if TYPE_CHECKING:
    from pandas import DataFrame

CandidateKey = tuple[int, str]
COLUMNS = ("task", "candidate", "annotator", "simulated", "unblinded", "decision")


class AskedCandidate(NamedTuple):
    """A candidate that people decide about.

    ``decision`` is the checker's: keep, remove or None. ``meant`` is the number of annotators that
    its item is for.
    """

    task: int
    task_name: str
    key: str
    kind: str
    text: str
    decision: str | None
    reason: str
    decided_by: str
    meant: int

    @property
    def place(self) -> CandidateKey:
        return self.task, self.key


def asked_candidates(study: Study, selection: Selection) -> list[AskedCandidate]:
    """Return the candidates of the main items that the reader may see, in the study's order."""
    if selection.dataset is None:
        return []
    rows = Item.objects.filter(study=study, use=Item.Use.MAIN, trajectory=None)
    rows = rows.exclude(task__in=selection.closed_tasks).order_by("rank")
    asked = {
        task: (set(subjects.get("candidate", ())), meant)
        for task, subjects, meant in rows.annotate(meant=meant_annotators()).values_list(
            "task", "subjects", "meant"
        )
    }
    words = {stored: word for word, stored in DECISIONS.items()}
    places = {task: place for place, task in enumerate(asked)}
    candidates = [
        AskedCandidate(
            task=row.task_id,
            task_name=row.task.external_id,
            key=row.key,
            kind=row.kind,
            text=row.text,
            decision=words.get(row.decision or ""),
            reason=row.reason,
            decided_by=row.decided_by,
            meant=asked[row.task_id][1],
        )
        for row in Candidate.objects.filter(task__in=rows.order_by().values("task"))
        .select_related("task")
        .defer("task__payload", "payload")
        if row.key in asked[row.task_id][0]
    ]
    return sorted(candidates, key=lambda row: (places[row.task], row.key))


def decision_frame(study: Study, candidates: Sequence[AskedCandidate]) -> "DataFrame":
    """Return current decisions of submitted items, one row per annotator and candidate: `COLUMNS`.

    The decision is keep, remove or cannot tell; any other answer is missing.
    """
    import pandas as pd

    question = filter_question(load_questionnaire(study.questionnaire))
    known = {candidate.place for candidate in candidates}
    words = decisions_of(question) if question is not None else {}
    rows = compared_ratings(study).filter(
        question=question.key if question is not None else "", value__isnull=False
    )
    records = [
        (
            task,
            subject.removeprefix("candidate-"),
            person,
            bool(simulated),
            unblinded,
            words.get(value or 0),
        )
        for task, subject, person, simulated, unblinded, value in rows.order_by("pk").values_list(
            "assignment__item__task",
            "subject",
            "assignment__annotator",
            "assignment__annotator__annotator__is_simulated",
            "edit__unblinded",
            "value",
        )
        if (task, subject.removeprefix("candidate-")) in known
    ]
    return pd.DataFrame.from_records(records, columns=list(COLUMNS))

"""Constraints that people marked as violated in each turn, beside those that judges found."""

from collections.abc import Collection, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from django.db.models import QuerySet

from analysis.filters.selection import Selection
from analysis.filters.study_kinds import mark_questions
from annotation.adjudication.disagreement import compared_ratings
from annotation.models import Item, Study
from annotation.questionnaires import load_questionnaire
from annotation.questionnaires.decisions import unsure_keys, violated_keys
from annotation.ratings.checks import markable
from annotation.ratings.selectors import meant_annotators
from benchmarks.models import Constraint, Turn, Violation

if TYPE_CHECKING:
    from pandas import DataFrame

TurnKey = tuple[int, int]
COLUMNS = (
    "trajectory", "turn", "question", "annotator", "simulated", "unblinded", "marked", "unsure",
)  # fmt: skip


class AskedItem(NamedTuple):
    """A trajectory that is judged: its turns, and the constraints that can be marked, by kind."""

    trajectory: int
    task: int
    label: str
    asked: tuple[str, ...]
    turns: tuple[int, ...]
    kinds: Mapping[str, tuple[str, ...]]
    meant: int

    @property
    def kind_of(self) -> dict[str, str]:
        return {key: kind for kind, keys in self.kinds.items() for key in keys}


def asked_items(study: Study, selection: Selection) -> list[AskedItem]:
    """Return the main items on trajectories that the reader may see, in the study's order."""
    labels = {run.pk: run.label for run in selection.runs}
    rows = (
        Item.objects.filter(study=study, use=Item.Use.MAIN, trajectory__run__in=list(labels))
        .exclude(task__in=selection.closed_tasks)
        .order_by("rank")
    )
    rows = rows.annotate(meant=meant_annotators())
    questions = mark_questions(load_questionnaire(study.questionnaire))
    chosen = []
    for trajectory, task, run, asked, subjects, meant in rows.values_list(
        "trajectory", "task", "trajectory__run", "asked", "subjects", "meant"
    ):
        keys = {key for q in questions if q.key in asked for key in markable(subjects, q.scale.of)}
        kinds = {
            kind: tuple(key for key in subjects.get(kind, ()) if key in keys)
            for kind in ("world", "user")
        }
        chosen.append(
            AskedItem(
                trajectory=trajectory,
                task=task,
                label=labels[run],
                asked=tuple(q.key for q in questions if q.key in asked),
                turns=tuple(int(part) for part in subjects.get("turn", ())),
                kinds={kind: own for kind, own in kinds.items() if own},
                meant=meant,
            )
        )
    return chosen


def mark_frame(study: Study, items: Sequence[AskedItem]) -> "DataFrame":
    """Return current marks of submitted items, one row per annotator, turn and question:
    `COLUMNS`.

    ``marked`` are the constraints that somebody calls violated, ``unsure`` those about which they
    say that they cannot tell, where the questionnaire lets them.
    """
    import pandas as pd

    questions = load_questionnaire(study.questionnaire).by_key
    known = {item.trajectory: set(item.asked) for item in items}
    rows = compared_ratings(study).filter(chosen__isnull=False, subject__startswith="turn-")
    records = [
        (
            trajectory,
            int(subject.removeprefix("turn-")),
            question,
            person,
            bool(fake),
            unblinded,
            tuple(violated_keys(questions[question].scale, marks or ())),
            tuple(unsure_keys(questions[question].scale, marks or ())),
        )
        for trajectory, subject, question, person, fake, unblinded, marks in rows.order_by(
            "pk"
        ).values_list(
            "assignment__trajectory",
            "subject",
            "question",
            "assignment__annotator",
            "assignment__annotator__annotator__is_simulated",
            "edit__unblinded",
            "chosen",
        )
        if question in known.get(trajectory, ())
    ]
    return pd.DataFrame.from_records(records, columns=list(COLUMNS))


def sets_by_turn(
    frame: "DataFrame", items: Sequence[AskedItem], column: str = "marked"
) -> list[tuple[int, TurnKey, frozenset[str] | None]]:
    """Return each annotator's set on each turn, over all questions about it.

    ``column``: ``marked`` or ``unsure``. None where somebody left one of the questions open:
    nothing says what they would have marked.
    """
    asked = {item.trajectory: len(item.asked) for item in items}
    sets_of: dict[tuple[int, TurnKey], list[Collection[str]]] = {}
    names = ("annotator", "trajectory", "turn", column)
    rows = zip(*(frame[name].tolist() for name in names), strict=True)
    for person, trajectory, turn, marked in rows:
        sets_of.setdefault((person, (trajectory, turn)), []).append(marked)
    return [
        (
            person,
            turn,
            frozenset(key for marks in sets for key in marks)
            if len(sets) == asked[turn[0]]
            else None,
        )
        for (person, turn), sets in sets_of.items()
    ]


def found_by_judges(
    study: Study, items: Sequence[AskedItem]
) -> dict[TurnKey, frozenset[str] | None]:
    """Return the constraints that judges found violated, by turn that people were asked about.

    Of the constraints that could be marked; None where the judges gave no readable verdict.
    """
    asked = _trajectories(study)
    rows = Turn.objects.filter(trajectory__in=asked).order_by()
    unknown = set(rows.filter(payload__valid=None).values_list("trajectory", "index"))
    marks: dict[TurnKey, set[str]] = {}
    violated = Violation.objects.filter(turn__trajectory__in=asked).order_by()
    for trajectory, index, key in violated.values_list("turn__trajectory", "turn__index", "key"):
        marks.setdefault((trajectory, index), set()).add(key)
    return {
        (item.trajectory, turn): None
        if (item.trajectory, turn) in unknown
        else frozenset(marks.get((item.trajectory, turn), ())) & set(item.kind_of)
        for item in items
        for turn in item.turns
    }


def constraint_texts(study: Study) -> dict[tuple[int, str], str]:
    """Return the text of each constraint by trajectory and key."""
    rows = Constraint.objects.filter(profile__trajectory__in=_trajectories(study))
    return {
        (trajectory, key): text
        for trajectory, key, text in rows.order_by().values_list(
            "profile__trajectory", "key", "text"
        )
    }


def _trajectories(study: Study) -> QuerySet[Item, Any]:
    """Return subquery: a study may have more items than a query takes values."""
    rows = Item.objects.filter(study=study, use=Item.Use.MAIN, trajectory__isnull=False)
    return rows.order_by().values("trajectory")

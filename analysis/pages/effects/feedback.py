"""People's ratings of feedback, compared by who spoke for the user: same agents, same tasks."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from analysis.filters.selection import Selection
from analysis.frames.people_scores import feedback_frame
from analysis.kit.columns import Column as KitColumn
from analysis.kit.links import Link
from analysis.pages.comparisons import p_column
from analysis.pages.declaration import ColumnOf, estimate_of, text_of
from analysis.pages.effects.rows import EffectsData
from analysis.reports import system_facts
from analysis.reports.content import (
    Cell,
    count_cell,
    estimate_cell,
    estimate_column,
    number_column,
)
from analysis.reports.formatting import counted
from analysis.stats.comparison.condition_effects import (
    ConditionChange,
    ConditionEffects,
    condition_effects,
)
from analysis.stats.results import Estimate
from benchmarks.core.ports.labels import Measure
from benchmarks.core.registry import find_system

if TYPE_CHECKING:
    from pandas import DataFrame

BASELINE = "it is what the others are compared with"


@dataclass(frozen=True)
class FeedbackRow:
    """The ratings of an agent's feedback under one value, and their change from the first."""

    agent: str
    title: str
    runs: tuple[int, ...]
    rating: Estimate
    change: ConditionChange | None

    @property
    def link(self) -> Link:
        return Link(runs=self.runs)


@dataclass(frozen=True)
class Feedback:
    """People's ratings of the feedback by one question."""

    question: str
    measure: Measure
    effects: ConditionEffects
    runs: Mapping[tuple[str, str], int]
    left_out: Mapping[str, int]
    simulated: int

    @property
    def rows(self) -> list[FeedbackRow]:
        """Every agent under every value."""
        changes = {(one.model, one.condition): one for one in self.effects.changes}
        return [
            FeedbackRow(
                agent,
                title,
                (self.runs[agent, title],) if (agent, title) in self.runs else (),
                self.effects.cells[agent, title],
                changes.get((agent, title)),
            )
            for agent in self.effects.models
            for title in self.effects.conditions
        ]


def load_feedback(data: EffectsData, selection: Selection) -> dict[str, "DataFrame"]:
    """Load the ratings of feedback by question; none where people do not vary."""
    if data.factor.kind != "people":
        return {}
    questions = find_system(selection.system).comparisons.feedback_ratings
    frames = {
        question: feedback_frame(data.everybody, question, selection.people)
        for question in questions
    }
    return {name: frame for name, frame in frames.items() if not frame["rated"].isna().all()}


def compute_feedback(
    data: EffectsData, frames: Mapping[str, "DataFrame"], measures: Mapping[str, Measure]
) -> tuple[Feedback, ...]:
    """Compare the ratings between the values, on the same tasks."""
    return tuple(
        _feedback(data, question, measures[question], frame) for question, frame in frames.items()
    )


def _feedback(data: EffectsData, question: str, measure: Measure, frame: "DataFrame") -> Feedback:
    titles = data.titles
    by_run = {run.pk: titles[run.value] for run in data.everybody}
    effects = condition_effects(
        frame["label"].tolist(),
        [by_run[pk] for pk in frame["run"]],
        frame["task"].tolist(),
        frame["rated"].to_numpy(),
        measure=measure.title,
        order=list(titles.values()),
        contrast="baseline",
        among=max(data.among, len(set(frame["label"]))),
        scale=system_facts.RUBRIC_SCALE,
    )
    return Feedback(
        question,
        measure,
        effects,
        {(run.label, titles[run.value]): run.pk for run in data.everybody},
        dict(Counter(why for why in frame["why"] if why)),
        int(frame["simulated"].sum()),
    )


def feedback_columns(agent: ColumnOf[FeedbackRow]) -> Sequence[ColumnOf[FeedbackRow]]:
    """Give the ratings and their changes."""
    p: KitColumn[FeedbackRow] = p_column(lambda row: row.change, BASELINE)
    return (
        agent,
        text_of("Who speaks", lambda row: row.title),
        estimate_of(
            "Rating",
            lambda row: row.rating,
            "number",
            show_n=True,
            help="1 to 5, 5 is best; n counts trajectories",
        ),
        ColumnOf(
            estimate_column("Change", help="Against the first, on the tasks under both"), _change
        ),
        ColumnOf(p.head, p.cell),
        ColumnOf(
            number_column("Left out", help="Values without a number, and unshared tasks"), _left
        ),
    )


def _change(row: FeedbackRow) -> Cell:
    if row.change is None:
        return Cell(data=(None,) * 5, reason=BASELINE)
    difference = row.change.comparison.difference
    return estimate_cell(difference, "number", signed=True, show_n=True)


def _left(row: FeedbackRow) -> Cell:
    if row.change is None:
        return Cell(data=(None,), reason=BASELINE)
    left = row.change.comparison.difference.excluded
    return count_cell(sum(left.values()), tip=counted(left))

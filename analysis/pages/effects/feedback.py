"""People's ratings of feedback, compared by who spoke for the user: same agents, same tasks."""

from collections import Counter
from typing import TYPE_CHECKING, NamedTuple

from analysis.frames.people_scores import feedback_frame
from analysis.kit import columns
from analysis.kit.columns import Column
from analysis.kit.links import Link
from analysis.kit.page import Page
from analysis.pages.comparisons import left_out_column, p_column
from analysis.pages.effects.rows import Varied
from analysis.reports import content as parts
from analysis.reports import system_facts
from analysis.reports.content import Cell, estimate_cell
from analysis.reports.formatting import counted, plural
from analysis.stats.comparison.condition_effects import ConditionChange, condition_effects
from analysis.stats.results import Estimate
from benchmarks.core.ports.labels import Measure

if TYPE_CHECKING:
    from pandas import DataFrame

BASELINE = "it is what the others are compared with"


class FeedbackRow(NamedTuple):
    """The ratings of an agent's feedback under one value, and their change from the first."""

    agent: str
    title: str
    rating: Estimate
    change: ConditionChange | None


def feedback_tables(page: Page, data: Varied) -> None:
    """Add people's ratings by question, where people are what varies."""
    if data.factor.kind != "people":
        return
    for question, measure in page.system.comparisons.feedback_ratings.items():
        frame = feedback_frame(list(data.everybody.values()), question, page.selection.people)
        if not frame["rated"].isna().all():
            _feedback_table(page, data, question, measure, frame)


def _feedback_table(
    page: Page, data: Varied, question: str, measure: Measure, frame: "DataFrame"
) -> None:
    titles = {run.pk: title for (_, title), run in data.everybody.items()}
    effects = condition_effects(
        frame["label"].tolist(),
        [titles[pk] for pk in frame["run"]],
        frame["task"].tolist(),
        frame["rated"].to_numpy(),
        measure=measure.title,
        order=list(data.titles.values()),
        contrast="baseline",
        among=max(page.selection.compared, len(set(frame["label"]))),
        scale=system_facts.RUBRIC_SCALE,
    )
    changes = {(one.model, one.condition): one for one in effects.changes}

    def link(row: FeedbackRow) -> Link:
        run = data.everybody.get((row.agent, row.title))
        return Link(runs=(run.pk,) if run is not None else ())

    def change(row: FeedbackRow) -> Cell:
        if row.change is None:
            return Cell(data=(None,) * 5, reason=BASELINE)
        return estimate_cell(row.change.comparison.difference, "number", signed=True, show_n=True)

    head = parts.estimate_column("Change", help="Against the first, on the tasks under both")
    left_out = counted(Counter(why for why in frame["why"] if why)) or "nothing"
    note = (
        f"{measure.help} Mean over those who rated a trajectory; its own players are not among "
        "them. Changes: simultaneous intervals, Bonferroni over "
        f"{plural(effects.family.size, 'change')}. Left out: {left_out}."
    )
    if simulated := int(frame["simulated"].sum()):
        of = plural(simulated, "trajectory", "trajectories")
        note += f" Of {of} the annotators are simulated."
    page.table(
        question,
        measure.title,
        [FeedbackRow(*key, rating, changes.get(key)) for key, rating in effects.cells.items()],
        [
            columns.agent_of_runs(lambda row: data.runs_of(row.agent)),
            columns.text("Who speaks", lambda row: row.title),
            columns.estimate(
                "Rating",
                lambda row: row.rating,
                "number",
                help="1 to 5, 5 is best; n counts trajectories",
                show_n=True,
            ),
            Column(head, change),
            p_column(lambda row: row.change, BASELINE),
            left_out_column(lambda row: row.change, BASELINE),
        ],
        link=link,
        note=note,
    )

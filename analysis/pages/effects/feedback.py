"""How people rated the feedback, by who spoke for the user: the same agents on the same tasks."""

from collections import Counter

from analysis.filters.selection import Selection
from analysis.frames.people_scores import feedback_frame
from analysis.pages.compare_models.rows import SEED
from analysis.pages.compare_models.tables import P_COLUMN, p_pair_cell
from analysis.pages.effects.rows import Effects
from analysis.pages.effects.tables import AGENT, agent_of
from analysis.reports import common
from analysis.reports.content import (
    Cell,
    Table,
    count_cell,
    estimate_cell,
    estimate_column,
    number_column,
    text_cell,
    text_column,
)
from analysis.reports.formatting import counted, plural
from analysis.stats.comparison.condition_effects import (
    ConditionChange,
    ConditionEffects,
    condition_effects,
)
from benchmarks.core.labels import Measure
from benchmarks.core.registry import find_system


def feedback_tables(found: Effects, selection: Selection) -> list[Table]:
    """A table for each question on feedback; none where nothing is rated or people do not vary."""
    if found.factor.kind != "people":
        return []
    tables = []
    for question, measure in find_system(selection.system).comparisons.feedback_ratings.items():
        tables += _table(found, selection, question, measure)
    return tables


def _table(found: Effects, selection: Selection, question: str, measure: Measure) -> list[Table]:
    runs = [run for run in selection.runs if run.value in found.titles]
    frame = feedback_frame(runs, question, selection.people)
    if frame["rated"].isna().all():
        return []
    titles = {run.pk: found.titles[run.value] for run in runs}
    effects = condition_effects(
        frame["label"].tolist(),
        [titles[pk] for pk in frame["run"]],
        frame["task"].tolist(),
        frame["rated"].to_numpy(),
        measure=measure.title,
        order=list(found.titles.values()),
        contrast="baseline",
        among=max(selection.compared, len(set(frame["label"]))),
        scale=common.RUBRIC_SCALE,
        seed=SEED,
    )
    left = Counter(why for why in frame["why"] if why)
    made_up = int(frame["simulated"].sum())
    note = (
        f"{measure.help} Mean over those who rated a trajectory; its own players are not among "
        f"them. Changes: simultaneous intervals, Bonferroni over "
        f"{plural(effects.family.size, 'change')}. Left out: {counted(dict(left)) or 'nothing'}."
    )
    if made_up:
        note += f" Of {plural(made_up, 'trajectory', 'trajectories')} the annotators are simulated."
    columns = (
        AGENT,
        text_column("Who speaks"),
        estimate_column("Rating", help="1 to 5, 5 is best; n counts trajectories"),
        estimate_column("Change", help="Against the first, on the tasks under both"),
        P_COLUMN,
        number_column("Left out", help="Values without a number, and unshared tasks"),
    )
    return [Table(question, measure.title, columns, tuple(_rows(found, effects)), note=note)]


def _rows(found: Effects, effects: ConditionEffects) -> list[tuple[Cell, ...]]:
    changes = {(change.model, change.condition): change for change in effects.changes}
    rows = []
    for agent in effects.models:
        for title in effects.conditions:
            change = changes.get((agent, title))
            rows.append(
                (
                    agent_of(found, agent),
                    text_cell(title),
                    estimate_cell(effects.cells[agent, title], "number", show_n=True),
                    *(_nothing() if change is None else _change(change)),
                )
            )
    return rows


def _change(change: ConditionChange) -> tuple[Cell, ...]:
    comparison = change.comparison
    left = comparison.difference.excluded
    return (
        estimate_cell(comparison.difference, "number", signed=True, show_n=True),
        p_pair_cell(change.p_adjusted, comparison.p_value),
        count_cell(sum(left.values()), tip=counted(left)),
    )


def _nothing() -> tuple[Cell, ...]:
    """The baseline changes nothing."""
    why = "it is what the others are held against"
    return (
        Cell(data=(None,) * 5, reason=why),
        Cell(data=(None, None), reason=why),
        Cell(data=(None,), reason=why),
    )

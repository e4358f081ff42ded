"""On which dimensions are agents good or bad? Mean scores of final turns, or of all turns."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import combinations
from typing import TYPE_CHECKING, NamedTuple

from analysis.figures.layout.theme import Figure
from analysis.figures.rubric import rubric_dots, rubric_heatmap
from analysis.filters.selection import ChosenRun
from analysis.frames.outcomes import unfinished
from analysis.frames.scores import Unscored, turn_scores, unscored
from analysis.kit.columns import Column
from analysis.kit.empty import no_runs
from analysis.kit.links import Link
from analysis.kit.page import Content, Page
from analysis.pages.rubric.corrected import corrected_dimensions
from analysis.reports import addresses, figure_specs, run_marks, system_facts
from analysis.reports import content as parts
from analysis.reports.content import Cell, exclusions, how_interval
from analysis.reports.extremes import beyond
from analysis.reports.formatting import counted, left_out_sentence, listed, plural, stated
from analysis.reports.published import published_estimate
from analysis.stats.comparison.extremes import (
    Difference,
    clear_differences,
    find_extreme,
    paired_groups,
    pairs_of,
)
from analysis.stats.descriptive.means import MeanTable, mean_by_cluster, mean_t
from analysis.stats.results import Estimate
from benchmarks.core.registry import get_system
from benchmarks.core.system import Dimension

if TYPE_CHECKING:
    from pandas import DataFrame

PURPOSE = "The rubric table shows on which dimensions agents do well, as the judges score them."
# The largest difference of two scores from 1 to 5.
WIDEST = system_facts.RUBRIC_SCALE[1] - system_facts.RUBRIC_SCALE[0]
MISSING = "not every judge scored it"
AVERAGE, AVERAGE_HELP = "Average", "mean over these agents, each with the same weight"


class MeansRow(NamedTuple):
    """The means of one agent here, of a published model, or their average, by dimension key."""

    label: str
    means: Mapping[str, Estimate]
    run: ChosenRun | None = None
    source: str = ""


class Gap(NamedTuple):
    """The dimension on which agents lie furthest apart, with the highest and the lowest agent."""

    dimension: Dimension
    high: MeansRow
    low: MeansRow


def content(page: Page) -> Content:
    """Average scores by agent and dimension, and say where agents clearly differ.

    Final turns are one per trajectory, so their intervals are Student's t; turns of one trajectory
    are not independent, so the intervals of all turns are by task.
    """
    selection = page.selection
    dimensions = system_facts.dimensions_of(selection.system)
    final = selection.filters.turns != "all"
    keys = [dimension.key for dimension in dimensions]
    if not page.runs or not dimensions:
        no_runs(page, PURPOSE, of_judges=True)
        return
    frame = turn_scores(page.runs, keys, final=final)
    if frame.empty:
        no_runs(page, PURPOSE, of_judges=True)
        return
    lacking = unscored(page.runs, keys, final=final)
    groups = dict(list(frame.groupby(["label", "dimension"], sort=False)))
    rows = [
        MeansRow(
            run.label,
            {key: _mean(groups.get((run.label, key)), final, _why(key, lacking)) for key in keys},
            run,
        )
        for run in page.runs
    ]
    corrected = corrected_dimensions(page, frame, keys) if final else None
    if corrected is not None:
        rows = [row._replace(means=corrected.means(row.label)) for row in rows]
    overall: dict[str, float] = {}  # of each dimension, over all agents
    for dimension in dimensions:
        known = [value for row in rows if (value := row.means[dimension.key].value) is not None]
        if known:
            overall[dimension.key] = sum(known) / len(known)
    if corrected is None:
        between = _between_agents(frame, dimensions, selection.agents_here)
    else:
        between = corrected.between(dimensions)
    published = (
        published_rows(selection.system, dimensions)
        if selection.filters.published != "hide"
        else []
    )

    titles = {dimension.key: dimension.title for dimension in dimensions}
    reasons = [
        f"{titles[key].lower()}, {gone.missing:,} of {gone.asked:,} ({next(iter(gone.reasons))})"
        for key, gone in lacking.items()
    ]
    page.answers = bool(overall)
    if overall:
        plans = "final plans" if final else "plans of all turns"
        low, high = min(overall.values()), max(overall.values())
        extremes = f"score {low:.2f} to {high:.2f} by dimension"
        if corrected is None:
            extremes = _by_dimension(frame, dimensions, overall)
        page.answer(f"Over {plural(len(rows), 'agent')}, {plans} {extremes}.")
        if len(rows) > 1:
            page.answer(_clear_gaps(rows, between))
        if corrected is not None:
            corrected.say(page)
        wholly = [titles[key].lower() for key in lacking if key not in overall]
        if wholly:
            page.answer(f"Judges left {listed(wholly)} unscored.")
    else:
        first = next((f" ({next(iter(gone.reasons))})" for gone in lacking.values()), "")
        page.answer(
            f"Nothing can be compared: on no dimension did every judge give a score{first}."
        )
    if reasons:
        page.warning(f"Judges gave no score on {'; '.join(reasons)}.")
    pairs = list(combinations([row.label for row in rows], 2))
    page.compared([of(*pair) for of in between.values() for pair in pairs], "points")
    turns = "final turns" if final else "all turns"
    over = "judges and trajectories"
    if corrected is not None:
        over = f"trajectories, of {corrected.correction.whose}"
    scale = f"Mean over {over}, 1 to 5, 5 best"
    page.figure(
        "heatmap",
        f"Mean score by agent and dimension, {turns}",
        lambda: _draw_heatmap(page, rows, published, dimensions),
        subtitle=scale,
        table="means",
        least_width=640,
    )
    unit = "trajectories" if final else "turns"
    help = f"Scored {unit}; said in a cell where it is another number"
    average = [average_row(rows, keys)] if len(rows) > 1 else []
    page.table(
        "means",
        "Mean scores",
        [*rows, *average, *published],
        [
            Column(parts.Column("Agent", ("agent", "kind", "run"), num=False), _name),
            Column(parts.number_column("n", unit, help), _count),
            *map(_dimension_column, dimensions),
        ],
        link=_link,
        note=f"{scale}, with 95 % intervals. Average: "
        "each agent counts once, whatever its n. Published rows come without intervals.",
    )
    gap = widest_gap(rows, dimensions)
    if gap is not None and gap.low.run is not None and gap.high.run is not None:
        key, title = gap.dimension.key, gap.dimension.title.lower()
        page.onward(
            f"Why: {gap.low.label} and {gap.high.label} on {title}, task by task",
            addresses.side_by_side(gap.low.run, gap.high.run, key, sort="-difference"),
        )
        page.onward(f"Any two agents on {title}", page.other("compare-models", measure=key))
    yield
    page.figure(
        "dots",
        f"The same with 95 % intervals, {turns}",
        lambda: rubric_dots(
            _table_of({row.label: row for row in rows}, dimensions),
            styles=figure_specs.styles([row.label for row in rows]),
            links=_links(page, rows, dimensions),
        ),
        subtitle=f"{plural(len(rows), 'agent')} run here",
        table="means",
    )
    estimates = [estimate for row in rows for estimate in row.means.values()]
    left_out = exclusions(estimates)
    what = (
        "Final turns: one value per trajectory, the mean over its judges."
        if final
        else "All turns: one value per turn, the mean over its judges; longer trajectories weigh "
        "more."
    )
    page.how(
        f"{what} A turn counts on a dimension only where every judge who was asked scored it.",
        f"Means with 95 % intervals: {how_interval(estimates) or 'none'}.",
        "Dimensions and agents are compared on the same tasks; intervals in the sentence hold "
        "together, over all pairs of dimensions, and over all pairs of agents on all dimensions "
        "(Bonferroni).",
        left_out_sentence(left_out, nothing="No score"),
        *(
            f"Unscored on {titles[key].lower()}: {counted(gone.reasons)}."
            for key, gone in lacking.items()
        ),
    )
    waiting = [
        f"{run.label}: {counted(counts)}" for run in page.runs if (counts := unfinished(run))
    ]
    if waiting:
        page.how(f"Trajectories that are not finished: {'; '.join(waiting)}.")
    of_what = "of the last turn of each trajectory" if final else "of every turn"
    page.methods(
        f"Scores are the judges' mean {of_what}, averaged by agent and dimension where every judge "
        "scored the turn."
    )


def _mean(rows: "DataFrame | None", final: bool, why: str) -> Estimate:
    if rows is None:
        return Estimate.without_value("no turn was judged on it")
    scores = rows["score"].to_numpy()
    there = scores == scores
    gone = len(scores) - int(there.sum())
    excluded = {MISSING: gone} if gone else {}
    if not there.any():
        return Estimate.without_value(why, excluded=excluded)
    if final:
        return mean_t(scores[there], excluded=excluded, scale=system_facts.RUBRIC_SCALE)
    tasks = rows["task"].to_numpy()[there].tolist()
    return mean_by_cluster(scores[there], tasks, excluded=excluded, scale=system_facts.RUBRIC_SCALE)


def _why(key: str, lacking: Mapping[str, Unscored]) -> str:
    """Return why nothing is scored, in the judges' own words."""
    if key not in lacking:
        return MISSING
    return f"{MISSING}: {next(iter(lacking[key].reasons))}"


def _by_dimension(
    frame: "DataFrame", dimensions: Sequence[Dimension], overall: Mapping[str, float]
) -> str:
    """Return what may be said of the dimensions with the highest and the lowest mean."""
    titles = {one.key: one.title.lower() for one in dimensions if one.key in overall}
    known = frame[frame["dimension"].isin(list(titles))]
    difference = paired_groups(
        known["dimension"].map(titles).tolist(),
        known["task"].tolist(),
        known["score"].to_numpy(),
        comparisons=pairs_of(len(titles)),
        most=WIDEST,
    )
    values = {title: overall[key] for key, title in titles.items()}
    best = find_extreme(values, difference)
    worst = find_extreme(values, difference, lowest=True)
    if best.verdict in ("alone", "equal"):
        return f"score {best.value:.2f} on {listed(best.names)}"
    if not (best.is_clear or worst.is_clear):
        low, high = min(values.values()), max(values.values())
        return f"score {low:.2f} to {high:.2f} by dimension; none is clearly best or clearly worst"
    clear = [
        f"{word} on {listed(extreme.names)} ({extreme.value:.2f}, {beyond(extreme, 'points')})"
        for word, extreme in (("best", best), ("worst", worst))
        if extreme.is_clear
    ]
    return f"score {' and '.join(clear)}"


def _between_agents(
    frame: "DataFrame", dimensions: Sequence[Dimension], among: int
) -> dict[str, Difference]:
    """Return the differences between agents by dimension.

    Their intervals hold together over all pairs of ``among`` agents on all dimensions.
    """
    comparisons, between = pairs_of(among) * len(dimensions), {}
    for dimension in dimensions:
        known = frame[frame["dimension"] == dimension.key]
        between[dimension.title.lower()] = paired_groups(
            known["label"].tolist(),
            known["task"].tolist(),
            known["score"].to_numpy(),
            comparisons=comparisons,
            most=WIDEST,
        )
    return between


def _clear_gaps(rows: Sequence[MeansRow], between: Mapping[str, Difference]) -> str:
    """Say on how many dimensions two agents clearly differ, and where most."""
    gaps = []
    for title, difference in between.items():
        clear = clear_differences([row.label for row in rows], difference)
        if clear:
            high, low, gap = clear[0]
            gaps.append(
                (gap.value or 0.0, f"{title}, {high} above {low} by {stated(gap, 'points')}")
            )
    if not gaps:
        return "No two agents clearly differ on any dimension."
    widest = max(gaps, key=lambda gap: gap[0])[1]
    others = "; the others are in the table" * (len(gaps) > 1)
    return f"Agents clearly differ on {plural(len(gaps), 'dimension')}: {widest}{others}."


def widest_gap(rows: Sequence[MeansRow], dimensions: Sequence[Dimension]) -> Gap | None:
    """Return the dimension on which agents lie furthest apart; None where none differ."""
    gaps: list[tuple[float, str, Gap]] = []
    for dimension in dimensions:
        known = [
            (value, row.label, row)
            for row in rows
            if (value := row.means[dimension.key].value) is not None
        ]
        if len(known) > 1:
            low, high = min(known, key=lambda row: row[:2]), max(known, key=lambda row: row[:2])
            gaps.append((high[0] - low[0], dimension.title, Gap(dimension, high[2], low[2])))
    widest = max(gaps, key=lambda gap: gap[:2], default=None)
    return widest[2] if widest is not None and widest[0] > 0 else None


def published_rows(system: str, dimensions: Sequence[Dimension]) -> list[MeansRow]:
    """Return the means of the paper's models."""
    keys = [dimension.key for dimension in dimensions]
    means: dict[str, dict[str, Estimate]] = {}
    sources: dict[str, str] = {}
    for entry in get_system(system).published:
        if entry.metric in keys:
            missing = {key: Estimate.without_value("not published") for key in keys}
            own = means.setdefault(entry.model, missing)
            own[entry.metric] = published_estimate(entry, is_rate=False)
            sources.setdefault(entry.model, f"{entry.source}; {entry.note}")
    return [MeansRow(model, own, source=sources[model]) for model, own in means.items()]


def average_row(rows: Sequence[MeansRow], keys: Sequence[str]) -> MeansRow:
    """Return the mean over agents of their means, as the paper's row "Average" has it.

    It speaks of these agents alone, so there is no interval. Undefined where an agent has no mean.
    """

    def average(key: str) -> Estimate:
        values = [row.means[key].value for row in rows]
        known = [value for value in values if value is not None]
        if len(known) < len(values):
            return Estimate.without_value("not every agent has a mean")
        return Estimate(sum(known) / len(known), len(known), no_interval=AVERAGE_HELP)

    return MeansRow(AVERAGE, {key: average(key) for key in keys})


def _table_of(rows: Mapping[str, MeansRow], dimensions: Sequence[Dimension]) -> MeanTable:
    """Return rows, by the names that they have in a figure, as the figures take them."""
    cells = {
        (name, one.title): row.means[one.key] for name, row in rows.items() for one in dimensions
    }
    return MeanTable(tuple(rows), tuple(one.title for one in dimensions), cells)


def _link(row: MeansRow, dimension: str = "") -> Link | None:
    """Return the trajectories of the agent; of an average those of all, of published rows none."""
    if row.source:
        return None
    return Link(runs=(row.run.pk,) if row.run is not None else (), dimension=dimension)


def _links(
    page: Page, rows: Sequence[MeansRow], dimensions: Sequence[Dimension]
) -> dict[tuple[str, str], str]:
    return {
        (row.label, dimension.title): page.links.url(link)
        for row in rows
        for dimension in dimensions
        if (link := _link(row, dimension.key)) is not None
    }


def _draw_heatmap(
    page: Page,
    rows: Sequence[MeansRow],
    published: Sequence[MeansRow],
    dimensions: Sequence[Dimension],
) -> Figure:
    """Draw the means of agents and published models as a table of colours."""
    named = {row.label: row for row in rows}
    named |= {f"{row.label} (published)": row for row in published}
    return rubric_heatmap(_table_of(named, dimensions), links=_links(page, rows, dimensions))


def _is_average(row: MeansRow) -> bool:
    return row.run is None and not row.source


def _n(row: MeansRow) -> int:
    """Return the highest number of scored trajectories, or turns, of a dimension."""
    return max(estimate.n for estimate in row.means.values())


def _name(row: MeansRow) -> Cell:
    if row.run is not None:
        return run_marks.agent_cell(row.run)
    if _is_average(row):
        return Cell(AVERAGE, (AVERAGE, "", None), tip=AVERAGE_HELP)
    badge = replace(run_marks.PUBLISHED_BADGE, why=row.source)
    return Cell(row.label, (row.label, "published", row.source), badges=(badge,))


def _count(row: MeansRow) -> Cell:
    if _is_average(row):
        return Cell(data=(None,), reason="a mean over agents")
    return parts.count_cell(_n(row))


def _dimension_column(dimension: Dimension) -> Column[MeansRow]:
    def cell(row: MeansRow) -> Cell:
        estimate = row.means[dimension.key]
        show_n = not _is_average(row) and estimate.n != _n(row)
        return parts.estimate_cell(estimate, "points", show_n=show_n)

    head = parts.estimate_column(dimension.title, help=dimension.definition)
    return Column(head, cell, link=lambda row: _link(row, dimension.key))

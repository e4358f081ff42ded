"""Where agents are good or bad: mean scores by dimension, of final turns or of all."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from analysis.figures.rubric import rubric_dots, rubric_heatmap
from analysis.filters.selection import Selection
from analysis.frames.outcomes import unfinished
from analysis.frames.scores import Unscored, turn_scores, unscored
from analysis.pages.declaration import WrittenPage
from analysis.pages.empty import no_runs
from analysis.reports import common
from analysis.reports.content import (
    Cell,
    Column,
    Notice,
    Onward,
    Report,
    Table,
    count_cell,
    estimate_cell,
    estimate_column,
    exclusions,
    how_interval,
    number_column,
)
from analysis.reports.formatting import counted, listed, number, plural
from analysis.reports.references import published_estimate
from analysis.stats.descriptive.means import MeanTable, mean_by_cluster, mean_t
from analysis.stats.results import Estimate
from benchmarks.core.registry import get_system
from benchmarks.core.system import Dimension

if TYPE_CHECKING:
    from pandas import DataFrame

PURPOSE = "The rubric table shows on which dimensions agents do well, as the judges score them."
MISSING = "not every judge scored it"
AVERAGE, AVERAGE_HELP = "Average", "mean over these agents, each with the same weight"


def rubric_report(selection: Selection) -> Report:
    """Everything on the rubric's page."""
    dimensions = common.dimensions_of(selection.system)
    if not selection.runs or not dimensions:
        return Report(empty=no_runs(PURPOSE, selection))
    final = selection.filters.turns != "all"
    keys = [dimension.key for dimension in dimensions]
    frame = turn_scores(selection.runs, keys, final=final)
    if frame.empty:
        return Report(empty=no_runs(PURPOSE, selection), notices=tuple(_notices(selection, {}, {})))
    titles = {dimension.key: dimension.title for dimension in dimensions}
    lacking = unscored(selection.runs, keys, final=final)
    labels = [run.label for run in selection.runs]
    here = mean_scores(frame, labels, dimensions, final=final, lacking=lacking)
    published = (
        _published(selection.system, dimensions)
        if selection.filters.published != "hide"
        else MeanTable((), here.columns, {})
    )
    together = _joined(here, published)
    unit = "final turns" if final else "all turns"
    links = {
        (run.label, dimension.title): common.trajectories_of(run, dimension=dimension.key)
        for run in selection.runs
        for dimension in dimensions
    }
    figures = (
        common.figure_spec(
            "heatmap",
            f"Mean score by agent and dimension, {unit}",
            "Mean over judges and trajectories, 1 to 5, 5 best",
            rubric_heatmap(together, links=links),
            least_width=640,
        ),
        common.figure_spec(
            "dots",
            f"The same with 95 % intervals, {unit}",
            f"{plural(len(here.rows), 'agent')} run here",
            rubric_dots(here, styles=common.styles(labels), links=links),
        ),
    )
    return Report(
        sentence=sentence(here, final=final, lacking=lacking, titles=titles),
        onward=onward(here, dimensions, selection),
        figures=figures,
        tables=(_table(here, published, dimensions, selection),),
        notices=tuple(_notices(selection, lacking, titles)),
        how=(*common.how_runs(selection), *_how(here, final, lacking, titles, selection)),
        methods="Scores are the judges' mean "
        + ("of the last turn of each trajectory" if final else "of every turn")
        + ", averaged by agent and dimension where every judge scored the turn.",
    )


def mean_scores(
    frame: "DataFrame",
    labels: Sequence[str],
    dimensions: Sequence[Dimension],
    *,
    final: bool,
    lacking: Mapping[str, Unscored],
) -> MeanTable:
    """Mean by agent and dimension. Final turns are one per trajectory, so t; turns of one
    trajectory are not independent, so the intervals of all turns are by task.
    """
    cells = {}
    groups = dict(list(frame.groupby(["label", "dimension"], sort=False)))
    for label in labels:
        for dimension in dimensions:
            rows = groups.get((label, dimension.key))
            cells[label, dimension.title] = _mean(rows, final, _why(dimension.key, lacking))
    return MeanTable(tuple(labels), tuple(d.title for d in dimensions), cells)


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
        return mean_t(scores[there], excluded=excluded, scale=common.RUBRIC_SCALE)
    tasks = rows["task"].to_numpy()[there].tolist()
    return mean_by_cluster(scores[there], tasks, excluded=excluded, scale=common.RUBRIC_SCALE)


def _why(key: str, lacking: Mapping[str, Unscored]) -> str:
    """Why nothing is scored, in the judges' own words."""
    if key not in lacking:
        return MISSING
    return f"{MISSING}: {next(iter(lacking[key].reasons))}"


def _published(system: str, dimensions: Sequence[Dimension]) -> MeanTable:
    titles = {dimension.key: dimension.title for dimension in dimensions}
    cells: dict[tuple[str, str], Estimate] = {}
    models: dict[str, None] = {}
    for entry in get_system(system).published:
        if entry.metric in titles:
            models.setdefault(entry.model)
            cells[entry.model, titles[entry.metric]] = published_estimate(entry, is_rate=False)
    for model in models:
        for title in titles.values():
            cells.setdefault((model, title), Estimate.without_value("not published"))
    return MeanTable(tuple(models), tuple(titles.values()), cells)


def _joined(here: MeanTable, published: MeanTable) -> MeanTable:
    """Both in one table, published rows named as such."""
    rows = {row: row for row in here.rows} | {f"{row} (published)": row for row in published.rows}
    cells = dict(here.cells)
    for name, row in list(rows.items())[len(here.rows) :]:
        cells |= {(name, column): published.cells[row, column] for column in published.columns}
    return MeanTable(tuple(rows), here.columns, cells)


def sentence(
    table: MeanTable, *, final: bool, lacking: Mapping[str, Unscored], titles: Mapping[str, str]
) -> str:
    """Best and worst dimension over agents, and the widest gap between agents."""
    overall = {}
    for column in table.columns:
        values = [
            cell.value for row in table.rows if (cell := table.cells[row, column]).value is not None
        ]
        if values:
            overall[column] = sum(values) / len(values)
    if not overall:
        return (
            "Nothing can be compared: on no dimension did every judge give a "
            f"score{_reason(lacking)}."
        )
    best = max(overall, key=lambda column: overall[column])
    worst = min(overall, key=lambda column: overall[column])
    turns = "final plans" if final else "plans of all turns"
    agents = plural(len(table.rows), "agent")
    if best == worst:
        text = (
            f"Over {agents}, {turns} score {number(overall[best], 'points')} on "
            f"{best.lower()}, the only dimension that every judge scored"
        )
    else:
        text = (
            f"Over {agents}, {turns} score best on {best.lower()} "
            f"({number(overall[best], 'points')}) and worst on {worst.lower()} "
            f"({number(overall[worst], 'points')})"
        )
    gap = _widest(table)
    if gap:
        column, high, low = gap
        text += (
            f"; agents differ most on {column.lower()}, from "
            f"{number(table.cells[low, column].value or 0, 'points')} ({low}) to "
            f"{number(table.cells[high, column].value or 0, 'points')} ({high})"
        )
    missing = [titles[key].lower() for key in lacking if titles[key] not in overall]
    if missing:
        text += f"; judges left {listed(missing)} unscored"
    return f"{text}."


def onward(
    table: MeanTable, dimensions: Sequence[Dimension], selection: Selection
) -> tuple[Onward, ...]:
    """Where one sees why agents differ: those furthest apart task by task, and any two of them."""
    gap = _widest(table)
    if gap is None:
        return ()
    title, high, low = gap
    key = next(dimension.key for dimension in dimensions if dimension.title == title)
    runs = {run.label: run for run in selection.runs}
    return (
        Onward(
            f"Why: {low} and {high} on {title.lower()}, task by task",
            common.side_by_side(runs[low], runs[high], key, sort="-difference"),
        ),
        Onward(
            f"Any two agents on {title.lower()}",
            common.page_of("compare-models", selection, measure=key),
        ),
    )


def _widest(table: MeanTable) -> tuple[str, str, str] | None:
    """The dimension on which agents lie furthest apart, with the highest and the lowest."""
    found: list[tuple[float, str, str, str]] = []
    for column in table.columns:
        known = [
            (cell.value, row)
            for row in table.rows
            if (cell := table.cells[row, column]).value is not None
        ]
        if len(known) > 1:
            (low, lowest), (high, highest) = min(known), max(known)
            found.append((high - low, column, highest, lowest))
    return max(found)[1:] if found and max(found)[0] > 0 else None


def _reason(lacking: Mapping[str, Unscored]) -> str:
    reasons = [next(iter(item.reasons)) for item in lacking.values()]
    return f" ({reasons[0]})" if reasons else ""


def _table(
    here: MeanTable, published: MeanTable, dimensions: Sequence[Dimension], selection: Selection
) -> Table:
    unit = "turns" if selection.filters.turns == "all" else "trajectories"
    columns = (
        Column("Agent", ("agent", "kind", "run"), num=False),
        number_column("n", unit, f"Scored {unit}; said in a cell where it is another number"),
        *(estimate_column(dimension.title, help=dimension.definition) for dimension in dimensions),
    )
    rows = [
        (common.agent_cell(run), *_cells(here, run.label, dimensions)) for run in selection.runs
    ]
    if len(here.rows) > 1:
        rows.append(
            (
                Cell(AVERAGE, (AVERAGE, "", None), tip=AVERAGE_HELP),
                Cell(data=(None,), reason="a mean over agents"),
                *(estimate_cell(average_of(here, d.title), "points") for d in dimensions),
            )
        )
    sources = {
        entry.model: f"{entry.source}; {entry.note}"
        for entry in get_system(selection.system).published
        if entry.metric == dimensions[0].key
    }
    for model in published.rows:
        source = sources.get(model, "")
        badge = replace(common.PUBLISHED_BADGE, why=source)
        name = Cell(model, (model, "published", source), badges=(badge,))
        rows.append((name, *_cells(published, model, dimensions)))
    return Table(
        "means",
        "Mean scores",
        columns,
        tuple(rows),
        note="Mean over judges and trajectories, 1 to 5, 5 best, with 95 % intervals. Average: "
        "each agent counts once, whatever its n. Published rows come without intervals.",
    )


def average_of(table: MeanTable, column: str) -> Estimate:
    """The mean over agents of their means, as the paper's row "Average" has it.

    It speaks of these agents alone, so there is no interval. Undefined where an agent has no mean.
    """
    values = [table.cells[row, column].value for row in table.rows]
    known = [value for value in values if value is not None]
    if len(known) < len(values):
        return Estimate.without_value("not every agent has a mean")
    return Estimate(sum(known) / len(known), len(known), no_interval=AVERAGE_HELP)


def _cells(table: MeanTable, row: str, dimensions: Sequence[Dimension]) -> list[Cell]:
    estimates = [table.cells[row, dimension.title] for dimension in dimensions]
    most = max(estimate.n for estimate in estimates)
    cells = [estimate_cell(estimate, "points", show_n=estimate.n != most) for estimate in estimates]
    return [count_cell(most), *cells]


def _notices(
    selection: Selection, lacking: Mapping[str, Unscored], titles: Mapping[str, str]
) -> list[Notice]:
    found = common.selection_notices(selection)
    gaps = [
        f"{titles[key].lower()}, {item.missing:,} of {item.asked:,} ({next(iter(item.reasons))})"
        for key, item in lacking.items()
    ]
    if gaps:
        found.append(Notice(f"Judges gave no score on {'; '.join(gaps)}."))
    return found


def _how(
    table: MeanTable,
    final: bool,
    lacking: Mapping[str, Unscored],
    titles: Mapping[str, str],
    selection: Selection,
) -> list[str]:
    cells = list(table.cells.values())
    unit = (
        "Final turns: one value per trajectory, the mean over its judges"
        if final
        else (
            "All turns: one value per turn, the mean over its judges; longer trajectories weigh "
            "more"
        )
    )
    left = exclusions(cells)
    lines = [
        f"{unit}. A turn counts on a dimension only where every judge who was asked scored it.",
        f"Means with 95 % intervals: {how_interval(cells) or 'none'}.",
        f"Left out: {counted(left)}." if left else "No score is left out.",
    ]
    for key, item in lacking.items():
        lines.append(f"Unscored on {titles[key].lower()}: {counted(item.reasons)}.")
    waiting = [
        f"{run.label}: {counted(unfinished(run))}" for run in selection.runs if unfinished(run)
    ]
    if waiting:
        lines.append(f"Trajectories that are not finished: {'; '.join(waiting)}.")
    return lines


CONTENT = WrittenPage(rubric_report)

"""The dispersion page shows how far judges differ: spread of means, strict and lenient judges."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from analysis.figures.dispersion import dispersion_bars, severity_dots
from analysis.figures.layout.theme import Figure
from analysis.filters.selection import ChosenRun
from analysis.frames.scores import UnreadableScores, judge_cells, unread
from analysis.kit import columns
from analysis.kit.columns import Column
from analysis.kit.empty import no_runs
from analysis.kit.links import Link
from analysis.kit.page import Content, Page
from analysis.pages.dispersion.panels import deferred
from analysis.reports import figure_specs, system_facts
from analysis.reports.content import Cell, count_cell, number_cell, number_column
from analysis.reports.formatting import first_up, listed, number, plural, stated
from analysis.stats.judges.dispersion import (
    DimensionSpread,
    Dispersion,
    JudgeMean,
    ModelSpread,
    judge_dispersion,
    leave_one_judge_out,
)
from analysis.stats.results import Estimate
from benchmarks.core.ports.published import PaperStatements

__all__ = ["content", "deferred"]
NOBODY = "no judge scored it"
NOTHING = Estimate.without_value(NOBODY)
MOST_ROWS = 100
ALL = "all dimensions"


def content(page: Page) -> Content:
    """State how far judges' means lie apart, and who is strict or lenient."""
    dimensions = system_facts.dimensions_of(page.selection.system)
    titles = {dimension.key: dimension.title for dimension in dimensions}
    final = page.selection.filters.turns != "all"
    turns = "final turns" if final else "all turns"
    means = _means(page.runs, titles, final=final) if page.runs and dimensions else []
    if not means:
        no_runs(
            page,
            "The dispersion page shows how far the judges differ from each other.",
            of_judges=True,
        )
        return
    keys = {dimension.title: dimension.key for dimension in dimensions}
    runs = {run.label: run.pk for run in page.runs}
    result, paper = spread_of(means), page.system.paper
    known = [row for row in result.dimensions if row.mean_sd.value is not None]
    if known:
        page.answer(_spread_answer(result, known, paper))
        page.answer(_severity_answer(result))
    else:
        reasons = dict.fromkeys(row.mean_sd.undefined for row in result.dimensions)
        page.answer(f"How far judges differ is not known: {listed(list(reasons))}.")
    unscored = [
        row.dimension.lower() for row in result.dimensions if row.mean_sd.undefined == NOBODY
    ]
    if unscored:
        page.warning(f"No judge scored {listed(unscored, most=8)}: the spread is undefined there.")
    by_label = {run.label: run for run in page.runs}
    unreadable = [
        (by_label[label], scores)
        for label, scores in unread(page.runs, list(titles), final=final).items()
    ]
    if unreadable:
        shrunk = sum(scores.turns for _, scores in unreadable)
        judged = sum(scores.of for _, scores in unreadable)
        page.warning(
            f"A judge's reply could not be read on {shrunk:,} of {judged:,} turns of "
            f"{plural(len(unreadable), 'run')}: there the panel is smaller, which makes it another "
            "panel. The details lead to these trajectories."
        )
    for warning in result.warnings:
        page.warning(f"{first_up(warning)}.")

    def draw_spread() -> Figure:
        links = {
            (agent, title): page.url(runs=(run,), dimension=key)
            for agent, run in runs.items()
            for title, key in keys.items()
        }
        wholes = {title: page.url(dimension=key) for title, key in keys.items()}
        return dispersion_bars(result, paper.dispersion, links, wholes)

    page.figure(
        "spread",
        f"Standard deviation between judges' means, {turns}",
        draw_spread,
        subtitle="Bar: mean over agents with its 95 % interval. Strokes: single agents. Diamond: "
        "noise alone.",
    )
    published = (
        f" Published: below {number(paper.dispersion, 'points')} on every dimension "
        f"({paper.dispersion_source})."
        if paper.dispersion is not None
        else ""
    )
    page.table(
        "spread",
        "Spread between judges",
        result.dimensions,
        _spread_columns(result, runs, keys),
        link=lambda row: Link(dimension=keys[row.dimension]),
        note="Population standard deviation, over judges, of each judge's mean score for an agent; "
        f"mean over agents with a 95 % t interval and n agents.{published}",
    )
    yield

    def draw_severity() -> Figure:
        marks = {title: page.url(dimension=key) for title, key in keys.items()}
        return figure_specs.linked(severity_dots(result), {**marks, ALL: page.url()})

    page.figure(
        "severity",
        "How much higher each judge scores than all judges together",
        draw_severity,
        subtitle="Mean over agents with its 95 % interval; left of the line is stricter.",
    )
    page.table(
        "severity",
        "Strict and lenient judges",
        result.judges,
        _severity_columns(result, keys),
        note="How much higher a judge scores than all judges' mean, over agents, with 95 % t "
        "intervals.",
    )
    if len(result.judges) > 1:
        page.table(
            "without",
            "The spread of means without each judge",
            result.dimensions,
            _without_columns(result),
            link=lambda row: Link(dimension=keys[row.dimension]),
            note="Kendall's τ_b: how far the agents' order by the judges that are left is their "
            "order by all; 1 is the same order.",
        )
    page.table(
        "unread",
        "Replies that could not be read",
        unreadable,
        _unread_columns(),
        link=lambda row: Link(runs=(row[0].pk,)),
    )
    page.table(
        "means",
        f"Each judge's means ({plural(len(means), 'row')})",
        means,
        _means_columns(runs, keys),
        folded=True,
        most=MOST_ROWS,
    )
    scores = sum(cell.n for cell in means)
    page.how(
        f"{scores:,} scores of {turns} by {listed(list(result.judges))}.",
        "σ of an agent and dimension is the population standard deviation over judges of their "
        "mean scores; the bar is the mean of σ over agents, with a 95 % t interval over agents. "
        "Where a judge scored nothing, σ is undefined and the agent is left out of the mean.",
        "Noise: means of few tasks differ even where judges do not. Its share of σ² is estimated "
        "from how far each task moves the judges apart; judges without any difference would show "
        "the SD “by noise alone” on average, and “beyond noise” is the SD without it. The "
        "published bound of the paper is compared with that alone (docs/statistics.md).",
        "Severity: mean over agents of (judge's mean − mean of all judges' means). The spread of "
        "means hides disagreement that cancels out over turns.",
    )
    page.methods(
        "Dispersion is the population standard deviation, over judges, of each judge's mean score "
        f"({turns}) for an agent, averaged over agents; severity is a judge's mean minus the mean "
        "of all judges."
    )


def _spread_answer(
    result: Dispersion, known: Sequence[DimensionSpread], paper: PaperStatements
) -> str:
    """Return the widest spread, how much of it is noise, and how it compares with the paper's."""
    widest = max(known, key=lambda row: row.mean_sd.value or 0)
    floor, beyond = widest.floor, widest.beyond_noise
    text = (
        f"The standard deviation (SD) between the mean scores of the "
        f"{plural(len(result.judges), 'judge')} is at most {stated(widest.mean_sd, 'points')} "
        f"points, on {widest.dimension.lower()}"
    )
    if floor.value is None:
        text += f"; how much of it is noise is unknown ({floor.undefined})."
    else:
        text += (
            f"; on {plural(widest.tasks, 'task')} noise alone would show "
            f"{number(floor.value, 'points')}, and {number(beyond.value or 0, 'points')} are left "
            "beyond it."
        )
    # Only the spread beyond noise is compared with the paper.
    comparable = [row for row in known if row.beyond_noise.value is not None]
    if paper.dispersion is not None and comparable:
        bound = number(paper.dispersion, "points")
        above = [
            row.dimension.lower()
            for row in comparable
            if (row.beyond_noise.value or 0) >= paper.dispersion
        ]
        where = (
            f"{bound} or more on {len(above)} of {len(comparable)} dimensions ({listed(above)})"
            if above
            else f"below {bound} on all {plural(len(comparable), 'dimension')}"
        )
        text += (
            f" Beyond noise, it is {where}; the paper's SDs, noise included, are all below {bound}."
        )
    lacking = [row.dimension.lower() for row in result.dimensions if row.mean_sd.value is None]
    if lacking:
        text += f" On {listed(lacking)} a judge's scores are missing."
    return text


def _severity_answer(result: Dispersion) -> str:
    """State how far the judges' means lie apart over all dimensions, where they differ."""
    biases = {
        row.judge: row.bias.value
        for row in result.severity
        if row.dimension == ALL and row.bias.value is not None
    }
    strict, mild = (end(biases, key=lambda judge: biases[judge], default="") for end in (min, max))
    if strict == mild:
        return ""
    below, above = number(-biases[strict], "points"), number(biases[mild], "points")
    return (
        f"Over all dimensions, judges' means lie between {below} points below ({strict}) and "
        f"{above} above ({mild}) the mean of all judges."
    )


def _means(runs: Sequence[ChosenRun], titles: Mapping[str, str], *, final: bool) -> list[JudgeMean]:
    """Return every judge's mean by agent and dimension; ``titles`` are by the dimensions' keys."""
    return [
        JudgeMean(
            row["label"],
            titles[row["dimension"]],
            row["judge"],
            # The frame's missing value is not equal to itself.
            float(row["mean"]) if row["mean"] == row["mean"] else None,
            int(row["n"]),
            row["by_task"],
        )
        for row in judge_cells(runs, list(titles), final=final).to_dict("records")
    ]


def spread_of(means: Sequence[JudgeMean]) -> Dispersion:
    """Return the dispersion over the dimensions that somebody scored; the others are undefined.

    A dimension that no judge scored says nothing about any judge, so it must not take a judge's
    overall severity away.
    """
    names = list(dict.fromkeys(cell.dimension for cell in means))
    scored = {cell.dimension for cell in means if cell.n}
    result = judge_dispersion(
        [cell for cell in means if cell.dimension in scored], scale=system_facts.RUBRIC_SCALE
    )
    models = list(dict.fromkeys(cell.model for cell in means))
    empty = Estimate.without_value(NOBODY, excluded={NOBODY: len(models)})
    by_name = {row.dimension: row for row in result.dimensions}
    for name in names:
        if name not in scored:
            spreads = tuple(ModelSpread(m, name, Estimate.without_value(NOBODY)) for m in models)
            by_name[name] = DimensionSpread(name, empty, spreads, empty, empty)
    ordered = tuple(by_name[name] for name in names)
    return replace(result, models=tuple(models), dimensions=ordered, means=tuple(means))


def _number(value: float) -> float | None:
    # The frame's missing value is not equal to itself.
    return None if value != value else float(value)


def _spread_columns(
    result: Dispersion, runs: Mapping[str, int], keys: Mapping[str, str]
) -> list[Column[DimensionSpread]]:
    """Return the standard deviation between judges over all agents and of each."""

    def of_agent(place: int, model: str) -> Column[DimensionSpread]:
        def cell(row: DimensionSpread) -> Cell:
            return _plain(row.models[place].sd)

        return Column(
            number_column(model),
            cell,
            lambda row: Link(runs=(runs[model],), dimension=keys[row.dimension]),
        )

    return [
        columns.text("Dimension", lambda row: row.dimension),
        columns.estimate("Mean SD", lambda row: row.mean_sd, "points", show_n=True),
        columns.estimate(
            "By noise alone",
            lambda row: row.floor,
            "points",
            part="noise",
            help="Mean SD that judges without any difference would show on so few tasks",
        ),
        columns.estimate(
            "Beyond noise",
            lambda row: row.beyond_noise,
            "points",
            help="SD without noise; 0 where noise explains it",
        ),
        *(of_agent(place, model) for place, model in enumerate(result.models)),
    ]


def _severity_columns(result: Dispersion, keys: Mapping[str, str]) -> list[Column[str]]:
    """Return how much higher a judge scores than all; a row is the name of a judge."""
    biases = {(row.judge, row.dimension): row.bias for row in result.severity}

    def column(name: str) -> Column[str]:
        return columns.estimate(
            first_up(name),
            lambda judge: biases[judge, name],
            "points",
            signed=True,
            link=lambda _: Link(dimension=keys.get(name, "")),
        )

    names = dict.fromkeys(row.dimension for row in result.severity)
    return [columns.text("Judge", lambda judge: judge), *(column(name) for name in names)]


def _without_columns(result: Dispersion) -> list[Column[DimensionSpread]]:
    """Return the spread and the agents' order if each judge were not on the panel."""
    scored = [cell for cell in result.means if cell.n]
    without = leave_one_judge_out(scored, scale=system_facts.RUBRIC_SCALE)
    spreads = {
        (panel.judge, row.dimension): row.mean_sd for panel in without for row in panel.dimensions
    }
    orders = {
        (panel.judge, title): order for panel in without for title, order in panel.kendall.items()
    }

    def spread(judge: str) -> Column[DimensionSpread]:
        return columns.estimate(
            f"Without {judge}",
            lambda row: spreads.get((judge, row.dimension), NOTHING),
            "points",
            help="SD between the judges left",
        )

    def order(judge: str) -> Column[DimensionSpread]:
        head = number_column("τ_b", f"order without {judge}", help="With the order by all")
        return Column(head, lambda row: _plain(orders.get((judge, row.dimension), NOTHING)))

    every = Column[DimensionSpread](number_column("All judges"), lambda row: _plain(row.mean_sd))
    return [
        columns.text("Dimension", lambda row: row.dimension),
        every,
        *(column(judge) for judge in result.judges for column in (spread, order)),
    ]


def _plain(estimate: Estimate) -> Cell:
    """Return a value without its interval."""
    return number_cell(estimate.value, "points", reason=estimate.undefined)


def _unread_columns() -> list[Column[tuple[ChosenRun, UnreadableScores]]]:
    """Return where the panel is smaller than it should be."""
    return [
        columns.agent(lambda row: row[0]),
        Column(
            number_column("Turns", help="With a missing score of some judge"),
            lambda row: count_cell(row[1].turns, tip="The run's trajectories that lack a score"),
            lambda row: Link(runs=(row[0].pk,), more={"unscored": "yes"}),
        ),
        columns.count("Of", lambda row: row[1].of, help="Judged turns"),
        columns.text(
            "Missing scores by judge",
            lambda row: "; ".join(f"{name}: {n:,}" for name, n in row[1].judges.items()),
            "judges",
        ),
    ]


def _means_columns(runs: Mapping[str, int], keys: Mapping[str, str]) -> list[Column[JudgeMean]]:
    """Return the mean of each judge by agent and dimension, from which all else follows."""

    def link(cell: JudgeMean) -> Link:
        return Link(runs=(runs[cell.model],), dimension=keys[cell.dimension])

    return [
        columns.text("Agent", lambda cell: cell.model),
        columns.text("Dimension", lambda cell: cell.dimension),
        columns.text("Judge", lambda cell: cell.judge),
        columns.number(
            "Mean",
            lambda cell: cell.mean,
            "points",
            reason="this judge scored nothing here",
            link=link,
        ),
        columns.count("Scores", lambda cell: cell.n, link=link),
    ]

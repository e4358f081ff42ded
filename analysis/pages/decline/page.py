"""Do plans get worse from turn to turn? The change per turn, and mean scores by turn."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

from analysis.figures.decline import agent_multiples
from analysis.figures.layout.theme import ACCENT, Figure, Style
from analysis.figures.turn_slopes import slope_forest, two_sides
from analysis.filters.selection import ChosenRun, Selection
from analysis.frames.scores import turn_scores
from analysis.kit import columns
from analysis.kit.columns import Column
from analysis.kit.empty import no_runs
from analysis.kit.links import Link
from analysis.kit.page import Content, Page
from analysis.pages.decline.corrected import corrected_slopes
from analysis.pages.decline.matched import draw_matched, table_matched, warn_of_beginnings
from analysis.pages.decline.pooled_fits import (
    ALL,
    PooledRow,
    fit_pooled,
    how_pooled,
    kept_pooled,
    limits_of,
    pooled_columns,
    pooled_rows,
)
from analysis.pages.decline.slope_fits import Fits, fit_runs, kept_fits
from analysis.pages.decline.turn_slopes import (
    ALPHA,
    BY_TURN,
    MOST_ROWS,
    NO_SCORES,
    CurvePoint,
    Slopes,
    four_fits,
    how_slopes,
    points_of,
    table_points,
    where_of,
)
from analysis.reports import figure_specs, system_facts
from analysis.reports.content import Cell, estimate_column, rounded
from analysis.reports.deferred_reports import note_progress
from analysis.reports.formatting import difference, listed, p_words, plural, stated_change
from analysis.stats.comparison.thresholds import REFERENCE
from analysis.stats.results import Estimate
from analysis.stats.trends.decline import Alignment, Curve, score_by_turn
from analysis.stats.trends.logit_slope import logit_slope
from analysis.stats.trends.matched_turns import matched_turns
from analysis.stats.trends.slopes import SlopeModels, slope_tests
from benchmarks.core.system import Dimension

if TYPE_CHECKING:
    from pandas import DataFrame

POOLED = Style(ACCENT, "circle", "solid")
SEVERAL_TURNS = {"min_turns": 2}
NO_OWN_SLOPE = Estimate.without_value("agents have no random effects here")
PURPOSE = (
    "The decline page shows how scores change from turn to turn while constraints come to light."
)


class AgentSlopes(NamedTuple):
    """An agent's own change per turn by dimension, shrunken towards that of all agents."""

    run: ChosenRun
    slopes: Mapping[str, Estimate]


class OddsRow(NamedTuple):
    """The factor by which the odds of a passing score change per turn on a dimension."""

    dimension: Dimension
    odds: Estimate


def content(page: Page) -> Content:
    """Say whether scores change per turn over all agents, then show each agent and turn."""
    selection = page.selection
    dimensions = _chosen_dimensions(selection)
    frame = _frame(page, dimensions) if page.runs and dimensions else None
    if frame is None or frame.empty:
        no_runs(page, PURPOSE, of_judges=True)
        return
    fits = kept_fits(selection.system, selection.family)
    slopes = _shown_slopes(fits, page, dimensions) if fits is not None else None
    kept = kept_pooled(selection.system, selection.family)
    keys = {dimension.title: dimension.key for dimension in dimensions}
    rows, family_size = pooled_rows(kept, keys) if kept is not None else ([], 0)
    page.waits = slopes is None or not rows
    corrected = corrected_slopes(page, frame, dimensions)
    if corrected is None:
        page.answer(_answer(rows, family_size, slopes))
        _show_pooled(page, rows, family_size)
    else:
        corrected.show(page)
    yield
    if corrected is not None:
        corrected.show_parts(page)
        _show_pooled(page, rows, family_size, name="pooled")
    align: Alignment = "from_end" if selection.filters.align == "end" else "turn"
    scale = system_facts.RUBRIC_SCALE
    curves = score_by_turn(*_columns_of(frame, dimensions), align=align, scale=scale)
    overall = rows[0].fit if rows else None
    _show_agents(page, rows)
    if slopes is not None:
        _show_pairs(page, slopes, keys)
    _show_means(page, dimensions, curves, align)
    _warn_of_ends(page, curves, align)
    if slopes is not None:
        page.info(
            "The mixed model allows for endings that depend on the scores. If endings depend on "
            "something that was not scored, every estimate of the change per turn is wrong, and "
            "the data cannot show it."
        )
    missing = int(frame["score"].isna().sum())
    page.how(
        "A turn's score is the mean over its judges, where every judge scored it. The mean by "
        f"{where_of(align)} is taken over the trajectories that have such a turn, with a 95 % t "
        "interval.",
        f"{missing:,} of {len(frame):,} turns and dimensions have no score and are left out."
        if missing
        else "No turn is left out.",
    )
    if overall is not None:
        how_pooled(page, overall)
    if slopes is not None:
        how_slopes(page, slopes)
    method, change = "linear mixed model", ""
    if overall is not None:
        method = overall.slope.method or method
        if overall.slope.interval is not None:
            change = f": {_per_turn(overall.slope)}, n = {_trajectories(overall.slope)}"
    page.methods(
        "Mean scores by turn are over the trajectories that have such a turn, a turn's score being "
        f"the mean of its judges; the change per turn over all agents is the slope of a {method}, "
        "tested once over all dimensions and with Holm's correction over single ones"
        f"{change}. Agents on single dimensions were fitted one by one, with Holm's correction "
        "over all pairs."
    )


def _show_pooled(
    page: Page, rows: Sequence[PooledRow], family_size: int, name: str = "slopes"
) -> None:
    """Add the judges' change per turn over all agents."""

    def draw() -> Figure:
        return two_sides(
            {row.title: [row.fit.slope] for row in rows},
            {"All agents": POOLED},
            {row.title: page.links.url(_pooled_link(row)) for row in rows},
            clear=[row.title for row in rows if row.verdict],
        )

    page.figure(
        name,
        "Change per turn over all agents, by mixed models",
        draw if rows else None,
        subtitle=f"{BY_TURN}, over all agents of these data. Filled marks: clear.",
    )
    page.table(
        name,
        "Change per turn over all agents",
        rows,
        pooled_columns(family_size),
        link=_pooled_link,
        note=_pooled_note(family_size) if family_size else "",
    )


def deferred(page: Page) -> None:
    """Fit slopes by four estimators, and compare the same trajectories throughout.

    Fits what the page leads with as well, for every agent and dimension of the chosen data.
    """
    selection = page.selection
    dimensions = _chosen_dimensions(selection)
    note_progress("reading the scores")
    frame = _frame(page, dimensions)
    if frame.empty:
        page.answer(NO_SCORES)
        return
    fits = fit_runs(selection.system, selection.family)
    fit_pooled(selection.system, selection.family)
    slopes = _shown_slopes(fits, page, dimensions)
    note_progress("comparing the same trajectories")
    scale = system_facts.RUBRIC_SCALE
    curves = matched_turns(*_columns_of(frame, dimensions), scale=scale)
    runs = {run.label: run.pk for run in page.runs}
    keys = {dimension.title: dimension.key for dimension in dimensions}

    def link(agent: str, dimension: str, **more: int) -> Link:
        return Link(runs=(runs[agent],), dimension=keys[dimension], more=more)

    warn_of_beginnings(page, curves)
    four_fits(page, slopes, lambda one: link(one.agent, one.dimension, **SEVERAL_TURNS))
    draw_matched(page, curves, link)
    page.table(
        "odds",
        f"Odds of a mean score of {REFERENCE:g} or more, by turn",
        _odds_rows(frame, dimensions),
        [
            columns.text("Dimension", lambda row: row.dimension.title),
            columns.estimate("Odds ratio per turn", lambda row: row.odds, "points", show_n=True),
        ],
        link=lambda row: Link(dimension=row.dimension.key, more=SEVERAL_TURNS),
        note="Below 1 the odds fall from turn to turn; with 95 % intervals and n trajectories. "
        "Logit GEE over the agents shown, each with its own level; errors are clustered by task. "
        "It takes endings as unrelated to scores: where low scores end trajectories, read the "
        "mixed models instead.",
    )
    page.how(
        f"Odds: logit P(mean of the judges ≥ {REFERENCE}) = agent + b·turn by generalised "
        "estimating equations with exchangeable working correlation within tasks, errors of "
        "Mancl & DeRouen, t interval with tasks minus coefficients as degrees of freedom; exp(b) "
        "is shown."
    )
    table_matched(page, curves, link)


def _odds_rows(frame: "DataFrame", dimensions: Sequence[Dimension]) -> list[OddsRow]:
    """Fit a logit GEE of whether the judges' mean reaches the threshold, by dimension."""
    rows = []
    for dimension in dimensions:
        note_progress(f"fitting the odds on {dimension.title.lower()}")
        scored = frame[frame["dimension"] == dimension.key].dropna(subset=["score"])
        passed = (scored["score"] >= REFERENCE).astype(float).to_numpy()
        names = ("label", "task", "trajectory", "turn")
        agents, tasks, trajectories, turns = (scored[name].tolist() for name in names)
        odds = logit_slope(agents, tasks, trajectories, turns, passed)
        rows.append(OddsRow(dimension, odds))
    return rows


def _chosen_dimensions(selection: Selection) -> tuple[Dimension, ...]:
    """Return the dimensions that the selection names, in the rubric's order."""
    known = system_facts.dimensions_of(selection.system)
    return tuple(d for d in known if d.key in selection.filters.dimensions)


def _frame(page: Page, dimensions: Sequence[Dimension]) -> "DataFrame":
    return turn_scores(page.runs, [dimension.key for dimension in dimensions], final=False)


def _columns_of(frame: "DataFrame", dimensions: Sequence[Dimension]) -> list[list[Any]]:
    """Return the scores of turns as the columns that statistics take, with dimensions by title."""
    titles = {dimension.key: dimension.title for dimension in dimensions}
    named = frame.assign(dimension=frame["dimension"].map(titles))
    return [named[name].tolist() for name in ("label", "dimension", "trajectory", "turn", "score")]


def _shown_slopes(fits: Fits, page: Page, dimensions: Sequence[Dimension]) -> Slopes:
    """Return the slopes of the agents and dimensions that are shown, tested with all others."""
    shown = [
        one
        for run in page.runs
        for dimension in dimensions
        for one in fits.get(run.label, ())
        if one.dimension == dimension.title
    ]
    everyone = [one for models in fits.values() for one in models]
    return Slopes(tuple(shown), slope_tests(everyone, alpha=ALPHA))


def _answer(rows: Sequence[PooledRow], family_size: int, slopes: Slopes | None) -> str:
    """Say whether scores change over all agents, on which dimensions, and of how many pairs."""
    if not rows or slopes is None:
        return (
            "The change per turn of these agents is not computed yet. It follows in the background."
        )
    slope, fits = rows[0].fit.slope, [one.mixed.slope for one in slopes.models]
    if slope.interval is None and all(fit.interval is None for fit in fits):
        reasons = sorted({fit.undefined or fit.no_interval for fit in fits} - {""})
        return f"Whether plans get worse is not known: {listed(reasons) or 'no scores'}."
    if slope.interval is None:
        why = slope.undefined or slope.no_interval
        words = [f"The change over all dimensions is not known ({why})."]
    else:
        clear = {"declines": "they decline", "rises": "they rise"}
        words = [
            f"Over all dimensions scores change by {_per_turn(slope)}: "
            f"{clear.get(rows[0].verdict, 'no clear change')} ({p_words(rows[0].p or 0.0)}, "
            f"n = {_trajectories(slope)})."
        ]
    tested = [row for row in rows[1:] if row.p is not None]
    if family_size > 1:
        changes = [
            f"{row.title.lower()} ({difference(row.fit.slope.value or 0.0, 'points', signed=True)})"
            for row in sorted(tested, key=lambda row: row.verdict == "rises")
            if row.verdict
        ]
        of_all = len(tested) == family_size
        among = (
            f"After correction, of {plural(family_size, 'dimension')}"
            if of_all
            else f"Of the {plural(len(tested), 'dimension')} shown"
        )
        corrected = "" if of_all else f" (corrected for all {family_size})"
        which = f": {listed(changes)}" if changes else ""
        words.append(f"{among} {_counted([row.verdict for row in tested])}{corrected}{which}.")
    if slopes.family.size > family_size:
        clear_pairs = _counted([slopes.verdict(one) for one in slopes.models])
        pairs = plural(slopes.family.size, "agent–dimension pair")
        words.append(f"Of {pairs} fitted one by one {clear_pairs}.")
    return " ".join([*words, limits_of(rows[0].fit)]).strip()


def _pooled_note(family_size: int) -> str:
    return (
        f"{BY_TURN} and n trajectories. “Declines” and “rises” mark what is clear: over all "
        "dimensions by one test, on single dimensions after Holm over "
        f"{plural(family_size, 'dimension')} of the data, whichever are shown. “Agents” and "
        "“Tasks”: how far they differ in their change."
    )


def _counted(verdicts: Sequence[str]) -> str:
    """Return such as: 1 declines and none rises."""
    down, up = verdicts.count("declines"), verdicts.count("rises")
    if not down and not up:
        return "none clearly declines or rises"
    decline = f"{down:,} decline" if down > 1 else "1 declines" if down else "none declines"
    rise = f"{up:,} rise" if up > 1 else "1 rises" if up else "none rises"
    return f"{decline} and {rise}"


def _per_turn(slope: Estimate) -> str:
    return f"{stated_change(slope, 'points')} points per turn"


def _trajectories(slope: Estimate) -> str:
    return plural(slope.n, "trajectory", "trajectories")


def _pooled_link(row: PooledRow) -> Link:
    return Link(dimension=row.key, more=SEVERAL_TURNS)


def _run_link(run: ChosenRun) -> Link:
    return Link(runs=(run.pk,), more=SEVERAL_TURNS)


def _show_agents(page: Page, rows: Sequence[PooledRow]) -> None:
    """Add each agent's own change per turn, shrunken towards that of all."""
    own = {row.title: row.fit.agents or {} for row in rows}
    runs = {run.label: run for run in page.runs}
    agents = [
        AgentSlopes(
            runs[name], {title: slopes.get(name, NO_OWN_SLOPE) for title, slopes in own.items()}
        )
        for name in own.get(ALL, {})
        if name in runs
    ]

    def draw() -> Figure:
        return two_sides(
            {agent.run.label: [agent.slopes[ALL]] for agent in agents},
            {ALL: POOLED},
            {agent.run.label: page.links.url(_run_link(agent.run)) for agent in agents},
        )

    def column(title: str) -> Column[AgentSlopes]:
        return columns.estimate(
            title, lambda row: row.slopes[title], "points", signed=True, show_n=True
        )

    page.figure(
        "agents",
        "Change per turn by agent, over all dimensions",
        draw if agents else None,
        subtitle="Each agent's own slope, shrunken towards that of all agents, with a 95 % "
        "interval of the prediction.",
    )
    page.table(
        "agents",
        "Change per turn by agent",
        agents,
        [columns.agent(lambda row: row.run), *(column(row.title) for row in rows)],
        link=lambda row: _run_link(row.run),
        note="Points of the scale per turn: the slope of all agents plus what the model predicts "
        "for each. Shrunken: the less an agent's scores tell, the nearer its slope lies to that of "
        "all. n trajectories.",
    )


def _show_pairs(page: Page, slopes: Slopes, keys: Mapping[str, str]) -> None:
    """Add every agent's change per turn on every dimension; what is clear in the family is
    marked.
    """
    runs = {run.label: run.pk for run in page.runs}
    size = f"{slopes.family.size:,}"

    def draw() -> Figure:
        links = {
            (one.agent, one.dimension): page.url(
                runs=(runs[one.agent],), dimension=keys[one.dimension], more=SEVERAL_TURNS
            )
            for one in slopes.models
        }
        return slope_forest(slopes.models, links, clear=lambda one: bool(slopes.test(one).clear))

    def column(title: str) -> Column[ChosenRun]:
        by_agent: dict[str, SlopeModels] = {
            one.agent: one for one in slopes.models if one.dimension == title
        }
        head, name = estimate_column(title), title.lower()

        def cell(run: ChosenRun) -> Cell:
            one = by_agent[run.label]
            shown = slopes.cell(one)
            more = (rounded(slopes.test(one).adjusted), slopes.verdict(one))
            return replace(shown, data=(*shown.data, *more))

        return Column(replace(head, parts=(*head.parts, f"{name} p", f"{name} verdict")), cell)

    page.figure(
        "pairs",
        "Change per turn of every agent and dimension, fitted one by one",
        draw if slopes.models else None,
        subtitle=f"{BY_TURN} of one pair each. Filled marks: clear after correction for all {size} "
        "pairs.",
    )
    fitted = {one.agent for one in slopes.models}
    page.table(
        "pairs",
        "Change per turn of every agent and dimension",
        [run for run in page.runs if run.label in fitted],
        [
            columns.agent(lambda run: run),
            *(column(title) for title in dict.fromkeys(one.dimension for one in slopes.models)),
        ],
        link=_run_link,
        note="Fitted one by one, so no pair learns from the others. “Declines” and “rises” mark "
        f"what is clear after Holm over {size} pairs: all agents and dimensions of the data, "
        "whichever are shown here. An interval without a mark may exclude 0 by chance.",
    )


def _show_means(
    page: Page, dimensions: Sequence[Dimension], curves: Sequence[Curve], align: Alignment
) -> None:
    """Add the mean scores by turn: a figure for each dimension, a panel for each agent."""
    runs = {run.label: run for run in page.runs}
    looks = figure_specs.styles(list(runs))
    points = points_of(curves)

    def link(one: CurvePoint) -> Link:
        """Return the trajectories that are long enough to have the point."""
        return Link(runs=(runs[one.curve.agent].pk,), more={"min_turns": one.point.least_turns})

    def draw(title: str) -> Figure | None:
        links = {
            (one.curve.agent, one.point.position): page.links.url(link(one))
            for one in points
            if one.curve.dimension == title
        }
        shown = [curve for curve in curves if curve.dimension == title]
        return agent_multiples(shown, system_facts.RUBRIC_SCALE, looks, links) if shown else None

    for place, dimension in enumerate(dimensions):
        page.figure(
            f"curves-{place + 1}" if place else "curves",
            f"{dimension.title}: mean score by {where_of(align)}",
            partial(draw, dimension.title),
            subtitle="With 95 % intervals; the other agents in grey. Under each turn: how many "
            "trajectories have it. Open marks have no interval.",
            table="points",
        )
    table_points(
        page,
        curves,
        [
            columns.text("Agent", lambda one: one.curve.agent),
            columns.text("Dimension", lambda one: one.curve.dimension),
        ],
        link,
        most=MOST_ROWS,
    )


def _warn_of_ends(page: Page, curves: Sequence[Curve], align: Alignment) -> None:
    """Warn where late turns rest on fewer trajectories than the first."""
    # All dimensions of an agent have the same trajectories.
    by_agent = {curve.agent: curve.points for curve in curves}.values()
    longest = max((len(points) for points in by_agent), default=0)
    running = [
        sum(points[i].running for points in by_agent if i < len(points)) for i in range(longest)
    ]
    if not running or running[0] == running[-1]:
        return
    first, last = f"{running[0]:,}", f"{running[-1]:,}"
    if align == "from_end":
        page.warning(
            f"Only {last} of {first} trajectories are {longest} turns long: points far from the "
            "end hold long trajectories only."
        )
    else:
        page.warning(
            f"Late turns rest on few trajectories: {last} of {first} "
            f"{'reaches' if running[-1] == 1 else 'reach'} turn {longest}. Means of different "
            "turns are of different trajectories, so read the change per turn instead."
        )

"""How do agents search, call tools, and fail? Endings, calls, and the wanted data types found."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace

from analysis.figures.decline import decline_figure
from analysis.figures.layout.theme import Figure
from analysis.figures.tool_use import PointRow, SharePart, cells_width, panel_dots, share_cells
from analysis.frames.outcomes import ACCURATE, outcome_frame
from analysis.frames.tool_calls import KEPT, RUNNING, failure_categories, progress_frame
from analysis.kit import columns
from analysis.kit.columns import Column
from analysis.kit.empty import no_runs
from analysis.kit.links import Link
from analysis.kit.page import Content, Page
from analysis.pages.tools.rows import (
    RIGHT,
    UNCLASSIFIED,
    ToolRow,
    curves_of,
    end_url,
    link_of,
    tool_row,
)
from analysis.reports import addresses, chosen_runs, figure_specs
from analysis.reports import content as parts
from analysis.reports.content import Cell, exclusions, how_interval
from analysis.reports.formatting import counted, ends, left_out_sentence, listed, number, plural
from analysis.stats.results import Estimate
from analysis.stats.trends.decline import Curve, TurnPoint

PURPOSE = "The page on tools shows how agents search for tools, call them, and fail."
SERIES = {RUNNING: "Still under way", KEPT: "All, last value kept"}
# What an agent has at a step, by series.
Points = Mapping[tuple[str, str, int], TurnPoint]


def content(page: Page) -> Content:
    """Count how trajectories ended, and estimate how agents search and call."""
    use = page.system.comparisons.tool_use if page.selection.system else None
    if page.selection.dataset is None or not page.runs:
        no_runs(page, PURPOSE)
        return
    if use is None:
        dataset = page.selection.filters.dataset
        page.nothing(
            "No tools here",
            f"{PURPOSE} Runs on {chosen_runs.dataset_name(page.selection)} record no searches or "
            "calls of tools. The leaderboard and the page on conditions take them.",
            "See the leaderboard",
            addresses.address("analysis:leaderboard", {"dataset": dataset} if dataset else {}),
        )
        return
    measures = page.system.labels.measures
    frame = outcome_frame(page.runs, [ACCURATE, use.searches, use.calls, *use.mishaps])
    categories = failure_categories(page.runs)
    rows = [tool_row(run, frame, categories, use) for run in page.runs]
    titles = {RIGHT: "Right", **{kind: words[0] for kind, words in use.categories.items()}}
    if any(row.ends.get(UNCLASSIFIED) for row in rows):
        titles[UNCLASSIFIED] = "Failed, not told how"
    page.answer(_answer(rows, titles))
    cells = {
        row.run.label: [
            SharePart(row.ends.get(kind, 0), row.shares[kind].value, end_url(row, kind))
            for kind in titles
        ]
        for row in rows
    }
    page.figure(
        "failures",
        "How scored trajectories ended",
        lambda: share_cells(cells, list(titles.values())),
        subtitle="Number of each agent's trajectories, shaded by their share.",
        least_width=cells_width(cells),
    )
    without_accuracy = "Trajectories without accuracy, by reason"
    page.table(
        "failures",
        "How scored trajectories ended",
        rows,
        [
            columns.agent(lambda row: row.run),
            columns.count(
                "Scored",
                lambda row: sum(row.ends.values()),
                help="Trajectories that have an accuracy",
                link=lambda row: Link(url=addresses.trajectories_of(row.run)),
            ),
            *(
                _end_column(kind, title, use.categories[kind][1] if kind in use.categories else "")
                for kind, title in titles.items()
            ),
            Column(parts.Column("Left out", ("left out",), help=without_accuracy), _left_out),
        ],
        link=link_of,
        note="Number of trajectories, their share, and its 95 % interval.",
    )
    yield
    mishaps = {name: measures[name].title for name in use.mishaps}
    looks = figure_specs.styles([row.run.label for row in rows])
    page.figure(
        "balance",
        "Searching and calling",
        lambda: panel_dots(
            {
                "Searches": _panel(page, [(row, row.searches) for row in rows]),
                "Calls": _panel(page, [(row, row.calls) for row in rows]),
                "Searches per call": _panel(page, [(row, row.balance) for row in rows]),
            },
            unit="points",
            title=("Searches per trajectory", "Calls per trajectory", "Searches ÷ calls"),
            columns=3,
            styles=looks,
        ),
        subtitle="Means per trajectory, and searches per call, with 95 % intervals.",
        table="use",
    )
    page.figure(
        "mishaps",
        "Calls gone wrong, per call",
        lambda: panel_dots(
            {
                title: _panel(page, [(row, row.mishaps[name]) for row in rows])
                for name, title in mishaps.items()
            },
            unit="share",
            title="Share of calls",
            columns=3,
            styles=looks,
        ),
        subtitle="With 95 % intervals.",
        table="use",
    )
    page.table(
        "use",
        "Searches and calls",
        rows,
        [
            columns.agent(lambda row: row.run),
            columns.estimate(
                "Searches", lambda row: row.searches, "number",
                help="Mean per trajectory, failed ones included", show_n=True,
            ),
            columns.estimate(
                "Calls", lambda row: row.calls, "number",
                help="Mean per trajectory, refused ones included",
            ),
            columns.estimate(
                "Searches per call", lambda row: row.balance, "number",
                help="Total searches by total calls",
            ),
            *(
                columns.estimate(
                    f"{title}, per call", lambda row, name=name: row.mishaps[name],  # type: ignore[misc]
                    "share", help=measures[name].help.replace("per query", "per call"),
                )
                for name, title in mishaps.items()
            ),
        ],
        link=link_of,
        note="With 95 % intervals by task.",
    )  # fmt: skip
    curves = curves_of(progress_frame(page.runs, use))
    _recall_by_step(page, rows, curves, use.parts_title)
    balance = [row.balance for row in rows]
    shares = how_interval([share for row in rows for share in row.shares.values()])
    left_out = exclusions(balance)
    page.how(
        "Each failed trajectory has one failure category, which PlanJury’s rules derive from its "
        f"trace. Shares are of scored trajectories, 95 % intervals: {shares or 'none'}.",
        "Searches and calls count failed and refused ones too; searches per call is the ratio of "
        f"totals, not the mean of ratios: {how_interval(balance) or 'no interval'}.",
        f"Recall at a step: share of the {use.parts_title} that reliable tools had returned by "
        "then; mean over trajectories with a t interval, which may leave 0 to 100 % where few are "
        "left.",
        left_out_sentence(left_out, nothing="No trajectory"),
    )
    page.methods(
        "Each scored trajectory ends in one category, derived from its trace by rules; searches "
        "and calls are means per trajectory, searches per call and calls gone wrong per call are "
        "ratios of totals."
    )


def _answer(rows: Sequence[ToolRow], titles: Mapping[str, str]) -> str:
    """State how many failed, in which ways, and how far searching differs."""
    every, not_scored = Counter[str](), Counter[str]()
    for row in rows:
        every.update(row.ends)
        not_scored.update(row.left_out)
    scored = every.total()
    failed = scored - every.pop(RIGHT, 0)
    if not scored:
        return f"Nothing was scored here: {counted(not_scored) or 'nothing has ended'}."
    if failed:
        ways = sorted(titles, key=lambda kind: -every[kind])
        named = [f"{every[kind]:,} by {titles[kind].lower()}" for kind in ways if every[kind]]
        text = f"{failed:,} of {scored:,} scored trajectories failed: {listed(named, most=3)}"
    else:
        count = plural(scored, "scored trajectory", "scored trajectories")
        text = f"None of {count} failed"
    known = [(row.balance.value, row.run.label) for row in rows if row.balance.value is not None]
    if known:
        low, high = min(known, key=_first), max(known, key=_first)
        if low[0] < high[0]:
            text += (
                f". Searches per call range from {number(low[0], 'number')} ({low[1]}) to "
                f"{number(high[0], 'number')} ({high[1]})"
            )
    return f"{text}."


def _first(pair: tuple[float, str]) -> float:
    return pair[0]


def _end_column(kind: str, title: str, help: str) -> Column[ToolRow]:
    """Give how many trajectories ended in one way, with their share."""

    def cell(row: ToolRow) -> Cell:
        count, share = row.ends.get(kind, 0), row.shares[kind]
        interval = share.interval
        sub = [] if share.value is None else [number(share.value, "share")]
        if interval is not None:
            sub.append(ends(interval, "share").removesuffix(" %"))
        low, high = (interval.low, interval.high) if interval is not None else (None, None)
        return Cell(
            f"{count:,}",
            (count, *(None if x is None else round(x, 6) for x in (share.value, low, high))),
            sub="\n".join(sub),
            url=end_url(row, kind),
        )

    names = tuple(f"{title.lower()}{part}" for part in ("", " share", " low", " high"))
    return Column(parts.Column(title, names, help=help), cell)


def _left_out(row: ToolRow) -> Cell:
    total, words = sum(row.left_out.values()), counted(row.left_out)
    url = addresses.trajectories_of(row.run, accurate="undefined") if total else ""
    return Cell(f"{total:,}", (words,), tip=words, url=url)


def _panel(page: Page, pairs: Sequence[tuple[ToolRow, Estimate]]) -> list[PointRow]:
    """Return the points of one panel, a row per agent."""
    return [
        PointRow(row.run.label, value, row.run.label, page.links.url(link_of(row)))
        for row, value in pairs
    ]


def _recall_by_step(
    page: Page, rows: Sequence[ToolRow], curves: Sequence[Curve], parts_title: str
) -> None:
    """Add mean recall by step: of trajectories still under way, and of all."""
    points: Points = {
        (curve.agent, curve.dimension, point.position): point
        for curve in curves
        for point in curve.points
    }
    page.figure(
        "progress",
        f"Recall by step: share of the {parts_title} found",
        lambda: _draw_recall(rows, curves),
        subtitle="Left: trajectories still under way at that step, which are not the same from "
        "step to step. Right: all trajectories; what one had found at its end is kept.",
    )
    shown: list[Column[int]] = [
        Column(parts.number_column("Step"), lambda step: Cell(str(step), (step,)))
    ]
    agents = {curve.agent for curve in curves}
    for row in rows:
        if row.run.label in agents:
            shown += [
                _under_way(points, row),
                _recall(points, row, RUNNING, "Recall of these", "recall under way"),
                _recall(points, row, KEPT, "of all", "recall of all"),
            ]
    page.table(
        "progress",
        "Recall by step",
        range(1, max((len(curve.points) for curve in curves), default=0) + 1),
        shown,
        note=f"Share of the {parts_title} found so far; “of all” keeps what was found at the end.",
        folded=True,
    )
    survivors = [
        f"{curve.agent} ({curve.points[-1].running} of {curve.started})"
        for curve in curves
        if curve.dimension == RUNNING and curve.warnings
    ]
    if survivors:
        page.info(
            "Recall of those still under way compares different survivors from step to step: an "
            "agent that answers as soon as it can leaves its hard tasks to the later steps. At "
            f"their longest there remain of {listed(survivors)}."
        )


def _draw_recall(rows: Sequence[ToolRow], curves: Sequence[Curve]) -> Figure | None:
    if not curves:
        return None
    runs = {row.run.label: row.run for row in rows}
    named = [replace(curve, dimension=SERIES[curve.dimension]) for curve in curves]
    links = {
        (curve.agent, point.position): addresses.trajectories_of(
            runs[curve.agent], min_turns=point.position
        )
        for curve in curves
        for point in curve.points
    }
    looks = figure_specs.styles([row.run.label for row in rows])
    return decline_figure(named, list(SERIES.values()), (0, 1), looks, links, position="step")


def _under_way(points: Points, row: ToolRow) -> Column[int]:
    def cell(step: int) -> Cell:
        point = points.get((row.run.label, RUNNING, step))
        count = point.running if point is not None else 0
        url = addresses.trajectories_of(row.run, min_turns=step) if count else ""
        return parts.count_cell(count, url=url)

    label = row.run.label
    return Column(parts.Column(f"{label}: under way", (f"{label} under way",)), cell)


def _recall(points: Points, row: ToolRow, series: str, label: str, part: str) -> Column[int]:
    nothing = "nothing ran so long"

    def cell(step: int) -> Cell:
        point = points.get((row.run.label, series, step))
        if point is None:
            return Cell(data=(None, None, None, 0, nothing), reason=nothing)
        url = addresses.trajectories_of(row.run, min_turns=step) if series == RUNNING else ""
        return parts.estimate_cell(point.mean, "share", url=url)

    head = parts.estimate_column(label, f"{row.run.label} {part}")
    return Column(head, cell, lambda _: link_of(row))

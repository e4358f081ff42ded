"""How agents search, call tools and fail, and how fast they find what a task asks for."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from analysis.figures.decline import decline_figure
from analysis.figures.tool_use import PointRow, SharePart, panel_dots, stacked_shares
from analysis.filters.selection import Selection
from analysis.frames.outcomes import outcome_frame
from analysis.frames.tool_calls import KEPT, RUNNING, failure_categories, progress_frame
from analysis.pages.declaration import WrittenPage
from analysis.pages.empty import no_runs
from analysis.pages.leaderboard.rows import ACCURATE
from analysis.pages.tools.rows import RIGHT, UNTOLD, Row, rows_of
from analysis.pages.tools.tables import end_link, failure_table, progress_table, use_table
from analysis.reports import common
from analysis.reports.content import (
    Empty,
    FigureSpec,
    Notice,
    Report,
    exclusions,
    how_interval,
)
from analysis.reports.formatting import counted, listed, number, plural
from analysis.stats.trends.decline import Curve, score_by_turn
from benchmarks.core.comparisons import ToolUse
from benchmarks.core.registry import find_system

if TYPE_CHECKING:
    from pandas import DataFrame

SERIES = {RUNNING: "Still under way", KEPT: "All, last value kept"}
PURPOSE = "The page on tools shows how agents search for tools, call them, and fail."


def tools_report(selection: Selection) -> Report:
    """Everything on the page."""
    use = find_system(selection.system).comparisons.tool_use if selection.system else None
    if not selection.runs or use is None:
        return Report(empty=_empty(selection))
    names = [ACCURATE, use.searches, use.calls, *use.mishaps]
    frame = outcome_frame(selection.runs, names)
    rows = rows_of(selection.runs, frame, failure_categories(selection.runs), use)
    titles = titles_of(rows, use)
    curves = curves_of(progress_frame(selection.runs, use))
    measures = find_system(selection.system).labels.measures
    mishaps = {name: measures[name].title for name in use.mishaps}
    return Report(
        sentence=sentence(rows, titles),
        figures=tuple(_figures(rows, curves, titles, mishaps, use)),
        tables=(
            failure_table(rows, titles, {key: words[1] for key, words in use.categories.items()}),
            use_table(rows, mishaps, {name: measures[name].help for name in use.mishaps}),
            *progress_table(curves, use.parts_title, rows),
        ),
        notices=(*common.selection_notices(selection), *_notices(curves)),
        how=(*common.how_runs(selection), *_how(rows, use)),
        methods="Each scored trajectory ends in one category, told from its trace by rules; "
        "searches and calls are means per trajectory, searches per call and mishaps per call are "
        "ratios of totals.",
    )


def curves_of(frame: "DataFrame") -> list[Curve]:
    """Mean recall by step. The series are apart: what is carried on did not run so long."""
    found: list[Curve] = []
    for series in SERIES:
        steps = frame[frame["series"] == series]
        found += score_by_turn(
            steps["label"].tolist(), steps["series"].tolist(), steps["trajectory"].tolist(),
            steps["step"].to_numpy(), steps["value"].to_numpy(), scale=(0, 1),
        )  # fmt: skip
    return found


def titles_of(rows: Sequence[Row], use: ToolUse) -> dict[str, str]:
    """How trajectories ended, in the order of the figure; untold failures only where there are."""
    titles = {RIGHT: "Right", **{key: words[0] for key, words in use.categories.items()}}
    if any(row.ends.get(UNTOLD) for row in rows):
        titles[UNTOLD] = "Failed, not told how"
    return titles


def sentence(rows: Sequence[Row], titles: Mapping[str, str]) -> str:
    """The most frequent way to fail, and who searches most per call."""
    failed = sum(row.failed for row in rows)
    scored = sum(row.scored for row in rows)
    if not scored:
        reasons = Counter[str]()
        for row in rows:
            reasons.update(row.left_out)
        return f"Nothing was scored here: {counted(reasons) or 'nothing has ended'}."
    if not failed:
        text = f"None of {plural(scored, 'scored trajectory', 'scored trajectories')} failed"
    else:
        ends = Counter[str]()
        for row in rows:
            ends.update({kind: n for kind, n in row.ends.items() if kind != RIGHT})
        most = max(ends.values())
        first = [titles[kind].lower() for kind in titles if ends.get(kind) == most]
        text = (
            f"{failed:,} of {scored:,} scored trajectories failed, most often by {listed(first)} "
            f"({most:,} of {failed:,}{' each' if len(first) > 1 else ''})"
        )
    known = [row for row in rows if row.balance.value is not None]
    if len(known) > 1:
        low = min(known, key=lambda row: row.balance.value or 0)
        high = max(known, key=lambda row: row.balance.value or 0)
        if (low.balance.value or 0) < (high.balance.value or 0):
            text += (
                f"; searches per call go from {number(low.balance.value or 0, 'number')} "
                f"({low.label}) to {number(high.balance.value or 0, 'number')} ({high.label})"
            )
    return text + "."


def _figures(
    rows: Sequence[Row],
    curves: Sequence[Curve],
    titles: Mapping[str, str],
    mishaps: Mapping[str, str],
    use: ToolUse,
) -> list[FigureSpec]:
    looks = common.styles([row.label for row in rows])
    run_urls = {row.label: common.trajectories_of(row.run) for row in rows}
    parts = {
        row.label: [
            SharePart(row.ends.get(kind, 0), row.shares[kind].value, end_link(row, kind))
            for kind in titles
        ]
        for row in rows
    }
    found = [
        common.figure_spec(
            "failures",
            "How scored trajectories ended",
            "Shares of each agent's trajectories, with their numbers.",
            stacked_shares(
                parts, list(titles.values()), title="Share of scored trajectories"
            ),
        ),
        common.figure_spec(
            "balance",
            "Searching and calling",
            "Means per trajectory, and searches per call, with 95 % intervals.",
            panel_dots(
                {
                    "Searches": [_mark(row, "searches") for row in rows],
                    "Calls": [_mark(row, "calls") for row in rows],
                    "Searches per call": [_mark(row, "balance") for row in rows],
                },
                unit="points", columns=3, styles=looks,
            ),
            table="use",
        ),
        common.figure_spec(
            "mishaps",
            "Calls gone wrong, per call",
            "With 95 % intervals.",
            panel_dots(
                {
                    title: [
                        PointRow(row.label, row.mishaps[name], row.label, run_urls[row.label])
                        for row in rows
                    ]
                    for name, title in mishaps.items()
                },
                unit="share", columns=3, styles=looks,
            ),
            table="use",
        ),
    ]  # fmt: skip
    runs = {row.label: row.run for row in rows}
    if curves:
        named = [replace(curve, dimension=SERIES[curve.dimension]) for curve in curves]
        links = {
            (curve.agent, point.position): common.trajectories_of(
                runs[curve.agent], min_turns=point.position
            )
            for curve in curves
            for point in curve.points
        }
        found.append(
            common.figure_spec(
                "progress",
                f"Recall over steps: share of the {use.parts_title} found so far",
                "Left: trajectories still under way at that step, which are not the same from step "
                "to step. Right: all trajectories; what one had found at its end is kept.",
                decline_figure(named, list(SERIES.values()), (0, 1), looks, links, position="step"),
            )
        )
    return found


def _mark(row: Row, name: str) -> PointRow:
    return PointRow(row.label, getattr(row, name), row.label, common.trajectories_of(row.run))


def _notices(curves: Sequence[Curve]) -> list[Notice]:
    warned = [curve for curve in curves if curve.dimension == RUNNING and curve.warnings]
    if not warned:
        return []
    words = listed(
        [f"{curve.agent} ({curve.points[-1].running} of {curve.started})" for curve in warned]
    )
    return [
        Notice(
            "Recall of those still under way compares different survivors from step to step: an "
            "agent that answers as soon as it can leaves its hard tasks to the later steps. At "
            f"their longest there remain of {words}.",
            "info",
        )
    ]


def _how(rows: Sequence[Row], use: ToolUse) -> list[str]:
    left = exclusions([row.balance for row in rows])
    shares = [share for row in rows for share in row.shares.values()]
    return [
        "Failure categories are told from the trace by this product's rules; each failed "
        "trajectory has one. Shares are of scored trajectories, "
        f"95 % intervals: {how_interval(shares) or 'none'}.",
        "Searches and calls count failed and refused ones too; searches per call is the ratio of "
        "totals, not the mean of ratios: "
        f"{how_interval([row.balance for row in rows]) or 'no interval'}.",
        f"Recall at a step: share of the {use.parts_title} that reliable tools had returned by "
        "then; mean over trajectories with a t interval, which may leave 0 to 100 % where few are "
        "left.",
        f"Left out: {counted(left)}." if left else "No trajectory is left out.",
    ]


def _empty(selection: Selection) -> Empty:
    if selection.dataset is None or not selection.runs:
        return no_runs(PURPOSE, selection)
    text = (
        f"{PURPOSE} Runs on {common.dataset_name(selection)} record no searches or calls of tools. "
        "The leaderboard and the page on conditions take them."
    )
    known = {"dataset": selection.filters.dataset}
    return Empty("No tools here", text, "See the leaderboard",
                 common.address("analysis:leaderboard", known))  # fmt: skip


CONTENT = WrittenPage(tools_report)

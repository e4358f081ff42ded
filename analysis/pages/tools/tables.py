"""The columns of the page on tools."""

from collections.abc import Sequence

from analysis.frames.tool_calls import KEPT, RUNNING
from analysis.pages.declaration import ColumnOf, agent_of, estimate_of
from analysis.pages.links import Link
from analysis.pages.tools.rows import ToolRow, ToolsResult
from analysis.reports import addresses
from analysis.reports.content import (
    Cell,
    Column,
    count_cell,
    estimate_cell,
    estimate_column,
    number_column,
)
from analysis.reports.formatting import counted, ends, number


def failure_columns(result: ToolsResult) -> Sequence[ColumnOf[ToolRow]]:
    """Give each agent how many trajectories ended in each way, with their share."""
    helps = {key: words[1] for key, words in result.data.use.categories.items()}
    return (
        agent_of(lambda row: row.run),
        ColumnOf(
            number_column("Scored", help="Trajectories that have an accuracy"),
            lambda row: count_cell(row.scored, url=addresses.trajectories_of(row.run)),
        ),
        *(_end_column(kind, title, helps.get(kind, "")) for kind, title in result.titles.items()),
        ColumnOf(
            Column("Left out", ("left out",), help="Trajectories without accuracy, by reason"),
            _left_out,
        ),
    )


def _end_column(kind: str, title: str, help: str) -> ColumnOf[ToolRow]:
    parts = tuple(f"{title.lower()}{part}" for part in ("", " share", " low", " high"))
    return ColumnOf(Column(title, parts, help=help), lambda row: _end_cell(row, kind))


def _end_cell(row: ToolRow, kind: str) -> Cell:
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
        url=row.end_url(kind),
    )


def _left_out(row: ToolRow) -> Cell:
    total = sum(row.left_out.values())
    words = counted(row.left_out)
    url = addresses.trajectories_of(row.run, accurate="undefined") if total else ""
    return Cell(f"{total:,}", (words,), tip=words, url=url)


def use_columns(result: ToolsResult) -> Sequence[ColumnOf[ToolRow]]:
    """Give each agent its searches, calls, their ratio, and what went wrong per call."""
    return (
        agent_of(lambda row: row.run),
        estimate_of(
            "Searches",
            lambda row: row.searches,
            "number",
            help="Mean per trajectory, failed ones included",
            show_n=True,
        ),
        estimate_of(
            "Calls",
            lambda row: row.calls,
            "number",
            help="Mean per trajectory, refused ones included",
        ),
        estimate_of(
            "Searches per call",
            lambda row: row.balance,
            "number",
            help="Total searches by total calls",
        ),
        *(
            estimate_of(
                f"{title}, per call",
                lambda row, name=name: row.mishaps[name],  # type: ignore[misc]
                "share",
                help=result.data.measures[name].help,
            )
            for name, title in result.mishaps.items()
        ),
    )


def progress_columns(result: ToolsResult) -> Sequence[ColumnOf[int]]:
    """Give each step the recall of every agent: of those under way, and of all."""
    columns = [ColumnOf[int](number_column("Step"), lambda step: Cell(str(step), (step,)))]
    for row in result.with_steps:
        columns += [
            _under_way(result, row),
            _recall(result, row, RUNNING, "Recall of these", "recall under way"),
            _recall(result, row, KEPT, "of all", "recall of all"),
        ]
    return columns


def _under_way(result: ToolsResult, row: ToolRow) -> ColumnOf[int]:
    def cell(step: int) -> Cell:
        point = result.point(row, RUNNING, step)
        count = point.running if point is not None else 0
        url = addresses.trajectories_of(row.run, min_turns=step) if count else ""
        return count_cell(count, url=url)

    return ColumnOf(Column(f"{row.label}: under way", (f"{row.label} under way",)), cell)


def _recall(result: ToolsResult, row: ToolRow, series: str, label: str, part: str) -> ColumnOf[int]:
    nothing = "nothing ran so long"

    def cell(step: int) -> Cell:
        point = result.point(row, series, step)
        if point is None:
            return Cell(data=(None, None, None, 0, nothing), reason=nothing)
        url = addresses.trajectories_of(row.run, min_turns=step) if series == RUNNING else ""
        return estimate_cell(point.mean, "share", url=url)

    return ColumnOf(
        estimate_column(label, f"{row.label} {part}"), cell, lambda _: Link(runs=(row.run.pk,))
    )

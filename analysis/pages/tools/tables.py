"""The tables of the page on tools."""

from collections.abc import Mapping, Sequence

from analysis.frames.tool_calls import KEPT, RUNNING
from analysis.pages.tools.rows import RIGHT, UNTOLD, Row
from analysis.reports import common
from analysis.reports.content import (
    Cell,
    Column,
    Table,
    count_cell,
    estimate_cell,
    estimate_column,
    number_column,
)
from analysis.reports.formatting import counted, ends, number
from analysis.stats.trends.decline import Curve

AGENT = Column("Agent", ("agent", "kind", "run"), num=False)


def failure_table(
    rows: Sequence[Row], titles: Mapping[str, str], sentences: Mapping[str, str]
) -> Table:
    """How many trajectories ended in each way, with their share."""
    return Table(
        "failures",
        "How scored trajectories ended",
        (
            AGENT,
            number_column("Scored", help="Trajectories that have an accuracy"),
            *(
                Column(
                    title,
                    tuple(f"{title.lower()}{part}" for part in ("", " share", " low", " high")),
                    help=sentences.get(kind, ""),
                )
                for kind, title in titles.items()
            ),
            Column("Left out", ("left out",), help="Trajectories without accuracy, by reason"),
        ),
        tuple(
            (
                common.agent_cell(row.run),
                count_cell(row.scored, url=common.trajectories_of(row.run)),
                *(_end_cell(row, kind) for kind in titles),
                _left_out(row),
            )
            for row in rows
        ),
        note="Number of trajectories, their share, and its 95 % interval.",
    )


def _end_cell(row: Row, kind: str) -> Cell:
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
        url=end_link(row, kind),
    )


def end_link(row: Row, kind: str) -> str:
    """The trajectories of a run that ended in this way; nothing where there are none."""
    if not row.ends.get(kind):
        return ""
    if kind == RIGHT:
        return common.trajectories_of(row.run, accurate="yes")
    if kind == UNTOLD:
        return common.trajectories_of(row.run, accurate="no")
    return common.trajectories_of(row.run, failure=kind)


def _left_out(row: Row) -> Cell:
    total = sum(row.left_out.values())
    words = counted(row.left_out)
    url = common.trajectories_of(row.run, accurate="undefined") if total else ""
    return Cell(f"{total:,}", (words,), tip=words, url=url)


def use_table(rows: Sequence[Row], mishaps: Mapping[str, str], helps: Mapping[str, str]) -> Table:
    """Searches, calls, their ratio, and what went wrong per call."""
    return Table(
        "use",
        "Searches and calls",
        (
            AGENT,
            estimate_column("Searches", help="Mean per trajectory, failed ones included"),
            estimate_column("Calls", help="Mean per trajectory, refused ones included"),
            estimate_column("Searches per call", help="Total searches by total calls"),
            *(
                estimate_column(f"{title}, per call", help=helps.get(name, ""))
                for name, title in mishaps.items()
            ),
        ),
        tuple(
            (
                common.agent_cell(row.run),
                estimate_cell(row.searches, "number", show_n=True),
                estimate_cell(row.calls, "number"),
                estimate_cell(row.balance, "number"),
                *(estimate_cell(row.mishaps[name], "share") for name in mishaps),
            )
            for row in rows
        ),
        note="Under each value its 95 % interval, which draws tasks.",
    )


def progress_table(curves: Sequence[Curve], parts: str, rows: Sequence[Row]) -> list[Table]:
    """Recall at every step: of those still under way, and of all."""
    if not curves:
        return []
    agents = list(dict.fromkeys(curve.agent for curve in curves))
    by_key = {(c.agent, c.dimension): {p.position: p for p in c.points} for c in curves}
    longest = max(len(points) for points in by_key.values())
    runs = {row.label: row.run for row in rows}
    lines = []
    for step in range(1, longest + 1):
        cells = [Cell(str(step), (step,))]
        for agent in agents:
            running = by_key[agent, RUNNING].get(step)
            kept = by_key[agent, KEPT].get(step)
            count = running.running if running is not None else 0
            under_way = common.trajectories_of(runs[agent], min_turns=step)
            cells.append(count_cell(count, url=under_way if count else ""))
            for point, url in ((running, under_way), (kept, "")):
                cells.append(
                    estimate_cell(point.mean, "share", url=url)
                    if point is not None
                    else Cell(data=(None, None, None, 0, "nothing ran so long"),
                              reason="nothing ran so long")
                )  # fmt: skip
        lines.append(tuple(cells))
    columns: list[Column] = [number_column("Step")]
    for agent in agents:
        columns += [
            Column(f"{agent}: under way", (f"{agent} under way",)),
            estimate_column("Recall of these", f"{agent} recall under way"),
            estimate_column("of all", f"{agent} recall of all"),
        ]
    note = f"Share of the {parts} found so far; “of all” keeps what was found at the end."
    return [Table("progress", "Recall over steps", tuple(columns), tuple(lines), note, open=False)]

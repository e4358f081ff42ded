"""The tables of the page on conditions."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from analysis.filters.selection import ChosenRun
from analysis.pages.conditions.rows import Grid, Lengths
from analysis.reports import common
from analysis.reports.content import (
    Badge,
    Cell,
    Column,
    Table,
    estimate_cell,
    estimate_column,
    number_cell,
    number_column,
    text_cell,
    text_column,
)
from analysis.reports.references import published_estimate
from analysis.stats.results import Estimate
from benchmarks.core.comparisons import Contrasts, Named
from benchmarks.core.published import Published

AGENT = Column("Agent", ("agent", "kind"), num=False)


def points_cell(change: Estimate, url: str = "") -> Cell:
    """A difference of two shares, in points of 100; n counts tasks."""
    cell = estimate_cell(change, "share", signed=True, url=url, show_n=True)
    return replace(cell, text=f"{cell.text.removesuffix(' %')} pt") if cell.text else cell


def agent_name(grid: Grid, agent: str, condition: str = "") -> Cell:
    """An agent with what marks it; it leads to its run under one condition."""
    runs = [run for (name, _), run in grid.runs.items() if name == agent]
    run = grid.runs.get((agent, condition))
    return Cell(
        agent,
        (agent, runs[0].agent_kind),
        url=common.trajectories_of(run) if run is not None else "",
        badges=_badges(runs),
    )


def _badges(runs: Sequence[ChosenRun]) -> tuple[Badge, ...]:
    return tuple(dict.fromkeys(badge for run in runs for badge in common.agent_badges(run)))


def accuracy_table(grid: Grid) -> Table:
    """Conditions down, agents across."""
    return Table(
        "accuracy",
        "Accuracy by condition",
        (
            Column("Condition", ("condition", "setting"), num=False),
            *(estimate_column(agent, agent) for agent in grid.agents),
        ),
        tuple(
            (
                _condition_cell(grid, condition),
                *(
                    estimate_cell(
                        grid.accuracy[agent, condition],
                        "share",
                        url=_successes(grid, agent, condition),
                        show_n=True,
                    )
                    for agent in grid.agents
                ),
            )
            for condition in grid.conditions
        ),
        note="Share of trajectories with the right answer, its 95 % interval, and n.",
    )


def change_table(grid: Grid) -> list[Table]:
    """How far each condition is from the baseline, task by task."""
    if not grid.baseline or not grid.others:
        return []
    base = grid.title(grid.baseline)
    return [
        Table(
            "change",
            f"Change against “{base}”",
            (
                Column("Condition", ("condition", "setting"), num=False),
                *(estimate_column(agent, agent) for agent in grid.agents),
            ),
            tuple(
                (
                    _condition_cell(grid, condition),
                    *(
                        points_cell(
                            grid.change[agent, condition], url=_flips(grid, agent, condition)
                        )
                        for agent in grid.agents
                    ),
                )
                for condition in grid.others
            ),
            note="Accuracy minus the baseline's on the same tasks, with a 95 % interval that draws "
            "tasks; n counts tasks. Points of 100.",
        )
    ]


def drop_table(grid: Grid, contrasts: Contrasts | None) -> list[Table]:
    """Baseline, contrast and the paired drop, one line per agent."""
    if contrasts is None or contrasts.contrast not in grid.conditions or not grid.baseline:
        return []
    base, other = grid.baseline, contrasts.contrast
    rows = tuple(
        (
            agent_name(grid, agent, other),
            estimate_cell(grid.accuracy[agent, base], "share", show_n=True,
                          url=_successes(grid, agent, base)),
            estimate_cell(grid.accuracy[agent, other], "share", show_n=True,
                          url=_successes(grid, agent, other)),
            points_cell(grid.change[agent, other], url=_flips(grid, agent, other)),
        )
        for agent in grid.agents
    )  # fmt: skip
    return [
        Table(
            "drop",
            f"From “{grid.title(base)}” to “{grid.title(other)}”",
            (
                AGENT,
                estimate_column(grid.title(base), "baseline"),
                estimate_column(grid.title(other), "contrast"),
                estimate_column("Change", "change", "On the same tasks; the interval draws tasks"),
            ),
            rows,
            note="A task counts where it was scored under both conditions.",
        )
    ]


def kinds_table(grid: Grid, kinds: Sequence[str]) -> list[Table]:
    """Accuracy under each kind of disturbance alone, and what it costs."""
    shown = [kind for kind in kinds if kind in grid.conditions]
    if not shown:
        return []
    columns: list[Column] = [AGENT]
    for kind in shown:
        title = grid.title(kind)
        columns.append(estimate_column(title, title))
        if grid.baseline:
            columns.append(estimate_column("Change", f"{title} change", "Against the baseline"))
    lines = []
    for agent in grid.agents:
        cells = [agent_name(grid, agent)]
        for kind in shown:
            accuracy, change = grid.accuracy[agent, kind], grid.change[agent, kind]
            url = _successes(grid, agent, kind)
            cells.append(estimate_cell(accuracy, "share", url=url, show_n=True))
            if grid.baseline:
                cells.append(points_cell(change, url=_flips(grid, agent, kind)))
        lines.append(tuple(cells))
    return [
        Table("kinds", "Vulnerability by kind of disturbance", tuple(columns), tuple(lines),
              note="Accuracy where one kind alone stands in; change on the same tasks.")
    ]  # fmt: skip


def lengths_tables(grid: Grid, lengths: Lengths, contrasts: Contrasts) -> list[Table]:
    """Accuracy by length, and the same tasks with the one and the other length."""
    first, last = contrasts.lengths[0], contrasts.lengths[-1]
    tables = [
        Table(
            "lengths",
            contrasts.remaining_title,
            (number_column("Length"), *(estimate_column(agent, agent) for agent in grid.agents)),
            tuple(
                (
                    Cell(str(size), (size,)),
                    *(
                        estimate_cell(lengths.accuracy[agent, size], "share", show_n=True)
                        for agent in grid.agents
                    ),
                )
                for size in lengths.bins
            ),
            note="Accuracy under both conditions on length together, by the mean length of what "
            "remained. Tasks differ from line to line.",
        )
    ]
    titles = [(name, grid.words[name].title) for name in (first, last) if name in grid.conditions]
    if len(titles) == 2:
        tables.append(
            Table(
                "longer",
                "The same tasks with a short and a long path",
                (
                    AGENT,
                    *(number_column(f"Length, {title.lower()}") for _, title in titles),
                    *(estimate_column(title) for _, title in titles),
                    estimate_column("Change", "change", "Long minus short on the same tasks"),
                ),
                tuple(
                    (
                        agent_name(grid, agent, last),
                        *(
                            number_cell(lengths.means.get((agent, name)), "number",
                                        reason="no path was left over")
                            for name, _ in titles
                        ),
                        *(
                            estimate_cell(grid.accuracy[agent, name], "share", show_n=True,
                                          url=_link(grid, agent, name))
                            for name, _ in titles
                        ),
                        points_cell(
                            lengths.longer[agent], url=_flips(grid, agent, last, against=first)
                        ),
                    )
                    for agent in grid.agents
                ),
                note="Paired by task, so that what tasks are like otherwise does not count.",
            )
        )  # fmt: skip
    return tables


def published_table(published: Sequence[Published], words: Mapping[str, Named]) -> list[Table]:
    """The reference figures that belong here, with the interval that n gives them."""
    rows = tuple(
        (
            text_cell(
                entry.model,
                badges=(replace(common.PUBLISHED_BADGE, why=f"{entry.source}; {entry.note}"),),
            ),
            text_cell(words[entry.metric].title),
            estimate_cell(published_estimate(entry, is_rate=True), "share", show_n=bool(entry.n)),
            text_cell(entry.source, sub=entry.note),
        )
        for entry in published
    )
    columns = (
        text_column("Model"),
        text_column("Condition"),
        estimate_column("Accuracy"),
        text_column("Source"),
    )
    note = "Figures of the paper, not from runs here; n inferred from the printed percentages."
    return [Table("published", "Published", columns, rows, note)] if rows else []


def _condition_cell(grid: Grid, condition: str) -> Cell:
    words = grid.words[condition]
    return Cell(words.title, (words.title, condition), tip=words.help)


def _successes(grid: Grid, agent: str, condition: str) -> str:
    run = grid.runs.get((agent, condition))
    return common.successes(run, grid.accuracy[agent, condition]) if run is not None else ""


def _flips(grid: Grid, agent: str, condition: str, against: str = "") -> str:
    """The same tasks under both conditions, one beside the other."""
    run, base = (grid.runs.get((agent, one)) for one in (condition, against or grid.baseline))
    if run is None or base is None:
        return ""
    return common.side_by_side(run, base, "accurate")


def _link(grid: Grid, agent: str, condition: str, **more: str) -> str:
    run = grid.runs.get((agent, condition))
    return common.trajectories_of(run, **more) if run is not None else ""

"""The tables of the leaderboard, and its figure."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from analysis.figures.leaderboard import LeaderboardRow, leaderboard_figure
from analysis.filters.selection import ChosenRun
from analysis.pages.leaderboard.rows import ACCURATE, BOTH, EXHAUSTED, VALID, Row
from analysis.reports import common
from analysis.reports.content import (
    Cell,
    Column,
    FigureSpec,
    Table,
    count_cell,
    estimate_cell,
    estimate_column,
    number_cell,
    number_column,
    text_cell,
    text_column,
)
from analysis.reports.formatting import counted, ends, listed, plural
from analysis.stats.rater_agreement.correlation import pearson
from benchmarks.core.labels import Measure
from benchmarks.core.registry import find_system

PUBLISHED_NOTE = (
    " Published rows: n inferred from the printed percentages, level not stated, means without "
    "intervals."
)


def board_figure(rows: Sequence[Row]) -> FigureSpec:
    marks = [
        LeaderboardRow(
            row.label, row.accuracy, row.estimates.get(VALID), row.run is None, _link(row) or None
        )
        for row in rows
    ]
    figure = leaderboard_figure(marks, common.styles([row.label for row in rows]))
    both = any(VALID in row.estimates for row in rows)
    some_published = any(row.run is None for row in rows)
    return common.figure_spec(
        "board",
        f"Accuracy{' and valid plan rate' if both else ''}, with 95 % Wilson intervals",
        "Filled: run here. Open, dotted: published."
        if some_published
        else plural(len(rows), "agent"),
        figure,
    )


def board_table(
    rows: Sequence[Row], measures: Mapping[str, Measure], shown: Sequence[str]
) -> Table:
    others = [name for name in shown if name != ACCURATE]
    recorded = any(row.pool is not None for row in rows)
    columns = [
        Column("Agent", ("agent", "kind", "run"), num=False),
        number_column("Rank"),
        number_column("n", "trajectories", "Trajectories that Acc counts"),
        estimate_column("Acc", help=measures[ACCURATE].help),
        Column(
            "Wald",
            ("acc wald low", "acc wald high"),
            help="p ± 1.96·sqrt(p(1−p)/n), cut off at 0 and 100 %",
        ),
        *(estimate_column(measures[name].title, help=measures[name].help) for name in others),
    ]
    if recorded:
        columns += [
            number_column("Pool", "pool", "Recorded answers per task, on average"),
            number_column("Ran dry", "pool ran dry", "Trajectories that no answer was left for"),
        ]
    columns += [
        Column("Left out", ("left out",), help="Trajectories without Acc, by reason"),
    ]
    readings = VALID in shown
    if readings:
        columns.append(
            number_column(
                "Readings differ",
                help="Trajectories that the two readings of the early stop end at different turns",
            )
        )
    columns.append(Column("Task by task", ("compared with run",), num=False))
    best = next((row.run for row in rows if row.run is not None), None)
    rates = listed([measures[name].title for name in shown if measures[name].kind == "rate"])
    return Table(
        "board",
        "Leaderboard",
        tuple(columns),
        tuple(
            (*_cells(row, measures, others, recorded, readings), _beside(row, best)) for row in rows
        ),
        note=f"Under each value its 95 % interval: Wilson for {rates}, t for means."
        + (PUBLISHED_NOTE if any(row.run is None for row in rows) else ""),
    )


def _cells(
    row: Row,
    measures: Mapping[str, Measure],
    others: Sequence[str],
    recorded: bool,
    readings: bool,
) -> tuple[Cell, ...]:
    wald, excluded = row.wald.within(0, 1).interval, row.accuracy.excluded
    cells = [
        common.agent_cell(row.run) if row.run is not None else _published_cell(row),
        count_cell(row.rank, reason=row.no_rank),
        count_cell(row.accuracy.n, url=_counted(row)),
        estimate_cell(row.accuracy, "share", url=_successes(row, ACCURATE)),
        Cell(
            ends(wald, "share").removesuffix(" %"),
            (round(wald.low, 6), round(wald.high, 6)),
            tip="; ".join(row.wald.warnings),
        )
        if wald is not None
        else Cell(data=(None, None), reason=row.wald.no_interval or row.wald.undefined),
    ]
    for name in others:
        estimate, rate = row.estimates[name], measures[name].kind == "rate"
        other_n = estimate.value is not None and estimate.n != row.accuracy.n
        url = _successes(row, VALID) if name == VALID else ""
        cells.append(
            estimate_cell(estimate, "share" if rate else "number", show_n=other_n, url=url)
        )
    if recorded:
        dry = row.endings.get(EXHAUSTED) if row.run is None else row.endings.get(EXHAUSTED, 0)
        cells += [
            number_cell(row.pool, "number", reason="this agent has no pool"),
            count_cell(dry, reason="published", url=_link(row, end=EXHAUSTED) if dry else ""),
        ]
    return (*cells, _left_out(row, excluded), *([_differ(row)] if readings else []))


def _link(row: Row, **more: str) -> str:
    return common.trajectories_of(row.run, **more) if row.run is not None else ""


def _successes(row: Row, metric: str) -> str:
    if row.run is None:
        return ""
    return common.successes(row.run, row.estimates[metric], metric)


def _counted(row: Row) -> str:
    """All that accuracy counts: those that have one."""
    return common.trajectories_of(row.run, accurate=["yes", "no"]) if row.run is not None else ""


def _beside(row: Row, best: ChosenRun | None) -> Cell:
    """Where the agent at the top and this one are compared task by task."""
    if row.run is None or best is None:
        return Cell(data=(None,), reason="published rows have no tasks here")
    if row.run.pk == best.pk:
        return Cell(data=(None,), reason="the others are held against this one")
    url = common.address("analysis:compare_runs", {"a": best.pk, "b": row.run.pk})
    return Cell(f"with {best.label}", (best.pk,), url=url)


def _published_cell(row: Row) -> Cell:
    return Cell(
        row.label,
        (row.label, "published", row.source),
        badges=(replace(common.PUBLISHED_BADGE, why=row.source),),
    )


def _left_out(row: Row, excluded: Mapping[str, int]) -> Cell:
    total = sum(excluded.values())
    if not total:
        return Cell("0" if row.run is not None else "", ("",))
    words = counted(excluded)
    return Cell(f"{total:,}", (words,), tip=words, url=_link(row, accurate="undefined"))


def _differ(row: Row) -> Cell:
    return count_cell(
        row.differ, reason="not published" if row.run is None else "not recorded for these runs"
    )


def counted_table(rows: Sequence[Row]) -> list[Table]:
    """Acc with all dimensions and with the main ones, where the two differ."""
    differing = [row for row in rows if len({row.estimates[name].value for name in BOTH}) > 1]
    if not differing:
        return []
    columns = (
        text_column("Agent"),
        *(estimate_column(kind.title, help=kind.help) for kind in BOTH.values()),
    )
    return [
        Table(
            "counted",
            "Where it matters which dimensions count",
            columns,
            tuple(
                (
                    text_cell(row.label),
                    *(estimate_cell(row.estimates[name], "share", show_n=True) for name in BOTH),
                )
                for row in differing
            ),
            note="Agents whose accuracy differs between all dimensions and the main ones.",
        )
    ]


def correlation_table(
    rows: Sequence[Row], system: str, measures: Mapping[str, Measure]
) -> list[Table]:
    reference = find_system(system).paper
    if not reference.correlations:
        return []
    cells = []
    for metric, value in reference.correlations.items():
        here = pearson(
            [row.accuracy.value for row in rows], [row.estimates[metric].value for row in rows],
            unit="agent",
        )  # fmt: skip
        source = f"{reference.name}, {reference.correlations_source}"
        cells.append(
            (
                text_cell(f"Acc with {measures[metric].title}", sub=measures[metric].help),
                estimate_cell(here, "points", signed=True, show_n=True),
                Cell(f"{value:+.3f}", (value, reference.correlations_n, source),
                     sub=f"n = {reference.correlations_n} models"),
            )
        )  # fmt: skip
    columns = (
        text_column("Pair"),
        estimate_column("Here"),
        Column("Published", ("published", "published n", "source")),
    )
    note = "Pearson across agents, with Fisher's interval. Few points: one agent can make it."
    return [Table("correlation", "Accuracy and what agents bring to light", columns,
                  tuple(cells), note)]  # fmt: skip

"""The leaderboard ranks agents by the headline measures of a system, beside published rows."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from analysis.figures.layout.theme import Figure
from analysis.figures.leaderboard import BoardAxis, LeaderboardRow, leaderboard_figure
from analysis.filters import ALL_TASKS
from analysis.filters.selection import ChosenRun, Selection
from analysis.frames.outcomes import outcome_frame
from analysis.frames.sizes import pool_sizes
from analysis.pages.declaration import (
    ColumnOf,
    DeclaredPage,
    FigureOf,
    NothingToShow,
    TableOf,
    UrlOf,
    estimate_of,
    text_of,
)
from analysis.pages.empty import why_no_runs
from analysis.pages.leaderboard.results import Correlation, LeaderboardData, LeaderboardResult
from analysis.pages.leaderboard.rows import (
    ACCURATE,
    BOTH,
    DIFFER,
    EXHAUSTED,
    VALID,
    AgentResult,
    blind_rows,
    published_rows,
    ranked,
    row_of,
)
from analysis.pages.links import Link
from analysis.reports import addresses, figure_specs, run_marks, system_facts
from analysis.reports.content import (
    Cell,
    Column,
    count_cell,
    estimate_cell,
    estimate_column,
    number_cell,
    number_column,
    text_cell,
    text_column,
)
from analysis.reports.formatting import counted, ends, unit_of
from analysis.stats.comparison.extremes import compared_models, find_extreme
from analysis.stats.comparison.model_comparisons import (
    ModelComparisons,
    PairwiseRank,
    compare_models,
)
from analysis.stats.rater_agreement.correlation import pearson
from benchmarks.core.ports.labels import Measure
from benchmarks.core.registry import find_system
from benchmarks.validity.selectors import CertifiedValidity


def load(selection: Selection) -> LeaderboardData | NothingToShow:
    """Load what the trajectories of the runs came to."""
    labels = find_system(selection.system).labels if selection.system else None
    if labels is None or not selection.runs or not labels.headlines:
        return why_no_runs(selection)
    measures = {**labels.measures, **BOTH}
    return LeaderboardData(
        selection.runs,
        outcome_frame(selection.runs, [*measures, DIFFER]),
        measures,
        tuple(labels.measures),
        labels.headlines[:2],
        system_facts.titles_of(selection.system),
        pool_sizes(selection.runs),
        selection.system,
        selection.agents_here,
        selection.filters.published != "hide",
        selection.certificate,
        selection.filters.tasks == ALL_TASKS,
    )


def compute(data: LeaderboardData) -> LeaderboardResult:
    """Estimate every agent's measures, rank them, and compare the first with the second."""
    rows = ranked(
        [
            replace(
                row_of(run, data.frame, data.measures, data.titles, data.headline),
                pool=data.pools.get(run.pk),
            )
            for run in data.runs
        ]
    )
    # The lead is one difference of all pairs of so many agents.
    pairs = max(1, data.among * (data.among - 1) // 2)
    placed = [row for row in rows if row.rank is not None and row.main.value is not None]
    published = (
        published_rows(data.system, data.measures, data.headline) if data.with_published else []
    )
    found = compare_placed(data, placed)
    extreme = find_extreme({row.label: row.main.value for row in placed}, compared_models(found))
    ranks = {rank.model: rank for rank in found.ranks} if len(placed) > 1 else {}
    blind = []
    if data.certificate is not None:
        levels = {run.level for run in data.runs}
        blind = blind_rows(
            data.certificate, levels, data.measures, data.headline, every=data.every_task
        )
    return LeaderboardResult(
        data, tuple(rows), tuple(blind), tuple(published), pairs, extreme, ranks
    )


def compare_placed(data: LeaderboardData, placed: Sequence[AgentResult]) -> ModelComparisons:
    """Compare all pairs of the agents that have a rank."""
    runs = {row.run.pk for row in placed if row.run is not None}
    frame = data.frame[data.frame["run"].isin(runs)]
    return compare_models(
        frame["label"].tolist(),
        frame["task"].tolist(),
        frame[data.headline[0]].to_numpy(),
        measure=data.main.title,
        among=max(data.among, len(placed)),
        most=data.main.most,
    )


def draw_board(result: LeaderboardResult, url: UrlOf) -> Figure:
    """Draw what agents are ranked by, and the second measure where there is one."""
    rows = result.every_row
    marks = [
        LeaderboardRow(
            row.label,
            row.main,
            row.second,
            "blind" if row.blind else "published" if row.run is None else "run here",
            url(Link(runs=(row.run.pk,))) if row.run is not None else None,
        )
        for row in rows
    ]
    axes = [
        BoardAxis(
            measure.name[:1].upper() + measure.name[1:],
            "share" if measure.in_percent else "points",
            measure.most,
            {"rate": "share of trajectories", "fraction": "mean over trajectories"}.get(
                measure.kind, measure.title
            ),
        )
        for measure in (result.data.main, result.data.second)
        if measure is not None
    ]
    return leaderboard_figure(marks, axes, figure_specs.styles([row.label for row in rows]))


def board_title(result: LeaderboardResult) -> str:
    """Name the measures of the figure."""
    main, second = result.data.main, result.data.second
    names = f"{main.name} and {second.name}" if second is not None else main.name
    return f"{names[:1].upper()}{names[1:]}, with 95 % intervals"


def row_link(row: AgentResult) -> Link | None:
    """Return the trajectories of an agent; published rows have none."""
    return Link(runs=(row.run.pk,)) if row.run is not None else None


def board_columns(result: LeaderboardResult) -> Sequence[ColumnOf[AgentResult]]:
    """Give rank, n, what decides the rank, other measures, and what was left out."""
    data = result.data
    others = [name for name in data.shown if name != data.headline[0]]
    best = next((row.run for row in result.every_row if row.run is not None), None)
    main = data.main
    wald: ColumnOf[AgentResult] = ColumnOf(
        Column(
            "Wald",
            (f"{main.title.lower()} wald low", f"{main.title.lower()} wald high"),
            help="p ± 1.96·sqrt(p(1−p)/n), cut off at 0 and 100 %",
        ),
        _wald,
    )
    columns = [
        ColumnOf(Column("Agent", ("agent", "kind", "run"), num=False), _agent),
        ColumnOf(
            Column(
                "Rank",
                ("rank", "rank low", "rank high"),
                help="1 is best; under it the ranks compatible with all pairwise differences. "
                "Links to the tasks beside those of the first",
            ),
            lambda row: _rank(row, result.ranks.get(row.label)),
            lambda row: _beside(row, best),
        ),
        _n_column(main, data.certificate),
        ColumnOf(
            estimate_column(main.title, help=main.help),
            lambda row: estimate_cell(
                row.main, unit_of(main), url=_successes(row, row.headline[0])
            ),
        ),
        *([wald] if main.kind == "rate" else []),
        *(_measure_column(name, data.measures[name]) for name in others),
    ]
    if any(row.pool is not None for row in result.every_row):
        columns += [
            ColumnOf(
                number_column("Pool", "pool", "Recorded answers per task, on average"),
                lambda row: number_cell(row.pool, "number", reason="this agent has no pool"),
            ),
            ColumnOf(
                number_column(
                    "Ran dry", "pool ran dry", "Trajectories that no answer was left for"
                ),
                _ran_dry,
            ),
        ]
    columns.append(
        ColumnOf(
            Column("Left out", ("left out",), help=f"Trajectories without {main.title}, by reason"),
            lambda row: _left_out(row, row.main.excluded),
        )
    )
    if VALID in data.shown:
        columns.append(
            ColumnOf(
                number_column(
                    "Readings differ",
                    help="Trajectories that would end at another turn under the other early-stop "
                    "rule",
                ),
                _differ,
            )
        )
    return columns


def _n_column(main: Measure, certificate: CertifiedValidity | None) -> ColumnOf[AgentResult]:
    """Give the trajectories that count, with how many tasks are usable, where that is known."""

    def cell(row: AgentResult) -> Cell:
        found = count_cell(row.main.n, url=_counted(row))
        if certificate is None:
            return found
        if row.run is None and not row.blind:
            return replace(found, data=(*found.data, None, None))
        usable, checked = certificate.usable_at(row.run.level if row.run is not None else None)
        sub = f"{usable:,} of {checked:,}" if usable < checked else ""
        return replace(found, data=(*found.data, usable, checked), sub=sub)

    column = number_column("n", "trajectories", f"Trajectories that {main.title} counts")
    if certificate is not None:
        column = replace(
            column,
            parts=("trajectories", "usable", "checked"),
            help=f"{column.help}; under it the usable tasks, where not all are",
        )
    return ColumnOf(column, cell)


def _agent(row: AgentResult) -> Cell:
    return run_marks.agent_cell(row.run) if row.run is not None else _cell_without_run(row)


def _rank(row: AgentResult, found: PairwiseRank | None) -> Cell:
    if row.rank is None:
        return Cell(data=(None, None, None), reason=row.no_rank)
    if found is None or found.low is None or found.high is None:
        return Cell(f"{row.rank}", (row.rank, None, None))
    low, high = found.low, found.high
    sub = f"{low} to {high}" if low != high else f"{low}"
    return Cell(f"{row.rank}", (row.rank, low, high), sub=sub)


def _wald(row: AgentResult) -> Cell:
    wald = row.wald.within(0, 1).interval
    if wald is None:
        return Cell(data=(None, None), reason=row.wald.no_interval or row.wald.undefined)
    return Cell(
        ends(wald, "share").removesuffix(" %"),
        (round(wald.low, 6), round(wald.high, 6)),
        tip="; ".join(row.wald.warnings),
    )


def _measure_column(name: str, measure: Measure) -> ColumnOf[AgentResult]:
    def cell(row: AgentResult) -> Cell:
        estimate = row.estimates[name]
        return estimate_cell(
            estimate,
            unit_of(measure),
            show_n=estimate.value is not None and estimate.n != row.main.n,
            url=_successes(row, VALID) if name == VALID else "",
        )

    return ColumnOf(estimate_column(measure.title, help=measure.help), cell)


def _ran_dry(row: AgentResult) -> Cell:
    dry = row.endings.get(EXHAUSTED) if row.run is None else row.endings.get(EXHAUSTED, 0)
    return count_cell(dry, reason=row.no_rank, url=_link(row, end=EXHAUSTED) if dry else "")


def _link(row: AgentResult, **more: str) -> str:
    return addresses.trajectories_of(row.run, **more) if row.run is not None else ""


def _successes(row: AgentResult, metric: str) -> str:
    """Return the trajectories that a share counts; the list knows two such measures."""
    if row.run is None:
        return ""
    if metric not in (ACCURATE, VALID):
        return addresses.trajectories_of(row.run)
    return addresses.successes(row.run, row.estimates[metric], metric)


def _counted(row: AgentResult) -> str:
    """Return all that the first measure counts, where the list knows it; else all."""
    known = {"accurate": ["yes", "no"]} if row.headline[0] == ACCURATE else {}
    return addresses.trajectories_of(row.run, **known) if row.run is not None else ""


def _beside(row: AgentResult, best: ChosenRun | None) -> Link | None:
    """Return the page where the agent at the top and this one are compared task by task."""
    if row.run is None or best is None:
        return None
    if row.run.pk == best.pk:
        return row_link(row)
    return Link(url=addresses.side_by_side(best, row.run, row.headline[0]))


def _cell_without_run(row: AgentResult) -> Cell:
    kind, badge = (
        ("blind", run_marks.BLIND_BADGE) if row.blind else ("published", run_marks.PUBLISHED_BADGE)
    )
    return Cell(row.label, (row.label, kind, row.source), badges=(replace(badge, why=row.source),))


def _left_out(row: AgentResult, excluded: Mapping[str, int]) -> Cell:
    total = sum(excluded.values())
    if not total:
        none = "0" if row.run is not None else ""
        return Cell(none, (none,))
    words = counted(excluded)
    known = {"accurate": "undefined"} if row.headline[0] == ACCURATE else {}
    return Cell(f"{total:,}", (words,), tip=words, url=_link(row, **known))


def _differ(row: AgentResult) -> Cell:
    return count_cell(
        row.differ, reason=row.no_rank if row.run is None else "not recorded for these runs"
    )


def differing_rows(result: LeaderboardResult) -> list[AgentResult]:
    """Return the agents whose accuracy depends on which dimensions count."""
    return [row for row in result.rows if len({row.estimates[name].value for name in BOTH}) > 1]


def _both_column(name: str, measure: Measure) -> ColumnOf[AgentResult]:
    return estimate_of(
        measure.title,
        lambda row: row.estimates[name],
        "share",
        help=measure.help,
        show_n=True,
    )


def correlations(result: LeaderboardResult) -> list[Correlation]:
    """Return how accuracy goes with what the paper correlates it with."""
    reference = find_system(result.data.system).paper
    rows = result.rows
    return [
        Correlation(
            result.data.main.title,
            result.data.measures[metric],
            pearson(
                [row.main.value for row in rows],
                [row.estimates[metric].value for row in rows],
                unit="agent",
            ),
            published,
            reference,
        )
        for metric, published in reference.correlations.items()
    ]


def _published_correlation(row: Correlation) -> Cell:
    source = f"{row.reference.name}, {row.reference.correlations_source}"
    n = row.reference.correlations_n
    return Cell(
        f"{row.published:+.3f}",
        (row.published, n, source),
        sub=f"n = {n} models",
        source=row.reference.correlations_source,
    )


CONTENT = DeclaredPage(
    load=load,
    compute=compute,
    answers=lambda result: bool(result.defined),
    compared=lambda result: (
        [result.extreme.difference] if result.extreme.difference is not None else [],
        result.points,
    ),
    figure=FigureOf("board", board_title, draw_board),
    table=TableOf(
        "board",
        "Leaderboard",
        rows=lambda result: result.every_row,
        columns=board_columns,
        link=row_link,
    ),
    folded=(
        TableOf(
            "counted",
            "Where it matters which dimensions count",
            rows=differing_rows,
            columns=lambda _: [
                text_of("Agent", lambda row: row.label),
                *(_both_column(name, measure) for name, measure in BOTH.items()),
            ],
            link=row_link,
        ),
        TableOf(
            "correlation",
            "Accuracy and what agents bring to light",
            rows=correlations,
            columns=lambda _: [
                ColumnOf(
                    text_column("Pair"),
                    lambda row: text_cell(
                        f"{row.title} with {row.measure.title}", sub=row.measure.help
                    ),
                ),
                estimate_of("Here", lambda row: row.here, "points", signed=True, show_n=True),
                ColumnOf(
                    Column("Published", ("published", "published n", "source")),
                    _published_correlation,
                ),
            ],
        ),
    ),
)

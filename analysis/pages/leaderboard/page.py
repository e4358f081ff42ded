"""Which agent is better: accuracy and what goes with it, beside the published rows."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from analysis.figures.leaderboard import LeaderboardRow, leaderboard_figure
from analysis.figures.theme import Figure
from analysis.filters.selection import ChosenRun, Selection
from analysis.frames.outcomes import outcome_frame
from analysis.frames.pools import pool_sizes
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
from analysis.pages.leaderboard.rows import (
    ACCURATE,
    BOTH,
    DIFFER,
    EXHAUSTED,
    VALID,
    Row,
    is_recorded,
    over_pairs,
    paired_difference,
    published_rows,
    ranked,
    row_of,
    valid_rate,
)
from analysis.pages.links import Link
from analysis.reports import addresses, figure_specs, run_marks, system_facts
from analysis.reports.content import (
    Cell,
    Column,
    count_cell,
    estimate_cell,
    estimate_column,
    exclusions,
    number_cell,
    number_column,
    text_cell,
    text_column,
)
from analysis.reports.formatting import counted, ends
from analysis.stats.comparison.model_comparisons import PairwiseRank, compare_models
from analysis.stats.rater_agreement.correlation import pearson
from analysis.stats.resampling import FEW_CLUSTERS
from analysis.stats.results import Estimate
from benchmarks.core.labels import Measure
from benchmarks.core.published import PaperStatements
from benchmarks.core.registry import find_system

if TYPE_CHECKING:
    from pandas import DataFrame


@dataclass(frozen=True)
class LeaderboardData:
    """What trajectories came to, and what is known of the runs."""

    runs: tuple[ChosenRun, ...]
    frame: "DataFrame"
    measures: Mapping[str, Measure]
    shown: tuple[str, ...]
    titles: Mapping[str, str]
    pools: Mapping[int, float]
    system: str
    among: int
    with_published: bool


@dataclass(frozen=True)
class Correlation:
    """How accuracy goes with another measure across agents, here and in the paper."""

    measure: Measure
    here: Estimate
    published: float
    reference: PaperStatements


@dataclass(frozen=True)
class LeaderboardResult:
    """The agents from best to worst, the published rows, and the lead of the first."""

    data: LeaderboardData
    rows: tuple[Row, ...]
    published: tuple[Row, ...]
    pairs: int
    ahead: Estimate | None
    ranks: Mapping[str, PairwiseRank]

    @property
    def every_row(self) -> list[Row]:
        return [*self.rows, *self.published]

    @property
    def defined(self) -> list[Row]:
        """The agents whose accuracy is defined."""
        return [row for row in self.rows if row.accuracy.value is not None]

    @property
    def placed(self) -> list[Row]:
        """The agents that have a rank."""
        return [row for row in self.defined if row.rank is not None]

    @property
    def first(self) -> Row | None:
        return next(iter(self.placed or self.defined), None)

    @property
    def second(self) -> Row | None:
        return self.placed[1] if len(self.placed) > 1 else None

    @property
    def least_accurate(self) -> Row:
        return min(self.defined, key=lambda row: row.accuracy.value or 0)

    @property
    def most_accurate(self) -> Row:
        return max(self.defined, key=lambda row: row.accuracy.value or 0)

    @property
    def why_unranked(self) -> str:
        return (self.first.no_rank if self.first is not None else "") or self.rows[-1].no_rank

    @property
    def leaders(self) -> list[str]:
        return [row.label for row in self.placed if row.rank == 1]

    @property
    def leaders_differ_in_n(self) -> bool:
        return len({row.accuracy.n for row in self.placed if row.rank == 1}) > 1

    @property
    def lead_points(self) -> float:
        return 100 * (self.ahead.value or 0) if self.ahead is not None else 0

    @property
    def lead_ends(self) -> tuple[float, float]:
        interval = self.ahead.interval if self.ahead is not None else None
        return (100 * interval.low, 100 * interval.high) if interval is not None else (0, 0)

    @property
    def few_tasks(self) -> int:
        """How many tasks the lead rests on, where these are few."""
        interval = self.ahead.interval if self.ahead is not None else None
        clusters = interval.details["clusters"] if interval is not None and interval.unit else 0
        return clusters if clusters < FEW_CLUSTERS else 0

    @property
    def over_pairs(self) -> str:
        return over_pairs(self.pairs)

    @property
    def why_undefined(self) -> str:
        """Why no accuracy is defined."""
        reasons = exclusions([row.accuracy for row in self.rows])
        return max(reasons, key=lambda reason: reasons[reason], default="nothing was scored")

    @property
    def by_dryness(self) -> list[tuple[int, Row]]:
        """How often the pool of each agent ran dry, where all are recorded and any did."""
        dry = [(row.endings.get(EXHAUSTED, 0), row) for row in self.rows if is_recorded(row)]
        if len(dry) < len(self.rows) or not any(count for count, _ in dry):
            return []
        return sorted(dry, key=lambda pair: pair[0])

    @property
    def valid(self) -> list[Row]:
        """The agents whose share of valid last plans is defined, the lowest first."""
        rows = [row for row in self.rows if VALID in row.estimates]
        return sorted(
            (row for row in rows if row.estimates[VALID].value is not None), key=valid_rate
        )

    @property
    def worst_valid(self) -> Estimate:
        return self.valid[0].estimates[VALID]

    @property
    def best_valid(self) -> Estimate:
        return self.valid[-1].estimates[VALID]

    @property
    def recorded(self) -> list[Row]:
        return [row for row in self.rows if is_recorded(row)]

    @property
    def ran_dry(self) -> int:
        return sum(row.endings.get(EXHAUSTED, 0) for row in self.recorded)

    @property
    def made_otherwise(self) -> list[Row]:
        """The agents without a rank because they were made or judged otherwise."""
        return [row for row in self.rows if row.no_rank.startswith("made or judged")]

    @property
    def made_otherwise_names(self) -> list[str]:
        return [row.label for row in self.made_otherwise]

    @property
    def judged(self) -> bool:
        """Whether judges have a part in the system."""
        return bool(system_facts.judge_roles(self.data.system))

    @property
    def rates(self) -> list[str]:
        return self._titles("rate")

    @property
    def means(self) -> list[str]:
        return self._titles("mean")

    @property
    def left_out(self) -> Mapping[str, int]:
        return exclusions([row.accuracy for row in self.rows])

    def _titles(self, kind: str) -> list[str]:
        measures = (self.data.measures[name] for name in self.data.shown)
        return [measure.title for measure in measures if measure.kind == kind]


def load(selection: Selection) -> LeaderboardData | NothingToShow:
    """Load what the trajectories of the runs came to."""
    shown = tuple(find_system(selection.system).labels.measures) if selection.system else ()
    measures = {**find_system(selection.system).labels.measures, **BOTH}
    if not selection.runs or ACCURATE not in shown:
        return why_no_runs(selection)
    return LeaderboardData(
        selection.runs,
        outcome_frame(selection.runs, [*measures, DIFFER]),
        measures,
        shown,
        system_facts.titles_of(selection.system),
        pool_sizes(selection.runs),
        selection.system,
        selection.agents_here,
        selection.filters.published != "hide",
    )


def compute(data: LeaderboardData) -> LeaderboardResult:
    """Estimate every agent's measures, rank them, and compare the first with the second."""
    rows = ranked(
        [
            replace(
                row_of(run, data.frame, data.measures, data.titles), pool=data.pools.get(run.pk)
            )
            for run in data.runs
        ]
    )
    # The lead is one difference of all pairs of so many agents.
    pairs = max(1, data.among * (data.among - 1) // 2)
    placed = [row for row in rows if row.rank is not None and row.accuracy.value is not None]
    ahead = None
    if len(placed) > 1:
        ahead = paired_difference(data.frame, placed[0].run, placed[1].run, comparisons=pairs)
    published = published_rows(data.system, data.measures) if data.with_published else []
    return LeaderboardResult(
        data, tuple(rows), tuple(published), pairs, ahead, rank_intervals(data, placed)
    )


def rank_intervals(data: LeaderboardData, placed: Sequence[Row]) -> dict[str, PairwiseRank]:
    """Return the ranks that the differences of all pairs leave to each agent that has one."""
    if len(placed) < 2:
        return {}
    runs = {row.run.pk for row in placed if row.run is not None}
    frame = data.frame[data.frame["run"].isin(runs)]
    found = compare_models(
        frame["label"].tolist(),
        frame["task"].tolist(),
        frame[ACCURATE].to_numpy(),
        measure=data.measures[ACCURATE].title,
        among=max(data.among, len(placed)),
    )
    return {rank.model: rank for rank in found.ranks}


def draw_board(result: LeaderboardResult, url: UrlOf) -> Figure:
    """Draw every agent's accuracy, and the share of valid plans where there is one."""
    rows = result.every_row
    marks = [
        LeaderboardRow(
            row.label,
            row.accuracy,
            row.estimates.get(VALID),
            row.run is None,
            url(Link(runs=(row.run.pk,))) if row.run is not None else None,
        )
        for row in rows
    ]
    return leaderboard_figure(marks, figure_specs.styles([row.label for row in rows]))


def board_title(result: LeaderboardResult) -> str:
    """Name the measures of the figure."""
    both = any(VALID in row.estimates for row in result.every_row)
    return f"Accuracy{' and valid plan rate' if both else ''}, with 95 % Wilson intervals"


def row_link(row: Row) -> Link | None:
    """Return the trajectories of an agent; published rows have none."""
    return Link(runs=(row.run.pk,)) if row.run is not None else None


def board_columns(result: LeaderboardResult) -> Sequence[ColumnOf[Row]]:
    """Give rank, n, accuracy with both intervals, other measures, and what was left out."""
    data = result.data
    others = [name for name in data.shown if name != ACCURATE]
    best = next((row.run for row in result.every_row if row.run is not None), None)
    columns = [
        ColumnOf(Column("Agent", ("agent", "kind", "run"), num=False), _agent),
        ColumnOf(
            Column(
                "Rank",
                ("rank", "rank low", "rank high"),
                help="1 is best; under it the ranks that all pairs leave, which hold together. "
                "Leads to the tasks beside those of the first",
            ),
            lambda row: _rank(row, result.ranks.get(row.label)),
            lambda row: _beside(row, best),
        ),
        ColumnOf(
            number_column("n", "trajectories", "Trajectories that Acc counts"),
            lambda row: count_cell(row.accuracy.n, url=_counted(row)),
        ),
        ColumnOf(
            estimate_column("Acc", help=data.measures[ACCURATE].help),
            lambda row: estimate_cell(row.accuracy, "share", url=_successes(row, ACCURATE)),
        ),
        ColumnOf(
            Column(
                "Wald",
                ("acc wald low", "acc wald high"),
                help="p ± 1.96·sqrt(p(1−p)/n), cut off at 0 and 100 %",
            ),
            _wald,
        ),
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
            Column("Left out", ("left out",), help="Trajectories without Acc, by reason"),
            lambda row: _left_out(row, row.accuracy.excluded),
        )
    )
    if VALID in data.shown:
        columns.append(
            ColumnOf(
                number_column(
                    "Readings differ",
                    help="Trajectories that the two readings of the early stop end at different "
                    "turns",
                ),
                _differ,
            )
        )
    return columns


def _agent(row: Row) -> Cell:
    return run_marks.agent_cell(row.run) if row.run is not None else _published_cell(row)


def _rank(row: Row, found: PairwiseRank | None) -> Cell:
    if row.rank is None:
        return Cell(data=(None, None, None), reason=row.no_rank)
    if found is None or found.low is None or found.high is None:
        return Cell(f"{row.rank}", (row.rank, None, None))
    low, high = found.low, found.high
    sub = f"{low} to {high}" if low != high else f"{low}"
    return Cell(f"{row.rank}", (row.rank, low, high), sub=sub)


def _wald(row: Row) -> Cell:
    wald = row.wald.within(0, 1).interval
    if wald is None:
        return Cell(data=(None, None), reason=row.wald.no_interval or row.wald.undefined)
    return Cell(
        ends(wald, "share").removesuffix(" %"),
        (round(wald.low, 6), round(wald.high, 6)),
        tip="; ".join(row.wald.warnings),
    )


def _measure_column(name: str, measure: Measure) -> ColumnOf[Row]:
    def cell(row: Row) -> Cell:
        estimate = row.estimates[name]
        return estimate_cell(
            estimate,
            "share" if measure.kind == "rate" else "number",
            show_n=estimate.value is not None and estimate.n != row.accuracy.n,
            url=_successes(row, VALID) if name == VALID else "",
        )

    return ColumnOf(estimate_column(measure.title, help=measure.help), cell)


def _ran_dry(row: Row) -> Cell:
    dry = row.endings.get(EXHAUSTED) if row.run is None else row.endings.get(EXHAUSTED, 0)
    return count_cell(dry, reason="published", url=_link(row, end=EXHAUSTED) if dry else "")


def _link(row: Row, **more: str) -> str:
    return addresses.trajectories_of(row.run, **more) if row.run is not None else ""


def _successes(row: Row, metric: str) -> str:
    if row.run is None:
        return ""
    return addresses.successes(row.run, row.estimates[metric], metric)


def _counted(row: Row) -> str:
    """All that accuracy counts: those that have one."""
    return addresses.trajectories_of(row.run, accurate=["yes", "no"]) if row.run is not None else ""


def _beside(row: Row, best: ChosenRun | None) -> Link | None:
    """The page where the agent at the top and this one are compared task by task."""
    if row.run is None or best is None:
        return None
    if row.run.pk == best.pk:
        return row_link(row)
    return Link(url=addresses.side_by_side(best, row.run, ACCURATE))


def _published_cell(row: Row) -> Cell:
    return Cell(
        row.label,
        (row.label, "published", row.source),
        badges=(replace(run_marks.PUBLISHED_BADGE, why=row.source),),
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


def differing_rows(result: LeaderboardResult) -> list[Row]:
    """Return the agents whose accuracy depends on which dimensions count."""
    return [row for row in result.rows if len({row.estimates[name].value for name in BOTH}) > 1]


def _both_column(name: str, measure: Measure) -> ColumnOf[Row]:
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
            result.data.measures[metric],
            pearson(
                [row.accuracy.value for row in rows],
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
    return Cell(f"{row.published:+.3f}", (row.published, n, source), sub=f"n = {n} models")


CONTENT = DeclaredPage(
    load=load,
    compute=compute,
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
                    lambda row: text_cell(f"Acc with {row.measure.title}", sub=row.measure.help),
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

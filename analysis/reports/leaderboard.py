"""Which agent is better: accuracy and what goes with it, beside the published rows."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from analysis.figures.leaderboard import LeaderboardRow, leaderboard_figure
from analysis.frames.outcomes import outcome_frame, unfinished, why_undefined
from analysis.frames.pools import pool_sizes
from analysis.reports import common
from analysis.reports.parts import (
    PUBLISHED,
    Cell,
    Column,
    FigureSpec,
    Notice,
    Report,
    Table,
    count_cell,
    estimate_cell,
    estimate_column,
    exclusions,
    number_cell,
    number_column,
    text_cell,
    text_column,
)
from analysis.reports.references import reference_of
from analysis.reports.words import counted, ends, listed, number, plural, stated
from analysis.selection import ChosenRun, Selection
from analysis.stats.correlation import pearson
from analysis.stats.means import mean_by_cluster, mean_t
from analysis.stats.proportions import Method, published_share, share
from analysis.stats.results import Estimate
from analysis.stats.thresholds import rank_order
from benchmarks.core.registry import get_system
from benchmarks.core.words import Measure, measures_of

if TYPE_CHECKING:
    from pandas import DataFrame

PURPOSE = "The leaderboard compares agents by how often their last plan is valid and good enough."
SEED = 20250101
ACCURATE, VALID = "accurate", "valid"
# Accuracy with other dimensions counted than the run counts.
BOTH: Mapping[str, Measure] = {
    "accurate_all": Measure("Acc, all dimensions", "All rubric dimensions count.", "rate"),
    "accurate_main": Measure("Acc, main dimensions", "Only the main dimensions count.", "rate"),
}
DIFFER = "readings_differ"
EXHAUSTED = "pool_exhausted"
UNEQUAL_POOLS = "recorded answers: authors whose pools differ in size are not ranked"


@dataclass(frozen=True)
class Row:
    """One agent, or one published model: its estimates by metric, Acc also with Wald's interval."""

    label: str
    estimates: Mapping[str, Estimate]
    wald: Estimate
    run: ChosenRun | None = None
    source: str = ""
    endings: Mapping[str, int] = field(default_factory=dict)
    differ: int | None = None
    pool: float | None = None
    rank: int | None = None
    no_rank: str = ""

    @property
    def accuracy(self) -> Estimate:
        return self.estimates[ACCURATE]


def leaderboard_report(selection: Selection) -> Report:
    """Everything on the leaderboard's page."""
    shown = list(measures_of(selection.system)) if selection.system else []
    measures = {**measures_of(selection.system), **BOTH}
    if not selection.runs or ACCURATE not in shown:
        return Report(empty=common.no_runs(PURPOSE, selection))
    frame = outcome_frame(selection.runs, [*measures, DIFFER])
    titles = common.titles_of(selection.system)
    pools = pool_sizes(selection.runs)
    rows = ranked(
        [
            replace(_row(run, frame, measures, titles), pool=pools.get(run.pk))
            for run in selection.runs
        ]
    )
    published = []
    if selection.filters.published != "hide":
        published = _published_rows(selection.system, measures)
    board = _table([*rows, *published], measures, shown)
    tables = [board, *_both_table(rows), *_correlations(rows, selection.system, measures)]
    figure = _figure([*rows, *published])
    return Report(
        sentence=sentence(rows, frame),
        figures=(figure,),
        tables=tuple(tables),
        notices=(*common.selection_notices(selection), *_notices(rows)),
        how=(*common.how_runs(selection), *_how(rows, shown, measures)),
    )


def _row(
    run: ChosenRun,
    frame: "DataFrame",
    measures: Mapping[str, Measure],
    titles: Mapping[str, str],
) -> Row:
    mine = frame[frame["run"] == run.pk]
    missing = unfinished(run)

    def excluded(metric: str) -> dict[str, int]:
        total = Counter(missing)
        for why, count in why_undefined(mine, metric).items():
            total[common.in_words(why, titles)] += count
        return dict(total.most_common())

    estimates = {}
    for metric, measure in measures.items():
        values = mine[metric].dropna()
        if measure.kind == "rate":
            estimates[metric] = _share(values, excluded(metric), "wilson")
        else:
            estimates[metric] = mean_t(values.to_numpy(), excluded=excluded(metric))
    accurate = mine[ACCURATE].dropna()
    known = mine[DIFFER].dropna()
    return Row(
        run.label,
        estimates,
        _share(accurate, excluded(ACCURATE), "wald"),
        run=run,
        endings=dict(Counter(str(code) for code in mine["termination"])),
        differ=int(known.sum()) if len(known) else None,
    )


def _share(values: Any, excluded: Mapping[str, int], method: Method) -> Estimate:
    if len(values) == 0 and excluded:
        return Estimate.without_value(next(iter(excluded)), excluded=excluded)
    return share(int(values.sum()), len(values), method=method, excluded=excluded)


def _published_rows(system: str, measures: Mapping[str, Measure]) -> list[Row]:
    """The models of the paper: every metric that it gives, shares with the interval of their n."""
    found: dict[str, dict[str, Any]] = {}
    for entry in get_system(system).published:
        if entry.metric in measures:
            found.setdefault(entry.model, {})[entry.metric] = entry
    rows = []
    for model, entries in found.items():
        if ACCURATE not in entries:
            continue
        estimates = {name: _published(entries.get(name), measures[name].kind) for name in measures}
        first = entries[ACCURATE]
        wald = _published(first, "rate", method="wald")
        rows.append(
            Row(model, estimates, wald, source=f"{first.source}; {first.note}", no_rank="published")
        )
    return sorted(rows, key=lambda row: -(row.accuracy.value or 0))


def _published(entry: Any, kind: str, method: Method = "wilson") -> Estimate:
    if entry is None:
        return Estimate.without_value("not published")
    if kind == "rate":
        if not entry.n:
            return Estimate(entry.value / 100, 0, no_interval="published without n")
        return published_share(entry.value / 100, entry.n, method=method)
    return Estimate(entry.value, entry.n or 0, no_interval=PUBLISHED)


def signature(run: ChosenRun) -> tuple[str, ...]:
    """What must be alike for two runs to be ranked against each other."""
    others = {name: fillers for name, fillers in run.roles.items() if name != "agent"}
    return (repr(sorted(run.settings.items())), repr(sorted(others.items())), repr(run.pins),
            str(run.total))  # fmt: skip


def ranked(rows: Sequence[Row]) -> list[Row]:
    """Rows from best to worst; ranks only among those that were made and judged alike.

    Recorded agents are never ranked, because their pools differ in size; nor are unfinished runs.
    Equal values share the better rank.
    """
    signatures = Counter(
        signature(row.run) for row in rows if row.run is not None and not _unranked(row)
    )
    usual = signatures.most_common(1)[0][0] if signatures else ()
    reasons = []
    for row in rows:
        why = _unranked(row)
        if not why and row.run is not None and signature(row.run) != usual:
            why = "made or judged otherwise than most runs here (settings, judges, versions, tasks)"
        reasons.append(why)
    values = [None if why else row.accuracy.value for row, why in zip(rows, reasons, strict=True)]
    placed = [
        replace(row, rank=rank, no_rank=why or ("accuracy is undefined" if rank is None else ""))
        for row, rank, why in zip(rows, rank_order(values), reasons, strict=True)
    ]
    return sorted(
        placed,
        key=lambda row: (row.rank is None, -(row.accuracy.value or 0), -_valid(row), row.label),
    )


def _unranked(row: Row) -> str:
    if row.run is None:
        return "published"
    if row.run.agent_kind == "recorded":
        return UNEQUAL_POOLS
    if not row.run.finished:
        return f"the run is not finished: {row.run.done} of {row.run.total} trajectories"
    return ""


def _valid(row: Row) -> float:
    return row.estimates[VALID].value or 0.0


def sentence(rows: Sequence[Row], frame: "DataFrame") -> str:
    """The answer: who leads by how much, or why nobody can be said to."""
    defined = [row for row in rows if row.accuracy.value is not None]
    if not defined:
        return _without_accuracy(rows)
    placed = [row for row in defined if row.rank is not None]
    first = (placed or defined)[0]
    said = f"{_percent(first.accuracy)} of {plural(first.accuracy.n, 'trajectory', 'trajectories')}"
    if len(defined) == 1:
        return (
            f"{first.label} is accurate on {said}{_interval(first.accuracy)}; no other agent "
            "is here to compare it with."
        )
    if len(placed) < 2:
        last = min(defined, key=lambda row: row.accuracy.value or 0)
        best = max(defined, key=lambda row: row.accuracy.value or 0)
        return (
            f"Accuracy lies between {_percent(last.accuracy)} ({last.label}) and "
            f"{_percent(best.accuracy)} ({best.label}), but these agents cannot be ranked: "
            f"{(first.no_rank or rows[-1].no_rank)}."
        )
    leaders = [row for row in placed if row.rank == 1]
    if len(leaders) > 1:
        names = listed([row.label for row in leaders])
        return f"{names} lead together: each is accurate on {said}{_interval(first.accuracy)}."
    second = placed[1]
    lead = f"{first.label} leads: accurate on {said}{_interval(first.accuracy)}"
    return f"{lead}, {_difference(first, second, frame)}."


def _difference(first: Row, second: Row, frame: "DataFrame") -> str:
    """How far the first is ahead, on the tasks that both finished."""
    ahead = paired_difference(frame, first.run, second.run)
    if ahead.value is None:
        return f"ahead of {second.label}, with which it shares no task"
    points = f"{number(100 * ahead.value, 'number').removesuffix('.00')} points"
    text = f"{points} ahead of {second.label}"
    if ahead.interval is None:
        return f"{text} on {plural(ahead.n, 'task')}"
    low, high = 100 * ahead.interval.low, 100 * ahead.interval.high
    text += (
        f" (95 % interval {number(low, 'number')} to {number(high, 'number')}, paired by task, "
        f"n = {ahead.n} tasks)"
    )
    return text if low > 0 else f"{text}, which chance alone could explain"


def paired_difference(
    frame: "DataFrame", first: ChosenRun | None, second: ChosenRun | None
) -> Estimate:
    """Difference in accuracy on the tasks that both have, with a bootstrap over tasks."""
    if first is None or second is None:
        return Estimate.without_value("published rows have no tasks here")
    kept = frame[frame["run"].isin([first.pk, second.pk])]
    table = kept.pivot_table(index="task", columns="run", values=ACCURATE, aggfunc="mean").dropna()
    if table.empty or first.pk not in table or second.pk not in table:
        return Estimate.without_value("no task in common")
    difference = (table[first.pk] - table[second.pk]).to_numpy()
    return mean_by_cluster(difference, table.index.tolist(), seed=SEED)


def _without_accuracy(rows: Sequence[Row]) -> str:
    """Why accuracy is undefined, and what can be said instead."""
    reasons = exclusions([row.accuracy for row in rows])
    why = max(reasons, key=lambda reason: reasons[reason], default="nothing was scored")
    text = f"Accuracy is undefined for every agent here: {why}."
    dry = [(row.endings.get(EXHAUSTED, 0), row) for row in rows if _is_recorded(row)]
    if len(dry) == len(rows) and any(count for count, _ in dry):
        (least, first), (most, last) = (
            min(dry, key=lambda pair: pair[0]), max(dry, key=lambda pair: pair[0]),
        )  # fmt: skip
        spread = f"{least} ({first.label}) to {most} ({last.label})" if most > least else f"{most}"
        return (
            f"{text} The pool of recorded answers ran dry in {spread} of "
            f"{plural(last.run.done if last.run else 0, 'trajectory', 'trajectories')}."
        )
    valid = [row for row in rows if row.estimates[VALID].value is not None]
    if not valid:
        return text
    best, worst = max(valid, key=_valid), min(valid, key=_valid)
    if _valid(best) == _valid(worst):
        of = f"{best.label}'s" if len(valid) == 1 else "each agent's"
        estimate = best.estimates[VALID]
        return f"{text} Of {of} last plans {_percent(estimate)} are valid{_interval(estimate)}."
    return (
        f"{text} The share of valid last plans lies between {_percent(worst.estimates[VALID])} "
        f"({worst.label}) and {_percent(best.estimates[VALID])} ({best.label})."
    )


def _is_recorded(row: Row) -> bool:
    return row.run is not None and row.run.agent_kind == "recorded"


def _percent(estimate: Estimate) -> str:
    return number(estimate.value or 0.0, "share")


def _interval(estimate: Estimate) -> str:
    if estimate.interval is None:
        return ""
    return f" (95 % {estimate.interval.method.title()} interval {ends(estimate.interval, 'share')})"


def _figure(rows: Sequence[Row]) -> FigureSpec:
    marks = [
        LeaderboardRow(
            row.label, row.accuracy, row.estimates[VALID], row.run is None, _link(row) or None
        )
        for row in rows
    ]
    figure = leaderboard_figure(marks, common.styles([row.label for row in rows]))
    some_published = any(row.run is None for row in rows)
    return common.figure_spec(
        "board",
        "Accuracy and valid plan rate, with 95 % Wilson intervals",
        "Filled: run here. Open, dotted: published." if some_published else f"{len(rows)} agents",
        figure,
    )


def _table(rows: Sequence[Row], measures: Mapping[str, Measure], shown: Sequence[str]) -> Table:
    others = [name for name in shown if name != ACCURATE]
    recorded = any(row.pool is not None for row in rows)
    columns = [
        Column("Agent", ("agent", "kind", "run"), num=False),
        number_column("Rank"),
        number_column("n", "trajectories", "Trajectories that Acc counts"),
        estimate_column("Acc", help=measures[ACCURATE].help),
        Column(
            "Wald", ("acc wald low", "acc wald high"), help="p ± 1.96·sqrt(p(1−p)/n), as published"
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
        number_column(
            "Readings differ",
            help="Trajectories that the two readings of the early stop end at different turns",
        ),
    ]
    return Table(
        "board",
        "Leaderboard",
        tuple(columns),
        tuple(_cells(row, measures, others, recorded) for row in rows),
        note="Under each value its 95 % interval: Wilson for Acc and VPR, t for means. Published "
        "rows: n inferred from the printed percentages, level not stated, means without intervals.",
    )


def _cells(
    row: Row, measures: Mapping[str, Measure], others: Sequence[str], recorded: bool
) -> tuple[Cell, ...]:
    wald, excluded = row.wald.interval, row.accuracy.excluded
    cells = [
        common.agent_cell(row.run) if row.run is not None else _published_cell(row),
        count_cell(row.rank, reason=row.no_rank),
        count_cell(row.accuracy.n),
        estimate_cell(row.accuracy, "share", url=_link(row, accurate="yes")),
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
        url = _link(row, valid="yes") if name == VALID else ""
        cells.append(
            estimate_cell(estimate, "share" if rate else "number", show_n=other_n, url=url)
        )
    if recorded:
        dry = row.endings.get(EXHAUSTED) if row.run is None else row.endings.get(EXHAUSTED, 0)
        cells += [
            number_cell(row.pool, "number", reason="this agent has no pool"),
            count_cell(dry, reason="published", url=_link(row, end=EXHAUSTED) if dry else ""),
        ]
    return (*cells, _left_out(row, excluded), _differ(row))


def _link(row: Row, **more: str) -> str:
    return common.trajectories_of(row.run, **more) if row.run is not None else ""


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


def _both_table(rows: Sequence[Row]) -> list[Table]:
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


def _correlations(rows: Sequence[Row], system: str, measures: Mapping[str, Measure]) -> list[Table]:
    reference = reference_of(system)
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


def _notices(rows: Sequence[Row]) -> list[Notice]:
    found = []
    recorded = [row for row in rows if _is_recorded(row)]
    if recorded:
        dry = sum(row.endings.get(EXHAUSTED, 0) for row in recorded)
        found.append(
            Notice(
                "Recorded agents have no rank: the authors' pools of answers differ in size, and a "
                f"larger pool lasts longer. {plural(dry, 'trajectory', 'trajectories')} ended "
                "because the pool ran dry and are outside Acc and VPR, so VPR is high by "
                "construction: compare how often the pool ran dry, beside its size."
            )
        )
    others = [row for row in rows if row.no_rank.startswith("made or judged")]
    if others:
        names = listed([row.label for row in others])
        found.append(Notice(f"Not ranked, because {others[0].no_rank}: {names}."))
    return found


def _how(rows: Sequence[Row], shown: Sequence[str], measures: Mapping[str, Measure]) -> list[str]:
    rates = [measures[name].title for name in shown if measures[name].kind == "rate"]
    means = [measures[name].title for name in shown if measures[name].kind == "mean"]
    lines = [
        f"{listed(rates)}: shares with 95 % Wilson intervals; beside Acc the Wald interval as "
        "published, not clipped.",
        f"{listed(means, most=9)}: arithmetic means with 95 % t intervals.",
        f"The lead is a paired difference on common tasks: bootstrap over tasks, 2,000 resamples, "
        f"seed {SEED}.",
    ]
    left = exclusions([row.accuracy for row in rows])
    lines.append(f"Left out of Acc: {counted(left)}." if left else "Nothing is left out of Acc.")
    return lines


__all__ = ["leaderboard_report", "paired_difference", "ranked", "sentence", "stated"]

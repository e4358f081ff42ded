"""Which agent is better: accuracy and what goes with it, beside the published rows."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from analysis.figures.leaderboard import LeaderboardRow, leaderboard_figure
from analysis.figures.theme import figure_json
from analysis.frames.outcomes import outcome_frame, unfinished, why_undefined
from analysis.reports import common
from analysis.reports.parts import (
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
BOTH = ("accurate_all", "accurate_main")
DIFFER = "readings_differ"
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
    rank: int | None = None
    no_rank: str = ""

    @property
    def accuracy(self) -> Estimate:
        return self.estimates[ACCURATE]


def leaderboard_report(selection: Selection) -> Report:
    """Everything on the leaderboard's page."""
    measures = measures_of(selection.system) if selection.system else {}
    if not selection.runs or ACCURATE not in measures:
        return Report(empty=common.no_runs(PURPOSE, selection))
    frame = outcome_frame(selection.runs, [*measures, DIFFER])
    titles = common.titles_of(selection.system)
    rows = ranked([_row(run, frame, measures, titles) for run in selection.runs])
    published = []
    if selection.filters.published != "hide":
        published = _published_rows(selection.system, measures)
    shown = _shown(measures)
    board = _table([*rows, *published], measures, shown)
    tables = [board, *_both_table(rows, measures), *_correlations(rows, selection.system, measures)]
    figure = _figure([*rows, *published], selection)
    return Report(
        sentence=sentence(rows, frame),
        figures=(figure,),
        tables=tuple(tables),
        notices=(*common.selection_notices(selection), *_notices(rows)),
        how=(*common.how_runs(selection), *_how(rows, shown, measures)),
    )


def _shown(measures: Mapping[str, Measure]) -> list[str]:
    return [name for name in measures if name not in BOTH]


def _row(
    run: ChosenRun,
    frame: "DataFrame",
    measures: Mapping[str, Measure],
    titles: Mapping[str, str],
) -> Row:
    mine = frame[frame["run"] == run.pk]
    missing = unfinished(run)

    def excluded(metric: str) -> dict[str, int]:
        reasons = why_undefined(mine, metric)
        return {common.in_words(why, titles): n for why, n in reasons.items()} | missing

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
        reasons = listed([f"{why} ({n})" for why, n in excluded.items()])
        return Estimate.without_value(reasons, excluded=excluded)
    return share(int(values.sum()), len(values), method=method, excluded=excluded)


def _published_rows(system: str, measures: Mapping[str, Measure]) -> list[Row]:
    """The paper's models: every metric that it gives, shares with the interval that n gives them."""
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
    return Estimate(entry.value, entry.n or 0, no_interval="published without an interval")


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
        Row(
            row.label, row.estimates, row.wald, row.run, row.source, row.endings, row.differ,
            rank, why or ("accuracy is undefined" if rank is None else ""),
        )
        for row, rank, why in zip(rows, rank_order(values), reasons, strict=True)
    ]  # fmt: skip
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
        return f"{first.label} is accurate on {said}{_interval(first.accuracy)}; no other agent is here to compare it with."
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
    reasons = exclusions([row.accuracy for row in rows])
    why = max(reasons, key=lambda reason: reasons[reason], default="nothing was scored")
    text = f"Accuracy is undefined for every agent here: {why}."
    valid = [row for row in rows if row.estimates[VALID].value is not None]
    if not valid:
        return text
    best = max(valid, key=_valid)
    estimate = best.estimates[VALID]
    if len(valid) == 1:
        return f"{text} Of {best.label}'s last plans {_percent(estimate)} are valid{_interval(estimate)}."
    worst = min(valid, key=_valid)
    return (
        f"{text} The share of valid last plans lies between {_percent(worst.estimates[VALID])} "
        f"({worst.label}) and {_percent(estimate)} ({best.label})."
    )


def _percent(estimate: Estimate) -> str:
    return number(estimate.value or 0.0, "share")


def _interval(estimate: Estimate) -> str:
    if estimate.interval is None:
        return ""
    return f" (95 % {estimate.interval.method.title()} interval {ends(estimate.interval, 'share')})"


def _figure(rows: Sequence[Row], selection: Selection) -> FigureSpec:
    marks = [
        LeaderboardRow(row.label, row.accuracy, row.estimates[VALID], row.run is None)
        for row in rows
    ]
    figure = leaderboard_figure(marks, common.styles([row.label for row in rows]))
    links = {row.label: common.trajectories_of(row.run) for row in rows if row.run is not None}
    return FigureSpec(
        "board",
        "Accuracy and valid plan rate, with 95 % Wilson intervals",
        "Filled: run here. Open, dotted: published."
        if any(row.run is None for row in rows)
        else f"{len(rows)} agents",
        figure_json(common.linked(figure, links)),
        figure["layout"]["height"],
    )


def _table(rows: Sequence[Row], measures: Mapping[str, Measure], shown: Sequence[str]) -> Table:
    columns = [
        Column("Agent", ("agent", "kind", "run"), num=False),
        number_column("Rank"),
        estimate_column("Acc", help=measures[ACCURATE].help),
        Column("Wald, as published", ("acc wald low", "acc wald high"),
               help="p ± 1.96·sqrt(p(1−p)/n), not clipped"),
        *(estimate_column(measures[name].title, help=measures[name].help)
          for name in shown if name != ACCURATE),
        text_column("Left out", "left out", "Trajectories without Acc, by reason"),
        number_column("Readings differ", help="Trajectories that the two readings of "
                      "the early stop would end at different turns"),
    ]  # fmt: skip
    return Table(
        "board",
        "Leaderboard",
        tuple(columns),
        tuple(_cells(row, measures, shown) for row in rows),
        note="Acc and VPR with 95 % Wilson intervals; means with 95 % t intervals on focus.",
    )


def _cells(row: Row, measures: Mapping[str, Measure], shown: Sequence[str]) -> tuple[Cell, ...]:
    run = row.run
    rank = count_cell(row.rank, reason=row.no_rank)
    if run is None:
        name = Cell(row.label, (row.label, "published", row.source), sub=row.source,
                    badges=(common.PUBLISHED_BADGE,))  # fmt: skip
    else:
        name = Cell(row.label, (row.label, run.agent_kind, f"run {run.pk}"),
                    url=common.trajectories_of(run), badges=common.agent_badges(run))  # fmt: skip
    wald = row.wald.interval
    excluded = row.accuracy.excluded
    left_out = sum(excluded.values())
    return (
        name,
        rank,
        estimate_cell(row.accuracy, "share", show_n=True),
        Cell(ends(wald, "share"), (round(wald.low, 6), round(wald.high, 6)),
             tip="; ".join(row.wald.warnings))
        if wald else Cell(data=(None, None), reason=row.wald.no_interval or row.wald.undefined),
        *(estimate_cell(row.estimates[name_], "share" if measures[name_].kind == "rate"
                        else "number", show_n=row.estimates[name_].n != row.accuracy.n)
          for name_ in shown if name_ != ACCURATE),
        Cell(str(left_out), (counted(excluded),), sub=counted(excluded)) if left_out
        else Cell("none" if run is not None else "", ("",)),
        count_cell(row.differ, reason="not published" if run is None else "not recorded"),
    )  # fmt: skip


def _both_table(rows: Sequence[Row], measures: Mapping[str, Measure]) -> list[Table]:
    """Acc with all dimensions and with the main four, where the two differ."""
    if not set(BOTH) <= set(measures):
        return []
    differing = [
        row for row in rows
        if row.estimates[BOTH[0]].value != row.estimates[BOTH[1]].value
    ]  # fmt: skip
    if not differing:
        return []
    columns = (
        text_column("Agent"),
        *(estimate_column(measures[name].title, help=measures[name].help) for name in BOTH),
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
    recorded = [row for row in rows if row.run is not None and row.run.agent_kind == "recorded"]
    if recorded:
        dry = sum(row.endings.get("pool_exhausted", 0) for row in recorded)
        found.append(
            Notice(
                "Recorded agents have no rank: the authors' pools of answers differ in size, and a "
                f"larger pool lasts longer. {plural(dry, 'trajectory', 'trajectories')} ended "
                "because the pool ran dry; they are outside Acc and VPR."
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

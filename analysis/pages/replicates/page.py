"""The results of an experiment: each measure in every cell, and its spread across replicates."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import NamedTuple, Protocol

from analysis.filters import USABLE
from analysis.frames.outcomes import ReplicateColumns, played
from analysis.kit.columns import Column
from analysis.kit.page import Sheet, report_of
from analysis.reports import addresses, content, run_marks
from analysis.reports.content import Cell, Empty, Report, how_interval, rounded, text_column
from analysis.reports.extremes import standing
from analysis.reports.formatting import Unit, counted, ends, listed, number, plural, unit_of
from analysis.stats.comparison.extremes import find_extreme, paired_groups
from analysis.stats.descriptive.trials import ReplicatedMean, replicated_mean
from benchmarks.core.conditions import STANDARD
from benchmarks.core.ports.labels import Measure
from benchmarks.core.ports.published import Published
from benchmarks.core.registry import find_system, get_system
from benchmarks.mappers import run_condition
from benchmarks.models import Run

ACCURATE = "accurate"


class SeedGroup(Protocol):
    """Runs that differ in their seed alone."""

    @property
    def title(self) -> str: ...

    @property
    def level(self) -> str: ...

    @property
    def condition(self) -> str: ...

    @property
    def runs(self) -> tuple[Run, ...]: ...


@dataclass(frozen=True)
class AgentReplicates:
    """Runs of one agent that differ in their seed alone."""

    title: str
    level: str
    condition: str
    runs: tuple[Run, ...]


class ReplicateRow(NamedTuple):
    """A cell of the matrix without its seed, and its figures by measure."""

    group: SeedGroup
    figures: Mapping[str, ReplicatedMean]
    columns: ReplicateColumns


class PublishedModel(NamedTuple):
    """The published figures of a model, by metric."""

    model: str
    by: Mapping[str, Published]


Row = ReplicateRow | PublishedModel


def replicates_report(
    groups: Sequence[SeedGroup], system: str, *, published: bool = False
) -> Report:
    """Return the table of all cells; ``groups`` are those of one experiment on one system.

    ``published``: the paper's rows stand under them.
    """
    measures = find_system(system).labels.measures
    rows = _rows(groups, measures)
    if not any(figure.pooled.n for row in rows for figure in row.figures.values()):
        text = "Results appear here when the runs have ended. Reload the page for results so far."
        return Report(empty=Empty("No results yet", text))
    paper = _published(system) if published else []
    return report_of(partial(_content, rows=rows, measures=measures, published=paper))


def _content(
    sheet: Sheet,
    rows: list[ReplicateRow],
    measures: Mapping[str, Measure],
    published: list[PublishedModel],
) -> Iterator[None]:
    """State how the agents compare by the first measure, and list every cell."""
    metric, first = next(iter(measures.items()))
    standings = _standings(rows, metric, first)
    if standings:
        sheet.answer(f"{first.title}: {'; '.join(standings)}.")
    else:
        sheet.answer(f"{first.title} is undefined in every cell so far.")
    table_rows: list[Row] = [*rows, *published]
    sheet.table(
        "replicates",
        "Mean and spread across replicates",
        table_rows,
        _columns(measures),
        link=lambda _: None,
        note="Mean of the runs ± sample standard deviation. Under it the range of the runs, the "
        "95 % interval of all their trajectories pooled, over tasks, and how many these are.",
    )
    yield
    intervals = how_interval([figure.pooled for row in rows for figure in row.figures.values()])
    single = [_name(row.group) for row in rows if len(row.group.runs) < 2]
    unusable = sum(row.columns.unusable for row in rows)
    left: Counter[str] = Counter()
    for row in rows:
        left.update(row.columns.open)
    sheet.how(
        "Across replicates each run counts once: the mean of the runs’ figures, their sample "
        "standard deviation (n − 1; of shares in percentage points) and their range. It takes two "
        "runs.",
        f"Pooled: the mean over all trajectories of these runs; {intervals}. Runs share their "
        "tasks, so with several runs tasks are taken as independent.",
        "Agents are compared at the same level and condition, paired by task; their intervals hold "
        "together over all pairs (Bonferroni).",
        "The spread across runs is about chance in the same tasks, the interval about other tasks "
        "like these: neither holds the other.",
        "Metrics are those of each run’s primary judging.",
        f"One run alone has no spread: {listed(single)}." if single else "",
        f"Left out: {plural(unusable, 'trajectory', 'trajectories')} on tasks that their own "
        "reference does not solve."
        if unusable
        else "",
        f"Not ended: {counted(left)}." if left else "Every trajectory has ended.",
    )
    runs = [len(row.group.runs) for row in rows]
    fewest, most = min(runs), max(runs)
    times = f"{fewest} to {most}" if most > fewest else f"{fewest}"
    titles = listed([measure.title for measure in measures.values()], most=99)
    sheet.methods(
        f"Each cell was run {times} times with different seeds; {titles} are given as mean and "
        "sample standard deviation across runs."
        if most > 1
        else f"Each cell was run once; {titles} are given as that run has them."
    )


def _standings(rows: Sequence[ReplicateRow], metric: str, measure: Measure) -> list[str]:
    """Return how agents compare by a measure, for each level and condition apart.

    Agents are compared on the tasks of their runs; the family is all pairs of agents in all of
    these settings.
    """
    settings: dict[str, list[ReplicateRow]] = {}
    for row in rows:
        setting = ", ".join(filter(None, [row.group.level, _condition(row.group)]))
        settings.setdefault(setting, []).append(row)
    pairs = sum(len(group) * (len(group) - 1) // 2 for group in settings.values())
    standings = []
    for setting, group in settings.items():
        known = [row for row in group if row.figures[metric].across.mean is not None]
        if not known:
            continue
        difference = paired_groups(
            [row.group.title for row in known for _ in row.columns.tasks],
            [task for row in known for task in row.columns.tasks],
            [value for row in known for value in row.columns.values[metric]],
            comparisons=max(1, pairs),
            most=measure.most,
        )
        means = {row.group.title: row.figures[metric].across.mean for row in known}
        text = standing(find_extreme(means, difference), unit_of(measure))
        if len(known) > 1 and {len(row.group.runs) for row in known} == {1}:
            text += " (one run each)"
        standings.append(f"at {setting}, {text}" if setting else text)
    return standings


def _name(group: SeedGroup) -> str:
    """Return the agent with its level and condition, as far as these are not as usual."""
    level = f"level {group.level}" if group.level else ""
    return ", ".join(filter(None, [group.title, level, _condition(group)]))


def _condition(group: SeedGroup) -> str:
    return run_condition(group.runs[0]) if group.condition != STANDARD else ""


def _rows(groups: Sequence[SeedGroup], measures: Mapping[str, Measure]) -> list[ReplicateRow]:
    places = {run.pk: place for place, group in enumerate(groups) for run in group.runs}
    played_rows = played(places, list(measures), len(groups))
    return [
        ReplicateRow(
            group,
            {name: _figure(columns, name, measure) for name, measure in measures.items()},
            columns,
        )
        for group, columns in zip(groups, played_rows, strict=True)
    ]


def _figure(columns: ReplicateColumns, name: str, measure: Measure) -> ReplicatedMean:
    return replicated_mean(
        columns.values[name],
        columns.runs,
        columns.tasks,
        rate=measure.kind == "rate",
        scale=(0, measure.most),
        excluded={**columns.open, **columns.why[name]},
    )


def _deviation(value: float, unit: Unit) -> str:
    """Return a standard deviation; of shares in points."""
    return f"{100 * value:.1f} points" if unit == "share" else number(value, unit)


def _published(system: str) -> list[PublishedModel]:
    """Return the published figures of models that have an accuracy."""
    by_model: dict[str, dict[str, Published]] = {}
    for entry in get_system(system).published:
        by_model.setdefault(entry.model, {})[entry.metric] = entry
    return [PublishedModel(model, by) for model, by in by_model.items() if ACCURATE in by]


def _columns(measures: Mapping[str, Measure]) -> list[Column[Row]]:
    """Give each cell its runs, and every measure with its spread across them."""
    not_stated = Cell(data=("",), reason="not stated")
    runs = content.Column(
        "Runs", ("runs", "not ended"), help="Replicates: runs that differ in the seed."
    )
    return [
        Column(text_column("Agent"), _agent),
        Column(
            text_column("Level"),
            lambda row: (
                Cell(row.group.level or "–", (row.group.level,))
                if isinstance(row, ReplicateRow)
                else not_stated
            ),
        ),
        Column(
            text_column("Condition"),
            lambda row: (
                Cell(run_condition(row.group.runs[0]), (row.group.condition,))
                if isinstance(row, ReplicateRow)
                else not_stated
            ),
        ),
        Column(runs, _runs_cell),
        *(_measure_column(name, measure) for name, measure in measures.items()),
    ]


def _query(row: ReplicateRow) -> dict[str, object]:
    """Return the filters of the list of trajectories that count."""
    runs = [run.pk for run in row.group.runs]
    return {"run": runs, **({USABLE: "yes"} if row.columns.unusable else {})}


def _agent(row: Row) -> Cell:
    if isinstance(row, ReplicateRow):
        title = row.group.title
        url = addresses.trajectories(_query(row))
        return Cell(title, (title,), url=url, tip="The trajectories of these runs")
    first = row.by[ACCURATE]
    badge = replace(run_marks.PUBLISHED_BADGE, why=f"{first.source}; {first.note}")
    return Cell(row.model, (row.model,), badges=(badge,))


def _measure_column(name: str, measure: Measure) -> Column[Row]:
    parts = ("mean", "sd", "low", "high", "runs", "pooled", "pooled low", "pooled high", "n",
             "note")  # fmt: skip
    column = content.Column(
        measure.title, tuple(f"{measure.title} {part}" for part in parts), help=measure.help
    )
    return Column(
        column,
        lambda row: (
            _cell(row.figures[name], measure)
            if isinstance(row, ReplicateRow)
            else _published_cell(row.by.get(name), measure)
        ),
    )


def _published_cell(entry: Published | None, measure: Measure) -> Cell:
    if entry is None:
        return Cell(data=(None,) * 9 + ("not published",), reason="not published")
    rate = measure.in_percent
    value = rounded(entry.value / 100 if rate else entry.value)
    data = (value, *(None,) * 7, entry.n, f"published, {entry.source}")
    return Cell(
        f"{entry.printed} %" if rate else entry.printed,
        data,
        sub=entry.printed_error,
        source=entry.source,
    )


def _runs_cell(row: Row) -> Cell:
    if not isinstance(row, ReplicateRow):
        return Cell(data=(None, None), reason="not stated for each model")
    left, runs = sum(row.columns.open.values()), len(row.group.runs)
    return Cell(
        str(runs),
        (runs, left),
        sub=f"{left} not ended" if left else "",
        url=addresses.address("analysis:trajectory_groups", _query(row)),
        tip=counted(row.columns.open)
        if left
        else "Failures of these runs, grouped by what happened and words",
    )


def _cell(mean: ReplicatedMean, measure: Measure) -> Cell:
    across, pooled, unit = mean.across, mean.pooled, unit_of(measure)
    interval = pooled.interval
    notes = [across.no_spread, pooled.no_interval, *pooled.warnings]
    if pooled.excluded:
        notes.append(f"left out: {counted(pooled.excluded)}")
    note = "; ".join(filter(None, notes))
    data = (
        rounded(across.mean), rounded(across.sd), rounded(across.low), rounded(across.high),
        across.n, rounded(pooled.value), rounded(interval.low) if interval else None,
        rounded(interval.high) if interval else None, pooled.n, note,
    )  # fmt: skip
    if across.mean is None:
        why = "; ".join(filter(None, [across.undefined, counted(pooled.excluded)]))
        return Cell(data=data, reason=why, estimate=pooled, unit=unit)
    text, sub = number(across.mean, unit), []
    if across.sd is not None and across.low is not None and across.high is not None:
        text += f" ± {_deviation(across.sd, unit).removesuffix(' points')}"
        low, high = (number(end, unit).removesuffix(" %") for end in (across.low, across.high))
        sub.append(f"runs {low} to {high}" if low != high else "the same in each run")
    pooled_text = number(pooled.value or 0.0, unit)
    differs = (
        f" {pooled_text.removesuffix(' %')}:" if pooled_text != number(across.mean, unit) else ""
    )
    if interval is not None:
        sub.append(f"pooled{differs} {ends(interval, unit).removesuffix(' %')}")
    sub.append(f"n = {pooled.n:,}")
    return Cell(text, data, sub="\n".join(sub), tip=note, estimate=pooled, unit=unit)

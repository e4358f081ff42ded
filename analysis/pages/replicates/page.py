"""What came of an experiment: each measure in every cell, and its spread across replicates."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Protocol

from analysis.frames.outcomes import ReplicateColumns, played
from analysis.reports import common
from analysis.reports.content import (
    Cell,
    Column,
    Empty,
    Report,
    Table,
    how_interval,
    rounded,
    text_column,
)
from analysis.reports.formatting import Unit, counted, ends, listed, number, plural
from analysis.stats.descriptive.means import ReplicatedMean, replicated_mean
from benchmarks.core.labels import Measure
from benchmarks.core.published import Published
from benchmarks.core.registry import find_system, get_system
from benchmarks.models import Run

ACCURATE = "accurate"


class Group(Protocol):
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
class Replicates:
    """Runs of one agent that differ in their seed alone."""

    title: str
    level: str
    condition: str
    runs: tuple[Run, ...]


@dataclass(frozen=True)
class Line:
    """A cell of the matrix without its seed, and its figures by measure."""

    group: Group
    figures: Mapping[str, ReplicatedMean]
    open: Mapping[str, int]


def replicates_report(groups: Sequence[Group], system: str, *, published: bool = False) -> Report:
    """The table of all cells; ``groups`` are those of one experiment on one system.

    ``published``: the paper's rows stand under them.
    """
    measures = find_system(system).labels.measures
    lines = _lines(groups, measures)
    if not any(one.pooled.n for line in lines for one in line.figures.values()):
        return Report(
            empty=Empty("No results yet", "Figures appear when the first trajectory has ended.")
        )
    return Report(
        sentence=_sentence(lines, measures),
        tables=(_table(lines, measures, _published(system) if published else {}),),
        how=tuple(_how(lines)),
        methods=_methods(lines, measures),
    )


def _lines(groups: Sequence[Group], measures: Mapping[str, Measure]) -> list[Line]:
    places = {run.pk: place for place, group in enumerate(groups) for run in group.runs}
    rows = played(places, list(measures), len(groups))
    return [
        Line(group, {name: _figure(one, name) for name in measures}, one.open)
        for group, one in zip(groups, rows, strict=True)
    ]


def _figure(one: ReplicateColumns, name: str) -> ReplicatedMean:
    return replicated_mean(
        one.values[name], one.runs, one.tasks, excluded={**one.open, **one.why[name]}
    )


def _unit(measure: Measure) -> Unit:
    return "share" if measure.kind == "rate" else "number"


def _named(line: Line) -> str:
    group = line.group
    words = [group.title, f"level {group.level}" if group.level else ""]
    words.append(group.condition if group.condition != "standard" else "")
    return ", ".join(filter(None, words))


def _sentence(lines: Sequence[Line], measures: Mapping[str, Measure]) -> str:
    """The best by the first measure, with the spread across its runs."""
    name, measure = next(iter(measures.items()))
    known = [line for line in lines if line.figures[name].across.mean is not None]
    if not known:
        return f"{measure.title} is undefined in every cell so far."
    best = max(known, key=lambda line: line.figures[name].across.mean or 0)
    found = best.figures[name].across
    unit = _unit(measure)
    said = f"{_named(best)} has the highest mean {measure.title}: {number(found.mean or 0, unit)}"
    if found.sd is None:
        return f"{said} of {plural(found.n, 'run')}, so nothing is known of its spread."
    return f"{said}, standard deviation {_deviation(found.sd, unit)} over {plural(found.n, 'run')}."


def _deviation(value: float, unit: Unit) -> str:
    """A standard deviation; of shares in points."""
    return f"{100 * value:.1f} points" if unit == "share" else number(value, unit)


def _published(system: str) -> dict[str, dict[str, Published]]:
    """The published figures of models that have an accuracy, by model and metric."""
    found: dict[str, dict[str, Published]] = {}
    for entry in get_system(system).published:
        found.setdefault(entry.model, {})[entry.metric] = entry
    return {model: by for model, by in found.items() if ACCURATE in by}


def _published_row(
    model: str, by: Mapping[str, Published], measures: Mapping[str, Measure]
) -> tuple[Cell, ...]:
    first = by[ACCURATE]
    badge = replace(common.PUBLISHED_BADGE, why=f"{first.source}; {first.note}")
    cells = [
        Cell(model, (model,), badges=(badge,)),
        Cell(data=("",), reason="not stated"),
        Cell(data=("",), reason="not stated"),
        Cell(data=(None, None), reason="not stated for each model"),
    ]
    for name, measure in measures.items():
        entry = by.get(name)
        if entry is None:
            cells.append(Cell(data=(None,) * 9 + ("not published",), reason="not published"))
            continue
        rate = measure.kind == "rate"
        value = rounded(entry.value / 100 if rate else entry.value)
        data = (value, *(None,) * 7, entry.n, f"published, {entry.source}")
        cells.append(Cell(f"{entry.printed} %" if rate else entry.printed, data))
    return tuple(cells)


def _table(
    lines: Sequence[Line],
    measures: Mapping[str, Measure],
    published: Mapping[str, Mapping[str, Published]],
) -> Table:
    columns = [
        text_column("Agent"),
        text_column("Level"),
        text_column("Condition"),
        Column("Runs", ("runs", "not ended"), help="Replicates: runs that differ in the seed."),
    ]
    parts = ("mean", "sd", "low", "high", "runs", "pooled", "pooled low", "pooled high", "n",
             "note")  # fmt: skip
    for measure in measures.values():
        names = tuple(f"{measure.title} {part}" for part in parts)
        columns.append(Column(measure.title, names, help=measure.help))
    rows = []
    for line in lines:
        runs = [run.pk for run in line.group.runs]
        cells = [
            Cell(
                line.group.title,
                (line.group.title,),
                url=common.trajectories({"run": runs}),
                tip="The trajectories of these runs",
            ),
            Cell(line.group.level or "–", (line.group.level,)),
            Cell(line.group.condition, (line.group.condition,)),
            _runs_cell(line, runs),
        ]
        cells += [_cell(line.figures[name], one) for name, one in measures.items()]
        rows.append(tuple(cells))
    return Table(
        "replicates",
        "Mean and spread across replicates",
        tuple(columns),
        (*rows, *(_published_row(model, by, measures) for model, by in published.items())),
        note="Mean of the runs ± sample standard deviation. Under it the range of the runs, the "
        "95 % interval of all their trajectories pooled, over tasks, and how many these are.",
    )


def _runs_cell(line: Line, runs: Sequence[int]) -> Cell:
    left = sum(line.open.values())
    return Cell(
        str(len(runs)),
        (len(runs), left),
        sub=f"{left} not ended" if left else "",
        url=common.address("analysis:trajectory_groups", {"run": runs}),
        tip=counted(line.open) if left else "What failed in these runs, grouped by its words",
    )


def _cell(found: ReplicatedMean, measure: Measure) -> Cell:
    across, pooled, unit = found.across, found.pooled, _unit(measure)
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


def _how(lines: Sequence[Line]) -> list[str]:
    estimates = [one.pooled for line in lines for one in line.figures.values()]
    told = [
        "Across replicates each run counts once: the mean of the runs’ figures, their sample "
        "standard deviation (n − 1; of shares in percentage points) and their range. It takes two "
        "runs.",
        f"Pooled: the mean over all trajectories of these runs; {how_interval(estimates)}: "
        "tasks are taken as independent, because the runs share them.",
        "The spread across runs is about chance in the same tasks, the interval about other tasks "
        "like these: neither holds the other.",
        "Metrics are those of each run’s primary judging.",
    ]
    single = [_named(line) for line in lines if len(line.group.runs) < 2]
    if single:
        told.append(f"One run alone has no spread: {listed(single)}.")
    left: dict[str, int] = {}
    for line in lines:
        for reason, n in line.open.items():
            left[reason] = left.get(reason, 0) + n
    told.append(f"Not ended: {counted(left)}." if left else "Every trajectory has ended.")
    return told


def _methods(lines: Sequence[Line], measures: Mapping[str, Measure]) -> str:
    runs = sorted({len(line.group.runs) for line in lines})
    each = f"{runs[0]}" if len(runs) == 1 else f"{runs[0]} to {runs[-1]}"
    titles = listed([one.title for one in measures.values()], most=len(measures))
    return (
        f"Each cell was run {each} time{'s' * (runs != [1])} with different seeds; {titles} are "
        "given as mean and sample standard deviation across runs."
    )

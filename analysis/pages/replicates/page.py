"""The results of an experiment: each measure in every cell, and its spread across replicates."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Protocol

from analysis.frames.outcomes import ReplicateColumns, played
from analysis.pages.declaration import ColumnOf, ReportOf, TableOf
from analysis.reports import addresses, run_marks
from analysis.reports.content import Cell, Column, Report, how_interval, rounded, text_column
from analysis.reports.extremes import standing
from analysis.reports.formatting import Unit, counted, ends, number
from analysis.stats.comparison.extremes import find_extreme, paired_groups
from analysis.stats.descriptive.trials import ReplicatedMean, replicated_mean
from analysis.trajectory_index.facets import USABLE
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


@dataclass(frozen=True)
class ReplicateRow:
    """A cell of the matrix without its seed, and its figures by measure."""

    group: SeedGroup
    figures: Mapping[str, ReplicatedMean]
    columns: ReplicateColumns

    @property
    def open(self) -> Mapping[str, int]:
        """Trajectories that have not ended, by reason."""
        return self.columns.open

    @property
    def setting(self) -> str:
        """The level and the condition of the cell, as far as these are not as usual."""
        group = self.group
        condition = run_condition(group.runs[0]) if group.condition != STANDARD else ""
        return ", ".join(filter(None, [group.level, condition]))

    @property
    def runs(self) -> list[int]:
        return [run.pk for run in self.group.runs]

    @property
    def query(self) -> dict[str, object]:
        """The filters of the list of trajectories that count."""
        return {"run": self.runs, **({USABLE: "yes"} if self.columns.unusable else {})}

    @property
    def name(self) -> str:
        """The agent with its level and condition, as far as these are not as usual."""
        group = self.group
        words = [group.title, f"level {group.level}" if group.level else ""]
        words.append(run_condition(group.runs[0]) if group.condition != STANDARD else "")
        return ", ".join(filter(None, words))


@dataclass(frozen=True)
class PublishedModel:
    """The published figures of a model, by metric."""

    model: str
    by: Mapping[str, Published]


Row = ReplicateRow | PublishedModel


@dataclass(frozen=True)
class ReplicatesResult:
    """All cells of an experiment, and the paper's rows under them."""

    lines: tuple[ReplicateRow, ...]
    measures: Mapping[str, Measure]
    published: tuple[PublishedModel, ...]

    @property
    def rows(self) -> list[Row]:
        return [*self.lines, *self.published]

    @property
    def first_measure(self) -> Measure:
        return next(iter(self.measures.values()))

    @property
    def unit(self) -> Unit:
        """The unit of the first measure."""
        return _unit(self.first_measure)

    @property
    def standings(self) -> list[str]:
        """What the first measure says of the agents, for each level and condition apart.

        Agents are compared on the tasks of their runs; the family is all pairs of agents in all of
        these settings.
        """
        settings: dict[str, list[ReplicateRow]] = {}
        for line in self.lines:
            settings.setdefault(line.setting, []).append(line)
        pairs = sum(len(lines) * (len(lines) - 1) // 2 for lines in settings.values())
        found = ((name, self._standing(lines, max(1, pairs))) for name, lines in settings.items())
        return [f"at {name}, {words}" if name else words for name, words in found if words]

    def _standing(self, lines: Sequence[ReplicateRow], comparisons: int) -> str:
        metric = next(iter(self.measures))
        known = [line for line in lines if line.figures[metric].across.mean is not None]
        if not known:
            return ""
        names = [line.group.title for line in known for _ in line.columns.tasks]
        difference = paired_groups(
            names,
            [task for line in known for task in line.columns.tasks],
            [value for line in known for value in line.columns.values[metric]],
            comparisons=comparisons,
            most=self.first_measure.most,
        )
        means = {line.group.title: line.figures[metric].across.mean for line in known}
        words = standing(find_extreme(means, difference), self.unit)
        alone = {len(line.group.runs) for line in known} == {1}
        return f"{words} (one run each)" if alone and len(known) > 1 else words

    @property
    def sentence(self) -> str:
        """The standings as one sentence."""
        return "; ".join(self.standings)

    @property
    def intervals(self) -> str:
        return how_interval([one.pooled for line in self.lines for one in line.figures.values()])

    @property
    def single(self) -> list[str]:
        """The cells with one run alone."""
        return [line.name for line in self.lines if len(line.group.runs) < 2]

    @property
    def open(self) -> Mapping[str, int]:
        """Trajectories that have not ended, by reason."""
        left: dict[str, int] = {}
        for line in self.lines:
            for reason, n in line.open.items():
                left[reason] = left.get(reason, 0) + n
        return left

    @property
    def unusable(self) -> int:
        """Trajectories on tasks that their own reference does not solve, which do not count."""
        return sum(line.columns.unusable for line in self.lines)

    @property
    def fewest_runs(self) -> int:
        return min(len(line.group.runs) for line in self.lines)

    @property
    def most_runs(self) -> int:
        return max(len(line.group.runs) for line in self.lines)

    @property
    def titles(self) -> list[str]:
        return [one.title for one in self.measures.values()]


def replicates_report(
    groups: Sequence[SeedGroup], system: str, *, published: bool = False
) -> Report:
    """Return the table of all cells; ``groups`` are those of one experiment on one system.

    ``published``: the paper's rows stand under them.
    """
    measures = find_system(system).labels.measures
    lines = tuple(_lines(groups, measures))
    if not any(one.pooled.n for line in lines for one in line.figures.values()):
        return REPORT.empty()
    entries = _published(system) if published else ()
    return REPORT.build(ReplicatesResult(lines, measures, tuple(entries)))


def _lines(groups: Sequence[SeedGroup], measures: Mapping[str, Measure]) -> list[ReplicateRow]:
    places = {run.pk: place for place, group in enumerate(groups) for run in group.runs}
    rows = played(places, list(measures), len(groups))
    return [
        ReplicateRow(group, {name: _figure(one, name, measures[name]) for name in measures}, one)
        for group, one in zip(groups, rows, strict=True)
    ]


def _figure(one: ReplicateColumns, name: str, measure: Measure) -> ReplicatedMean:
    return replicated_mean(
        one.values[name],
        one.runs,
        one.tasks,
        rate=measure.kind == "rate",
        scale=(0, measure.most),
        excluded={**one.open, **one.why[name]},
    )


def _unit(measure: Measure) -> Unit:
    return "share" if measure.in_percent else "number"


def _deviation(value: float, unit: Unit) -> str:
    """Return a standard deviation; of shares in points."""
    return f"{100 * value:.1f} points" if unit == "share" else number(value, unit)


def _published(system: str) -> list[PublishedModel]:
    """Return the published figures of models that have an accuracy."""
    found: dict[str, dict[str, Published]] = {}
    for entry in get_system(system).published:
        found.setdefault(entry.model, {})[entry.metric] = entry
    return [PublishedModel(model, by) for model, by in found.items() if ACCURATE in by]


def _columns(result: ReplicatesResult) -> Sequence[ColumnOf[Row]]:
    """Give each cell its runs, and every measure with its spread across them."""
    not_stated = Cell(data=("",), reason="not stated")
    runs = Column("Runs", ("runs", "not ended"), help="Replicates: runs that differ in the seed.")
    return (
        ColumnOf(text_column("Agent"), _agent),
        ColumnOf(
            text_column("Level"),
            lambda row: (
                Cell(row.group.level or "–", (row.group.level,))
                if isinstance(row, ReplicateRow)
                else not_stated
            ),
        ),
        ColumnOf(
            text_column("Condition"),
            lambda row: (
                Cell(run_condition(row.group.runs[0]), (row.group.condition,))
                if isinstance(row, ReplicateRow)
                else not_stated
            ),
        ),
        ColumnOf(runs, _runs_cell),
        *(_measure_column(name, measure) for name, measure in result.measures.items()),
    )


def _agent(row: Row) -> Cell:
    if isinstance(row, ReplicateRow):
        title = row.group.title
        url = addresses.trajectories(row.query)
        return Cell(title, (title,), url=url, tip="The trajectories of these runs")
    first = row.by[ACCURATE]
    badge = replace(run_marks.PUBLISHED_BADGE, why=f"{first.source}; {first.note}")
    return Cell(row.model, (row.model,), badges=(badge,))


def _measure_column(name: str, measure: Measure) -> ColumnOf[Row]:
    parts = ("mean", "sd", "low", "high", "runs", "pooled", "pooled low", "pooled high", "n",
             "note")  # fmt: skip
    column = Column(
        measure.title, tuple(f"{measure.title} {part}" for part in parts), help=measure.help
    )
    return ColumnOf(
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
    left = sum(row.open.values())
    return Cell(
        str(len(row.runs)),
        (len(row.runs), left),
        sub=f"{left} not ended" if left else "",
        url=addresses.address("analysis:trajectory_groups", row.query),
        tip=counted(row.open) if left else "Failures of these runs, grouped by fault and words",
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


REPORT = ReportOf(
    "replicates",
    figure=None,
    table=TableOf(
        "replicates",
        "Mean and spread across replicates",
        rows=lambda result: result.rows,
        columns=_columns,
        link=lambda _: None,
    ),
)

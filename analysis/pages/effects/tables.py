"""The columns of the tables on what is varied, and what their rows are."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from analysis.filters.selection import ChosenRun, Selection
from analysis.frames.sizes import profile_sizes
from analysis.kit.columns import Column as KitColumn
from analysis.kit.links import Link
from analysis.pages.comparisons import NOT_TESTED, p_column
from analysis.pages.declaration import ColumnOf, estimate_of, text_of
from analysis.pages.effects.rows import AgentEffect, EffectsResult, MeanChange, title_of
from analysis.reports import addresses, run_marks
from analysis.reports.addresses import new_run_url
from analysis.reports.content import (
    Cell,
    Column,
    count_cell,
    estimate_cell,
    estimate_column,
    number_column,
    points_cell,
    text_cell,
    text_column,
    words_column,
)
from analysis.reports.formatting import listed
from analysis.reports.published import published_estimate
from analysis.stats.descriptive.means import mean_t
from analysis.stats.results import Estimate
from benchmarks.core.ports.comparisons import Factor
from benchmarks.core.ports.labels import plain
from benchmarks.core.ports.published import Published
from benchmarks.core.registry import find_system
from benchmarks.models import Dataset

AGENT = Column("Agent", ("agent", "kind"), num=False)


def agent_of(result: EffectsResult, agent: str) -> Cell:
    """Return an agent's name, with what its runs have to be marked with."""
    runs = [run for (name, _), run in result.runs.items() if name == agent]
    badges = tuple(dict.fromkeys(badge for run in runs for badge in run_marks.agent_badges(run)))
    return Cell(agent, (agent, runs[0].agent_kind), badges=badges)


def runs_of(result: EffectsResult, agent: str) -> Link:
    """Return the trajectories of an agent under every value."""
    runs = tuple(run.pk for (name, _), run in result.runs.items() if name == agent)
    return Link(runs=runs)


def change_cell(result: EffectsResult, estimate: Estimate) -> Cell:
    """Return a change of the measure with its sign."""
    if result.is_rate:
        return points_cell(estimate)
    return estimate_cell(estimate, "number", signed=True, show_n=True)


def value_columns(result: EffectsResult) -> Sequence[ColumnOf[str]]:
    """Give the measure under every value; a row is the name of an agent."""
    assert result.effects is not None
    cells, runs = result.effects.cells, result.runs

    def column(title: str) -> ColumnOf[str]:
        def link(agent: str) -> Link | None:
            run = runs.get((agent, title))
            return Link(runs=(run.pk,)) if run is not None else None

        return estimate_of(
            title, lambda agent: cells[agent, title], result.unit, show_n=True, link=link
        )

    return (
        ColumnOf(AGENT, lambda agent: agent_of(result, agent)),
        *(column(title) for title in result.effects.conditions),
    )


def change_columns(result: EffectsResult) -> Sequence[ColumnOf[AgentEffect]]:
    """Give every change on the same tasks, with its test."""
    p: KitColumn[AgentEffect] = p_column(lambda one: one.change)
    words = ("Won", "Lost") if result.is_rate else ("Higher", "Lower")
    return (
        ColumnOf(AGENT, lambda one: agent_of(result, one.change.model)),
        text_of("From", lambda one: one.change.base),
        text_of("To", lambda one: one.change.condition),
        ColumnOf(
            estimate_column("Change", help="On the tasks under both, simultaneous 95 % interval"),
            lambda one: change_cell(result, one.difference),
        ),
        _tasks(words[0], "wins", "won", "Tasks that are better under the second"),
        ColumnOf(number_column("Equal", "ties"), lambda one: _count(one, "ties")),
        _tasks(words[1], "losses", "lost", "Tasks that are worse under the second"),
        ColumnOf(p.head, p.cell),
        ColumnOf(
            text_column("Clear", help="Whether p is under 0.05, and the interval excludes 0"),
            _clear,
        ),
        ColumnOf(
            number_column("Left out", help="Values without a number, and unshared tasks"), _left
        ),
    )


def _tasks(label: str, part: str, flip: str, help: str) -> ColumnOf[AgentEffect]:
    return ColumnOf(
        number_column(label, part, help),
        lambda one: _count(one, part),
        lambda one: Link(url=one.flips(flip)),
    )


def _count(one: AgentEffect, part: str) -> Cell:
    if not one.tested:
        return count_cell(None, reason=NOT_TESTED)
    return count_cell(getattr(one.change.comparison, part))


def _clear(one: AgentEffect) -> Cell:
    if one.change.clear is None:
        return Cell(data=(None,), reason=NOT_TESTED)
    return text_cell("yes" if one.change.clear else "no")


def _left(one: AgentEffect) -> Cell:
    left = one.difference.excluded
    tip = ", ".join(f"{n} ({reason})" for reason, n in left.items())
    return count_cell(sum(left.values()), tip=tip)


def overall_rows(result: EffectsResult) -> list[MeanChange]:
    """Return the mean changes over all agents."""
    if result.effects is None or not result.varied:
        return []
    every = result.effects.overall.items()
    return [MeanChange(base, condition, estimate) for (condition, base), estimate in every]


def overall_columns(result: EffectsResult) -> Sequence[ColumnOf[MeanChange]]:
    """Give the mean change over all agents."""
    return (
        text_of("From", lambda move: move.base),
        text_of("To", lambda move: move.condition),
        ColumnOf(
            estimate_column("Mean change", help="Each agent with the same weight; n counts agents"),
            lambda move: change_cell(result, move.estimate),
        ),
    )


def odds_rows(result: EffectsResult) -> list[MeanChange]:
    """Return the odds of success over all agents, against the first value."""
    if result.odds is None:
        return []
    ratios = result.odds.ratios.items()
    return [MeanChange(result.only_title, condition, ratio) for condition, ratio in ratios]


def odds_columns(_: EffectsResult) -> Sequence[ColumnOf[MeanChange]]:
    """Give the odds ratios."""
    return (
        text_of("From", lambda move: move.base),
        text_of("To", lambda move: move.condition),
        estimate_of(
            "Odds ratio",
            lambda move: move.estimate,
            "number",
            show_n=True,
            help="Below 1 success is less likely; n counts tasks",
        ),
    )


def range_columns(result: EffectsResult) -> Sequence[ColumnOf[str]]:
    """Give how far apart the highest and the lowest value are; a row is the name of an agent."""
    assert result.effects is not None
    ranges = result.effects.ranges

    def cell(agent: str) -> Cell:
        found = estimate_cell(ranges[agent], result.unit, show_n=True)
        if result.is_rate and found.text:
            return replace(found, text=f"{found.text.removesuffix(' %')} pt")
        return found

    return (
        ColumnOf(AGENT, lambda agent: agent_of(result, agent)),
        ColumnOf(
            estimate_column("Range", help="Highest minus lowest; n counts tasks"),
            cell,
            lambda agent: runs_of(result, agent),
        ),
    )


# Where papers print the sizes of profiles.
TABLE_2 = "Table 2"


@dataclass(frozen=True)
class ProfileRow:
    """The mean number of constraints in profiles of one level, by kind, here and in the paper."""

    title: str
    sizes: tuple[tuple[str, Estimate, float | None], ...]
    dataset: int

    @property
    def link(self) -> Link:
        return Link(url=addresses.address("benchmarks:dataset", dataset_id=self.dataset))


def profile_rows(
    dataset: Dataset, closed_tasks: frozenset[int], factor: Factor
) -> tuple[ProfileRow, ...]:
    """Return the sizes of profiles by level, beside those of the paper."""
    levels, sizes = profile_sizes(dataset, closed_tasks)
    kinds = sorted({kind for _, kind in sizes}, reverse=True)
    printed = find_system(dataset.system).paper.profile_sizes
    rows = []
    for level in levels:
        found = []
        for kind in kinds:
            known = sizes.get((level, kind), [])
            mean = mean_t(known) if known else Estimate.without_value("no constraint of this kind")
            found.append((kind, mean, printed.get((level, kind))))
        rows.append(ProfileRow(title_of(factor, level), tuple(found), dataset.pk))
    return tuple(rows)


def profile_columns(rows: Sequence[ProfileRow]) -> Sequence[ColumnOf[ProfileRow]]:
    """Give the mean sizes of profiles."""

    def published(place: int) -> ColumnOf[ProfileRow]:
        def cell(row: ProfileRow) -> Cell:
            value = row.sizes[place][2]
            if value is None:
                return Cell(data=(None,), reason="not published")
            return Cell(f"{value:.2f}", (value,), source=TABLE_2)

        part = f"{rows[0].sizes[place][0]} published"
        return ColumnOf(number_column("Published", part, f"{TABLE_2} of the paper"), cell)

    columns: list[ColumnOf[ProfileRow]] = [text_of("Level", lambda row: row.title)]
    for place, (kind, _, _) in enumerate(rows[0].sizes):
        columns += [
            estimate_of(
                f"{plain(kind)} constraints",
                lambda row, place=place: row.sizes[place][1],  # type: ignore[misc]
                "number",
                part=kind,
                show_n=True,
            ),
            published(place),
        ]
    return columns


@dataclass(frozen=True)
class PublishedRow:
    """The published figures of a model by value."""

    model: str
    by: dict[Any, Published]

    @property
    def source(self) -> str:
        entry = next(iter(self.by.values()))
        return f"{entry.source}; {entry.note}"

    @property
    def range(self) -> float:
        """Highest minus lowest, as printed."""
        values = [entry.value for entry in self.by.values()]
        return max(values) - min(values)


def published_rows(result: EffectsResult) -> list[PublishedRow]:
    """Return the published figures."""
    return [PublishedRow(model, dict(by)) for model, by in result.data.published.items()]


def published_values(result: EffectsResult) -> list[Any]:
    """Return the values that published figures are about."""
    every = (value for by in result.data.published.values() for value in by)
    return list(dict.fromkeys(every))


def published_columns(result: EffectsResult) -> Sequence[ColumnOf[PublishedRow]]:
    """Give the published figures, with their printed range."""

    def name(row: PublishedRow) -> Cell:
        badge = replace(run_marks.PUBLISHED_BADGE, why=row.source)
        return text_cell(row.model, badges=(badge,))

    def column(value: Any) -> ColumnOf[PublishedRow]:
        def cell(row: PublishedRow) -> Cell:
            estimate = published_estimate(row.by.get(value), is_rate=result.is_rate)
            show_n = result.is_rate and estimate.interval is not None
            return estimate_cell(estimate, result.unit, show_n=show_n)

        return ColumnOf(estimate_column(title_of(result.factor, value)), cell)

    return (
        ColumnOf(text_column("Model"), name),
        *(column(value) for value in published_values(result)),
        ColumnOf(
            number_column("Range", "range", "Highest minus lowest, as printed"),
            lambda row: Cell(f"{row.range:.2f}", (round(row.range, 2),)),
        ),
    )


def paper_statement_rows(result: EffectsResult) -> list[Factor]:
    """Return the factor, where the paper says something of it in words."""
    return [result.factor] if result.factor.finding and result.data.with_published else []


def paper_statement_columns(_: EffectsResult) -> Sequence[ColumnOf[Factor]]:
    """Give what the paper says in words."""
    return (
        ColumnOf(
            text_column("Source"),
            lambda factor: text_cell(factor.where, badges=(run_marks.PUBLISHED_BADGE,)),
        ),
        ColumnOf(
            words_column("What the paper reports", "reported"),
            lambda factor: replace(
                text_cell(f"{factor.finding[:1].upper()}{factor.finding[1:]}."), source=factor.where
            ),
        ),
    )


# What the form for new runs cannot vary: where it is done, by kind of factor.
_ELSEWHERE = {
    "parameter": ("Endpoints", "benchmarks:endpoint_list"),
    "people": ("Sessions", "annotation:session_list"),
}


@dataclass(frozen=True)
class MissingRow:
    """Runs that the comparison lacks, with the page where they are started."""

    title: str
    missing: str
    start: str
    url: str


def missing_rows(result: EffectsResult, selection: Selection) -> tuple[MissingRow, ...]:
    """Return the runs that the comparison lacks."""
    factor = result.factor
    if factor.kind in _ELSEWHERE:
        if result.varied:
            return ()
        words = f"{factor.advice[:1].upper()}{factor.advice[1:]}."
        name, view = _ELSEWHERE[factor.kind]
        return (MissingRow(factor.title, words, f"{name} →", addresses.address(view)),)
    rows = []
    for value in _wanted(factor, selection):
        title = title_of(factor, value)
        lacking = _lacking(result, selection.runs, title)
        if lacking:
            names = listed([run.label for run in lacking], most=5)
            level = value if factor.kind == "level" else ""
            changed = {} if factor.kind == "level" else {factor.name: value}
            url = new_run_url(selection, lacking, changed, level=level)
            rows.append(MissingRow(title, names, "Fill in the form →", url))
    return tuple(rows)


def missing_columns(result: EffectsResult) -> Sequence[ColumnOf[MissingRow]]:
    """Give the runs that would be needed, with the way to them."""
    return (
        text_of(result.factor.title, lambda row: row.title),
        ColumnOf(words_column("Missing", "missing"), lambda row: text_cell(row.missing)),
        ColumnOf(text_column("Start"), lambda row: text_cell(row.start, url=row.url)),
    )


def _wanted(factor: Factor, selection: Selection) -> Sequence[Any]:
    """Return the values that can be run: of levels those that the dataset has."""
    if factor.kind != "level" or selection.dataset is None:
        return list(factor.values)
    known = set(
        selection.dataset.tasks.filter(profiles__isnull=False)
        .values_list("profiles__level", flat=True)
        .order_by()
        .distinct()
    )
    return [value for value in factor.values if value in known]


def _lacking(result: EffectsResult, runs: Sequence[ChosenRun], title: str) -> list[ChosenRun]:
    """Return one run of every agent that has none under this value."""
    have = {agent for agent, under in result.runs if under == title}
    first: dict[str, ChosenRun] = {}
    for run in runs:
        if run.label not in have:
            first.setdefault(run.label, run)
    return list(first.values())

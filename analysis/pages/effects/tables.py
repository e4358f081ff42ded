"""The tables of the page on what is varied."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from analysis.filters.selection import ChosenRun, Selection
from analysis.frames.profile_sizes import profile_sizes
from analysis.pages.compare_models.tables import NOT_TESTED, P_COLUMN, p_pair_cell
from analysis.pages.conditions.tables import points_cell
from analysis.pages.effects.rows import Effects, title_of
from analysis.reports import common
from analysis.reports.content import (
    Cell,
    Column,
    Table,
    count_cell,
    estimate_cell,
    estimate_column,
    number_column,
    text_cell,
    text_column,
    words_column,
)
from analysis.reports.formatting import listed
from analysis.reports.leading import lead_row
from analysis.reports.new_run import new_run_url
from analysis.reports.references import published_estimate
from analysis.stats.comparison.condition_effects import ConditionChange
from analysis.stats.descriptive.means import mean_t
from analysis.stats.results import Estimate
from benchmarks.core.comparisons import Factor
from benchmarks.core.labels import plain
from benchmarks.core.registry import find_system
from benchmarks.models import Dataset

AGENT = Column("Agent", ("agent", "kind"), num=False)


def agent_of(found: Effects, agent: str) -> Cell:
    """An agent's name, with what its runs have to be marked with."""
    runs = [run for (name, _), run in found.runs.items() if name == agent]
    badges = tuple(dict.fromkeys(badge for run in runs for badge in common.agent_badges(run)))
    return Cell(agent, (agent, runs[0].agent_kind), badges=badges)


def _change_cell(found: Effects, estimate: Estimate, url: str = "") -> Cell:
    if found.is_rate:
        return points_cell(estimate, url)
    return estimate_cell(estimate, "number", signed=True, show_n=True, url=url)


def values_table(found: Effects) -> Table:
    """The measure of every agent under every value."""
    assert found.effects is not None
    rows = []
    for agent in found.agents:
        cells = [agent_of(found, agent)]
        for title in found.effects.conditions:
            run = found.runs.get((agent, title))
            url = common.trajectories_of(run) if run is not None else ""
            estimate = found.effects.cells[agent, title]
            cells.append(estimate_cell(estimate, found.unit, url=url, show_n=True))
        rows.append(tuple(cells))
    columns = (AGENT, *(estimate_column(title) for title in found.effects.conditions))
    return Table("values", f"{found.measure.title} by {found.factor.title.lower()}", columns,
                 tuple(rows), note=found.measure.help)  # fmt: skip


def changes_table(found: Effects) -> list[Table]:
    """Every change on the same tasks, with its test."""
    if found.effects is None or not found.varied:
        return []
    words = ("Won", "Lost") if found.is_rate else ("Higher", "Lower")
    columns = (
        AGENT,
        text_column("From"),
        text_column("To"),
        estimate_column("Change", help="On the tasks under both, simultaneous 95 % interval"),
        number_column(words[0], "wins", "Tasks that are better under the second"),
        number_column("Equal", "ties"),
        number_column(words[1], "losses", "Tasks that are worse under the second"),
        P_COLUMN,
        text_column("Clear", help="Whether p is under 0.05, and the interval excludes 0"),
        number_column("Left out", help="Values without a number, and unshared tasks"),
    )
    note = (
        f"Intervals and p-values are corrected over {found.effects.family.statement} (Bonferroni)."
    )
    rows = tuple(
        lead_row(_change(found, change), columns, found.flips(change))
        for change in found.effects.changes
    )
    return [Table("changes", "Changes on the same tasks", columns, rows, note=note, most=60)]


def _change(found: Effects, change: ConditionChange) -> tuple[Cell, ...]:
    comparison = change.comparison
    difference, untested = comparison.difference, comparison.p_value is None
    why = NOT_TESTED if untested else ""
    counts = [None if untested else count
              for count in (comparison.wins, comparison.ties, comparison.losses)]  # fmt: skip
    left = difference.excluded
    verdict = "yes" if change.clear else "no"
    return (
        agent_of(found, change.model),
        text_cell(change.base),
        text_cell(change.condition),
        _change_cell(found, difference, found.flips(change)),
        count_cell(counts[0], reason=why, url=found.flips(change, "won") if counts[0] else ""),
        count_cell(counts[1], reason=why),
        count_cell(counts[2], reason=why, url=found.flips(change, "lost") if counts[2] else ""),
        p_pair_cell(change.p_adjusted, comparison.p_value),
        Cell(data=(None,), reason=why) if change.clear is None else text_cell(verdict),
        count_cell(
            sum(left.values()), tip=", ".join(f"{n} ({reason})" for reason, n in left.items())
        ),
    )


def overall_table(found: Effects) -> list[Table]:
    """The mean change over all agents."""
    if found.effects is None or not found.varied:
        return []
    rows = tuple(
        (text_cell(base), text_cell(condition), _change_cell(found, estimate))
        for (condition, base), estimate in found.effects.overall.items()
    )
    columns = (
        text_column("From"),
        text_column("To"),
        estimate_column("Mean change", help="Each agent with the same weight; n counts agents"),
    )
    note = "Tasks are drawn for all agents at once; it speaks of these agents. n counts agents."
    return [Table("overall", "All agents together", columns, rows, note)]


def odds_table(found: Effects) -> list[Table]:
    """The odds of success over all agents, against the first value."""
    if found.odds is None:
        return []
    base = next(iter(found.titles.values()))
    rows = tuple(
        (text_cell(base), text_cell(condition), estimate_cell(ratio, "number", show_n=True))
        for condition, ratio in found.odds.ratios.items()
    )
    columns = (
        text_column("From"),
        text_column("To"),
        estimate_column("Odds ratio", help="Below 1 success is less likely; n counts tasks"),
    )
    note = (
        "Logit GEE over all agents shown, tasks as clusters, with 95 % intervals of one ratio "
        "each. It describes and is not tested: what is clear stands under Changes."
    )
    return [Table("odds", "Odds of success, all agents together", columns, rows, note, open=False)]


def ranges_table(found: Effects) -> list[Table]:
    """How far apart the highest and the lowest value are."""
    if found.effects is None or not found.varied:
        return []
    rows = tuple(
        (agent_of(found, agent), _plain_change(found, estimate))
        for agent, estimate in found.effects.ranges.items()
    )
    columns = (AGENT, estimate_column("Range", help="Highest minus lowest; n counts tasks"))
    note = (
        "Highest minus lowest mean, on the tasks under all values. It is never negative and grows "
        "with chance: read its upper end."
    )
    return [Table("ranges", "Ranges", columns, rows, note)]


def _plain_change(found: Effects, estimate: Estimate) -> Cell:
    cell = estimate_cell(estimate, found.unit, show_n=True)
    if found.is_rate and cell.text:
        return replace(cell, text=f"{cell.text.removesuffix(' %')} pt")
    return cell


def profile_table(dataset: Dataset, closed_tasks: frozenset[int], factor: Factor) -> list[Table]:
    """How many constraints profiles hold by level, beside those of the paper."""
    levels, sizes = profile_sizes(dataset, closed_tasks)
    kinds = sorted({kind for _, kind in sizes}, reverse=True)
    rows = []
    for level in levels:
        cells = [text_cell(title_of(factor, level))]
        for kind in kinds:
            known = sizes.get((level, kind), [])
            mean = mean_t(known) if known else Estimate.without_value("no constraint of this kind")
            cells.append(estimate_cell(mean, "number", show_n=True))
            printed = find_system(dataset.system).paper.profile_sizes.get((level, kind))
            cells.append(
                Cell(f"{printed:.2f}", (printed,))
                if printed is not None
                else Cell(data=(None,), reason="not published")
            )
        rows.append(tuple(cells))
    columns = [text_column("Level")]
    for kind in kinds:
        columns += [
            estimate_column(f"{plain(kind)} constraints", kind),
            number_column("Published", f"{kind} published", "Table 2 of the paper"),
        ]
    note = "Mean number in a profile, with t intervals; n counts profiles. Published: Table 2."
    return (
        [
            Table(
                "profiles",
                "Sizes of profiles",
                tuple(columns),
                tuple(rows),
                note,
                url=common.address("benchmarks:dataset", dataset_id=dataset.pk),
            )
        ]
        if rows
        else []
    )


def published_table(found: Effects) -> list[Table]:
    """The published figures, with their printed range."""
    if not found.published:
        return []
    values = list(dict.fromkeys(v for by in found.published.values() for v in by))
    rows = []
    for model, by in found.published.items():
        entry = next(iter(by.values()))
        badge = replace(common.PUBLISHED_BADGE, why=f"{entry.source}; {entry.note}")
        cells = [text_cell(model, badges=(badge,))]
        cells += [_published_cell(found, by.get(value)) for value in values]
        spread = max(e.value for e in by.values()) - min(e.value for e in by.values())
        cells.append(Cell(f"{spread:.2f}", (round(spread, 2),)))
        rows.append(tuple(cells))
    columns = (
        text_column("Model"),
        *(estimate_column(title_of(found.factor, value)) for value in values),
        number_column("Range", "range", "Highest minus lowest, as printed"),
    )
    note = f"{found.factor.where} of the paper, not from runs here. n is inferred where known."
    title = f"Published: {found.measure.title} by {found.factor.title.lower()}"
    return [Table("published", title, columns, tuple(rows), note)]


def _published_cell(found: Effects, entry: Any) -> Cell:
    estimate = published_estimate(entry, is_rate=found.is_rate)
    return estimate_cell(
        estimate, found.unit, show_n=found.is_rate and estimate.interval is not None
    )


def said_table(found: Effects, selection: Selection) -> list[Table]:
    """What the paper says of this factor in words."""
    if not found.factor.said or selection.filters.published == "hide":
        return []
    row = (text_cell(found.factor.where, badges=(common.PUBLISHED_BADGE,)),
           text_cell(f"{found.factor.said[:1].upper()}{found.factor.said[1:]}."))  # fmt: skip
    columns = (text_column("Source"), words_column("What the paper reports", "reported"))
    return [Table("said", "Published: in words", columns, (row,), note="Of its own runs.")]


# What the form for new runs cannot vary: where it is done, by kind of factor.
_ELSEWHERE = {
    "parameter": ("Endpoints", "benchmarks:endpoint_list"),
    "people": ("Sessions", "annotation:session_list"),
}


def missing_table(found: Effects, selection: Selection) -> list[Table]:
    """Runs that the comparison lacks, each with the form that starts them."""
    factor = found.factor
    rows: list[tuple[Cell, ...]] = []
    if factor.kind in _ELSEWHERE:
        if not found.varied:
            words = f"{factor.advice[:1].upper()}{factor.advice[1:]}."
            name, view = _ELSEWHERE[factor.kind]
            start = _start(f"{name} →", common.address(view))
            rows.append((text_cell(factor.title), text_cell(words), start))
    else:
        for value in _wanted(factor, selection):
            lacking = _lacking(found, selection.runs, title_of(factor, value))
            if lacking:
                names = listed([run.label for run in lacking], most=5)
                level = value if factor.kind == "level" else ""
                changed = {} if factor.kind == "level" else {factor.name: value}
                url = new_run_url(selection, lacking, changed, level=level)
                title = text_cell(title_of(factor, value))
                rows.append((title, text_cell(names), _start("Fill in the form →", url)))
    if not rows:
        return []
    columns = (
        text_column(factor.title),
        words_column("Missing", "missing"),
        text_column("Start"),
    )
    note = (
        "The form is filled in with the same dataset, judges, settings and seed; starting needs "
        "the right to start runs."
    )
    return [Table("missing", "Runs that would be needed", columns, tuple(rows), note)]


def _wanted(factor: Factor, selection: Selection) -> Sequence[Any]:
    """The values that can be run: of levels those that the dataset has."""
    if factor.kind != "level" or selection.dataset is None:
        return list(factor.values)
    known = set(
        selection.dataset.tasks.filter(profiles__isnull=False)
        .values_list("profiles__level", flat=True)
        .order_by()
        .distinct()
    )
    return [value for value in factor.values if value in known]


def _lacking(found: Effects, runs: Sequence[ChosenRun], title: str) -> list[ChosenRun]:
    """One run of every agent that has none under this value."""
    have = {agent for agent, under in found.runs if under == title}
    first: dict[str, ChosenRun] = {}
    for run in runs:
        if run.label not in have:
            first.setdefault(run.label, run)
    return list(first.values())


def _start(words: str, url: str) -> Cell:
    return text_cell(words, url=url)

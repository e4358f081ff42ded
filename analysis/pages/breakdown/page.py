"""Which kinds of task are hard? The ranking measure by kind, for each agent and condition."""

from collections.abc import Mapping, Sequence
from itertools import product
from typing import Literal

from analysis.figures.layout.theme import Figure
from analysis.figures.lines import number_lines
from analysis.figures.rubric import rubric_heatmap
from analysis.figures.tool_use import PointRow, panel_dots
from analysis.filters.factors import condition_titles
from analysis.frames.outcomes import group_values, outcome_frame
from analysis.kit import columns
from analysis.kit.columns import Column
from analysis.kit.empty import no_runs, nothing_finished
from analysis.kit.links import Link
from analysis.kit.page import Content, Page
from analysis.pages.breakdown.rows import (
    EVERY_KIND,
    BreakdownRow,
    PairedRow,
    PooledKind,
    PublishedShare,
    beside_people,
    break_down,
    curves_over,
    merge_counts,
    pool,
    published_here,
    with_kinds,
)
from analysis.pages.outcome_estimates import NOTHING_HERE
from analysis.reports import addresses, figure_specs, run_marks
from analysis.reports import content as parts
from analysis.reports.content import Cell, exclusions, how_interval
from analysis.reports.extremes import beyond
from analysis.reports.formatting import (
    left_out_sentence,
    listed,
    number,
    plural,
    unit_of,
    unit_of_differences,
)
from analysis.reports.published import published_estimate
from analysis.stats.comparison.extremes import (
    Extreme,
    clear_differences,
    find_extreme,
    pairs_of,
)
from analysis.stats.descriptive.means import MeanTable
from analysis.stats.results import Estimate
from benchmarks.core.ports.comparisons import Grouping
from benchmarks.core.ports.labels import Labels, Measure

# More panels than these are not read; the table has them all.
MOST_PANELS, MOST_COLUMNS = 16, 24
MOST_ROWS = 60
PURPOSE = "This page compares how agents do on different kinds of task."


def content(page: Page) -> Content:
    """Say which kinds of task are hardest and easiest, then show each agent on each kind."""
    by, system = page.selection.filters.by, page.system
    groups, measures = system.comparisons.groups, _measures(system.labels)
    if by not in groups or not page.runs or not measures:
        no_runs(page, PURPOSE)
        return
    grouping = groups[by]
    values = group_values(page.runs, by, groups)
    if not values:
        nothing_finished(page, PURPOSE)
        return
    name, (metric, measure) = grouping.title.lower(), next(iter(measures.items()))
    frame = outcome_frame(page.runs, list(measures))
    counts = {pk: int(value) for pk, (value,) in values.items()} if grouping.counts else {}
    if grouping.counts:
        tasks = dict(zip(frame["trajectory"].tolist(), frame["task"].tolist(), strict=True))
        values = merge_counts({pk: counts[pk] for pk in tasks.keys() & counts.keys()}, tasks)
    known, kinds = with_kinds(frame, values, grouping)
    titles = condition_titles(system, [run.condition for run in page.runs])
    rows = break_down(known, kinds, page.runs, measures, titles)
    pooled, difference = pool(known, kinds, metric)
    values_of = {kind.title: kind.value for kind in pooled}
    hardest = find_extreme(values_of, difference, lowest=True)
    easiest = find_extreme(values_of, difference)
    apart = len(clear_differences([kind.title for kind in pooled], difference))
    pairs = pairs_of(len(pooled))
    pairs_with_people = beside_people(known, kinds, page.runs, metric, measure, titles)
    several = len({row.condition for row in rows}) > 1
    page.answer(_answer(pooled, hardest, easiest, apart, pairs, name, measure))
    page.answer(_beside_people(pairs_with_people, measure))
    page.compared(
        [one.difference for one in (hardest, easiest) if one.difference is not None],
        unit_of_differences(measure),
    )
    names = [f"{row.run.label}, {row.condition}" if several else row.run.label for row in rows]
    page.figure(
        "grid",
        f"{measure.title}, by {name}",
        lambda: _draw_grid(page, rows, names, kinds, measure),
        subtitle=f"A row is an agent{' under a condition' * several}"
        f"{', values in percent' * measure.in_percent}.",
        table="breakdown",
        # So wide are its names and numbers, in pixels.
        least_width=130 + 7 * max(map(len, names), default=0) + 56 * len(kinds),
    )
    cautions = "".join(f" {kind}: {text}" for kind in kinds if (text := grouping.caution(kind)))
    page.table(
        "breakdown",
        f"By {name}",
        rows,
        [
            columns.text(grouping.title, lambda row: row.title, "group"),
            Column(parts.Column("Agent", ("agent", "kind"), num=False), _agent),
            several and columns.text("Condition", lambda row: row.condition, "condition"),
            *(_measure_column(key, one) for key, one in measures.items()),
        ],
        link=lambda row: Link(runs=(row.run.pk,)),
        note=f"With 95 % intervals and n.{cautions}",
        folded=True,
    )
    yield
    if grouping.counts and measure.in_percent:
        crossed = group_values(page.runs, f"{by}+{grouping.curves_by}", groups)
        at = {pk: (counts[pk], curve) for pk, (_, curve) in crossed.items()}
        page.figure(
            "curves",
            f"{measure.title} over {name}, all agents together",
            lambda: _draw_curves(curves_over(frame, at, metric, measure), grouping, measure),
            table="breakdown",
        )
    page.figure(
        "breakdown",
        f"{measure.title}, by {name}, with intervals",
        lambda: _draw_intervals(rows, names, kinds, measure),
        table="breakdown",
    )
    page.table(
        "paired",
        f"Agents beside people on the same tasks, by {name}",
        pairs_with_people,
        _paired_columns(grouping, metric, measure, several=several),
        link=lambda row: Link(runs=(row.run.pk,)),
        note="Tasks that the agent and people both did under the same condition. Where several "
        "people did a task, their mean counts. Intervals of a difference are paired by task and "
        "not corrected for their number.",
        most=MOST_ROWS,
    )
    page.table(
        "published",
        f"Published, by {name}",
        published_here(system.published, by, grouping, system.labels.measures),
        _published_columns(grouping),
        link=lambda _: None,
        note="Figures of the paper, not from runs here, with the digits that it prints.",
        folded=True,
    )
    firsts = [row.first for row in rows]
    excluded, no_kind = exclusions(firsts), len(frame) - len(known)
    page.how(
        f"{measure.title} by {name}. {measure.help} 95 % intervals: "
        f"{how_interval(firsts) or 'none'}. Where a task was tried several times, they are by "
        "task. Intervals are not corrected for their number.",
        "Kinds are called different where the interval of their difference excludes 0; tasks are "
        f"taken as independent, and intervals hold together over {plural(pairs, 'pair')} of kinds "
        "(Bonferroni).",
        left_out_sentence(excluded, nothing="No scored trajectory")
        + (f" {plural(no_kind, 'trajectory', 'trajectories')} of no such kind." if no_kind else ""),
    )
    page.methods(
        f"{measure.title} is computed for each kind of task, agent and condition; the sentence "
        "pools all agents."
    )


def _measures(labels: Labels) -> dict[str, Measure]:
    """Return what agents are ranked by, and after it the verdicts that are shares."""
    return {
        name: labels.measures[name]
        for name in dict.fromkeys((*labels.headlines, *labels.verdicts))
        if name in labels.headlines
        or (name in labels.measures and labels.measures[name].kind == "rate")
    }


def _answer(
    pooled: Sequence[PooledKind],
    hardest: Extreme,
    easiest: Extreme,
    apart: int,
    pairs: int,
    name: str,
    measure: Measure,
) -> str:
    """Name the kinds with the lowest and the highest mean, as far as they are clear."""
    if not pooled:
        return "No trajectory here has a score."
    first, last = pooled[0], pooled[-1]
    lowest, highest = _value(first.value, measure), _value(last.value, measure)
    if len(pooled) == 1:
        over = plural(first.trajectories, "trajectory", "trajectories")
        return (
            f"All scored trajectories here are of one kind ({first.title}): {measure.name} "
            f"{lowest} over {over}."
        )
    if hardest.verdict == "equal":
        return f"By {name}, {measure.name} is {lowest} on all {len(pooled)} kinds of task."
    clear = [
        f"{word} on {listed(one.names)}: {_value(one.value or 0.0, measure)}, "
        f"{beyond(one, unit_of_differences(measure))}"
        for word, one in (("lowest", hardest), ("highest", easiest))
        if one.is_clear
    ]
    if clear:
        return f"By {name}, {measure.name} is {'; '.join(clear)}."
    differ = f"{apart:,} of {plural(pairs, 'pair')} of kinds differ{'s' * (apart == 1)} clearly"
    none = "no two kinds of task differ clearly"
    return (
        f"By {name}, {differ if apart else none} in {measure.name}; it lies between "
        f"{lowest} ({first.title}, {plural(first.tasks, 'task')}) and "
        f"{highest} ({last.title}, {plural(last.tasks, 'task')})."
    )


def _beside_people(pairs: Sequence[PairedRow], measure: Measure) -> str:
    """Put the agent with the highest value on all tasks that people did, too, beside people."""
    best = max(
        (row for row in pairs if row.title == EVERY_KIND),
        key=lambda row: row.agent_value.value or 0,
        default=None,
    )
    if best is None:
        return ""
    people, agent = (
        _value(one.value or 0.0, measure) for one in (best.people_value, best.agent_value)
    )
    return (
        f"On the {plural(best.difference.n, 'task')} that people did, too, people reach {people} "
        f"and {best.run.label} {agent}; each agent is under Details."
    )


def _value(value: float, measure: Measure) -> str:
    """Return a value of the measure, with its sign where it is stored in percent."""
    return number(value, unit_of(measure)) + " %" * (measure.kind == "percent")


def _draw_grid(
    page: Page,
    rows: Sequence[BreakdownRow],
    names: Sequence[str],
    kinds: Sequence[str],
    measure: Measure,
) -> Figure | None:
    """Draw the first measure as a cell for each agent, condition and kind of task."""
    if not 1 <= len(kinds) <= MOST_COLUMNS:
        return None
    lines = tuple(dict.fromkeys(names))
    none = Estimate.without_value(NOTHING_HERE)
    named = [((name, row.title), row) for name, row in zip(names, rows, strict=True)]
    cells = dict.fromkeys(product(lines, kinds), none) | {key: row.first for key, row in named}
    links = {key: page.url(runs=(row.run.pk,)) for key, row in named}
    values = [row.first.value for row in rows if row.first.value is not None]
    most = measure.most or max(values, default=0) or 1
    return rubric_heatmap(
        MeanTable(lines, tuple(kinds), cells),
        (0, most),
        links,
        unit="share" if measure.in_percent else "points",
    )


def _draw_intervals(
    rows: Sequence[BreakdownRow], names: Sequence[str], kinds: Sequence[str], measure: Measure
) -> Figure | None:
    """Draw the first measure with intervals, a kind of task in each panel."""
    if not 1 <= len(kinds) <= MOST_PANELS:
        return None
    panels: dict[str, list[PointRow]] = {kind: [] for kind in kinds}
    for name, row in zip(names, rows, strict=True):
        panels[row.title].append(PointRow(name, row.first, row.run.label))
    return panel_dots(
        panels,
        unit="share" if measure.in_percent else "points",
        title=measure.title,
        span=(0, measure.most) if measure.most is not None else None,
        styles=figure_specs.styles(list(dict.fromkeys(row.run.label for row in rows))),
    )


def _draw_curves(
    curves: Mapping[str, list[tuple[int, Estimate]]], grouping: Grouping, measure: Measure
) -> Figure | None:
    """Draw the first measure over counts, a curve for each value of another grouping."""
    across = grouping.axis or grouping.title
    return number_lines(curves, across, measure.title, about="at ") if curves else None


def _agent(row: BreakdownRow) -> Cell:
    """Name the agent with what marks it, such as that it is scripted."""
    run = row.run
    return Cell(run.label, (run.label, run.agent_kind), badges=run_marks.agent_badges(run))


def _measure_column(name: str, measure: Measure) -> Column[BreakdownRow]:
    return columns.estimate(
        measure.title, lambda row: row.shares[name], unit_of(measure), part=name, show_n=True
    )


def _paired_columns(
    grouping: Grouping, metric: str, measure: Measure, *, several: bool
) -> list[Column[PairedRow] | Literal[False]]:
    """Give each pair its kind of task, agent, values on the common tasks, and their difference."""
    unit = unit_of(measure)
    return [
        columns.text(grouping.title, lambda row: row.title, "group"),
        columns.agent(lambda row: row.run),
        several and columns.text("Condition", lambda row: row.condition, "condition"),
        columns.estimate(
            "Agent",
            lambda row: row.agent_value,
            unit,
            part="agent_value",
            help=f"{measure.title} on the tasks that people did, too.",
            show_n=True,
        ),
        columns.estimate(
            "People",
            lambda row: row.people_value,
            unit,
            part="people_value",
            help="Several people at one task: their mean, with an interval by task.",
            show_n=True,
            link=lambda row: Link(runs=(row.people.pk,)),
        ),
        columns.change(
            "Agent − people",
            lambda row: row.difference,
            unit,
            part="difference",
            help="Mean over the common tasks; n counts tasks.",
            link=lambda row: Link(url=addresses.side_by_side(row.run, row.people, metric)),
        ),
    ]


def _published_columns(grouping: Grouping) -> list[Column[PublishedShare]]:
    """Give each published figure its kind of task, measure, model and source."""

    def value(row: PublishedShare) -> Cell:
        estimate = published_estimate(row.entry, is_rate=row.measure.in_percent)
        return parts.estimate_cell(estimate, unit_of(row.measure), show_n=bool(row.entry.n))

    return [
        columns.text(grouping.title, lambda row: row.title, "group"),
        columns.text("Measure", lambda row: row.measure.title, "measure"),
        columns.published(
            lambda row: row.entry.model, lambda row: f"{row.entry.source}; {row.entry.note}"
        ),
        Column(parts.estimate_column("Published", "published"), value),
        columns.text("Source", lambda row: row.entry.source, sub=lambda row: row.entry.note),
    ]

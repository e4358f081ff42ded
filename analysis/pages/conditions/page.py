"""What do conditions change? Accuracy under each, paired by task, beside the paper."""

from collections.abc import Mapping, Sequence
from functools import partial
from math import ceil

from analysis.figures.layout.theme import Figure
from analysis.figures.lines import number_lines
from analysis.figures.tool_use import PointRow, panel_dots
from analysis.filters.factors import condition_titles
from analysis.frames.outcomes import ACCURATE, outcome_frame
from analysis.kit import columns
from analysis.kit.columns import Column
from analysis.kit.empty import no_runs
from analysis.kit.links import Link
from analysis.kit.page import Content, Page
from analysis.pages.conditions.rows import ByCondition, Lengths, by_condition, by_length
from analysis.reports import addresses, figure_specs, run_marks
from analysis.reports import content as parts
from analysis.reports.content import Cell, estimate_cell, exclusions, how_interval, points_cell
from analysis.reports.extremes import clear_changes
from analysis.reports.formatting import first_up, left_out_sentence, plural
from analysis.reports.published import published_estimate
from analysis.stats.results import Estimate
from benchmarks.core.ports.comparisons import Caption, Contrasts
from benchmarks.core.ports.published import Published

NEARLY = 1e-9
PURPOSE = "This page compares agents under the conditions that they were run in."
INTERVALS = "With 95 % intervals"


def content(page: Page) -> Content:
    """Say what changes from the baseline, then show each condition, kind and length."""
    if not page.runs or ACCURATE not in page.system.labels.measures:
        no_runs(page, PURPOSE)
        return
    measure, contrasts = page.system.labels.measures[ACCURATE], page.system.comparisons.contrasts
    name, name_first = measure.name, first_up(measure.name)
    frame = outcome_frame(page.runs, [ACCURATE])
    titles = condition_titles(page.system, [run.condition for run in page.runs])
    by = by_condition(page.runs, page.selection.family, frame, contrasts, titles)
    others = [condition for condition in by.conditions if condition != by.baseline]
    # The condition that the system sets against its baseline, where runs have both.
    contrast = contrasts.contrast if contrasts is not None and by.baseline else ""
    contrast = contrast if contrast in others else ""
    published = _published(page, contrasts)
    captions = contrasts.published if contrasts is not None else {}
    lines = {
        f"{one.model}, {captions[one.metric].title}: {one.printed} % (published)": one.value / 100
        for one in published
    }
    changes = [
        (agent, condition, by.change[agent, condition])
        for agent in by.agents
        for condition in ([contrast] if contrast else others)
        if by.change[agent, condition].value is not None
    ]
    page.answer(_answer(by, others, changes, name))
    page.answers = bool(others and by.baseline and changes)
    page.compared([by.change[agent, other] for agent in by.agents for other in others], "share")
    lacking = {
        agent: len(by.conditions) - len(by.runs_of(agent, by.conditions)) for agent in by.agents
    }
    missing = [f"{agent} ({count})" for agent, count in lacking.items() if count]
    if missing:
        every = "both" if len(by.conditions) == 2 else f"all {len(by.conditions)}"
        page.info(
            f"Not every agent was run under {every} conditions here; missing: {', '.join(missing)}."
        )
    several = [agent for agent in by.agents if len(by.runs_of(agent, by.conditions)) > 1]
    drawn = several or list(by.agents)
    alone = " Agents under one condition alone are left to the table."
    page.figure(
        "accuracy",
        f"{name_first} by condition, an agent in each panel",
        lambda: _draw_accuracy(by, drawn, lines, name_first),
        subtitle=f"{INTERVALS}.{alone * (len(drawn) < len(by.agents))}"
        f"{' Lines: published figures.' * bool(published)}",
    )
    family = plural(by.family_size, "change")
    corrected = f" (Bonferroni over {family})" if by.family_size > 1 else ""
    together = "On the same tasks; intervals of all changes hold together"
    page.table(
        "drop",
        f"From “{by.title(by.baseline)}” to “{by.title(contrast)}”",
        by.agents if contrast else (),
        [
            _agent(by, contrast),
            _accuracy(by, by.baseline, by.title(by.baseline), "baseline"),
            _accuracy(by, contrast, by.title(contrast), "contrast"),
            _change(by, contrast, parts.estimate_column("Change", "change", together)),
        ],
        note=f"A task counts where it was scored under both conditions. {INTERVALS}; those of "
        f"changes hold together{corrected}.",
    )
    yield
    page.table(
        "accuracy",
        f"{name_first} by condition",
        by.conditions,
        [_condition(by), *(_accuracy_of(by, agent) for agent in by.agents)],
        note=f"{measure.help} {INTERVALS} and n.".strip(),
    )
    page.table(
        "change",
        f"Change against “{by.title(by.baseline)}”",
        others if by.baseline else (),
        [_condition(by), *(_change_of(by, agent) for agent in by.agents)],
        note=f"{name_first} minus the baseline's on the same tasks, in points of 100, with "
        "simultaneous 95 % intervals over tasks; n counts tasks.",
    )
    lengths = None
    if contrasts is not None:
        _show_kinds(page, by, [one for one in contrasts.kinds if one in by.conditions], name)
        lengths = by_length(by, frame, contrasts)
    if contrasts is not None and lengths is not None:
        _show_lengths(page, by, lengths, contrasts, name_first)
    page.table(
        "published",
        "Published",
        published,
        _published_columns(captions, name_first),
        link=lambda _: None,
        note="Figures of the paper, not from runs here; n inferred from the printed percentages.",
    )
    accuracies = list(by.accuracy.values())
    left_out = exclusions(accuracies)
    page.how(
        f"{name_first}: share of trajectories, 95 % intervals: "
        f"{how_interval(accuracies) or 'none'}. Where a task was tried several times, they are by "
        "task.",
        left_out_sentence(left_out, name),
    )
    if by.baseline and others:
        shown = [by.change[agent, other] for agent in by.agents for other in others]
        page.how(
            f"Change: mean over tasks of the {name} under a condition minus that under "
            f"“{by.title(by.baseline)}”, on tasks scored under both; "
            f"{how_interval(shown) or 'no interval'}. Their intervals hold together over {family} "
            "(Bonferroni): all agents and conditions of the data that have the baseline, whichever "
            "are shown."
        )
    if lengths is not None:
        page.how(
            "Length of what remained: mean over the paths that hold no blocked tool, rounded to "
            f"whole tools. Left out: {plural(lengths.left_out, 'trajectory', 'trajectories')} "
            "without such a length (nothing was blocked). The same task may stand under two "
            "lengths."
        )
    if contrasts is not None and contrasts.published:
        page.how("Published: as printed, with the Wilson interval of n where n can be told.")
    page.methods(
        f"{name_first} is the share of trajectories under a condition; a change is the mean "
        "difference on the tasks that were scored under both conditions, with simultaneous 95 % "
        f"intervals (Bonferroni over {family})."
    )


def _published(page: Page, contrasts: Contrasts | None) -> list[Published]:
    """Return the figures of the paper that belong here, unless they are hidden."""
    if contrasts is None or page.selection.filters.published == "hide":
        return []
    return [entry for entry in page.system.published if entry.metric in contrasts.published]


def _answer(
    by: ByCondition,
    others: Sequence[str],
    changes: Sequence[tuple[str, str, Estimate]],
    name: str,
) -> str:
    """Say which changes are clear, or why nothing can be compared."""
    if not others:
        first = by.title(by.conditions[0])
        return f"All runs here have the condition “{first}”, so there is nothing to compare."
    if not by.baseline:
        return "There is no run under the standard condition to compare the others with."
    if not changes:
        return "No agent has a task that was scored under two of these conditions."
    titles = list(dict.fromkeys(by.title(condition) for _, condition, _ in changes))
    several = len(titles) > 1
    named = [
        (f"{agent} (“{by.title(condition)}”)" if several else agent, change)
        for agent, condition, change in changes
    ]
    baseline, changed = by.title(by.baseline), clear_changes(named, "share")
    if several:
        return f"Against “{baseline}” {name} {changed}."
    return f"From “{baseline}” to “{titles[0]}” {name} {changed}."


def _draw_accuracy(
    by: ByCondition, agents: Sequence[str], lines: Mapping[str, float], title: str
) -> Figure:
    """Draw the accuracy of agents under each condition, an agent in each panel."""
    panels = {
        agent: [
            PointRow(by.title(name), by.accuracy[agent, name], agent, by.url(agent, name))
            for name in by.conditions
        ]
        for agent in agents
    }
    return panel_dots(
        panels,
        unit="share",
        title=title,
        columns=2 if len(panels) in (1, 2, 4) else 3,
        span=(0, 1),
        lines=lines,
        styles=figure_specs.styles(list(by.agents)),
    )


def _show_kinds(page: Page, by: ByCondition, kinds: Sequence[str], name: str) -> None:
    """Add the accuracy under each kind of disturbance alone, and what that costs."""

    def draw() -> Figure:
        panels = {
            by.title(kind): [
                PointRow(agent, by.change[agent, kind], agent, by.url(agent, kind, accurate="no"))
                for agent in by.agents
            ]
            for kind in kinds
        }
        return panel_dots(
            panels,
            unit="share",
            title=f"Change of {name}, in points",
            columns=3,
            span=_span(panels),
            styles=figure_specs.styles(list(by.agents)),
        )

    page.figure(
        "kinds",
        "What each kind of disturbance alone changes",
        draw if kinds and by.baseline else None,
        subtitle=f"{first_up(name)} minus that under “{by.title(by.baseline)}” on the same tasks, "
        "with simultaneous 95 % intervals.",
    )
    shown = [_agent(by)]
    for kind in kinds:
        title = by.title(kind)
        shown.append(_accuracy(by, kind, title, title))
        if by.baseline:
            head = parts.estimate_column("Change", f"{title} change", "Against the baseline")
            shown.append(_change(by, kind, head))
    page.table(
        "kinds",
        f"{first_up(name)} by kind of disturbance",
        by.agents if kinds else (),
        shown,
        note=f"{first_up(name)} under one kind of disturbance alone; change on the same tasks.",
    )


def _span(panels: Mapping[str, Sequence[PointRow]]) -> tuple[float, float]:
    """Return an axis around 0 that holds every value and interval, in whole quarters."""
    reach = [0.25]
    for mark in (mark for marks in panels.values() for mark in marks):
        interval, value = mark.value.interval, mark.value.value
        reach += [abs(interval.low), abs(interval.high)] if interval is not None else []
        reach += [abs(value)] if value is not None else []
    widest = ceil(4 * max(reach) - NEARLY) / 4
    return -widest, widest


def _show_lengths(
    page: Page, by: ByCondition, lengths: Lengths, contrasts: Contrasts, name_first: str
) -> None:
    """Add accuracy by the length of what remained, and by task with a short and a long path."""
    first, last = contrasts.lengths[0], contrasts.lengths[-1]

    def draw() -> Figure:
        return number_lines(
            {a: [(size, lengths.accuracy[a, size]) for size in lengths.bins] for a in by.agents},
            contrasts.remaining_title,
            name_first,
            styles=figure_specs.styles(list(by.agents)),
            urls={agent: by.url(agent, last) for agent in by.agents},
        )

    def of_agent(agent: str) -> Column[int]:
        link = Link(runs=by.runs_of(agent, contrasts.lengths))
        return columns.estimate(
            agent,
            lambda size: lengths.accuracy[agent, size],
            "share",
            part=agent,
            show_n=True,
            link=lambda _: link,
        )

    def length(condition: str) -> Column[str]:
        def cell(agent: str) -> Cell:
            mean = lengths.means.get((agent, condition))
            return parts.number_cell(mean, "number", reason="no path was left over")

        head = parts.number_column(f"Length, {by.title(condition).lower()}")
        return Column(head, cell, lambda agent: Link(runs=by.runs_of(agent, [condition])))

    def accuracy(condition: str) -> Column[str]:
        return columns.estimate(
            by.title(condition),
            lambda agent: by.accuracy[agent, condition],
            "share",
            show_n=True,
            link=lambda agent: Link(url=by.url(agent, condition)),
        )

    page.figure(
        "lengths",
        f"{name_first} by the length of what remained",
        draw if lengths.bins else None,
        subtitle="Conditions on length together, with 95 % intervals. Tasks differ from length to "
        "length.",
    )
    page.table(
        "lengths",
        contrasts.remaining_title,
        lengths.bins,
        [
            Column(parts.number_column("Length"), lambda size: Cell(str(size), (size,))),
            *map(of_agent, by.agents),
        ],
        note=f"{name_first} under both conditions on length together, by the mean length of what "
        "remained. Tasks differ from line to line.",
    )
    if not {first, last} <= set(by.conditions):
        return
    page.table(
        "longer",
        "The same tasks with a short and a long path",
        by.agents,
        [
            _agent(by, last),
            length(first),
            length(last),
            accuracy(first),
            accuracy(last),
            Column(
                parts.estimate_column("Change", "change", "Long minus short on the same tasks"),
                lambda agent: points_cell(
                    lengths.longer[agent], by.flips(agent, last, against=first)
                ),
            ),
        ],
        note="Paired by task, so that other properties of tasks do not count; 95 % intervals of "
        "one agent each.",
    )


def _published_columns(captions: Mapping[str, Caption], name_first: str) -> list[Column[Published]]:
    """Give the reference figures that belong here, with the interval that n gives them."""

    def value(entry: Published) -> Cell:
        return estimate_cell(published_estimate(entry, is_rate=True), "share", show_n=bool(entry.n))

    return [
        columns.published(lambda entry: entry.model, lambda entry: f"{entry.source}; {entry.note}"),
        columns.text("Condition", lambda entry: captions[entry.metric].title),
        Column(parts.estimate_column(name_first), value),
        columns.text("Source", lambda entry: entry.source, sub=lambda entry: entry.note),
    ]


def _agent(by: ByCondition, condition: str = "") -> Column[str]:
    """Name an agent with what marks it; it leads to its run under one condition."""

    def cell(agent: str) -> Cell:
        runs = [run for (name, _), run in by.runs.items() if name == agent]
        badges = dict.fromkeys(badge for run in runs for badge in run_marks.agent_badges(run))
        data = (agent, runs[0].agent_kind)
        return Cell(agent, data, url=by.url(agent, condition), badges=tuple(badges))

    return Column(parts.Column("Agent", ("agent", "kind"), num=False), cell)


def _condition(by: ByCondition) -> Column[str]:
    def cell(condition: str) -> Cell:
        caption = by.captions[condition]
        return Cell(caption.title, (caption.title, condition), tip=caption.help)

    return Column(parts.Column("Condition", ("condition", "setting"), num=False), cell)


def _accuracy(by: ByCondition, condition: str, title: str, part: str) -> Column[str]:
    """Give each agent its accuracy under a condition."""
    head = parts.estimate_column(title, part)
    return Column(head, lambda agent: _accuracy_cell(by, agent, condition))


def _accuracy_of(by: ByCondition, agent: str) -> Column[str]:
    """Give each condition the accuracy of an agent."""
    return Column(parts.estimate_column(agent, agent), partial(_accuracy_cell, by, agent))


def _accuracy_cell(by: ByCondition, agent: str, condition: str) -> Cell:
    accuracy, run = by.accuracy[agent, condition], by.runs.get((agent, condition))
    url = addresses.successes(run, accuracy) if run is not None else ""
    return estimate_cell(accuracy, "share", url=url, show_n=True)


def _change(by: ByCondition, condition: str, head: parts.Column) -> Column[str]:
    """Give each agent its change from the baseline to a condition."""
    return Column(head, lambda agent: _change_cell(by, agent, condition))


def _change_of(by: ByCondition, agent: str) -> Column[str]:
    """Give each condition the change of an agent against the baseline."""
    return Column(parts.estimate_column(agent, agent), partial(_change_cell, by, agent))


def _change_cell(by: ByCondition, agent: str, condition: str) -> Cell:
    return points_cell(by.change[agent, condition], by.flips(agent, condition))

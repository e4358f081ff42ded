"""The effects page shows what a factor, such as the level, changes on the same tasks."""

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace

from analysis.figures.layout.theme import Figure
from analysis.figures.tool_use import PointRow
from analysis.filters.page_filters import measures_here
from analysis.frames.outcomes import unfinished, why_undefined
from analysis.kit import columns
from analysis.kit.columns import Column
from analysis.kit.empty import no_runs
from analysis.kit.links import Link
from analysis.kit.page import Content, Page
from analysis.pages.comparisons import (
    clear_column,
    interval_and_n,
    itself,
    left_out_column,
    p_column,
    tasks_column,
)
from analysis.pages.effects.bracket import compare_sides, sides_in_words, sides_table
from analysis.pages.effects.feedback import feedback_tables
from analysis.pages.effects.figures import OVERALL, change_figure, value_figure
from analysis.pages.effects.rows import (
    MeanChange,
    Varied,
    compare_values,
    mean_changes,
    odds_of_success,
    read_values,
)
from analysis.pages.effects.tables import (
    missing_runs,
    missing_table,
    profile_table,
    published_parts,
)
from analysis.reports import addresses, chosen_runs, system_facts
from analysis.reports import content as parts
from analysis.reports.content import Cell, estimate_cell, how_interval
from analysis.reports.formatting import (
    counted,
    difference,
    left_out_sentence,
    listed,
    p_words,
    plural,
    stated_change,
)
from analysis.stats.comparison.condition_effects import ConditionChange, ConditionEffects

MOST_ROWS = 60
# More would make the sentence too long to read.
MOST_IN_WORDS = 2


def content(page: Page) -> Content:
    """Compare the values of a factor, agent by agent, on the same tasks."""
    selection, filters = page.selection, page.selection.filters
    purpose = (
        "This page shows what one thing that runs are varied in changes, all else being alike."
    )
    if not page.runs or filters.measure not in measures_here(selection.system):
        no_runs(page, purpose)
        return
    factors = page.system.comparisons.factors
    factor = next((one for one in factors if one.name == filters.factor), None)
    if factor is None:
        page.nothing(
            "Nothing is varied here in a way that is known",
            f"{purpose} Of {chosen_runs.dataset_name(selection)} it is not known what that would "
            "be; conditions are compared with the standard one under Conditions.",
            "See the conditions",
            addresses.address("analysis:conditions", {"dataset": filters.dataset}),
        )
        return
    data = read_values(selection, factor)
    measure, varied = data.measure, len(data.titles) > 1
    effects = compare_values(data, data.runs)
    changes = effects.changes if effects is not None and varied else ()
    tested = [one for one in changes if one.comparison.p_value is not None]
    overall = mean_changes(effects) if varied else []
    bracket = compare_sides(page, data) if varied else None
    missing = missing_runs(selection, data)

    def tasks(change: ConditionChange, flip: str = "") -> str:
        """Return the address of the tasks behind a change: all, or those of one outcome."""
        first = data.everybody.get((change.model, change.condition))
        second = data.everybody.get((change.model, change.base))
        if first is None or second is None:
            return ""
        more = {"flip": flip} if flip else {}
        return addresses.side_by_side(first, second, data.metric, **more)

    if effects is None or not tested:
        page.answer(_why_nothing(page, data, known=effects is not None))
    else:
        page.answer(_tested_words(data, tested, effects.family.size, name=bracket is None))
        if bracket is not None:
            page.answer(sides_in_words(bracket, data))
        elif len(effects.models) > 1:
            page.answer(_on_average(data, overall))
    page.answers = bool(tested)
    page.compared([one.comparison.difference for one in tested], data.unit)
    if missing and not varied:
        page.info("Details list the runs that are needed and link to the form that starts them.")
    if effects is not None:
        _notices(page, data, effects)

    def draw_changes() -> Figure:
        panels: dict[str, list[PointRow]] = {}
        if effects is not None and len(effects.models) > 1:
            for move in overall:
                mark = PointRow(OVERALL, move.estimate, OVERALL, page.url())
                panels.setdefault(f"{move.base} → {move.condition}", []).append(mark)
        for one in changes:
            url = page.url(url=tasks(one))
            mark = PointRow(one.model, one.comparison.difference, one.model, url)
            panels.setdefault(f"{one.base} → {one.condition}", []).append(mark)
        return change_figure(data, panels, list(effects.models) if effects is not None else [])

    page.figure(
        "changes",
        f"Change in {measure.title} on the same tasks",
        draw_changes if varied else None,
        subtitle="With simultaneous 95 % intervals. The interval of all agents together is for "
        "that average alone.",
    )
    family = effects.family if effects is not None else None
    page.table(
        "changes",
        "Changes on the same tasks",
        changes,
        _change_columns(data, tasks),
        link=lambda one: Link(url=tasks(one)),
        note=f"Intervals and p-values are corrected over {family.statement} (Bonferroni)."
        if family is not None
        else "",
        most=MOST_ROWS,
    )
    yield

    if effects is not None:
        _values(page, data, effects)
    from_to: list[Column[MeanChange]] = [
        columns.text("From", lambda move: move.base),
        columns.text("To", lambda move: move.condition),
    ]
    page.table(
        "overall",
        "All agents together",
        overall,
        [
            *from_to,
            columns.change(
                "Mean change",
                lambda move: move.estimate,
                data.unit,
                help="Each agent with the same weight; n counts agents",
            ),
        ],
        note="Tasks are taken as independent, for all agents at once; it speaks of these agents. n "
        "counts agents.",
    )
    if bracket is not None:
        sides_table(page, bracket, data)
    odds = odds_of_success(data)
    ratios = odds.ratios if odds is not None else {}
    page.table(
        "odds",
        "Odds of success, all agents together",
        [MeanChange(next(iter(data.titles.values())), *ratio) for ratio in ratios.items()],
        [
            *from_to,
            columns.estimate(
                "Odds ratio",
                lambda move: move.estimate,
                "number",
                help="Below 1 success is less likely; n counts tasks",
                show_n=True,
            ),
        ],
        note="Logit GEE over all agents shown, tasks as clusters, with 95 % intervals of one ratio "
        "each. It describes and is not tested; Changes shows what is clear.",
        folded=True,
    )
    if effects is not None and varied:
        _ranges_table(page, data, effects)
    feedback_tables(page, data)
    profile_table(page, factor)
    published_parts(page, data)
    missing_table(page, factor, missing)
    if effects is None or family is None:
        return
    left_out: Counter[str] = Counter()
    for run in data.runs:
        left_out.update(unfinished(run))
    names = system_facts.titles_of(selection.system)
    for why, count in why_undefined(data.frame, data.metric).items():
        left_out[system_facts.in_words(why, names)] += count
    page.how(
        f"{measure.title}: {measure.help} Intervals: "
        f"{how_interval(list(effects.cells.values())) or 'none'}.",
        left_out_sentence(left_out),
        f"Compared are runs of one agent that differ in {factor.title.lower()} alone; of several "
        "such runs the newest finished one.",
    )
    if varied:
        against = "the one before it" if effects.contrast == "previous" else "the first"
        further = "".join(f", and {new} against {old}" for new, old in data.further_pairs())
        own = how_interval([one.comparison.difference for one in changes]) or "no interval"
        averages = [move.estimate for move in overall if move.estimate.value is not None]
        not_tested = f" Not tested: {counted(family.excluded)}." if family.excluded else ""
        page.how(
            f"Change: each value against {against}{further}, mean over the tasks that the agent "
            f"has under both; {own}.",
            "Test: the score test that the interval inverts; two-sided.",
            f"Family: {family.statement}, whichever are shown; {family.method}, α = "
            f"{family.alpha}. An interval excludes 0 exactly where the change is clear."
            f"{not_tested}",
            "All agents together: mean of the agents' changes, each with the same weight; "
            f"{how_interval(averages) or 'no interval'}, which allows for few tasks and takes the "
            "changes of all agents on a task together. It speaks of these agents.",
            "Range: highest minus lowest mean on the tasks under all values. Its interval is what "
            "the simultaneous intervals of all pairs of values allow (Bonferroni); it is never "
            "negative and grows with chance.",
        )
    if odds is not None and odds.structure:
        page.how(
            f"Odds ratios: GEE with a logit link, {odds.structure} working correlation of outcomes "
            "on one task, one coefficient for each agent and each value; errors of Mancl and "
            f"DeRouen; {how_interval(list(ratios.values())) or 'no interval'}. They are of these "
            "agents and tasks together."
        )
    if not changes:
        return
    page.methods(
        f"{measure.title} was compared between values of {factor.title.lower()} as the mean "
        "difference on the tasks that an agent has under both; intervals and score tests of "
        f"changes are corrected over {family.statement} (Bonferroni)."
    )


def _why_nothing(page: Page, data: Varied, *, known: bool) -> str:
    """Say why no change could be tested."""
    factor = data.factor.title.lower()
    if not known:
        scripts = {run.agent_kind for run in page.runs} == {"scripted"}
        why = ", so what it changes is not known"
        if data.factor.kind == "parameter" and scripts:
            why = (
                ": these scripts take none. What it changes is not known without runs of a "
                "language model, or of a script that takes one"
            )
        return f"No run here has a known {factor}{why}."
    first, *others = data.titles.values()
    if not others:
        return f"All runs here have the same {factor} (“{first}”), so there is nothing to compare."
    return f"No agent has a task that was scored under two values of the {factor}."


def _tested_words(
    data: Varied, tested: Sequence[ConditionChange], corrected: int, *, name: bool
) -> str:
    """Say how many changes are clear, and with ``name`` which is the largest of them."""
    title, clear = data.measure.title, [one for one in tested if one.clear]
    if len(tested) == 1:
        return (
            f"The one change in {title} is {'' if clear else 'not '}clear: that of "
            f"{_change_words(data, tested[0])}."
        )
    text = (
        f"{len(clear)} of {plural(len(tested), 'change')} in {title} "
        f"{'is' if len(clear) == 1 else 'are'} clear{' after correction' * (corrected > 1)}"
    )
    if clear and name:
        largest = max(clear, key=lambda one: abs(one.comparison.difference.value or 0))
        which = "It" if len(clear) == 1 else "The largest of them"
        text += f". {which} is that of {_change_words(data, largest)}"
    return f"{text}."


def _change_words(data: Varied, change: ConditionChange) -> str:
    gap = change.comparison.difference
    value = difference(gap.value or 0.0, data.unit, signed=True)
    p = f", {p_words(change.p_adjusted)}" if change.p_adjusted is not None else ""
    return (
        f"{change.model} from “{change.base}” to “{change.condition}”, {value} "
        f"({interval_and_n(gap, data.unit)}{p})"
    )


def _on_average(data: Varied, overall: Sequence[MeanChange]) -> str:
    """Say what changes on average: what the factor asks for by itself, then what is clear."""
    moves = [move for move in overall if move.estimate.value is not None]
    if not moves:
        return ""
    pairs, clear = data.further_pairs(), [move for move in moves if move.estimate.is_clear]
    asked = [move for move in moves if (move.condition.lower(), move.base.lower()) in pairs]
    others = clear or ([] if asked else moves)
    shown = [*asked, *(move for move in others if move not in asked)][:MOST_IN_WORDS]
    counts = {move.estimate.n for move in moves}
    who = plural(counts.pop(), "agent") if len(counts) == 1 else "the agents that have both"
    if len(moves) > 1 and not clear and not pairs:
        return f"On average over {who}, none of {plural(len(moves), 'change')} is clear."
    more = len(moves) - len(shown)
    rest = f"; {more} more {'average is' if more == 1 else 'averages are'} in the details"
    words = " and ".join(_move_words(data, move) for move in shown)
    return f"On average over {who}, {data.measure.title} {words}{rest * (more > 0)}."


def _move_words(data: Varied, move: MeanChange) -> str:
    between, change = f"from “{move.base}” to “{move.condition}”", move.estimate
    if not change.value:
        return f"does not change {between}"
    if change.is_clear:
        return f"changes {between} by {stated_change(change, data.unit)}"
    return f"does not clearly change {between}: {stated_change(change, data.unit)}"


def _notices(page: Page, data: Varied, effects: ConditionEffects) -> None:
    """Name runs that the comparison lacks, and runs over other numbers of tasks."""
    titles = data.titles.values()
    lacking = {
        agent: ", ".join(title for title in titles if (agent, title) not in data.everybody)
        for agent in effects.models
    }
    gone = [f"{agent} ({values})" for agent, values in lacking.items() if values]
    if gone:
        page.info(f"Not every agent was run everywhere; missing: {listed(gone, most=6)}.")
    if data.alone:
        page.info(
            f"{plural(len(data.alone), 'agent')} with one value alone "
            f"{'is' if len(data.alone) == 1 else 'are'} not shown, because there is nothing to "
            f"compare: {listed(data.alone, most=10)}."
        )
    counts: dict[str, set[int]] = {}
    for (agent, _), cell in effects.cells.items():
        counts.setdefault(agent, set()).update({cell.n} - {0})
    if len(titles) > 1 and any(len(own) > 1 for own in counts.values()):
        every = set().union(*counts.values())
        page.info(
            f"The runs have different numbers of tasks ({min(every)} to {max(every)}). Values side "
            "by side are of different tasks then; the changes compare the same tasks alone."
        )


def _change_columns(data: Varied, tasks: Callable[..., str]) -> list[Column[ConditionChange]]:
    """Give every change on the same tasks, with its test."""
    more, less = ("Won", "Lost") if data.measure.in_percent else ("Higher", "Lower")
    return [
        columns.agent_of_runs(lambda one: data.runs_of(one.model)),
        columns.text("From", lambda one: one.base),
        columns.text("To", lambda one: one.condition),
        columns.change(
            "Change",
            lambda one: one.comparison.difference,
            data.unit,
            help="On the tasks under both, simultaneous 95 % interval",
        ),
        tasks_column(
            more,
            "wins",
            lambda one: one.wins,
            "Tasks that are better under the second",
            link=lambda one: Link(url=tasks(one, "won")),
        ),
        tasks_column("Equal", "ties", lambda one: one.ties),
        tasks_column(
            less,
            "losses",
            lambda one: one.losses,
            "Tasks that are worse under the second",
            link=lambda one: Link(url=tasks(one, "lost")),
        ),
        p_column(itself),
        clear_column(itself),
        left_out_column(itself),
    ]


def _values(page: Page, data: Varied, effects: ConditionEffects) -> None:
    """Add the measure of every agent under every value."""

    def link(agent: str, value: str) -> Link | None:
        run = data.everybody.get((agent, value))
        return Link(runs=(run.pk,)) if run is not None else None

    def mark(agent: str, value: str) -> PointRow:
        about = link(agent, value)
        url = page.links.url(about) if about is not None else ""
        return PointRow(agent, effects.cells[agent, value], agent, url)

    def draw() -> Figure:
        panels = {
            value: [mark(agent, value) for agent in effects.models] for value in effects.conditions
        }
        return value_figure(data, panels, effects.models)

    def column(value: str) -> Column[str]:
        return columns.estimate(
            value,
            lambda agent: effects.cells[agent, value],
            data.unit,
            show_n=True,
            link=lambda agent: link(agent, value),
        )

    title = f"{data.measure.title} by {data.factor.title.lower()}"
    one_scale = "; all panels have one scale" * (len(data.titles) > 1)
    page.figure("values", title, draw, subtitle=f"With 95 % intervals{one_scale}.")
    page.table(
        "values",
        title,
        effects.models,
        [columns.agent_of_runs(data.runs_of), *map(column, effects.conditions)],
        note=data.measure.help,
    )


def _ranges_table(page: Page, data: Varied, effects: ConditionEffects) -> None:
    """Add how far apart the highest and the lowest value of each agent are."""

    def cell(agent: str) -> Cell:
        shown = estimate_cell(effects.ranges[agent], data.unit, show_n=True)
        if data.measure.in_percent and shown.text:
            return replace(shown, text=f"{shown.text.removesuffix(' %')} pt")
        return shown

    page.table(
        "ranges",
        "Ranges",
        effects.models,
        [
            columns.agent_of_runs(data.runs_of),
            Column(
                parts.estimate_column("Range", help="Highest minus lowest; n counts tasks"), cell
            ),
        ],
        link=lambda agent: Link(runs=tuple(run.pk for run in data.runs_of(agent))),
        note="Highest minus lowest mean, on the tasks under all values. It is never negative and "
        "grows with chance: read its upper end.",
    )

"""The columns of the page on conditions."""

from collections.abc import Sequence
from dataclasses import replace

from analysis.filters.selection import ChosenRun
from analysis.kit.links import Link
from analysis.pages.conditions.rows import ConditionsResult
from analysis.pages.declaration import ColumnOf, estimate_of, text_of
from analysis.reports import addresses, run_marks
from analysis.reports.content import (
    Badge,
    Cell,
    Column,
    estimate_cell,
    estimate_column,
    number_cell,
    number_column,
    points_cell,
    text_cell,
    text_column,
)
from analysis.reports.published import published_estimate
from benchmarks.core.ports.published import Published

AGENT = Column("Agent", ("agent", "kind"), num=False)
CONDITION = Column("Condition", ("condition", "setting"), num=False)


def agents_of(result: ConditionsResult) -> Sequence[str]:
    """Return the agents, where the change from the baseline to the contrast is known."""
    return result.agents if result.contrast else ()


def contrast_columns(result: ConditionsResult) -> Sequence[ColumnOf[str]]:
    """Give each agent its accuracy under baseline and contrast, and the change between them."""
    base, other = result.baseline, result.contrast
    return (
        _agent(result, other),
        _accuracy(result, estimate_column(result.title(base), "baseline"), base),
        _accuracy(result, estimate_column(result.title(other), "contrast"), other),
        _change(
            result,
            estimate_column(
                "Change", "change", "On the same tasks; intervals of all changes hold together"
            ),
            other,
        ),
    )


def accuracy_columns(result: ConditionsResult) -> Sequence[ColumnOf[str]]:
    """Give each condition the accuracy of every agent."""
    return (
        _condition(result),
        *(
            ColumnOf(
                estimate_column(agent, agent),
                lambda condition, agent=agent: _accuracy_cell(result, agent, condition),  # type: ignore[misc]
            )
            for agent in result.agents
        ),
    )


def change_columns(result: ConditionsResult) -> Sequence[ColumnOf[str]]:
    """Give each condition the change of every agent against the baseline."""
    return (
        _condition(result),
        *(
            ColumnOf(
                estimate_column(agent, agent),
                lambda condition, agent=agent: points_cell(  # type: ignore[misc]
                    result.change[agent, condition], result.flips(agent, condition)
                ),
            )
            for agent in result.agents
        ),
    )


def kind_columns(result: ConditionsResult) -> Sequence[ColumnOf[str]]:
    """Give each agent its accuracy under each kind of disturbance, and what that costs."""
    columns = [_agent(result)]
    for kind in result.kinds:
        title = result.title(kind)
        columns.append(_accuracy(result, estimate_column(title, title), kind))
        if result.baseline:
            change = estimate_column("Change", f"{title} change", "Against the baseline")
            columns.append(_change(result, change, kind))
    return columns


def length_columns(result: ConditionsResult) -> Sequence[ColumnOf[int]]:
    """Give each length the accuracy of every agent."""
    lengths, contrasts = result.lengths, result.data.contrasts
    assert lengths is not None and contrasts is not None
    runs = {agent: result.runs_of(agent, contrasts.lengths) for agent in result.agents}
    return (
        ColumnOf(number_column("Length"), lambda size: Cell(str(size), (size,))),
        *(
            estimate_of(
                agent,
                lambda size, agent=agent: lengths.accuracy[agent, size],  # type: ignore[misc]
                "share",
                part=agent,
                show_n=True,
                link=lambda _, agent=agent: Link(runs=runs[agent]),  # type: ignore[misc]
            )
            for agent in result.agents
        ),
    )


def longer_columns(result: ConditionsResult) -> Sequence[ColumnOf[str]]:
    """Give each agent its accuracy with short and with long paths, and the change between them."""
    lengths, contrasts = result.lengths, result.data.contrasts
    assert lengths is not None and contrasts is not None
    first, last = contrasts.lengths[0], contrasts.lengths[-1]

    def length(name: str) -> ColumnOf[str]:
        return ColumnOf(
            number_column(f"Length, {result.title(name).lower()}"),
            lambda agent: number_cell(
                lengths.means.get((agent, name)), "number", reason="no path was left over"
            ),
            lambda agent: Link(runs=result.runs_of(agent, (name,))),
        )

    def accuracy(name: str) -> ColumnOf[str]:
        return ColumnOf(
            estimate_column(result.title(name)),
            lambda agent: estimate_cell(
                result.accuracy[agent, name],
                "share",
                show_n=True,
                url=result.url(agent, name),
            ),
        )

    return (
        _agent(result, last),
        *(length(name) for name in (first, last)),
        *(accuracy(name) for name in (first, last)),
        ColumnOf(
            estimate_column("Change", "change", "Long minus short on the same tasks"),
            lambda agent: points_cell(
                lengths.longer[agent], result.flips(agent, last, against=first)
            ),
        ),
    )


def published_columns(result: ConditionsResult) -> Sequence[ColumnOf[Published]]:
    """Give the reference figures that belong here, with the interval that n gives them."""
    contrasts = result.data.contrasts
    words = contrasts.published if contrasts is not None else {}
    return (
        ColumnOf(
            text_column("Model"),
            lambda entry: text_cell(
                entry.model,
                badges=(replace(run_marks.PUBLISHED_BADGE, why=f"{entry.source}; {entry.note}"),),
            ),
        ),
        text_of("Condition", lambda entry: words[entry.metric].title),
        ColumnOf(
            estimate_column(result.name_first),
            lambda entry: estimate_cell(
                published_estimate(entry, is_rate=True), "share", show_n=bool(entry.n)
            ),
        ),
        text_of("Source", lambda entry: entry.source, sub=lambda entry: entry.note),
    )


def _agent(result: ConditionsResult, condition: str = "") -> ColumnOf[str]:
    """Name an agent with what marks it; it leads to its run under one condition."""

    def cell(agent: str) -> Cell:
        runs = [run for (name, _), run in result.runs.items() if name == agent]
        return Cell(
            agent,
            (agent, runs[0].agent_kind),
            url=result.url(agent, condition),
            badges=_badges(runs),
        )

    return ColumnOf(AGENT, cell)


def _badges(runs: Sequence[ChosenRun]) -> tuple[Badge, ...]:
    return tuple(dict.fromkeys(badge for run in runs for badge in run_marks.agent_badges(run)))


def _condition(result: ConditionsResult) -> ColumnOf[str]:
    def cell(condition: str) -> Cell:
        words = result.words[condition]
        return Cell(words.title, (words.title, condition), tip=words.help)

    return ColumnOf(CONDITION, cell)


def _accuracy(result: ConditionsResult, column: Column, condition: str) -> ColumnOf[str]:
    return ColumnOf(column, lambda agent: _accuracy_cell(result, agent, condition))


def _accuracy_cell(result: ConditionsResult, agent: str, condition: str) -> Cell:
    accuracy, run = result.accuracy[agent, condition], result.runs.get((agent, condition))
    url = addresses.successes(run, accuracy) if run is not None else ""
    return estimate_cell(accuracy, "share", url=url, show_n=True)


def _change(result: ConditionsResult, column: Column, condition: str) -> ColumnOf[str]:
    return ColumnOf(
        column,
        lambda agent: points_cell(result.change[agent, condition], result.flips(agent, condition)),
    )

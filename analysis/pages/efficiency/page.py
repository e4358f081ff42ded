"""What does a better result cost? The ranking measure of agents against what it took them."""

from typing import NamedTuple

from analysis.figures.costs import CostPanel, CostRow, cost_dots
from analysis.figures.layout.theme import Figure
from analysis.filters.factors import condition_titles
from analysis.filters.selection import ChosenRun
from analysis.frames.outcomes import outcome_frame
from analysis.kit import columns
from analysis.kit.empty import no_runs
from analysis.kit.links import Link
from analysis.kit.page import Content, Page
from analysis.pages.outcome_estimates import estimate_measure
from analysis.reports.content import exclusions
from analysis.reports.extremes import standing
from analysis.reports.figure_specs import styles
from analysis.reports.formatting import (
    first_up,
    left_out_sentence,
    listed,
    number,
    unit_of,
    unit_of_differences,
)
from analysis.stats.comparison.extremes import Extreme, find_extreme, paired_groups, pairs_of
from analysis.stats.results import Estimate
from benchmarks.core.conditions import STANDARD

# More rows than these make a figure that no page holds; the table has them all.
MOST_ROWS = 40


class Row(NamedTuple):
    """An agent under a condition: its result, and what it took."""

    run: ChosenRun
    condition: str
    name: str
    result: Estimate
    costs: list[Estimate]


def content(page: Page) -> Content:
    """Set the result of each agent against its costs."""
    labels = page.system.labels
    if not page.runs or not labels.headlines or not labels.costs:
        no_runs(page, "This page sets what agents reach against what it takes them.")
        return
    metric, cost_names = labels.headlines[0], list(labels.costs)
    main, costs = labels.measures[metric], [labels.measures[name] for name in cost_names]
    frame = outcome_frame(page.runs, [metric, *cost_names])
    titles = condition_titles(page.system, [run.condition for run in page.runs])
    several_conditions = len({run.condition for run in page.runs}) > 1
    several_agents = len({run.label for run in page.runs}) > 1

    rows = []
    for run in page.runs:
        mine, condition = frame[frame["run"] == run.pk], titles.get(run.condition, run.condition)
        plain = not several_conditions or condition == STANDARD
        name = run.label if plain else f"{run.label} ({condition})"
        spent = [estimate_measure(mine, n, m) for n, m in zip(cost_names, costs, strict=True)]
        rows.append(Row(run, condition, name, estimate_measure(mine, metric, main), spent))
    rows.sort(key=lambda row: (row.result.value is None, -(row.result.value or 0), row.name))
    known = [row for row in rows if row.result.value is not None and row.costs[0].value is not None]
    names = {row.run.pk: row.name for row in known}
    paired = frame[frame["run"].isin(list(names))]
    # The family of differences is all pairs of agents, on the result and on the first cost.
    comparisons = 2 * pairs_of(max(len(page.runs), len(page.selection.family)))

    def extreme(values: list[Estimate], name: str, most: float | None, lowest: bool) -> Extreme:
        labels, tasks = paired["run"].map(names).tolist(), paired["task"].tolist()
        difference = paired_groups(
            labels, tasks, paired[name].to_numpy(), comparisons=comparisons, most=most
        )
        by_name = {row.name: one.value for row, one in zip(known, values, strict=True)}
        return find_extreme(by_name, difference, lowest=lowest)

    if not known:
        page.answer("No run here has both a result and a cost.")
    best = extreme([row.result for row in known], metric, main.most, lowest=False)
    points = unit_of_differences(main)
    if known:
        cheapest = extreme(
            [row.costs[0] for row in known], cost_names[0], costs[0].most, lowest=True
        )
        page.answer(f"{first_up(main.name)}: {standing(best, points)}.")
        cost = f"{costs[0].title}: {standing(cheapest, unit_of(costs[0]), lowest=True)}"
        if cheapest.is_clear and len(cheapest.names) == 1 and cheapest.names != best.names:
            result = next(row.result for row in known if row.name == cheapest.name)
            sign = " %" if main.kind == "percent" else ""
            cost += f", with {main.name} {number(result.value or 0.0, unit_of(main))}{sign}"
        page.answer(f"{cost}.")
    page.compared([best.difference] if best.difference is not None else [], points)

    def draw() -> Figure:
        panels = [
            CostPanel(main.title, "share" if main.in_percent else "points", main.most),
            *(CostPanel(measure.title) for measure in costs),
        ]
        dots = [
            CostRow(
                row.run.label, row.condition, row.name, [row.result, *row.costs],
                page.url(runs=(row.run.pk,)),
            )
            for row in rows
        ]  # fmt: skip
        return cost_dots(panels, dots, styles=styles([row.run.label for row in rows]))

    page.figure(
        "efficiency",
        f"{main.title} beside what it took",
        draw if known and len(rows) <= MOST_ROWS else None,
        subtitle=f"A row is an agent{' under a condition' * several_conditions}, the best result "
        f"first{', by agent' * (several_conditions and several_agents)}; 95 % intervals. Better is "
        "to the right in the first panel, cheaper to the left in the others.",
    )
    page.table(
        "efficiency",
        "Results and costs",
        rows,
        [
            columns.agent(lambda row: row.run),
            several_conditions and columns.text("Condition", lambda row: row.condition),
            columns.estimate(
                main.title, lambda row: row.result, unit_of(main), help=main.help, show_n=True
            ),
            *(
                columns.estimate(
                    measure.title, lambda row, i=i: row.costs[i], unit_of(measure),  # type: ignore[misc]
                    help=measure.help, show_n=True,
                )
                for i, measure in enumerate(costs)
            ),
        ],
        link=lambda row: Link(runs=(row.run.pk,)),
    )  # fmt: skip
    if several_agents:
        page.onward("Is the difference between two agents real?", page.other("compare-models"))
    if several_conditions:
        page.onward("What does a condition change?", page.other("effects"))
    yield
    cost_titles = listed([measure.title for measure in costs], most=9)
    left_out = exclusions([row.result for row in rows])
    page.how(
        f"{main.title}: {main.help} Costs: {cost_titles}, means over the same runs, failed "
        "trajectories included.",
        "Each interval is for one number alone, at 95 %: Wilson for shares of trajectories, t for "
        "means, by task where tasks were tried several times. Differences in the sentence are "
        "paired by task; their intervals hold together over all pairs on the result and on "
        f"{costs[0].title.lower()} (Bonferroni).",
        left_out_sentence(left_out, main.title),
    )
    page.methods(f"{main.title} is set against {cost_titles} by agent and condition.")

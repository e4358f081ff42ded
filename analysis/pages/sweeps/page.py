"""The threshold page shows how the order of agents changes with the rubric threshold."""

from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from typing import Any, NamedTuple

from analysis.figures.layout.theme import Figure
from analysis.figures.thresholds import stability_figure, threshold_figure
from analysis.filters.runs import is_judged
from analysis.filters.selection import ChosenRun, Selection
from analysis.frames.outcomes import unfinished
from analysis.frames.scores import LastPlans, last_plans
from analysis.kit import columns
from analysis.kit.columns import Column
from analysis.kit.empty import no_runs
from analysis.kit.links import Link
from analysis.kit.page import Content, Page
from analysis.reports import addresses
from analysis.reports import content as parts
from analysis.reports.content import Cell, estimate_cell, exclusions, how_interval
from analysis.reports.figure_specs import styles
from analysis.reports.formatting import first_up, left_out_sentence, listed, number, plural
from analysis.reports.published import published_estimate
from analysis.reports.system_facts import dimension_sets
from analysis.stats.comparison.ranks import reversed_pairs
from analysis.stats.comparison.thresholds import (
    REFERENCE,
    THRESHOLDS,
    RankOrder,
    StabilityPoint,
    ThresholdCurve,
    ThresholdPoint,
    ThresholdSweep,
    clear_reversals,
    sweep_of_estimates,
    threshold_stability,
    threshold_sweep,
)
from analysis.stats.results import Estimate
from benchmarks.core.registry import find_system

SEED = 20250101
NEARLY = 1e-9


class Plans(NamedTuple):
    """The last plans of runs, the dimensions that may count, the set of them that does, and τ."""

    last: LastPlans
    sets: dict[str, tuple[str, ...]]
    chosen: str
    tau: float

    def swept(self) -> tuple[list[str], list[int], Any, Any]:
        """Return agent, task, validity and counted scores of each plan."""
        scores = self.last.counted(self.sets[self.chosen])
        return self.last.labels, self.last.tasks, self.last.valid, scores


def content(page: Page) -> Content:
    """Vary the threshold, and compare the order of agents with that at the reference."""
    runs, filters = page.runs, page.selection.filters
    if not runs or not is_judged(page.selection.system):
        purpose = "shows what accuracy would be if another mean score were asked of plans"
        no_runs(page, f"This page {purpose}.", of_judges=True)
        return
    plans, run_of = _read_plans(page.selection), {run.label: run for run in runs}
    by_set = {
        name: threshold_sweep(
            plans.last.labels, plans.last.valid, plans.last.counted(keys), reference=plans.tau
        )
        for name, keys in plans.sets.items()
    }
    here = by_set[plans.chosen]
    tau, dimensions = f"τ = {here.reference:g}", "all dimensions"
    if plans.chosen == "main":
        dimensions = "the main dimensions"

    _answer(page, plans, here, dimensions)
    otherwise = [run.label for run in runs if run.settings.get("dimensions", "all") != plans.chosen]
    if otherwise and not filters.counted:
        page.warning(
            f"Counted by {dimensions} here, but not when they were run: {listed(otherwise)}."
        )
    one_judge = [run.label for run in runs if run.settings.get("quorum") == "any"]
    if one_judge:
        page.info(
            "A score counts here only where every judge gave one; in these runs one judge was "
            f"enough: {listed(one_judge)}."
        )

    def draw() -> Figure:
        names = [curve.model for curve in here.curves]
        urls = {name: page.url(runs=(run_of[name].pk,)) for name in names}
        return threshold_figure(here, styles(names), urls)

    page.figure(
        "sweep",
        "Accuracy by threshold, an agent in each panel",
        draw,
        subtitle=f"{first_up(dimensions)} count. With 95 % Wilson intervals; grey: the other "
        f"agents. Dashed: {tau}.",
        table="accuracy",
    )
    page.table(
        "accuracy",
        "Accuracy by threshold",
        here.curves,
        [
            columns.agent(lambda curve: run_of[curve.model]),
            *_by_threshold(here, lambda curve, point: _passing(run_of[curve.model], here, point)),
        ],
        note="Share of last plans that are valid and pass, with 95 % Wilson intervals.",
    )
    yield

    note = "Equal agents are listed in the order in which they were run."
    page.table(
        "orders", "The order at each threshold", here.orders, _order_columns(here), note=note
    )
    _dimensions_table(page, by_set, run_of, tau)
    published = published_sweep(page.selection.system) if filters.published != "hide" else None
    if published is not None:
        looks, paper = styles([curve.model for curve in published.curves]), published
        head = "Published: accuracy by threshold"
        page.figure(
            "published",
            head,
            lambda: threshold_figure(paper, looks, published=True),
            subtitle="Figures of the paper, with the Wilson intervals of the inferred n.",
        )
        page.table(
            "published",
            head,
            published.curves,
            [
                columns.published(
                    lambda curve: curve.model,
                    lambda _: "Table 10; n inferred; level not stated",
                ),
                *_by_threshold(published),
            ],
            link=lambda _: None,
            note="Table 10 of the paper, not from runs here; Wilson intervals of the inferred n.",
        )
        page.table(
            "published-orders",
            "Published: the order at each threshold",
            published.orders,
            _order_columns(published),
            link=lambda _: None,
            note=note,
        )
    first = [curve.points[0].accuracy for curve in here.curves]
    left_out: Counter[str] = Counter(exclusions(first))
    for run in runs:
        left_out.update(unfinished(run))
    page.how(
        "Accurate at τ: the last plan is valid and the judges’ mean score is at least τ on every "
        f"dimension that counts ({dimensions}); {how_interval(first) or 'none'} intervals.",
        left_out_sentence(left_out),
        "Orders are compared over the pairs of agents that differ at both thresholds; tau-b also "
        "takes ties into account. A swap is clear where both differences are clear, paired by "
        "task; their intervals hold together over all pairs of agents at all thresholds "
        "(Bonferroni).",
    )
    page.methods(
        f"Accuracy was computed at rubric thresholds from {here.thresholds[0]:g} to "
        f"{here.thresholds[-1]:g}, as the share of last plans that are valid and whose judges’ "
        f"mean score reaches the threshold on {dimensions}; orders of agents are compared with "
        f"that at {here.reference:g} by Kendall’s tau-b."
    )


def deferred(page: Page) -> None:
    """Rank the agents at every threshold, and draw tasks anew to compare the orders."""
    plans = _read_plans(page.selection)
    stability = threshold_stability(
        *plans.swept(), reference=plans.tau, among=page.selection.agents_here, seed=SEED
    )
    points, reference = stability.points, f"τ = {stability.reference:g}"
    models = [rank.model for rank in points[0].ranks] if points else []
    agents, tasks = f"the {len(models)} agents", plural(stability.tasks, "task")
    others = [
        point.kendall
        for point in points
        if point.kendall.value is not None and point.threshold != stability.reference
    ]
    unsure = sum(not kendall.is_clear for kendall in others)
    if not others:
        page.answer("No order can be compared with that at the reference: no two agents differ.")
    elif unsure:
        page.answer(
            f"At {unsure} of {plural(len(others), 'other threshold')} the order of {agents} may "
            f"have nothing to do with that at {reference}: the interval of Kendall’s tau-b "
            f"includes 0 or is undefined ({tasks} resampled)."
        )
    else:
        page.answer(
            f"At every other threshold the order of {agents} is related to that at {reference}: "
            f"every interval of Kendall’s tau-b excludes 0 ({tasks} resampled)."
        )
    page.figure(
        "stability",
        f"Agreement of each order with that at {reference}",
        lambda: stability_figure(
            [(point.threshold, point.kendall) for point in points],
            stability.reference,
            page.url(),
        ),
        subtitle="Kendall’s tau-b with 95 % intervals: 1 is the same order, 0 no relation.",
        table="agreement",
    )
    run_of = {run.label: run.pk for run in page.runs}
    page.table(
        "ranks",
        "Ranks by threshold",
        list(range(len(models))),
        [columns.text("Agent", lambda i: models[i]), *map(_rank_column, points)],
        link=lambda i: Link(runs=(run_of[models[i]],)),
        note="Rank, 1 for the highest accuracy, and the ranks compatible with all pairwise "
        "differences; those at one threshold hold together at 95 %.",
    )
    page.table(
        "agreement",
        "Agreement of orders",
        points,
        [
            _threshold_column(),
            columns.estimate(
                "Kendall’s tau-b", lambda point: point.kendall, "points", part="kendall"
            ),
        ],
        note=f"With the order at {reference}; n counts agents.",
    )
    page.how(
        "Ranks: an interval leaves out the ranks of agents that are clearly better or worse at "
        "this threshold (score tests on common tasks, Bonferroni over all pairs). Tau-b: the same "
        "drawn tasks for all agents and thresholds; "
        f"{how_interval([point.kendall for point in points]) or 'no interval'}. Drawing adds "
        "chance to both orders, so an interval may lie below its value."
    )


def _read_plans(selection: Selection) -> Plans:
    """Read the last plans with their scores, and how most runs count them."""

    def usual(setting: str, default: object) -> Any:
        values = Counter(run.settings.get(setting, default) for run in selection.runs)
        return values.most_common(1)[0][0]

    sets, asked = dimension_sets(selection.system), selection.filters.counted
    chosen = asked if asked in sets else usual("dimensions", "all")
    tau = usual("tau", REFERENCE)
    return Plans(
        last_plans(selection.runs, sets["all"]),
        sets,
        chosen if chosen in sets else "all",
        float(tau) if tau in THRESHOLDS else REFERENCE,
    )


def _answer(page: Page, plans: Plans, here: ThresholdSweep, dimensions: str) -> None:
    """Say whether agents swap order, and which do so clearly."""
    known = [curve for curve in here.curves if curve.points[0].accuracy.value is not None]
    lowest, highest = here.thresholds[0], here.thresholds[-1]
    low, high, tau = (f"τ = {one:g}" for one in (lowest, highest, here.reference))
    others = [order for order in here.orders if order.threshold != here.reference]
    ordered = [order for order in others if order.kendall is not None]
    page.answers = bool(ordered)
    if not known:
        why = sorted({why for curve in here.curves for why in curve.points[0].accuracy.excluded})
        page.answer(
            f"Accuracy is undefined at every threshold: {listed(why) or 'nothing is scored'}."
        )
        return
    if len(known) < 2:
        first, last = (known[0].points[i].accuracy for i in (0, -1))
        falls = " to ".join(
            f"{number(one.value or 0.0, 'share')} at {end}"
            for one, end in ((first, low), (last, high))
        )
        page.answer(
            f"{known[0].model}’s accuracy falls from {falls} (n = {first.n}); with one agent there "
            "is no order."
        )
        return
    if not ordered:
        page.answer(f"All {len(known)} agents are equal at {tau}, so there is no order to compare.")
        return
    swapped = sum(order.reversed_pairs > 0 for order in ordered)
    reversals = clear_reversals(*plans.swept(), here, among=page.selection.agents_here)
    if reversals:
        swap, more = reversals[0], len(reversals) - 1
        text = (
            f"{swap.first} is clearly ahead of {swap.second} at {tau} and clearly behind at "
            f"τ = {swap.threshold:g}, by {dimensions}"
        )
        if more:
            text += f"; {plural(more, 'more swap')} {'is' if more == 1 else 'are'} clear"
    elif swapped:
        text = (
            f"No two agents clearly swap order compared with {tau}: at {swapped} of "
            f"{plural(len(others), 'other threshold')} some pairs of the {len(known)} agents are "
            f"ordered otherwise, but no difference is clear on both sides (by {dimensions})"
        )
    elif any((order.kendall or 0) < 1 - NEARLY for order in ordered):
        text = (
            f"No two of the {len(known)} agents, by {dimensions}, swap order between {low} and "
            f"{high}, though some are tied at one threshold and not at another"
        )
    else:
        text = (
            f"The order of the {len(known)} agents, by {dimensions}, is the same at every "
            f"threshold from {lowest:g} to {highest:g}"
        )
    without = len(others) - len(ordered)
    if without:
        text += f". At {plural(without, 'threshold')} no two agents differ"
    page.answer(f"{text}.")


def _by_threshold(
    sweep: ThresholdSweep, url: Callable[[ThresholdCurve, ThresholdPoint], str] | None = None
) -> list[Column[ThresholdCurve]]:
    """Give an accuracy at every threshold; ``url`` is the address of one."""

    def column(i: int, tau: float) -> Column[ThresholdCurve]:
        def cell(curve: ThresholdCurve) -> Cell:
            point = curve.points[i]
            shown = estimate_cell(point.accuracy, "share", show_n=i == 0)
            return replace(shown, url=url(curve, point)) if url is not None else shown

        return Column(parts.estimate_column(f"τ = {tau:g}"), cell)

    return [column(i, tau) for i, tau in enumerate(sweep.thresholds)]


def _passing(run: ChosenRun, sweep: ThresholdSweep, point: ThresholdPoint) -> str:
    """Return the trajectories of a run; those that passed, where it had this threshold."""
    if run.settings.get("tau", sweep.reference) == point.threshold:
        return addresses.successes(run, point.accuracy)
    return addresses.trajectories_of(run)


def _threshold_column() -> Column[Any]:
    return Column(
        parts.text_column("Threshold"), lambda row: Cell(f"τ = {row.threshold:g}", (row.threshold,))
    )


def _order_columns(sweep: ThresholdSweep) -> list[Column[RankOrder]]:
    """Give the order at each threshold, and how it agrees with that at the reference."""
    reference = sweep.reference
    itself, none = "this is the reference", "no two agents differ here or at the reference"

    return [
        _threshold_column(),
        columns.sentences(
            "Order, best first", lambda order: ", ".join(order.models) or "none", "order"
        ),
        columns.count(
            "Swapped",
            lambda order: None if order.threshold == reference else order.reversed_pairs,
            "reversed pairs",
            f"Pairs ordered oppositely to τ = {reference:g}",
            reason=itself,
        ),
        columns.count(
            "Pairs",
            lambda order: order.pairs,
            help="Pairs of agents that differ here and at the reference",
        ),
        Column(
            parts.number_column(
                "Kendall’s tau-b", "kendall", "With the order at the reference, ties included"
            ),
            lambda order: (
                parts.number_cell(None, "points", reason=itself)
                if order.threshold == reference
                else parts.number_cell(order.kendall, "points", reason=none)
            ),
        ),
    ]


def _dimensions_table(
    page: Page, by_set: dict[str, ThresholdSweep], run_of: dict[str, ChosenRun], tau: str
) -> None:
    """Add each agent at the reference by all dimensions and by the main ones, if there are any."""
    points = {
        name: {
            curve.model: curve.points[sweep.thresholds.index(sweep.reference)]
            for curve in sweep.curves
        }
        for name, sweep in by_set.items()
    }

    def pair(name: str) -> list[Column[str]]:
        of = points[name]
        return [
            columns.estimate(
                f"{first_up(name)} dimensions", lambda model: of[model].accuracy, "share",
                part=name, show_n=True,
            ),
            columns.count(
                "Rank", lambda model: of[model].rank, f"rank {name}", reason="accuracy is undefined"
            ),
        ]  # fmt: skip

    if "main" not in points:
        return
    values = ([point.accuracy.value for point in points[name].values()] for name in ("all", "main"))
    turned, pairs = reversed_pairs(*values)
    swaps = (
        f"{turned:,} of {plural(pairs, 'pair')} of agents swap order"
        if pairs
        else "No two agents differ, so none can swap order"
    )
    page.table(
        "sets",
        "Which dimensions count",
        list(points["all"]),
        [columns.agent(lambda model: run_of[model]), *pair("all"), *pair("main")],
        link=lambda model: Link(runs=(run_of[model].pk,)),
        note=f"Accuracy at {tau}. {swaps} when the main dimensions alone count.",
    )


def _rank_column(point: StabilityPoint) -> Column[int]:
    """Give the rank of each model, by its number, at a threshold."""
    head = f"τ = {point.threshold:g}"

    def cell(i: int) -> Cell:
        rank = point.ranks[i]
        if rank.rank is None:
            return Cell(data=(None, None, None), reason=rank.undefined)
        spread = f"{rank.low} to {rank.high}" if rank.low is not None else ""
        data = (rank.rank, rank.low, rank.high)
        return Cell(str(rank.rank), data, sub=spread, tip=rank.undefined)

    return Column(parts.Column(head, (head, f"{head} low", f"{head} high")), cell)


def published_sweep(system: str) -> ThresholdSweep | None:
    """Return the published accuracies by threshold, with the Wilson intervals of their n."""
    accuracy: dict[str, dict[float, Estimate]] = {}
    for entry in find_system(system).published:
        if entry.metric.startswith("accurate@tau=") and entry.n:
            tau = float(entry.metric.removeprefix("accurate@tau="))
            accuracy.setdefault(entry.model, {})[tau] = published_estimate(entry, is_rate=True)
    whole = {model: by for model, by in accuracy.items() if set(by) == set(THRESHOLDS)}
    if not whole:
        return None
    return sweep_of_estimates(
        {model: [by[tau] for tau in THRESHOLDS] for model, by in whole.items()}
    )

"""Whether the order of the agents depends on the rubric threshold, beside the paper's sweep."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from analysis.figures.thresholds import stability_figure, threshold_figure
from analysis.filters.runs import is_judged
from analysis.filters.selection import ChosenRun, Selection
from analysis.frames.outcomes import unfinished
from analysis.frames.scores import LastPlans, last_plans
from analysis.pages.declaration import WrittenPage
from analysis.pages.empty import no_runs
from analysis.pages.sweeps.tables import (
    accuracy_table,
    agreement_table,
    orders_table,
    published_tables,
    rank_table,
    sets_table,
)
from analysis.reports import common
from analysis.reports.content import FigureSpec, Notice, Report, how_interval
from analysis.reports.formatting import counted, listed, number, plural, stated
from analysis.reports.references import published_estimate
from analysis.stats.comparison.thresholds import (
    REFERENCE,
    THRESHOLDS,
    RankOrder,
    ThresholdSweep,
    sweep_of_estimates,
    threshold_stability,
    threshold_sweep,
)
from analysis.stats.results import Estimate
from benchmarks.core.registry import SYSTEMS, get_system

SEED = 20250101
PURPOSE = "This page shows what accuracy would be if another mean score were asked of plans."
SETS = {"all": "all dimensions", "main": "the main dimensions"}


@dataclass(frozen=True)
class Sweeps:
    """The sweep that is shown, the same with each set of dimensions, and the published one."""

    chosen: str
    by_set: Mapping[str, ThresholdSweep]
    published: ThresholdSweep | None

    @property
    def here(self) -> ThresholdSweep:
        return self.by_set[self.chosen]


def sweeps_report(selection: Selection) -> Report:
    """Everything on the page but the intervals of ranks."""
    if not selection.runs or not is_judged(selection.system):
        return Report(empty=no_runs(PURPOSE, selection))
    sets = dimension_sets(selection.system)
    plans = last_plans(selection.runs, sets["all"])
    found = _sweeps(selection, plans, sets)
    return Report(
        sentence=sentence(found.here, SETS[found.chosen]),
        figures=tuple(_figures(found, selection)),
        tables=(
            accuracy_table(found.here, {run.label: run for run in selection.runs}),
            orders_table(found.here, "orders", "The order at each threshold"),
            *sets_table(found.by_set, {run.label: run for run in selection.runs}),
            *(published_tables(found.published) if found.published is not None else ()),
        ),
        notices=(*common.selection_notices(selection), *_notices(selection, found.chosen)),
        how=(*common.how_runs(selection), *_how(found, selection)),
    )


def sweeps_later(selection: Selection) -> Report:
    """How firm the order at each threshold is, when tasks are drawn anew."""
    sets = dimension_sets(selection.system)
    plans = last_plans(selection.runs, sets["all"])
    chosen = _chosen(selection)
    found = threshold_stability(
        plans.labels,
        plans.tasks,
        plans.valid,
        plans.counted(sets[chosen]),
        reference=_reference(selection.runs),
        seed=SEED,
    )
    pairs = [(point.threshold, point.kendall) for point in found.points]
    known = [(tau, one) for tau, one in pairs if one.value is not None and tau != found.reference]
    said = "No order can be compared with that at the reference: no two agents differ."
    if known:
        tau, least = min(known, key=lambda pair: pair[1].value or 0)
        said = (
            f"The order at τ = {tau:g} agrees least with that at τ = {found.reference:g}: "
            f"Kendall’s tau-b {stated(least, 'points')}, {plural(found.tasks, 'task')} drawn anew."
        )
    figure = common.figure_spec(
        "stability",
        f"Agreement of each order with that at τ = {found.reference:g}",
        "Kendall’s tau-b with 95 % intervals: 1 is the same order, 0 no relation.",
        stability_figure(pairs, found.reference),
    )
    estimates = [one for _, one in pairs]
    return Report(
        sentence=said,
        figures=(figure,),
        tables=(rank_table(found), agreement_table(found)),
        how=(
            f"Ranks and tau-b: the same drawn tasks for all agents and thresholds; "
            f"{how_interval(estimates) or 'no interval'}. Drawing adds chance to both orders, so "
            "an interval may lie below its value.",
        ),
    )


def dimension_sets(system: str) -> dict[str, tuple[str, ...]]:
    """The dimensions that may count: all of them, or the main ones."""
    known = common.dimensions_of(system)
    main = tuple(d.key for d in known if d.main)
    return {"all": tuple(d.key for d in known), **({"main": main} if main else {})}


def _chosen(selection: Selection) -> str:
    """The set that the address names, else the one that most runs were made with."""
    sets = dimension_sets(selection.system)
    if selection.filters.counted in sets:
        return selection.filters.counted
    usual = Counter(str(run.settings.get("dimensions", "all")) for run in selection.runs)
    name = usual.most_common(1)[0][0]
    return name if name in sets else "all"


def _reference(runs: Sequence[ChosenRun]) -> float:
    """The threshold of most runs, where it is one of those varied."""
    usual = Counter(run.settings.get("tau", REFERENCE) for run in runs).most_common(1)[0][0]
    return float(usual) if usual in THRESHOLDS else REFERENCE


def _sweeps(selection: Selection, plans: LastPlans, sets: Mapping[str, Sequence[str]]) -> Sweeps:
    reference = _reference(selection.runs)
    by_set = {
        name: threshold_sweep(plans.labels, plans.valid, plans.counted(keys), reference=reference)
        for name, keys in sets.items()
    }
    published = None
    if selection.filters.published != "hide":
        published = published_sweep(selection.system)
    return Sweeps(_chosen(selection), by_set, published)


def published_sweep(system: str) -> ThresholdSweep | None:
    """The published accuracies by threshold, with the Wilson intervals of their n."""
    entries = get_system(system).published if system in SYSTEMS else ()
    found: dict[str, dict[float, Estimate]] = {}
    for entry in entries:
        if entry.metric.startswith("accurate@tau=") and entry.n:
            tau = float(entry.metric.removeprefix("accurate@tau="))
            found.setdefault(entry.model, {})[tau] = published_estimate(entry, is_rate=True)
    whole = {model: by for model, by in found.items() if set(by) == set(THRESHOLDS)}
    if not whole:
        return None
    return sweep_of_estimates(
        {model: [by[tau] for tau in THRESHOLDS] for model, by in whole.items()}
    )


def sentence(sweep: ThresholdSweep, counted_words: str) -> str:
    """Whether the order changes and where most, or why there is none."""
    low, high = sweep.thresholds[0], sweep.thresholds[-1]
    known = [curve for curve in sweep.curves if curve.points[0].accuracy.value is not None]
    if not known:
        reasons = sorted({why for c in sweep.curves for why in c.points[0].accuracy.excluded})
        return (
            f"Accuracy is undefined at every threshold: {listed(reasons) or 'nothing is scored'}."
        )
    if len(known) < 2:
        first, last = known[0].points[0].accuracy, known[0].points[-1].accuracy
        return (
            f"{known[0].model}’s accuracy falls from {number(first.value or 0, 'share')} at τ = "
            f"{low:g} to {number(last.value or 0, 'share')} at τ = {high:g} "
            f"(n = {first.n}); with one agent there is no order."
        )
    orders = [order for order in sweep.orders if order.threshold != sweep.reference]
    placed = [order for order in orders if order.kendall is not None]
    where = f"of the {len(known)} agents, by {counted_words},"
    if not placed:
        return f"No two of these {len(known)} agents differ at τ = {sweep.reference:g}: no order."
    flat = len(orders) - len(placed)
    tail = f" At {plural(flat, 'threshold')} no two agents differ." if flat else ""
    turned = [order for order in placed if order.reversed_pairs]
    if not turned:
        return (
            f"No two {where} change places between τ = {low:g} and τ = {high:g}, though some are "
            f"tied at one threshold and not at another.{tail}"
            if any((order.kendall or 0) < 1 - 1e-9 for order in placed)
            else f"The order {where} is the same at every threshold from {low:g} to {high:g}.{tail}"
        )
    worst = min(turned, key=lambda order: order.kendall or 0)
    return (
        f"The order {where} changes most at τ = {worst.threshold:g}: {_reversed(worst)} than at "
        f"τ = {sweep.reference:g} (Kendall’s tau-b {number(worst.kendall or 0, 'points')}). "
        f"{_leader(sweep)}{tail}"
    )


def _reversed(order: RankOrder) -> str:
    verb = "stands" if order.reversed_pairs == 1 else "stand"
    pairs = f"{order.reversed_pairs} of {plural(order.pairs, 'pair')}"
    return f"there {pairs} {verb} the other way round"


def _leader(sweep: ThresholdSweep) -> str:
    at = sweep.thresholds.index(sweep.reference)
    first = [curve for curve in sweep.curves if curve.points[at].rank == 1]
    leads = sum(point.rank == 1 for point in first[0].points)
    return (
        f"{first[0].model}, first at τ = {sweep.reference:g}, is first at {leads} of "
        f"{len(sweep.thresholds)} thresholds."
    )


def _figures(found: Sweeps, selection: Selection) -> list[FigureSpec]:
    sweep = found.here
    figures = [
        common.figure_spec(
            "sweep",
            f"Accuracy and rank by threshold, {SETS[found.chosen]} counted",
            f"With 95 % Wilson intervals. Dashed: τ = {sweep.reference:g}.",
            threshold_figure(sweep, styles=common.styles([curve.model for curve in sweep.curves])),
            urls=common.run_links(selection),
        )
    ]
    if found.published is not None:
        models = [curve.model for curve in found.published.curves]
        figures.append(
            common.figure_spec(
                "published",
                "Published: accuracy and rank by threshold",
                "Figures of the paper, with the Wilson intervals of the inferred n.",
                threshold_figure(sweep_of_estimates({}), found.published, common.styles(models)),
            )
        )
    return figures


def _notices(selection: Selection, chosen: str) -> list[Notice]:
    notices = []
    others = [
        run.label
        for run in selection.runs
        if selection.filters.counted == "" and run.settings.get("dimensions", "all") != chosen
    ]
    if others:
        notices.append(
            Notice(f"Counted by {SETS[chosen]} here, but not when they were run: {listed(others)}.")
        )
    lenient = [run.label for run in selection.runs if run.settings.get("quorum") == "any"]
    if lenient:
        notices.append(
            Notice(
                "A score counts here only where every judge gave one; in these runs one judge was "
                f"enough: {listed(lenient)}.",
                "info",
            )
        )
    return notices


def _how(found: Sweeps, selection: Selection) -> list[str]:
    sweep = found.here
    estimates = [curve.points[0].accuracy for curve in sweep.curves]
    left: Counter[str] = Counter()
    for estimate in estimates:
        left.update(estimate.excluded)
    for run in selection.runs:
        left.update(unfinished(run))
    return [
        "Accurate at τ: the last plan is valid and the judges’ mean score is at least τ on every "
        f"dimension that counts ({SETS[found.chosen]}); {how_interval(estimates) or 'none'} "
        "intervals.",
        f"Left out: {counted(left)}." if left else "Nothing is left out.",
        "Orders are compared over the pairs of agents that differ at both thresholds; tau-b also "
        "takes ties into account.",
    ]


CONTENT = WrittenPage(sweeps_report, later=sweeps_later)

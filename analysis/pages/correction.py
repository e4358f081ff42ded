"""Scores of judges, of people, or of judges corrected by people: what a page shows, and says."""

import re
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Literal, NamedTuple

from analysis.frames.outcomes import ACCURATE, VALID, outcome_frame
from analysis.frames.rated_plans import RatedPlans, passes, rated_plans
from analysis.kit import columns
from analysis.kit.columns import Column
from analysis.kit.links import Link
from analysis.kit.page import Page
from analysis.reports import system_facts
from analysis.reports.content import Cell, number_cell, number_column, rounded
from analysis.reports.formatting import Unit, counted, difference, listed, plural
from analysis.stats.comparison.model_comparisons import ModelComparisons
from analysis.stats.corrected.corrected_means import CorrectedMean, RatedUnits
from analysis.stats.corrected.corrected_pairs import CorrectedModels, correct_models
from analysis.stats.descriptive.means import Scale
from analysis.stats.results import Estimate

if TYPE_CHECKING:
    from pandas import DataFrame

Scores = Literal["judges", "people", "corrected"]
# So many rated plans of each agent are wanted before a page corrects judges by itself.
ENOUGH = 40
NOT_DRAWN = "no study drew from its trajectories"
NO_WALD = "corrected by people: no share of trajectories"
NOT_JUDGED = "the judges scored nothing here"
NOT_CORRECTED = "the corrected mean is undefined"
# Of more agents a sentence names those that moved furthest down and up; the table has all.
MOST_NAMED = 3
HOW = (
    "Judges corrected by people: the judges’ mean of all plans that a study drew from, plus the "
    "people’s mean difference on the plans that they rated, weighted by the inverse of the "
    "probability with which each was drawn. How much the judges’ scores count is chosen for each "
    "agent (PPI++). Intervals are t intervals by task. A plan’s score by people is the mean over "
    "its raters."
)


def people_of(page: Page) -> RatedPlans | None:
    """Return what people rated of the page's runs; None where they rated nothing."""
    selection = page.selection
    keys = [dimension.key for dimension in system_facts.dimensions_of(selection.system)]
    if not selection.people or not keys:
        return None
    plans = rated_plans(page.runs, selection.people, keys)
    return plans if plans.scores or plans.left_out else None


class Correction(NamedTuple):
    """The units of each agent, by its label, and which scores the page shows."""

    units: Mapping[str, RatedUnits]
    plans: RatedPlans
    scores: Scores

    @property
    def whose(self) -> str:
        """Whose scores these are, in words."""
        only_people = self.scores == "people"
        return "people’s scores" if only_people else "judges’ scores corrected by people"

    def models(
        self, *, measure: str, among: int, scale: Scale, measures: int = 1
    ) -> CorrectedModels:
        """Estimate and compare the agents by the scores that the page shows."""
        return correct_models(
            self.units,
            measure=measure,
            weight=0.0 if self.scores == "people" else None,
            among=max(among, len(self.units)),
            measures=measures,
            scale=scale,
        )


class CorrectedMeasure(NamedTuple):
    """The correction of one measure, and all agents by it."""

    correction: Correction
    models: CorrectedModels
    title: str
    scale: Scale

    def value(self, label: str) -> Estimate:
        """Return an agent's estimate by the scores that the page shows."""
        mean = self.models.means.get(label)
        if mean is None:
            return Estimate.without_value(NOT_DRAWN)
        return mean.people if self.correction.scores == "people" else mean.estimate

    def compared(self, labels: Sequence[str], among: int) -> ModelComparisons:
        """Compare all pairs of some agents."""
        units = {label: self.correction.units[label] for label in labels}
        mine = self.correction._replace(units=units)
        return mine.models(measure=self.title, among=among, scale=self.scale).comparisons


def corrected_measure(
    page: Page, frame: "DataFrame", metric: str, title: str, scale: Scale
) -> CorrectedMeasure | None:
    """Return a measure by the scores of people, or of judges corrected by them.

    None where the page shows judges' scores, and for measures that people do not score: only
    dimensions of a rubric and the accuracy that follows from them are. ``frame`` is an outcome
    frame with the metric.
    """
    dimensions = {one.key for one in system_facts.dimensions_of(page.selection.system)}
    plans = people_of(page) if metric == ACCURATE or metric in dimensions else None
    if plans is None:
        return None
    if metric == ACCURATE:
        units = accuracy_units(page, frame, plans)
    else:
        people = plans.means(frame["trajectory"].tolist(), metric)
        units = units_of(page, frame.assign(score=frame[metric], people=people), plans)
    correction = choose_scores(page, units, plans)
    if correction.scores == "judges":
        return None
    models = correction.models(measure=title, among=page.selection.agents_here, scale=scale)
    return CorrectedMeasure(correction, models, title, scale)


def accuracy_units(page: Page, frame: "DataFrame", plans: RatedPlans) -> dict[str, RatedUnits]:
    """Return each agent's trajectories with both sides' accuracy."""
    sets = system_facts.dimension_sets(page.selection.system)
    rules = {
        run.pk: (float(run.settings["tau"]), sets[str(run.settings["dimensions"])])
        for run in page.runs
        if {"tau", "dimensions"} <= run.settings.keys()
    }
    if VALID not in frame:
        frame = frame.merge(outcome_frame(page.runs, [VALID])[["trajectory", VALID]])
    people = passes(frame, plans, rules)
    return units_of(page, frame.assign(score=frame[ACCURATE], people=people), plans)


def units_of(page: Page, frame: "DataFrame", plans: RatedPlans) -> dict[str, RatedUnits]:
    """Return each agent's units: those that a study could draw, with ``score`` and ``people``."""
    known = frame.assign(chance=plans.chances(frame["trajectory"].tolist()))
    known = known[known["chance"].notna()]
    return {
        label: RatedUnits(
            mine["score"].to_numpy(),
            mine["people"].to_numpy(),
            mine["chance"].to_numpy(dtype="float64"),
            mine["task"].to_numpy(),
        )
        for label in dict.fromkeys(run.label for run in page.runs)
        for mine in (known[known["label"] == label],)
    }


def choose_scores(
    page: Page, units: Mapping[str, RatedUnits], plans: RatedPlans, what: str = "drawn plans"
) -> Correction:
    """Choose which scores the page shows, and say why where the reader did not choose."""
    known: dict[str, Scores] = {"judges": "judges", "people": "people", "corrected": "corrected"}
    wanted = known.get(page.selection.filters.scores)
    if wanted is not None:
        return Correction(units, plans, wanted)
    rated = {label: _rated(one) for label, one in units.items()}
    least, most = min(rated.values(), default=0), max(rated.values(), default=0)
    if least >= ENOUGH:
        return Correction(units, plans, "corrected")
    span = f"{least} to {most}" if most > least else f"{least}"
    page.info(
        f"These are the judges’ scores. People rated {span} {what} of each agent; correcting "
        f"the judges takes {ENOUGH} of each, so up to {ENOUGH - least} more."
    )
    return Correction(units, plans, "judges")


def _rated(units: RatedUnits) -> int:
    import numpy as np

    return int((~np.isnan(np.asarray(units.people, dtype=float))).sum())


def say_correction(page: Page, correction: Correction, models: CorrectedModels, unit: Unit) -> None:
    """Say whose scores these are, how far the correction moved each agent, and the new order."""
    rated = sum(mean.rated for mean in models.means.values())
    moved = sorted(
        (mean.moved, label) for label, mean in models.means.items() if mean.moved is not None
    )
    by = listed_moves(moved, unit)
    turned = models.moved_order
    order = "The order of the estimates stays the same."
    if turned:
        first, second = turned[0]
        others = f" ({plural(len(turned), 'pair')} change places)" if len(turned) > 1 else ""
        order = f"The order of the estimates changes: {first} is now above {second}{others}."
    say_whose(page, correction, rated, f"{by}. {order}" if by else "")


def show_correction(page: Page, models: CorrectedModels, unit: Unit, title: str) -> None:
    """Add a table of what each agent's scores were made of."""
    run_of = {run.label: run for run in page.runs}
    labels = [label for label in models.means if label in run_of]
    page.table(
        "corrected",
        f"{title} of judges, of people, and corrected",
        labels,
        [columns.agent(lambda label: run_of[label]), *corrected_columns(models.means, unit)],
        link=lambda label: Link(runs=(run_of[label].pk,)),
        note="95 % t intervals by task.",
    )


def corrected_columns(
    means: Mapping[str, CorrectedMean], unit: Unit, source: str = "plans that a study drew from"
) -> list[Column[str]]:
    """Return what a corrected mean was made of, by its name."""
    items = source.partition(" ")[0]
    return [
        columns.number("Judges", lambda name: means[name].judges, unit,
                       help=f"Mean of all {source}", reason=NOT_JUDGED),
        columns.estimate("People", lambda name: means[name].people, unit,
                         help=f"Rated {items} alone, weighted"),
        columns.estimate("Corrected", lambda name: means[name].estimate, unit),
        Column(number_column("Moved", help="Corrected minus judges"),
               lambda name: _moved_cell(means[name].moved, unit)),
        columns.count("Rated", lambda name: means[name].rated,
                      help=f"Drawn {items} that people rated"),
        columns.number("Weight of judges", lambda name: means[name].weight, "number",
                       help="0 takes people alone, 1 the judges’ scores in full",
                       reason=NOT_CORRECTED),
    ]  # fmt: skip


def _moved_cell(moved: float | None, unit: Unit) -> Cell:
    """Return how far a correction moves a value, of shares in points."""
    if moved is None:
        return number_cell(None, unit, reason=NOT_CORRECTED)
    text = difference(moved, unit, signed=True)
    return Cell(re.sub(" points?$", " pt", text), (rounded(moved),))


def listed_moves(moved: Sequence[tuple[float, str]], unit: Unit) -> str:
    """Return how far a correction moves agents, in ascending order: all of them, or the ends."""
    ends = moved if len(moved) <= MOST_NAMED else [moved[0], moved[-1]]
    words = [f"{label} by {difference(change, unit, signed=True)}" for change, label in ends]
    if len(ends) < len(moved):
        return f"from {words[0]} to {words[-1]}"
    return listed(words)


def severity_words(plans: RatedPlans) -> str:
    """Say whether people's scores are adjusted for how severe each is; empty for one person."""
    if plans.people.annotators < 2:
        return ""
    dimensions = {key for _, key in plans.given}
    adjusted = sum(plans.adjusted(key) is not None for key in dimensions)
    if not adjusted:
        return (
            "It is not adjusted for how severe each of them is: they are not all linked by plans "
            "that they share."
        )
    where = "" if adjusted == len(dimensions) else f" on {adjusted} of {len(dimensions)} dimensions"
    return (
        f"It is adjusted for how severe each of them is{where}, by least squares over the plans "
        "that they share; accuracy counts scores as they were given."
    )


def say_whose(
    page: Page,
    correction: Correction,
    rated: int,
    moved: str,
    *,
    unit: tuple[str, str] = ("drawn plan", "drawn plans"),
    how: str = "",
    method: str = "PPI++, tasks as clusters",
) -> None:
    """Say whose scores a page shows, and what a correction moves; warn of simulated people."""
    people = correction.plans.people
    who = plural(people.annotators, "person", "people")
    if people.simulated:
        who = plural(people.annotators, "annotator")
        who += " (all simulated)" if people.simulated == people.annotators else ""
    plans = plural(rated, *unit)
    if correction.scores == "people":
        page.answer(f"These are the scores of {who} alone, on {plans}.")
    elif moved:
        page.answer(f"Ratings of {plans} by {who} move the judges’ scores: {moved}")
    if correction.plans.left_out:
        page.info(f"Rated plans that correct nothing: {counted(correction.plans.left_out)}.")
    if people.simulated:
        page.warning(f"{people.simulated} of {people.annotators} annotators are simulated.")
    page.how(how or f"{HOW} {severity_words(correction.plans)}".rstrip())
    if correction.scores == "corrected":
        page.methods(
            f"Judges’ scores were corrected by ratings of {plans} by {who}, drawn with known "
            f"probabilities ({method})."
        )

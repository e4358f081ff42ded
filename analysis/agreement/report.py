"""The report on agreement in a tidy table: all statistics, without layout."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Any

import numpy as np

from analysis.agreement.csv_table import TableSection, TidyTable
from analysis.agreement.inputs import MOST_RATERS, AgreementSettings
from analysis.agreement.judges_and_people import (
    WITHOUT_RATIO,
    JudgeComparison,
    adjusted,
    against_people,
    drawing_of,
    means_of,
    panels_of,
)
from analysis.stats.columns import Floats
from analysis.stats.corrected.corrected_means import CorrectedMean, RatedUnits, correct_mean
from analysis.stats.rater_agreement.alpha import Metric, krippendorff_alpha
from analysis.stats.rater_agreement.alt_test import AltTest
from analysis.stats.rater_agreement.answers import answers_of_scores
from analysis.stats.rater_agreement.correlation import pearson
from analysis.stats.rater_agreement.icc import FORMS, Form, intraclass, intraclass_one_way
from analysis.stats.rater_agreement.icc_reml import intraclass_reml
from analysis.stats.rater_agreement.kappas import WEIGHTS, Weights, fleiss_kappa, gwet_ac
from analysis.stats.rater_agreement.pairs import PairAgreement, pair_agreement
from analysis.stats.rater_agreement.reliability import reliability
from analysis.stats.rater_agreement.sample_size import (
    SampleSize,
    items_for_alpha,
    items_for_icc,
    items_for_share,
)
from analysis.stats.results import Estimate

ONE_PERSON = "one rater only: agreement needs two"
NOBODY = "no rater of this kind"
ONE_EACH = (
    "every item was scored by one person: how far people agree with each other is unknown, and "
    "comparing them with judges says nothing about it"
)
TOO_MANY = "pairs of raters are listed for up to {most} raters, not for {n}"
# From so many common items on a correlation that may be 0 says something about a rater.
ITEMS_TO_TELL = 30
UNLIKE_PART = "hardly go with those of the others"
UNLIKE = (
    "scores of {name} " + UNLIKE_PART + " (Pearson {r}, {low} to {high}, "
    "{n} items): chance alone may explain them"
)
EASILY = "; a judge wins against such a person with ease"
JUDGES_ALONE = "agreement of judges with each other is consistency, not correctness"


@dataclass(frozen=True)
class RaterGroup:
    """Raters of one kind among themselves.

    Attributes
    ----------
    items, ratings, single
        Items with two scores or more, all scores, and items with one score.
    counts
        How often each score of the scale was given.
    undefined
        Why there is no agreement to speak of; empty where there is.
    equal, within_one
        Shares of pairs of scores of one item, each item with the same weight.
    alphas, fleiss, gwet, icc
        By metric, by weights, by form (complete items only).
    icc_unbalanced
        One-way, with all answers: of a single rater and of an item's average.
    icc_reml
        By form, of a single rater, with all answers: restricted maximum likelihood.
    pairs
        Each two raters with a common item; ``apart`` counts those without.
    """

    raters: tuple[str, ...]
    items: int
    ratings: int
    single: int
    counts: Mapping[int, int]
    undefined: str
    equal: Estimate
    within_one: Estimate
    alphas: Mapping[Metric, Estimate]
    fleiss: Mapping[Weights, Estimate]
    gwet: Mapping[Weights, Estimate]
    icc: Mapping[Form, Estimate]
    icc_unbalanced: Mapping[str, Estimate]
    icc_reml: Mapping[Form, Estimate]
    pairs: tuple[PairAgreement, ...]
    apart: int
    warnings: tuple[str, ...]


@dataclass(frozen=True)
class Planning:
    """The number of items that would give the wanted half-width if later items are like these."""

    half_width: float
    equal: SampleSize | None
    alpha: SampleSize | None
    icc: SampleSize | None


@dataclass(frozen=True)
class SectionReport:
    """One criterion of one dataset; ``unit`` is what intervals draw where items share tasks.

    ``corrected`` has each judge's mean over all items, corrected by people; empty where the table
    has no probabilities.
    """

    dataset: str
    criterion: str
    items: int
    unit: str
    people: RaterGroup
    judges: RaterGroup
    against: tuple[JudgeComparison, ...]
    planning: Planning
    warnings: tuple[str, ...]
    corrected: Mapping[str, CorrectedMean]


@dataclass(frozen=True)
class TidyReport:
    """A whole table.

    ``family`` holds the alternative annotator tests of all judges and criteria, adjusted together.
    """

    settings: AgreementSettings
    rows: int
    blank: int
    ignored: tuple[str, ...]
    sections: tuple[SectionReport, ...]
    family: tuple[AltTest, ...]


def tidy_report(table: TidyTable, settings: AgreementSettings) -> TidyReport:
    """Compute every statistic that applies, by dataset and criterion."""
    sections = tuple(_section(section, settings) for section in table.sections)
    tests = [each.alternative for section in sections for each in section.against]
    family = adjusted(tests)
    verdicts = iter([test.verdict for test in family])
    sections = tuple(
        replace(
            section,
            against=tuple(
                replace(comparison, verdict=next(verdicts)) for comparison in section.against
            ),
        )
        for section in sections
    )
    return TidyReport(settings, table.rows, table.blank, table.ignored, sections, family)


def _section(section: TableSection, settings: AgreementSettings) -> SectionReport:
    people_names, people = section.of_kind("human")
    judge_names, judges = section.of_kind("llm")
    drawing = drawing_of(section, settings)
    warnings = []
    asked = (~np.isnan(people)).sum(axis=1)
    if people_names and asked.max(initial=0) == 1:
        warnings.append(ONE_EACH)
    person_group = _group(people_names, people, drawing, settings, tell_easily=bool(judge_names))
    return SectionReport(
        section.dataset,
        section.criterion,
        len(section.items),
        "item" if drawing["clusters"] is None else "task",
        person_group,
        _group(judge_names, judges, drawing, settings, (JUDGES_ALONE,)),
        against_people(section, drawing, settings),
        _planning(person_group.equal, person_group.icc_unbalanced["single"], people, settings),
        tuple(warnings),
        _corrected(section, people, settings),
    )


def _corrected(
    section: TableSection, people: Floats, settings: AgreementSettings
) -> dict[str, CorrectedMean]:
    """Correct the mean of each judge by people's mean scores of the items that were drawn."""
    if section.probabilities is None:
        return {}
    rated = means_of(people)
    tasks = section.tasks if section.tasks is not None else section.items
    unit = "item" if section.tasks is None else "task"
    return {
        name: correct_mean(
            RatedUnits(scores.mean(axis=1), rated, section.probabilities, tasks),
            level=settings.level, unit=unit, scale=settings.scale,
        )
        for name, scores in panels_of(section)
    }  # fmt: skip


def _group(
    names: Sequence[str],
    scores: Floats,
    drawing: Mapping[str, Any],
    settings: AgreementSettings,
    warnings: tuple[str, ...] = (),
    *,
    tell_easily: bool = False,
) -> RaterGroup:
    scale = settings.scale
    answers = answers_of_scores(scores, scale=scale)
    together = reliability(scores, scale=scale, **drawing)
    totals = answers.often @ answers.counts
    reason = "" if len(names) > 1 else ONE_PERSON if names else NOBODY
    pairs = []
    apart = 0
    many = len(names) > MOST_RATERS
    for a, b in () if many else combinations(range(len(names)), 2):
        if not (~np.isnan(scores[:, a]) & ~np.isnan(scores[:, b])).any():
            apart += 1
            continue
        pair = (names[a], names[b])
        pairs.append(pair_agreement(scores[:, a], scores[:, b], names=pair, scale=scale, **drawing))
    return RaterGroup(
        tuple(names),
        together.items,
        int(totals.sum()),
        together.single,
        {int(value): int(n) for value, n in zip(answers.values, totals, strict=True)},
        reason,
        together.equal,
        together.within_one,
        {m: krippendorff_alpha(answers, metric=m, **drawing) for m in WITHOUT_RATIO},
        {w: fleiss_kappa(answers, weights=w, **drawing) for w in WEIGHTS},
        {w: gwet_ac(answers, weights=w, **drawing) for w in WEIGHTS},
        {form: intraclass(scores, form=form, **drawing) for form in FORMS},
        {
            name: intraclass_one_way(answers, average=average, **drawing)
            for name, average in (("single", False), ("average", True))
        },
        intraclass_reml(
            scores, clusters=drawing["clusters"], unit=drawing["unit"], level=drawing["level"]
        ),
        tuple(pairs),
        apart,
        (
            *(warnings if len(names) > 1 else ()),
            *([TOO_MANY.format(most=MOST_RATERS, n=len(names))] if many else []),
            *(f"{text}{EASILY if tell_easily else ''}" for text in _unlike(names, scores, drawing)),
        ),
    )


def _unlike(names: Sequence[str], scores: Floats, drawing: Mapping[str, Any]) -> Iterator[str]:
    """Return raters whose scores may be unrelated to the mean of the others' on the same items.

    A rater who scores at random lowers agreement, and judges win against them in the alternative
    annotator test whatever they do.
    """
    options = {key: value for key, value in drawing.items() if key != "unit"}
    for place, name in enumerate(names) if len(names) > 2 else ():
        others = means_of(np.delete(scores, place, axis=1))
        correlation = pearson(scores[:, place], others, cluster_unit="task", **options)
        ends = correlation.interval
        if (
            correlation.value is None
            or ends is None
            or correlation.n < ITEMS_TO_TELL
            or ends.low > 0
        ):
            continue
        r, low, high = (
            f"{x:.2f}".replace("-", "−") for x in (correlation.value, ends.low, ends.high)
        )
        yield UNLIKE.format(name=name, r=r, low=low, high=high, n=correlation.n)


def plan(section: TableSection, settings: AgreementSettings) -> Planning:
    """Compute only how many items are needed, from the answers of a section's people."""
    _, people = section.of_kind("human")
    drawing = drawing_of(section, settings)
    answers = answers_of_scores(people, scale=settings.scale)
    together = reliability(people, scale=settings.scale, **drawing)
    single = intraclass_one_way(answers, average=False, **drawing)
    return _planning(together.equal, single, people, settings)


def _planning(
    equal: Estimate, icc: Estimate, people: Floats, settings: AgreementSettings
) -> Planning:
    half, level = settings.half_width, settings.level
    for_equal = for_alpha = for_icc = None
    if equal.value is not None:
        for_equal = items_for_share(equal.value, half, level=level)
        answers = answers_of_scores(people, scale=settings.scale)
        for_alpha = items_for_alpha(answers, half, seed=settings.seed, level=level)
    asked = (~np.isnan(people)).sum(axis=1)
    raters = round(asked.sum() / max((asked > 0).sum(), 1))
    if icc.value is not None and 0 <= icc.value < 1 and raters >= 2:
        for_icc = items_for_icc(icc.value, half, raters=raters, level=level)
    return Planning(half, for_equal, for_alpha, for_icc)

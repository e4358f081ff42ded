"""Comparisons of each judge, and of the panel of all judges, with the people of a section."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from analysis.agreement.csv_table import TableSection
from analysis.agreement.inputs import AgreementSettings
from analysis.stats.columns import Floats
from analysis.stats.rater_agreement.alpha import METRICS, Metric, krippendorff_alpha
from analysis.stats.rater_agreement.alt_test import AltTest, adjust_together, alt_test
from analysis.stats.rater_agreement.alt_verdict import StandInVerdict
from analysis.stats.rater_agreement.answers import answers_of_scores
from analysis.stats.rater_agreement.bland_altman import (
    LimitsOfAgreement,
    MeasurementPairs,
    bland_altman,
    paired_points,
)
from analysis.stats.rater_agreement.differences import Agreement, agreement
from analysis.stats.rater_agreement.icc import FORMS, Form, intraclass
from analysis.stats.rater_agreement.kappas import WEIGHTS, Weights, cohen_kappa, gwet_ac
from analysis.stats.rater_agreement.pairs import KAPPA_WEIGHTS, Correlations, correlations
from analysis.stats.resampling import repeated
from analysis.stats.results import Estimate

WITHOUT_RATIO: tuple[Metric, ...] = METRICS[:3]
# Of one judge and people: how far a single judge's score stands for theirs, bias included.
TWO_WAY: tuple[Form, ...] = tuple(form for form in FORMS if form in ("ICC2", "ICC3"))
PANEL = "mean of all {n} judges"
ROUNDED = "{panel}, rounded"
NO_CATEGORIES = "the mean of a panel is no score of the scale"


@dataclass(frozen=True)
class JudgeComparison:
    """A judge, or the panel of all, against people.

    Attributes
    ----------
    answers
        Shares, bias and differences over single answers of people.
    kappas, alphas, gwet
        Cohen's, Krippendorff's and Gwet's over the same answers, each beside the judge's score;
        undefined for a panel, whose mean is no category.
    correlations, icc, limits, pairs
        Of the judge with the mean of an item's people, over items; limits of judge − people, and
        the pairs that they are about.
    alternative
        The alternative annotator test of this judge alone.
    verdict
        What may be concluded, with the tests of all judges and criteria adjusted together.
    """

    judge: str
    panel: int
    answers: Agreement
    kappas: Mapping[Weights, Estimate]
    alphas: Mapping[Metric, Estimate]
    gwet: Mapping[Weights, Estimate]
    correlations: Correlations
    icc: Mapping[Form, Estimate]
    limits: LimitsOfAgreement
    pairs: MeasurementPairs
    alternative: AltTest
    verdict: StandInVerdict


def against_people(
    section: TableSection, drawing: Mapping[str, Any], settings: AgreementSettings
) -> tuple[JudgeComparison, ...]:
    """Compare every judge, and all judges together, with the people of a section.

    ``drawing`` is what intervals draw: clusters and their unit, seed, resamples, level.
    """
    _, people = section.of_kind("human")
    panels = panels_of(section)
    rows, columns = np.nonzero(~np.isnan(people))
    labels = section.items if drawing["clusters"] is None else drawing["clusters"]
    # Several people's answers to one item are not independent: they are drawn together.
    of_answers = dict(drawing)
    of_answers["clusters"] = repeated([labels[row] for row in rows])
    of_answers["unit"] = "item" if drawing["clusters"] is None else "task"
    human = people[rows, columns]
    means = means_of(people)

    tests = alternative_tests(section, settings)

    def against(name: str, own: Floats, test: AltTest) -> JudgeComparison:
        panel = own.shape[1]
        mean = own.mean(axis=1)  # NaN where any judge gave none
        both = np.column_stack([human, mean[rows]]) if panel == 1 else None
        answers = None if both is None else answers_of_scores(both, scale=settings.scale)
        none = Estimate.without_value(NO_CATEGORIES)
        return JudgeComparison(
            name,
            panel,
            agreement(
                human, own[rows], dimension=section.criterion, scale=settings.scale,
                tasks=of_answers["clusters"], unit=of_answers["unit"],
                level=settings.level,
            ),
            {
                w: none
                if answers is None
                else cohen_kappa(human, mean[rows], scale=settings.scale, weights=w, **of_answers)
                for w in KAPPA_WEIGHTS
            },
            {
                m: none
                if answers is None
                else krippendorff_alpha(answers, metric=m, **of_answers)
                for m in WITHOUT_RATIO
            },
            {
                w: none if answers is None else gwet_ac(answers, weights=w, **of_answers)
                for w in WEIGHTS
            },
            correlations(means, mean, **drawing),
            {
                form: intraclass(np.column_stack([means, mean]), form=form, **drawing)
                for form in TWO_WAY
            },
            bland_altman(mean, means, **drawing),
            paired_points(mean, means),
            test,
            test.verdict,
        )  # fmt: skip

    return tuple(against(name, own, test) for (name, own), test in zip(panels, tests, strict=True))


def panels_of(section: TableSection) -> list[tuple[str, Floats]]:
    """Return each judge with its scores, and the panel of several; none without people."""
    people, _ = section.of_kind("human")
    names, judges = section.of_kind("llm")
    if not people:
        return []
    panels = [(name, judges[:, [n]]) for n, name in enumerate(names)]
    return [*panels, *([(PANEL.format(n=len(names)), judges)] if len(names) > 1 else [])]


def drawing_of(section: TableSection, settings: AgreementSettings) -> dict[str, Any]:
    """Return the unit that intervals draw: tasks where one occurs twice, else items."""
    return {
        "clusters": repeated(section.tasks), "unit": "task", "seed": settings.seed,
        "resamples": settings.resamples, "level": settings.level,
    }  # fmt: skip


def alternative_tests(section: TableSection, settings: AgreementSettings) -> tuple[AltTest, ...]:
    """Return the tests of whether each judge and the panel may stand in for a person.

    The panel's mean is rounded half up to the scale: a mean of several whole scores hardly ever
    ties with a person, where a single judge does, so the panel would seem worse than its judges.
    """
    names, people = section.of_kind("human")
    return tuple(
        alt_test(
            people, rounded_mean(own), epsilon=settings.epsilon, margin=settings.margin,
            names=names, label=label if own.shape[1] == 1 else ROUNDED.format(panel=label),
            criterion=section.criterion, scale=settings.scale, q=settings.q,
            **drawing_of(section, settings),
        )
        for label, own in panels_of(section)
    )  # fmt: skip


def rounded_mean(scores: Floats) -> Floats:
    """Return the mean of whole scores by item, rounded half up; NaN where any judge gave none."""
    judges = scores.shape[1]
    # Of the sum, which is exact: 3.5 as a mean of floats may lie below itself.
    rounded: Floats = np.floor((2 * scores.sum(axis=1) + judges) / (2 * judges))
    return rounded


def adjusted(tests: Sequence[AltTest]) -> tuple[AltTest, ...]:
    """Return the tests of all judges on all criteria as one family."""
    people = sum(len(test.annotators) for test in tests)
    statement = f"{people} comparisons with a person, of all judges on all criteria"
    return adjust_together(tests, statement=statement)


def means_of(people: Floats) -> Floats:
    """Return the mean of each item's people; missing where nobody scored it."""
    asked = ~np.isnan(people)
    there = asked.any(axis=1)
    means = np.full(len(people), np.nan)
    means[there] = np.where(asked, people, 0)[there].sum(axis=1) / asked[there].sum(axis=1)
    return means

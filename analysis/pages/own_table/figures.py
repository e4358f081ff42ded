"""Figures of judges against people, for sections of tidy tables and of studies."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from analysis.agreement.judges_and_people import JudgeComparison
from analysis.agreement.report import RaterGroup, SectionReport
from analysis.figures.bland_altman import DifferencePanel, bland_altman_plot
from analysis.figures.forest import ForestRows, forest
from analysis.figures.layout.theme import Figure
from analysis.pages.own_table.sections import MOST_DRAWN, SectionPart, SectionTests, judges_of
from analysis.stats.rater_agreement.alt_test import AltTest
from analysis.stats.rater_agreement.differences import Agreement
from analysis.stats.results import Estimate


def draw_gap(tests: Sequence[AltTest]) -> Figure:
    """Draw kappa of each judge with people minus people's own, beside the margin."""
    rows = [(test.judge, _gap(test)) for test in tests]
    return _gaps([ForestRows("judge", rows)], tests[0].margin)


def draw_limits(shown: Sequence[JudgeComparison], scale: tuple[int, int]) -> Figure | None:
    """Draw the difference of each judge and people over their mean."""
    if not any(one.limits.bias.value is not None for one in shown):
        return None
    panels = [DifferencePanel(one.judge, one.limits, one.pairs) for one in shown]
    return bland_altman_plot(panels, scale=scale)


def draw_alphas(parts: Sequence[SectionPart], marks: Mapping[str, str]) -> Figure | None:
    """Draw ordinal alpha of people, and of judges, by section.

    ``marks`` are the addresses of the sections by title.
    """
    groups = []
    for who, kind in (("People", "people"), ("Judges", "judges")):
        several = [
            (part.title, group.alphas["ordinal"])
            for part in parts
            for group in [getattr(part.section, kind)]
            if len(group.raters) > 1
        ]
        urls = [marks[title] for title, _ in several]
        groups.append(ForestRows(f"{who}: ordinal alpha", several, urls))
    return forest(groups, title="coefficient") if any(group.rows for group in groups) else None


def drawn(section: SectionReport) -> list[JudgeComparison]:
    """Return the comparisons that figures show: the panel, and the first judges."""
    single = list(judges_of(section))
    return [*single[:MOST_DRAWN], *section.against[len(single) :]]


def called(one: JudgeComparison) -> Agreement:
    """Return the shares of a comparison under the judge’s name, as figures of several judges need
    it.
    """
    return replace(one.answers, dimension=one.judge)


def draw_estimates(section: SectionReport, shown: Sequence[JudgeComparison]) -> Figure | None:
    """Draw agreement beyond chance of people, of judges, and of each judge with people."""
    single = [one for one in shown if one.panel == 1]
    groups = [
        ForestRows(
            f"{who} among themselves",
            [(f"{who}: {name}", estimate) for name, estimate in coefficients(group)],
        )
        for who, group in (("People", section.people), ("Judges", section.judges))
        if len(group.raters) > 1
    ]
    if single:
        kappas = [(f"{one.judge}: kappa", one.kappas["quadratic"]) for one in single]
        alphas = [(f"{one.judge}: alpha", one.alphas["ordinal"]) for one in single]
        groups.append(ForestRows("Judge with people: quadratic kappa", kappas))
        groups.append(ForestRows("Judge with people: ordinal alpha", alphas))
    return forest(groups, title="coefficient") if groups else None


def coefficients(group: RaterGroup) -> list[tuple[str, Estimate]]:
    """Return the coefficients of a group that a figure shows."""
    return [
        *((f"{metric} alpha", alpha) for metric, alpha in group.alphas.items()),
        ("AC1", group.gwet["none"]),
        ("AC2, quadratic", group.gwet["quadratic"]),
        ("Fleiss’ kappa", group.fleiss["none"]),
        ("ICC1, all answers", group.icc_unbalanced["single"]),
        ("ICC2, complete items", group.icc["ICC2"]),
    ]


def draw_gaps(parts: Sequence[SectionTests], marks: Mapping[str, str]) -> Figure | None:
    """Draw kappa of judges minus people's by judge and section; None where no test is available.

    ``marks`` are the addresses of the sections by title.
    """
    groups: dict[str, list[tuple[str, Estimate]]] = {}
    tests = [(part.title, test) for part in parts for test in part.family if test.annotators]
    for title, test in tests:
        groups.setdefault(test.judge, []).append((title, _gap(test)))
    if not groups:
        return None
    rows = [
        ForestRows(name, rows, [marks[title] for title, _ in rows]) for name, rows in groups.items()
    ]
    return _gaps(rows, tests[0][1].margin)


def _gap(test: AltTest) -> Estimate:
    agreement = test.verdict.agreement
    assert agreement is not None  # the test is available
    return agreement.difference


def _gaps(rows: Sequence[ForestRows], margin: float) -> Figure:
    return forest(
        rows, title="kappa: judge minus person", least=-2 * margin, most=margin, threshold=-margin
    )

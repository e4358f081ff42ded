"""Figures of judges against people, for sections of tidy tables and of studies."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from analysis.agreement.judges_and_people import JudgeComparison
from analysis.agreement.report import RaterGroup, SectionReport
from analysis.figures.agreement import agreement_bars, agreement_shares
from analysis.figures.bland_altman import DifferencePanel, bland_altman_plot
from analysis.figures.forest import ForestRows, forest
from analysis.figures.layout.theme import Figure
from analysis.figures.ratings import score_bars
from analysis.pages.declaration import UrlOf
from analysis.pages.own_table.results import OverviewResult, SectionResult
from analysis.pages.own_table.sections import MOST_DRAWN, SectionTests, judges_of, score_counts
from analysis.stats.rater_agreement.alt_test import AltTest
from analysis.stats.rater_agreement.differences import Agreement
from analysis.stats.results import Estimate


def draw_gap(result: SectionResult, url: UrlOf) -> Figure | None:
    """Draw kappa of each judge with people minus people's own, beside the margin."""
    rows = [(test.judge, _gap(test)) for test in result.tests]
    return _gaps([ForestRows("judge", rows)], result.tests[0].margin) if rows else None


def draw_shares(result: SectionResult, url: UrlOf) -> Figure | None:
    """Draw the shares of equal and of close scores, by judge."""
    shown = drawn(result.section)
    return agreement_shares([called(one) for one in shown]) if shown else None


def draw_differences(result: SectionResult, url: UrlOf) -> Figure | None:
    """Draw the answers at each absolute difference, by judge."""
    shown = drawn(result.section)
    return agreement_bars([called(one) for one in shown]) if shown else None


def draw_limits(result: SectionResult, url: UrlOf) -> Figure | None:
    """Draw the difference of each judge and people over their mean."""
    shown = drawn(result.section)
    if not any(one.limits.bias.value is not None for one in shown):
        return None
    panels = [DifferencePanel(one.judge, one.limits, one.pairs) for one in shown]
    return bland_altman_plot(panels, scale=result.settings.scale)


def draw_estimates(result: SectionResult, url: UrlOf) -> Figure | None:
    """Draw agreement beyond chance of people, of judges, and of each judge with people."""
    rows = [group for group in _estimates(result.section, drawn(result.section)) if group.rows]
    return forest(rows, title="coefficient") if rows else None


def draw_scores(result: SectionResult, url: UrlOf) -> Figure | None:
    """Draw how often people and judges gave each score."""
    return score_bars([(who, score_counts(group)) for who, group in result.groups if group.ratings])


def draw_gaps(result: OverviewResult, url: UrlOf) -> Figure | None:
    """Draw kappa of each judge with people minus people's own, by section."""
    return gaps_drawn(result.parts, _marks(result, url))


def draw_alphas(result: OverviewResult, url: UrlOf) -> Figure | None:
    """Draw ordinal alpha of people, and of judges, by section."""
    marks = _marks(result, url)
    groups = []
    for who, kind in (("People", "people"), ("Judges", "judges")):
        several = [
            (part.title, group.alphas["ordinal"])
            for part in result.parts
            for group in [getattr(part.section, kind)]
            if len(group.raters) > 1
        ]
        urls = [marks[title] for title, _ in several]
        groups.append(ForestRows(f"{who}: ordinal alpha", several, urls))
    return forest(groups, title="coefficient") if any(group.rows for group in groups) else None


def _marks(result: OverviewResult, url: UrlOf) -> dict[str, str]:
    return {row.part.title: url(row.link) for row in result.rows}


def drawn(section: SectionReport) -> list[JudgeComparison]:
    """Return the comparisons that figures show: the panel, and the first judges."""
    single = list(judges_of(section))
    return [*single[:MOST_DRAWN], *section.against[len(single) :]]


def called(one: JudgeComparison) -> Agreement:
    """Return the shares of a comparison under the judge’s name, as figures of several judges need
    it.
    """
    return replace(one.answers, dimension=one.judge)


def _estimates(section: SectionReport, shown: Sequence[JudgeComparison]) -> list[ForestRows]:
    groups = [
        ForestRows(
            f"{who} among themselves",
            [(f"{who}: {name}", estimate) for name, estimate in coefficients(group)],
        )
        for who, group in (("People", section.people), ("Judges", section.judges))
        if len(group.raters) > 1
    ]
    return [
        *groups,
        ForestRows(
            "Judge with people: quadratic kappa",
            [(f"{one.judge}: kappa", one.kappas["quadratic"]) for one in shown if one.panel == 1],
        ),
        ForestRows(
            "Judge with people: ordinal alpha",
            [(f"{one.judge}: alpha", one.alphas["ordinal"]) for one in shown if one.panel == 1],
        ),
    ]


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


def gaps_drawn(parts: Sequence[SectionTests], marks: Mapping[str, str]) -> Figure | None:
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

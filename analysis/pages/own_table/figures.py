"""Figures of judges against people, for sections of tidy tables and of studies."""

from collections.abc import Sequence
from dataclasses import replace

from analysis.figures.agreement import agreement_bars, agreement_shares
from analysis.figures.bland_altman import DifferencePanel, bland_altman_plot
from analysis.figures.forest import ForestRows, forest
from analysis.figures.ratings import score_bars
from analysis.figures.theme import Figure
from analysis.pages.own_table.labels import Part, Tested, judges_of, score_counts
from analysis.reports import figure_specs
from analysis.reports.content import FigureSpec
from analysis.stats.rater_agreement.differences import Agreement
from analysis.stats.results import Estimate
from analysis.tables.agreement.judges_and_people import JudgeComparison
from analysis.tables.agreement.report import RaterGroup, SectionReport

# Judges that are drawn; the panel of all is drawn beside them, and tables have everybody.
MOST_PANELS = 7
CUT = " The first {most} judges and the panel are drawn; the table has all {of}."


def section_figures(part: Part, scale: tuple[int, int]) -> list[FigureSpec]:
    """Differences, estimates, shares, limits and counts of one section, each where it applies."""
    section = part.section
    shown = drawn(section)
    cut = _cut(section)
    figures = []
    if shown:
        figures.append(
            figure_specs.figure_spec(
                "differences",
                "How far each judge is from a person’s score",
                f"Share of answers at each absolute difference, in exact parts of a point.{cut}",
                agreement_bars([called(one) for one in shown]),
            )
        )
        figures.append(
            figure_specs.figure_spec(
                "shares",
                "Share equal and share within one point, by judge",
                f"Single answers of people, with 95 % intervals.{cut}",
                agreement_shares([called(one) for one in shown]),
            )
        )
    figures.append(
        figure_specs.figure_spec(
            "estimates",
            "Agreement beyond chance",
            "With 95 % intervals; 0 is chance and 1 perfect. People and judges are apart on "
            f"purpose.{cut}",
            forest(_estimates(section, shown), title="coefficient"),
        )
    )
    if any(one.limits.bias.value is not None for one in shown):
        figures.append(
            figure_specs.figure_spec(
                "bland-altman",
                "Difference over mean: judge − people (Bland–Altman)",
                "Circles are items, by area; the line is the bias, the dashed lines the limits "
                f"between which 95 % of differences lie if they are normal, bands their intervals."
                f"{cut}",
                bland_altman_plot(
                    [DifferencePanel(one.judge, one.limits, one.pairs) for one in shown],
                    scale=scale,
                ),
            )
        )
    groups = [
        (who, score_counts(group))
        for who, group in (("people", section.people), ("judges", section.judges))
        if group.ratings
    ]
    figures.append(
        figure_specs.figure_spec(
            "scores",
            "Scores given",
            "Where nearly all scores are the same, kappa and alpha are low however often raters "
            "agree.",
            score_bars(groups),
        )
    )
    return figures


def drawn(section: SectionReport) -> list[JudgeComparison]:
    """The comparisons that figures show: the panel, and the first judges."""
    single = list(judges_of(section))
    return [*single[:MOST_PANELS], *section.against[len(single) :]]


def called(one: JudgeComparison) -> Agreement:
    """The shares of a comparison under the judge’s name, as figures of several judges need it."""
    return replace(one.answers, dimension=one.judge)


def _cut(section: SectionReport) -> str:
    of = len(judges_of(section))
    return CUT.format(most=MOST_PANELS, of=of) if of > MOST_PANELS else ""


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
    """The coefficients of a group that a figure shows."""
    return [
        *((f"{metric} alpha", alpha) for metric, alpha in group.alphas.items()),
        ("AC1", group.gwet["none"]),
        ("AC2, quadratic", group.gwet["quadratic"]),
        ("Fleiss’ kappa", group.fleiss["none"]),
        ("ICC1, all answers", group.icc_unbalanced["single"]),
        ("ICC2, complete items", group.icc["ICC2"]),
    ]


def advantage_drawn(parts: Sequence[Tested], *, several: bool) -> Figure | None:
    """Advantage probabilities with intervals, by judge; none where no test is available."""
    groups: dict[str, list[tuple[str, Estimate]]] = {}
    for part in parts:
        for test in part.family:
            if test.passed is not None:
                groups.setdefault(test.judge if several else "Judges", []).append(
                    (part.title if several else test.judge, test.advantage)
                )
    if not groups:
        return None
    return forest(
        [ForestRows(name, rows) for name, rows in groups.items()],
        title="advantage probability",
        unit="share",
    )


def advantage_figure(parts: Sequence[Tested], *, several: bool) -> FigureSpec | None:
    """The same as a figure of a report."""
    found = advantage_drawn(parts, several=several)
    if found is None:
        return None
    return figure_specs.figure_spec(
        "advantage",
        "How often a judge is at least as close to the others as a person is",
        "Advantage probability, mean over people, with 95 % intervals. It counts ties for the "
        "judge and is no verdict.",
        found,
    )

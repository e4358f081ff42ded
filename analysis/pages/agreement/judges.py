"""What takes longer on the agreement page: every judge with people, by dimension, beyond chance."""

from collections.abc import Sequence

from analysis.figures.bland_altman import DifferencePanel, bland_altman_plot
from analysis.figures.forest import ForestRows, forest
from analysis.filters.selection import Selection
from analysis.frames.ratings import rating_frame
from analysis.pages.judges.page import table_of
from analysis.pages.own_table.alternative import verdict_table
from analysis.pages.own_table.groups import across_table
from analysis.pages.own_table.labels import Part, parts_of, skewed
from analysis.pages.own_table.tables import against_table, chance_table, correlation_table
from analysis.pages.people import chosen_people
from analysis.reports import common
from analysis.reports.content import FigureSpec, Notice, Report
from analysis.reports.formatting import listed
from analysis.stats.results import Estimate
from analysis.tables.agreement.report import tidy_report
from analysis.tables.agreement.settings import AgreementSettings

SEED = 20260118
WORD = "Dimension"


def agreement_later(selection: Selection) -> Report:
    """Kappas, alphas, AC, ICC, correlations and limits of each judge and dimension."""
    study = selection.study
    assert study is not None
    frame, _, _ = chosen_people(rating_frame(study, selection.runs), selection)
    settings = AgreementSettings(seed=SEED)
    parts = parts_of(tidy_report(table_of(selection, frame), settings))
    compared = [part for part in parts if part.section.against]
    if not compared:
        return Report(notices=(Notice("No judge scored what people scored here.", "info"),))
    return Report(
        figures=tuple(_figures(compared, settings.scale)),
        tables=(
            against_table(compared, WORD),
            chance_table(compared, WORD),
            *(
                [verdict_table(compared, WORD)]
                if any(test.passed is not None for part in compared for test in part.family)
                else []
            ),
            correlation_table(compared, WORD),
            across_table("people", "People among themselves", parts, WORD, judges=False),
            across_table("judges-alone", "Judges among themselves", parts, WORD, judges=True),
        ),
        notices=tuple(_notices(compared)),
        how=_how(compared, settings),
    )


def _figures(parts: Sequence[Part], scale: tuple[int, int]) -> list[FigureSpec]:
    by_judge: dict[str, list[tuple[str, Estimate]]] = {}
    for part in parts:
        for one in part.section.against:
            if one.panel == 1:
                by_judge.setdefault(one.judge, []).append((part.title, one.alphas["ordinal"]))
    panels = [
        DifferencePanel(part.title, part.section.against[-1].limits, part.section.against[-1].pairs)
        for part in parts
    ]
    return [
        common.figure_spec(
            "beyond-chance",
            "Each judge with people, beyond chance",
            "Krippendorff’s alpha, ordinal metric, with 95 % intervals by task; 0 is "
            "chance. Low where nearly all scores are the same, however often both agree.",
            forest(
                [ForestRows(judge, rows) for judge, rows in by_judge.items()],
                title="ordinal alpha",
            ),
        ),
        common.figure_spec(
            "limits",
            "Difference over mean: judges − people (Bland–Altman)",
            "The mean of all judges beside the mean of an item’s people. Circles are items, by "
            "area; the line is the bias, the dashed lines the limits between which 95 % of "
            "differences lie if they are normal, bands their intervals.",
            bland_altman_plot(panels, scale=scale),
        ),
    ]


def _notices(parts: Sequence[Part]) -> list[Notice]:
    found = []
    for who, groups in (
        ("people", [(part.title, part.section.people) for part in parts]),
        ("judges", [(part.title, part.section.judges) for part in parts]),
    ):
        names = [title.lower() for title, group in groups if skewed(group)]
        if names:
            found.append(
                Notice(
                    f"Most scores of {who} are one and the same on {listed(names, most=8)}. Kappa "
                    "and alpha are low there however often raters agree: read them with equal "
                    "scores, AC2 and the counts of scores.",
                    "info",
                )
            )
    return found


def _how(parts: Sequence[Part], settings: AgreementSettings) -> tuple[str, ...]:
    drawn = "tasks" if any(part.section.unit == "task" for part in parts) else "items"
    return (
        "Shares, bias, kappa, alpha and AC are over single answers of people, each beside the "
        "judge’s score; correlations, ICC and limits over items, the judge beside the mean of an "
        "item’s people. The panel is the mean of all judges; it is no score of the scale and has "
        "no kappa.",
        f"Intervals draw {drawn}: seed {settings.seed}, {settings.resamples:,} resamples. Formulas "
        "and sources: docs/agreement.md.",
    )

"""The pages about a table of ratings that somebody uploaded: one section, or all of them."""

from collections.abc import Callable, Sequence

from analysis.agreement.report import TidyReport
from analysis.kit.few_clusters import with_few_clusters
from analysis.pages.declaration import (
    ColumnOf,
    FigureOf,
    ReportOf,
    TableMade,
    TableOf,
    count_of,
    estimate_of,
)
from analysis.pages.own_table.alternative import (
    missing,
    passing,
    person_table,
    power_groups,
    power_table,
    verdict_table,
)
from analysis.pages.own_table.figures import (
    draw_alphas,
    draw_differences,
    draw_estimates,
    draw_gap,
    draw_gaps,
    draw_limits,
    draw_scores,
    draw_shares,
)
from analysis.pages.own_table.groups import group_table, pair_table
from analysis.pages.own_table.results import OverviewResult, SectionResult, SectionRow
from analysis.pages.own_table.sections import SectionPart, parts_of
from analysis.pages.own_table.tables import (
    against_table,
    chance_table,
    correlation_table,
    difference_table,
    planning_of,
    planning_table,
    score_table,
    sizes_of,
)
from analysis.reports.content import Cell, Report, Table, text_cell, text_column
from analysis.stats.rater_agreement.differences import Agreement
from analysis.stats.results import Estimate

WORD = "Section"
NO_PANEL = "no judge, or no person to hold one against"
GAP = "Agreement with people: each judge minus a person"


def section_page(report: TidyReport, number: int, *, has_tasks: bool) -> Report:
    """Return the report on the section of this number, from 0."""
    result = SectionResult(report, parts_of(report)[number], has_tasks)
    if not result.ratings:
        return SECTION.empty(result=result)
    return with_few_clusters(SECTION.build(result))


def overview_page(report: TidyReport, urls: Sequence[str], *, has_tasks: bool) -> Report:
    """Return the report on all sections side by side; each leads to its own page."""
    rows = [SectionRow(*pair) for pair in zip(parts_of(report), urls, strict=True)]
    return with_few_clusters(OVERVIEW.build(OverviewResult(report, tuple(rows), has_tasks)))


def _of_judges(
    make: Callable[[list[SectionPart]], Table], *, tested: bool | None = None
) -> TableMade[SectionResult]:
    """Return a table of judges against people; ``tested``: only where tests could (not) be made."""

    def made(result: SectionResult) -> Table | None:
        fits = tested is None or tested == result.is_tested
        return make([result.part]) if result.section.against and fits else None

    return TableMade(made)


SECTION: ReportOf[SectionResult] = ReportOf(
    "own_table",
    figure=FigureOf("gap", GAP, draw_gap, table="alternative"),
    # Without a test the table leads that says how close judges are.
    table=_of_judges(verdict_table, tested=True),
    folded=(
        FigureOf(
            "shares",
            "Share equal and share within one point, by judge",
            draw_shares,
            table="judges",
        ),
        FigureOf("estimates", "Agreement beyond chance", draw_estimates, table="chance"),
        FigureOf("differences", "How far each judge is from a person’s score", draw_differences),
        FigureOf(
            "bland-altman",
            "Difference over mean: judge − people (Bland–Altman)",
            draw_limits,
            table="correlations",
        ),
        FigureOf("scores", "Scores given", draw_scores),
        _of_judges(against_table),
        _of_judges(verdict_table, tested=False),
        _of_judges(power_table, tested=True),
        _of_judges(person_table, tested=True),
        _of_judges(chance_table),
        _of_judges(correlation_table),
        _of_judges(difference_table),
        TableMade(
            lambda result: group_table("people", "People among themselves", result.section.people)
        ),
        TableMade(
            lambda result: group_table(
                "judges-alone", "Judges among themselves", result.section.judges
            )
        ),
        TableMade(
            lambda result: pair_table("pairs-people", "Pairs of people", result.section.people)
        ),
        TableMade(
            lambda result: pair_table("pairs-judges", "Pairs of judges", result.section.judges)
        ),
        TableMade(lambda result: score_table([result.part])),
        TableMade(lambda result: planning_table(planning_of([result.part]))),
    ),
)


def _panel_of(answer: Callable[[Agreement], Estimate]) -> Callable[[SectionRow], Estimate]:
    """Return what the panel of a section comes to, or why there is none."""

    def estimate(row: SectionRow) -> Estimate:
        panel = row.panel
        return answer(panel.answers) if panel else Estimate.without_value(NO_PANEL)

    return estimate


def _passing(row: SectionRow) -> Cell:
    passed = passing(row.part)
    return Cell(passed, (passed,), reason="" if passed else missing(row.part) or NO_PANEL)


def overview_columns(_: OverviewResult) -> Sequence[ColumnOf[SectionRow]]:
    """Give each section its size, how far people agree, and how close judges are."""
    return (
        ColumnOf(text_column(WORD), lambda row: text_cell(row.part.title, url=row.url)),
        count_of("Items", lambda row: row.section.items),
        count_of("People", lambda row: len(row.section.people.raters)),
        count_of("Judges", lambda row: len(row.section.judges.raters)),
        estimate_of(
            "Alpha of people",
            lambda row: row.section.people.alphas["ordinal"],
            "points",
            help="Krippendorff’s, ordinal",
        ),
        estimate_of(
            "Equal among people",
            lambda row: row.section.people.equal,
            "share",
            help="Share of pairs of scores",
        ),
        estimate_of(
            "Panel equal",
            _panel_of(lambda answers: answers.rounded),
            "share",
            help="Mean of all judges, rounded, equals the person’s",
        ),
        estimate_of("Panel within one", _panel_of(lambda answers: answers.within_one), "share"),
        estimate_of(
            "Panel bias",
            _panel_of(lambda answers: answers.bias),
            "points",
            help="Judges minus person, in points",
            signed=True,
        ),
        ColumnOf(
            text_column(
                "May stand in",
                "pass",
                "Judges and panel that pass both tests, all adjusted together",
            ),
            _passing,
        ),
    )


def _across(
    make: Callable[[list[SectionPart], str], Table | None],
    rows: Callable[[SectionPart], int],
    *,
    judges: bool = True,
) -> TableMade[OverviewResult]:
    """Return a table with so many rows of each section; ``judges``: only where one is compared."""
    return TableMade(
        lambda result: make(result.parts, WORD) if result.has_judges or not judges else None,
        lambda result: result.links(rows),
    )


OVERVIEW: ReportOf[OverviewResult] = ReportOf(
    "own_table/overview",
    figure=FigureOf("gap", GAP, draw_gaps, table="alternative"),
    table=TableOf(
        "overview",
        "All sections",
        rows=lambda result: result.rows,
        columns=overview_columns,
        link=lambda row: row.link,
    ),
    folded=(
        FigureOf(
            "alphas",
            "Agreement of people, and of judges, by section",
            draw_alphas,
            table="overview",
        ),
        _across(verdict_table, lambda part: len(part.family)),
        _across(power_table, lambda part: len(power_groups(part))),
        _across(against_table, lambda part: len(part.section.against)),
        _across(score_table, lambda _: 2, judges=False),
        _across(
            lambda parts, word: planning_table(planning_of(parts), word),
            lambda part: len(sizes_of(part.section.planning)),
            judges=False,
        ),
    ),
)

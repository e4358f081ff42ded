"""The pages about a tidy table that somebody uploaded: one section, or all of them."""

from analysis.figures.forest import ForestRows, forest
from analysis.pages.few_clusters import with_few_clusters
from analysis.pages.own_table.alternative import (
    missing,
    passing,
    person_table,
    power_table,
    verdict_table,
)
from analysis.pages.own_table.figures import advantage_figure, section_figures
from analysis.pages.own_table.groups import CONSISTENCY, group_table, pair_table
from analysis.pages.own_table.labels import Part, answer, epsilon_words, notices, parts_of
from analysis.pages.own_table.tables import (
    against_table,
    chance_table,
    correlation_table,
    difference_table,
    planning_of,
    planning_table,
    score_table,
)
from analysis.reports import figure_specs
from analysis.reports.content import (
    Cell,
    Notice,
    Report,
    Table,
    count_cell,
    estimate_cell,
    estimate_column,
    how_interval,
    number_column,
    text_cell,
    text_column,
)
from analysis.reports.formatting import listed, plural
from analysis.stats.results import Estimate
from analysis.tables.agreement.report import TidyReport

NO_PANEL = "no judge, or no person to hold one against"


def section_page(report: TidyReport, number: int, *, has_tasks: bool) -> Report:
    """Everything about the section of this number, from 0."""
    part = parts_of(report)[number]
    section, one = part.section, [part]
    figures = section_figures(part, report.settings.scale)
    advantage = advantage_figure(one, several=False)
    if advantage is not None:
        figures.insert(2, advantage)
    against = (
        (
            against_table(one),
            chance_table(one),
            correlation_table(one),
            difference_table(one),
            verdict_table(one),
            power_table(one),
            person_table(one),
        )
        if section.against
        else ()
    )
    pairs = [
        pair_table(name, title, group)
        for name, title, group in (
            ("pairs-people", "Pairs of people", section.people),
            ("pairs-judges", "Pairs of judges", section.judges),
        )
        if len(group.raters) > 1
    ]
    written = Report(
        sentence=answer(part),
        figures=tuple(figures),
        tables=(
            *against,
            group_table("people", "People among themselves", section.people),
            group_table(
                "judges-alone", "Judges among themselves", section.judges, note=CONSISTENCY
            ),
            *pairs,
            score_table(one),
            planning_table(planning_of(one)),
        ),
        notices=tuple(notices(part, has_tasks=has_tasks)),
        how=(*_how(report), *_how_section(part)),
    )
    return with_few_clusters(written)


def overview_page(report: TidyReport, urls: list[str], *, has_tasks: bool) -> Report:
    """All sections side by side; each name leads to its own page."""
    parts = parts_of(report)
    advantage = advantage_figure(parts, several=True)
    alphas = forest(
        [
            ForestRows(f"{who}: ordinal alpha", [
                (part.title, getattr(part.section, kind).alphas["ordinal"])
                for part in parts if len(getattr(part.section, kind).raters) > 1
            ])
            for who, kind in (("People", "people"), ("Judges", "judges"))
        ],
        title="coefficient",
    )  # fmt: skip
    drawn = figure_specs.figure_spec(
        "alphas",
        "Agreement of people, and of judges, by section",
        "Krippendorff’s alpha, ordinal metric, with 95 % intervals. Agreement of judges is "
        "consistency, not correctness.",
        alphas,
    )
    told: dict[str, list[str]] = {}
    for part in parts:
        for notice in notices(part, has_tasks=has_tasks):
            if notice.tone == "warning":
                told.setdefault(notice.text, []).append(part.title)
    written = Report(
        sentence=_sentence(parts),
        figures=(drawn, *([advantage] if advantage is not None else [])),
        tables=(
            _overview(parts, urls),
            *([verdict_table(parts, "Section"), power_table(parts, "Section"),
               against_table(parts, "Section")]
              if any(part.section.against for part in parts) else []),
            score_table(parts, "Section"),
            planning_table(planning_of(parts), "Section"),
        ),
        notices=tuple(
            Notice(f"{listed(where, most=6)}: {text}") for text, where in told.items()
        ),
        how=tuple(_how(report)),
    )  # fmt: skip
    return with_few_clusters(written)


def _sentence(parts: list[Part]) -> str:
    pairs = [
        (test, part.title, one.panel)
        for part in parts
        for one, test in zip(part.section.against, part.family, strict=True)
    ]
    known = [
        (test, title) for test, title, panel in pairs if panel == 1 and test.passed is not None
    ]
    begin = f"{plural(len(parts), 'section')} (dataset and criterion)."
    if not known:
        return (
            f"{begin} Whether judges may stand in for people cannot be said of any: the "
            "alternative annotator test needs three people with 30 items each that a judge and "
            "another person scored too."
        )
    won = sum(bool(test.verdict.passes) for test, _ in known)
    withheld = sum(test.verdict.withheld for test, _ in known)
    without = (
        f" There is no verdict in {withheld:,}: those judges cannot be told from a constant judge "
        "or from chance."
        if withheld
        else ""
    )
    places = len({title for _, title in known})
    first = known[0][0]
    return (
        f"{begin} By the alternative annotator test with ε = {first.epsilon:g}, single judges may "
        f"stand in for a person in {won:,} of {plural(len(known), 'test')} on "
        f"{plural(places, 'section')}, all {plural(first.tests, 'comparison')} adjusted together."
        f"{without}"
    )


def _overview(parts: list[Part], urls: list[str]) -> Table:
    columns = (
        text_column("Section"),
        number_column("Items"),
        number_column("People"),
        number_column("Judges"),
        estimate_column("Alpha of people", help="Krippendorff’s, ordinal"),
        estimate_column("Equal among people", help="Share of pairs of scores"),
        estimate_column("Panel equal", help="Mean of all judges, rounded, equals the person’s"),
        estimate_column("Panel within one"),
        estimate_column("Panel bias", help="Judges minus person, in points"),
        text_column("Pass", "pass", "Judges and panel that pass, all tests adjusted together"),
    )
    rows = []
    for part, url in zip(parts, urls, strict=True):
        section = part.section
        panel = section.against[-1].answers if section.against else None
        none = Estimate.without_value(NO_PANEL)
        passed = passing(part)
        rows.append(
            (
                text_cell(part.title, url=url),
                count_cell(section.items),
                count_cell(len(section.people.raters)),
                count_cell(len(section.judges.raters)),
                estimate_cell(section.people.alphas["ordinal"], "points"),
                estimate_cell(section.people.equal, "share"),
                estimate_cell(panel.rounded if panel else none, "share"),
                estimate_cell(panel.within_one if panel else none, "share"),
                estimate_cell(panel.bias if panel else none, "points", signed=True),
                Cell(passed, (passed,), reason="" if passed else missing(part) or NO_PANEL),
            )
        )
    return Table("overview", "All sections", columns, tuple(rows))


def _how(report: TidyReport) -> list[str]:
    settings = report.settings
    low, high = settings.scale
    lines = [
        f"{report.rows:,} ratings, {report.blank:,} of them without a score; scale {low} to "
        f"{high}.",
        f"Chosen before looking: {epsilon_words(settings.epsilon)}; seed {settings.seed}; "
        f"{settings.resamples:,} resamples; half-width {settings.half_width:g}. Intervals: "
        f"{settings.level:.0%}.",
    ]
    if report.ignored:
        lines.append(f"Columns that were not read: {', '.join(report.ignored)}.")
    return lines


def _how_section(part: Part) -> list[str]:
    section = part.section
    estimates = [one.answers.exact for one in section.against]
    estimates += [section.people.alphas["ordinal"], section.people.gwet["none"]]
    drawn = (
        "Items share tasks, so every interval resamples tasks."
        if section.unit == "task"
        else "Items are taken as independent; where several people scored an item, comparisons of "
        "single answers resample items."
    )
    lines = [
        f"Section {part.title}: {plural(section.items, 'item')}. {drawn}",
        f"Intervals: {how_interval(estimates) or 'none'}.",
        "Shares, bias, differences, kappa, alpha and AC of a judge are over single answers of "
        "people; correlations, ICC and limits are of the judge with the mean of an item’s people.",
    ]
    if section.against:
        first = section.against[0].alternative
        lines.append(
            f"{first.method[:1].upper()}{first.method[1:]}; a judge passes with a winning rate of "
            "0.5 or more. The verdict is withheld where the judge cannot be told from the best "
            "constant judge or from chance. Formulas and sources: docs/agreement.md."
        )
    return lines

"""How far do the judges and people of an uploaded table agree? One section of it, or all."""

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import NamedTuple

from analysis.agreement.judges_and_people import JudgeComparison
from analysis.agreement.report import (
    ONE_EACH,
    UNLIKE_PART,
    RaterGroup,
    SectionReport,
    TidyReport,
)
from analysis.figures.agreement import agreement_bars, agreement_shares
from analysis.figures.ratings import score_bars
from analysis.kit import columns
from analysis.kit.columns import Column
from analysis.kit.few_clusters import with_few_clusters
from analysis.kit.links import Link
from analysis.kit.page import Sheet, report_of
from analysis.pages.correction import corrected_columns, listed_moves
from analysis.pages.own_table import notes
from analysis.pages.own_table.alternative import (
    missing,
    passing,
    person_table,
    power_groups,
    power_table,
    verdict_table,
)
from analysis.pages.own_table.figures import (
    called,
    draw_alphas,
    draw_estimates,
    draw_gap,
    draw_gaps,
    draw_limits,
    drawn,
)
from analysis.pages.own_table.groups import group_table, pair_table
from analysis.pages.own_table.sections import (
    MOST_DRAWN,
    SectionPart,
    family_of,
    judges_of,
    lacking,
    low_alphas,
    near_verdicts,
    parts_of,
    score_counts,
    skewed,
    skewed_parts,
    standing_words,
)
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
from analysis.reports import addresses
from analysis.reports import content as parts_of_reports
from analysis.reports.content import Cell, Report, Table, how_interval, text_cell
from analysis.reports.formatting import ends, first_up, listed, number, plural, stated
from analysis.stats.rater_agreement.alt_test import AltTest
from analysis.stats.rater_agreement.differences import Agreement
from analysis.stats.results import Estimate

WORD = "Section"
NO_PANEL = "no judge, or no person to hold one against"
GAP = "Agreement with people: each judge minus a person"
NOT_TESTABLE = "Whether judges may stand in for people is not testable yet"
TASK_COLUMN = (
    "If several items belong to one task, document or model, intervals are too narrow: add the "
    "column task."
)


class SectionRow(NamedTuple):
    """A section beside the others; ``url`` is its own page."""

    part: SectionPart
    url: str


def section_page(report: TidyReport, number: int, *, has_tasks: bool) -> Report:
    """Return the report on the section of this number, from 0.

    ``has_tasks``: the table says which task an item belongs to.
    """
    part = parts_of(report)[number]
    written = partial(_section, report=report, part=part, has_tasks=has_tasks)
    return with_few_clusters(report_of(written))


def overview_page(report: TidyReport, urls: Sequence[str], *, has_tasks: bool) -> Report:
    """Return the report on all sections side by side; each leads to its own page."""
    rows = [SectionRow(*pair) for pair in zip(parts_of(report), urls, strict=True)]
    written = partial(_overview, report=report, rows=rows, has_tasks=has_tasks)
    return with_few_clusters(report_of(written))


def _section(
    sheet: Sheet, report: TidyReport, part: SectionPart, *, has_tasks: bool
) -> Iterator[None]:
    """Say how far judges agree with people in a section, and each kind with itself."""
    section = part.section
    people, judges = section.people, section.judges
    groups = [("people", people), ("judges", judges)]
    if not people.ratings + judges.ratings:
        sheet.nothing(
            "No scores here",
            "This page compares people and judges who scored the same items. In section "
            f"{part.title} every row of the file is without a score.",
            "Upload a table",
            addresses.address("analysis:table_new"),
        )
        return
    tests = [test for test in part.family if test.passed is not None]
    family, shown = family_of([part]), drawn(section)
    sheet.answer(_answer(part, tests))
    sheet.answer(_moves(section))
    if ONE_EACH in section.warnings:
        sheet.warning(
            "Every item was scored by one person. Alpha, kappa and ICC among people do not exist "
            "here, and comparing people with judges does not replace them: have some items scored "
            "by two people or more."
        )
    sheet.warning(notes.low_agreement(low_alphas([part], several=False)))
    sheet.warning(notes.one_person_away(near_verdicts(part)))
    for who, group in groups:
        sheet.warning(_skewed_words(who, group))
    for text in _unlike(part):
        sheet.warning(f"{first_up(text)}.")
    sheet.figure(
        "gap",
        GAP,
        (lambda: draw_gap(tests)) if tests else None,
        subtitle=notes.gap_subtitle(family) if family is not None else "",
        table="alternative",
    )
    # Without a test the table leads that says how close judges are.
    verdicts = verdict_table([part])
    verdict_note = notes.alternative_note(family) if family is not None else ""
    if tests:
        sheet.ready_table(verdicts, note=verdict_note)
    if section.corrected:
        sheet.table(
            "corrected",
            "Mean of each judge over all items, corrected by people",
            list(section.corrected),
            [
                columns.text("Judge", lambda name: name),
                *corrected_columns(section.corrected, "points", "items that could be drawn"),
            ],
            link=lambda _: None,
            note=f"95 % t intervals by {section.unit}. People rated items drawn by `probability`.",
        )
    yield
    single = len(judges_of(section))
    only = (
        f" The first {MOST_DRAWN} judges and the mean of all are drawn; the table has all {single}."
    ) * (single > MOST_DRAWN)
    answers = [called(one) for one in shown]
    sheet.figure(
        "shares",
        "Share equal and share within one point, by judge",
        (lambda: agreement_shares(answers)) if answers else None,
        subtitle=f"Single answers of people, with 95 % intervals.{only}",
        table="judges",
    )
    sheet.figure(
        "estimates",
        "Agreement beyond chance",
        lambda: draw_estimates(section, shown),
        subtitle="With 95 % intervals; 0 is chance and 1 perfect. People and judges are apart on "
        f"purpose.{only}",
        table="chance",
    )
    sheet.figure(
        "differences",
        "How far each judge is from a person’s score",
        (lambda: agreement_bars(answers)) if answers else None,
        subtitle=f"Share of answers at each absolute difference, in exact parts of a point.{only}",
    )
    sheet.figure(
        "bland-altman",
        "Difference over mean: judge − people (Bland–Altman)",
        lambda: draw_limits(shown, report.settings.scale),
        subtitle="Circles are items, by area; the line is the bias, the dashed lines the limits "
        "between which 95 % of differences lie if they are normal, bands their intervals."
        f"{only}",
        table="correlations",
    )
    sheet.figure(
        "scores",
        "Scores given",
        lambda: score_bars([(who, score_counts(group)) for who, group in groups if group.ratings]),
        subtitle="Where nearly all scores are the same, kappa and alpha are low however often "
        "raters agree.",
    )
    if section.against:
        sheet.ready_table(against_table([part]), note=notes.JUDGES)
        if tests:
            sheet.ready_table(power_table([part]), note=notes.POWER)
            sheet.ready_table(person_table([part]), note=notes.PEOPLE_TESTED)
        else:
            sheet.ready_table(verdicts, note=verdict_note)
        sheet.ready_table(chance_table([part]), note=notes.CHANCE)
        sheet.ready_table(correlation_table([part]), note=notes.CORRELATIONS)
        sheet.ready_table(difference_table([part]), note=notes.DIFFERENCES)
    several = (
        f" Agreement among people is about {people.items:,} of {people.items + people.single:,} "
        "items alone. If these were chosen, say for being hard, they do not stand for all."
    ) * bool(people.items and people.single)
    sheet.ready_table(
        group_table("people", "People among themselves", people),
        note=f"{_group_note(people)}{several}",
    )
    sheet.ready_table(
        group_table("judges-alone", "Judges among themselves", judges),
        note=f"{_group_note(judges)} {notes.CONSISTENCY}",
    )
    for who, group in groups:
        apart = f"Pairs of raters without a common item: {group.apart:,}." * bool(group.apart)
        sheet.ready_table(pair_table(f"pairs-{who}", f"Pairs of {who}", group), note=apart)
    sheet.ready_table(score_table([part]))
    sheet.ready_table(planning_table(planning_of([part])), note=notes.PLANNING)
    independent = (
        "Items are taken as independent; where several people scored an item, comparisons of "
        f"single answers resample items.{f' {TASK_COLUMN}' * (not has_tasks)}"
    )
    by_task = "Items share tasks, so every interval resamples tasks."
    planned = any((section.planning.equal, section.planning.alpha, section.planning.icc))
    intervals = how_interval(
        [one.answers.exact for one in section.against]
        + [people.alphas["ordinal"], people.gwet["none"]]
    )
    sheet.how(
        f"Section {part.title}: {plural(section.items, 'item')}. "
        f"{by_task if section.unit == 'task' else independent}",
        *notes.how_read(report),
        *(
            f"Agreement of {who} among themselves: none, {group.undefined}."
            for who, group in groups
            if group.undefined
        ),
        *(
            f"{first_up(text)}."
            for _, group in groups
            for text in group.warnings
            if "pairs of raters" in text
        ),
        ""
        if planned
        else "How many items are needed cannot be planned: no two people scored the same item.",
        f"Intervals: {intervals or 'none'}.",
    )
    if family is None:
        sheet.methods(
            "Agreement of raters of one kind is the share of equal pairs of scores, Krippendorff's "
            "alpha, Gwet's AC and ICC."
        )
        return
    sheet.how(
        "Shares, bias, differences, kappa, alpha and AC of a judge are over single answers of "
        "people; correlations, ICC and limits are of the judge with the mean of an item's people.",
        *notes.how_tested(family),
    )
    sheet.methods(
        "Each judge's scores are compared with single answers of people: share equal, share within "
        "one point, bias (judge minus person), kappa and alpha. "
        f"{notes.standing_methods(family)}."
    )


def _answer(part: SectionPart, tests: Sequence[AltTest]) -> str:
    """Say which judges may stand in for people, how close all of them are, and what is missing."""
    section = part.section
    people, one = section.people, part.panel
    pairs = zip(part.family, section.against, strict=True)
    words = [
        standing_words(
            [(part.title, test) for test, of in pairs if of.panel == 1 and test.annotators]
        )
    ]
    if one is not None:
        words.append(_closeness(one))
    alpha = people.alphas["ordinal"]
    if not people.undefined and alpha.value is not None:
        words.append(f"Among people, ordinal alpha is {stated(alpha, 'points')}.")
    if not tests:
        if not section.judges.raters:
            why = "there is no judge among the raters"
        elif not people.raters:
            why = "no person is among the raters"
        elif ONE_EACH in section.warnings:
            why = (
                "every item was scored by one person, so how far people agree with each other is "
                "unknown"
            )
        elif part.family:
            why = f"{notes.TEST_NEEDS}; {lacking(part.family[0])}"
        else:
            why = "no item was scored by a judge and a person"
        words.append(f"{NOT_TESTABLE}: {why}.")
    return " ".join(filter(None, words))


def _moves(section: SectionReport) -> str:
    """Say how far people’s ratings of drawn items move each judge’s mean, or why they do not."""
    moved = sorted(
        (mean.moved, name) for name, mean in section.corrected.items() if mean.moved is not None
    )
    if moved:
        rated = plural(max(mean.rated for mean in section.corrected.values()), "drawn item")
        by = listed_moves(moved, "points")
        return f"Ratings of {rated} move the mean over all items: {by} points."
    reasons = {mean.estimate.undefined for mean in section.corrected.values()}
    return f"Judges are not corrected: {listed(sorted(reasons))}." * bool(reasons)


def _closeness(one: JudgeComparison) -> str:
    """Say how often the mean of all judges, or the only one, equals people, and its bias."""
    answers, several = one.answers, one.panel > 1
    if answers.exact.value is None:
        return "No score of a person has one of every judge beside it."
    equal = stated(answers.rounded if several else answers.exact, "share")
    bias, off = answers.bias.value, answers.bias.interval
    if bias is None:
        side = "the bias is undefined"
    else:
        direction = "neither clearly higher nor lower"
        if off is None or not off.holds(0):
            inside = f" ({ends(off, 'points')})" if off is not None else ""
            size = number(abs(bias), "points")
            direction = f"{size} points {'higher' if bias > 0 else 'lower'}{inside}"
        side = f"{'judges score' if several else 'it scores'} {direction}"
    who = f"The {one.judge}, rounded," if several else one.judge
    return (
        f"{who} equals a person's score on {equal} of {plural(answers.n, 'answer')} and is at most "
        f"one point away on {number(answers.within_one.value or 0.0, 'share')}; {side}."
    )


def _skewed_words(who: str, group: RaterGroup) -> str:
    """Warn where nearly all scores of a kind of rater are one and the same."""
    if not skewed(group):
        return ""
    score, count = max(group.counts.items(), key=lambda item: item[1])
    beside = "read equal scores, AC2 and the counts of scores together"
    if count == group.ratings:
        return (
            f"All scores of {who} are {score}, so agreement beyond chance is undefined: {beside}."
        )
    return (
        f"{number(count / group.ratings, 'share')} of the scores of {who} are {score}, so kappa "
        f"and alpha are low however often raters agree: {beside}."
    )


def _unlike(part: SectionPart) -> list[str]:
    """Return what is said of raters whose scores hardly go with those of the others."""
    groups = (part.section.people, part.section.judges)
    return [text for group in groups for text in group.warnings if UNLIKE_PART in text]


def _group_note(group: RaterGroup) -> str:
    """Say how much raters of one kind scored."""
    return (
        f"{plural(len(group.raters), 'rater')}, {plural(group.ratings, 'score')}; items with two "
        f"scores or more: {group.items:,}, with one: {group.single:,}. {notes.ICC}"
    )


def _overview(
    sheet: Sheet, report: TidyReport, rows: Sequence[SectionRow], *, has_tasks: bool
) -> Iterator[None]:
    """Put the sections of a table side by side, and say in which of them judges may stand in."""
    parts = [row.part for row in rows]
    marks = {row.part.title: row.url for row in rows}
    family, sections = family_of(parts), plural(len(rows), "section")
    tests = [
        (part.title, test)
        for part in parts
        for test, one in zip(part.family, part.section.against, strict=True)
        if one.panel == 1 and test.passed is not None
    ]
    tested = len({title for title, _ in tests})
    sheet.answer(
        standing_words(tests) or f"{NOT_TESTABLE} on any of {sections}: {notes.TEST_NEEDS}."
    )
    if tests and tested != len(rows):
        sheet.answer(f"Tests are available on {tested:,} of {sections}.")
    one_each = [part.title for part in parts if ONE_EACH in part.section.warnings]
    if one_each:
        sheet.warning(
            f"{listed(one_each, most=6)}: every item was scored by one person. Alpha, kappa and "
            "ICC among people do not exist there: have some items scored by two people or more."
        )
    near = [f"{judge} on {part.title}" for part in parts for judge in near_verdicts(part)]
    sheet.warning(notes.low_agreement(low_alphas(parts, several=True)))
    sheet.warning(notes.one_person_away(near))
    for who, titles in skewed_parts(parts):
        sheet.warning(notes.skewed_scores(who, titles))
    for part in parts:
        for text in _unlike(part):
            sheet.warning(f"{part.title}: {text}.")
    sheet.figure(
        "gap",
        GAP,
        lambda: draw_gaps(parts, marks),
        subtitle=notes.gap_subtitle(family) if family is not None else "",
        table="alternative",
    )
    sheet.table(
        "overview",
        "All sections",
        rows,
        _overview_columns(),
        link=lambda row: Link(url=row.url),
        note="A section is a pair of dataset and criterion, with a page of its own. 95 % "
        "intervals; the panel is the mean of all judges.",
    )
    yield

    def add(table: Table | None, count: Callable[[SectionPart], int], note: str = "") -> None:
        """Add a table that has so many rows of each section."""
        links = [Link(url=row.url) for row in rows for _ in range(count(row.part))]
        sheet.ready_table(table, links, note=note)

    sheet.figure(
        "alphas",
        "Agreement of people, and of judges, by section",
        lambda: draw_alphas(parts, marks),
        subtitle="Krippendorff’s alpha, ordinal metric, with 95 % intervals. Agreement of judges "
        "with each other is consistency, not correctness.",
        table="overview",
    )
    if family is not None:
        verdict_note = notes.alternative_note(family)
        add(verdict_table(parts, WORD), lambda part: len(part.family), verdict_note)
        add(power_table(parts, WORD), lambda part: len(power_groups(part)), notes.POWER)
        add(against_table(parts, WORD), lambda part: len(part.section.against), notes.JUDGES)
    add(score_table(parts, WORD), lambda _: 2)
    add(
        planning_table(planning_of(parts), WORD),
        lambda part: len(sizes_of(part.section.planning)),
        notes.PLANNING,
    )
    sheet.how(*notes.how_read(report))
    if not has_tasks:
        sheet.how(f"Not every row says which task its item belongs to. {TASK_COLUMN}")
    if family is not None:
        sheet.how(*notes.how_tested(family))
        sheet.methods(
            f"{notes.standing_methods(family)}, with the p-values of all judges and sections "
            "adjusted together."
        )


def _overview_columns() -> list[Column[SectionRow]]:
    """Give each section its size, how far people agree, and how close judges are."""

    def panel(answer: Callable[[Agreement], Estimate]) -> Callable[[SectionRow], Estimate]:
        """Return what the panel of a section comes to, or why there is none."""

        def estimate(row: SectionRow) -> Estimate:
            one = row.part.panel
            return answer(one.answers) if one else Estimate.without_value(NO_PANEL)

        return estimate

    def stand_in(row: SectionRow) -> Cell:
        passed = passing(row.part)
        return Cell(passed, (passed,), reason="" if passed else missing(row.part) or NO_PANEL)

    return [
        Column(
            parts_of_reports.text_column(WORD), lambda row: text_cell(row.part.title, url=row.url)
        ),
        columns.count("Items", lambda row: row.part.section.items),
        columns.count("People", lambda row: len(row.part.section.people.raters)),
        columns.count("Judges", lambda row: len(row.part.section.judges.raters)),
        columns.estimate(
            "Alpha of people",
            lambda row: row.part.section.people.alphas["ordinal"],
            "points",
            help="Krippendorff’s, ordinal",
        ),
        columns.estimate(
            "Equal among people",
            lambda row: row.part.section.people.equal,
            "share",
            help="Share of pairs of scores",
        ),
        columns.estimate(
            "Panel equal",
            panel(lambda answers: answers.rounded),
            "share",
            help="Mean of all judges, rounded, equals the person’s",
        ),
        columns.estimate("Panel within one", panel(lambda answers: answers.within_one), "share"),
        columns.estimate(
            "Panel bias",
            panel(lambda answers: answers.bias),
            "points",
            help="Judges minus person, in points",
            signed=True,
        ),
        Column(
            parts_of_reports.text_column(
                "May stand in",
                "pass",
                "Judges and panel that pass both tests, all adjusted together",
            ),
            stand_in,
        ),
    ]

"""Does each judge score as people do, and may it stand in for one of them?"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from analysis.agreement.csv_table import TableSection, TidyTable
from analysis.agreement.inputs import AgreementSettings
from analysis.agreement.judges_and_people import means_of
from analysis.agreement.report import plan
from analysis.figures.layout.theme import Figure
from analysis.figures.panels import bias_panels
from analysis.filters.selection import Selection
from analysis.filters.study_kinds import asks_dimensions
from analysis.frames.panels import people_names, seat_names, study_table
from analysis.frames.ratings import final_scores, rating_frame
from analysis.kit import columns
from analysis.kit.columns import Column
from analysis.kit.links import Link
from analysis.kit.page import Content, Page
from analysis.pages.judges.people_agree import show_where_people_agree
from analysis.pages.judges.verdicts import (
    UnmetRequirement,
    summarize,
    summary_columns,
    tested,
    unmet_requirements,
)
from analysis.pages.own_table import notes
from analysis.pages.own_table.alternative import (
    person_table,
    power_groups,
    power_table,
    verdict_table,
)
from analysis.pages.own_table.figures import draw_gaps
from analysis.pages.own_table.sections import SectionTests, family_of, low_alphas, standing_words
from analysis.pages.own_table.tables import planning_table, sizes_of
from analysis.pages.people import (
    asked_study,
    chosen_people,
    few_items,
    no_answers,
    people_details,
    people_notices,
    who_answered,
)
from analysis.reports import addresses, system_facts
from analysis.reports.content import (
    Badge,
    Cell,
    estimate_cell,
    estimate_column,
)
from analysis.reports.formatting import ends, listed, number, plural
from analysis.stats.judges.bias import Bias, Biases, Compared, judge_biases
from analysis.stats.judges.panels import PanelJudge, PanelReliability, judge_panel
from analysis.stats.resampling import repeated

if TYPE_CHECKING:
    from pandas import DataFrame

SEED = 20260117
STRICTEST = 0.1
EPSILONS = ("0.15", "0.2")
WORD = "Dimension"
ALL = "All dimensions"
# Judges that a sentence names; it counts the others.
MOST_NAMED = 3
PURPOSE = (
    "The page about judges compares each judge with people, and tests whether it may stand in for "
    "a person."
)


class SeverityRow(NamedTuple):
    """A judge on one dimension, beside people and beside the other judges."""

    title: str
    key: str
    bias: Bias
    panel: PanelJudge


def content(page: Page) -> Content:
    """Compare each judge with people, and test whether it may stand in for one of them."""
    page.onward(
        "Compare judges with people in your own table of ratings",
        addresses.address("analysis:table_list"),
    )
    study = asked_study(page, PURPOSE, asks_dimensions)
    if study is None:
        return
    frame, people, everyone = chosen_people(rating_frame(study, page.runs), page.selection)
    if frame.empty:
        no_answers(page, everyone, PURPOSE)
        return
    table, keys = table_of(page.selection, frame), keys_of(page.selection)
    settings = AgreementSettings(seed=SEED, epsilon=epsilon_of(page.selection))
    biases = _biases(table)
    parts = tested(table, settings)
    family = family_of(parts)
    available = [test for part in parts for test in part.family if test.passed is not None]
    unmet = unmet_requirements(parts, keys)
    over_all = _over_all(table, biases)
    who = who_answered(people)
    known = [one for one in biases.pairs if one.bias.value is not None]
    pairs = plural(biases.family, "pair")
    page.answer(_standing_words(parts, biases, [] if available else unmet))
    page.answer(_bias_words(biases, over_all, who))
    if not biases.overall:
        page.info("Nobody judged these runs: there is no judge to compare.")
    people_notices(page, people)
    page.warning(notes.low_agreement(low_alphas(parts, several=True)))
    _warn_of_scored_once(page, table)
    few_items(page, people)

    def draw() -> Figure | None:
        if not known:
            return None
        links = {title: page.url(dimension=key) for title, key in keys.items()}
        first = [replace(one, dimension=ALL) for one in over_all]
        return bias_panels([*first, *biases.pairs], {**links, ALL: page.url()})

    judges_too = f"; over all dimensions, for all {plural(len(over_all), 'judge')}"
    page.figure(
        "bias",
        "How far each judge scores above or below people",
        draw,
        subtitle="In points, with 95 % intervals. Filled marks: clear after correction for all "
        f"{pairs}{judges_too if over_all else ''}.",
        table="severity",
    )
    compared = available[0].tests if available else 0
    together = f", all {plural(compared, 'comparison')} with people adjusted together"
    page.table(
        "summary",
        "Each judge over the dimensions",
        summarize(parts, biases) if parts else [],
        summary_columns(),
        note=f"“Clearly” is after Bonferroni over {pairs} of judge and dimension. A judge may "
        "stand in where it passes both tests: non-inferiority with margin "
        f"−{settings.margin:g}, and the alternative annotator test with ε = "
        f"{settings.epsilon:g}{together if compared else ''}. “Shown worse” takes one of them; "
        "with too few items the answer is “undecided”.",
    )
    yield
    page.figure(
        "gap",
        "Agreement with people: each judge minus a person",
        lambda: draw_gaps(parts, {t: page.url(dimension=key) for t, key in keys.items()}),
        subtitle=notes.gap_subtitle(family) if family is not None else "",
        table="alternative",
    )
    page.table(
        "severity",
        "Each judge beside people and beside the other judges",
        _severity_rows(table, keys, biases),
        _severity_columns(),
        link=lambda row: Link(dimension=row.key),
        note="Below 0 is more severe. Over the items with a score of every judge. Severity among "
        "judges says nothing about who is right; bias against people does, as far as people are. "
        "“Below” and “above” mark what is clear after correction for all pairs.",
    )

    show_where_people_agree(page, table)

    def links(rows: Callable[[SectionTests], int]) -> list[Link]:
        """Return the dimension of every row of a table that has so many rows of each part."""
        return [Link(dimension=keys[part.title]) for part in parts for _ in range(rows(part))]

    if available:
        assert family is not None
        page.ready_table(
            verdict_table(parts, WORD),
            links(lambda part: len(part.family)),
            note=notes.alternative_note(family),
        )
        page.ready_table(
            power_table(parts, WORD),
            links(lambda part: len(power_groups(part))),
            note=notes.POWER,
        )
        page.ready_table(
            person_table(parts, WORD),
            links(lambda part: sum(len(test.annotators) for test in part.family)),
            note=notes.PEOPLE_TESTED,
        )
    page.table(
        "missing",
        "What is missing",
        unmet,
        _unmet_columns(),
        link=lambda row: Link(dimension=row.key),
    )
    if parts:
        plans = [(one.criterion, plan(one, settings)) for one in table.sections]
        sizes = [Link(dimension=keys[title]) for title, planned in plans for _ in sizes_of(planned)]
        page.ready_table(planning_table(plans, WORD), sizes, note=notes.PLANNING)
    people_details(page, people, everyone)
    page.how(
        "Bias: a judge's score minus the mean of an item's people, over the items that every judge "
        "and a person scored; means with cluster-robust intervals by task, which end at the scale. "
        f"Clear: the interval of all {pairs} together (Bonferroni) excludes 0; over all "
        "dimensions, that of all judges together."
    )
    if family is not None:
        page.how(*notes.how_tested(family))
        by_task = any(repeated(section.tasks) for section in table.sections)
        page.how(
            f"Seed {settings.seed}, {settings.resamples:,} resamples; intervals and tests draw "
            f"{'tasks' if by_task else 'items'}."
        )
    page.methods(
        "A judge's bias is its score minus the mean score of the people who scored the same final "
        "plan, averaged by dimension; what is clear is corrected with Bonferroni over all pairs of "
        "judge and dimension. A judge may stand in for a person where it passes non-inferiority "
        "(linearly weighted kappa with the other people, minus a person's own, margin "
        f"−{settings.margin:g}) and the alternative annotator test (Calderon et al. 2025; ε = "
        f"{settings.epsilon:g})."
    )


def _standing_words(
    parts: Sequence[SectionTests], biases: Biases, unmet: Sequence[UnmetRequirement]
) -> str:
    """State which single judges may stand in; without any test, what the nearest one lacks."""
    standing = standing_words(
        [
            (part.title, test)
            for part in parts
            for test in part.family
            if test.passed is not None and test.judge in biases.overall
        ],
        "dimension",
    )
    if standing or not unmet:
        return standing
    nearest = min(unmet, key=lambda row: len(row.needed))
    return (
        f"No judge may stand in for a person yet: {notes.TEST_NEEDS}. On {nearest.title.lower()}, "
        f"{nearest.needed}."
    )


def _bias_words(biases: Biases, over_all: Sequence[Bias], who: str) -> str:
    """State which judges clearly score above or below people, over all and by dimension."""
    known = [one for one in biases.pairs if one.bias.value is not None]
    if not biases.overall:
        return f"{who} answered, but no judge scored what they scored."
    if not known:
        reasons = dict.fromkeys(one.bias.undefined for one in biases.pairs)
        return f"Which judge is off is not known: {listed(list(reasons))}."
    words = ""
    off_over_all = [one for one in over_all if one.clear]
    if off_over_all:
        clear = _named([_over_all_words(one) for one in off_over_all])
        words = f"Over all dimensions, compared with {who}, {clear}. "
        others = [one.judge for one in over_all if not one.clear]
        if others:
            has = "has" if len(others) == 1 else "have"
            words += f"{listed(others)} {has} no clear overall bias. "
    elif over_all:
        words = f"Over all dimensions, no judge is clearly above or below {who}. "
    off: list[tuple[int, float, str]] = []
    for judge in biases.overall:
        mine = [one for one in known if one.judge == judge]
        sizes = [abs(one.bias.value or 0) for one in mine if one.clear]
        if sizes:
            off.append((len(sizes), sum(sizes), f"{judge} scores {_sides(mine)}"))
    if not off:
        return (
            f"{words}None of {plural(len(known), 'pair')} of judge and dimension differs clearly "
            f"from {who}."
        )
    # The judge that is off on most dimensions first.
    off.sort(key=lambda one: one[:2], reverse=True)
    among = "By dimension" if over_all else f"Compared with {who}"
    return f"{words}{among}, {_named([text for _, _, text in off])}."


def _named(clauses: Sequence[str]) -> str:
    """Return clauses about judges that are off, cut short where there are many."""
    more = len(clauses) - MOST_NAMED
    further = plural(more, "further judge is", "further judges are")
    return "; ".join([*clauses[:MOST_NAMED], *([f"{further} clearly off"] if more > 0 else [])])


def _over_all_words(one: Bias) -> str:
    interval = one.bias.interval
    inside = f" ({ends(interval, 'points')})" if interval is not None else ""
    size = number(one.bias.value or 0.0, "points", signed=True)
    return f"{one.judge} differs by {size} points{inside}"


def _sides(mine: Sequence[Bias]) -> str:
    """Return on how many dimensions a judge is clearly lower and higher, and by how much."""
    words = []
    for sign, way in ((-1, "lower"), (1, "higher")):
        clear = [one for one in mine if one.clear and sign * (one.bias.value or 0) > 0]
        if not clear:
            continue
        sizes = [abs(one.bias.value or 0) for one in clear]
        low, high = (number(end(sizes), "points") for end in (min, max))
        size = low if low == high else f"{low} to {high}"
        where = f"{len(clear)} of {plural(len(mine), 'dimension')}"
        if len(clear) == 1:
            where = clear[0].dimension.lower()
        words.append(f"{size} points {way} on {where}")
    return " and ".join(words)


def _warn_of_scored_once(page: Page, table: TidyTable) -> None:
    """Name the dimensions on which every item was scored by one person."""
    once = [
        section.criterion.lower()
        for section in table.sections
        if (~np.isnan(section.of_kind("human")[1])).sum(axis=1).max(initial=0) == 1
    ]
    if once:
        where = "every dimension" if len(once) == len(table.sections) else listed(once, most=8)
        page.warning(
            f"On {where}, every item was scored by one person: how far people agree with each "
            "other is unknown, and comparing them with judges says nothing about it."
        )


def table_of(selection: Selection, frame: "DataFrame") -> TidyTable:
    """Return the people’s and judges’ scores of the last plans, a section for each dimension."""
    assert selection.study is not None
    dimensions = system_facts.dimensions_of(selection.system)
    judged = final_scores(selection.study, selection.runs, [d.key for d in dimensions])
    return study_table(
        frame,
        judged,
        dimensions,
        people=people_names(selection.study),
        seats=seat_names(selection.runs),
    )


def keys_of(selection: Selection) -> dict[str, str]:
    """Return the keys of the dimensions by title."""
    return {title: key for key, title in system_facts.titles_of(selection.system).items()}


def epsilon_of(selection: Selection) -> float:
    """Return ε as the address has it; the strictest where it says nothing that is customary."""
    chosen = selection.filters.epsilon
    return float(chosen) if chosen in EPSILONS else STRICTEST


def _biases(table: TidyTable) -> Biases:
    """Return the bias of each judge on each dimension, and over all of them."""
    compared, judges = {}, dict[str, None]()
    for section in table.sections:
        names, scores = section.of_kind("llm")
        if not names:
            continue
        judges |= dict.fromkeys(names)
        assert section.tasks is not None
        _, people = section.of_kind("human")
        compared[section.criterion] = Compared(scores, means_of(people), section.tasks)
    return judge_biases(list(judges), compared, scale=system_facts.RUBRIC_SCALE)


def _over_all(table: TidyTable, biases: Biases) -> list[Bias]:
    """Return the biases over all dimensions, the largest first; none with one dimension."""
    if len(table.sections) < 2:
        return []
    known = [one for one in biases.overall.values() if one.bias.value is not None]
    return sorted(known, key=lambda one: -abs(one.bias.value or 0))


def _panel_of(section: TableSection) -> PanelReliability:
    """Return the judges of a section beside each other, on the items that people scored."""
    names, scores = section.of_kind("llm")
    _, people = section.of_kind("human")
    rows, columns = np.indices(scores.shape)
    assert section.tasks is not None
    return judge_panel(
        rows.ravel().tolist(),
        [names[column] for column in columns.ravel()],
        scores.ravel(),
        people=dict(enumerate(means_of(people))),
        tasks=dict(enumerate(section.tasks)),
        scale=system_facts.RUBRIC_SCALE,
    )


def _severity_rows(table: TidyTable, keys: Mapping[str, str], biases: Biases) -> list[SeverityRow]:
    """Return every judge on every dimension, beside people and beside the other judges."""
    by_pair = {(one.judge, one.dimension): one for one in biases.pairs}
    return [
        SeverityRow(
            section.criterion,
            keys[section.criterion],
            by_pair[judge.judge, section.criterion],
            judge,
        )
        for section in table.sections
        if section.of_kind("llm")[0]
        for judge in _panel_of(section).judges
    ]


def _severity_columns() -> list[Column[SeverityRow]]:
    """Give the numbers of the figure, and how a judge scores beside the others."""
    return [
        columns.text(WORD, lambda row: row.title),
        columns.text("Judge", lambda row: row.panel.judge),
        Column(
            estimate_column("Bias", help="Judge minus the mean of an item’s people, in points"),
            _bias_cell,
        ),
        columns.estimate(
            "Beside other judges",
            lambda row: row.panel.severity,
            "points",
            signed=True,
            show_n=True,
            help="Judge minus the mean of the other judges",
        ),
        columns.count(
            "Unreadable",
            lambda row: row.panel.missing,
            help="Items without a readable score of this judge",
        ),
    ]


def _bias_cell(row: SeverityRow) -> Cell:
    bias = row.bias
    badges = []
    if bias.clear:
        below = (bias.bias.value or 0) < 0
        badges.append(Badge("below", "warn") if below else Badge("above", "warn"))
    cell = estimate_cell(bias.bias, "points", signed=True, show_n=True)
    return replace(cell, badges=tuple(badges))


def _unmet_columns() -> list[Column[UnmetRequirement]]:
    """Give what each dimension lacks for a test."""
    return [
        columns.text(WORD, lambda row: row.title),
        columns.text("Judge", lambda row: row.judges),
        columns.count("People with 30 items", lambda row: row.people),
        columns.sentences("Why there is no test", lambda row: row.reason, "reason"),
        columns.sentences("At least needed", lambda row: row.needed, "needed"),
    ]

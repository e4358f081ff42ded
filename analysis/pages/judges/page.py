"""Whether the judges of a study may stand in for people, and what is missing where nobody knows."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from analysis.filters.selection import Selection
from analysis.filters.study_kinds import asks_dimensions
from analysis.frames.panels import people_names, seat_names, study_table
from analysis.frames.ratings import final_scores, rating_frame
from analysis.pages.declaration import WrittenPage
from analysis.pages.own_table.alternative import missing, person_table, power_table, verdict_table
from analysis.pages.own_table.figures import advantage_figure
from analysis.pages.own_table.labels import Tested, cautions, epsilon_words, lacking
from analysis.pages.own_table.tables import planning_table
from analysis.pages.people import (
    People,
    after_unblinding,
    chosen_people,
    few_items,
    how_people,
    no_answers,
    no_study,
    other_page,
    own_table,
    simulated_banner,
    who,
)
from analysis.reports import common
from analysis.reports.content import (
    Notice,
    Report,
    Table,
    count_cell,
    estimate_cell,
    estimate_column,
    number_column,
    text_cell,
    text_column,
    words_column,
)
from analysis.reports.formatting import listed, number, plural
from analysis.stats.judges.panels import PanelJudge, judge_panel
from analysis.stats.rater_agreement.alt_verdict import AltTestVerdict
from analysis.stats.resampling import repeated
from analysis.tables.agreement.csv_table import TableSection, TidyTable
from analysis.tables.agreement.judges_and_people import adjusted, alternative_tests, means_of
from analysis.tables.agreement.report import plan
from analysis.tables.agreement.settings import AgreementSettings
from annotation.questionnaires import load_questionnaire

if TYPE_CHECKING:
    from pandas import DataFrame

PURPOSE = (
    "The page about judges tests whether a judge may stand in for a person, and says how severe "
    "judges are."
)
SEED = 20260117
STRICTEST = 0.1
EPSILONS = ("0.15", "0.2")
WORD = "Dimension"


def judges_report(selection: Selection) -> Report:
    """Everything on the page about judges in the place of people."""
    study = selection.study
    notices = tuple(map(Notice, selection.notes))
    if study is None:
        return Report(onward=own_table(), empty=no_study(PURPOSE), notices=notices)
    if not asks_dimensions(load_questionnaire(study.questionnaire)):
        return Report(onward=own_table(), empty=other_page(PURPOSE, study), notices=notices)
    frame, people, everyone = chosen_people(rating_frame(study, selection.runs), selection)
    if frame.empty:
        return Report(
            onward=own_table(),
            empty=no_answers(PURPOSE, everyone, selection),
            notices=tuple(common.selection_notices(selection)),
        )
    settings = AgreementSettings(seed=SEED, epsilon=epsilon_of(selection))
    table = table_of(selection, frame)
    parts = tested(table, settings)
    advantage = advantage_figure(parts, several=True)
    return Report(
        onward=own_table(),
        sentence=sentence(parts, people, settings.epsilon),
        figures=(advantage,) if advantage is not None else (),
        tables=(
            (
                *(
                    (
                        verdict_table(parts, WORD),
                        power_table(parts, WORD),
                        person_table(parts, WORD),
                    )
                    if any(test.passed is not None for part in parts for test in part.family)
                    else ()
                ),
                missing_table(parts),
                severity_table(table),
                planning_table([(s.criterion, plan(s, settings)) for s in table.sections], WORD),
            )
            if parts
            else ()
        ),
        notices=(
            *common.selection_notices(selection),
            *after_unblinding(people, selection),
            *cautions(parts, several=True),
            *_notices(table, people),
        ),
        banners=simulated_banner(people),
        how=(
            *common.how_runs(selection),
            *how_people(people, everyone, selection),
            *_how(settings, parts, table),
        ),
    )


def tested(table: TidyTable, settings: AgreementSettings) -> list[Tested]:
    """The tests of all judges by dimension, alone and together."""
    alone = [alternative_tests(section, settings) for section in table.sections]
    family = adjusted([test for tests in alone for test in tests])
    found, start = [], 0
    for section, tests in zip(table.sections, alone, strict=True):
        if tests:
            together = family[start : start + len(tests)]
            found.append(Tested(section.criterion, tests, together))
        start += len(tests)
    return found


def epsilon_of(selection: Selection) -> float:
    """ε as the address has it; the strictest where it says nothing that is customary."""
    chosen = selection.filters.epsilon
    return float(chosen) if chosen in EPSILONS else STRICTEST


def table_of(selection: Selection, frame: "DataFrame") -> TidyTable:
    """People’s and judges’ scores of the last plans, a section for each dimension."""
    assert selection.study is not None
    dimensions = common.dimensions_of(selection.system)
    judged = final_scores(selection.study, selection.runs, [d.key for d in dimensions])
    return study_table(
        frame,
        judged,
        dimensions,
        people=people_names(selection.study),
        seats=seat_names(selection.runs),
    )


def sentence(parts: Sequence[Tested], people: People, epsilon: float) -> str:
    """In how many dimensions the panel and each judge pass, or why nobody can say."""
    if not parts:
        return f"{who(people)} answered, but no judge scored what they scored."
    known = [part for part in parts if any(test.passed is not None for test in part.family)]
    if not known:
        nearest = min(parts, key=lambda part: len(missing(part)))
        return (
            f"Whether judges may stand in for people cannot be said here: the alternative "
            "annotator test needs three people with 30 items each that a judge and another person "
            f"scored too, and no dimension has them. On {nearest.title.lower()}, "
            f"{missing(nearest)}."
        )
    counts: dict[str, list[AltTestVerdict]] = {}
    for part in known:
        for test in part.family:
            if test.passed is not None:
                counts.setdefault(test.judge, []).append(test.verdict)
    words = []
    for judge, verdicts in counts.items():
        passed = sum(bool(verdict.passes) for verdict in verdicts)
        withheld = sum(verdict.withheld for verdict in verdicts)
        more = f" (no verdict on {withheld})" if withheld else ""
        words.append(f"{judge} on {passed} of {len(verdicts)}{more}")
    without = (
        " There is no verdict where a judge cannot be told from the best constant judge or from "
        "chance."
        if any(verdict.withheld for verdicts in counts.values() for verdict in verdicts)
        else ""
    )
    tests = next(test for part in known for test in part.family if test.passed is not None).tests
    return (
        f"By the alternative annotator test with ε = {epsilon:g}, judges may stand in for a person "
        f"on these numbers of dimensions: {listed(words, most=6)}; all "
        f"{plural(tests, 'comparison')} with {who(people)} are adjusted together."
        f"{without}"
    )


def missing_table(parts: Sequence[Tested]) -> Table:
    """What every dimension lacks before its judges can be tested."""
    rows = []
    for part in parts:
        # Judges that scored the same items lack the same.
        lacks: dict[tuple[int, str, str], list[str]] = {}
        for test in part.family:
            if test.passed is None:
                found = (test.winning_rate.n, test.advantage.undefined, lacking(test))
                lacks.setdefault(found, []).append(test.judge)
        for (people, reason, needed), judges in lacks.items():
            everybody = len(judges) == len(part.family)
            rows.append(
                (
                    text_cell(part.title),
                    text_cell("every judge and the panel" if everybody else ", ".join(judges)),
                    count_cell(people),
                    text_cell(reason),
                    text_cell(needed),
                )
            )
    columns = (
        text_column(WORD),
        text_column("Judge"),
        number_column("People with 30 items"),
        words_column("Why there is no test", "reason"),
        words_column("At least needed", "needed"),
    )
    note = "" if rows else "Nothing is missing: every judge could be tested on every dimension."
    return Table("missing", "What is missing", columns, tuple(rows), note=note, open=bool(rows))


def severity_table(table: TidyTable) -> Table:
    """How each judge scores beside people, and beside the other judges."""
    rows = [
        (
            text_cell(section.criterion),
            text_cell(judge.judge),
            estimate_cell(judge.bias, "points", signed=True, show_n=True),
            estimate_cell(judge.severity, "points", signed=True, show_n=True),
            count_cell(judge.missing),
        )
        for section in table.sections
        for judge in panel_of(section)
    ]
    columns = (
        text_column(WORD),
        text_column("Judge"),
        estimate_column("Bias", help="Judge minus the mean of an item’s people, in points"),
        estimate_column("Beside other judges", help="Judge minus the mean of the other judges"),
        number_column("Unreadable", help="Items without a readable score of this judge"),
    )
    return Table(
        "severity",
        "Severity: each judge beside people and beside the others",
        columns,
        tuple(rows),
        note="Below 0 is more severe. Over the items with a score of every judge. Severity among "
        "judges says nothing about who is right; bias against people does, as far as people are.",
    )


def panel_of(section: TableSection) -> Sequence[PanelJudge]:
    """The judges of a section beside people and each other, on the items that people scored."""
    names, scores = section.of_kind("llm")
    _, people = section.of_kind("human")
    if not names:
        return ()
    rows, columns = np.indices(scores.shape)
    assert section.tasks is not None
    return judge_panel(
        rows.ravel().tolist(),
        [names[column] for column in columns.ravel()],
        scores.ravel(),
        people=dict(enumerate(means_of(people))),
        tasks=dict(enumerate(section.tasks)),
        scale=common.RUBRIC_SCALE,
    ).judges


def _notices(table: TidyTable, people: People) -> list[Notice]:
    found = []
    if not any(section.of_kind("llm")[0] for section in table.sections):
        found.append(Notice("Nobody judged these runs: there is no judge to test.", "info"))
    single = [
        section.criterion.lower()
        for section in table.sections
        if (~np.isnan(section.of_kind("human")[1])).sum(axis=1).max(initial=0) == 1
    ]
    if single:
        where = "every dimension" if len(single) == len(table.sections) else listed(single, most=8)
        found.append(
            Notice(
                f"On {where}, every item was scored by one person: how far people agree with each "
                "other is unknown, and comparing them with judges says nothing about it."
            )
        )
    return [*found, *map(Notice, few_items(people))]


def _how(settings: AgreementSettings, parts: Sequence[Tested], table: TidyTable) -> list[str]:
    if not parts:
        return []
    tasks = any(repeated(section.tasks) for section in table.sections)
    first = next((t for part in parts for t in part.family if t.annotators), None)
    family = (
        f"The family: {first.family}, {first.tests:,} p-values (Benjamini–Yekutieli)."
        if first is not None
        else "No test is available, so nothing is adjusted."
    )
    return [
        "Alternative annotator test, negative root mean squared error: person by person, is the "
        "judge at least as close to the other people as this person is? A judge passes with a "
        f"winning rate of {number(0.5, 'points')} or more; the panel is tested by its mean.",
        "The verdict is withheld where a judge cannot be told from the best constant judge (95 % "
        "interval of the difference of advantage probabilities on the same items reaches 0) or "
        "from chance (that of quadratic kappa with single answers reaches 0). "
        "Formulas and sources: docs/agreement.md.",
        f"Chosen before looking: {epsilon_words(settings.epsilon)}; false discovery rate "
        f"{settings.q:g}. {family}",
        f"Seed {settings.seed}, {settings.resamples:,} resamples; intervals and tests draw "
        f"{'tasks' if tasks else 'items'}.",
    ]


CONTENT = WrittenPage(judges_report)

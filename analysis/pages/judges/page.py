"""The judges page shows the bias of each judge, and whether it may stand in for a person."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from analysis.agreement.csv_table import TableSection, TidyTable
from analysis.agreement.inputs import AgreementSettings
from analysis.agreement.judges_and_people import means_of
from analysis.agreement.report import Planning, plan
from analysis.figures.layout.theme import Figure
from analysis.figures.panels import bias_panels
from analysis.filters.selection import Selection
from analysis.filters.study_kinds import asks_dimensions
from analysis.frames.panels import people_names, seat_names, study_table
from analysis.frames.ratings import final_scores, rating_frame
from analysis.kit.links import Link
from analysis.pages.declaration import (
    ColumnOf,
    DeclaredPage,
    FigureOf,
    NothingToShow,
    TableMade,
    TableOf,
    UrlOf,
    count_of,
    estimate_of,
    text_of,
)
from analysis.pages.judges.verdicts import (
    JudgeSummary,
    UnmetRequirement,
    lacks_of,
    summary_columns,
    tested,
)
from analysis.pages.own_table.alternative import (
    person_table,
    power_groups,
    power_table,
    verdict_table,
)
from analysis.pages.own_table.figures import gaps_drawn
from analysis.pages.own_table.sections import (
    Cautions,
    FamilyOfTests,
    SectionTests,
    Standing,
    cautions_of,
    family_of,
    standing_of,
)
from analysis.pages.own_table.tables import planning_table, sizes_of
from analysis.pages.people import (
    AnswerCounts,
    PeopleResult,
    chosen_people,
    why_no_answers,
    why_not_asked,
)
from analysis.reports import system_facts
from analysis.reports.content import (
    Badge,
    Cell,
    Table,
    estimate_cell,
    estimate_column,
    text_cell,
    words_column,
)
from analysis.stats.judges.bias import Bias, Biases, Compared, judge_biases
from analysis.stats.judges.panels import PanelJudge, PanelReliability, judge_panel
from analysis.stats.rater_agreement.alt_test import AltTest
from analysis.stats.resampling import repeated
from analysis.stats.results import Estimate
from annotation.questionnaires import load_questionnaire

if TYPE_CHECKING:
    from pandas import DataFrame

SEED = 20260117
STRICTEST = 0.1
EPSILONS = ("0.15", "0.2")
WORD = "Dimension"
ALL = "All dimensions"


@dataclass(frozen=True)
class JudgesData:
    """People's and judges' scores of the last plans, a section for each dimension."""

    table: TidyTable
    keys: Mapping[str, str]
    people: AnswerCounts
    everyone: AnswerCounts
    settings: AgreementSettings


@dataclass(frozen=True)
class ClearBias:
    """The dimensions on which a judge is clearly above people, or clearly below."""

    biases: tuple[Bias, ...]
    dimensions: int

    @property
    def sizes(self) -> tuple[float, float]:
        """The least and the largest bias, in points, without sign."""
        found = [abs(one.bias.value or 0) for one in self.biases]
        return min(found), max(found)

    @property
    def is_range(self) -> bool:
        """Return whether the two differ as they are printed."""
        return round(self.sizes[0], 2) != round(self.sizes[1], 2)

    @property
    def only(self) -> str:
        """The name of the dimension, where it is one."""
        return self.biases[0].dimension if len(self.biases) == 1 else ""


@dataclass(frozen=True)
class BiasedJudge:
    """A judge that is clearly off on some dimension."""

    judge: str
    below: ClearBias
    above: ClearBias

    @property
    def weight(self) -> tuple[int, float]:
        """The number of dimensions that it is off on, and by how much in all."""
        every = (*self.below.biases, *self.above.biases)
        return len(every), sum(abs(one.bias.value or 0) for one in every)


@dataclass(frozen=True)
class SeverityRow:
    """A judge on one dimension, beside people and beside the other judges."""

    title: str
    key: str
    bias: Bias
    panel: PanelJudge

    @property
    def link(self) -> Link:
        return Link(dimension=self.key)


@dataclass(frozen=True)
class JudgesResult(PeopleResult):
    """Each judge's bias, and the alternative annotator tests by dimension."""

    data: JudgesData
    biases: Biases
    parts: tuple[SectionTests, ...]

    @property
    def epsilon(self) -> float:
        return self.data.settings.epsilon

    @property
    def settings(self) -> AgreementSettings:
        return self.data.settings

    @property
    def judges(self) -> list[str]:
        return list(self.biases.overall)

    @property
    def overall(self) -> list[Bias]:
        """The judges' biases over all dimensions, the largest first; none with one dimension."""
        if len(self.data.table.sections) < 2:
            return []
        known = [one for one in self.biases.overall.values() if one.bias.value is not None]
        return sorted(known, key=lambda one: -abs(one.bias.value or 0))

    @property
    def off_overall(self) -> list[Bias]:
        """The judges that are clearly off over all dimensions."""
        return [one for one in self.overall if one.clear]

    @property
    def not_off_overall(self) -> list[str]:
        """The judges that are not clearly off over all dimensions."""
        return [one.judge for one in self.overall if not one.clear]

    @property
    def known(self) -> list[Bias]:
        """The pairs of judge and dimension that have a bias."""
        return [one for one in self.biases.pairs if one.bias.value is not None]

    @property
    def off(self) -> list[BiasedJudge]:
        """The judges that are clearly off, the one on most dimensions first."""
        found = []
        for judge in self.judges:
            mine = [one for one in self.known if one.judge == judge]
            clear = [one for one in mine if one.clear]
            below = tuple(one for one in clear if (one.bias.value or 0) < 0)
            above = tuple(one for one in clear if (one.bias.value or 0) > 0)
            if clear:
                found.append(
                    BiasedJudge(judge, ClearBias(below, len(mine)), ClearBias(above, len(mine)))
                )
        return sorted(found, key=lambda one: one.weight, reverse=True)

    @property
    def not_off(self) -> list[str]:
        """The judges with a bias that is clear on no dimension."""
        off = {one.judge for one in self.off}
        known = dict.fromkeys(one.judge for one in self.known)
        return [judge for judge in known if judge not in off]

    @property
    def why_unknown(self) -> list[str]:
        """The reason why no bias is defined."""
        return list(dict.fromkeys(one.bias.undefined for one in self.biases.pairs))

    @property
    def tests(self) -> list[AltTest]:
        """The tests that could be made."""
        return [test for part in self.parts for test in part.family if test.passed is not None]

    @property
    def comparisons(self) -> int:
        """The number of p-values that are adjusted together."""
        return self.tests[0].tests if self.tests else 0

    @property
    def family(self) -> FamilyOfTests | None:
        """The family of all tests."""
        return family_of(self.parts)

    @property
    def standing(self) -> Standing | None:
        """The answers on single judges, over dimensions."""
        return standing_of(
            [
                (part.title, test)
                for part in self.parts
                for test in part.family
                if test.passed is not None and test.judge in self.biases.overall
            ],
            "dimension",
        )

    @property
    def nearest(self) -> UnmetRequirement | None:
        """The dimension that lacks least for a test, where there is none at all."""
        rows = self.lacks if not self.tests else []
        return min(rows, key=lambda row: len(row.needed), default=None)

    @property
    def lacks(self) -> list[UnmetRequirement]:
        return lacks_of(self.parts, self.data.keys)

    @property
    def cautions(self) -> Cautions:
        return cautions_of(self.parts, several=True)

    @property
    def scored_once(self) -> list[str]:
        """The dimensions on which every item was scored by one person, in lower case."""
        return [
            section.criterion.lower()
            for section in self.data.table.sections
            if (~np.isnan(section.of_kind("human")[1])).sum(axis=1).max(initial=0) == 1
        ]

    @property
    def all_scored_once(self) -> bool:
        return len(self.scored_once) == len(self.data.table.sections)

    @property
    def by_task(self) -> bool:
        """Return whether tests draw tasks, because a task has several items."""
        return any(repeated(section.tasks) for section in self.data.table.sections)

    @property
    def summaries(self) -> list[JudgeSummary]:
        """Each judge, and the panel of all, over the dimensions."""
        tests: dict[str, list[AltTest]] = {}
        for part in self.parts:
            for test in part.family:
                tests.setdefault(test.judge, []).append(test)
        names = dict.fromkeys([*self.judges, *tests])
        return [self._summary(name, tests.get(name, [])) for name in names]

    def _summary(self, judge: str, tests: Sequence[AltTest]) -> JudgeSummary:
        mine = [one for one in self.known if one.judge == judge]
        overall = self.biases.overall.get(judge)
        return JudgeSummary(
            judge,
            overall.bias
            if overall is not None
            else Estimate.without_value("single judges are compared with people"),
            sum(bool(one.clear) and (one.bias.value or 0) < 0 for one in mine),
            sum(bool(one.clear) and (one.bias.value or 0) > 0 for one in mine),
            len(mine),
            tuple(tests),
        )


def load(selection: Selection) -> JudgesData | NothingToShow:
    """Load the scores of people and of judges."""
    study = selection.study
    if study is None:
        return NothingToShow("no study")
    if not asks_dimensions(load_questionnaire(study.questionnaire)):
        return why_not_asked(study)
    frame, people, everyone = chosen_people(rating_frame(study, selection.runs), selection)
    if frame.empty:
        return why_no_answers(everyone, selection)
    return JudgesData(
        table_of(selection, frame),
        keys_of(selection),
        people,
        everyone,
        AgreementSettings(seed=SEED, epsilon=epsilon_of(selection)),
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


def compute(data: JudgesData) -> JudgesResult:
    """Compare each judge with people, and test whether it may stand in for one of them."""
    compared, judges = {}, dict[str, None]()
    for section in data.table.sections:
        names, scores = section.of_kind("llm")
        if not names:
            continue
        judges |= dict.fromkeys(names)
        assert section.tasks is not None
        _, people = section.of_kind("human")
        compared[section.criterion] = Compared(scores, means_of(people), section.tasks)
    biases = judge_biases(list(judges), compared, scale=system_facts.RUBRIC_SCALE)
    return JudgesResult(data, biases, tuple(tested(data.table, data.settings)))


def panel_of(section: TableSection) -> PanelReliability:
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


def severity_rows(result: JudgesResult) -> list[SeverityRow]:
    """Return every judge on every dimension, beside people and beside the other judges."""
    biases = {(one.judge, one.dimension): one for one in result.biases.pairs}
    return [
        SeverityRow(
            section.criterion,
            result.data.keys[section.criterion],
            biases[judge.judge, section.criterion],
            judge,
        )
        for section in result.data.table.sections
        if section.of_kind("llm")[0]
        for judge in panel_of(section).judges
    ]


def severity_columns(_: JudgesResult) -> Sequence[ColumnOf[SeverityRow]]:
    """Give the numbers of the figure, and how a judge scores beside the others."""
    return (
        text_of(WORD, lambda row: row.title),
        text_of("Judge", lambda row: row.panel.judge),
        ColumnOf(
            estimate_column("Bias", help="Judge minus the mean of an item’s people, in points"),
            _bias_cell,
        ),
        estimate_of(
            "Beside other judges",
            lambda row: row.panel.severity,
            "points",
            signed=True,
            show_n=True,
            help="Judge minus the mean of the other judges",
        ),
        count_of(
            "Unreadable",
            lambda row: row.panel.missing,
            help="Items without a readable score of this judge",
        ),
    )


def _bias_cell(row: SeverityRow) -> Cell:
    found = row.bias
    badges = []
    if found.clear:
        below = (found.bias.value or 0) < 0
        badges.append(Badge("below", "warn") if below else Badge("above", "warn"))
    cell = estimate_cell(found.bias, "points", signed=True, show_n=True)
    return replace(cell, badges=tuple(badges))


def draw_biases(result: JudgesResult, url: UrlOf) -> Figure | None:
    """Draw each judge's bias on every dimension, with intervals."""
    if not result.known:
        return None
    links = {title: url(Link(dimension=key)) for title, key in result.data.keys.items()}
    over_all = [replace(one, dimension=ALL) for one in result.overall]
    return bias_panels([*over_all, *result.biases.pairs], {**links, ALL: url(Link())})


def draw_gaps(result: JudgesResult, url: UrlOf) -> Figure | None:
    """Draw kappa of each judge with people minus people's own, by dimension."""
    marks = {title: url(Link(dimension=key)) for title, key in result.data.keys.items()}
    return gaps_drawn(result.parts, marks)


def verdicts(result: JudgesResult) -> Table | None:
    """Return the tests of all judges on all dimensions, where there is any."""
    return verdict_table(result.parts, WORD) if result.tests else None


def power(result: JudgesResult) -> Table | None:
    """Return how often a judge as good as a person passes."""
    return power_table(result.parts, WORD) if result.tests else None


def people_tested(result: JudgesResult) -> Table | None:
    """Return each judge against each person."""
    return person_table(result.parts, WORD) if result.tests else None


def plans_of(result: JudgesResult) -> list[tuple[str, Planning]]:
    """Return how many items each dimension needs, by its title."""
    return [(one.criterion, plan(one, result.settings)) for one in result.data.table.sections]


def planning(result: JudgesResult) -> Table | None:
    """Return how many items would give intervals of the wanted width."""
    return planning_table(plans_of(result), WORD) if result.parts else None


def _about(result: JudgesResult, rows: Callable[[SectionTests], int]) -> list[Link]:
    """Return the dimension of every row of a table that has so many rows of each section."""
    keys = result.data.keys
    return [Link(dimension=keys[part.title]) for part in result.parts for _ in range(rows(part))]


def planning_links(result: JudgesResult) -> list[Link]:
    """Return the dimension of every row of the table of items needed."""
    keys = result.data.keys
    return [
        Link(dimension=keys[title])
        for title, planned in plans_of(result)
        for _ in sizes_of(planned)
    ]


CONTENT = DeclaredPage(
    load=load,
    compute=compute,
    figure=FigureOf(
        "bias", "How far each judge scores above or below people", draw_biases, table="severity"
    ),
    table=TableOf(
        "summary",
        "Each judge over the dimensions",
        rows=lambda result: result.summaries if result.parts else (),
        columns=lambda _: summary_columns(),
    ),
    folded=(
        FigureOf(
            "gap",
            "Agreement with people: each judge minus a person",
            draw_gaps,
            table="alternative",
        ),
        TableOf(
            "severity",
            "Each judge beside people and beside the other judges",
            rows=severity_rows,
            columns=severity_columns,
            link=lambda row: row.link,
        ),
        TableMade(verdicts, lambda result: _about(result, lambda part: len(part.family))),
        TableMade(power, lambda result: _about(result, lambda part: len(power_groups(part)))),
        TableMade(
            people_tested,
            lambda result: _about(
                result, lambda part: sum(len(test.annotators) for test in part.family)
            ),
        ),
        TableOf(
            "missing",
            "What is missing",
            rows=lambda result: result.lacks,
            columns=lambda _: (
                text_of(WORD, lambda row: row.title),
                text_of("Judge", lambda row: row.judges),
                count_of("People with 30 items", lambda row: row.people),
                ColumnOf(
                    words_column("Why there is no test", "reason"),
                    lambda row: text_cell(row.reason),
                ),
                ColumnOf(
                    words_column("At least needed", "needed"), lambda row: text_cell(row.needed)
                ),
            ),
            link=lambda row: row.link,
        ),
        TableMade(planning, planning_links),
    ),
)

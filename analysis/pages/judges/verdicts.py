"""The alternative annotator tests of all judges, and what each judge comes to over dimensions."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from analysis.agreement.csv_table import TidyTable
from analysis.agreement.inputs import AgreementSettings
from analysis.agreement.judges_and_people import adjusted, alternative_tests
from analysis.kit import columns
from analysis.kit.columns import Column
from analysis.pages.own_table.sections import SectionTests, lacking
from analysis.reports import content
from analysis.reports.content import Cell, count_cell, number_column
from analysis.stats.judges.bias import Biases
from analysis.stats.rater_agreement.alt_test import AltTest
from analysis.stats.rater_agreement.non_inferiority import Answer
from analysis.stats.results import Estimate

NO_TEST = "the alternative annotator test is not available on any dimension"


class JudgeSummary(NamedTuple):
    """A judge, or the panel of all, over the dimensions: its bias and the available tests.

    Of the ``compared`` dimensions, it is clearly below people on ``below`` and above on ``above``.
    """

    judge: str
    bias: Estimate
    below: int
    above: int
    compared: int
    tests: Sequence[AltTest]


class UnmetRequirement(NamedTuple):
    """The requirements that a dimension does not meet before these judges can be tested."""

    title: str
    key: str
    judges: str
    people: int
    reason: str
    needed: str


def tested(table: TidyTable, settings: AgreementSettings) -> list[SectionTests]:
    """Return the tests of all judges by dimension, each alone and all together."""
    alone = [alternative_tests(section, settings) for section in table.sections]
    family = adjusted([test for tests in alone for test in tests])
    sections, start = [], 0
    for section, tests in zip(table.sections, alone, strict=True):
        if tests:
            together = family[start : start + len(tests)]
            sections.append(SectionTests(section.criterion, tests, together))
        start += len(tests)
    return sections


def unmet_requirements(
    parts: Sequence[SectionTests], keys: Mapping[str, str]
) -> list[UnmetRequirement]:
    """Return what every dimension lacks; judges that scored the same items lack the same."""
    rows = []
    for part in parts:
        lacks: dict[tuple[int, str, str], list[str]] = {}
        for test in part.family:
            if test.passed is None:
                lack = (test.winning_rate.n, test.advantage.undefined, lacking(test))
                lacks.setdefault(lack, []).append(test.judge)
        for (people, reason, needed), judges in lacks.items():
            everybody = len(judges) == len(part.family)
            names = "every judge and the panel" if everybody else ", ".join(judges)
            rows.append(
                UnmetRequirement(part.title, keys[part.title], names, people, reason, needed)
            )
    return rows


def summarize(parts: Sequence[SectionTests], biases: Biases) -> list[JudgeSummary]:
    """Return each judge, and the panel of all, over the dimensions."""
    tests: dict[str, list[AltTest]] = {}
    for part in parts:
        for test in part.family:
            tests.setdefault(test.judge, []).append(test)
    none = Estimate.without_value("single judges are compared with people")
    summaries = []
    for judge in dict.fromkeys([*biases.overall, *tests]):
        mine = [one for one in biases.pairs if one.judge == judge and one.bias.value is not None]
        clear = [one.bias.value or 0 for one in mine if one.clear]
        summaries.append(
            JudgeSummary(
                judge,
                biases.overall[judge].bias if judge in biases.overall else none,
                sum(value < 0 for value in clear),
                sum(value > 0 for value in clear),
                len(mine),
                [test for test in tests.get(judge, []) if test.passed is not None],
            )
        )
    return summaries


def summary_columns() -> list[Column[JudgeSummary]]:
    """Give the overall bias, and on how many dimensions a judge may stand in."""
    return [
        columns.text("Judge", lambda row: row.judge),
        columns.estimate(
            "Bias over all dimensions",
            lambda row: row.bias,
            "points",
            part="bias",
            signed=True,
            show_n=True,
            help="Judge minus the mean of an item’s people; 95 % interval of one judge; n answers",
        ),
        _side("Clearly below", "below", "people: after correction for all pairs"),
        _side("Clearly above", "above", "people: after correction for all pairs"),
        _count(
            "May stand in", "passes", "Dimensions on which it passes both tests, of those tested"
        ),
        _count("Shown worse", "worse", "Dimensions on which one test shows that it is worse"),
        _count("Undecided", "undecided", "Dimensions that need more items"),
        Column(
            number_column(
                "Items to decide", help="On the undecided dimension that needs the fewest"
            ),
            _needed,
        ),
    ]


def _side(label: str, part: str, of: str) -> Column[JudgeSummary]:
    def cell(row: JudgeSummary) -> Cell:
        if not row.compared:
            return Cell(data=(None, 0), reason=row.bias.undefined)
        count = getattr(row, part)
        return Cell(f"{count} of {row.compared}", (count, row.compared))

    column = content.Column(
        label, (part, f"{part} of"), help=f"Dimensions on which it is {part} {of}"
    )
    return Column(column, cell)


def _count(label: str, answer: Answer, help: str) -> Column[JudgeSummary]:
    def cell(row: JudgeSummary) -> Cell:
        if not row.tests:
            return Cell(data=(None, 0), reason=NO_TEST)
        count = sum(test.verdict.answer == answer for test in row.tests)
        return Cell(f"{count} of {len(row.tests)}", (count, len(row.tests)))

    return Column(
        content.Column(label, (label.lower(), f"tested, {label.lower()}"), help=help), cell
    )


def _needed(row: JudgeSummary) -> Cell:
    known = [
        test.verdict.items_to_decide
        for test in row.tests
        if test.verdict.items_to_decide is not None
    ]
    return count_cell(min(known, default=None), reason="nothing to decide by more items")

"""The alternative annotator tests of all judges, and what each judge comes to over dimensions."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from analysis.agreement.csv_table import TidyTable
from analysis.agreement.inputs import AgreementSettings
from analysis.agreement.judges_and_people import adjusted, alternative_tests
from analysis.kit.links import Link
from analysis.pages.declaration import ColumnOf, estimate_of, text_of
from analysis.pages.own_table.sections import SectionTests, lacking
from analysis.reports.content import Cell, Column, count_cell, number_column
from analysis.stats.rater_agreement.alt_test import AltTest
from analysis.stats.rater_agreement.non_inferiority import Answer
from analysis.stats.results import Estimate

NO_TEST = "the alternative annotator test is not available on any dimension"


@dataclass(frozen=True)
class JudgeSummary:
    """A judge, or the panel of all, over the dimensions: its bias and its tests."""

    judge: str
    bias: Estimate
    below: int
    above: int
    compared: int
    tests: tuple[AltTest, ...]

    @property
    def known(self) -> list[AltTest]:
        """The tests that could be made."""
        return [test for test in self.tests if test.passed is not None]


@dataclass(frozen=True)
class UnmetRequirement:
    """The requirements that a dimension does not meet before these judges can be tested."""

    title: str
    key: str
    judges: str
    people: int
    reason: str
    needed: str

    @property
    def link(self) -> Link:
        return Link(dimension=self.key)


def tested(table: TidyTable, settings: AgreementSettings) -> list[SectionTests]:
    """Return the tests of all judges by dimension, each alone and all together."""
    alone = [alternative_tests(section, settings) for section in table.sections]
    family = adjusted([test for tests in alone for test in tests])
    found, start = [], 0
    for section, tests in zip(table.sections, alone, strict=True):
        if tests:
            together = family[start : start + len(tests)]
            found.append(SectionTests(section.criterion, tests, together))
        start += len(tests)
    return found


def lacks_of(parts: Sequence[SectionTests], keys: Mapping[str, str]) -> list[UnmetRequirement]:
    """Return what every dimension lacks; judges that scored the same items lack the same."""
    rows = []
    for part in parts:
        lacks: dict[tuple[int, str, str], list[str]] = {}
        for test in part.family:
            if test.passed is None:
                found = (test.winning_rate.n, test.advantage.undefined, lacking(test))
                lacks.setdefault(found, []).append(test.judge)
        for (people, reason, needed), judges in lacks.items():
            everybody = len(judges) == len(part.family)
            names = "every judge and the panel" if everybody else ", ".join(judges)
            rows.append(
                UnmetRequirement(part.title, keys[part.title], names, people, reason, needed)
            )
    return rows


def summary_columns() -> Sequence[ColumnOf[JudgeSummary]]:
    """Give the overall bias, and on how many dimensions a judge may stand in."""
    return (
        text_of("Judge", lambda row: row.judge),
        estimate_of(
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
        ColumnOf(
            number_column(
                "Items to decide", help="On the undecided dimension that needs the fewest"
            ),
            _needed,
        ),
    )


def _side(label: str, part: str, of: str) -> ColumnOf[JudgeSummary]:
    def cell(row: JudgeSummary) -> Cell:
        if not row.compared:
            return Cell(data=(None, 0), reason=row.bias.undefined)
        count = getattr(row, part)
        return Cell(f"{count} of {row.compared}", (count, row.compared))

    column = Column(label, (part, f"{part} of"), help=f"Dimensions on which it is {part} {of}")
    return ColumnOf(column, cell)


def _count(label: str, answer: Answer, help: str) -> ColumnOf[JudgeSummary]:
    def cell(row: JudgeSummary) -> Cell:
        if not row.known:
            return Cell(data=(None, 0), reason=NO_TEST)
        count = sum(test.verdict.answer == answer for test in row.known)
        return Cell(f"{count} of {len(row.known)}", (count, len(row.known)))

    return ColumnOf(Column(label, (label.lower(), f"tested, {label.lower()}"), help=help), cell)


def _needed(row: JudgeSummary) -> Cell:
    known = [
        test.verdict.items_to_decide
        for test in row.known
        if test.verdict.items_to_decide is not None
    ]
    return count_cell(min(known, default=None), reason="nothing to decide by more items")

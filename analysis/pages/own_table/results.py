"""The results of a table of ratings: one section of it, or all side by side."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from analysis.agreement.inputs import AgreementSettings
from analysis.agreement.judges_and_people import JudgeComparison
from analysis.agreement.report import (
    ONE_EACH,
    UNLIKE_PART,
    RaterGroup,
    SectionReport,
    TidyReport,
)
from analysis.kit.links import Link
from analysis.pages.own_table.sections import (
    MOST_DRAWN,
    Cautions,
    FamilyOfTests,
    SectionPart,
    Standing,
    cautions_of,
    family_of,
    judges_of,
    lacking,
    skewed,
    skewed_parts,
    standing_of,
)
from analysis.reports.content import how_interval
from analysis.stats.rater_agreement.alt_test import NEAR_START, AltTest
from analysis.stats.results import Estimate


@dataclass(frozen=True)
class Skew:
    """The score that nearly all ratings of a group are, with its share."""

    who: str
    score: int
    share: float

    @property
    def all_equal(self) -> bool:
        return self.share == 1


@dataclass(frozen=True)
class SectionResult:
    """One section of a table: how far judges agree with people, and each kind with itself.

    ``has_tasks``: the table says which task an item belongs to.
    """

    report: TidyReport
    part: SectionPart
    has_tasks: bool

    @property
    def settings(self) -> AgreementSettings:
        return self.report.settings

    @property
    def section(self) -> SectionReport:
        return self.part.section

    @property
    def ratings(self) -> int:
        return self.section.people.ratings + self.section.judges.ratings

    @property
    def groups(self) -> list[tuple[str, RaterGroup]]:
        """People and judges, each with their name in sentences."""
        return [("people", self.section.people), ("judges", self.section.judges)]

    @property
    def undefined_groups(self) -> list[tuple[str, str]]:
        """The kinds of raters without agreement among themselves, each with the reason."""
        return [(who, group.undefined) for who, group in self.groups if group.undefined]

    # --- May judges stand in for people? ----------------------------------------------------------

    @property
    def tests(self) -> list[AltTest]:
        """The tests that could be made, with all p-values adjusted together."""
        return [test for test in self.part.family if test.passed is not None]

    @property
    def is_tested(self) -> bool:
        return bool(self.tests)

    @property
    def one_each(self) -> bool:
        """Return whether every item was scored by one person."""
        return ONE_EACH in self.section.warnings

    @property
    def refused(self) -> AltTest | None:
        """The first judge's test, where none could be made."""
        return self.part.family[0] if self.part.family and not self.tests else None

    @property
    def lacking(self) -> str:
        """The requirements that the test does not meet."""
        return lacking(self.refused) if self.refused is not None else ""

    @property
    def single(self) -> list[AltTest]:
        """The tests of single judges."""
        pairs = zip(self.part.family, self.section.against, strict=True)
        return [test for test, one in pairs if one.panel == 1]

    @property
    def standing(self) -> Standing | None:
        """The answers on single judges."""
        return standing_of([(self.part.title, test) for test in self.single if test.annotators])

    @property
    def near(self) -> list[str]:
        """The judges whose verdict one person more or less would turn."""
        return near_of(self.part)

    @property
    def family(self) -> FamilyOfTests | None:
        return family_of([self.part])

    @property
    def cautions(self) -> Cautions:
        return cautions_of([self.part], several=False)

    # --- How close are judges and people? ---------------------------------------------------------

    @property
    def compared(self) -> JudgeComparison | None:
        """The mean of all judges, or the only judge, against people."""
        return self.part.panel

    @property
    def equal(self) -> Estimate | None:
        """The share of answers that it equals; of a mean, when it is rounded."""
        one = self.compared
        if one is None or one.answers.exact.value is None:
            return None
        return one.answers.rounded if one.panel > 1 else one.answers.exact

    @property
    def bias_is_clear(self) -> bool:
        """Return whether its bias is known, and the interval does not hold 0."""
        bias = self.compared.answers.bias if self.compared is not None else None
        if bias is None or bias.value is None:
            return False
        return bias.interval is None or not bias.interval.holds(0)

    @property
    def bias_size(self) -> float:
        """The bias without its sign, in points."""
        value = self.compared.answers.bias.value if self.compared is not None else None
        return abs(value or 0)

    @property
    def undrawn(self) -> bool:
        """Return whether there are more judges than most figures draw."""
        return self.judges > MOST_DRAWN

    @property
    def judges(self) -> int:
        """The number of judges that are compared with people."""
        return len(judges_of(self.section))

    @property
    def people_alpha(self) -> Estimate | None:
        """Ordinal alpha among people; None where it is undefined."""
        alpha = self.section.people.alphas["ordinal"]
        return None if self.section.people.undefined or alpha.value is None else alpha

    # --- What to keep in mind ---------------------------------------------------------------------

    @property
    def skewed(self) -> list[Skew]:
        """The groups of which nearly all scores are one and the same."""
        found = []
        for who, group in self.groups:
            if skewed(group):
                score, count = max(group.counts.items(), key=lambda item: item[1])
                found.append(Skew(who, score, count / group.ratings))
        return found

    @property
    def unlike(self) -> list[str]:
        """The sentence on raters whose scores hardly go with those of the others."""
        return unlike_of(self.part)

    @property
    def unlisted_pairs(self) -> list[str]:
        """The reason why pairs of raters are not listed, where they are too many."""
        return [w for _, group in self.groups for w in group.warnings if "pairs of raters" in w]

    # --- How it was computed ----------------------------------------------------------------------

    @property
    def overlapping(self) -> int:
        """The number of items that have scores of two people or more, where some have one only."""
        return self.section.people.items if self.section.people.single else 0

    @property
    def scored_by_people(self) -> int:
        return self.section.people.items + self.section.people.single

    @property
    def is_planned(self) -> bool:
        planning = self.section.planning
        return any((planning.equal, planning.alpha, planning.icc))

    @property
    def intervals(self) -> str:
        """The methods of the intervals."""
        people = self.section.people
        estimates = [one.answers.exact for one in self.section.against]
        return how_interval([*estimates, people.alphas["ordinal"], people.gwet["none"]])


@dataclass(frozen=True)
class SectionRow:
    """A section beside the others; ``url`` is its own page."""

    part: SectionPart
    url: str

    @property
    def section(self) -> SectionReport:
        return self.part.section

    @property
    def panel(self) -> JudgeComparison | None:
        """The mean of all judges, or the only judge, against people."""
        return self.part.panel

    @property
    def link(self) -> Link:
        return Link(url=self.url)


@dataclass(frozen=True)
class OverviewResult:
    """All sections of a table, side by side."""

    report: TidyReport
    rows: tuple[SectionRow, ...]
    has_tasks: bool

    @property
    def settings(self) -> AgreementSettings:
        return self.report.settings

    @property
    def parts(self) -> list[SectionPart]:
        return [row.part for row in self.rows]

    @property
    def has_judges(self) -> bool:
        """Return whether a judge can be compared with people in some section."""
        return any(part.section.against for part in self.parts)

    @property
    def known(self) -> list[tuple[str, AltTest]]:
        """The tests of single judges that could be made, each with its section's title."""
        return [
            (part.title, test)
            for part in self.parts
            for test, one in zip(part.family, part.section.against, strict=True)
            if one.panel == 1 and test.passed is not None
        ]

    @property
    def places(self) -> int:
        """The number of sections that have such a test."""
        return len({title for title, _ in self.known})

    @property
    def standing(self) -> Standing | None:
        """The answers on single judges, over sections."""
        return standing_of(self.known)

    @property
    def family(self) -> FamilyOfTests | None:
        return family_of(self.parts)

    @property
    def cautions(self) -> Cautions:
        return cautions_of(self.parts, several=True)

    @property
    def one_each(self) -> list[str]:
        """The sections in which every item was scored by one person."""
        return [part.title for part in self.parts if ONE_EACH in part.section.warnings]

    @property
    def near(self) -> list[str]:
        """The judges whose verdict one person more or less would turn, and where."""
        return [f"{judge} on {part.title}" for part in self.parts for judge in near_of(part)]

    @property
    def skewed(self) -> list[tuple[str, list[str]]]:
        return skewed_parts(self.parts)

    @property
    def unlike(self) -> list[str]:
        """The sentence on raters whose scores hardly go with those of the others, and where."""
        return [f"{part.title}: {text}" for part in self.parts for text in unlike_of(part)]

    def links(self, rows: Callable[[SectionPart], int]) -> Sequence[Link]:
        """Return the section of each row of a table that has so many rows of each section."""
        return [row.link for row in self.rows for _ in range(rows(row.part))]


def near_of(part: SectionPart) -> list[str]:
    """Return the judges of a section whose verdict one person more or less would turn."""
    return [
        test.judge
        for test in part.family
        if test.verdict.answer != "worse" and any(w.startswith(NEAR_START) for w in test.warnings)
    ]


def unlike_of(part: SectionPart) -> list[str]:
    """Return what is said of a section's raters whose scores hardly go with the others'."""
    groups = (part.section.people, part.section.judges)
    return [text for group in groups for text in group.warnings if UNLIKE_PART in text]

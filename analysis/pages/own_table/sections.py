"""Sections of a table with their tests of judges, and sentences that several pages share."""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from analysis.agreement.judges_and_people import JudgeComparison
from analysis.agreement.report import RaterGroup, SectionReport, TidyReport
from analysis.reports.formatting import listed, number, plural
from analysis.stats.rater_agreement.alt_test import ITEMS_NEEDED, PEOPLE_NEEDED, AltTest
from analysis.stats.rater_agreement.alt_verdict import LOW_ALPHA
from analysis.stats.rater_agreement.non_inferiority import Answer
from analysis.stats.results import Distribution, DistributionBin

# From this share of one score on, kappa and alpha are low however often raters agree.
SKEWED = 0.7
# Judges that figures draw; the panel of all is drawn beside them, and tables have everybody.
MOST_DRAWN = 7
EPSILON_WORDS: Mapping[float, str] = {
    0.1: "beside crowd workers",
    0.15: "beside skilled annotators",
    0.2: "beside experts",
}


@dataclass(frozen=True)
class SectionTests:
    """Tests of judges in one section: each for itself, and in the family of all."""

    title: str
    alone: tuple[AltTest, ...]
    family: tuple[AltTest, ...]


@dataclass(frozen=True)
class SectionPart(SectionTests):
    """A section with everything that was computed of it, tests of judges among it."""

    section: SectionReport

    @property
    def panel(self) -> JudgeComparison | None:
        """The mean of all judges, or the only judge, against people."""
        return self.section.against[-1] if self.section.against else None


def parts_of(report: TidyReport) -> list[SectionPart]:
    """Return the sections, each with its share of the tests that were adjusted together."""
    found, start = [], 0
    for section in report.sections:
        end = start + len(section.against)
        alone = tuple(one.alternative for one in section.against)
        found.append(SectionPart(title_of(section), alone, report.family[start:end], section))
        start = end
    return found


def title_of(section: SectionReport) -> str:
    return ", ".join(filter(None, (section.dataset, section.criterion)))


@dataclass(frozen=True)
class FamilyOfTests:
    """The tests whose p-values are adjusted together; no ``statement`` where none is available."""

    epsilon: float
    q: float
    margin: float
    statement: str
    p_values: int

    @property
    def epsilon_words(self) -> str:
        """ε with what it is customary for."""
        return epsilon_words(self.epsilon)


def family_of(parts: Sequence[SectionTests]) -> FamilyOfTests | None:
    """Return the family of the tests of these sections; None where there is no judge."""
    tests = [test for part in parts for test in part.family]
    if not tests:
        return None
    first = next((test for test in tests if test.annotators), None)
    statement, p_values = (first.family, first.tests) if first is not None else ("", 0)
    return FamilyOfTests(tests[0].epsilon, tests[0].q, tests[0].margin, statement, p_values)


@dataclass(frozen=True)
class Cautions:
    """The cautions to keep in mind with verdicts: where people agree little, with their alpha."""

    low: tuple[str, ...]

    @property
    def low_alpha(self) -> float:
        return LOW_ALPHA


def cautions_of(parts: Sequence[SectionTests], *, several: bool) -> Cautions:
    """Return what to keep in mind; with ``several`` sections their titles are named."""
    tests = [
        (part.title, test) for part in parts for test in part.family if test.passed is not None
    ]
    low = {
        title: test.verdict.people_alpha
        for title, test in tests
        if test.verdict.people_alpha is None or test.verdict.people_alpha < LOW_ALPHA
    }
    words = [
        f"{f'{title.lower()} ' if several else ''}"
        f"{'undefined' if alpha is None else number(alpha, 'points')}"
        for title, alpha in low.items()
    ]
    return Cautions(tuple(words))


@dataclass(frozen=True)
class Standing:
    """The answers on whether single judges may stand in for a person, over one or more sections.

    ``places`` is the number of sections with a test, called by ``word``.
    """

    tests: tuple[AltTest, ...]
    places: int
    word: str

    def of(self, answer: Answer) -> list[AltTest]:
        """Return the tests with this answer."""
        return [test for test in self.tests if test.verdict.answer == answer]

    @property
    def sentences(self) -> list[str]:
        """Who passes, who is shown worse, and what would decide the rest."""
        passing, worse, open_ = self.of("passes"), self.of("worse"), self.of("undecided")
        found = []
        if passing:
            found.append(f"{self._named(passing)} may stand in for a person.")
            if open_:
                found.append(f"Undecided: {self._named(open_)} ({_needed(open_)}).")
        elif open_:
            found.append(f"No judge can be cleared yet: {_needed(open_)}.")
        else:
            found.append("No judge may stand in for a person.")
        if worse:
            found.append(f"Shown worse than a person: {self._named(worse, _with_constant)}.")
        return found

    def _named(
        self, tests: Sequence[AltTest], called: Callable[[AltTest], str] = lambda test: test.judge
    ) -> str:
        names = Counter(called(test) for test in tests)
        if self.places == 1:
            return listed(list(names), most=6)
        of = plural(self.places, self.word)
        return listed([f"{name} on {count} of {of}" for name, count in names.items()], most=6)


def _with_constant(test: AltTest) -> str:
    agreement = test.verdict.agreement
    if agreement is None or agreement.constant is None:
        return test.judge
    return f"{test.judge} (always answers {agreement.constant:g})"


def _needed(tests: Sequence[AltTest]) -> str:
    """Return how many items undecided tests have, and how many would decide them."""
    has = _range([test.verdict.power.items for test in tests if test.verdict.power is not None])
    needed = [test.verdict.items_to_decide for test in tests]
    known = [items for items in needed if items is not None]
    if not known:
        return f"{has} items, and no number of items would decide it"
    return f"{has} items, {_range(known)} needed"


def _range(values: Sequence[int]) -> str:
    low, high = min(values), max(values)
    return f"{low:,}" if low == high else f"{low:,} to {high:,}"


def standing_of(sections: Sequence[tuple[str, AltTest]], word: str = "section") -> Standing | None:
    """Return the answers on single judges, each with its section; None where there is no test."""
    if not sections:
        return None
    places = len({title for title, _ in sections})
    return Standing(tuple(test for _, test in sections), places, word)


def lacking(test: AltTest) -> str:
    """Return in words what a refused test still needs: more items of some people, or people."""
    if test.passed is not None:
        return "nothing"
    more = PEOPLE_NEEDED - test.winning_rate.n
    nearest = sorted(test.left_out.items(), key=lambda item: (-item[1], item[0]))[:more]
    lacks: dict[int, list[str]] = {}
    for who, n in nearest:
        lacks.setdefault(ITEMS_NEEDED - n, []).append(who)
    words = [
        f"{plural(n, 'item')}{' each' if len(people) > 1 else ''} of {listed(people)}"
        for n, people in lacks.items()
    ]
    if words:
        words[-1] += " that the judge and another person score too"
    if further := more - len(nearest):
        people = plural(further, "more person", "more people")
        words.append(f"{people} with {ITEMS_NEEDED} such items{' each' if further > 1 else ''}")
    return f"at least {listed(words)} are missing"


def skewed(group: RaterGroup) -> bool:
    """Return whether nearly all scores of a group are the same."""
    return group.ratings > 0 and max(group.counts.values()) >= SKEWED * group.ratings


def skewed_parts(parts: Sequence[SectionPart]) -> list[tuple[str, list[str]]]:
    """Return the titles of sections in which most scores are the same: of people, of judges."""
    groups = (
        ("people", [(part.title, part.section.people) for part in parts]),
        ("judges", [(part.title, part.section.judges) for part in parts]),
    )
    found = ((who, [title for title, group in those if skewed(group)]) for who, those in groups)
    return [(who, titles) for who, titles in found if titles]


def score_counts(group: RaterGroup) -> Distribution:
    """Return how often each score was given, as figures take it."""
    return Distribution(
        1,
        tuple(
            DistributionBin(
                score, str(score), count, count / group.ratings if group.ratings else None
            )
            for score, count in group.counts.items()
        ),
        group.ratings,
    )


def judges_of(section: SectionReport) -> Sequence[JudgeComparison]:
    """Return the comparisons with single judges, without that of the panel."""
    return [one for one in section.against if one.panel == 1]


def epsilon_words(epsilon: float) -> str:
    """Return ε with what it is customary for."""
    customary = EPSILON_WORDS.get(epsilon)
    return f"ε = {epsilon:g}" + (f", customary {customary}" if customary else "")

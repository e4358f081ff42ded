"""Sections of a table with their tests of judges, and sentences that several pages share."""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from analysis.agreement.judges_and_people import JudgeComparison
from analysis.agreement.report import RaterGroup, SectionReport, TidyReport
from analysis.reports.formatting import listed, number, plural
from analysis.stats.rater_agreement.alt_test import ITEMS_NEEDED, NEAR_START, PEOPLE_NEEDED, AltTest
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
    parts, start = [], 0
    for section in report.sections:
        end = start + len(section.against)
        alone = tuple(one.alternative for one in section.against)
        parts.append(SectionPart(title_of(section), alone, report.family[start:end], section))
        start = end
    return parts


def title_of(section: SectionReport) -> str:
    return ", ".join(filter(None, (section.dataset, section.criterion)))


class FamilyOfTests(NamedTuple):
    """The tests whose p-values are adjusted together; no ``statement`` where none is available."""

    epsilon: float
    q: float
    margin: float
    statement: str
    p_values: int


def family_of(parts: Sequence[SectionTests]) -> FamilyOfTests | None:
    """Return the family of the tests of these sections; None where there is no judge."""
    tests = [test for part in parts for test in part.family]
    if not tests:
        return None
    first = next((test for test in tests if test.annotators), None)
    statement, p_values = (first.family, first.tests) if first is not None else ("", 0)
    return FamilyOfTests(tests[0].epsilon, tests[0].q, tests[0].margin, statement, p_values)


def low_alphas(parts: Sequence[SectionTests], *, several: bool) -> list[str]:
    """Return the alphas of people where they agree little; ``several``: with the section's name."""
    tests = [(part.title, one) for part in parts for one in part.family if one.passed is not None]
    alphas = {
        title: alpha
        for title, test in tests
        if (alpha := test.verdict.people_alpha) is None or alpha < LOW_ALPHA
    }
    return [
        f"{f'{title.lower()} ' if several else ''}"
        f"{'undefined' if alpha is None else number(alpha, 'points')}"
        for title, alpha in alphas.items()
    ]


def near_verdicts(part: SectionTests) -> list[str]:
    """Return the judges of a section whose verdict one person more or less would turn."""
    return [
        test.judge
        for test in part.family
        if test.verdict.answer != "worse" and any(w.startswith(NEAR_START) for w in test.warnings)
    ]


def standing_words(sections: Sequence[tuple[str, AltTest]], word: str = "section") -> str:
    """Say which single judges may stand in for a person, which are shown worse, and what would
    decide the rest.

    Each test has the title of its section, which is called ``word``. Empty without any test.
    """
    places = len({title for title, _ in sections})

    def named(
        tests: Sequence[AltTest], called: Callable[[AltTest], str] = lambda test: test.judge
    ) -> str:
        names = Counter(called(test) for test in tests)
        if places == 1:
            return listed(list(names), most=6)
        of = plural(places, word)
        return listed([f"{name} on {count} of {of}" for name, count in names.items()], most=6)

    by_answer: dict[Answer, list[AltTest]] = {}
    for _, test in sections:
        by_answer.setdefault(test.verdict.answer, []).append(test)
    passing, worse, open_ = (by_answer.get(a, []) for a in ("passes", "worse", "undecided"))
    words = []
    if passing:
        words.append(f"{named(passing)} may stand in for a person.")
        if open_:
            words.append(f"Undecided: {named(open_)} ({_needed(open_)}).")
    elif open_:
        words.append(f"No judge may stand in for a person yet: {_needed(open_)}.")
    elif sections:
        words.append("No judge may stand in for a person.")
    if worse:
        words.append(f"Shown worse than a person: {named(worse, _with_constant)}.")
    return " ".join(words)


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
        f"{plural(n, 'shared item')}{' each' if len(people) > 1 else ''} of {listed(people)}"
        for n, people in lacks.items()
    ]
    if further := more - len(nearest):
        people = plural(further, "more person", "more people")
        words.append(f"{people} with {ITEMS_NEEDED} shared items{' each' if further > 1 else ''}")
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
    titles_of = ((who, [title for title, group in those if skewed(group)]) for who, those in groups)
    return [(who, titles) for who, titles in titles_of if titles]


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

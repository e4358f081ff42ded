"""Sections of a table with their tests of judges, and sentences that several pages share."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from analysis.reports.formatting import listed, number, plural
from analysis.stats.rater_agreement.alt_test import ITEMS_NEEDED, PEOPLE_NEEDED, AltTest
from analysis.stats.rater_agreement.alt_verdict import ENOUGH_POWER, LOW_ALPHA, Power
from analysis.stats.results import Distribution, DistributionBin
from analysis.tables.agreement.judges_and_people import JudgeComparison
from analysis.tables.agreement.report import RaterGroup, SectionReport, TidyReport

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
    return FamilyOfTests(tests[0].epsilon, tests[0].q, statement, p_values)


@dataclass(frozen=True)
class Cautions:
    """The cautions to keep in mind with verdicts of the alternative annotator test.

    ``also`` are the judges that pass where a constant judge passes too; ``low`` says where people
    agree little, with their alpha; ``weakest`` is the lowest power below `ENOUGH_POWER`, and
    ``needed`` the items that would give 80 % everywhere, where any number does.
    """

    also: tuple[str, ...]
    low: tuple[str, ...]
    weakest: Power | None
    powers_differ: bool
    needed: int | None
    epsilon: float

    @property
    def low_alpha(self) -> float:
        return LOW_ALPHA


def cautions_of(parts: Sequence[SectionTests], *, several: bool) -> Cautions:
    """Return what to keep in mind; with ``several`` sections their titles are named."""
    tests = [
        (part.title, test) for part in parts for test in part.family if test.passed is not None
    ]
    also = [
        f"{test.judge} on {title.lower()}" if several else test.judge
        for title, test in tests
        for best in [test.verdict.best_constant]
        if test.verdict.passes and best is not None and best.passes
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
    powers = [test.verdict.power for _, test in tests if test.verdict.power is not None]
    weak = [power for power in powers if power.power < ENOUGH_POWER]
    needed = [power.items_needed for power in weak if power.items_needed is not None]
    return Cautions(
        tuple(also),
        tuple(words),
        min(weak, key=lambda power: power.power, default=None),
        len({power.power for power in weak}) > 1,
        max(needed) if needed and len(needed) == len(weak) else None,
        tests[0][1].epsilon if tests else 0.0,
    )


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

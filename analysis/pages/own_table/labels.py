"""Agreement in words: whether judges may stand in for people, what is missing, what to mind."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from analysis.pages.prose import read_prose
from analysis.reports.content import Notice
from analysis.reports.formatting import ends, listed, number, plural, stated
from analysis.stats.rater_agreement.alt_test import ITEMS_NEEDED, NEAR_START, PEOPLE_NEEDED, AltTest
from analysis.stats.rater_agreement.alt_verdict import ENOUGH_POWER, LOW_ALPHA, Power
from analysis.stats.results import Distribution, DistributionBin, Estimate
from analysis.tables.agreement.judges_and_people import JudgeComparison
from analysis.tables.agreement.report import (
    ONE_EACH,
    UNLIKE_PART,
    RaterGroup,
    SectionReport,
    TidyReport,
)

# From this share of one score on, kappa and alpha are low however often raters agree.
SKEWED = 0.7
EPSILON_WORDS: Mapping[float, str] = {
    0.1: "beside crowd workers",
    0.15: "beside skilled annotators",
    0.2: "beside experts",
}


@dataclass(frozen=True)
class Tested:
    """Tests of judges in one section: each for itself, and in the family of all."""

    title: str
    alone: tuple[AltTest, ...]
    family: tuple[AltTest, ...]


@dataclass(frozen=True)
class Part(Tested):
    """A section with everything that was computed of it, tests of judges among it."""

    section: SectionReport


def parts_of(report: TidyReport) -> list[Part]:
    """The sections, each with its share of the tests that were adjusted together."""
    found, start = [], 0
    for section in report.sections:
        end = start + len(section.against)
        alone = tuple(one.alternative for one in section.against)
        found.append(Part(title_of(section), alone, report.family[start:end], section))
        start = end
    return found


def title_of(section: SectionReport) -> str:
    return ", ".join(filter(None, (section.dataset, section.criterion)))


def answer(part: Part) -> str:
    """Whether the judges may stand in for people, in words and numbers, or why nobody can say."""
    section = part.section
    said = [_verdict(part), _closeness(section), _among_people(section.people)]
    return " ".join(filter(None, said))


def _verdict(part: Part) -> str:
    section = part.section
    unknown = "Whether judges may stand in for people cannot be said here"
    if not section.judges.raters:
        return f"{unknown}: there is no judge among the raters."
    if not section.people.raters:
        return (
            f"{unknown}: no person is among the raters. That judges agree with each other would be "
            "consistency, not correctness."
        )
    if ONE_EACH in section.warnings:
        return (
            f"{unknown}: every item was scored by one person, so how far people agree with each "
            "other is unknown."
        )
    tests = part.family
    known = [test for test in tests if test.passed is not None]
    if not known:
        return f"{unknown}: {reason_in_words(tests[0])}."
    single = [test for test, one in zip(tests, section.against, strict=True) if one.panel == 1]
    passing = [test.judge for test in single if test.verdict.passes]
    alone = sum(bool(one.alternative.verdict.passes) for one in section.against if one.panel == 1)
    epsilon = known[0].epsilon
    panel = [test for test, one in zip(tests, section.against, strict=True) if one.panel > 1]
    together = ""
    if panel and panel[0].passed is not None:
        verdict = panel[0].verdict
        words = "passes" if verdict.passes else "does not pass"
        together = f"; the {panel[0].judge}: " + ("no verdict" if verdict.withheld else words)
    who = f" ({listed(passing, most=6)})" if 0 < len(passing) < len(single) else ""
    changed = f" ({alone} if each is tested alone)" if alone != len(passing) else ""
    without = withheld_words(known)
    return (
        f"By the alternative annotator test with ε = {epsilon:g}, {len(passing)} of "
        f"{plural(len(single), 'judge')} may stand in for a person{who}, with the p-values of all "
        f"{plural(known[0].tests, 'comparison')} adjusted together{changed}{together}.{without}"
    )


def withheld_words(tests: Sequence[AltTest]) -> str:
    """On which judges there is no verdict, and why; empty where there is one on all."""
    reasons: dict[str, list[str]] = {}
    for test in tests:
        if test.passed is not None and test.verdict.withheld:
            reasons.setdefault(test.verdict.why, []).append(test.judge)
    if not reasons:
        return ""
    found = [f"{listed(judges, most=6)} ({why})" for why, judges in reasons.items()]
    return f" No verdict on {'; '.join(found)}."


@dataclass(frozen=True)
class Cautions:
    """What to keep in mind with the verdicts of the alternative annotator test.

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


def cautions_of(parts: Sequence[Tested], *, several: bool) -> Cautions:
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


def cautions(parts: Sequence[Tested], *, several: bool) -> list[Notice]:
    """Return the same as notices, said once for all judges and sections."""
    context = {"cautions": cautions_of(parts, several=several)}
    return list(read_prose("pages/own_table/_cautions.html", context).notices())


def _closeness(section: SectionReport) -> str:
    if not section.against:
        return ""
    one = section.against[-1]
    answers = one.answers
    if answers.exact.value is None:
        return "No score of a person has one of every judge beside it."
    which = answers.rounded if one.panel > 1 else answers.exact
    subject = f"The {one.judge}, rounded," if one.panel > 1 else one.judge
    return (
        f"{subject} equals a person’s score on {stated(which, 'share')} of {answers.n:,} answers "
        f"and lies at most one point away on {number(answers.within_one.value or 0, 'share')}; "
        f"{_direction(answers.bias, one.panel)}."
    )


def _direction(bias: Estimate, panel: int) -> str:
    who = "judges score" if panel > 1 else "it scores"
    if bias.value is None:
        return "the bias is undefined"
    if bias.interval is not None and bias.interval.low <= 0 <= bias.interval.high:
        return f"{who} neither clearly higher nor lower"
    inside = f" ({ends(bias.interval, 'points', signed=True)})" if bias.interval else ""
    side = "higher" if bias.value > 0 else "lower"
    return f"{who} {number(abs(bias.value), 'points')} points {side}{inside}"


def _among_people(people: RaterGroup) -> str:
    alpha = people.alphas["ordinal"]
    if people.undefined or alpha.value is None:
        return ""
    return f"Among people, ordinal alpha is {stated(alpha, 'points')}."


def reason_in_words(test: AltTest) -> str:
    """Why a test is not available, and what it lacks."""
    return f"the alternative annotator test is {test.advantage.undefined}; {lacking(test)}"


def lacking(test: AltTest) -> str:
    """Whose items and how many people a refused test lacks at least."""
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
    return f"missing are at least {listed(words)}"


def notices(part: Part, *, has_tasks: bool) -> list[Notice]:
    """What has to be minded in this section, each only where it applies."""
    section = part.section
    found = []
    if ONE_EACH in section.warnings:
        found.append(
            Notice(
                "Every item was scored by one person. Agreement among people, and with it alpha, "
                "kappa and ICC, does not exist here, and comparing people with judges does not "
                "replace it: have some items scored by two people or more."
            )
        )
    elif section.people.items and section.people.single:
        found.append(
            Notice(
                f"{section.people.items:,} of {section.people.items + section.people.single:,} "
                "items have scores of two people or more, and agreement among people is about "
                "these alone. If they were chosen, say for being hard, they do not stand for all.",
                "info",
            )
        )
    if len(section.judges.raters) > 1:
        found.append(
            Notice(
                "That judges agree with each other is consistency, not correctness; people and "
                "judges are never put into one alpha, which would hide a common bias.",
                "info",
            )
        )
    found += cautions([part], several=False)
    near = [
        test
        for test in part.family
        if not test.verdict.withheld and any(w.startswith(NEAR_START) for w in test.warnings)
    ]
    if near:
        names = listed([test.judge for test in near], most=6)
        found.append(
            Notice(
                f"One person away from the other verdict: {names}. The verdict is fragile there; "
                "read the p-values and the advantage probability beside it.",
            )
        )
    found += [Notice(text) for text in map(skew, ("people", "judges"),
              (section.people, section.judges)) if text]  # fmt: skip
    found += [Notice(f"{warning[:1].upper()}{warning[1:]}.", "info")
              for group in (section.people, section.judges) for warning in group.warnings
              if "pairs of raters" in warning]  # fmt: skip
    found += [Notice(f"{warning[:1].upper()}{warning[1:]}.")
              for group in (section.people, section.judges) for warning in group.warnings
              if UNLIKE_PART in warning]  # fmt: skip
    if section.unit == "item" and not has_tasks:
        found.append(
            Notice(
                "Items are taken as independent. If several belong to one task, document or model, "
                "intervals are too narrow: add the column task.",
                "info",
            )
        )
    return found


def skewed(group: RaterGroup) -> bool:
    """Whether nearly all scores of a group are the same."""
    return group.ratings > 0 and max(group.counts.values()) >= SKEWED * group.ratings


def skew(who: str, group: RaterGroup) -> str:
    """What to say where nearly all scores of a group are the same; empty elsewhere."""
    if not skewed(group):
        return ""
    score, count = max(group.counts.items(), key=lambda item: item[1])
    if count == group.ratings:
        of_all, rest = "All", "agreement beyond chance is undefined"
    else:
        of_all = f"{number(count / group.ratings, 'share')} of the"
        rest = "kappa and alpha are low however often raters agree"
    return (
        f"{of_all} scores of {who} are {score}, so {rest}: read equal scores, AC2 and the counts "
        "of scores together."
    )


def score_counts(group: RaterGroup) -> Distribution:
    """How often each score was given, as figures take it."""
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
    """The comparisons with single judges, without that of the panel."""
    return [one for one in section.against if one.panel == 1]


def epsilon_words(epsilon: float) -> str:
    """ε with what it is customary for."""
    customary = EPSILON_WORDS.get(epsilon)
    return f"ε = {epsilon:g}" + (f", customary {customary}" if customary else "")

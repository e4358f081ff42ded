"""What alternative annotator tests find, and the family of tests in which that is decided.

`alt_test` makes one; where several are made, their p-values are adjusted together.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from analysis.stats.comparison.multiplicity import Family, adjust_family
from analysis.stats.rater_agreement.alt_verdict import Verdict, decided
from analysis.stats.results import Estimate

PASSING = 0.5
RATE = "winning rate: share of people against whom the judge wins"
NO_SAMPLE = "a share of these people, who are no sample: no interval"
NEAR_START = "one person away"
NEAR = NEAR_START + " from the other verdict (winning rate {rate:.2f}): read the p-values"


@dataclass(frozen=True)
class AnnotatorResult:
    """The judge against one person, both compared with the other people.

    Attributes
    ----------
    n
        Items that the person, the judge and another person scored.
    advantage
        Share of them on which the judge is at least as close to the others as the person (ρ^f).
    person
        The same share for the person (ρ^h); they add up to more than 1, since ties count for both.
    p
        Of the one-sided test that the judge is worse by ε or more.
    adjusted
        The same after Benjamini and Yekutieli's control over the family.
    won
        ``adjusted`` ≤ q: the judge holds its own against this person.
    """

    annotator: str
    n: int
    advantage: float
    person: float
    p: float
    adjusted: float
    won: bool


@dataclass(frozen=True)
class AltTest:
    """Whether a judge may replace people, by the alternative annotator test.

    Attributes
    ----------
    judge, criterion
        Who was tested, on what.
    epsilon, q
        How much worse the judge may be because it is cheaper; the false discovery rate.
    winning_rate
        Share of the people tested against whom the judge won; ``n`` is how many they are.
    advantage
        Mean of their ``AnnotatorResult.advantage``, with a bootstrap interval over items or tasks.
    passed
        Outcome of the test alone, winning rate ≥ 0.5, which a judge that always gives the same
        answer can reach: read ``verdict``. None where the test is not available.
    annotators, left_out
        Results by person, and people left out with the number of their items.
    verdict
        What may be concluded, beside the best constant judge and beyond chance.
    family, tests
        Which p-values were adjusted together, and how many they are.
    """

    judge: str
    criterion: str
    epsilon: float
    q: float
    winning_rate: Estimate
    advantage: Estimate
    passed: bool | None
    annotators: tuple[AnnotatorResult, ...]
    left_out: Mapping[str, int]
    verdict: Verdict
    family: str = ""
    tests: int = 0
    warnings: tuple[str, ...] = ()
    method: str = "alternative annotator test, negative root mean squared error"


def adjust_together(tests: Sequence[AltTest], *, statement: str) -> tuple[AltTest, ...]:
    """Adjust the p-values of several tests as one family, and decide winning rates anew.

    Parameters
    ----------
    tests
        Those that are not available stay as they are and do not make the family larger.
    statement
        Which tests these are, in words.

    Raises
    ------
    ValueError
        If their q differ.

    Notes
    -----
    Where judges and criteria are screened together, people's p-values of all tests form the family:
    a judge that passes by luck is likelier the more of them are tried. Benjamini & Yekutieli 2001
    (`multiplicity.adjust_family`).
    """
    if len({test.q for test in tests}) > 1:
        raise ValueError("tests of one family need the same q")
    if not tests:
        return ()
    family = adjust_family(
        {
            f"{t} {result.annotator}": result.p
            for t, test in enumerate(tests)
            for result in test.annotators
        },
        statement=statement,
        method="by",
        alpha=tests[0].q,
    )
    return tuple(
        _decided(
            test,
            [
                replace(result, adjusted=float(found.adjusted or 0), won=bool(found.clear))
                for result in test.annotators
                for found in [family[f"{t} {result.annotator}"]]
            ],
            family,
        )
        for t, test in enumerate(tests)
    )


def _decided(test: AltTest, results: list[AnnotatorResult], family: Family) -> AltTest:
    if not results:
        return test
    won, n = sum(result.won for result in results), len(results)
    rate = won / n
    passed = rate >= PASSING
    near = (won - 1) / n < PASSING if passed else (won + 1) / n >= PASSING
    warnings = [warning for warning in test.warnings if not warning.startswith(NEAR_START)]
    return replace(
        test,
        annotators=tuple(results),
        winning_rate=Estimate(rate, n, no_interval=NO_SAMPLE, method=RATE),
        passed=passed,
        verdict=decided(test.verdict, passed=passed, winning_rate=rate),
        family=family.statement,
        tests=family.size,
        warnings=(*warnings, *([NEAR.format(rate=rate)] if near else [])),
    )

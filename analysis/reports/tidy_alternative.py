"""Tables of the alternative annotator test: verdicts by judge, and the tests by person."""

from collections.abc import Sequence

from analysis.reports.parts import (
    Badge,
    Cell,
    Column,
    Table,
    count_cell,
    estimate_cell,
    estimate_column,
    number_cell,
    number_column,
    text_cell,
    text_column,
    words_column,
)
from analysis.reports.tidy_tables import named, naming
from analysis.reports.tidy_words import Tested, epsilon_words, lacking
from analysis.stats.alt_family import PASSING, AltTest

PASSES, FAILS = "may stand in", "may not"


def verdict_table(parts: Sequence[Tested], word: str = "") -> Table:
    """One row per judge and section: both verdicts, how clear they are, or what is missing."""
    rows = []
    for part in parts:
        for alone, test in zip(part.alone, part.family, strict=True):
            rows.append(
                (
                    *named(part, word),
                    text_cell(test.judge),
                    _verdict(test),
                    _verdict(alone),
                    estimate_cell(test.winning_rate, "points"),
                    estimate_cell(alone.winning_rate, "points"),
                    estimate_cell(test.advantage, "points"),
                    _wins(test),
                    text_cell(_to_know(test)),
                )
            )
    columns = (
        *naming(word),
        text_column("Judge"),
        text_column("All together", "verdict", "p-values of all judges and sections adjusted"),
        text_column("Alone", "verdict alone", "p-values adjusted over this judge’s people only"),
        estimate_column(
            "Winning rate", help=f"Share of people against whom it wins; {PASSING:g} passes"
        ),
        estimate_column("Winning rate alone", help="The same with the p-values of its own people"),
        estimate_column(
            "Advantage probability",
            help="How often the judge is at least as close to the other people as a person is",
        ),
        Column("Wins", ("wins", "people tested"), help="People against whom it wins"),
        words_column("What to know", "note"),
    )
    return Table(
        "alternative", "The alternative annotator test", columns, tuple(rows), note=_family(parts)
    )


def _family(parts: Sequence[Tested]) -> str:
    tests = [test for part in parts for test in part.family]
    if not tests:
        return "There is no judge to test against people."
    first = next((test for test in tests if test.annotators), None)
    epsilon = f"{epsilon_words(tests[0].epsilon)}, q = {tests[0].q:g}."
    if first is None:
        return f"{epsilon} No test is available; nothing was adjusted."
    return (
        f"{epsilon} The family: {first.family} ({first.tests:,} p-values, Benjamini–Yekutieli). "
        "Who screens many judges finds one that passes by luck, so the verdict of all together is "
        "the one to read."
    )


def _verdict(test: AltTest) -> Cell:
    if test.passed is None:
        return Cell(data=("not available",), reason=test.advantage.undefined)
    word = PASSES if test.passed else FAILS
    return Cell(data=(word,), badges=(Badge(word, "ok" if test.passed else "warn"),))


def _wins(test: AltTest) -> Cell:
    won, n = sum(result.won for result in test.annotators), len(test.annotators)
    if not n:
        return Cell(data=(None, 0), reason="nobody was tested")
    return Cell(f"{won} of {n}", (won, n))


def _to_know(test: AltTest) -> str:
    words = [f"not available: {lacking(test)}"] if test.passed is None else []
    words += test.warnings
    if test.left_out and test.passed is not None:
        words.append(f"left out for too few items: {_people(test)}")
    return "; ".join(words)


def _people(test: AltTest, most: int = 6) -> str:
    names = [f"{name} ({n})" for name, n in test.left_out.items()]
    more = f" and {len(names) - most} more" if len(names) > most else ""
    return ", ".join(names[:most]) + more


def _p(p: float) -> Cell:
    return Cell("< 0.001" if p < 0.001 else f"{p:.3f}", (float(f"{p:.6g}"),))


def person_table(parts: Sequence[Tested], word: str = "") -> Table:
    """Each judge against each person, with p-values before and after both adjustments."""
    rows = []
    for part in parts:
        for alone, test in zip(part.alone, part.family, strict=True):
            own = {result.annotator: result for result in alone.annotators}
            for result in test.annotators:
                rows.append(
                    (
                        *named(part, word),
                        text_cell(test.judge),
                        text_cell(result.annotator),
                        count_cell(result.n),
                        number_cell(result.advantage, "points"),
                        number_cell(result.person, "points"),
                        _p(result.p),
                        _p(own[result.annotator].adjusted),
                        _p(result.adjusted),
                        text_cell("wins" if result.won else "does not"),
                    )
                )
    columns = (
        *naming(word),
        text_column("Judge"),
        text_column("Person"),
        number_column("n", help="Items that both and another person scored"),
        number_column("Judge closer", "advantage", "Share on which the judge is at least as close"),
        number_column("Person closer", "person", "Share on which the person is at least as close"),
        number_column("p", help="One-sided: the judge is worse by ε or more"),
        number_column("p alone", help="Adjusted over the people of this judge"),
        number_column("p together", help="Adjusted over the whole family"),
        text_column("Outcome", "won"),
    )
    return Table(
        "people-tested",
        "Each judge against each person",
        columns,
        tuple(rows),
        note="Ties count for both, so the two shares add up to more than 1.",
        open=False,
        most=200,
    )


def missing(part: Tested) -> str:
    """What the section’s first refused test lacks; empty where all are available."""
    refused = next((test for test in part.family if test.passed is None), None)
    return lacking(refused) if refused is not None else ""


def passing(part: Tested) -> str:
    """Such as ``2 of 3``: the judges and the panel that pass, all tests together."""
    known = [test for test in part.family if test.passed is not None]
    return f"{sum(bool(test.passed) for test in known)} of {len(known)}" if known else ""

"""Tables of the alternative annotator test: verdicts by judge, and the tests by person."""

from collections.abc import Sequence

from analysis.pages.own_table.sections import SectionTests, lacking
from analysis.pages.own_table.tables import named, naming
from analysis.reports.content import (
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
from analysis.stats.rater_agreement.alt_test import PASSING, AltTest
from analysis.stats.rater_agreement.alt_verdict import CONSTANT_START, Power

PASSES, FAILS, WITHHELD = "may stand in", "may not", "withheld"


def verdict_table(parts: Sequence[SectionTests], word: str = "") -> Table:
    """Return one row per judge and section: both verdicts, how clear they are, or what is
    missing.
    """
    rows = []
    for part in parts:
        for alone, test in zip(part.alone, part.family, strict=True):
            rows.append(
                (
                    *named(part, word),
                    text_cell(test.judge),
                    _verdict(test),
                    text_cell(_to_know(test)),
                    estimate_cell(test.winning_rate, "points"),
                    _best_constant(test),
                    estimate_cell(test.advantage, "points"),
                    estimate_cell(test.verdict.beyond_constant, "points", signed=True),
                    estimate_cell(test.verdict.chance_corrected, "points"),
                    _wins(test),
                    _verdict(alone),
                    estimate_cell(alone.winning_rate, "points"),
                )
            )
    columns = (
        *naming(word),
        text_column("Judge"),
        text_column("All together", "verdict", "p-values of all judges and sections adjusted"),
        words_column("Why, and what to know", "note"),
        estimate_column(
            "Winning rate", help=f"Share of people against whom it wins; {PASSING:g} passes"
        ),
        Column(
            "Best constant",
            ("best constant", "best constant winning rate", "best constant advantage"),
            help="The answer with which a judge that always gives it does best, and its winning "
            "rate",
        ),
        estimate_column(
            "Advantage probability",
            help="How often the judge is at least as close to the other people as a person is",
        ),
        estimate_column(
            "Beyond best constant",
            help="Advantage probability minus that of the best constant, paired by item",
        ),
        estimate_column(
            "Kappa with people",
            help="Quadratic weights, with single answers of people; 0 is chance",
        ),
        Column("Wins", ("wins", "people tested"), help="People against whom it wins"),
        text_column("Alone", "verdict alone", "p-values adjusted over this judge’s people only"),
        estimate_column("Winning rate alone", help="The same with the p-values of its own people"),
    )
    return Table("alternative", "The alternative annotator test", columns, tuple(rows))


def _verdict(test: AltTest) -> Cell:
    if test.passed is None:
        return Cell(data=("not available",), reason=test.advantage.undefined)
    verdict = test.verdict
    if verdict.withheld:
        return Cell(data=(WITHHELD,), badges=(Badge(WITHHELD, "warn"),))
    word = PASSES if verdict.passes else FAILS
    return Cell(data=(word,), badges=(Badge(word, "ok" if verdict.passes else "bad"),))


def _best_constant(test: AltTest) -> Cell:
    best = test.verdict.best_constant
    if best is None:
        return Cell(data=(None, None, None), reason=test.advantage.undefined)
    return Cell(
        f"{best.winning_rate:.2f}",
        (best.answer, round(best.winning_rate, 6), round(best.advantage, 6)),
        sub=f"always {best.answer}",
    )


def _wins(test: AltTest) -> Cell:
    won, n = sum(result.won for result in test.annotators), len(test.annotators)
    if not n:
        return Cell(data=(None, 0), reason="nobody was tested")
    return Cell(f"{won} of {n}", (won, n))


def _to_know(test: AltTest) -> str:
    words = [f"not available: {lacking(test)}"] if test.passed is None else []
    if test.passed is not None and test.verdict.withheld:
        words.append(test.verdict.why)
    # Low alpha and low power are the same for all judges: the page says them once.
    words += [caution for caution in test.verdict.cautions if caution.startswith(CONSTANT_START)]
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


def person_table(parts: Sequence[SectionTests], word: str = "") -> Table:
    """Return each judge against each person, with p-values before and after both adjustments."""
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
        open=False,
        most=200,
    )


def missing(part: SectionTests) -> str:
    """Return what the section’s first refused test lacks; empty where all are available."""
    refused = next((test for test in part.family if test.passed is None), None)
    return lacking(refused) if refused is not None else ""


def power_groups(part: SectionTests) -> list[tuple[Power, list[str]]]:
    """Return the power of a section's tests, each with the judges of which it is."""
    found: dict[tuple[int, float, int | None], tuple[Power, list[str]]] = {}
    for test in part.family:
        power = test.verdict.power
        if power is not None:
            key = (power.items, power.power, power.items_needed)
            found.setdefault(key, (power, []))[1].append(test.judge)
    return list(found.values())


def power_table(parts: Sequence[SectionTests], word: str = "") -> Table:
    """Return how often a judge as good as a person passes, and how many items it takes."""
    rows = []
    for part in parts:
        groups = power_groups(part)
        rows += [
            (
                *named(part, word),
                text_cell("every judge" if len(groups) == 1 else ", ".join(judges)),
                count_cell(power.items),
                number_cell(power.power, "share"),
                count_cell(power.items_needed, reason="a million items would not give it"),
                text_cell(power.method),
            )
            for power, judges in groups
        ]
    columns = (
        *naming(word),
        text_column("Judge"),
        number_column("Items"),
        number_column("Power", help="Share of judges as good as a person that pass"),
        number_column("Items for 80 %", help="With as many people per item"),
        words_column("How", "method"),
    )
    return Table(
        "power",
        "Power of the test: how often a judge as good as a person passes",
        columns,
        tuple(rows),
        open=False,
    )


def passing(part: SectionTests) -> str:
    """Count the judges and the panel that pass, all tests together, as in ``2 of 3, 1
    withheld``.
    """
    known = [test.verdict for test in part.family if test.passed is not None]
    if not known:
        return ""
    withheld = sum(verdict.withheld for verdict in known)
    more = f", {withheld} withheld" if withheld else ""
    return f"{sum(bool(verdict.passes) for verdict in known)} of {len(known)}{more}"

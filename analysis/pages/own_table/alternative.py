"""Tables of verdicts on judges, by judge and by person."""

from collections.abc import Mapping, Sequence

from analysis.pages.own_table.sections import SectionTests, lacking
from analysis.pages.own_table.tables import named, naming
from analysis.reports.content import (
    Badge,
    Cell,
    Column,
    Table,
    Tone,
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
from analysis.stats.rater_agreement.alt_verdict import Power
from analysis.stats.rater_agreement.non_inferiority import ANSWERS, Answer
from analysis.stats.results import Estimate

NEVER = "a million items would not give it"
WORDS: Mapping[Answer, tuple[str, Tone]] = {
    "passes": ("may stand in", "ok"),
    "worse": ("shown worse", "bad"),
    "undecided": ("undecided", "info"),
}


def verdict_table(parts: Sequence[SectionTests], word: str = "") -> Table:
    """Return one row per judge and section: the verdict and both tests, or what is missing."""
    rows = []
    for part in parts:
        for alone, test in zip(part.alone, part.family, strict=True):
            agreement = test.verdict.agreement
            none = Estimate.without_value(test.advantage.undefined or "there is no test")
            rows.append(
                (
                    *named(part, word),
                    text_cell(test.judge),
                    _verdict(test),
                    _needed(test),
                    estimate_cell(
                        agreement.difference if agreement else none, "points", signed=True
                    ),
                    _answer(test, agreement.answer if agreement else "not_available"),
                    estimate_cell(agreement.judge if agreement else none, "points"),
                    estimate_cell(agreement.people if agreement else none, "points"),
                    estimate_cell(test.winning_rate, "points"),
                    _answer(test, test.verdict.alternative),
                    _wins(test),
                    estimate_cell(test.advantage, "points"),
                    _verdict(alone),
                    estimate_cell(alone.winning_rate, "points"),
                    text_cell(_to_know(test)),
                )
            )
    columns = (
        *naming(word),
        text_column("Judge"),
        text_column("Verdict", "verdict", "Both tests, all judges and sections adjusted together"),
        Column(
            "Items to decide",
            ("items", "items to decide"),
            help="Items now, and items that would decide an open verdict",
        ),
        estimate_column(
            "Judge − person",
            part="kappa difference",
            help="Linear kappa with the other people: the judge’s minus a person’s",
        ),
        text_column("Agreement", "agreement", "Non-inferiority of that difference"),
        estimate_column("Kappa, judge", help="With the people other than the one left out"),
        estimate_column("Kappa, person", help="Of a person with the other people"),
        estimate_column(
            "Winning rate", help=f"Share of people against whom it wins; {PASSING:g} passes"
        ),
        text_column("Alternative test", "alternative test", "By the winning rate"),
        Column("Wins", ("wins", "people tested"), help="People against whom it wins"),
        estimate_column(
            "Advantage probability",
            help="How often the judge is at least as close to the other people as a person is",
        ),
        text_column("Alone", "verdict alone", "p-values adjusted over this judge’s people only"),
        estimate_column("Winning rate alone", help="The same with the p-values of its own people"),
        words_column("What to know", "note"),
    )
    return Table("alternative", "May a judge stand in for a person?", columns, tuple(rows))


def _verdict(test: AltTest) -> Cell:
    if test.passed is None:
        return Cell(data=("not available",), reason=test.advantage.undefined)
    word, tone = WORDS[test.verdict.answer]
    return Cell(data=(word,), badges=(Badge(word, tone),))


def _answer(test: AltTest, answer: Answer) -> Cell:
    if answer == "not_available":
        return Cell(data=(answer,), reason=test.advantage.undefined)
    return text_cell(ANSWERS[answer])


def _needed(test: AltTest) -> Cell:
    verdict = test.verdict
    if verdict.power is None:
        return Cell(data=(None, None), reason=test.advantage.undefined)
    items, needed = verdict.power.items, verdict.items_to_decide
    if verdict.answer != "undecided":
        return Cell("–", (items, None), sub=f"{items:,} now")
    if needed is None:
        return Cell(data=(items, None), reason="a million items would not decide it")
    return Cell(f"{needed:,}", (items, needed), sub=f"{items:,} now")


def _wins(test: AltTest) -> Cell:
    won, n = sum(result.won for result in test.annotators), len(test.annotators)
    if not n:
        return Cell(data=(None, 0), reason="nobody was tested")
    return Cell(f"{won} of {n}", (won, n))


def _to_know(test: AltTest) -> str:
    words = [f"not available: {lacking(test)}"] if test.passed is None else []
    agreement = test.verdict.agreement
    if agreement is not None and agreement.constant is not None:
        words.append(f"always answers {agreement.constant:g}")
    # Low alpha is the same for all judges: the page says it once.
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
    groups: dict[tuple[int, float, int | None], tuple[Power, list[str]]] = {}
    for test in part.family:
        power = test.verdict.power
        if power is not None:
            key = (power.items, power.power, power.items_needed)
            groups.setdefault(key, (power, []))[1].append(test.judge)
    return list(groups.values())


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
                number_cell(power.agreement, "share"),
                count_cell(power.agreement_items, reason=NEVER),
                number_cell(power.power, "share"),
                count_cell(power.items_needed, reason=NEVER),
                text_cell(power.method),
            )
            for power, judges in groups
        ]
    columns = (
        *naming(word),
        text_column("Judge"),
        number_column("Items"),
        number_column("Agreement", "agreement power", "Share that pass non-inferiority"),
        number_column("Items for 80 %", "agreement items", "With as many people per item"),
        number_column("Both", "power", "Share that pass both tests"),
        number_column("Items for 80 %, both", "items for 80 %", "With as many people per item"),
        words_column("How", "method"),
    )
    return Table(
        "power",
        "Power: how often a judge as good as a person passes",
        columns,
        tuple(rows),
        open=False,
    )


def passing(part: SectionTests) -> str:
    """Count the judges and the panel that pass both tests, as in ``2 of 3, 1 undecided``."""
    known = [test.verdict.answer for test in part.family if test.passed is not None]
    if not known:
        return ""
    open_ = known.count("undecided")
    return f"{known.count('passes')} of {len(known)}" + (f", {open_} undecided" if open_ else "")

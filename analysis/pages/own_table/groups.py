"""Tables of raters of one kind among themselves: people, and judges."""

from collections.abc import Iterator, Sequence

from analysis.agreement.report import RaterGroup
from analysis.pages.own_table.sections import SectionPart
from analysis.pages.own_table.tables import named, naming
from analysis.reports.content import (
    Cell,
    Table,
    count_cell,
    estimate_cell,
    estimate_column,
    number_column,
    text_cell,
    text_column,
    words_column,
)
from analysis.reports.formatting import Unit, counted
from analysis.stats.rater_agreement.icc import FORMS
from analysis.stats.rater_agreement.kappas import weights_in_words
from analysis.stats.results import Estimate

MOST_PAIRS = 60


def statistics_of(group: RaterGroup) -> Iterator[tuple[str, Unit, Estimate]]:
    """Yield every statistic of a group by its full name."""
    yield "Equal pairs of scores", "share", group.equal
    yield "Pairs within one point", "share", group.within_one
    for metric, alpha in group.alphas.items():
        yield f"Krippendorff’s alpha, {metric}", "points", alpha
    for weights, fleiss in group.fleiss.items():
        yield f"Fleiss’ kappa, {weights_in_words(weights)}", "points", fleiss
    for weights, ac in group.gwet.items():
        yield f"Gwet’s {'AC1' if weights == 'none' else f'AC2, {weights} weights'}", "points", ac
    for form, icc in group.icc.items():
        yield f"{form}, {FORMS[form]} (complete items)", "points", icc
    for name, icc in group.icc_unbalanced.items():
        rater = "a single rater" if name == "single" else "the average of an item’s raters"
        yield f"ICC1, {rater} (all answers)", "points", icc
    for form, icc in group.icc_reml.items():
        yield f"{form}, {FORMS[form]} (all answers, REML)", "points", icc


def group_table(name: str, title: str, group: RaterGroup) -> Table | None:
    """Return every statistic of one group, a row for each; None where there is nobody to agree
    with.
    """
    if group.undefined:
        return None
    rows = [
        (
            text_cell(label),
            estimate_cell(estimate, unit),
            count_cell(estimate.n),
            text_cell(how(estimate)),
        )
        for label, unit, estimate in statistics_of(group)
    ]
    columns = (
        text_column("Statistic"),
        estimate_column("Value"),
        number_column("n", "items"),
        words_column("How, and what to know", "how"),
    )
    return Table(name, title, columns, tuple(rows))


def how(estimate: Estimate) -> str:
    """Return the interval’s method, what was left out, and warnings; or why there is no value."""
    if estimate.value is None:
        words = [f"undefined because {estimate.undefined}"]
    elif estimate.interval is None:
        words = [estimate.no_interval or "no interval"]
    else:
        words = [f"{100 * estimate.interval.level:g} % interval: {estimate.interval.method}"]
    if left := counted({why: n for why, n in estimate.excluded.items() if n}):
        words.append(f"left out: {left}")
    return "; ".join([*words, *estimate.warnings])


def across_table(
    name: str, title: str, parts: Sequence[SectionPart], word: str, *, judges: bool
) -> Table:
    """Return the statistics of one kind of rater, a row for each section."""
    rows = []
    labels: list[str] = []
    for part in parts:
        group = part.section.judges if judges else part.section.people
        statistics = list(statistics_of(group))
        labels = labels or [label for label, _, _ in statistics]
        rows.append(
            (
                *named(part, word),
                count_cell(len(group.raters)),
                count_cell(group.items),
                count_cell(group.single),
                *(estimate_cell(estimate, unit) for _, unit, estimate in statistics),
            )
        )
    columns = (
        *naming(word),
        number_column("Raters"),
        number_column("Items", "items", "Scored by two raters or more"),
        number_column("Scored once"),
        *(estimate_column(label) for label in labels),
    )
    return Table(name, title, columns, tuple(rows), open=False)


def pair_table(name: str, title: str, group: RaterGroup) -> Table | None:
    """Return each two raters with a common item; None where there are no such two."""
    if not group.pairs:
        return None
    columns = (
        text_column("First"),
        text_column("Second"),
        number_column("n"),
        estimate_column("Equal"),
        estimate_column("Within one"),
        estimate_column("Bias", help="Second minus first, in points"),
        estimate_column("Mean difference"),
        estimate_column("Kappa, unweighted"),
        estimate_column("Kappa, linear"),
        estimate_column("Kappa, quadratic"),
        estimate_column("Pearson"),
        estimate_column("Spearman"),
        estimate_column("Kendall"),
        estimate_column("Lower limit"),
        estimate_column("Upper limit"),
    )
    rows: list[tuple[Cell, ...]] = []
    for pair in group.pairs:
        shares, three, limits = pair.shares, pair.correlations, pair.limits
        numbers: list[tuple[Estimate, Unit, bool]] = [
            (shares.exact, "share", False),
            (shares.within_one, "share", False),
            (shares.bias, "points", True),
            (shares.absolute, "points", False),
            *((kappa, "points", False) for kappa in pair.kappas.values()),
            *((r, "points", False) for r in (three.pearson, three.spearman, three.kendall)),
            (limits.lower, "points", True),
            (limits.upper, "points", True),
        ]
        rows.append(
            (
                text_cell(pair.first),
                text_cell(pair.second),
                count_cell(shares.n),
                *(estimate_cell(e, unit, signed=signed) for e, unit, signed in numbers),
            )
        )
    return Table(name, title, columns, tuple(rows), open=False, most=MOST_PAIRS)

"""Tables of judges against people, one row per judge and section."""

from collections.abc import Callable, Iterable, Sequence

from analysis.agreement.judges_and_people import JudgeComparison
from analysis.agreement.report import Planning
from analysis.pages.own_table.sections import SectionPart, SectionTests, score_counts
from analysis.reports.content import (
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
from analysis.reports.formatting import counted, number
from analysis.stats.rater_agreement.differences import EXACT_RULE, ROUNDED_RULE
from analysis.stats.rater_agreement.sample_size import SampleSize

Row = tuple[Cell, ...]


def per_judge(
    parts: Sequence[SectionPart],
    word: str,
    columns: Sequence[Column],
    cells: Callable[[JudgeComparison], Row],
) -> tuple[tuple[Column, ...], tuple[Row, ...]]:
    """Return the columns and rows that begin with the section, where there are several, and the
    judge.
    """
    rows = [
        (*named(part, word), text_cell(one.judge), *cells(one))
        for part in parts
        for one in part.section.against
    ]
    return (*naming(word), text_column("Judge"), *columns), tuple(rows)


def naming(word: str) -> tuple[Column, ...]:
    return (text_column(word),) if word else ()


def named(part: SectionTests, word: str) -> Row:
    return (text_cell(part.title),) if word else ()


def against_table(parts: Sequence[SectionPart], word: str = "") -> Table:
    """Return equal and close scores, and in which direction judges err."""
    columns, rows = per_judge(
        parts,
        word,
        (
            number_column("n", help="Answers of people beside a score of the judge"),
            estimate_column("Equal", help=EXACT_RULE),
            estimate_column("Equal when rounded", help=ROUNDED_RULE),
            estimate_column("Within one", help="At most one point apart"),
            estimate_column("Bias", help="Judge minus person, in points"),
            estimate_column("Mean difference", help="Mean absolute difference, in points"),
            text_column("Left out"),
        ),
        lambda one: (
            count_cell(one.answers.n),
            estimate_cell(one.answers.exact, "share"),
            estimate_cell(one.answers.rounded, "share"),
            estimate_cell(one.answers.within_one, "share"),
            estimate_cell(one.answers.bias, "points", signed=True),
            estimate_cell(one.answers.absolute, "points"),
            _left_out(one),
        ),
    )
    return Table(
        "judges",
        "Each judge and the panel against people",
        columns,
        rows,
    )


def _left_out(one: JudgeComparison) -> Cell:
    left = counted(one.answers.excluded)
    return Cell(str(sum(one.answers.excluded.values())) if left else "none", (left,), sub=left)


def chance_table(parts: Sequence[SectionPart], word: str = "") -> Table:
    """Return the agreement of each judge with people beyond chance."""
    columns, rows = per_judge(
        parts,
        word,
        (
            estimate_column("Kappa, unweighted", help="Cohen’s kappa"),
            estimate_column("Kappa, linear", help="Cohen’s kappa with linear weights"),
            estimate_column("Kappa, quadratic", help="Cohen’s kappa with quadratic weights"),
            estimate_column("Alpha, nominal", help="Krippendorff’s alpha, nominal metric"),
            estimate_column("Alpha, ordinal", help="Krippendorff’s alpha, ordinal metric"),
            estimate_column("Alpha, interval", help="Krippendorff’s alpha, interval metric"),
            estimate_column("AC1", help="Gwet’s AC1, unweighted"),
            estimate_column("AC2, linear", help="Gwet’s AC2 with linear weights"),
            estimate_column("AC2, quadratic", help="Gwet’s AC2 with quadratic weights"),
            estimate_column("AC2, ordinal", help="Gwet’s AC2 with Gwet’s ordinal weights"),
        ),
        lambda one: tuple(
            estimate_cell(estimate, "points")
            for family in (one.kappas, one.alphas, one.gwet)
            for estimate in family.values()
        ),
    )
    return Table("chance", "Beyond chance: each judge with people", columns, rows)


def correlation_table(parts: Sequence[SectionPart], word: str = "") -> Table:
    """Return correlations beside bias and limits, which they do not see."""
    columns, rows = per_judge(
        parts,
        word,
        (
            number_column("n", help="Items with a score of the judge and of a person"),
            estimate_column("Pearson"),
            estimate_column("Spearman"),
            estimate_column("Kendall", help="τ_b"),
            estimate_column("ICC2", help="Absolute agreement, of a single rater"),
            estimate_column("ICC3", help="Consistency, of a single rater"),
            estimate_column("Bias", help="Mean of judge minus people, in points"),
            estimate_column("Lower limit", help="Bland–Altman, in points"),
            estimate_column("Upper limit", help="Bland–Altman, in points"),
        ),
        lambda one: (
            count_cell(one.limits.bias.n),
            *(
                estimate_cell(estimate, "points")
                for estimate in (
                    one.correlations.pearson, one.correlations.spearman, one.correlations.kendall,
                    *one.icc.values(),
                )
            ),
            *(
                estimate_cell(estimate, "points", signed=True)
                for estimate in (one.limits.bias, one.limits.lower, one.limits.upper)
            ),
        ),
    )  # fmt: skip
    return Table(
        "correlations",
        "Correlation, bias and limits of agreement",
        columns,
        rows,
    )


def difference_table(parts: Sequence[SectionPart], word: str = "") -> Table:
    """Return answers at each exact distance, a row for each; a panel of k judges moves in k-ths."""
    rows = [
        (
            *named(part, word),
            text_cell(one.judge),
            text_cell(bin.label),
            count_cell(bin.count),
            number_cell(bin.share, "share", reason="no answer to compare"),
        )
        for part in parts
        for one in part.section.against
        for bin in one.answers.distribution.bins
        if bin.count or one.panel == 1
    ]
    columns = (
        *naming(word),
        text_column("Judge"),
        text_column("Difference", help="Absolute difference in points"),
        number_column("Answers"),
        number_column("Share"),
    )
    return Table(
        "differences",
        "Answers at each absolute difference",
        columns,
        tuple(rows),
        open=False,
    )


def score_table(parts: Sequence[SectionPart], word: str = "") -> Table:
    """Return how often people and judges gave each score."""
    rows = []
    scores: list[str] = []
    for part in parts:
        for who, group in (("People", part.section.people), ("Judges", part.section.judges)):
            given = score_counts(group)
            scores = scores or [bin.label for bin in given.bins]
            rows.append(
                (
                    *named(part, word),
                    text_cell(who),
                    count_cell(len(group.raters)),
                    count_cell(given.n),
                    *(
                        Cell(
                            f"{bin.count:,}",
                            (bin.count,),
                            sub=number(bin.share, "share") if bin.share is not None else "",
                        )
                        for bin in given.bins
                    ),
                )
            )
    columns = (
        *naming(word),
        text_column("Who"),
        number_column("Raters"),
        number_column("Scores"),
        *(number_column(score) for score in scores),
    )
    return Table("scores", "Scores given", columns, tuple(rows))


def planning_of(parts: Sequence[SectionPart]) -> list[tuple[str, Planning]]:
    return [(part.title, part.section.planning) for part in parts]


def planning_table(plans: Sequence[tuple[str, Planning]], word: str = "") -> Table | None:
    """Return how many items would give intervals of the wanted width; None without common items."""
    rows = []
    for title, planning in plans:
        rows += [
            (*((text_cell(title),) if word else ()), text_cell(name), *_size(size))
            for name, size in sizes_of(planning)
        ]
    if not rows:
        return None
    half = plans[0][1].half_width
    columns = (
        *naming(word),
        text_column("For"),
        number_column("Items"),
        number_column("Half-width there"),
        words_column("How", "method"),
    )
    return Table(
        "planning",
        f"Items needed for an interval of ± {half:g}",
        columns,
        tuple(rows),
    )


def sizes_of(planning: Planning) -> list[tuple[str, SampleSize]]:
    """Return the numbers of items that were planned, by what they are for."""
    sizes = (
        ("Share of equal pairs", planning.equal),
        ("Ordinal alpha", planning.alpha),
        ("ICC1", planning.icc),
    )
    return [(name, size) for name, size in sizes if size is not None]


def _size(size: SampleSize) -> Iterable[Cell]:
    how = "; ".join([size.method, *size.warnings])
    return (
        count_cell(size.items, reason=size.undefined),
        number_cell(size.reached, "points", reason="the formula gives the number of items alone"),
        text_cell(how),
    )

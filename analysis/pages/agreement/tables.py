"""The tables of the agreement page, and of others that hold judges against people."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from analysis.reports import common
from analysis.reports.content import (
    Cell,
    Column,
    Table,
    count_cell,
    estimate_cell,
    estimate_column,
    number_column,
    text_cell,
    text_column,
)
from analysis.reports.formatting import counted
from analysis.stats.descriptive.means import mean_by_cluster
from analysis.stats.rater_agreement.differences import EXACT_RULE, ROUNDED_RULE, Agreement
from analysis.stats.results import Estimate
from annotation.questionnaires import Question
from benchmarks.core.published import PaperStatements

if TYPE_CHECKING:
    from pandas import DataFrame


def agreement_table(
    results: Sequence[Agreement], overall: Agreement | None, reference: PaperStatements
) -> Table:
    """How often both sides are equal or close, and the direction in which judges err."""
    columns = (
        text_column("Dimension"),
        number_column("n"),
        estimate_column("Equal", help=EXACT_RULE),
        estimate_column("Equal when rounded", help=ROUNDED_RULE),
        estimate_column("Within one", help="At most one point apart"),
        estimate_column("Bias", help="Judges' mean minus the person's score"),
        estimate_column("Mean difference", help="Mean absolute difference"),
        text_column("Left out"),
    )
    rows = []
    for result in [*results, *([overall] if overall is not None else [])]:
        left = counted(result.excluded)
        rows.append(
            (
                text_cell(result.dimension[:1].upper() + result.dimension[1:]),
                count_cell(result.n),
                estimate_cell(result.exact, "share"),
                estimate_cell(result.rounded, "share"),
                estimate_cell(result.within_one, "share"),
                estimate_cell(result.bias, "points", signed=True),
                estimate_cell(result.absolute, "points"),
                Cell(str(sum(result.excluded.values())) if left else "none", (left,), sub=left),
            )
        )
    return Table(
        "agreement",
        "Agreement by dimension",
        columns,
        tuple(rows),
        note=f"Equal: {EXACT_RULE}. {reference.agreement}",
    )


def difference_table(results: Sequence[Agreement]) -> Table:
    """How many answers lie at each distance."""
    labels = [bin.label for bin in results[0].distribution.bins] if results else []
    rows = tuple(
        (
            text_cell(result.dimension[:1].upper() + result.dimension[1:]),
            *(count_cell(bin.count) for bin in result.distribution.bins),
        )
        for result in results
    )
    return Table(
        "differences",
        "Answers at each absolute difference",
        (text_column("Dimension"), *(number_column(label) for label in labels)),
        rows,
        open=False,
    )


def means_table(means: Mapping[str, tuple[Estimate, Estimate]]) -> list[Table]:
    """What people and judges gave on the same answers: the numbers of the figure."""
    if not means:
        return []
    rows = tuple(
        (
            text_cell(title),
            estimate_cell(people, "points", show_n=True),
            estimate_cell(judges, "points", show_n=True),
        )
        for title, (people, judges) in means.items()
    )
    columns = (text_column("Dimension"), estimate_column("People"), estimate_column("Judges"))
    return [Table("means", "Mean scores on the same answers", columns, rows, open=False)]


def questions_table(
    frame: "DataFrame", questions: Sequence[Question], reference: PaperStatements
) -> list[Table]:
    """Means of the questions that are no rubric dimension, beside the published ones."""
    rows = []
    for question in questions:
        if question.dimension:
            continue
        key = question.key
        answers = frame[frame["question"] == key]
        mean = (
            mean_by_cluster(
                answers["human"].to_numpy(),
                answers["task"].tolist(),
                scale=common.RUBRIC_SCALE,
            )
            if len(answers)
            else Estimate.without_value("no item was asked this")
        )
        published = reference.questions.get(key)
        rows.append(
            (
                text_cell(f"{question.number} {question.title}", sub=question.definition),
                estimate_cell(mean, "points", show_n=True),
                Cell(f"{published:.2f}", (published,), sub="n = 240")
                if published is not None
                else Cell(data=(None,), reason="not published"),
            )
        )
    if not rows:
        return []
    columns = (
        text_column("Question"),
        estimate_column("Mean"),
        Column("Published", ("published",)),
    )
    note = "Answers of people alone, 1 to 5, 5 best; 95 % intervals are by task."
    return [Table("questions", "Questions on the feedback", columns, tuple(rows), note)]

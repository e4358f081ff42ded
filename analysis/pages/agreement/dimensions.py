"""Agreement of people with the mean of the judges, by dimension: rows and columns of tables."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from analysis.kit import columns
from analysis.kit.columns import Column
from analysis.kit.links import Link
from analysis.kit.page import Page
from analysis.reports.content import text_column
from analysis.reports.formatting import first_up
from analysis.reports.rates import left_out_cell
from analysis.stats.rater_agreement.differences import (
    EXACT_RULE,
    ROUNDED_RULE,
    Agreement,
    rubric_agreement,
)
from benchmarks.core.system import Dimension

if TYPE_CHECKING:
    from pandas import DataFrame


class DimensionAgreement(NamedTuple):
    """The agreement on one dimension; the ``key`` is empty for all dimensions together."""

    key: str
    agreement: Agreement


class SameAnswers(NamedTuple):
    """Both sides' scores of the same answers, by the key of the dimension."""

    people: Mapping[str, Any]
    judges: Mapping[str, Any]
    tasks: Sequence[Any]


def dimension_title(row: DimensionAgreement) -> str:
    """Return the name of the dimension, with a capital."""
    return first_up(row.agreement.dimension)


def compare(
    frame: "DataFrame", dimensions: Sequence[Dimension], judged: "DataFrame"
) -> tuple[tuple[DimensionAgreement, ...], Agreement | None]:
    """Return the agreement by dimension and over all.

    ``judged`` holds the judges' scores by seat; its index says what is compared: trajectories, or
    their turns.
    """
    sides = same_answers(frame, dimensions, judged)
    if sides is None:
        return (), None
    titles = {dimension.key: dimension.title for dimension in dimensions}
    results, overall = rubric_agreement(
        {titles[key]: people for key, people in sides.people.items()},
        {titles[key]: judges for key, judges in sides.judges.items()},
        tasks=sides.tasks,
    )
    rows = (DimensionAgreement(*both) for both in zip(sides.people, results, strict=True))
    return tuple(rows), overall


def same_answers(
    frame: "DataFrame", dimensions: Sequence[Dimension], judged: "DataFrame"
) -> SameAnswers | None:
    """Return both sides' scores; None where one side has none."""
    asked = frame[frame["dimension"] != ""]
    if asked.empty or judged.empty:
        return None
    there = set(asked["dimension"])
    keys = [dimension.key for dimension in dimensions if dimension.key in there]
    index = [str(name) for name in judged.index.names if name != "dimension"]
    human = asked.pivot_table(
        index=[*index, "task", "annotator"], columns="dimension", values="human"
    )
    places = human.reset_index().set_index(index).index
    people, judges = {}, {}
    for key in keys:
        rows = judged[judged.index.get_level_values("dimension") == key].droplevel("dimension")
        people[key] = human[key].to_numpy(dtype="float64")
        judges[key] = rows.reindex(places).to_numpy(dtype="float64")
    return SameAnswers(people, judges, human.index.get_level_values("task").tolist())


def agreement_columns() -> list[Column[DimensionAgreement]]:
    """Say how often both sides are equal or close, and in which direction judges err."""
    return [
        columns.text("Dimension", dimension_title),
        columns.count("n", lambda row: row.agreement.n),
        columns.estimate("Equal", lambda row: row.agreement.exact, "share", help=EXACT_RULE),
        columns.estimate(
            "Equal when rounded", lambda row: row.agreement.rounded, "share", help=ROUNDED_RULE
        ),
        columns.estimate(
            "Within one",
            lambda row: row.agreement.within_one,
            "share",
            help="At most one point apart",
        ),
        columns.estimate(
            "Bias",
            lambda row: row.agreement.bias,
            "points",
            signed=True,
            help="Judges' mean minus the person's score",
        ),
        columns.estimate(
            "Mean difference",
            lambda row: row.agreement.absolute,
            "points",
            help="Mean absolute difference",
        ),
        Column(text_column("Left out"), lambda row: left_out_cell(row.agreement.excluded)),
    ]


def differences_table(page: Page, rows: Sequence[DimensionAgreement]) -> None:
    """Count the answers at each distance."""
    bins = rows[0].agreement.distribution.bins if rows else ()

    def at(number: int) -> Column[DimensionAgreement]:
        return columns.count(
            bins[number].label, lambda row: row.agreement.distribution.bins[number].count
        )

    page.table(
        "differences",
        "Answers at each absolute difference",
        rows,
        [columns.text("Dimension", dimension_title), *map(at, range(len(bins)))],
        link=lambda row: Link(dimension=row.key),
        folded=True,
    )

"""Maps from judges' scores to people's, in tables and a figure."""

from collections.abc import Sequence
from dataclasses import dataclass

from analysis.figures.forest import ForestRows, forest
from analysis.reports import common
from analysis.reports.parts import (
    FigureSpec,
    Table,
    count_cell,
    estimate_cell,
    estimate_column,
    number_cell,
    number_column,
    text_cell,
    text_column,
)
from analysis.stats.calibration import Calibration


@dataclass(frozen=True)
class Mapped:
    """The map of one judge of a judging on one dimension."""

    judging: str
    dimension: str
    judge: str
    made: Calibration


def calibration_tables(mapped: Sequence[Mapped]) -> list[Table]:
    """What maps are worth on items that they were not fitted on, and what they say."""
    if not mapped:
        return []
    rows, curves = [], []
    for one in mapped:
        names = text_cell(one.dimension), text_cell(one.judge), text_cell(one.judging)
        made = one.made
        rows.append(
            (
                *names,
                count_cell(made.n),
                estimate_cell(made.bias, "points", signed=True),
                estimate_cell(made.bias_after, "points", signed=True),
                estimate_cell(made.error, "points"),
                estimate_cell(made.error_after, "points"),
                estimate_cell(made.gain, "points", signed=True),
                estimate_cell(made.constant, "points"),
                estimate_cell(made.worth, "points", signed=True),
            )
        )
        if made.curve:
            curves.append((*names, *(number_cell(value, "points") for _, value in made.curve)))
    head = (text_column("Dimension"), text_column("Judge"), text_column("Judging"))
    columns = (
        *head,
        number_column("Items", help="Scored by the judge and by people"),
        estimate_column("Bias", help="Judge minus people, as scored"),
        estimate_column("Bias, mapped"),
        estimate_column("Error", help="Mean of |judge − people|, as scored"),
        estimate_column("Error, mapped"),
        estimate_column("Change", help="Mapped minus as scored; below 0 is nearer to people"),
        estimate_column("Constant", help="Error of people's mean, which ignores the judge"),
        estimate_column("Worth", help="Mapped minus constant; below 0 the judge tells something"),
    )
    tables = [
        Table(
            "mapped",
            "Judges mapped onto people, on items held out",
            columns,
            tuple(rows),
            note="In points. Every item is mapped by what was fitted on other tasks; 95 % "
            "intervals draw tasks. A map that is no better than a constant leaves nothing of the "
            "judge.",
        )
    ]
    if curves:
        points = [point for point, _ in _first_curve(mapped)]
        tables.append(
            Table(
                "maps",
                "The maps",
                (*head, *(number_column(f"{point:g}", f"at {point:g}") for point in points)),
                tuple(curves),
                note="What a score becomes, fitted on all items.",
                open=False,
            )
        )
    return tables


def _first_curve(mapped: Sequence[Mapped]) -> Sequence[tuple[float, float]]:
    return next((one.made.curve for one in mapped if one.made.curve), ())


def calibration_figures(mapped: Sequence[Mapped]) -> list[FigureSpec]:
    """How far each dimension's judges are from people, as scored, as mapped, and by a constant."""
    known = [one for one in mapped if one.made.gain.value is not None]
    if not known:
        return []
    first = known[0].judging
    # The judges' mean comes first; where there is one judge alone it is that one.
    one_each: dict[str, Mapped] = {}
    for one in known:
        if one.judging == first:
            one_each.setdefault(one.dimension, one)
    judge = next(iter(one_each.values())).judge
    groups = [
        ForestRows("as scored", [(name, one.made.error) for name, one in one_each.items()]),
        ForestRows("mapped", [(name, one.made.error_after) for name, one in one_each.items()]),
        ForestRows("a constant", [(name, one.made.constant) for name, one in one_each.items()]),
    ]
    return [
        common.figure_spec(
            "mapped",
            f"How far {judge} (“{first}”) {'are' if judge == 'all judges' else 'is'} from people",
            "Mean absolute difference on items held out, with 95 % intervals; a constant ignores "
            "the judge.",
            forest(groups, title="points from people"),
        )
    ]

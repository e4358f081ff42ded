"""Maps from judges' scores to people's, in tables and a figure."""

from collections.abc import Sequence
from dataclasses import dataclass

from analysis.figures.forest import ForestRows, forest
from analysis.reports import common
from analysis.reports.content import (
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
from analysis.stats.judges.calibration import Calibration


@dataclass(frozen=True)
class Mapped:
    """The map of one judge of a judging on one dimension."""

    judging: str
    dimension: str
    judge: str
    made: Calibration


def calibration_tables(mapped: Sequence[Mapped]) -> list[Table]:
    """What maps are worth on items that they were not fitted on, and what they say, by judging."""
    tables = []
    for place, judging in enumerate(dict.fromkeys(one.judging for one in mapped)):
        those = [one for one in mapped if one.judging == judging]
        tables.append(_worth(those, judging, first=not place))
        if any(one.made.curve for one in those):
            tables.append(_curves(those, judging, first=not place))
    return tables


def _worth(mapped: Sequence[Mapped], judging: str, *, first: bool) -> Table:
    rows = tuple(
        (
            text_cell(one.dimension),
            text_cell(one.judge),
            count_cell(one.made.n),
            estimate_cell(one.made.bias, "points", signed=True),
            estimate_cell(one.made.bias_after, "points", signed=True),
            estimate_cell(one.made.error, "points"),
            estimate_cell(one.made.error_after, "points"),
            estimate_cell(one.made.gain, "points", signed=True),
            estimate_cell(one.made.constant, "points"),
            estimate_cell(one.made.worth, "points", signed=True),
        )
        for one in mapped
    )
    columns = (
        text_column("Dimension"),
        text_column("Judge"),
        number_column("Items", help="Scored by the judge and by people"),
        estimate_column("Bias", help="Judge minus people, as scored"),
        estimate_column("Bias, mapped"),
        estimate_column("Error", help="Mean of |judge − people|, as scored"),
        estimate_column("Error, mapped"),
        estimate_column("Change", help="Mapped minus as scored; below 0 is nearer to people"),
        estimate_column("Constant", help="Error of people's mean, which ignores the judge"),
        estimate_column("Worth", help="Mapped minus constant; below 0 the judge tells something"),
    )
    return Table(
        "mapped" if first else "mapped-beside",
        f"Judges mapped onto people, on items held out: “{judging}”",
        columns,
        rows,
        note="In points. Every item is mapped by what was fitted on other tasks; 95 % intervals "
        "draw tasks. A map that is no better than a constant leaves nothing of the judge; one that "
        "moves a judge away from people is to be left alone.",
        open=first,
    )


def _curves(mapped: Sequence[Mapped], judging: str, *, first: bool) -> Table:
    known = [one for one in mapped if one.made.curve]
    points = [point for point, _ in known[0].made.curve]
    rows = tuple(
        (
            text_cell(one.dimension),
            text_cell(one.judge),
            *(number_cell(value, "points") for _, value in one.made.curve),
        )
        for one in known
    )
    columns = (
        text_column("Dimension"),
        text_column("Judge"),
        *(number_column(f"{point:g}", f"at {point:g}") for point in points),
    )
    return Table(
        "maps" if first else "maps-beside",
        f"The maps: “{judging}”",
        columns,
        rows,
        note="What a score becomes, fitted on all items.",
        open=False,
    )


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
            forest(groups, title="points from people", most=0.5, together=True),
        )
    ]

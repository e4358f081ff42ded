"""Maps from judges' scores to people's: what they are worth, and what they say."""

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

from analysis.figures.forest import ForestRows, forest
from analysis.figures.layout.theme import Figure
from analysis.kit import columns
from analysis.kit.columns import Column
from analysis.kit.page import Page
from analysis.reports.content import number_cell, number_column
from analysis.stats.judges.calibration import Calibration
from analysis.stats.results import Estimate

# What lies how far from people.
KINDS: Mapping[str, Callable[[Calibration], Estimate]] = {
    "as scored": lambda made: made.error,
    "mapped": lambda made: made.error_after,
    "a constant": lambda made: made.constant,
}


class JudgeMap(NamedTuple):
    """The map of one judge of a judging on one dimension."""

    judging: str
    key: str
    dimension: str
    judge: str
    made: Calibration


def map_columns() -> list[Column[JudgeMap]]:
    """Return what each map is worth on items that it was not fitted on."""
    return [
        columns.text("Dimension", lambda row: row.dimension),
        columns.text("Judge", lambda row: row.judge),
        columns.count("Items", lambda row: row.made.n, help="Scored by the judge and by people"),
        columns.estimate(
            "Bias",
            lambda row: row.made.bias,
            "points",
            help="Judge minus people, as scored",
            signed=True,
        ),
        columns.estimate("Bias, mapped", lambda row: row.made.bias_after, "points", signed=True),
        columns.estimate(
            "Error",
            lambda row: row.made.error,
            "points",
            help="Mean of |judge − people|, as scored",
        ),
        columns.estimate("Error, mapped", lambda row: row.made.error_after, "points"),
        columns.estimate(
            "Change",
            lambda row: row.made.gain,
            "points",
            help="Mapped minus as scored; below 0 is nearer to people",
            signed=True,
        ),
        columns.estimate(
            "Constant",
            lambda row: row.made.constant,
            "points",
            help="Error of people's mean, which ignores the judge",
        ),
        columns.estimate(
            "Worth",
            lambda row: row.made.worth,
            "points",
            help="Mapped minus constant; below 0 the judge tells something",
            signed=True,
        ),
    ]


def with_curve(maps: Sequence[JudgeMap]) -> list[JudgeMap]:
    """Return the maps that were fitted."""
    return [one for one in maps if one.made.curve]


def curve_columns(maps: Sequence[JudgeMap]) -> list[Column[JudgeMap]]:
    """Return what each map makes of every score."""
    points = [point for point, _ in maps[0].made.curve]
    return [
        columns.text("Dimension", lambda row: row.dimension),
        columns.text("Judge", lambda row: row.judge),
        *(
            Column(
                number_column(f"{point:g}", f"at {point:g}"),
                lambda row, place=place: number_cell(row.made.curve[place][1], "points"),  # type: ignore[misc]
            )
            for place, point in enumerate(points)
        ),
    ]


def draw_maps(maps: Sequence[JudgeMap], page: Page) -> Figure | None:
    """Draw how far each dimension's judges are from people: as scored, mapped, by a constant."""
    known = [one for one in maps if one.made.gain.value is not None]
    if not known:
        return None
    # The judges' mean comes first; where there is one judge alone it is that one.
    one_each: dict[str, JudgeMap] = {}
    for one in known:
        if one.judging == known[0].judging:
            one_each.setdefault(one.dimension, one)
    urls = [page.url(dimension=one.key) for one in one_each.values()]
    groups = [
        ForestRows(kind, [(one.dimension, error(one.made)) for one in one_each.values()], urls)
        for kind, error in KINDS.items()
    ]
    return forest(groups, title="Points from people", most=0.5, together=True)

"""Maps from judges' scores to people's: what they are worth, and what they say."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from analysis.figures.forest import ForestRows, forest
from analysis.figures.layout.theme import Figure
from analysis.kit.links import Link
from analysis.pages.declaration import ColumnOf, UrlOf, count_of, estimate_of, text_of
from analysis.reports.content import number_cell, number_column
from analysis.stats.judges.calibration import Calibration
from analysis.stats.results import Estimate

# What lies how far from people.
KINDS: Mapping[str, Callable[[Calibration], Estimate]] = {
    "as scored": lambda made: made.error,
    "mapped": lambda made: made.error_after,
    "a constant": lambda made: made.constant,
}


@dataclass(frozen=True)
class JudgeMap:
    """The map of one judge of a judging on one dimension."""

    judging: str
    key: str
    dimension: str
    judge: str
    made: Calibration

    @property
    def link(self) -> Link:
        return Link(dimension=self.key)


def map_columns() -> Sequence[ColumnOf[JudgeMap]]:
    """Give each map what it is worth on items that it was not fitted on."""
    return (
        text_of("Dimension", lambda row: row.dimension),
        text_of("Judge", lambda row: row.judge),
        count_of("Items", lambda row: row.made.n, help="Scored by the judge and by people"),
        estimate_of(
            "Bias",
            lambda row: row.made.bias,
            "points",
            help="Judge minus people, as scored",
            signed=True,
        ),
        estimate_of("Bias, mapped", lambda row: row.made.bias_after, "points", signed=True),
        estimate_of(
            "Error",
            lambda row: row.made.error,
            "points",
            help="Mean of |judge − people|, as scored",
        ),
        estimate_of("Error, mapped", lambda row: row.made.error_after, "points"),
        estimate_of(
            "Change",
            lambda row: row.made.gain,
            "points",
            help="Mapped minus as scored; below 0 is nearer to people",
            signed=True,
        ),
        estimate_of(
            "Constant",
            lambda row: row.made.constant,
            "points",
            help="Error of people's mean, which ignores the judge",
        ),
        estimate_of(
            "Worth",
            lambda row: row.made.worth,
            "points",
            help="Mapped minus constant; below 0 the judge tells something",
            signed=True,
        ),
    )


def with_curve(maps: Sequence[JudgeMap]) -> list[JudgeMap]:
    """Return the maps that were fitted."""
    return [one for one in maps if one.made.curve]


def curve_columns(maps: Sequence[JudgeMap]) -> Sequence[ColumnOf[JudgeMap]]:
    """Give each map what it makes of every score."""
    points = [point for point, _ in maps[0].made.curve]
    return (
        text_of("Dimension", lambda row: row.dimension),
        text_of("Judge", lambda row: row.judge),
        *(
            ColumnOf(
                number_column(f"{point:g}", f"at {point:g}"),
                lambda row, place=place: number_cell(row.made.curve[place][1], "points"),  # type: ignore[misc]
            )
            for place, point in enumerate(points)
        ),
    )


def draw_maps(maps: Sequence[JudgeMap], url: UrlOf) -> Figure | None:
    """Draw how far each dimension's judges are from people: as scored, mapped, by a constant."""
    known = [one for one in maps if one.made.gain.value is not None]
    if not known:
        return None
    # The judges' mean comes first; where there is one judge alone it is that one.
    one_each: dict[str, JudgeMap] = {}
    for one in known:
        if one.judging == known[0].judging:
            one_each.setdefault(one.dimension, one)
    urls = [url(one.link) for one in one_each.values()]
    groups = [
        ForestRows(kind, [(one.dimension, error(one.made)) for one in one_each.values()], urls)
        for kind, error in KINDS.items()
    ]
    return forest(groups, title="Points from people", most=0.5, together=True)

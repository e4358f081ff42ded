"""Maps from judges' scores to people's: what they are worth, and what they say."""

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

from analysis.figures.forest import ForestRows, forest
from analysis.figures.layout.theme import Figure
from analysis.kit import columns
from analysis.kit.columns import Column
from analysis.kit.links import Link
from analysis.kit.page import Page
from analysis.pages.judgings.rows import PANEL
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


def fitted_maps(maps: Sequence[JudgeMap]) -> list[JudgeMap]:
    """Return the maps that could be fitted and tried."""
    return [one for one in maps if one.made.gain.value is not None]


def show_maps(page: Page, maps: Sequence[JudgeMap]) -> None:
    """Add how far judges are from people, with a table of worth and one of maps a judging."""
    fitted = fitted_maps(maps)
    if fitted:
        first = fitted[0]
        verb = "are" if first.judge == PANEL else "is"
        page.figure(
            "mapped",
            f"How far {first.judge} (“{first.judging}”) {verb} from people",
            lambda: _draw_maps(maps, page),
            subtitle="Mean absolute difference on items held out, with 95 % intervals; a constant "
            "ignores the judge.",
        )
    judgings = dict.fromkeys(one.judging for one in maps)
    for judging, suffix in zip(judgings, ("", "-beside"), strict=False):
        own = [one for one in maps if one.judging == judging]
        page.table(
            f"mapped{suffix}",
            f"Judges mapped onto people, on items held out: “{judging}”",
            own,
            _map_columns(),
            link=lambda row: Link(dimension=row.key),
            folded=bool(suffix),
            note="In points. Every item is mapped by what was fitted on other tasks; 95 % "
            "intervals draw tasks. A map that is no better than a constant leaves nothing of the "
            "judge; one that moves a judge away from people is to be left alone.",
        )
        curves = [one for one in own if one.made.curve]
        page.table(
            f"maps{suffix}",
            f"The maps: “{judging}”",
            curves,
            [
                columns.text("Dimension", lambda row: row.dimension),
                columns.text("Judge", lambda row: row.judge),
                *(
                    _at(i, point)
                    for i, (point, _) in enumerate(curves[0].made.curve if curves else ())
                ),
            ],
            link=lambda row: Link(dimension=row.key),
            folded=True,
            note="What a score becomes, fitted on all items.",
        )


def _map_columns() -> list[Column[JudgeMap]]:
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


def _at(i: int, point: float) -> Column[JudgeMap]:
    """Return what each map makes of a score."""
    return columns.number(f"{point:g}", lambda row: row.made.curve[i][1], "points", f"at {point:g}")


def _draw_maps(maps: Sequence[JudgeMap], page: Page) -> Figure | None:
    """Draw how far each dimension's judges are from people: as scored, mapped, by a constant."""
    known = fitted_maps(maps)
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

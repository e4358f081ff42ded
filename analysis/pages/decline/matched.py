"""Means by turn of the same trajectories throughout: the parts that the decline page shows."""

from collections.abc import Callable, Sequence

from analysis.figures.turn_slopes import matched_figure
from analysis.kit import columns
from analysis.kit.columns import Column
from analysis.kit.links import Link
from analysis.kit.page import Page
from analysis.pages.decline.turn_slopes import MOST_ROWS, OPEN_ROWS
from analysis.reports import figure_specs
from analysis.reports.content import Cell, number_column, text_column
from analysis.reports.formatting import listed, number, plural
from analysis.stats.trends.matched_turns import MatchedCurve

# The trajectories of an agent, with a dimension, that have so many turns.
LinkTo = Callable[..., Link]


def warn_of_beginnings(page: Page, curves: Sequence[MatchedCurve]) -> None:
    """Name the curves where those that stayed had begun better, or worse, than those that left."""
    by_word: dict[str, list[str]] = {}
    for curve in curves:
        if curve.warnings and curve.left.value is not None:
            word = "better" if (curve.stayed.value or 0) > curve.left.value else "worse"
            by_word.setdefault(word, []).append(f"{curve.agent} on {curve.dimension.lower()}")
    for word, names in by_word.items():
        page.warning(
            f"Trajectories that last began {word} than those that ended early (95 % intervals of "
            f"their means do not meet): {listed(names)}. Means by turn compare these with each "
            "other, so they cannot be read as decline there."
        )


def draw_matched(page: Page, curves: Sequence[MatchedCurve], link: LinkTo) -> None:
    """Add the figure of the same trajectories at every turn."""
    links = {
        (curve.agent, curve.dimension): page.links.url(_reaching(curve, link)) for curve in curves
    }
    looks = figure_specs.styles([run.label for run in page.runs])
    page.figure(
        "matched",
        "The same trajectories at every turn",
        (lambda: matched_figure(curves, styles=looks, links=links))
        if any(curve.points for curve in curves)
        else None,
        subtitle="Means of trajectories that reach the last turn shown, with 95 % intervals; open "
        "marks at turn 1: those that ended before.",
    )


def table_matched(page: Page, curves: Sequence[MatchedCurve], link: LinkTo) -> None:
    """Say where the same trajectories began and where they got, and who is not among them."""
    page.table(
        "matched",
        f"The same trajectories at every turn ({plural(len(curves), 'row')})",
        curves,
        _columns(link),
        link=lambda curve: _reaching(curve, link),
        note="Turns 1 to the highest that half of an agent's trajectories reach, over trajectories "
        "with a score on each of them: who ends early cannot move these means, but they speak of "
        "trajectories that last so long alone.",
        folded=len(curves) > OPEN_ROWS,
        most=MOST_ROWS,
    )
    page.how(
        "Same trajectories: those with a score on each of the turns 1 … T, T being the highest "
        "turn that half of an agent's trajectories reach (at least 2); 95 % t intervals over "
        "trajectories. Where a low score ends a trajectory, those that last had some luck before "
        "T, so the change leans downwards by as much."
    )
    most: dict[str, int] = {}
    for curve in curves:
        for reason, count in curve.change.excluded.items():
            most[reason] = max(most.get(reason, 0), count)
    if most:
        gone = ", ".join(f"{reason}: up to {count:,}" for reason, count in most.items())
        page.how(f"Not among them, of one agent: {gone} of its trajectories.")


def _reaching(curve: MatchedCurve, link: LinkTo) -> Link:
    return link(curve.agent, curve.dimension, min_turns=curve.horizon or 2)


def _columns(link: LinkTo) -> Sequence[Column[MatchedCurve]]:
    return (
        columns.text("Agent", lambda curve: curve.agent),
        columns.text("Dimension", lambda curve: curve.dimension),
        Column(number_column("Turns", "last turn"), _horizon),
        columns.count(
            "Trajectories",
            lambda curve: curve.change.n if curve.points else 0,
            help="Scored on each of these turns",
        ),
        columns.estimate("First turn", lambda curve: curve.stayed, "points"),
        columns.estimate(
            "Last turn",
            lambda curve: curve.points[-1] if curve.points else curve.change,
            "points",
        ),
        columns.estimate(
            "Change",
            lambda curve: curve.change,
            "points",
            signed=True,
            help="Last of these turns minus the first",
        ),
        columns.estimate(
            "Left before",
            lambda curve: curve.left,
            "points",
            show_n=True,
            help="Mean at turn 1 of those that ended before",
            link=lambda curve: link(
                curve.agent, curve.dimension, max_turns=(curve.horizon or 2) - 1
            ),
        ),
        Column(
            text_column(
                "Of those that last", "notes", help="How they began beside those that left"
            ),
            _began,
        ),
    )


def _horizon(curve: MatchedCurve) -> Cell:
    if curve.horizon:
        return Cell(f"1 to {curve.horizon}", (curve.horizon,))
    return Cell(data=(None,), reason=curve.change.undefined)


def _began(curve: MatchedCurve) -> Cell:
    """Return how those that stayed had begun, where that is clear; the CSV has the whole
    sentence.
    """
    full = "; ".join(curve.warnings)
    if not full or curve.left.value is None or curve.stayed.value is None:
        return Cell(full, (full,))
    ahead = curve.stayed.value - curve.left.value
    words = f"began {number(abs(ahead), 'points')} {'higher' if ahead > 0 else 'lower'}"
    return Cell(words, (full,), tip=full)

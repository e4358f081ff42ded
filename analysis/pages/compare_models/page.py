"""The page that compares agents in pairs, task by task, with tests corrected for their number."""

from analysis.figures.layout.elements import Unit
from analysis.figures.layout.theme import Figure
from analysis.figures.model_pairs import PairMark, pair_forest, pair_matrix
from analysis.figures.tool_use import SharePart, share_cells
from analysis.filters.page_filters import measures_here
from analysis.filters.selection import Selection
from analysis.pages.compare_models.rows import (
    MOST_PAIRS,
    ComparisonData,
    ComparisonResult,
    RunPair,
    compare,
    read_values,
)
from analysis.pages.compare_models.tables import (
    pair_columns,
    published_columns,
    published_intervals,
    rank_columns,
    value_columns,
)
from analysis.pages.declaration import DeclaredPage, FigureOf, NothingToShow, TableOf, UrlOf
from analysis.pages.empty import why_no_runs
from analysis.reports.formatting import ends, level, number, p_words, plural
from analysis.stats.comparison.model_comparisons import turned_estimate


def load(selection: Selection) -> ComparisonData | NothingToShow:
    """Load the values of the chosen measure."""
    if not selection.runs or selection.filters.measure not in measures_here(selection.system):
        return why_no_runs(selection)
    return read_values(selection)


def draw_differences(result: ComparisonResult, url: UrlOf) -> Figure | None:
    """Draw the difference of every pair, or of those of the best agent."""
    if not result.drawn:
        return None
    title = f"Difference in {result.data.measure.title}"
    title += ", in points" if result.data.is_rate else ""
    return pair_forest([_mark(one, url) for one in result.drawn], unit=_unit(result), title=title)


def draw_matrix(result: ComparisonResult, url: UrlOf) -> Figure | None:
    """Draw row minus column for every two agents, where there are more than two."""
    if result.data.against or len(result.agents) < 3:
        return None
    marks = []
    for one in result.every_pair:
        marks += [_mark(one, url), _mark(one, url, from_second=True)]
    return pair_matrix([one.run.label for one in result.agents], marks, unit=_unit(result))


def draw_wins(result: ComparisonResult, url: UrlOf) -> Figure | None:
    """Draw how many of its common tasks each agent of a pair wins."""
    rows = {one.name: _parts(result, one) for one in result.drawn if one.tested}
    if not rows:
        return None
    titles = (
        ["first alone", "both", "neither", "second alone"]
        if result.binary
        else ["first higher", "equal", "second higher"]
    )
    return share_cells(rows, titles)


def _unit(result: ComparisonResult) -> Unit:
    return "share" if result.data.is_rate else "points"


def _mark(one: RunPair, url: UrlOf, *, from_second: bool = False) -> PairMark:
    pair, unit = one.pair, one.data.unit
    shown = turned_estimate(one.difference) if from_second else one.difference
    first, second = (pair.second, pair.first) if from_second else (pair.first, pair.second)
    text = ""
    if shown.value is not None:
        text = number(shown.value, unit, signed=True).removesuffix(" %")
    about = f"n = {plural(shown.n, 'task')}"
    if shown.interval is not None:
        about += f"; {level(shown.interval)} interval {ends(shown.interval, unit, signed=True)}"
    if pair.p_adjusted is not None:
        about += f"; {p_words(pair.p_adjusted)}"
    return PairMark(first, second, shown, pair.clear, text, about, url(one.link))


def _parts(result: ComparisonResult, one: RunPair) -> list[SharePart]:
    comparison = one.pair.comparison
    total = comparison.wins + comparison.ties + comparison.losses

    def part(count: int, url: str = "") -> SharePart:
        return SharePart(count, count / total if total else None, url)

    won = part(comparison.wins, one.flips("won"))
    lost = part(comparison.losses, one.flips("lost"))
    if not result.binary:
        return [won, part(comparison.ties), lost]
    table = comparison.table
    if table is None:  # several attempts at a task of this pair alone
        return [won, part(comparison.ties), part(0), lost]
    both = part(table.both, one.flips("both_pass"))
    return [won, both, part(table.neither, one.flips("both_fail")), lost]


CONTENT = DeclaredPage(
    load=load,
    compute=compare,
    answers=lambda result: bool(result.tested),
    compared=lambda result: ([one.difference for one in result.tested], result.data.unit),
    figure=FigureOf(
        "differences",
        lambda result: (
            f"Differences in {result.data.measure.title}, with simultaneous 95 % intervals"
        ),
        draw_differences,
        table="pairs",
    ),
    table=TableOf(
        "pairs",
        "Pairs",
        rows=lambda result: result.pairs,
        columns=pair_columns,
        link=lambda one: one.link,
        most=MOST_PAIRS,
    ),
    folded=(
        FigureOf(
            "matrix",
            "Row minus column",
            draw_matrix,
            table="pairs",
            least_width=lambda result: 76 * len(result.agents) + 150,
        ),
        FigureOf("wins", "Tasks won, tied and lost", draw_wins, table="pairs", least_width=500),
        TableOf(
            "ranks",
            "Ranks",
            rows=lambda result: result.ranks,
            columns=rank_columns,
            link=lambda row: row[0].link,
        ),
        TableOf(
            "values",
            lambda result: f"{result.data.measure.title} of each agent",
            rows=lambda result: result.agents,
            columns=value_columns,
            link=lambda row: row.link,
        ),
        TableOf(
            "published",
            "Published intervals",
            rows=published_intervals,
            columns=published_columns,
            link=lambda _: None,
            folded=True,
        ),
    ),
)

"""The judgings page compares repeated replies of each judge, and two judgings of the same turns."""

from collections.abc import Sequence

from analysis.figures.forest import ForestRows, forest
from analysis.figures.layout.theme import Figure
from analysis.filters.selection import Selection
from analysis.kit.links import Link
from analysis.pages.declaration import DeclaredPage, FigureOf, NothingToShow, TableOf, UrlOf
from analysis.pages.empty import why_no_runs
from analysis.pages.judgings.by_dimension import DEFERRED
from analysis.pages.judgings.rows import (
    PANEL,
    AgentVerdicts,
    JudgingsData,
    JudgingsResult,
    compute,
    read_judgings,
)
from analysis.pages.judgings.tables import (
    change_columns,
    judging_columns,
    own_columns,
    turned_columns,
    verdict_columns,
)
from analysis.reports import system_facts
from analysis.stats.results import Estimate

MOST_TURNED = 50


def load(selection: Selection) -> JudgingsData | NothingToShow:
    """Load the replies of the judging that counts, and of the one beside it."""
    if not selection.runs or not system_facts.dimensions_of(selection.system):
        return why_no_runs(selection)
    return read_judgings(selection) or why_no_runs(selection)


def draw_scores(result: JudgingsResult, url: UrlOf) -> Figure | None:
    """Draw each judge's mean score in the first judging beside that in the second."""
    second = result.second
    if second is None:
        return None
    low, high = system_facts.RUBRIC_SCALE
    groups = [
        _rows(name, [(one.judge, means) for one, means in pairs], url)
        for name, pairs in (
            (result.first.name, [(one, one.change.first) for one in result.changes]),
            (second.name, [(one, one.change.second) for one in result.changes]),
        )
    ]
    title = f"Mean score, {low:g} to {high:g}"
    return forest(groups, title=title, least=low, most=high, together=True)


def draw_equal(result: JudgingsResult, url: UrlOf) -> Figure | None:
    """Draw how often scores are the same again, by the same judging and by the other one."""
    several = result.second is not None
    own = [
        (f"{one.judge}, {one.judging}" if several else one.judge, one.one.equal)
        for one in result.own
        if one.one.replicates > 1
    ]
    kept = [(one.judge, one.unchanged) for one in result.changes if one.judge != PANEL]
    if not own and not kept:
        return None
    groups = [_rows("own replies", own, url), _rows("the other judging", kept, url)]
    return forest(groups, title="Share of equal scores", unit="share")


def draw_change(result: JudgingsResult, url: UrlOf) -> Figure | None:
    """Draw the differences between the two judgings."""
    if result.second is None:
        return None
    rows = _rows("difference", [(one.judge, one.change.difference) for one in result.changes], url)
    return forest([rows], title="Difference in points", least=-0.5, most=0.5)


def _rows(name: str, rows: Sequence[tuple[str, Estimate]], url: UrlOf) -> ForestRows:
    return ForestRows(name, rows, [url(Link())] * len(rows))


def _verdict_link(row: AgentVerdicts) -> Link:
    return Link(runs=(row.run.pk,)) if row.run is not None else Link()


CONTENT = DeclaredPage(
    load=load,
    compute=compute,
    figure=FigureOf(
        "scores",
        lambda result: f"Mean scores: “{result.first.name}” and “{result.second_name}”",
        draw_scores,
        table="change",
        fits=lambda result: result.second is not None,
    ),
    table=TableOf(
        "change",
        "What the second judging changes in scores",
        rows=lambda result: result.changes,
        columns=change_columns,
    ),
    folded=(
        FigureOf(
            "equal", "Share of scores that are the same again", draw_equal, table="consistency"
        ),
        TableOf(
            "consistency",
            "Each judge beside itself",
            rows=lambda result: result.own,
            columns=own_columns,
        ),
        TableOf(
            "verdicts",
            "Verdicts that turn",
            rows=lambda result: result.verdicts,
            columns=verdict_columns,
            link=_verdict_link,
        ),
        TableOf(
            "turned",
            "Trajectories whose verdict turned",
            rows=lambda result: result.turned,
            columns=turned_columns,
            folded=True,
            most=MOST_TURNED,
        ),
        FigureOf(
            "change",
            lambda result: f"Scores of “{result.second_name}” minus those of “{result.first.name}”",
            draw_change,
            fits=lambda result: result.second is not None,
        ),
        TableOf(
            "judgings",
            "The judgings",
            rows=lambda result: result.judgings,
            columns=judging_columns,
            link=lambda row: Link(url=row.url),
        ),
    ),
    deferred=DEFERRED,
)

"""Every panel that could be made of some judges."""

from collections.abc import Sequence

from analysis.figures.forest import ForestRows, forest
from analysis.figures.layout.theme import Figure
from analysis.kit import columns
from analysis.kit.columns import Column
from analysis.kit.page import Page
from analysis.reports.content import Badge, text_cell, text_column
from analysis.stats.judges.panel_choice import CandidatePanel, PanelChoice
from analysis.stats.results import Estimate

MOST_PANELS = 40
CHOSEN = Badge("chosen", "info", "Nearest to people on the tasks to choose by.")
# A panel, and what it is called.
NamedPanel = tuple[str, CandidatePanel, bool]


def _panels_of(choice: PanelChoice | None) -> list[NamedPanel]:
    """Return all panels of several judges with their names, and whether each is the chosen one."""
    if choice is None or len(choice.judges) < 2:
        return []
    return [
        (
            "all judges" if panel == choice.full else ", ".join(panel.judges),
            panel,
            panel == choice.best,
        )
        for panel in choice.panels
    ]


def _without_one(choice: PanelChoice | None) -> list[NamedPanel]:
    """Return the panels that lack one judge, with its name."""
    if choice is None or len(choice.judges) < 2:
        return []
    return [
        (next(name for name in choice.judges if name not in panel.judges), panel, False)
        for panel in choice.panels
        if len(panel.judges) == len(choice.judges) - 1
    ]


COLUMNS: tuple[Column[NamedPanel], ...] = (
    columns.number(
        "To choose by",
        lambda row: row[1].chosen,
        "points",
        "choosing",
        "Mean distance to people on half of the tasks",
        reason="too few tasks with people's scores to choose by",
    ),
    columns.estimate(
        "Held out",
        lambda row: row[1].error,
        "points",
        help="The same on the other half",
        show_n=True,
    ),
    columns.estimate(
        "Bias",
        lambda row: row[1].bias,
        "points",
        help="Panel minus people, on the other half",
        signed=True,
    ),
    columns.estimate(
        "Beside all",
        lambda row: row[1].change,
        "points",
        help="Held-out distance minus that of all judges",
        signed=True,
    ),
    columns.estimate(
        "From all", lambda row: row[1].distance, "points", help="Mean distance to the mean of all"
    ),
    columns.number(
        "Cost",
        lambda row: row[1].cost,
        "amount",
        help="Of its judges for one trajectory, in the currency of its calls",
        reason="the cost of a call of its judges is not known",
    ),
)


def show_panels(page: Page, choice: PanelChoice | None) -> None:
    """Add how far panels are from people: without each judge, and all of them."""
    page.figure(
        "panels",
        "How far panels are from people, on tasks they were not chosen by",
        lambda: _draw_panels(choice, page.url()),
        subtitle="Mean absolute difference over all dimensions, with 95 % intervals.",
    )
    page.table(
        "without-one",
        "The panel without each judge",
        _without_one(choice),
        [columns.text("Without", lambda row: row[0]), *COLUMNS],
        note="In points, over items with a score of every judge; 95 % intervals are by task.",
    )
    panels = _panels_of(choice)
    page.table(
        "panels",
        f"All {len(panels)} panels",
        panels,
        [
            Column(
                text_column("Panel"),
                lambda row: text_cell(row[0], badges=(CHOSEN,) if row[2] else ()),
            ),
            columns.count("Judges", lambda row: len(row[1].judges)),
            *COLUMNS,
        ],
        most=MOST_PANELS,
        note="One panel is chosen by the first column and measured in the second. Whoever picks "
        "the smallest number of the second chooses on it, and it will be too small.",
    )


def _draw_panels(choice: PanelChoice | None, url: str) -> Figure | None:
    """Draw how near to people all judges are together, without each, and each alone."""
    if choice is None or choice.best is None or len(choice.judges) < 2:
        return None
    alone = [(p.judges[0], p.error) for p in choice.panels if len(p.judges) == 1]
    without = [(f"without {name}", p.error) for name, p, _ in _without_one(choice)]
    best = choice.best
    chosen = [(" + ".join(best.judges), best.error)] if best != choice.full else []
    groups = [
        same_url("all judges", [("all judges", choice.full.error)], url),
        same_url("chosen", chosen, url),
        same_url("without one", without if len(choice.judges) > 2 else [], url),
        same_url("one alone", alone, url),
    ]
    return forest(groups, title="Points from people", most=0.5)


def same_url(name: str, rows: Sequence[tuple[str, Estimate]], url: str) -> ForestRows:
    """Return rows of a figure that all lead to one address."""
    return ForestRows(name, rows, [url] * len(rows))

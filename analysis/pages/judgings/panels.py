"""Every panel that could be made of some judges."""

from collections.abc import Sequence

from analysis.figures.forest import ForestRows, forest
from analysis.figures.layout.theme import Figure
from analysis.kit import columns
from analysis.kit.columns import Column
from analysis.reports.content import Badge, Cell, number_cell, number_column, text_cell, text_column
from analysis.stats.judges.panel_choice import CandidatePanel, PanelChoice
from analysis.stats.results import Estimate

CHOSEN = Badge("chosen", "info", "Nearest to people on the tasks to choose by.")
NO_CHOICE = "too few tasks with people's scores to choose by"
NO_COST = "the cost of a call of its judges is not known"
# A panel, and what it is called.
NamedPanel = tuple[str, CandidatePanel, bool]


def panels_of(choice: PanelChoice | None) -> list[NamedPanel]:
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


def without_one(choice: PanelChoice | None) -> list[NamedPanel]:
    """Return the panels that lack one judge, with its name."""
    if choice is None or len(choice.judges) < 2:
        return []
    return [
        (next(name for name in choice.judges if name not in panel.judges), panel, False)
        for panel in choice.panels
        if len(panel.judges) == len(choice.judges) - 1
    ]


COLUMNS: tuple[Column[NamedPanel], ...] = (
    Column(
        number_column(
            "To choose by", "choosing", help="Mean distance to people on half of the tasks"
        ),
        lambda row: number_cell(row[1].chosen, "points", reason=NO_CHOICE),
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
    Column(
        number_column(
            "Cost", help="Of its judges for one trajectory, in the currency of its calls"
        ),
        lambda row: number_cell(row[1].cost, "amount", reason=NO_COST),
    ),
)


def without_columns() -> list[Column[NamedPanel]]:
    """Return the distance to people of the panel without each judge."""
    return [columns.text("Without", lambda row: row[0]), *COLUMNS]


def panel_columns() -> list[Column[NamedPanel]]:
    """Return the distance to people of each panel."""
    return [
        Column(text_column("Panel"), _panel),
        columns.count("Judges", lambda row: len(row[1].judges)),
        *COLUMNS,
    ]


def _panel(row: NamedPanel) -> Cell:
    return text_cell(row[0], badges=(CHOSEN,) if row[2] else ())


def draw_panels(choice: PanelChoice | None, url: str) -> Figure | None:
    """Draw how near to people all judges are together, without each, and each alone."""
    if choice is None or choice.best is None or len(choice.judges) < 2:
        return None
    alone = [(p.judges[0], p.error) for p in choice.panels if len(p.judges) == 1]
    without = [(f"without {name}", p.error) for name, p, _ in without_one(choice)]
    best = choice.best
    chosen = [(" + ".join(best.judges), best.error)] if best != choice.full else []
    groups = [
        _rows("all judges", [("all judges", choice.full.error)], url),
        _rows("chosen", chosen, url),
        _rows("without one", without if len(choice.judges) > 2 else [], url),
        _rows("one alone", alone, url),
    ]
    return forest(groups, title="Points from people", most=0.5)


def _rows(name: str, rows: Sequence[tuple[str, Estimate]], url: str) -> ForestRows:
    return ForestRows(name, rows, [url] * len(rows))

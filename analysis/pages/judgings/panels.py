"""Every panel that could be made of some judges, in tables and a figure."""

from collections.abc import Sequence

from analysis.figures.forest import ForestRows, forest
from analysis.reports import common
from analysis.reports.content import (
    Badge,
    Cell,
    FigureSpec,
    Notice,
    Table,
    count_cell,
    estimate_cell,
    estimate_column,
    number_cell,
    number_column,
    text_cell,
    text_column,
)
from analysis.reports.formatting import listed
from analysis.stats.judges.panel_choice import CandidatePanel, PanelChoice

MOST_ROWS = 40
CHOSEN = Badge("chosen", "info", "Nearest to people on the tasks to choose by.")
NO_CHOICE = "too few tasks with people's scores to choose by"
NO_COST = "the cost of a call of its judges is not known"
COLUMNS = (
    number_column("To choose by", "choosing", help="Mean distance to people on half of the tasks"),
    estimate_column("Held out", "held out", help="The same on the other half"),
    estimate_column("Bias", help="Panel minus people, on the other half"),
    estimate_column("Beside all", "beside all", help="Held-out distance minus that of all judges"),
    estimate_column("From all", "from all", help="Mean distance to the mean of all judges"),
    number_column("Cost", help="Of its judges for one trajectory, in the currency of its calls"),
)


def panel_tables(choice: PanelChoice | None) -> list[Table]:
    """The panel without each judge, and all panels."""
    if choice is None or len(choice.judges) < 2:
        return []
    everyone, size = choice.full, len(choice.judges)
    without = [
        (next(name for name in choice.judges if name not in panel.judges), panel)
        for panel in choice.panels
        if len(panel.judges) == size - 1
    ]
    tables = [
        Table(
            "without-one",
            "The panel without each judge",
            (text_column("Without"), *COLUMNS),
            tuple((text_cell(name), *_cells(panel)) for name, panel in without),
            note="In points, over items with a score of every judge; 95 % intervals are by task.",
        )
    ]
    rows = []
    for panel in choice.panels:
        badges = (CHOSEN,) if panel == choice.best else ()
        name = "all judges" if panel == everyone else ", ".join(panel.judges)
        rows.append((text_cell(name, badges=badges), count_cell(len(panel.judges)), *_cells(panel)))
    tables.append(
        Table(
            "panels",
            f"All {len(rows)} panels",
            (text_column("Panel"), number_column("Judges"), *COLUMNS),
            tuple(rows),
            note="One panel is chosen by the first column and measured in the second. Whoever "
            "picks the smallest number of the second chooses on it, and it will be too small.",
            open=size <= 3,
            most=MOST_ROWS,
        )
    )
    return tables


def _cells(panel: CandidatePanel) -> tuple[Cell, ...]:
    return (
        number_cell(panel.chosen, "points", reason=NO_CHOICE),
        estimate_cell(panel.error, "points", show_n=True),
        estimate_cell(panel.bias, "points", signed=True),
        estimate_cell(panel.change, "points", signed=True),
        estimate_cell(panel.distance, "points"),
        number_cell(panel.cost, "amount", reason=NO_COST),
    )


def panel_figures(choice: PanelChoice | None) -> list[FigureSpec]:
    """How near to people all judges are together, without each, and each alone."""
    if choice is None or choice.best is None or len(choice.judges) < 2:
        return []
    size = len(choice.judges)
    alone = [(p.judges[0], p.error) for p in choice.panels if len(p.judges) == 1]
    without = [
        (f"without {next(n for n in choice.judges if n not in p.judges)}", p.error)
        for p in choice.panels
        if len(p.judges) == size - 1 and size > 2
    ]
    best = choice.best
    groups = [
        ForestRows("all judges", [("all judges", choice.full.error)]),
        ForestRows("chosen", [(" + ".join(best.judges), best.error)])
        if best != choice.full
        else ForestRows("chosen", []),
        ForestRows("without one", without),
        ForestRows("one alone", alone),
    ]
    return [
        common.figure_spec(
            "panels",
            "How far panels are from people, on tasks they were not chosen by",
            "Mean absolute difference over all dimensions, with 95 % intervals.",
            forest(groups, title="points from people", most=0.5),
        )
    ]


def panel_notices(choice: PanelChoice | None, left: Sequence[str]) -> list[Notice]:
    """What is to be minded when a panel is chosen."""
    notices = []
    if left:
        notices.append(Notice(f"Not among the panels: {listed(left, most=8)}.", "info"))
    if choice is not None and choice.best is None and len(choice.judges) > 1:
        why = choice.full.error.undefined
        notices.append(Notice(f"No panel can be chosen by people: {why}.", "info"))
    if choice is not None and choice.best is not None and len(choice.judges) > 1:
        notices.append(
            Notice(
                "A panel that was chosen here should be tried on other tasks before it replaces "
                "all judges: the held-out half guards against choosing by luck among these panels, "
                "not against other tasks, agents or people."
            )
        )
    return notices

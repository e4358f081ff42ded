"""Rubric scores: a table of means, the same with intervals, and people beside judges."""

from collections.abc import Mapping, Sequence
from textwrap import wrap

from analysis.figures.layout.elements import (
    AROUND_ROWS,
    Panels,
    Trace,
    Unit,
    categories,
    cells_height,
    describe,
    interval_lines,
    label,
    number,
    points,
    row_label,
    rows_height,
    undefined_marks,
)
from analysis.figures.layout.theme import (
    INK,
    JUDGES_SYMBOL,
    NEUTRAL,
    PEOPLE_SYMBOL,
    Figure,
    Style,
    make_figure,
    styles_for,
)
from analysis.stats.descriptive.means import MeanTable
from analysis.stats.results import Estimate

Scale = tuple[float, float]
Links = Mapping[tuple[str, str], str]


# In a line of a column's name.
COLUMN_LETTERS = 12


def rubric_heatmap(
    table: MeanTable,
    scale: Scale = (1, 5),
    links: Links | None = None,
    *,
    unit: Unit = "points",
) -> Figure:
    """Draw means by model (rows) and dimension (columns), each cell with its number.

    ``links`` gives the address behind a (row, column).
    """
    rows = [label(row) for row in table.rows]
    names = [row_label(row) for row in table.rows]
    columns = [label(column) for column in table.columns]
    cells = [[table.cells[row, column] for column in table.columns] for row in table.rows]
    trace: Trace = {
        "type": "heatmap",
        "x": columns,
        "y": rows,
        "z": [[cell.value for cell in line] for line in cells],
        "text": [[_cell_text(cell, unit) for cell in line] for line in cells],
        "texttemplate": "%{text}",
        "textfont": {"color": INK},
        "hovertext": [
            [
                describe(f"{row}, {column}", cell, unit)
                for column, cell in zip(table.columns, line, strict=True)
            ]
            for row, line in zip(table.rows, cells, strict=True)
        ],
        "hoverinfo": "text",
        "zmin": scale[0],
        "zmax": scale[1],
        "autocolorscale": True,
        # Every cell has its number, and heads need the room.
        "showscale": False,
        "xgap": 1,
        "ygap": 1,
    }
    dashes = [
        mark
        for column, i in zip(columns, range(len(columns)), strict=True)
        for mark in undefined_marks(rows, [line[i] for line in cells], column, "x")
    ]
    layout = {
        "xaxis": {
            **categories(columns),
            "side": "top",
            "tickmode": "array",
            "tickvals": columns,
            "ticktext": [
                "<br>".join(wrap(name, COLUMN_LETTERS, break_long_words=False)) for name in columns
            ],
            "tickangle": 0,
        },
        "yaxis": {
            **categories(rows, downwards=True),
            "tickmode": "array",
            "tickvals": rows,
            "ticktext": names,
        },
        "annotations": dashes,
        "margin": {"b": 12},
        "height": 90 + cells_height(names),
    }
    if links is not None:
        trace["customdata"] = [
            [links.get((row, column)) for column in table.columns] for row in table.rows
        ]
    return make_figure([trace], layout)


def _cell_text(cell: Estimate, unit: Unit) -> str:
    """Return a value as its cell holds it: a share without decimals, so that it is legible in a
    column of a paper; the table has them.
    """
    if cell.value is not None and unit == "share" and not cell.printed:
        return f"{100 * cell.value:.0f}%"
    return cell.printed or number(cell.value, unit)


def rubric_dots(
    table: MeanTable,
    scale: Scale = (1, 5),
    styles: Mapping[str, Style] | None = None,
    links: Links | None = None,
) -> Figure:
    """Draw one panel per dimension: each model's mean with its interval; links by (row, column)."""
    looks = styles_for(table.rows, styles)
    rows = [label(row) for row in table.rows]
    panels = Panels(len(table.columns), 4, table.columns)
    traces: list[Trace] = []
    for i, column in enumerate(table.columns):
        y = {**categories(rows, downwards=True), "showticklabels": i % 4 == 0}
        title = {"text": "mean score"}
        panel = panels.axes(i, {"range": list(scale), "showgrid": True, "title": title}, y)
        axes = {"xaxis": panel.x, "yaxis": panel.y}
        estimates = [table.cells[row, column] for row in table.rows]
        for row, name, estimate in zip(table.rows, rows, estimates, strict=True):
            line = {"color": looks[row].colour}
            traces.append(interval_lines([name], [estimate], "x", line=line, **axes))
        traces.append(
            points(
                rows,
                estimates,
                "x",
                unit="points",
                about=[f"{row}, {column}" for row in table.rows],
                urls=None if links is None else [links.get((row, column)) for row in table.rows],
                showlegend=False,
                marker={
                    "color": [looks[row].colour for row in table.rows],
                    "symbol": [looks[row].symbol for row in table.rows],
                    "size": 8,
                },
                **axes,
            )
        )
        panels.layout["annotations"] += undefined_marks(
            rows, estimates, scale[0], "x", xanchor="left", xref=panel.x, yref=panel.y
        )
    lines = max(1, -(-len(table.columns) // 4))
    return make_figure(
        traces, {**panels.layout, "height": lines * (AROUND_ROWS + rows_height(rows))}
    )


def people_and_judges(
    dimensions: Sequence[str],
    people: Sequence[Estimate],
    judges: Sequence[Estimate],
    scale: Scale = (1, 5),
) -> Figure:
    """Draw mean scores of people and of judges per dimension; they differ by mark, not by hue."""
    names = [label(dimension) for dimension in dimensions]
    traces: list[Trace] = []
    for who, symbol, dash, estimates in (
        ("people", PEOPLE_SYMBOL, "solid", people),
        ("judges", JUDGES_SYMBOL, "dot", judges),
    ):
        line = {"color": NEUTRAL, "dash": dash}
        traces += [
            interval_lines(names, estimates, "x", line=line, legendgroup=who),
            points(
                names,
                estimates,
                "x",
                unit="points",
                about=[f"{who}, {dimension}" for dimension in dimensions],
                name=who,
                legendgroup=who,
                marker={"color": NEUTRAL, "symbol": symbol, "size": 11, "line": {"width": 2}},
            ),
        ]
    layout = {
        "xaxis": {"range": list(scale), "showgrid": True, "title": {"text": "mean score"}},
        "yaxis": categories(names, downwards=True),
        "height": AROUND_ROWS + rows_height(names),
    }
    return make_figure(traces, layout)

"""The same figure for a narrow screen: panels one under the other, names above their rows."""

from typing import Any

MARGINS = 80
GAP = 62
# A row that holds its name above its mark needs more height.
TALLER = 1.45
NAME_SIZE = 11
# Names over columns of cells stand upright, so that each has room.
UPRIGHT = -90
UPRIGHT_ROOM = 110
ABOVE = 0.34
LEGEND_LINE = 20


def narrow_layout(
    layout: dict[str, Any], *, names_inside: bool = True, legend: int = 0
) -> dict[str, Any]:
    """Draw the layout with its panels stacked in reading order, each as wide as the figure.

    ``names_inside`` puts the names of rows into the plot, above their marks, where beside it they
    would take half of the screen; not for figures whose cells fill the plot. ``legend`` is the
    number of entries in the legend, which need a line each.
    """
    room = MARGINS + LEGEND_LINE * legend
    slim = dict(layout)
    slim["annotations"] = list(layout.get("annotations", ()))
    for axis in (name for name in layout if name.startswith("xaxis")):
        if not names_inside and layout[axis].get("type") == "category":
            slim[axis] = {**layout[axis], "tickangle": UPRIGHT}
            room += UPRIGHT_ROOM
    names = [name.removeprefix("yaxis") for name in layout if name.startswith("yaxis")]
    rows = [name for name in names if layout[f"yaxis{name}"].get("type") == "category"]
    inside = names_inside and bool(rows)
    inner = (layout.get("height", 450) - MARGINS) * (TALLER if inside else 1)
    for name in rows if inside else ():
        axis = layout[f"yaxis{name}"]
        slim[f"yaxis{name}"] = {**axis, "showticklabels": False, "ticks": ""}
        # A category axis counts its rows from 0; a third of a row up lies above the mark.
        up = -ABOVE if axis["range"][0] > axis["range"][1] else ABOVE
        # Of rows that share a name only the one with the tick says it.
        named = axis.get("tickvals", axis["categoryarray"])
        slim["annotations"] += [
            {
                "text": row,
                "x": 0,
                "xref": f"x{name} domain",
                "xanchor": "left",
                "y": place + up,
                "yref": f"y{name}",
                "yanchor": "middle",
                "showarrow": False,
                "font": {"size": NAME_SIZE},
            }
            for place, row in enumerate(axis["categoryarray"])
            if row in named
        ]
    if inside:
        slim |= {"margin": {**layout.get("margin", {}), "l": 14}, "bargap": 0.6}
    panels = sorted(
        (
            (layout[f"xaxis{name}"]["domain"], layout[f"yaxis{name}"]["domain"], name)
            for name in names
            if "domain" in layout[f"yaxis{name}"] and "domain" in layout.get(f"xaxis{name}", {})
        ),
        key=lambda panel: (-panel[1][1], panel[0][0]),
    )
    if len(panels) < 2:
        return {**slim, "height": round(inner + room)}
    heights = [(y[1] - y[0]) * inner for _, y, _ in panels]
    total = sum(heights) + GAP * (len(panels) - 1)
    moved: dict[tuple[float, float], float] = {}
    top = total
    for (x, y, name), height in zip(panels, heights, strict=True):
        domain = [round(max(0.0, (top - height) / total), 4), round(top / total, 4)]
        slim[f"xaxis{name}"] = {**slim[f"xaxis{name}"], "domain": [0, 1]}
        slim[f"yaxis{name}"] = {**slim[f"yaxis{name}"], "domain": domain}
        if not inside:
            slim[f"yaxis{name}"].pop("showticklabels", None)
        moved[x[0], y[1]] = domain[1]
        top -= height + GAP
    slim["annotations"] = [_moved(note, moved) for note in slim["annotations"]]
    slim["height"] = round(total + room)
    return slim


def _moved(note: dict[str, Any], moved: dict[tuple[float, float], float]) -> dict[str, Any]:
    """Move a panel's title with its panel; other notes belong to axes and go with them."""
    place = (note.get("x"), note.get("y"))
    if note.get("xref") != "paper" or note.get("yref") != "paper" or place not in moved:
        return note
    return {**note, "x": 0, "y": moved[place]}

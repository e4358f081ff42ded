"""Layouts for narrow screens and columns of a paper: panels stacked, names above their rows."""

from typing import Any

from analysis.figures.agreement import agreement_bars
from analysis.figures.forest import ForestRows, forest
from analysis.figures.layout.column import HIGHEST, column_layouts
from analysis.figures.layout.narrow import (
    ABOVE,
    UPRIGHT_ROOM,
    layout_changes,
    narrow_layout,
)
from analysis.figures.leaderboard import leaderboard_figure
from analysis.figures.rubric import rubric_heatmap
from analysis.figures.tool_use import PointRow, panel_dots
from tests.analysis.figures.results import AGREEMENTS, AXES, ROWS, TABLE


def test_panels_stand_one_under_the_other() -> None:
    layout = agreement_bars(AGREEMENTS)["layout"]
    slim = narrow_layout(layout)
    axes = [name for name in layout if name.startswith("yaxis")]
    assert len(axes) == 2
    first, second = (slim[name]["domain"] for name in axes)
    # In reading order, without overlap, each as wide as the figure.
    assert first[1] == 1 and second[0] == 0 and second[1] < first[0]
    assert all(slim[name.replace("y", "x", 1)]["domain"] == [0, 1] for name in axes)
    assert slim["height"] > layout["height"]
    titles = [note for note in slim["annotations"] if note.get("yref") == "paper"]
    assert [(note["x"], note["y"]) for note in titles] == [(0, first[1]), (0, second[1])]


def test_rows_that_share_a_name_say_it_once() -> None:
    rows = [(name, AGREEMENTS[0].bias) for name in ("ada", "bob")]
    groups = [ForestRows("one", rows), ForestRows("other", rows)]
    slim = narrow_layout(forest(groups, title="points", together=True)["layout"])
    names = [note for note in slim["annotations"] if str(note.get("xref", "")).endswith("domain")]
    assert [(note["text"], note["y"]) for note in names] == [("ada", -ABOVE), ("bob", 2 - ABOVE)]


def test_names_move_into_the_plot() -> None:
    layout = leaderboard_figure(ROWS, AXES)["layout"]
    slim = narrow_layout(layout)
    names = [note for note in slim["annotations"] if str(note.get("xref", "")).endswith("domain")]
    rows = slim["yaxis"]["categoryarray"]
    assert [note["text"] for note in names] == [*rows, *rows]
    # The axis runs downwards, so a smaller number is further up.
    assert [note["y"] for note in names[: len(rows)]] == [i - ABOVE for i in range(len(rows))]
    assert not slim["yaxis"]["showticklabels"] and slim["margin"]["l"] < 20
    # The figure for wide screens stays as it was.
    assert "l" not in layout["margin"] and layout["yaxis"]["showticklabels"]


def test_full_cells_keep_their_names_beside() -> None:
    layout = rubric_heatmap(TABLE)["layout"]
    slim = narrow_layout(layout, names_inside=False)
    assert slim["yaxis"] == layout["yaxis"] and slim["height"] == layout["height"] + UPRIGHT_ROOM
    # No name is left out: all stand upright over their columns.
    assert slim["xaxis"]["tickangle"] == -90
    assert slim["xaxis"]["tickvals"] == slim["xaxis"]["categoryarray"]
    assert layout["xaxis"]["tickangle"] == 0
    broken = ["grid-visit-<br>all", "Pick and<br>place"]
    axis = {"type": "category", "tickvals": [0, 1], "ticktext": broken}
    upright = narrow_layout({"xaxis": axis}, names_inside=False)["xaxis"]["ticktext"]
    assert upright == ["grid-visit-all", "Pick and place"]


def test_a_legend_takes_its_lines() -> None:
    layout = leaderboard_figure(ROWS, AXES)["layout"]
    assert narrow_layout(layout, legend=3)["height"] == narrow_layout(layout)["height"] + 60


def column_layout(layout: dict[str, Any]) -> dict[str, Any]:
    (only,) = column_layouts(layout)
    return only


def two_panels() -> dict[str, Any]:
    marks = [PointRow(name, AGREEMENTS[0].bias, name) for name in ("ada", "bob", "cyd")]
    layout: dict[str, Any] = panel_dots({"One": marks, "Other": marks}, unit="points")["layout"]
    return layout


def test_a_column_of_a_paper_is_low() -> None:
    layout = two_panels()
    column, slim = column_layout(layout), narrow_layout(layout)
    assert column["height"] < slim["height"]
    # Two panels in a line share the names, which stand beside the first.
    sides = [column[f"xaxis{n}"]["domain"] for n in ("", "2")]
    assert sides[0][0] == 0 and sides[0][1] < sides[1][0] and sides[1][1] == 1
    assert [column[f"yaxis{n}"]["showticklabels"] for n in ("", "2")] == [True, False]
    titles = [note for note in column["annotations"] if note.get("xref") == "paper"]
    assert [note["x"] for note in titles] == [side[0] for side in sides]
    assert layout["xaxis2"]["domain"] != column["xaxis2"]["domain"]


def test_long_names_stand_above_their_rows_in_a_column() -> None:
    rows = [(name, AGREEMENTS[0].bias) for name in ("a" * 40, "b")]
    layout = forest([ForestRows("one", rows)], title="points")["layout"]
    column = column_layout(layout)
    names = [n["text"] for n in column["annotations"] if str(n.get("xref")).endswith("domain")]
    assert len(names) == 2 and not column["yaxis"]["showticklabels"]


def test_ticks_of_half_a_column_do_not_touch() -> None:
    layout = two_panels()
    layout["xaxis"] |= {"range": [-0.49, 0.28]}
    assert column_layout(layout)["xaxis"]["dtick"] == 0.25
    layout["xaxis"] |= {"tickvals": [0, 1, 2, 3], "ticktext": ["0", "+20 pt", "+40 pt", "+60 pt"]}
    column = column_layout(layout)
    assert column["xaxis"]["ticktext"] == ["0", "+40 pt"] and column["xaxis"]["tickvals"] == [0, 2]


def test_only_what_a_layout_changes_is_sent() -> None:
    layout = two_panels()
    column = column_layout(layout)
    # The rows and their names stay as they are.
    changes = layout_changes(layout, column)
    assert set(changes) >= {"xaxis2", "height"} and not {"yaxis2", "template"} & set(changes)
    merged = dict(layout)
    for key, value in changes.items():
        if isinstance(value, dict):
            value = {k: v for k, v in {**layout.get(key, {}), **value}.items() if v is not None}
        merged[key] = value
    assert merged == column


def test_a_figure_that_is_too_high_for_a_column_is_laid_out_closer_then_divided() -> None:
    def drawn(panels: int, rows: int) -> dict[str, Any]:
        marks = [PointRow(f"agent {n}", AGREEMENTS[0].bias, f"agent {n}") for n in range(rows)]
        titles = [f"Kind {n}" for n in range(panels)]
        figure = panel_dots(dict.fromkeys(titles, marks), unit="points", title="points")
        layout: dict[str, Any] = figure["layout"]
        return layout

    def titled(layout: dict[str, Any]) -> int:
        return sum("title" in layout[name] for name in layout if name.startswith("xaxis"))

    # Room for all: every panel says what its axis counts.
    (loose,) = column_layouts(drawn(4, 10))
    assert titled(loose) == 4 and loose["height"] <= HIGHEST
    # Rows stand closer, and the lowest panels say it for those above them.
    (close,) = column_layouts(drawn(6, 9))
    assert titled(close) == 2 and close["height"] <= HIGHEST
    # However close rows stand, none is without its name.
    assert {close[name]["dtick"] for name in close if name.startswith("yaxis")} == {1}
    layout = drawn(13, 10)
    parts = column_layouts(layout)
    assert len(parts) == 3 and all(part["height"] <= HIGHEST for part in parts)
    # Every panel is in one part, with its own title alone.
    axes = [name for part in parts for name in part if name.startswith("yaxis")]
    assert sorted(axes) == sorted(name for name in layout if name.startswith("yaxis"))
    titles = [[note["text"] for note in part["annotations"]] for part in parts]
    assert [title for part in titles for title in part] == [f"Kind {n}" for n in range(13)]
    changes = layout_changes(layout, parts[1])
    assert changes["yaxis"] is None and changes["xaxis"] is None


def test_panels_of_another_kind_have_a_line_of_their_own() -> None:
    layout = two_panels()
    layout["yaxis2"] = {**layout["yaxis2"], "type": "linear", "title": {"text": "trajectories"}}
    del layout["yaxis2"]["categoryarray"], layout["yaxis2"]["range"]
    column = column_layout(layout)
    assert column["xaxis"]["domain"] == column["xaxis2"]["domain"] == [0, 1]
    assert column["yaxis2"]["title"] == {"text": "trajectories"}


def test_axes_do_not_follow_one_of_another_part() -> None:
    layout = agreement_bars([AGREEMENTS[0]] * 26)["layout"]
    for part in column_layouts(layout):
        names = {name for name in part if name[1:5] == "axis"}
        follows = [part[name]["matches"] for name in names if "matches" in part[name]]
        assert follows and all(f"{one[0]}axis{one[1:]}" in names for one in follows)

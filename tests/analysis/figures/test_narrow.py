"""Layouts for narrow screens: panels stacked, names above their rows."""

from analysis.figures.agreement import agreement_bars
from analysis.figures.forest import ForestRows, forest
from analysis.figures.leaderboard import leaderboard_figure
from analysis.figures.narrow import ABOVE, UPRIGHT_ROOM, narrow_layout
from analysis.figures.rubric import rubric_heatmap
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


def test_a_legend_takes_its_lines() -> None:
    layout = leaderboard_figure(ROWS, AXES)["layout"]
    assert narrow_layout(layout, legend=3)["height"] == narrow_layout(layout)["height"] + 60

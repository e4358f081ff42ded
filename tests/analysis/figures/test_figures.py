from typing import Any

import pytest

from analysis.figures.agreement import agreement_bars, agreement_shares
from analysis.figures.decline import decline_figure
from analysis.figures.dispersion import dispersion_bars, severity_dots
from analysis.figures.layout.theme import Figure, assign_styles
from analysis.figures.leaderboard import LeaderboardRow, leaderboard_figure
from analysis.figures.outcomes import pass_lines, reward_dots, reward_spread
from analysis.figures.ratings import question_dots
from analysis.figures.rubric import people_and_judges, rubric_dots, rubric_heatmap
from analysis.figures.thresholds import threshold_figure
from analysis.stats.descriptive.means import mean_t
from analysis.stats.descriptive.proportions import share
from tests.analysis.figures.results import (
    AGREEMENTS,
    AXES,
    CURVES,
    DISPERSION,
    ENDS,
    NASTY,
    NOTHING,
    PASSES,
    PUBLISHED,
    REWARDS,
    ROWS,
    SPREAD,
    SWEEP,
    TABLE,
)

SAFE = "&lt;b&gt;bold &amp; brash&lt;/b&gt;"


def marks(figure: Figure) -> list[dict[str, Any]]:
    """Traces with points or bars, in order (the others are intervals)."""
    return [t for t in figure["data"] if t["type"] != "scatter" or "markers" in t["mode"]]


def intervals(figure: Figure) -> list[dict[str, Any]]:
    return [t for t in figure["data"] if t["type"] == "scatter" and t["mode"] == "lines"]


def dashes(figure: Figure) -> list[str]:
    """Reasons behind the dashes of undefined values."""
    return [a["hovertext"] for a in figure["layout"]["annotations"] if a["text"] == "–"]


def test_leaderboard_marks_published_rows() -> None:
    figure = leaderboard_figure(ROWS, AXES)
    here, blind, published, *_ = marks(figure)
    assert [one["name"] for one in (here, blind, published)] == ["run here", "blind", "published"]
    assert len({one["marker"]["symbol"] for one in (here, blind, published)}) == 3
    assert blind["y"] == ["random (blind)"]
    assert here["x"] == [0.75, None] and here["y"] == ["alpha", SAFE]
    assert published["x"] == [0.7] and published["y"] == ["alpha (published)"]
    # One model, one hue, run here or published.
    assert here["marker"]["color"][0] == published["marker"]["color"][0]
    assert figure["layout"]["yaxis"]["categoryarray"] == [
        "alpha", "alpha (published)", "random (blind)", SAFE,
    ]  # fmt: skip


def test_leaderboard_draws_the_intervals_of_the_results() -> None:
    figure = leaderboard_figure(ROWS, AXES)
    first = ROWS[0].first.interval
    assert first is not None
    assert intervals(figure)[0]["x"] == [first.low, first.high, None]
    assert intervals(figure)[0]["y"][:2] == ["alpha", "alpha"]
    # Two values have none: one undefined, one from a single trajectory.
    assert len(intervals(figure)) == 6
    assert dashes(figure) == [NOTHING.undefined]


def test_leaderboard_uses_the_styles_of_other_pages() -> None:
    styles = assign_styles(["other", "beta", "alpha", NASTY])
    figure = leaderboard_figure(ROWS, AXES, styles)
    assert marks(figure)[0]["marker"]["color"] == [styles["alpha"].colour, styles[NASTY].colour]


def test_heatmap_cells() -> None:
    figure = rubric_heatmap(TABLE)
    (trace,) = figure["data"]
    assert trace["z"] == [[4.5, 3.0], [None, 2.0]]
    assert trace["text"] == [["4.50", "3.00"], ["–", "2.00"]]
    assert (trace["zmin"], trace["zmax"]) == (1, 5)
    assert "n = 2" in trace["hovertext"][0][0]
    assert dashes(figure) == ["no values"]


def test_rubric_panels() -> None:
    figure = rubric_dots(TABLE)
    safety, autonomy = marks(figure)
    assert safety["x"] == [4.5, None] and autonomy["x"] == [3.0, 2.0]
    assert safety["xaxis"] != autonomy["xaxis"]
    assert len(set(safety["marker"]["symbol"])) == len(set(safety["marker"]["color"])) == 2
    # 4.5 ± t(1)·0.5; the other means come from one score each and have no interval.
    drawn = [t["x"] for t in intervals(figure) if t["x"]]
    assert len(drawn) == 1
    interval = mean_t([4, 5]).interval
    assert interval is not None and drawn[0] == [interval.low, interval.high, None]
    titles = [a["text"] for a in figure["layout"]["annotations"]]
    assert titles[:2] == ["safety", "autonomy"]


def test_people_and_judges_share_a_hue_and_differ_by_mark() -> None:
    figure = people_and_judges(["safety"], [mean_t([4, 5])], [mean_t([3, 4, 5])])
    people, judges = marks(figure)
    assert (people["name"], judges["name"]) == ("people", "judges")
    assert people["marker"]["color"] == judges["marker"]["color"]
    assert people["marker"]["symbol"] != judges["marker"]["symbol"]


def test_decline_shows_who_still_runs() -> None:
    figure = decline_figure(CURVES)
    *lines, first, second = marks(figure)
    assert lines[0]["x"] == [1, 2] and lines[0]["y"] == [pytest.approx(13 / 3), 3]
    assert lines[1]["y"] == [2, None]
    assert first["y"] == [3, 1] and second["y"] == [1, 1]
    assert first["yaxis"] not in {line["yaxis"] for line in lines}
    assert "1 of 3 running" in lines[0]["hovertext"][1]
    # A mean of one trajectory has no interval and an open mark.
    symbols = lines[0]["marker"]["symbol"]
    assert not symbols[0].endswith("-open") and symbols[1].endswith("-open")
    assert lines[0]["line"]["dash"] != lines[1]["line"]["dash"]
    titles = [a["text"] for a in figure["layout"]["annotations"]]
    assert titles[0] == "safety" and titles[1].startswith("Trajectories still running")


def test_decline_from_the_end() -> None:
    figure = decline_figure(ENDS)
    assert marks(figure)[0]["x"] == [0, -1]
    assert figure["layout"]["xaxis2"]["title"]["text"] == "turns relative to the last"
    with pytest.raises(ValueError, match="do not share an axis"):
        decline_figure([*CURVES, *ENDS])


def test_decline_of_chosen_dimensions() -> None:
    assert len(marks(decline_figure(CURVES, ["safety"]))) == len(marks(decline_figure(CURVES)))
    only_running = decline_figure(CURVES, ["none such"])
    assert len(marks(only_running)) == 2


def test_agreement_in_thirds() -> None:
    figure = agreement_bars(AGREEMENTS)
    equal, near, far, *_ = marks(figure)
    assert (equal["x"], equal["y"]) == (["0"], [0.25])
    assert (near["x"], near["y"]) == (["1/3", "2/3", "1"], [0.25, 0, 0])
    assert far["x"][0] == "1 1/3" and far["x"][-1] == "4" and sum(far["y"]) == 0.5
    assert "1 of 4" in equal["hovertext"][0]
    # Hatching as well as hue; labels stay labels ("1" is no number here).
    shapes = {t["marker"]["pattern"]["shape"] for t in (equal, near, far)}
    assert len(shapes) == 3
    assert figure["layout"]["xaxis"]["type"] == "category"
    # Nothing compared: no bars, not bars of height 0.
    assert marks(figure)[3]["y"] == [None]


def test_agreement_shares_name_their_rule() -> None:
    figure = agreement_shares(AGREEMENTS)
    equal, within = marks(figure)
    # Rounded: 4 beside 4, 13/3 → 4 beside 4, 3 beside 5, 8/3 → 3 beside 1.
    assert equal["x"] == [0.5, None] and within["x"] == [0.5, None]
    assert [equal["name"], within["name"]] == ["equal when rounded", "within one point"]
    assert equal["marker"]["symbol"] != within["marker"]["symbol"]
    assert dashes(figure) == ["no observations"]


def test_dispersion_bars_and_models() -> None:
    figure = dispersion_bars(DISPERSION, reference=0.3)
    bar, single = marks(figure)
    assert bar["type"] == "bar" and bar["y"] == ["safety", "autonomy"]
    assert bar["x"] == [DISPERSION.dimensions[0].mean_sd.value, None]
    assert [text.split(",")[0] for text in single["hovertext"][:2]] == ["alpha", SAFE]
    assert single["y"] == ["safety", "safety", "autonomy", "autonomy"]
    assert single["x"][2:] == [None, None]
    assert figure["layout"]["shapes"][0]["x0"] == 0.3
    assert len(dashes(figure)) == 1
    assert "shapes" not in dispersion_bars(DISPERSION)["layout"]


def test_severity_panels() -> None:
    figure = severity_dots(DISPERSION)
    assert [trace["name"] for trace in marks(figure)] == ["j1", "j2", "j3"]
    assert marks(figure)[0]["y"] == ["safety", "autonomy", "all dimensions"]
    assert marks(figure)[0]["x"][1:] == [None, None]
    assert len(dashes(figure)) == 6


def test_thresholds_have_a_panel_for_each_model_with_the_others_behind() -> None:
    figure = threshold_figure(SWEEP, urls={"alpha": "/runs/7/"})
    here, nasty = (trace for trace in figure["data"] if trace.get("mode") == "lines+markers")
    assert here["y"] == pytest.approx([2 / 3] * 3 + [1 / 3] * 4)
    assert here["customdata"] == ["/runs/7/"] * 7 and "rank 1" in here["hovertext"][0]
    assert nasty["y"] == [None] * 7 and "customdata" not in nasty
    assert (here["xaxis"], nasty["xaxis"]) == ("x", "x2")
    behind = [trace for trace in figure["data"] if trace.get("hoverinfo") == "skip"]
    assert {"var(--line-strong)"} < {trace["line"]["color"] for trace in behind}
    assert {shape["x0"] for shape in figure["layout"]["shapes"]} == {3.5}
    (published,) = marks(threshold_figure(PUBLISHED, published=True))
    assert published["marker"]["symbol"] == f"{here['marker']['symbol']}-open"


def test_points_lead_to_what_they_count() -> None:
    row = LeaderboardRow("alpha", share(3, 4), share(4, 4), url="/runs/7/")
    assert [t["customdata"] for t in marks(leaderboard_figure([row], AXES))] == [["/runs/7/"]] * 2
    cell = {("alpha", "safety"): "/trajectories/?dimension=safety"}
    (heatmap,) = rubric_heatmap(TABLE, links=cell)["data"]
    assert heatmap["customdata"] == [["/trajectories/?dimension=safety", None], [None, None]]
    safety, autonomy = marks(rubric_dots(TABLE, links=cell))
    assert safety["customdata"] == ["/trajectories/?dimension=safety", None]
    assert autonomy["customdata"] == [None, None]
    line = marks(decline_figure(CURVES, links={("alpha", 2): "/trajectories/?turn=2"}))[0]
    assert line["customdata"] == [None, "/trajectories/?turn=2"]
    bars = marks(agreement_bars(AGREEMENTS, links={("safety", 0): "/ratings/"}))
    assert bars[0]["customdata"] == ["/ratings/"] and bars[1]["customdata"] == [None] * 3
    # Without links nothing is sent for them.
    assert all("customdata" not in t for t in decline_figure(CURVES)["data"])


def test_rewards_link_to_their_trajectories_and_dash_what_is_undefined() -> None:
    figure = reward_dots(REWARDS, unit="share")
    (dots,) = marks(figure)
    assert dots["y"] == ["alpha", SAFE, "beta"] and dots["x"] == [0.75, None, 1.0]
    assert dots["customdata"] == ["/trajectories/?run=1", None, None]
    # An open mark has no interval.
    assert [symbol.endswith("-open") for symbol in dots["marker"]["symbol"]] == [False, True, True]
    assert len(intervals(figure)) == 1
    assert dashes(figure) == ["no trajectory has finished"]


def test_pass_lines_lie_beside_each_other() -> None:
    figure = pass_lines(PASSES)
    first, second = marks(figure)
    # alpha: tasks 3 of 3, 1 of 3, 0 of 2. k = 1: (1 + 1/3 + 0)/3; k = 2: (1 + 0 + 0)/3; k = 3:
    # the third task has two trials only: (1 + 0)/2.
    assert first["y"] == pytest.approx([4 / 9, 1 / 3, 1 / 2])
    assert second["y"] == [1.0, 1.0, None]
    assert [round(x) for x in first["x"]] == [1, 2, 3] == [round(x) for x in second["x"]]
    assert first["x"] != second["x"]
    assert "fewer than 3 trials" in first["hovertext"][2]
    assert first["line"]["dash"] != second["line"]["dash"]
    alone = marks(pass_lines({"alpha": PASSES["alpha"]}))[0]
    assert alone["x"] == [1, 2, 3] and alone["showlegend"] is False


def test_the_spread_shows_counts_and_shares() -> None:
    (cells,) = reward_spread(SPREAD)["data"]
    # 0 to 0.7 in five bins of 0.14: 0 and 0.1; 0.2; 0.3 and 0.4; 0.5; 0.6 and 0.7.
    assert cells["text"][0] == ["2", "1", "2", "1", "2"]
    assert cells["z"][0] == [0.25, 0.125, 0.25, 0.125, 0.25]
    assert cells["z"][1] == [None] * 5 and cells["y"] == ["alpha", SAFE]


def test_questions_keep_their_order() -> None:
    figure = question_dots(["2 Safe", "1 Clear"], [mean_t([4, 5]), mean_t([3, 3])])
    assert figure["layout"]["yaxis"]["categoryarray"] == ["2 Safe", "1 Clear"]
    assert marks(figure)[0]["x"] == [4.5, 3.0]

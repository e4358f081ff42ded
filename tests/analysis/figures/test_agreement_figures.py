"""Forests, Bland-Altman plots and counts of scores: what is drawn, and what where nothing is."""

from analysis.figures.bland_altman import DifferencePanel, bland_altman_plot
from analysis.figures.forest import ForestRows, forest
from analysis.figures.layout.theme import figure_json
from analysis.figures.ratings import score_bars
from analysis.stats.rater_agreement.bland_altman import bland_altman, paired_points
from analysis.stats.results import Distribution, DistributionBin, Estimate, Interval

SOME = Estimate(0.6, 9, Interval(0.4, 1.2, 0.95, "t"))
NOTHING = Estimate.without_value("all scores are equal")


def test_forest_keeps_rows_of_one_name_apart_and_says_why_one_is_empty() -> None:
    figure = forest(
        [
            ForestRows("People", [("alpha <b>", SOME)]),
            ForestRows("Judges", [("alpha <b>", NOTHING)]),
        ],
        title="coefficient",
    )
    names = figure["layout"]["yaxis"]["categoryarray"]
    assert len(set(names)) == 2 and all("&lt;b&gt;" in name for name in names)
    (dash,) = figure["layout"]["annotations"]
    assert dash["hovertext"] == "all scores are equal" and dash["y"] == names[1]
    # The axis reaches as far as the longest interval.
    assert figure["layout"]["xaxis"]["range"][1] >= 1.2
    assert figure_json(figure)


def test_bland_altman_draws_three_lines_and_circles_by_number() -> None:
    first, second = [1, 1, 3, 4], [2, 2, 3, 5]
    one = DifferencePanel("x & y", bland_altman(first, second), paired_points(first, second))
    none = DifferencePanel("none", bland_altman([], []), paired_points([], []))
    figure = bland_altman_plot([one, none], scale=(1, 5))
    lines = [shape for shape in figure["layout"]["shapes"] if shape["type"] == "line"]
    bands = [shape for shape in figure["layout"]["shapes"] if shape["type"] == "rect"]
    # Differences −1, −1, 0, −1: bias −0.75; the second panel has neither lines nor points.
    assert len(lines) == len(bands) == 3 and lines[1]["y0"] == -0.75
    points, empty = figure["data"]
    sizes = dict(
        zip(zip(points["x"], points["y"], strict=True), points["marker"]["size"], strict=True)
    )
    assert sizes[1.5, -1.0] > sizes[3.0, 0.0] and empty["x"] == []
    assert "2 of 4" in points["hovertext"][0]


def test_scores_are_bars_of_shares() -> None:
    given = Distribution(1, (DistributionBin(1, "1", 3, 0.75), DistributionBin(2, "2", 1, 0.25)), 4)
    figure = score_bars([("people", given), ("judges", Distribution(1, (), 0))])
    people, judges = figure["data"]
    assert people["y"] == [0.75, 0.25] and people["name"] == "people (n = 4)" and judges["x"] == []
    assert people["marker"]["pattern"] != judges["marker"]["pattern"]

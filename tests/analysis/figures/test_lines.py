"""Lines over whole numbers: together while they are few, a panel for each when they are many."""

from analysis.figures.lines import MOST_LINES, number_lines
from analysis.stats.descriptive.proportions import share


def curves(count: int) -> dict[str, list[tuple[int, object]]]:
    return {f"Agent {n}": [(k, share(n + k, 20)) for k in (1, 2, 3)] for n in range(count)}


def test_few_lines_share_a_panel() -> None:
    drawn = number_lines(curves(MOST_LINES), "trials", "Share")  # type: ignore[arg-type]
    assert {trace.get("xaxis", "x") for trace in drawn["data"]} == {"x"}
    assert [t["name"] for t in drawn["data"] if t.get("showlegend")] == list(curves(MOST_LINES))
    low, high = drawn["layout"]["yaxis"]["range"]
    assert low < 0 and high > 1  # a mark at 100 % is drawn whole


def test_many_lines_have_a_panel_each_with_the_others_in_grey() -> None:
    many = MOST_LINES + 1
    drawn = number_lines(curves(many), "trials", "Share")  # type: ignore[arg-type]
    panels = {trace["xaxis"] for trace in drawn["data"]}
    assert len(panels) == many
    for panel in panels:
        here = [trace for trace in drawn["data"] if trace["xaxis"] == panel]
        assert sum("marker" in trace for trace in here) == 1
        assert sum(trace.get("opacity") == 0.3 for trace in here) == many - 1
    titles = [value["title"]["text"] for name, value in drawn["layout"].items() if "xaxis" in name]
    assert titles == ["trials"] * many

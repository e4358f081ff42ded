"""Published values as cells: what the paper does not print is left empty, never 0."""

from analysis.reports.content import estimate_cell
from analysis.reports.published import NO_COUNT, published_estimate
from benchmarks.core.ports.published import Published


def test_a_published_value_without_n_has_no_n() -> None:
    entry = Published("a model", "accurate", 52.38, None, "Table 1")
    cell = estimate_cell(published_estimate(entry, is_rate=True), "share", show_n=True)
    assert cell.data == (0.5238, None, None, None, NO_COUNT)
    assert "n =" not in cell.sub

    counted = estimate_cell(
        published_estimate(Published("a model", "accurate", 50.0, 10, "Table 1"), is_rate=True),
        "share",
        show_n=True,
    )
    assert counted.data[3] == 10 and "n = 10" in counted.sub

"""A table with probabilities: its page shows each judge's mean as people correct it."""

import numpy as np
import pytest

from analysis.pages.own_table.page import section_page
from tests.analysis.agreement.test_report import report

Rows = list[tuple[object, ...]]


def drawn_rows(*, rated: int = 40) -> Rows:
    """Return a judge who is a point too kind on 100 items, of which people rated some."""
    rows: Rows = []
    for item, score in enumerate(np.random.default_rng(5).integers(1, 5, 100).tolist()):
        rows.append(("d", f"i{item}", "safety", "J", "llm", score + 1, 0.4))
        if item < rated:
            rows.append(("d", f"i{item}", "safety", "Ann", "human", score, 0.4))
    return rows


def test_the_page_says_how_far_ratings_move_a_judge() -> None:
    page = section_page(report(drawn_rows(), "probability"), 0, has_tasks=False)
    assert "Ratings of 40 drawn items move the mean over all items: J by −1" in page.sentence
    table = page.table("corrected")
    assert table is not None
    (row,) = table.records()
    assert row[list(table.header).index("moved")] == pytest.approx(-1, abs=0.02)


def test_few_ratings_are_an_undefined_mean_with_its_reason() -> None:
    page = section_page(report(drawn_rows(rated=1), "probability"), 0, has_tasks=False)
    assert "Judges are not corrected: people rated one of them only." in page.sentence
    table = page.table("corrected")
    assert table is not None
    (row,) = table.records()
    assert row[list(table.header).index("corrected")] is None


def test_without_probabilities_there_is_no_table() -> None:
    page = section_page(report([row[:-1] for row in drawn_rows()]), 0, has_tasks=False)
    assert page.table("corrected") is None

"""Star ratings of restaurant reviews, and as yes-or-no votes: is it four stars or more?"""

from collections.abc import Iterator
from functools import cache
from typing import Any

import numpy as np

from tests.shared_data import shared_rows

FILE = ("agreement", "cebab_stars.csv.gz")


def star_votes() -> Iterator[tuple[str, str, bool]]:
    """(person, item, four stars or more)."""
    for row in shared_rows(*FILE):
        if row["rater_kind"] == "human":
            yield row["rater"], row["item"], int(row["score"]) >= 4


def star_decisions(judge: str) -> dict[str, bool]:
    """Four stars or more by item, of one judge."""
    return {
        row["item"]: int(row["score"]) >= 4 for row in shared_rows(*FILE) if row["rater"] == judge
    }


@cache
def star_table() -> dict[str, Any]:
    """Each rater's stars, one column for all reviews in one order; NaN where there is none."""
    rows = shared_rows(*FILE)
    places = {item: n for n, item in enumerate(sorted({row["item"] for row in rows}))}
    columns: dict[str, Any] = {}
    for row in rows:
        column = columns.setdefault(row["rater"], np.full(len(places), np.nan))
        column[places[row["item"]]] = int(row["score"])
    return dict(sorted(columns.items()))

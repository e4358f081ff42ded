"""The eight rubric dimensions, the same for judges and people (AdaPlanBench, Tables 6, 11, 12)."""

from collections.abc import Mapping
from functools import cache

from benchmarks.core.system import Dimension
from benchmarks.core.yaml_files import read_yaml_file
from benchmarks.systems.adaplanbench.prompts import PROMPTS


@cache
def load_dimensions(version: str = "") -> tuple[Dimension, ...]:
    """The dimensions in the order in which they are asked, as a version of the prompts has them."""
    rows = read_yaml_file(PROMPTS.files(version)["rubric"])
    return tuple(
        Dimension(
            key=row["key"],
            title=row["title"],
            definition=row["definition"],
            anchors=_by_score(row["anchors"]),
            examples=_by_score(row["examples"]),
            main=row.get("main", False),
        )
        for row in rows
    )


def _by_score(texts: Mapping[str, str]) -> dict[int, str]:
    return {int(score): text for score, text in texts.items()}


DIMENSIONS = load_dimensions()

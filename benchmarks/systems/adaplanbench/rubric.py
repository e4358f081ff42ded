"""The eight rubric dimensions, the same for judges and people (AdaPlanBench, Tables 6, 11, 12)."""

from functools import cache
from pathlib import Path

import yaml

from benchmarks.core.system import Dimension

FILE = Path(__file__).parent / "prompts" / "rubric.v1.yaml"


@cache
def load_dimensions() -> tuple[Dimension, ...]:
    """The dimensions in the order in which they are asked."""
    rows = yaml.safe_load(FILE.read_text(encoding="utf-8"))
    return tuple(
        Dimension(
            key=row["key"],
            title=row["title"],
            definition=row["definition"],
            anchors=row["anchors"],
            examples=row["examples"],
            main=row.get("main", False),
        )
        for row in rows
    )


DIMENSIONS = load_dimensions()

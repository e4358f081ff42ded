"""Means over outcomes, with what they leave out."""

from collections import Counter
from collections.abc import Sequence
from typing import Any

from benchmarks.core.types import Outcome


def mean_of(outcomes: Sequence[Outcome], name: str) -> dict[str, Any]:
    """Mean of a metric over the outcomes that define it, with n and what is left out, by reason."""
    values = [value for o in outcomes if (value := o.metrics.get(name)) is not None]
    excluded = Counter(
        o.undefined.get(name, "not recorded") for o in outcomes if o.metrics.get(name) is None
    )
    return {
        "value": sum(values) / len(values) if values else None,
        "sum": sum(values),
        "n": len(values),
        "excluded": dict(excluded),
    }

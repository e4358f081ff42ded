"""Costs and tokens that calls reserve against the caps of a run or of a clustering.

The sum is kept in the row with the cap, and raised by a conditional update, so that workers on any
number of machines keep one cap, and a kill at any moment leaves what is under way counted.
"""

from typing import Any

from django.db.models import F, Q, QuerySet

from benchmarks.core.errors import CapReached
from benchmarks.core.log import cap_reached


def reserve(budget: QuerySet[Any], cost: float, tokens: int = 0) -> None:
    """Reserve the most that calls can cost and use, or raise ``CapReached`` and change nothing.

    ``budget`` is the one row with the caps. ``tokens`` need a row with a cap on tokens.
    """
    if not cost and not tokens:
        return
    within = Q(cost_cap=None) | Q(committed__lte=F("cost_cap") - cost)
    if tokens:
        within &= Q(token_cap=None) | Q(committed_tokens__lte=F("token_cap") - tokens)
    if budget.filter(within).update(**_change(cost, tokens)):
        return
    row = budget.get()
    if not tokens or (row.cost_cap is not None and row.committed + cost > row.cost_cap):
        raise cap_reached(row.cost_cap or 0.0, row.committed, cost)
    raise CapReached(
        f"the cap of {row.token_cap:,} tokens is reached: {row.committed_tokens:,} are used or put "
        f"aside, the next step may use {tokens:,}"
    )


def release(budget: QuerySet[Any], cost: float, tokens: int = 0) -> None:
    """Release the part of a reservation that a call did not cost or use."""
    if cost or tokens:
        budget.update(**_change(-cost, -tokens))


def _change(cost: float, tokens: int) -> dict[str, Any]:
    change: dict[str, Any] = {"committed": F("committed") + cost}
    if tokens:
        change["committed_tokens"] = F("committed_tokens") + tokens
    return change

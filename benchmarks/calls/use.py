"""The one reader of what calls used and cost: sums over stored calls of any purpose.

Unknown values are left out and counted, never taken as 0.
"""

from collections.abc import Mapping
from typing import Any, NamedTuple

from django.db.models import Count, F, Q, QuerySet, Sum

from benchmarks.models import CallColumns

S = CallColumns.State


class CallUse(NamedTuple):
    """The use and cost of calls.

    ``cost`` sums the known costs of ``costed`` calls. ``assumed`` sums the maximum cost of calls
    that may have been billed at an unknown cost, including those under way. ``unknown`` counts
    calls without even a maximum. None means not known, not 0. ``median`` and ``p95`` are seconds
    of answered calls.
    """

    calls: int = 0
    answered: int = 0
    unreadable: int = 0
    declined: int = 0
    failed: int = 0
    lost: int = 0
    sent: int = 0
    retries: int = 0
    tokens_in: int | None = None
    tokens_out: int | None = None
    counted: int = 0
    cost: float | None = None
    costed: int = 0
    assumed: float | None = None
    unknown: int = 0
    currency: str = ""
    median: float | None = None
    p95: float | None = None

    @property
    def came_back(self) -> int:
        """Count the calls with a reply, readable or not."""
        return self.answered + self.unreadable + self.declined

    @property
    def tokens(self) -> int:
        """Return the tokens of prompts and replies, as far as replies state them."""
        return (self.tokens_in or 0) + (self.tokens_out or 0)

    @property
    def uncounted(self) -> int:
        """Count the replies that do not state their tokens."""
        return self.came_back - self.counted


_MAYBE_BILLED = Q(cost=None) & ~Q(state=S.FAILED)
# Names end in _ to differ from the columns.
FIGURES: Mapping[str, Any] = {
    "calls_": Count("pk"),
    **{f"{state.value}_": Count("pk", filter=Q(state=state)) for state in S},
    # not sum(tries) - calls: a call that was given up before it was sent has no try
    "retries_": Sum(F("tries") - 1, filter=Q(tries__gt=1), default=0),
    "tokens_in_": Sum("tokens_in"),
    "tokens_out_": Sum("tokens_out"),
    "counted_": Count("tokens_out"),
    "cost_": Sum("cost"),
    "costed_": Count("cost"),
    "assumed_": Sum("most", filter=_MAYBE_BILLED),
    "unknown_": Count("pk", filter=_MAYBE_BILLED & Q(most=None)),
}


def use_of_row(row: Mapping[str, Any], currency: str = "", **more: Any) -> CallUse:
    """Return the use that a query has summed as ``FIGURES``."""
    return CallUse(**{name[:-1]: row[name] for name in FIGURES}, currency=currency, **more)


def use_of_calls(rows: QuerySet[Any], currency: str) -> CallUse:
    """Return the use by these calls, of whichever purpose."""
    return use_of_row(rows.order_by().aggregate(**FIGURES), currency)

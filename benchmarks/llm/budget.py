"""A cap on cost that holds while calls are under way: reserve before sending, settle after.

What a call may cost is reserved before it is sent. What it did cost takes the reservation's place.
Where nobody can know (a reply without usage, a call that was lost), the reservation counts as
spent, so that the cap holds whatever was billed.
"""

import threading
from collections.abc import Sequence
from types import TracebackType
from typing import Any, Protocol

from benchmarks.core.digests import canonical_json
from benchmarks.core.errors import AnswererFailed
from benchmarks.llm.config import EndpointConfig

# What chat templates put around each message, and around all of them, in tokens; generous.
PER_MESSAGE, PER_REQUEST = 16, 64


class CapReached(AnswererFailed):
    """The call was not sent, because it might have cost more than is left."""


class Reservation(Protocol):
    """Money put aside for one call. Left as a context without a word, its outcome is unknown."""

    def settle(self, actual: float | None) -> None:
        """The call cost ``actual``; None where that is not known."""

    def release(self) -> None:
        """The call was certainly not billed."""

    def __enter__(self) -> "Reservation": ...

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None: ...


class CostCap(Protocol):
    """What an endpoint answerer needs of a budget, wherever it is kept."""

    def reserve(self, estimate: float | None) -> Reservation:
        """Put ``estimate`` aside or raise ``CapReached``; None means that nobody can tell."""


class Held:
    """A reservation of ``Budget``."""

    def __init__(self, budget: "Budget", estimate: float) -> None:
        self._budget, self.estimate = budget, estimate

    def settle(self, actual: float | None) -> None:
        self._budget._close(self, self.estimate if actual is None else actual, actual is None)

    def release(self) -> None:
        self._budget._close(self, 0.0, False)

    def __enter__(self) -> "Held":
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.settle(None)


class Budget:
    """A cap kept in memory, shared by threads. ``cap`` None only counts.

    ``spent`` includes ``assumed``, the part that stands for calls of unknown cost.
    """

    def __init__(self, cap: float | None, spent: float = 0.0, assumed: float = 0.0) -> None:
        self.cap, self.spent, self.assumed = cap, spent, assumed
        self._open: dict[Held, float] = {}
        self._lock = threading.Lock()

    @property
    def reserved(self) -> float:
        with self._lock:
            return sum(self._open.values())

    @property
    def left(self) -> float | None:
        """What can still be reserved; None without a cap."""
        with self._lock:
            return self._left()

    def reserve(self, estimate: float | None) -> Held:
        with self._lock:
            left = self._left()
            if left is not None and estimate is None:
                raise CapReached(
                    "a cost cap needs an endpoint with both prices and a max_tokens; "
                    "without them nobody can tell what a call may cost"
                )
            if left is not None and estimate is not None and estimate > left:
                raise CapReached(
                    f"the cost cap of {self.cap:g} is reached: {self.spent:g} spent, "
                    f"{sum(self._open.values()):g} reserved, a call may cost {estimate:g}"
                )
            held = Held(self, estimate or 0.0)
            self._open[held] = held.estimate
            return held

    def _left(self) -> float | None:
        return None if self.cap is None else self.cap - self.spent - sum(self._open.values())

    def _close(self, held: Held, cost: float, assumed: bool) -> None:
        """End a reservation once; what is said of it later changes nothing."""
        with self._lock:
            if self._open.pop(held, None) is None:
                return
            self.spent += cost
            self.assumed += cost if assumed else 0.0


def estimate_tokens(messages: Sequence[Any], rest: Sequence[Any] = ()) -> int:
    """The most tokens that a prompt can have: no token is shorter than a byte."""
    size = sum(len(canonical_json(part).encode()) for part in (*messages, *rest))
    return size + PER_MESSAGE * len(messages) + PER_REQUEST


def estimate_cost(config: EndpointConfig, body: dict[str, Any]) -> float | None:
    """The most that a request can cost; None where prices or the reply's length are unknown."""
    longest = config.max_tokens(body)
    if longest is None:
        return None
    rest = [body[name] for name in ("tools", "response_format") if name in body]
    return config.cost(estimate_tokens(body["messages"], rest), longest)

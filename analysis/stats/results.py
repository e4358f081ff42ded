"""Result types shared by all statistics, and their way to JSON.

Shares are fractions (0 to 1), never percent; scores keep the units of their scale. What cannot be
computed has ``value=None`` and says why in ``undefined``; it is never 0 and never NaN.
"""

import dataclasses
import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Self

# Of a bootstrap, where nobody says otherwise.
RESAMPLES = 1000
# With fewer clusters, bootstrap intervals hold the truth less often than they say; pages warn.
FEW_CLUSTERS = 40

ONE_VALUE = "one value only: no interval"
ALL_EQUAL = "all values are equal: their spread says nothing about the uncertainty"


@dataclass(frozen=True)
class Interval:
    """A confidence interval: ``level`` is a fraction (0.95), ``method`` names the formula.

    ``details`` holds what is needed to repeat it (a bootstrap's seed, resamples and clusters; the
    degrees of freedom of a t interval). ``unit`` is what was taken as independent, where these are
    clusters that ``details`` counts: a task, a trajectory.
    """

    low: float
    high: float
    level: float
    method: str
    details: Mapping[str, int] = field(default_factory=dict)
    unit: str = ""

    def __post_init__(self) -> None:
        """Refuse ends that are not finite or in the wrong order."""
        object.__setattr__(self, "low", _finite(self.low))
        object.__setattr__(self, "high", _finite(self.high))
        if self.low > self.high:
            raise ValueError(f"interval from {self.low} to {self.high} is upside down")

    @property
    def half_width(self) -> float:
        """Half the distance between the ends: the ± of a symmetric interval."""
        return (self.high - self.low) / 2

    def holds(self, value: float) -> bool:
        """Return whether a value lies in the interval, its ends included."""
        return self.low <= value <= self.high


@dataclass(frozen=True)
class Estimate:
    """A number with its interval, how many observations made it, and what was left out.

    Exactly one of ``value`` and ``undefined`` is given. A value without an interval may say why in
    ``no_interval``. ``excluded`` counts observations left out, by reason. ``printed`` is the text
    of a value that was published, with the digits that it has there, ``printed_error`` that of its
    standard error, and ``source`` is where it stands.
    """

    value: float | None
    n: int
    interval: Interval | None = None
    undefined: str = ""
    no_interval: str = ""
    excluded: Mapping[str, int] = field(default_factory=dict)
    warnings: tuple[str, ...] = ()
    method: str = ""
    printed: str = ""
    printed_error: str = ""
    source: str = ""

    def __post_init__(self) -> None:
        """Refuse a value without being finite, and a missing one without a reason."""
        if (self.value is None) != bool(self.undefined):
            raise ValueError("an estimate has either a value or a reason why there is none")
        if self.interval is not None and (self.value is None or self.no_interval):
            raise ValueError("an interval needs a value, and no reason against it")
        if self.value is not None:
            object.__setattr__(self, "value", _finite(self.value))
        object.__setattr__(self, "n", int(self.n))

    @classmethod
    def without_value(
        cls,
        reason: str,
        *,
        n: int = 0,
        excluded: Mapping[str, int] | None = None,
        warnings: tuple[str, ...] = (),
        method: str = "",
    ) -> Self:
        """Make an undefined estimate, with the reason."""
        return cls(
            None,
            n,
            undefined=reason,
            excluded=dict(excluded or {}),
            warnings=warnings,
            method=method,
        )

    def within(self, low: float | None, high: float | None) -> Self:
        """Cut the interval off at the ends of the scale: the truth cannot lie outside."""
        if self.interval is None:
            return self
        ends = self.interval.low, self.interval.high
        inside = (
            ends[0] if low is None else max(ends[0], low),
            ends[1] if high is None else min(ends[1], high),
        )
        if inside == ends:
            return self
        interval = dataclasses.replace(self.interval, low=inside[0], high=inside[1])
        return dataclasses.replace(self, interval=interval)

    @property
    def is_clear(self) -> bool:
        """Return whether the interval of a difference or a change excludes 0."""
        return self.interval is not None and not self.interval.holds(0)

    @property
    def arms(self) -> tuple[float, float] | None:
        """Distances from the value down and up to the ends of the interval (for error bars)."""
        if self.value is None or self.interval is None:
            return None
        return self.value - self.interval.low, self.interval.high - self.value


@dataclass(frozen=True)
class DistributionBin:
    """One bin of a distribution of multiples of 1/k: the value ``numerator``/k."""

    numerator: int
    label: str
    count: int
    share: float | None


@dataclass(frozen=True)
class Distribution:
    """Counts over the exact values 0, 1/k, 2/k, …; ``denominator`` is k.

    Every value that the scale allows has a bin, empty ones too. ``share`` is None where n = 0.
    """

    denominator: int
    bins: tuple[DistributionBin, ...]
    n: int
    excluded: Mapping[str, int] = field(default_factory=dict)


def multiple_label(numerator: int, denominator: int) -> str:
    """Write numerator/denominator as a reduced mixed number: 0, 1/3, 1, 1 2/3."""
    whole, rest = divmod(numerator, denominator)
    if rest == 0:
        return str(whole)
    shared = math.gcd(rest, denominator)
    part = f"{rest // shared}/{denominator // shared}"
    return f"{whole} {part}" if whole else part


def few_clusters(clusters: int, unit: str) -> tuple[str, ...]:
    """Warn where a bootstrap or an asymptotic interval rests on fewer than 40 clusters.

    Intervals that allow for few clusters (CR2, score) do not warn: their coverage is right at 8.
    Agents are no sample that more of would make surer. Cameron, Gelbach & Miller 2008, Rev. Econ.
    Stat. 90:414; coverage is in ``docs/statistics.md``.
    """
    if clusters >= FEW_CLUSTERS or unit == "agent":
        return ()
    return (f"only {clusters} {plural_of(unit)}: the interval may be too narrow",)


def plural_of(unit: str) -> str:
    """Return the plural of what a cluster is called."""
    return f"{unit[:-1]}ies" if unit.endswith("y") else f"{unit}s"


def as_json(result: Any) -> Any:
    """Turn results into values that ``json.dumps(allow_nan=False)`` accepts.

    Takes dataclasses, mappings, sequences, sets (in the order of their words), numbers (numpy's
    too) and strings; keys of mappings
    that are tuples are joined with " / ". A number that is not finite raises ValueError.
    """
    if result is None or isinstance(result, bool | str | int):
        return result
    if dataclasses.is_dataclass(result) and not isinstance(result, type):
        return {f.name: as_json(getattr(result, f.name)) for f in dataclasses.fields(result)}
    if isinstance(result, Mapping):
        return {_key(key): as_json(value) for key, value in result.items()}
    if isinstance(result, list | tuple):
        return [as_json(item) for item in result]
    if isinstance(result, set | frozenset):
        return sorted((as_json(item) for item in result), key=str)
    if hasattr(result, "tolist"):
        return as_json(result.tolist())
    if isinstance(result, float):
        return _finite(result)
    raise TypeError(f"no JSON form for {type(result).__name__}")


def _key(key: object) -> str:
    return " / ".join(map(str, key)) if isinstance(key, tuple) else str(key)


def _finite(number: float) -> float:
    number = float(number)
    if not math.isfinite(number):
        raise ValueError(f"{number} is no result; give the reason instead")
    return number

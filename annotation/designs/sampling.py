"""Choose the items to judge: all of them, or a random sample by seed.

Every unit (an item, or a task with all its items) draws a lot from the seed and its own name; the
lowest lots are taken. So a larger sample with the same seed contains the smaller one (except where
shares of strata are rounded), and adding an item changes no other lot.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from pydantic import StrictBool, with_config

from annotation.designs.types import DesignError, DesignOption, index_options, name_some
from benchmarks.core.digests import derive_seed
from benchmarks.core.schemas import STRICT, Whole, Word

Way = Literal["all", "total", "per_model", "per_task", "stratified"]
Allocation = Literal["proportional", "equal"]
Stratum = tuple[str, ...]


@with_config(STRICT)
@dataclass(frozen=True, slots=True)
class Sample:
    """The units to take. ``count`` is of units: in all (total, stratified), or of each model or
    task.

    A unit is an option, or with ``whole_tasks`` a task with all its options. ``strata`` are keys
    of ``DesignOption.strata``, or ``task`` or ``model``. With ``take_fewer`` a stratum that is too
    small gives what it has; otherwise that is an error.
    """

    way: Way = "all"
    count: Whole | None = None
    strata: tuple[Word, ...] = ()
    allocation: Allocation = "proportional"
    whole_tasks: StrictBool = False
    take_fewer: StrictBool = False


@dataclass(frozen=True, slots=True)
class StratumReport:
    """The units of one stratum: how many there are, were wanted, were taken."""

    stratum: Stratum
    available: int
    wanted: int
    taken: int

    @property
    def short(self) -> int:
        return self.wanted - self.taken


@dataclass(frozen=True, slots=True)
class Sampled:
    """The options chosen, by id, and a report per stratum; ``keys`` name a stratum's parts."""

    options: tuple[DesignOption, ...]
    keys: tuple[str, ...]
    unit: Literal["item", "task"]
    report: tuple[StratumReport, ...]
    sample: Sample
    seed: int


def sample_options(*, options: Iterable[DesignOption], sample: Sample, seed: int) -> Sampled:
    """Choose options as ``sample`` says; the result depends on ids, names and seed alone.

    Raises DesignError when more is asked than there is, naming every stratum that falls short.
    """
    known = index_options(options)
    if not known:
        raise DesignError("options", "there is nothing to choose from")
    keys = _keys(sample)
    units: dict[str, list[DesignOption]] = {}
    for option in known.values():
        units.setdefault(option.task if sample.whole_tasks else str(option.id), []).append(option)
    strata: dict[Stratum, list[str]] = {}
    for name, members in units.items():
        strata.setdefault(_stratum_of(name, members, keys), []).append(name)
    wanted = _wanted({stratum: len(names) for stratum, names in strata.items()}, sample, seed)
    report = tuple(
        StratumReport(stratum, len(names), wanted[stratum], min(wanted[stratum], len(names)))
        for stratum, names in sorted(strata.items())
    )
    unit: Literal["item", "task"] = "task" if sample.whole_tasks else "item"
    short = [row for row in report if row.short]
    if short and not sample.take_fewer:
        raise DesignError("count", [_shortage(row, keys, unit) for row in short])
    chosen: list[DesignOption] = []
    for stratum, names in strata.items():
        lots = sorted((derive_seed(seed, "sample", unit, name), name) for name in names)
        for _, name in lots[: wanted[stratum]]:
            chosen += units[name]
    chosen.sort(key=lambda option: option.id)
    return Sampled(tuple(chosen), keys, unit, report, sample, seed)


def _keys(sample: Sample) -> tuple[str, ...]:
    """Return the keys by which units are told apart, after checking that the wish makes sense."""
    if sample.way == "all":
        if sample.count is not None:
            raise DesignError("count", "all options are taken: leave the number empty")
    elif sample.count is None or sample.count < 1:
        raise DesignError("count", f"say how many to take, 1 or more, not {sample.count}")
    if sample.way in ("per_model", "per_task") and sample.whole_tasks:
        raise DesignError(
            "whole_tasks",
            "so many per model or per task breaks tasks up: say how many whole tasks in all, "
            "or take single items",
        )
    if (sample.way == "stratified") != bool(sample.strata):
        raise DesignError("strata", "name the keys of the strata, for a stratified sample only")
    if len(set(sample.strata)) != len(sample.strata):
        raise DesignError("strata", "a key of the strata is named twice")
    fixed: dict[str, tuple[str, ...]] = {"per_model": ("model",), "per_task": ("task",)}
    return fixed.get(sample.way, sample.strata)


def _stratum_of(name: str, members: Sequence[DesignOption], keys: tuple[str, ...]) -> Stratum:
    strata = {sampling_stratum(option, keys) for option in members}
    if len(strata) > 1:
        raise DesignError(
            "strata",
            f"task {name} lies in {len(strata)} strata of {', '.join(keys)}; stratify by what all "
            "of a task's items share, or take single items",
        )
    return strata.pop()


def sampling_stratum(option: DesignOption, keys: tuple[str, ...]) -> Stratum:
    """Return the stratum of an option by the keys of a sample."""
    return tuple(_value(option, key) for key in keys)


def _value(option: DesignOption, key: str) -> str:
    if key == "task":
        return option.task
    if key == "model":
        return option.model
    if key not in option.strata:
        has = name_some(sorted({"task", "model", *option.strata}))
        raise DesignError("strata", f"option {option.id} has no {key!r}; it has {has}")
    return option.strata[key]


def _wanted(available: Mapping[Stratum, int], sample: Sample, seed: int) -> dict[Stratum, int]:
    """Return how many units of each stratum; what does not divide is given by remainder, then by
    lot.
    """
    if sample.count is None:
        return dict(available)
    if sample.way in ("per_model", "per_task"):
        return dict.fromkeys(available, sample.count)
    everything = sum(available.values())
    if sample.allocation == "equal":
        parts = {stratum: divmod(sample.count, len(available)) for stratum in available}
    elif sample.count > everything and not sample.take_fewer:
        noun = "tasks" if sample.whole_tasks else "items"
        raise DesignError(
            "count", f"{sample.count:,} {noun} are asked for, and there are {everything:,}"
        )
    else:
        parts = {
            stratum: divmod(sample.count * there, everything)
            for stratum, there in available.items()
        }
    wanted = {stratum: whole for stratum, (whole, _) in parts.items()}
    by_remainder = sorted(
        parts, key=lambda s: (-parts[s][1], derive_seed(seed, "remainder", *s), s)
    )
    for stratum in by_remainder[: sample.count - sum(wanted.values())]:
        wanted[stratum] += 1
    return wanted


def _shortage(row: StratumReport, keys: tuple[str, ...], unit: str) -> str:
    named = ", ".join(
        f"{key} {value or 'not named'}" for key, value in zip(keys, row.stratum, strict=True)
    )
    there = f"there are {row.available:,}" if row.available != 1 else "there is 1"
    noun = unit if row.wanted == 1 else unit + "s"
    return (f"{named}: " if named else "") + f"{row.wanted:,} {noun} are asked for, and {there}"

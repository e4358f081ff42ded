"""With which probability each option of a source was drawn, and how that is stored."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any

from annotation.designs.sampling import Sampled, sampling_stratum
from annotation.designs.types import DesignOption


def draw_probabilities(
    options: Iterable[DesignOption], sampled: Sampled, used: Collection[int]
) -> dict[int, float]:
    """Return the probability with which each option came to be judged, by id.

    Parameters
    ----------
    options
        All options from which the sample was drawn.
    sampled
        What was drawn of them.
    used
        The ids that were dealt of the sample. Where lists have room for some tasks alone, whole
        tasks of the sample are drawn.

    Notes
    -----
    Lots are equal within a stratum, so a unit's probability is what was taken of its stratum over
    what there was (0 where a rounded share took none), for whole tasks as for items. It is
    conditional on the number taken of each stratum. Of the sample all tasks have the same chance to
    be dealt.
    """
    share = {
        row.stratum: row.taken / row.available if row.available else 0.0 for row in sampled.report
    }
    tasks = {option.task for option in sampled.options}
    dealt = {option.task for option in sampled.options if option.id in used}
    second = len(dealt) / len(tasks) if tasks else 0.0
    return {option.id: second * share[sampling_stratum(option, sampled.keys)] for option in options}


def write_draws(probabilities: Mapping[int, float]) -> list[list[Any]]:
    """Return probabilities as JSON: one row for each, with ranges of ids such as ``"1-9,12"``."""
    groups: dict[float, list[int]] = {}
    for pk, probability in sorted(probabilities.items()):
        groups.setdefault(probability, []).append(pk)
    return [[probability, ",".join(_ranges(ids))] for probability, ids in sorted(groups.items())]


def _ranges(ids: Sequence[int]) -> list[str]:
    ranges: list[list[int]] = []
    for pk in ids:
        if ranges and ranges[-1][1] == pk - 1:
            ranges[-1][1] = pk
        else:
            ranges.append([pk, pk])
    return [f"{first}-{last}" if last > first else str(first) for first, last in ranges]


def read_draws(rows: Iterable[Sequence[Any]]) -> dict[int, float]:
    """Return the probabilities that `write_draws` wrote."""
    probabilities: dict[int, float] = {}
    for probability, text in rows:
        for part in filter(None, str(text).split(",")):
            first, _, last = part.partition("-")
            for pk in range(int(first), int(last or first) + 1):
                probabilities[pk] = float(probability)
    return probabilities

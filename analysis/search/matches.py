"""The search for trajectories that hold the typed words, in one query to the database."""

from collections.abc import Iterable
from hashlib import blake2b

import numpy as np
import numpy.typing as npt
from django.core.cache import caches
from django.db.models import Count, F, Max, Sum

from analysis.models import IndexedRun
from analysis.search.index import trajectories_with
from analysis.search.query import SearchQuery, read_words
from analysis.stats.columns import Codes
from annotation.bulk_numbers import parse_numbers
from benchmarks.models import Trajectory

# Who reads a list asks for the same words at every page of it.
KEEP_SECONDS = 600


def find_trajectories(*, words: str) -> Codes:
    """Return the trajectories with these words, as sorted ids.

    ``words`` is what `analysis.search.query` describes: each word must stand in a plan, in
    feedback, in a call of a tool or in the task; none of those left out may stand in any. Where
    only words to leave out are named, all other trajectories that are indexed are found. Without a
    word to search for, none is. Nobody's view is heeded: closed runs are for the caller to take
    out.
    """
    query = read_words(words)
    if not query.terms:
        return _nothing()
    key = _key(query)
    ids: Codes | None = caches["reports"].get(key)
    if ids is None:
        ids = _find(query)
        caches["reports"].set(key, ids, KEEP_SECONDS)
    return ids


def _find(query: SearchQuery) -> Codes:
    sets = [_ids(texts) for texts in trajectories_with(query.terms)]
    wanted, without = sets[: len(query.wanted)], sets[len(query.wanted) :]
    if wanted:
        # the rarest first: what is left only shrinks
        ids, *others = sorted(wanted, key=len)
    else:
        ids, others = _indexed(), []
    for other in others:
        ids = ids[_among(ids, other)]
    for other in without:
        ids = ids[~_among(ids, other)]
    return ids


def _key(query: SearchQuery) -> str:
    """Return a cache key that changes with what is asked and with what is in the index."""
    state = IndexedRun.objects.aggregate(
        runs=Count("pk"), last=Max("last_turn"), known=Sum("trajectories"), versions=Sum("version")
    )
    asked = repr((query.wanted, query.without, sorted(state.items())))
    return f"search:{blake2b(asked.encode(), digest_size=16).hexdigest()}"


def ignored_words(words: str) -> list[str]:
    """Return a sentence for each typed word that is not searched for, with the reason."""
    return [
        f"“{part.typed}” is not searched for: {part.why}." for part in read_words(words).ignored
    ]


def has_words(words: str) -> bool:
    """Return whether there is anything to search for."""
    return bool(read_words(words).terms)


def _ids(texts: Iterable[str]) -> Codes:
    """Return sorted ids, once each, from numbers with commas between."""
    parts = [_distinct(parse_numbers(text, 1).ravel()) for text in texts]
    if not parts:
        return _nothing()
    return parts[0] if len(parts) == 1 else _distinct(np.concatenate(parts))


def _distinct(numbers: Codes) -> Codes:
    """Return the numbers in order, once each; most come in order, which `numpy.unique` would not
    see.
    """
    if np.any(numbers[1:] < numbers[:-1]):
        numbers = np.sort(numbers, kind="stable")
    distinct: Codes = numbers[np.r_[True, numbers[1:] != numbers[:-1]]]
    return distinct


def _among(some: Codes, others: Codes) -> npt.NDArray[np.bool_]:
    """Return a mask of the values of ``some`` that are among ``others``; both are sorted."""
    if not others.size:
        return np.zeros(some.size, dtype=bool)
    place = np.searchsorted(others, some)
    place[place == others.size] = 0
    present: npt.NDArray[np.bool_] = others[place] == some
    return present


def _indexed() -> Codes:
    """Return the trajectories of which the index knows."""
    known = IndexedRun.objects.filter(version=F("run__data_version")).values("run")
    rows = Trajectory.objects.filter(run__in=known).order_by("pk").values_list("pk", flat=True)
    return np.fromiter(rows.iterator(chunk_size=10_000), dtype=np.int64)


def _nothing() -> Codes:
    return np.zeros(0, dtype=np.int64)

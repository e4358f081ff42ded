"""The search for words and by operators in trajectories, for lists in every interface.

This app has no index of words. The app above registers the search that its own list uses, so that
the API and the page return the same trajectories for the same words.
"""

import json
from collections.abc import Callable, Sequence

from django.db import connection
from django.db.models import QuerySet
from django.db.models.expressions import RawSQL

from benchmarks.models import Trajectory
from benchmarks.visibility import Visibility

# Ids of the trajectories that a text with operators finds for a reader; None where nothing is
# asked for. What cannot be searched for raises a `CoreError` with the reason.
WordSearch = Callable[[str, Visibility], Sequence[int] | None]
_registered: list[WordSearch] = []

# As one parameter: a common word is in more trajectories than a statement may have parameters.
_IDS = {
    "sqlite": "SELECT value FROM json_each(%s)",
    "postgresql": "SELECT value::bigint FROM json_array_elements_text(%s::json)",
}


def searches_words(find: WordSearch) -> WordSearch:
    """Register the function that searches plans, feedback, calls of tools and tasks."""
    _registered[:] = [find]
    return find


def with_words(rows: QuerySet[Trajectory], text: str, seen: Visibility) -> QuerySet[Trajectory]:
    """Return those of the trajectories that the registered search finds; all without a text."""
    for find in _registered:
        ids = find(text, seen)
        if ids is not None:
            rows = rows.filter(pk__in=RawSQL(_IDS[connection.vendor], [json.dumps(list(ids))]))
    return rows

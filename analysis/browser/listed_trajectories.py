"""What the list of trajectories shows, for judging exactly that anew."""

from collections.abc import Sequence

from django.http import QueryDict

from benchmarks.judging.selectors import lists_trajectories
from benchmarks.visibility import Visibility


@lists_trajectories
def listed(params: QueryDict, seen: Visibility) -> Sequence[int]:
    """The trajectories that the address of the list chooses for this reader."""
    # Arrays are slow to import: not when the server starts.
    from analysis.trajectory_index.listing import listing

    found = listing(params, seen)
    ids: list[int] = found.facts.columns.id[found.rows].tolist()
    return ids

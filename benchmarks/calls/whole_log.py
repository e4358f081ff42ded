"""The whole log of a trajectory: its own exchanges and, of a branch, those that it shares."""

import math

from django.db.models import Q, QuerySet

from benchmarks.models import Branch, Exchange, Run, Trajectory


def whole_log(trajectory: Trajectory, *, every: bool = False) -> QuerySet[Exchange]:
    """Return the exchanges that a trajectory consists of, in no order; ``every``: with those that
    were withdrawn, whose attempts stay taken.

    A branch shares those of its parent up to where it leaves it, as they stand there: nothing is
    copied. An edited answer stands in place of the one that was given there.
    """
    log = Q(trajectory=trajectory.pk)
    row, limit, replaced = trajectory, math.inf, Q()
    while row.run.kind == Run.Kind.BRANCH:
        branch = branch_of(row)
        limit = min(limit, branch.steps)
        if branch.edited_slot is not None:
            replaced |= Q(step=branch.steps - 1, slot=branch.edited_slot)
        shared = Q(trajectory=branch.parent_id, step__lt=limit)
        log |= shared & ~replaced if replaced else shared
        row = branch.parent
    return (Exchange.every if every else Exchange.objects).filter(log)


def branch_of(trajectory: Trajectory) -> Branch:
    """Return where a branch leaves its parent, with that and its run; in one query, asked once."""
    if not Trajectory.branch.is_cached(trajectory):
        trajectory.branch = Branch.objects.select_related("parent__run").get(pk=trajectory.pk)
    return trajectory.branch

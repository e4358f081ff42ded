"""The whole log of a trajectory: its own exchanges and, of a branch, those that it shares."""

from django.db.models import Q, QuerySet

from benchmarks.models import Branch, Exchange, Run, Trajectory


def whole_log(trajectory: Trajectory) -> QuerySet[Exchange]:
    """Return the exchanges that a trajectory is replayed from, in no order.

    A branch shares those of its parent up to where it leaves it, as they stand there: nothing is
    copied. An edited answer stands in place of the one that was given there.
    """
    log = Q(trajectory=trajectory.pk)
    if trajectory.run.kind == Run.Kind.BRANCH:
        limit, replaced = None, Q()
        for branch in branch_line(trajectory):
            limit = branch.steps if limit is None else min(limit, branch.steps)
            if branch.edited_slot is not None:
                replaced |= Q(step=branch.steps - 1, slot=branch.edited_slot)
            shared = Q(trajectory=branch.parent_id, step__lt=limit)
            log |= shared & ~replaced if replaced else shared
    return Exchange.objects.filter(log)


def branch_line(trajectory: Trajectory) -> list[Branch]:
    """Return the branches that lead to a trajectory, its own first; none for an ordinary one."""
    line: list[Branch] = []
    pk = trajectory.pk
    while (branch := Branch.objects.filter(trajectory=pk).first()) is not None:
        line.append(branch)
        pk = branch.parent_id
    return line

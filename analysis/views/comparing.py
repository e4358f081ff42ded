"""Several trajectories side by side, turn by turn."""

from typing import Any

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from benchmarks.access import VIEW, allow, signed_in, visibility
from benchmarks.blinding import Visibility
from benchmarks.models import Trajectory
from benchmarks.selectors import paging, trajectories
from benchmarks.selectors.casting import run_caution
from benchmarks.selectors.turns import turn_views
from benchmarks.views.marks import final_marks
from benchmarks.views.parts import own_template

MOST_COMPARED = 3


@signed_in
@require_safe
def compare(request: HttpRequest) -> HttpResponse:
    allow(request, VIEW)
    wanted = [pk for text in request.GET.getlist("t") if (pk := paging.as_id(text))]
    wanted = list(dict.fromkeys(wanted))
    seen = visibility(request)
    found = seen.of(trajectories.whole_trajectories()).in_bulk(wanted[:MOST_COMPARED])
    rows = [found[pk] for pk in wanted if pk in found]
    turns = turn_views(rows)
    columns: list[dict[str, Any]] = [
        {
            "trajectory": row,
            "end": trajectories.trajectory_end(row),
            "why": trajectories.why_ended(row),
            "turns": turns[row.pk],
            "means": [turn.mean for turn in turns[row.pk]],
            "marks": final_marks(turns[row.pk][-1]) if turns[row.pk] else [],
            "card": own_template(row.run.dataset.system, "_turn.html"),
            "others": [pk for pk in found if pk != row.pk],
        }
        for row in rows
    ]
    longest = max((len(turns[row.pk]) for row in rows), default=0)
    context = {
        "columns": columns,
        "missing": [pk for pk in wanted[:MOST_COMPARED] if pk not in found],
        "too_many": len(wanted) > MOST_COMPARED,
        "rows": [
            (
                index + 1,
                [(c, c["turns"][index] if index < len(c["turns"]) else None) for c in columns],
            )
            for index in range(longest)
        ],
        "same_task": len({row.task_id for row in rows}) == 1,
        "candidates": _candidates(rows, seen),
        "caution": run_caution(rows[0].run) if rows else None,
    }
    return render(request, "analysis/compare.html", context)


def _candidates(rows: list[Trajectory], seen: Visibility) -> list[trajectories.TrajectoryRow]:
    """Other trajectories of the first one's task, while there is room for one."""
    if not rows or len(rows) >= MOST_COMPARED:
        return []
    others = seen.of(trajectories.trajectory_list({"task": rows[0].task_id}))
    others = others.exclude(pk__in=[row.pk for row in rows]).order_by("-pk")
    return trajectories.trajectory_rows(trajectories.with_parts(others)[:20])

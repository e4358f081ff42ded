"""What agents were told in their trajectories, and for how long they kept to it."""

from collections.abc import Iterable, Sequence
from itertools import groupby
from operator import itemgetter
from typing import TYPE_CHECKING, Any

from analysis.filters.selection import ChosenRun
from analysis.frames.outcomes import by_id, counted
from benchmarks.core.ports.disclosures import Disclosures, TurnRecord, ViolatedThen
from benchmarks.models import Trajectory, Turn, Violation

if TYPE_CHECKING:
    from pandas import DataFrame

COLUMNS = (
    "agent", "run", "trajectory", "task", "text", "kind", "told", "broken", "last", "early",
    "left_out",
)  # fmt: skip


def disclosure_frame(runs: Sequence[ChosenRun], disclosures: Disclosures) -> "DataFrame":
    """Return what was disclosed in finished trajectories of the runs, a row each.

    ``told``, ``broken`` (missing where no later turn breaks it) and ``last`` are numbers of turns;
    ``early`` says that the trajectory was cut short; ``left_out`` why a row cannot be followed.
    """
    import pandas as pd

    done = Trajectory.objects.filter(counted(by_id(runs)), status=Trajectory.Status.DONE)
    labels = {run.pk: run.label for run in runs}
    fields = "pk", "run", "task", "turn_count", "termination"
    trajectories = {row[0]: row[1:] for row in done.order_by("pk").values_list(*fields)}
    ids = done.order_by().values("pk")
    # Plain tuples, which cost the garbage collector nothing while there are many of them.
    violated: dict[int, list[tuple[Any, ...]]] = {}
    violations = Violation.objects.filter(turn__trajectory__in=ids).order_by("pk")
    for row in violations.values_list(
        "turn__trajectory", "turn__index", "key", "kind", "text", "revealed", "repeated"
    ):
        violated.setdefault(row[0], []).append(row[1:])
    parts = disclosures.turn_parts
    turns: Iterable[Sequence[Any]] = (
        (pk, index) for pk in sorted(violated) for index in sorted({row[0] for row in violated[pk]})
    )
    if parts:
        turns = (
            Turn.objects.filter(trajectory__in=ids)
            .order_by("trajectory", "index")
            .values_list("trajectory", "index", *(f"payload__{part}" for part in parts))
        )
    rows = []
    for pk, own in groupby(turns, key=itemgetter(0)):
        run, task, last, ending = trajectories[pk]
        label, early = labels[run], ending in disclosures.early
        then: dict[int, list[ViolatedThen]] = {}
        for index, *violation in violated.get(pk, ()):
            then.setdefault(index, []).append(ViolatedThen(*violation))
        records = [
            TurnRecord(index, dict(zip(parts, values, strict=True)), then.get(index, ()))
            for _, index, *values in own
        ]
        for text, kind, told, broken, left_out in disclosures.read(records):
            rows.append((label, run, pk, task, text, kind, told, broken, last, early, left_out))
    return pd.DataFrame(rows, columns=list(COLUMNS)).astype({"broken": float})

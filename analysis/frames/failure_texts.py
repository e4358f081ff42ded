"""The texts at the end of trajectories: the last feedback and the last plan."""

from collections.abc import Sequence
from typing import NamedTuple

from django.db.models import F, Max
from django.db.models.functions import Substr

from benchmarks.models import Turn

# Feedback is read of so many turns before the end.
LAST_TURNS = 20
# Signs of each text; what stands behind them hardly changes what a text is like.
MOST_SIGNS = 20_000
CHUNK = 500
FEEDBACK, PLAN, BOTH = "feedback", "plan", "both"


class EndText(NamedTuple):
    """The text of one trajectory and the turn in which it ended."""

    trajectory: int
    turn: int
    text: str


def end_texts(ids: Sequence[int], texts: str = BOTH) -> list[EndText]:
    """Return the texts of these trajectories in their order; those without a turn are left out.

    ``texts``: the ``feedback`` of the last turns, the last ``plan``, or ``both``.
    """
    ends: list[EndText] = []
    for at in range(0, len(ids), CHUNK):
        ends += _some(ids[at : at + CHUNK], texts)
    return ends


def _some(ids: Sequence[int], texts: str) -> list[EndText]:
    turns = Turn.objects.filter(trajectory__in=ids).order_by()
    last = dict(turns.values_list("trajectory").annotate(last=Max("index")))
    parts: dict[int, list[str]] = {pk: [] for pk in ids if pk in last}
    if texts != PLAN:
        late = turns.filter(index__gt=F("trajectory__turn_count") - LAST_TURNS).exclude(feedback="")
        rows = late.order_by("trajectory", "index")
        for pk, text in rows.values_list("trajectory", Substr("feedback", 1, MOST_SIGNS)):
            parts[pk].append(text)
    if texts != FEEDBACK:
        final = turns.filter(index__in=set(last.values())).values_list("pk", "trajectory", "index")
        wanted = [pk for pk, trajectory, index in final if last[trajectory] == index]
        rows = turns.filter(pk__in=wanted)
        for pk, text in rows.values_list("trajectory", Substr("text", 1, MOST_SIGNS)):
            parts[pk].append(text)
    return [EndText(pk, last[pk], "\n".join(lines)) for pk, lines in parts.items()]

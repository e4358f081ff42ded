"""Store the replies of people, and resume their trajectories."""

from django.contrib.auth.models import User
from django.db import transaction
from django.utils import timezone

from benchmarks.asks.players import player_name
from benchmarks.calls.log import CallLog
from benchmarks.core.answerers import Identity
from benchmarks.core.digests import storable
from benchmarks.core.registry import get_system
from benchmarks.locks import lock_trajectory
from benchmarks.models import CallColumns, Exchange, OpenAsk, Run, Trajectory
from benchmarks.runs.log import people_are_asked
from benchmarks.runs.services import RunError, reopen_run


def answer_open_ask(*, ask: OpenAsk, by: User, text: str, seated: bool = False) -> CallColumns:
    """Store a person's reply, and resume the trajectory once none of its asks is open.

    Raises ``UnreadableReply`` if the text cannot be read, so that the person can correct it, and
    ``RunError`` if the ask is answered or cancelled; neither changes anything. With ``seated`` the
    caller has checked that the seat in a reserved trajectory belongs to this person.
    """
    trajectory = ask.trajectory
    if trajectory.reserved and not seated:
        raise RunError("this belongs to a session; it is answered there")
    system = get_system(trajectory.run.dataset.system)
    reply = storable(text)
    value = storable(system.parsers[ask.expect["kind"]](reply, ask.expect["params"]))
    now = timezone.now()
    with transaction.atomic():
        # Of two people who answer at once, or a person and the worker that suspends the
        # trajectory, the second must see what the first did.
        lock_trajectory(trajectory.pk)
        here = Trajectory.objects.filter(pk=trajectory.pk)
        if here.filter(status=Trajectory.Status.CANCELLED).exists():
            raise RunError("this was cancelled; nobody waits for a reply any more")
        if not OpenAsk.objects.filter(pk=ask.pk, answered_at=None).update(answered_at=now):
            raise RunError("this has been answered already; the first answer stands")
        log = CallLog(Exchange, {"trajectory_id": trajectory.pk})
        exchange = log.record_reply(ask, Identity("human", player_name(by), "1"), reply, value, now)
        waiting = here.filter(status=Trajectory.Status.WAITING)
        if not people_are_asked(trajectory.pk) and waiting.update(status=Trajectory.Status.PENDING):
            reopen_run(Run.objects.get(pk=trajectory.run_id), people=trajectory)
    return exchange

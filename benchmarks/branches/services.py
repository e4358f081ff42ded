"""Branch from a turn of a trajectory: another answer, the same answer, or the question again."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from django.contrib.auth.models import User
from django.db import transaction
from django.utils import timezone

from benchmarks.asks.players import player_name
from benchmarks.calls.rows import answerer_version
from benchmarks.calls.whole_log import whole_log
from benchmarks.core.answerers import Identity
from benchmarks.core.digests import storable
from benchmarks.core.errors import CoreError
from benchmarks.core.system import System
from benchmarks.endpoints.services import (
    answerer_at,
    check_cap,
    check_use,
    currency_of,
    endpoints_in,
)
from benchmarks.jobs import wake_up
from benchmarks.locks import lock_trajectory
from benchmarks.mappers import core_task, system_of_run
from benchmarks.models import Branch, Exchange, Judging, Run, Trajectory
from benchmarks.models.role_assignments import RoleAssignment, Roles, all_assignments
from benchmarks.roles.services import assign_by_name, build_answerer
from benchmarks.runs.services import (
    check_cost_cap,
    condition_name,
    count_created,
)
from benchmarks.runs.versions import BRANCHES, missing_version
from benchmarks.trajectories.exchanges import TurnSteps, agent_role, turn_steps

S, R = Trajectory.Status, Exchange.State
# Of one fork: more replays than this are asked for by mistake.
MOST_REPLAYS = 50
MOST_TRAJECTORIES = 1000
_SETTLED = (R.ANSWERED, R.DECLINED, R.UNREADABLE)
BRANCHED = (Run.Kind.MADE, Run.Kind.BRANCH)
_MOVING = {
    S.PENDING: "has not begun or waits for a worker",
    S.RUNNING: "is under way",
    S.DECISION: "needs a decision",
}


class BranchRefused(CoreError):
    """Raised where a trajectory cannot be branched as wished; the text says what to do."""

    def __init__(self, message: str, field: str = "") -> None:
        self.field = field
        super().__init__(message)


@dataclass(frozen=True)
class GivenAnswer:
    """An answer in a turn that can be replaced, and how it was asked for at first.

    The two differ where replies could not be read and were asked for again.
    """

    asked: Exchange
    given: Exchange

    @property
    def name(self) -> str:
        """Return the role, and the seat where several share it."""
        return f"{self.asked.role} {self.asked.seat}".strip()


@dataclass(frozen=True)
class Departure:
    """Where branches leave their parent: they share the log before step ``steps``.

    ``edit`` is the stored exchange in whose place they have the answer ``text``.
    """

    turn: int
    steps: int
    arm: str
    edit: Exchange | None = None
    text: str = ""


def why_not(trajectory: Trajectory) -> str:
    """Say why a trajectory cannot be branched now; empty where it can."""
    run = trajectory.run
    if run.kind == Run.Kind.IMPORTED:
        return (
            "This trajectory was imported. It has no log of calls, so nobody here could continue "
            "it. Branch from a trajectory that was run here."
        )
    if run.kind not in BRANCHED:
        kind = run.get_kind_display().lower()
        return f"This trajectory belongs to a run of the kind “{kind}”, which has no branches."
    if trajectory.status in _MOVING:
        moving = _MOVING[S(trajectory.status)]
        return f"This trajectory {moving}. Branch from it once it has ended or waits for a person."
    try:
        missing = missing_version(run, system_of_run(run))
    except CoreError as error:
        return str(error)
    if missing:
        return f"This trajectory cannot be continued here: it is pinned to {missing}."
    return ""


def missing_answerers(trajectory: Trajectory, roles: Roles) -> dict[str, str]:
    """Return, by role, why an assignment can answer nothing more: the version of its script is
    not installed, its endpoint has changed, or it is a recording.

    Whoever carries a branch builds the same answerers, so it would fail at its first step.
    """
    system = system_of_run(trajectory.run)
    task = core_task(trajectory.task, trajectory.profile)
    build, missing = answerer_at(system.key), {}
    for role in system.roles:
        for assignment in roles.get(role.name, ()):
            why = ""
            if role.name == "agent" and assignment.get("label") == "recorded":
                why = "it is a recording and has no answer to what was never asked"
            else:
                try:
                    build_answerer(system, task, assignment, build)
                except CoreError as error:
                    why = str(error)
            if why:
                missing[role.name] = f"{role.title} cannot continue as before: {why}."
    return missing


def roles_of(trajectory: Trajectory) -> dict[str, Sequence[RoleAssignment]]:
    """Return whoever filled each role of a trajectory last."""
    return {**trajectory.run.roles, **trajectory.role_changes}


def answers_in(trajectory: Trajectory, turn: int) -> list[GivenAnswer]:
    """Return the answers of a turn that can be replaced, in the order of the log.

    Raises ``BranchRefused`` if there is no such turn.
    """
    part = _steps_of(trajectory, turn)
    rows = whole_log(trajectory).filter(step__gte=part.first)
    if part.end is not None:
        rows = rows.filter(step__lt=part.end)
    answers: dict[tuple[int, int], GivenAnswer] = {}
    for row in rows.order_by("step", "slot", "attempt"):
        first = answers.get((row.step, row.slot))
        answers[row.step, row.slot] = GivenAnswer(first.asked if first else row, row)
    return [answer for answer in answers.values() if answer.given.state in _SETTLED]


def _steps_of(trajectory: Trajectory, turn: int) -> TurnSteps:
    parts = turn_steps(trajectory)
    for part in parts:
        if part.turn == turn:
            return part
    has = "no turn yet" if not parts else "1 turn" if len(parts) == 1 else f"{len(parts)} turns"
    raise BranchRefused(f"There is no turn {turn}: this trajectory has {has}.", "turn")


def branch_with_answer(
    *,
    trajectory: Trajectory,
    turn: int,
    text: str,
    by: User,
    role: str = "",
    seat: str = "",
    replays: int = 1,
    compare: bool = False,
    roles: Mapping[str, Sequence[str]] | None = None,
    seed: int = 0,
    cost_cap: float | None = None,
) -> Run:
    """Branch with another answer at a turn; the rest is played on from there.

    ``role`` is the one whose answer is replaced: by default the agent. ``replays`` branches begin
    with the new answer; with ``compare`` as many begin with the answer that was given. ``roles``
    names who continues, by role, where it is not as before (see ``assign_by_name``).
    """
    _check_replays(replays)
    role = role or agent_role(trajectory)
    given = answers_in(trajectory, turn)
    wanted = f"{role} {seat}".strip()
    edit = next((answer.asked for answer in given if answer.name == wanted), None)
    if edit is None:
        names = ", ".join(dict.fromkeys(answer.name for answer in given)) or "none"
        raise BranchRefused(f"Turn {turn} has no answer of {wanted}. It has: {names}.", "role")
    if not text.strip():
        raise BranchRefused("Write the other answer.", "text")
    edited = Departure(turn, edit.step + 1, Branch.Arm.EDITED, edit, storable(text))
    departures = [(edited, replays)]
    if compare:
        departures.append((Departure(turn, edit.step + 1, Branch.Arm.KEPT), replays))
    return _branch(trajectory, departures, by, roles or {}, seed, cost_cap)


def replay_every_turn(
    *,
    trajectory: Trajectory,
    by: User,
    replays: int = 10,
    seed: int = 0,
    cost_cap: float | None = None,
) -> Run:
    """Branch before the agent's answer of every turn, and after the last one, to see which turn
    decided how the trajectory ended.

    What follows an answer is what precedes the next one, so each of these branches serves two
    turns.
    """
    _check_replays(replays, least=2)
    if trajectory.status != S.DONE:
        raise BranchRefused("This trajectory has not ended, so no turn has decided it yet.")
    parts = turn_steps(trajectory)
    if not parts:
        raise BranchRefused("This trajectory has no turn.", "turn")
    departures = [Departure(part.turn, part.first, Branch.Arm.AGAIN) for part in parts]
    last = parts[-1]
    departures.append(Departure(last.turn, last.first + 1, Branch.Arm.KEPT))
    return _branch(trajectory, [(one, replays) for one in departures], by, {}, seed, cost_cap)


def _check_replays(replays: int, least: int = 1) -> None:
    if not least <= replays <= MOST_REPLAYS:
        raise BranchRefused(f"Ask for {least} to {MOST_REPLAYS} replays.", "replays")


def _branch(
    trajectory: Trajectory,
    departures: Sequence[tuple[Departure, int]],
    by: User,
    roles: Mapping[str, Sequence[str]],
    seed: int,
    cost_cap: float | None,
) -> Run:
    if why := why_not(trajectory):
        raise BranchRefused(why)
    check_cost_cap(cost_cap)
    total = sum(n for _, n in departures)
    if total > MOST_TRAJECTORIES:
        raise BranchRefused(
            f"This would start {total:,} replays; {MOST_TRAJECTORIES:,} are the most. Ask for "
            "fewer of each turn.",
            "replays",
        )
    parent, system = trajectory.run, system_of_run(trajectory.run)
    assignments = _assignments(system, trajectory, roles)
    _check_assignments(trajectory, assignments, total)
    paid = endpoints_in(assignments)
    check_use(paid, by)
    check_cap(cost_cap, paid)
    values = [_value(system, one) for one, _ in departures]
    with transaction.atomic():
        lock_trajectory(trajectory.pk)
        if not Trajectory.objects.filter(pk=trajectory.pk).exists():
            raise BranchRefused("This trajectory has been deleted. Choose another one.")
        trajectory.refresh_from_db(fields=["status"])
        if why := why_not(trajectory):
            raise BranchRefused(why)
        run = Run.objects.create(
            kind=Run.Kind.BRANCH,
            dataset=parent.dataset,
            agent=parent.agent,
            level=parent.level,
            condition=condition_name(system, parent.settings, assignments),
            settings=parent.settings,
            roles=assignments,
            currency=currency_of(paid),
            cost_cap=cost_cap,
            pins={**parent.pins, BRANCHES[0]: BRANCHES[1]},
            seed=seed,
            design_tasks=[],
            is_demo=parent.is_demo,
            created_by=by,
        )
        run.primary_judging = Judging.objects.create(run=run, name="live")
        run.save(update_fields=["primary_judging"])
        rows: list[tuple[Trajectory, Departure, object]] = []
        for (departure, replays), value in zip(departures, values, strict=True):
            _check_shared(trajectory, departure)
            for _ in range(replays):
                row = Trajectory(
                    run=run,
                    task_id=trajectory.task_id,
                    profile_id=trajectory.profile_id,
                    attempt=len(rows) + 1,
                    seed=trajectory.seed,
                )
                rows.append((row, departure, value))
        Trajectory.objects.bulk_create([row for row, _, _ in rows])
        Branch.objects.bulk_create(
            [
                Branch(
                    trajectory=row,
                    parent=trajectory,
                    steps=one.steps,
                    turn=one.turn,
                    arm=one.arm,
                    edited_slot=None if one.edit is None else one.edit.slot,
                )
                for row, one, _ in rows
            ]
        )
        author = answerer_version(Identity("human", player_name(by), "1"))
        Exchange.objects.bulk_create(
            [
                _edited_exchange(row, one.edit, one.text, value, author)
                for row, one, value in rows
                if one.edit is not None
            ]
        )
        count_created(run.pk, len(rows))
        transaction.on_commit(lambda: wake_up.wake_for_runs([run.pk]))
    return run


def _assignments(
    system: System, trajectory: Trajectory, roles: Mapping[str, Sequence[str]]
) -> dict[str, list[RoleAssignment]]:
    """Return who continues: whoever filled each role last, or those who are named."""
    before = roles_of(trajectory)
    for role in roles:
        if role not in before:
            raise BranchRefused(f"There is no role {role}. Roles: {', '.join(before)}.", "roles")
    return {
        role: [
            assign_by_name(system, role, roles[role][place % len(roles[role])])
            for place, _ in enumerate(assignments)
        ]
        if roles.get(role)
        else list(assignments)
        for role, assignments in before.items()
    }


def _check_assignments(trajectory: Trajectory, assignments: Roles, total: int) -> None:
    for why in missing_answerers(trajectory, assignments).values():
        raise BranchRefused(f"{why} Choose somebody else to continue.", "roles")
    if total > 1 and any(row["kind"] == "human" for row in all_assignments(assignments)):
        raise BranchRefused(
            f"A person fills a role, and would have to play {total} replays. Try one branch, or "
            "let a script or a model fill that role.",
            "roles",
        )


def _value(system: System, departure: Departure) -> object:
    """Return what the parser reads in an edited answer; raises ``UnreadableReply``."""
    if departure.edit is None:
        return None
    expect = departure.edit.expect
    return storable(system.parsers[expect["kind"]](departure.text, expect["params"]))


def _check_shared(trajectory: Trajectory, departure: Departure) -> None:
    """Refuse a departure from steps that are not answered yet."""
    rows = whole_log(trajectory).filter(step__lt=departure.steps)
    rows = rows.order_by("step", "slot", "attempt")
    states = {
        (step, slot): state for step, slot, state in rows.values_list("step", "slot", "state")
    }
    waits = trajectory.open_asks.filter(step__lt=departure.steps, answered_at=None).exists()
    if waits or any(state not in _SETTLED for state in states.values()):
        raise BranchRefused(f"Turn {departure.turn} is not answered yet.", "turn")


def _edited_exchange(
    row: Trajectory, edit: Exchange, text: str, value: object, author: int
) -> Exchange:
    """Return the answer that stands in the place of a stored one; who is asked what stays."""
    now = timezone.now()
    return Exchange(
        trajectory=row,
        step=edit.step,
        slot=edit.slot,
        attempt=1,
        role=edit.role,
        seat=edit.seat,
        answerer_id=author,
        ask_digest=edit.ask_digest,
        messages=edit.messages,
        expect=edit.expect,
        tools=edit.tools,
        seed=edit.seed,
        state=R.ANSWERED,
        text=text,
        value=value,
        sent_at=now,
        settled_at=now,
    )

"""Derive a trajectory from its log, and compare the result with everything stored.

Every check raises ``Differs`` at the first difference.
"""

import json
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from benchmarks.core import types
from benchmarks.core.digests import canonical_json, derive_seed, digest, storable
from benchmarks.core.errors import AskMismatch, CoreError, UnreadableReply
from benchmarks.core.replay import NotStored, Playback, play_back
from benchmarks.core.system import System
from benchmarks.mappers import core_exchange, core_task
from benchmarks.models import AnswererVersion, Exchange, JudgeScore, Run, StoredMessage, Violation
from benchmarks.runs.versions import episode_of, seeds_of
from benchmarks.verification.stored_rows import StoredTrajectory

S = Exchange.State
SHOWN = 160
LEAD = 40


@dataclass(frozen=True)
class StoredDifference:
    """A stored value that differs from the derived one, both shortened around the difference.

    ``label`` says what the second value is: recomputed from the log, or sealed.
    """

    where: str
    stored: str
    recomputed: str
    label: str = "recomputed"


class Differs(Exception):
    """Raised if a stored value does not follow from the log."""

    def __init__(self, where: str, stored: Any, recomputed: Any) -> None:
        self.difference = StoredDifference(where, *_beside(_text(stored), _text(recomputed)))
        super().__init__(where)


def derive(stored: StoredTrajectory, system: System, wrong: Mapping[str | int, str]) -> Playback:
    """Check every exchange, then replay the episode from the log.

    ``wrong`` has the true digests of messages (by digest) and answerers (by id) whose stored digest
    is wrong, as ``KnownRows`` finds them.
    """
    trajectory = stored.trajectory
    task = core_task(trajectory.task, trajectory.profile)
    seed = derive_seed(trajectory.run.seed, task.id, trajectory.run.level, trajectory.attempt)
    if trajectory.judged is not None:
        seed = trajectory.judged.seed
    if trajectory.run.kind == Run.Kind.BRANCH:
        seed = trajectory.branch.parent.seed
    _same("seed of the trajectory", trajectory.seed, seed)
    seeds = seeds_of(trajectory, task)
    _check_exchanges(stored.exchanges, system, seeds, wrong)
    _check_roles(stored, system, task)
    _check_suggestions(stored, system)
    rows = [core_exchange(row) for row in stored.exchanges]
    attempts = trajectory.run.settings.get("reply_attempts", 3)
    try:
        return play_back(
            episode_of(trajectory, system, task), rows, system.parsers, seeds, attempts
        )
    except NotStored as error:
        asked = f"an ask of {error.ask.role} {error.ask.seat}".strip()
        where = f"step {error.step}, slot {error.slot}"
        raise Differs(where, "no reply is stored", asked) from None
    except AskMismatch as error:
        raise _other_ask(error, stored.exchanges) from None
    except CoreError as error:
        raise Differs("the episode", trajectory.termination, str(error)) from None
    except Exception as error:  # rows that contradict each other may break a protocol anywhere
        broken = f"it broke off with {type(error).__name__}: {error}"
        raise Differs("the episode", trajectory.termination, broken) from error


# --- the log --------------------------------------------------------------------------------------


def _check_exchanges(
    rows: Sequence[Exchange],
    system: System,
    seed_for: Callable[[int, int], int],
    wrong: Mapping[str | int, str],
) -> None:
    """Check each exchange: messages, digest, seed, order of attempts, and the parsed reply."""
    slots: dict[tuple[int, int], list[Exchange]] = defaultdict(list)
    for row in rows:
        slots[row.step, row.slot].append(row)
    for (step, slot), attempts in slots.items():
        for number, row in enumerate(attempts, 1):
            place = f"step {step}, slot {slot}"
            _same(f"{place}, attempts", row.attempt, number)
            where = f"{place}, attempt {number}" if len(attempts) > 1 else place
            _same(f"{where}, seed", row.seed, seed_for(step, slot))
            for position, name in enumerate(row.messages, 1):
                if name in wrong:
                    now = wrong[name] or "no message is stored"
                    raise Differs(f"{where}, message {position}, digest", name, now)
            if row.answerer_id in wrong:
                digest_now = wrong[row.answerer_id]
                raise Differs(f"{where}, who answered", "another digest", digest_now)
            _same(f"{where}, digest of the ask", row.ask_digest, _digest_of(row))
            _check_reading(where, row, system)
            stands = row.withdrawn_at is None and row.state in (S.ANSWERED, S.DECLINED)
            if stands and number < len(attempts):
                raise Differs(f"{where}, attempts", len(attempts), number)


def _check_roles(stored: StoredTrajectory, system: System, task: types.Task) -> None:
    """Check that each answerer fills its role according to the run.

    Roles that changed hands are left out, because who filled them in between is not stored. For
    people only the kind is compared, not the person.
    """
    run = stored.trajectory.run
    assignments = {
        (role, seat): assignment
        for role, given in run.roles.items()
        for seat, assignment in zip(system.seats(role, run.settings), given, strict=False)
    }
    begins = 0  # What a branch shares was checked where it is stored; its edit has its author.
    if run.kind == Run.Kind.BRANCH:
        begins = stored.trajectory.branch.steps
    for row in stored.exchanges:
        if row.role in stored.trajectory.role_changes or row.step < begins:
            continue
        who = row.answerer
        name = f"{row.role}, seat {row.seat}" if row.seat else row.role
        where = f"roles of the run, {name}"
        assignment = assignments.get((row.role, row.seat))
        if assignment is None:
            raise Differs(where, "nobody", f"{who.kind} {who.name} {who.version}")
        if not _fills(who, assignment, system, task):
            named = assignment.get("policy") or assignment.get("endpoint") or ""
            stored_words = f"{assignment.get('kind', '')} {named} {assignment.get('version', '')}"
            raise Differs(where, stored_words.strip(), f"{who.kind} {who.name} {who.version}")


def _fills(
    who: AnswererVersion, assignment: Mapping[str, Any], system: System, task: types.Task
) -> bool:
    """Return whether a role assignment stands for an answerer."""
    kind, version = assignment.get("kind"), assignment.get("version")
    if kind == "human" or who.kind == "human":
        return kind == who.kind
    if kind == "endpoint" or who.kind == "endpoint":
        return kind == who.kind and who.digest == version
    policy = system.scripted.get(str(assignment.get("policy")))
    if policy is None or policy.version != version:
        # This version of the script is not available, so only name and version are compared.
        return who.version == version and (
            policy is not None or who.name == assignment.get("policy")
        )
    answerer = policy.build(task, assignment.get("parameters", {}))
    return answerer.identity.digest == who.digest


def _digest_of(row: Exchange) -> str:
    """Compute the digest of an ask from its stored parts, as ``core.types.Ask.digest`` does."""
    return digest(
        [
            row.role,
            row.seat,
            row.messages,
            row.expect.get("kind"),
            row.expect.get("params"),
            row.tools,
        ]
    )


def _check_reading(where: str, row: Exchange, system: System) -> None:
    """Check that the parser turns the stored text into the stored value or reason."""
    if row.state not in (S.ANSWERED, S.UNREADABLE):
        _same(f"{where}, value", row.value, None)
        return
    state, value, reason = read(row.text, row.expect, system)
    _same(f"{where}, state", row.state, state)
    _same(f"{where}, value", row.value, value)
    _same(f"{where}, reason", row.reason, reason)


def read(text: str, expect: Mapping[str, Any], system: System) -> tuple[str, Any, str]:
    """Parse a text again; return its state, value and reason."""
    try:
        value = system.parsers[expect["kind"]](text, expect["params"])
    except UnreadableReply as error:
        return S.UNREADABLE, None, str(error)
    return S.ANSWERED, storable(value), ""


def _check_suggestions(stored: StoredTrajectory, system: System) -> None:
    """Check that suggestions to people parse to their stored values."""
    if not stored.suggestions:
        return
    asked = {(row.step, row.slot): row.expect for row in stored.exchanges}
    for row in stored.suggestions:
        expect = asked.get((row.step, row.slot))
        if expect is not None and row.state in (S.ANSWERED, S.UNREADABLE):
            where = f"step {row.step}, slot {row.slot}, suggestion"
            _same(where, [row.state, row.value], list(read(row.text, expect, system)[:2]))


def _other_ask(error: AskMismatch, rows: Iterable[Exchange]) -> Differs:
    """Return the first difference between a derived and a stored ask."""
    where = f"step {error.step}, slot {error.slot}, {error.difference}"
    here = [r for r in rows if (r.step, r.slot) == (error.step, error.slot) and not r.withdrawn_at]
    row = here[0] if here else None
    if row is None or error.message is None:
        return Differs(where, "the ask that is stored", "another ask")
    message = StoredMessage.objects.get(pk=row.messages[error.message])
    return Differs(where, message.text, error.derived)


# --- what was derived -----------------------------------------------------------------------------


def compare_turns(stored: StoredTrajectory, played: Playback) -> None:
    """Compare turns with their violations and scores, column by column."""
    _same("number of turns", len(stored.turns), len(played.turns))
    last = played.turns[-1].index if played.turns else 0
    _same("turns counted", stored.trajectory.turn_count, last)
    settled = {(row.step, row.slot): row for row in stored.exchanges}
    about = stored.trajectory.judged
    for row, turn in zip(stored.turns, played.turns, strict=True):
        where = f"turn {turn.index}"
        _same(f"{where}, number", row.index, turn.index)
        _same(f"{where}, text", row.text, turn.text)
        _same(f"{where}, feedback", row.feedback, turn.feedback)
        _same_parts(where, row.payload, turn.payload)
        final = turn.index == (about.turn_count if about else last)
        _same(f"{where}, last", row.is_final, final and about is None)
        _same_rows(
            f"{where}, violation",
            [_violation(v) for v in stored.violations[row.pk]],
            [_violation(v) for v in turn.violations],
        )
        scores = []
        for score in turn.scores:
            by = settled[score.step, score.slot]
            value = None if score.value is None else float(score.value)
            scores.append(
                {
                    "judge": score.seat,
                    "dimension": score.dimension,
                    "replicate": score.replicate,
                    "value": value,
                    "reason": score.reason,
                    "exchange": by.pk,
                    "answerer": by.answerer_id,
                }
            )
        _same_rows(f"{where}, score", [_score(s) for s in stored.scores[turn.index]], scores)
        _check_copies(where, stored, turn.index, final)


def _violation(row: Violation | types.Violation) -> dict[str, Any]:
    names = ("key", "kind", "text", "revealed", "new", "repeated")
    return {name: getattr(row, name) for name in names}


def _score(row: JudgeScore) -> dict[str, Any]:
    return {
        "judge": row.seat,
        "dimension": row.dimension,
        "replicate": row.replicate,
        "value": row.value,
        "reason": row.reason,
        "exchange": row.exchange_id,
        "answerer": row.judge_id,
    }


def _check_copies(where: str, stored: StoredTrajectory, index: int, final: bool) -> None:
    """Check that the keys copied into scores are those of their turn."""
    about = stored.trajectory.judged or stored.trajectory
    run = about.run
    wanted = [about.pk, run.pk, run.agent_id, run.level, run.condition, index, final]
    for row in stored.scores[index]:
        copies = [
            row.trajectory_id, row.run_id, row.agent_id, row.level, row.condition, row.turn_index,
            row.is_final,
        ]  # fmt: skip
        _same(f"{where}, what scores are grouped by", copies, wanted)


def compare_outcome(stored: StoredTrajectory, played: Playback) -> None:
    """Compare the ending and every metric."""
    row, outcome = stored.trajectory, played.outcome
    if outcome is None:
        raise Differs("ending", row.termination, "it has not ended")
    _same("ending", row.termination, outcome.termination)
    _same_parts("metric", row.metrics, outcome.metrics)
    _same_parts("why undefined", row.undefined, outcome.undefined)
    _same_parts("record of the ending", row.payload, outcome.payload)
    _same("version of the scorer", row.scorer_version, row.run.pins.get("scorer", ""))


# --- comparing ------------------------------------------------------------------------------------


def _same(where: str, stored: Any, recomputed: Any) -> None:
    # Values are JSON, where tuples are lists, and 3 equals 3.0.
    if stored != recomputed and canonical_json(stored) != canonical_json(recomputed):
        raise Differs(where, stored, recomputed)


def _same_parts(where: str, stored: Mapping[str, Any], recomputed: Mapping[str, Any]) -> None:
    """Compare two objects key by key."""
    for key in dict.fromkeys((*stored, *recomputed)):
        absent = "not there"
        if (key in stored) != (key in recomputed):
            raise Differs(f"{where}, {key}", stored.get(key, absent), recomputed.get(key, absent))
        _same(f"{where}, {key}", stored[key], recomputed[key])


def _same_rows(
    where: str, stored: Sequence[Mapping[str, Any]], recomputed: Sequence[Mapping[str, Any]]
) -> None:
    for number, (before, now) in enumerate(zip(stored, recomputed, strict=False), 1):
        named = now.get("dimension") or now["key"]
        _same_parts(f"{where} {number} ({named})", before, now)
    _same(f"{where}s counted", len(stored), len(recomputed))


def _text(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=list)


def _beside(stored: str, recomputed: str) -> tuple[str, str]:
    """Cut two texts at the same place, a little before their first difference."""
    if max(len(stored), len(recomputed)) <= SHOWN:
        return stored, recomputed
    pairs = enumerate(zip(stored, recomputed, strict=False))
    parting = next((place for place, (a, b) in pairs if a != b), min(len(stored), len(recomputed)))
    start = max(0, parting - LEAD)

    def cut(text: str) -> str:
        end = "…" if len(text) > start + SHOWN else ""
        return ("…" if start else "") + text[start : start + SHOWN] + end

    return cut(stored), cut(recomputed)

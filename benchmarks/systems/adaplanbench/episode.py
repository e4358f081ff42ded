"""The runtime protocol of AdaPlanBench (paper, section 2.2 and appendix C.3) as a generator."""

import random
from collections.abc import Generator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from benchmarks.core.system import PROMPTS
from benchmarks.core.types import (
    Ask,
    Constraint,
    Episode,
    Message,
    Outcome,
    Reply,
    Score,
    Task,
    Turn,
    Violation,
)
from benchmarks.systems.adaplanbench.asks import (
    AdaPlanAsks,
    EarlierDialogue,
    RevealedByTurn,
    split_constraints,
)
from benchmarks.systems.adaplanbench.metrics import TurnRecord, outcome_metrics
from benchmarks.systems.adaplanbench.protocol import (
    COUNTED,
    DIMENSIONS,
    KINDS,
    Disclosed,
    Disclosure,
    Patience,
    RubricRating,
    rate,
    read_violations,
)

VALID, EARLY, MAXED, SPENT = "valid_plan", "early_stop", "max_turns", "refinement_spent"
JUDGE, SIMULATOR = "judge_failure", "simulator_failure"
UNREADABLE, EXHAUSTED, DECLINED = "agent_unreadable", "pool_exhausted", "agent_declined"


@dataclass
class _EpisodeState:
    """The state of the protocol between turns."""

    dialogue: list[Message] = field(default_factory=list)
    plans: list[str] = field(default_factory=list)
    revealed: list[tuple[Constraint, ...]] = field(default_factory=list)
    disclosed: Disclosed = field(default_factory=Disclosed)
    records: list[TurnRecord] = field(default_factory=list)
    refining: int = 0


def episode(task: Task, settings: Mapping[str, Any], rng: random.Random) -> Episode:
    """Play one trajectory: plan, judge, reveal, re-plan, until valid, stalled, or out of turns."""
    return _play(_TaskInPlay(task, settings), settings)


class _TaskInPlay:
    """The task laid out for play: its asks, and its constraints by key."""

    def __init__(self, task: Task, settings: Mapping[str, Any]) -> None:
        constraints = split_constraints(task, settings["constraints"])
        self.asks = AdaPlanAsks(task, constraints, settings.get(PROMPTS, ""))
        self.by_key = {c.key: c for kind in KINDS for c in constraints[kind]}
        self.judged = [kind for kind in KINDS if constraints[kind]]
        self.seats = tuple(str(n) for n in range(1, settings["rubric_judges"] + 1))
        self.counted = COUNTED[settings["dimensions"]]


def _play(table: _TaskInPlay, settings: Mapping[str, Any]) -> Episode:
    state = _EpisodeState()
    patience = Patience(settings["patience"])
    while True:
        index = len(state.plans) + 1
        dialogue = EarlierDialogue(
            state.plans, state.dialogue, RevealedByTurn(tuple(state.revealed))
        )
        (plan,) = yield from _put([table.asks.agent(dialogue, settings["tracking"])])
        if not plan.readable:
            return _end(_no_plan(plan), state, patience, settings, plan.reason)
        text = plan.value["text"]
        judged, scored = yield from _assess(table, text, index)
        scores = _scores(table.seats, scored)
        rating = rate(_by_dimension(scores), settings)
        violated = read_violations(judged)
        if violated is None:
            yield Turn(index, text, payload=_payload(rating, None, ""), scores=scores)
            return _end(JUDGE, state, patience, settings, _why(judged))
        disclosure = state.disclosed.disclose(violated)
        points = [
            (table.by_key[key], key not in disclosure.new[kind])
            for kind in KINDS
            for key in disclosure.revealed[kind]
        ]
        record = TurnRecord(disclosure, rating)
        ending = _ending(index, record, state, patience, settings)
        feedback, kind = "", ""
        if points:
            kind = "constraints"
            (reply,) = yield from _put([table.asks.simulator(dialogue, text, points)])
        elif ending is None:
            kind = "refinement"
            failed = _failed(table, rating, scored, settings["tau"])
            (reply,) = yield from _put([table.asks.refiner(dialogue, text, failed)])
        if kind:
            feedback = reply.value if reply.readable else ""
        yield Turn(
            index,
            text,
            feedback,
            _payload(rating, disclosure, kind, refining=state.refining > 0),
            _violations(table, disclosure),
            scores,
        )
        state.records.append(record)
        if ending is not None:  # nobody waits for the feedback, so its failure takes nothing away
            return _end(ending, state, patience, settings)
        if not reply.readable:
            return _end(SIMULATOR, state, patience, settings, reply.reason)
        if state.refining or kind == "refinement":
            state.refining += 1
        state.plans.append(text)
        state.revealed.append(tuple(constraint for constraint, _ in points))
        state.dialogue += [Message("assistant", text), Message("user", feedback)]


def _put(asks: Sequence[Ask]) -> Generator[Sequence[Ask], Sequence[Reply], Sequence[Reply]]:
    """Yield one batch and hand on its replies."""
    return (yield asks)


def _assess(
    table: _TaskInPlay, plan: str, turn: int
) -> Generator[Sequence[Ask], Sequence[Reply], tuple[dict[str, Reply], list[Reply]]]:
    """Yield all judges at once: their asks do not depend on each other."""
    asks = [table.asks.constraint_judge(kind, plan, turn) for kind in table.judged]
    asks += [table.asks.rubric_judge(seat, plan, turn) for seat in table.seats]
    replies = yield from _put(asks)
    split = len(table.judged)
    return dict(zip(table.judged, replies[:split], strict=True)), list(replies[split:])


def _ending(
    index: int,
    record: TurnRecord,
    state: _EpisodeState,
    patience: Patience,
    settings: Mapping[str, Any],
) -> str | None:
    """Return the termination that this turn brings, or None when the dialogue goes on.

    Refinement starts at the first valid plan that fails the rubric. From then on patience and the
    turn budget are off: every turn uses one of the k, until one is valid and passes.
    """
    passed = record.rating.passed[settings["dimensions"]]
    if record.valid and passed is not False:
        return VALID
    if state.refining or (record.valid and settings["refinement"]):
        return SPENT if state.refining >= settings["refinement"] else None
    if record.valid:
        return VALID
    patience.spend(index, record.disclosure)
    if settings["novelty"] in patience.stopped_at:
        return EARLY
    return MAXED if index >= settings["max_turns"] else None


def _scores(seats: Sequence[str], replies: Sequence[Reply]) -> tuple[Score, ...]:
    """Return one score per seat and dimension; an unreadable reply leaves all of its seat
    unscored.
    """
    scores = []
    for seat, reply in zip(seats, replies, strict=True):
        given = reply.value["scores"] if reply.readable else {}
        reasons = reply.value["reasons"] if reply.readable else {}
        for dimension in DIMENSIONS:
            value = given.get(dimension.key)
            why = reasons.get(dimension.key, "the judge gave no score") if value is None else ""
            if not reply.readable:
                why = f"reply {reply.state}: {reply.reason}"
            scores.append(Score(seat, dimension.key, value, why, reply.step, reply.slot))
    return tuple(scores)


def _by_dimension(scores: Sequence[Score]) -> dict[str, list[float | None]]:
    grouped: dict[str, list[float | None]] = {d.key: [] for d in DIMENSIONS}
    for score in scores:
        grouped[score.dimension].append(score.value)
    return grouped


def _failed(
    table: _TaskInPlay, rating: RubricRating, replies: Sequence[Reply], tau: float
) -> list[dict[str, Any]]:
    """Return the counted dimensions below the threshold, with what the judges said of them."""
    titles = {dimension.key: dimension.title for dimension in DIMENSIONS}
    failed = []
    for key in table.counted:
        mean = rating.means[key]
        if mean is not None and mean < tau - 1e-9:
            given = [r.value["reasons"].get(key, "") for r in replies if r.readable]
            reasons = [text for text in given if text]
            failed.append({"dimension": key, "title": titles[key], "reasons": reasons})
    return failed


def _violations(table: _TaskInPlay, disclosure: Disclosure) -> tuple[Violation, ...]:
    return tuple(
        Violation(
            key,
            kind,
            table.by_key[key].text,
            revealed=key in disclosure.revealed[kind],
            new=key in disclosure.new[kind],
            repeated=key in disclosure.repeated[kind],
        )
        for kind in KINDS
        for key in disclosure.violated[kind]
    )


def _payload(
    rating: RubricRating, disclosure: Disclosure | None, feedback: str, refining: bool = False
) -> dict[str, Any]:
    """Return the turn's record for pages: validity, means and passing; null where unknown."""
    return {
        "valid": None if disclosure is None else disclosure.valid,
        "means": dict(rating.means),
        "passed": dict(rating.passed),
        "feedback_on": feedback,
        "refining": refining,
    }


def _no_plan(reply: Reply) -> str:
    if reply.state == "unreadable":
        return UNREADABLE
    return EXHAUSTED if reply.reason.startswith(EXHAUSTED) else DECLINED


def _why(replies: Mapping[str, Reply]) -> str:
    lost = [f"{kind} judge: {r.reason}" for kind, r in replies.items() if not r.readable]
    return "; ".join(lost)


def _end(
    termination: str,
    state: _EpisodeState,
    patience: Patience,
    settings: Mapping[str, Any],
    reason: str = "",
) -> Outcome:
    metrics, undefined = outcome_metrics(termination, state.records, patience, settings)
    payload: dict[str, Any] = {"states": [record.state(settings) for record in state.records]}
    if reason:
        payload["reason"] = reason
    return Outcome(termination, metrics, undefined, payload)

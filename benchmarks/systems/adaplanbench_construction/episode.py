"""The construction pipeline of AdaPlanBench (paper, section 2.1 and appendix B) as a generator."""

from collections.abc import Generator, Mapping, Sequence
from typing import Any, NamedTuple

from benchmarks.core.candidates import KEPT
from benchmarks.core.system import PROMPTS
from benchmarks.core.types import Ask, Episode, Outcome, Reply, Task, Turn
from benchmarks.systems.adaplanbench.protocol import KINDS, USER, WORLD
from benchmarks.systems.adaplanbench_construction.asks import (
    RoundAsks,
    ask_filter,
    ask_rewriter,
    planner_seats,
)
from benchmarks.systems.adaplanbench_construction.metrics import outcome_metrics
from benchmarks.systems.adaplanbench_construction.pools import (
    CandidatePool,
    ConstraintPool,
    PooledCandidate,
    PooledConstraint,
    levels_of,
)
from benchmarks.systems.adaplanbench_construction.protocol import (
    CONSTRUCTED,
    FILTERED_OUT,
)

# One planner's pool of one kind.
Place = tuple[str, str]


class _Ended(Exception):
    """Somebody gave no reply that could be used; the construction ends with what there is."""

    def __init__(self, termination: str, reason: str) -> None:
        self.termination, self.reason = termination, reason
        super().__init__(reason)


class _ConstructionState:
    """The state of a construction: the query, a pool for each planner and kind, and the books."""

    def __init__(self, task: Task, settings: Mapping[str, Any]) -> None:
        self.task = task
        self.reference = str(task.payload.get("solution", ""))
        self.query = ""
        self.rounds = 0
        self.count = settings["plans_per_ask"]
        seats = planner_seats(settings["planners"])
        self.pools: dict[Place, ConstraintPool] = {
            (s, kind): ConstraintPool() for s in seats for kind in KINDS
        }
        self.books = {kind: CandidatePool(kind) for kind in KINDS}

    def pools_of(self, kind: str) -> dict[str, ConstraintPool]:
        return {seat: pool for (seat, of), pool in self.pools.items() if of == kind}

    def end(self, termination: str, **more: Any) -> Outcome:
        candidates = [entry for book in self.books.values() for entry in book.entries.values()]
        levels = levels_of(self.books.values(), self.rounds)
        metrics, undefined = outcome_metrics(termination, candidates, levels)
        payload = {
            "query": self.query,
            "reference": self.reference,
            "candidates": [entry.row() for entry in candidates],
            "levels": levels,
            **more,
        }
        return Outcome(termination, metrics, undefined, payload)


def episode(task: Task, settings: Mapping[str, Any]) -> Episode:
    """Play one problem: rewritten, filtered, and given constraints round by round.

    The payload holds the problem's ``solution``, which every profile leaves possible.
    """
    state = _ConstructionState(task, settings)
    try:
        return (yield from _construct(state, settings))
    except _Ended as ended:
        return state.end(ended.termination, reason=ended.reason)


def _construct(state: _ConstructionState, settings: Mapping[str, Any]) -> Episode:
    version = settings.get(PROMPTS, "")
    (query,) = yield from _put([ask_rewriter(state.task, version)])
    state.query = query
    (verdict,) = yield from _put([ask_filter(query, version)])
    if not verdict["fit"]:
        failed = verdict["failed"]
        return state.end(FILTERED_OUT, reason=verdict["reason"], failed=failed)
    for place in range(1, settings["rounds"] + 1):
        yield (yield from _round(state, RoundAsks(query, state.reference, place, version)))
        state.rounds = place
    return state.end(CONSTRUCTED)


def _put(asks: Sequence[Ask]) -> Generator[Sequence[Ask], Sequence[Reply], list[Any]]:
    """Yield one batch and hand on what was replied; a reply that is none ends the episode."""
    if not asks:
        return []
    replies = yield asks
    for ask, reply in zip(asks, replies, strict=True):
        if not reply.readable:
            role = "planner" if ask.role == "agent" else ask.role
            raise _Ended(f"{role}_{reply.state}", reply.reason)
    return [reply.value for reply in replies]


class _Gathered(NamedTuple):
    """The candidates of a round before the checker: counts by kind, and what mergers forgot."""

    plans: int
    forgotten: Mapping[str, list[str]]


def _round(
    state: _ConstructionState, asks: RoundAsks
) -> Generator[Sequence[Ask], Sequence[Reply], Turn]:
    gathered = yield from _gather(state, asks)
    proposed = {kind: state.books[kind].propose(asks.place, state.pools_of(kind)) for kind in KINDS}
    wanted = [kind for kind in KINDS if proposed[kind]]
    verdicts = yield from _put(
        [asks.checker(kind, state.books[kind].kept(), proposed[kind]) for kind in wanted]
    )
    decided: dict[str, list[PooledCandidate]] = {kind: [] for kind in KINDS}
    for kind, verdict in zip(wanted, verdicts, strict=True):
        decided[kind] = state.books[kind].decide(proposed[kind], verdict["decisions"])
    return _turn(state, asks.place, gathered, decided)


def _gather(
    state: _ConstructionState, asks: RoundAsks
) -> Generator[Sequence[Ask], Sequence[Reply], _Gathered]:
    """Sample, extract and merge in three batches, each for all planners and both kinds at once."""
    places = list(state.pools)
    sampled = yield from _put(
        [asks.planner(seat, kind, state.pools[seat, kind], state.count) for seat, kind in places]
    )
    texts = [[plan["text"] for plan in reply["plans"]] for reply in sampled]
    extracted = yield from _put(
        [asks.extractor(kind, plans) for (_, kind), plans in zip(places, texts, strict=True)]
    )
    new = {
        place: [PooledConstraint(row["text"], row["about"]) for row in reply["candidates"]]
        for place, reply in zip(places, extracted, strict=True)
    }
    merging = [place for place in places if new[place]]
    merged = yield from _put(
        [asks.merger(place[1], state.pools[place], new[place]) for place in merging]
    )
    forgotten: dict[str, list[str]] = {kind: [] for kind in KINDS}
    for place, reply in zip(merging, merged, strict=True):
        pool, lost = state.pools[place].merge(new[place], reply["constraints"])
        state.pools[place] = pool
        forgotten[place[1]] += lost
    return _Gathered(sum(map(len, texts)), forgotten)


def _turn(
    state: _ConstructionState,
    place: int,
    gathered: _Gathered,
    decided: Mapping[str, Sequence[PooledCandidate]],
) -> Turn:
    kept = {kind: [e.key for e in decided[kind] if e.decision == KEPT] for kind in KINDS}
    payload = {
        "round": place,
        "plans": gathered.plans,
        "pools": {
            kind: {
                seat: [item.text for item in pool.items]
                for seat, pool in state.pools_of(kind).items()
            }
            for kind in KINDS
        },
        "candidates": [entry.row() for kind in KINDS for entry in decided[kind]],
        "kept": kept,
        "forgotten": dict(gathered.forgotten),
    }
    return Turn(place, _in_words(place, gathered.plans, decided, kept), payload=payload)


def _in_words(
    place: int,
    plans: int,
    decided: Mapping[str, Sequence[PooledCandidate]],
    kept: Mapping[str, Sequence[str]],
) -> str:
    (world, kept_world), (user, kept_user) = (
        (len(decided[kind]), len(kept[kind])) for kind in (WORLD, USER)
    )
    return (
        f"Round {place}, {plans} plans: {world} candidates about the world, {kept_world} kept; "
        f"{user} about the user, {kept_user} kept."
    )

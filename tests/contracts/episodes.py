"""Playing the episodes of any registered system with scripted answerers, watched from outside."""

import json
import random
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cache
from typing import Any

from benchmarks.core.answerers import Answer, Answerer, Cast, Identity
from benchmarks.core.digests import derive_seed
from benchmarks.core.driver import Driver, Finished, Result
from benchmarks.core.log import MemoryLog
from benchmarks.core.registry import SYSTEMS, get_system
from benchmarks.core.system import System, read_settings
from benchmarks.core.types import Ask, Batch, Episode, Task, Turn

AGENT = "agent"


@dataclass(frozen=True)
class Case:
    """One episode: a system's sample task, a cast with one policy exchanged, and settings."""

    key: str
    policy: str
    sample: int = 0
    level: int = 0
    settings: Mapping[str, Any] = field(default_factory=dict)
    # Whether the task comes from a database.
    stored: bool = False

    def __str__(self) -> str:
        changed = "".join(f"-{name}={value}" for name, value in self.settings.items())
        return f"{self.key}-{self.policy or 'defaults'}{changed}"

    @property
    def system(self) -> System:
        return get_system(self.key)

    def all_settings(self) -> dict[str, Any]:
        return read_settings(self.system.settings, self.settings)

    def task(self) -> Task:
        samples = _samples(self.key)
        task, profiles = samples[self.sample % len(samples)]
        if self.stored:
            task = replace(task, payload=as_stored(task.payload), shared=as_stored(task.shared))
        if not profiles:
            return task
        return replace(task, profile=profiles[self.level % len(profiles)])

    def episode(self) -> Episode:
        task = self.task()
        rng = random.Random(derive_seed("contract", task.id))
        return self.system.episode(task, self.all_settings(), rng)

    def answerer(self, role: str, seat: str, task: Task | None = None) -> Answerer:
        """A freshly built answerer for a seat: the case's policy in its role, else the default."""
        known = self.system.scripted
        (names,) = [r.default for r in self.system.roles if r.name == role]
        place = self.system.seats(role, self.all_settings()).index(seat)
        name = names[place % len(names)]
        if self.policy and known[self.policy].role == role:
            name = self.policy
        return known[name].build(task or self.task(), known[name].parameters)

    def cast(self) -> Cast:
        settings = self.all_settings()
        return Cast(
            {
                role.name: {
                    seat: self.answerer(role.name, seat)
                    for seat in self.system.seats(role.name, settings)
                }
                for role in self.system.roles
            }
        )

    def driver(self, log: MemoryLog, cast: Cast | None = None) -> Driver:
        def seed_for(step: int, slot: int) -> int:
            return derive_seed("contract", self.task().id, step, slot)

        return Driver(cast or self.cast(), log, self.system.parsers, seed_for)


@cache
def _samples(key: str) -> Any:
    return get_system(key).sample_tasks()


# Of what a system repeats, two times show how one leads to the next.
TWICE = ("rounds", "planners")


def short_settings(key: str) -> dict[str, Any]:
    """Settings under which the episodes of a system are no longer than a contract needs."""
    return {s.name: 2 for s in get_system(key).settings if s.name in TWICE}


def cases() -> Iterator[Case]:
    """Every scripted policy of every system, spread over the sample tasks and their levels."""
    for key in SYSTEMS:
        for number, policy in enumerate(get_system(key).scripted):
            yield Case(key, policy, number, number, short_settings(key))


def conditions() -> Iterator[Case]:
    """Every system under each setting's other values, one setting at a time."""
    for key in SYSTEMS:
        for setting in get_system(key).settings:
            values: list[Any] = list(setting.choices)
            if setting.kind == "bool":
                values = [True, False]
            elif setting.kind in ("int", "float"):
                values = [v for v in (setting.minimum, setting.maximum) if v is not None]
                values = [int(v) for v in values] if setting.kind == "int" else values
            for value in values:
                if value != setting.default:
                    yield Case(key, "", settings={**short_settings(key), setting.name: value})


@dataclass(frozen=True)
class Played:
    """An undisturbed episode: everything that it yielded, was answered and came to."""

    items: list[Batch | Turn]
    spoken: list[tuple[Ask, int, Answer]]
    log: MemoryLog
    result: Result
    writes: int


class Counting(MemoryLog):
    """Counts writes, as ``DyingLog`` does."""

    writes = 0

    def record_sent(self, calls: Any, settled: Any = ()) -> None:
        super().record_sent(calls, settled)
        self.writes += 1

    def record_verdict(self, call: Any, verdict: Any) -> None:
        super().record_verdict(call, verdict)
        self.writes += 1

    def record_turn(self, turn: Turn) -> None:
        super().record_turn(turn)
        self.writes += 1

    def record_outcome(self, outcome: Any) -> None:
        super().record_outcome(outcome)
        self.writes += 1


@dataclass(frozen=True)
class _Overheard:
    """An answerer whose answers are noted."""

    inner: Answerer
    spoken: list[tuple[Ask, int, Answer]]

    @property
    def identity(self) -> Identity:
        return self.inner.identity

    @property
    def instant(self) -> bool:
        return True

    def answer(self, ask: Ask, seed: int) -> Answer:
        answer = self.inner.answer(ask, seed)
        self.spoken.append((ask, seed, answer))
        return answer


@cache
def play(case_key: str, policy: str, sample: int = 0, level: int = 0) -> Played:
    """The undisturbed episode of one of ``cases``, played once."""
    return watch(Case(case_key, policy, sample, level, short_settings(case_key)))


def watch(case: Case) -> Played:
    spoken: list[tuple[Ask, int, Answer]] = []
    items: list[Batch | Turn] = []
    cast = Cast(
        {
            role: {seat: _Overheard(who, spoken) for seat, who in seats.items()}
            for role, seats in case.cast().roles.items()
        }
    )
    log = Counting()
    result = case.driver(log, cast).run(_noted(case.episode(), items))
    assert isinstance(result, Finished)
    return Played(items, spoken, log, result, log.writes)


def _noted(episode: Episode, items: list[Batch | Turn]) -> Episode:
    send = None
    while True:
        try:
            item = episode.send(send)
        except StopIteration as end:
            return end.value
        items.append(item)
        send = yield item


def as_stored(value: Any) -> Any:
    """JSON as a database may give it back: PostgreSQL sorts the keys, short ones first."""
    if isinstance(value, Mapping):
        keys = sorted(value, key=lambda key: (len(key.encode()), key.encode()))
        return {key: as_stored(value[key]) for key in keys}
    if isinstance(value, list | tuple):
        return [as_stored(item) for item in value]
    return value


def through_json(log: MemoryLog) -> MemoryLog:
    """The log as a store gives it back: values and payloads have been JSON in between."""
    for key, row in log.rows.items():
        log.rows[key] = replace(row, value=as_stored(json.loads(json.dumps(row.value))))
    for index, turn in log.turns.items():
        payload = as_stored(json.loads(json.dumps(turn.payload)))
        log.turns[index] = replace(turn, payload=payload)
    return log


def settled(log: MemoryLog) -> dict[tuple[int, int], list[tuple[Any, ...]]]:
    """Return what came back by (step, slot), whatever was lost on the way."""
    found: dict[tuple[int, int], list[tuple[Any, ...]]] = {}
    for row in log.exchanges():
        if row.state not in ("lost", "failed"):
            said = (row.state, row.ask_digest, row.text, row.value, row.reason)
            found.setdefault((row.step, row.slot), []).append(said)
    return found

"""Shared parts of tests of endpoints: asks, answerers on a fake endpoint, a clock to set."""

import random
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from benchmarks.core.digests import derive_seed
from benchmarks.core.registry import get_system
from benchmarks.core.system import read_settings
from benchmarks.core.types import Ask, Episode, Expect, Json, Message, Task
from benchmarks.llm.config import EndpointConfig
from benchmarks.llm.endpoint import EndpointAnswerer
from benchmarks.llm.retries import RetryPolicy
from devtools.fake_endpoint.server import FakeServer

VARIABLE = "PLANJURY_KEY_TEST"
KEY = "pj-Zm9xIGp1bXBzIG92ZXI_4711-abcdefgh"
QUICK = RetryPolicy(tries=4, base=0.01, total=20.0)
_OF_ANSWERERS = ("schemas", "hosts", "policy", "quotes", "clock", "wall", "sleep")

LOOKUP: Json = {
    "type": "function",
    "function": {
        "name": "look_up",
        "description": "Finds a thing.",
        "parameters": {"type": "object", "properties": {"thing": {"type": "string"}}},
    },
}


def ask(*said: str, kind: str = "plan", tools: tuple[Json, ...] = (), **params: Any) -> Ask:
    """An ask whose messages are a brief and then, in turn, what user and assistant say."""
    brief, *rest = said or ("You help.", "How do I dry a wet floor?")
    speakers = ("user", "assistant")
    dialogue = [Message(speakers[n % 2], text) for n, text in enumerate(rest)]  # type: ignore[arg-type]
    return Ask("agent", (Message("system", brief), *dialogue), Expect(kind, params), tools=tools)


def config(server: FakeServer | None = None, model: str = "fake", **changes: Any) -> EndpointConfig:
    url = server.base_url if server else "http://localhost:1/v1"
    return EndpointConfig(**{"name": "test", "base_url": url, "model": model, **changes})


def answerer(server: FakeServer, model: str = "fake", **changes: Any) -> EndpointAnswerer:
    """A quick and impatient answerer with a key."""
    own = {name: changes.pop(name) for name in _OF_ANSWERERS if name in changes}
    changes = {"timeout": 5.0, "key_variable": VARIABLE, **changes}
    made = EndpointAnswerer(config(server, model, **changes), environ={VARIABLE: KEY})
    return replace(made, **{"policy": QUICK, **own})


class Clock:
    """A clock that goes when it is told to."""

    def __init__(self) -> None:
        self.now = 1000.0
        self.slept: list[float] = []

    def __call__(self) -> float:
        return self.now

    def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        self.now += seconds


class Play:
    """An AdaPlanBench task, ready to be played any number of times."""

    system = get_system("adaplanbench")

    def __init__(self, **settings: Any) -> None:
        task, profiles = self.system.sample_tasks()[0]
        self.task: Task = replace(task, profile=profiles[-1])
        self.settings = read_settings(self.system.settings, settings)

    def episode(self) -> Episode:
        return self.system.episode(self.task, self.settings, random.Random(0))

    def seats(self) -> Iterator[tuple[str, tuple[str, ...]]]:
        for role in self.system.roles:
            yield role.name, self.system.seats(role.name, self.settings)

    def seed_for(self, step: int, slot: int) -> int:
        return derive_seed("play", 5, step, slot)

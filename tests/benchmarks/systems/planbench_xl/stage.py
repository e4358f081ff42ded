"""Playing queries of the small world action by action."""

import random
from dataclasses import replace
from typing import Any

from benchmarks.core.answerers import Cast
from benchmarks.core.digests import canonical_json, derive_seed
from benchmarks.core.driver import Driver, Finished
from benchmarks.core.log import MemoryLog
from benchmarks.core.system import read_settings
from benchmarks.core.types import Ask, Outcome, Reply, Task, Turn
from benchmarks.systems.planbench_xl.environment.catalogue import ToolWorld, world_of
from benchmarks.systems.planbench_xl.scripted import given_values
from benchmarks.systems.planbench_xl.system import SYSTEM
from benchmarks.systems.planbench_xl.world import load_world


def task_named(key: str) -> Task:
    return next(task for task in load_world().tasks if task.id == key)


class Stage:
    """An episode under way: ``say`` gives a reply and returns the turn that it makes."""

    def __init__(self, key: str = "grower-of-entry", task: Task | None = None, **given: Any):
        self.task = task or task_named(key)
        self.world: ToolWorld = world_of(self.task.shared)
        self.settings = read_settings(SYSTEM.settings, given)
        self.given = given_values(self.task, self.world)
        self.episode = SYSTEM.episode(self.task, self.settings, random.Random(0))
        self.outcome: Outcome | None = None
        self.asks: list[Ask] = []
        self._advance(None)

    def _advance(self, send: Any) -> Any:
        try:
            item = self.episode.send(send)
        except StopIteration as end:
            self.outcome = end.value
            return None
        if not isinstance(item, Turn):
            self.asks.append(item[0])
        return item

    @property
    def ask(self) -> Ask:
        return self.asks[-1]

    def say(self, text: str) -> Turn:
        kind = self.ask.expect.kind
        value = SYSTEM.parsers[kind](text, {})
        turn = self._advance([Reply("answered", value, text)])
        assert isinstance(turn, Turn)
        self._advance(None)
        return turn

    def search(self, **request: Any) -> Turn:
        meta = "by_io_info" if len(request) == 2 else ""
        meta = meta or ("by_inputs" if "inputs" in request else "by_output_info")
        names = {"inputs": "input_information", "output": "output_information"}
        content = {"meta_tool": meta, **{names[key]: value for key, value in request.items()}}
        return self.say(f"<retrieve_tools>{canonical_json(content)}</retrieve_tools>")

    def call(self, name: str, **arguments: Any) -> Turn:
        content = canonical_json({"name": name, "arguments": arguments})
        return self.say(f"<tool_call>{content}</tool_call>")

    def answer(self, text: str) -> Turn:
        return self.say(f"<final_answer>{text}</final_answer>")

    def find(self, name: str) -> Turn:
        """Search for what a tool gives and call it with the values of the task's record."""
        tool = self.world.tools[name]
        self.search(output=tool.output)
        rows = [row for row in self.world.rows if self.given.items() <= row.items()]
        return self.call(name, **{arg: rows[0][dt] for arg, dt in tool.arguments.items()})

    def follow(self) -> str:
        """Go the example path to its end; the value found there."""
        for name in self.task.payload["example_path"]:
            turn = self.find(name)
        return str(turn.payload["value"])


def run(name: str, task: Task, **given: Any) -> Outcome:
    """Return how a scripted agent fares."""
    settings = read_settings(SYSTEM.settings, given)
    policy = SYSTEM.scripted[name]
    agent = policy.build(task, policy.parameters)
    driver = Driver(
        Cast({"agent": {"": agent}}),
        MemoryLog(),
        SYSTEM.parsers,
        lambda step, slot: derive_seed(task.id, step, slot),
    )
    result = driver.run(SYSTEM.episode(task, settings, random.Random(0)))
    assert isinstance(result, Finished)
    return result.outcome


def with_payload(task: Task, **changes: Any) -> Task:
    return replace(task, payload={**task.payload, **changes})

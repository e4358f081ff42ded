"""CPU cost of ADAPT's household with all rules, and of whole episodes by a script.

Run by ``make bench``. Actions are measured as agents take them, from parsing to the verdicts of all
preferences of the busiest persona and the next ask with its digest; and once more with all 228
preferences. The script's own time counts in the second part.
"""

import random
import time
from dataclasses import replace

from benchmarks.core.answerers import Answer, Cast, Scripted
from benchmarks.core.driver import Driver, Finished
from benchmarks.core.log import MemoryLog
from benchmarks.core.system import read_settings
from benchmarks.core.types import Ask, Reply, Task, Turn
from benchmarks.systems.adapt.dataset import load_personas
from benchmarks.systems.adapt.household.actions import parse_action
from benchmarks.systems.adapt.household.inventory import inventory_of
from benchmarks.systems.adapt.household.rules import Judge
from benchmarks.systems.adapt.household.world import World
from benchmarks.systems.adapt.preferences import goal_of, preferences_of
from benchmarks.systems.adapt.settings import METHODS
from benchmarks.systems.adapt.system import SYSTEM
from tests.bench.storing import machine, tell

STEPS, EPISODES = 120, 12
STEP_MS, PAIRS_S = 1.0, 60.0
# A cook who never stops: vessels fill, so that rules have more to look at with every step.
DEEDS = (
    "Move {food} to {vessel}",
    "Move {food} to {vessel}",
    "Heat {vessel}",
    "Move {vessel} to {place}",
    "Stir items in {vessel} to get mixture_{n}",
)
PLACES = ("stove_0", "patio_table_0", "kitchen_island_0", "dining_table_0", "desk_0")
VESSELS = ("bowl_0", "bowl_1", "mug_0", "plate_0", "nonstick_pan_0", "cast_iron_skillet_0")


def deeds(task: Task, rng: random.Random) -> list[str]:
    """Actions that change the household at nearly every step."""
    inventory = inventory_of(task.shared["household"])
    foods = [thing.id for thing in inventory.movable if thing.package]
    return [
        rng.choice(DEEDS).format(
            food=rng.choice(foods), vessel=rng.choice(VESSELS), place=rng.choice(PLACES), n=n
        )
        for n in range(STEPS)
    ]


def play(task: Task, texts: list[str], spent: list[float]) -> None:
    """One episode; the CPU time of each step is added to ``spent``."""
    settings = read_settings(SYSTEM.settings, {"max_actions": STEPS + 1})
    episode = SYSTEM.episode(task, settings, random.Random(5))
    next(episode)
    for number, text in enumerate(texts):
        began = time.process_time()
        reply = Reply("answered", SYSTEM.parsers["action"](text, {}), text)
        item = episode.send([reply])
        while isinstance(item, Turn):
            item = next(episode)
        item[0].digest  # noqa: B018  (what the driver asks of each ask)
        spent[number] += time.process_time() - began


def all_rules(task: Task, texts: list[str]) -> float:
    """Milliseconds of CPU per action at step 100 and after, with all 228 preferences."""
    shared = task.shared
    inventory = inventory_of(shared["household"])
    rules = [p.rule for name in shared["personas"] for p in preferences_of(shared, inventory, name)]
    world = World(inventory, [thing.id for thing in inventory.movable])
    judge = Judge(world, goal_of(task.payload))
    spent = 0.0
    for number, text in enumerate(texts):
        began = time.process_time()
        world.act(parse_action(text))
        judge.judge(rules)
        if number >= 99:
            spent += time.process_time() - began
    return spent / (STEPS - 99) * 1000


def scripted_pairs(tasks: list[Task], method: str) -> float:
    """Seconds of CPU for all pairs of persona and task by the scripted agent."""
    policies = SYSTEM.scripted
    settings = read_settings(SYSTEM.settings, {"method": method})
    began = time.process_time()
    for task in tasks:
        cast = Cast(
            {
                role.name: {"": policies[role.default[0]].build(task, _parameters(role.default[0]))}
                for role in SYSTEM.roles
            }
        )
        driver = Driver(cast, MemoryLog(), SYSTEM.parsers, lambda step, slot: step)
        found = driver.run(SYSTEM.episode(task, settings, random.Random(7)))
        assert isinstance(found, Finished)
    return time.process_time() - began


def _parameters(name: str) -> dict[str, object]:
    return dict(SYSTEM.scripted[name].parameters)


def replay(task: Task, texts: list[str]) -> float:
    """Milliseconds of CPU to play a stored episode back, as each reply of a person does."""

    def rule(ask: Ask, seed: int) -> Answer:
        return Answer(texts[ask.context["step"] - 1])

    log = MemoryLog()
    driver = Driver(
        Cast({"agent": {"": Scripted("bench", "1", rule)}}), log, SYSTEM.parsers, lambda s, n: 0
    )
    settings = read_settings(SYSTEM.settings, {"max_actions": 100})
    assert isinstance(driver.run(SYSTEM.episode(task, settings, random.Random(5))), Finished)
    began = time.process_time()
    driver.run(SYSTEM.episode(task, settings, random.Random(5)))
    return (time.process_time() - began) * 1000


def main() -> None:
    """Print the figures."""
    print(machine())
    tasks = [replace(task, profile=profiles[0]) for task, profiles in load_personas().tasks]
    busiest = [task for task in tasks if task.payload["persona"] == "persona_05"]
    spent = [0.0] * STEPS
    for number in range(EPISODES):
        task = busiest[number % len(busiest)]
        play(task, deeds(task, random.Random(number)), spent)
    ms = [seconds / EPISODES * 1000 for seconds in spent]
    early, late = sum(ms[5:25]) / 20, sum(ms[99:]) / (STEPS - 99)
    texts = deeds(busiest[0], random.Random(1))
    print(
        f"an action with 19 preferences: {early:.3f} ms of CPU at steps 6 to 25, {late:.3f} ms "
        f"from step 100 on; budget {STEP_MS} ms; with all 228 preferences "
        f"{all_rules(busiest[0], texts):.3f} ms; replay of 100 steps "
        f"{replay(busiest[0], texts):.0f} ms"
    )
    worst = 0.0
    for method in METHODS:
        taken = scripted_pairs(tasks, method)
        worst = max(worst, taken)
        print(f"{len(tasks)} pairs by the script, {method}: {taken:.1f} s of CPU")
    print(f"pairs within {PAIRS_S} s")
    missed = {"step 100": late > STEP_MS, "pairs": worst > PAIRS_S}
    tell([name for name, beyond in missed.items() if beyond])


if __name__ == "__main__":
    main()

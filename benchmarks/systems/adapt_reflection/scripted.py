"""Scripted answerers of the builder; none is a model, and their shares say nothing about models.

Student and teacher are the cook of ADAPT with and without the preferences; the student finds a
question by what the teacher's action handles.
"""

from collections.abc import Mapping

from benchmarks.core.answerers import Answer, Answerer, Scripted
from benchmarks.core.system import ScriptedPolicy
from benchmarks.core.types import Ask, Json, Task
from benchmarks.systems.adapt.household.actions import (
    LOOKING,
    MOVE,
    MOVE_FROM,
    normalise,
    parse_action,
)
from benchmarks.systems.adapt.household.inventory import (
    FURNITURE,
    Inventory,
    InventoryThing,
    inventory_of,
)
from benchmarks.systems.adapt.scripted import AGENT_POLICY as COOK
from benchmarks.systems.adapt.scripted import PERSONA_POLICY
from benchmarks.systems.adapt.scripted import POLICIES as ADAPT_POLICIES
from benchmarks.systems.adapt.scripted import VERSION as COOK_VERSION
from benchmarks.systems.adapt_reflection.scorers import SCORER, TABLE, word_table
from benchmarks.systems.adapt_reflection.scorers import VERSION as TABLE_VERSION

STUDENT_POLICY, TEACHER_POLICY, TABLE_POLICY = "reflecting-cook", "teaching-cook", "word-table"
VERSION = f"{COOK_VERSION}.1"
_DISH_WORDS: Mapping[str, str] = {"yoghurt": "yoghurt parfait"}


def student(task: Task, parameters: Json) -> Answerer:
    """Return the scripted student: it cooks, and reflects on what it could have asked."""
    cook = ADAPT_POLICIES[COOK].build(task, parameters)
    inventory = inventory_of(task.shared["household"])

    def rule(ask: Ask, seed: int) -> Answer:
        if ask.expect.kind == "question":
            return Answer(_question(task, inventory, ask.context))
        return cook.answer(ask, seed)

    return Scripted(STUDENT_POLICY, VERSION, rule, parameters)


def teacher(task: Task, parameters: Json) -> Answerer:
    """Return the scripted teacher: the cook, who is told the preferences."""
    cook = ADAPT_POLICIES[COOK].build(task, parameters)
    return Scripted(TEACHER_POLICY, VERSION, cook.answer, parameters)


def _question(task: Task, inventory: Inventory, context: Json) -> str:
    """Return a question about what the teacher's action handles."""
    action = parse_action(context["teacher"])
    dishes = " and ".join(_DISH_WORDS.get(kind, kind) for kind in task.payload["expects"])
    target = _thing(inventory, action.z or action.y)
    served = target and target.type == FURNITURE and not target.appliance
    if action.kind in (MOVE, MOVE_FROM) and served:
        return "Where should I serve breakfast?"
    handled = None if action.kind in LOOKING else _thing(inventory, action.x)
    if handled is None:
        return f"How would you like your {dishes}?"
    if handled.type != "edible":
        return f"Which cookware should I use for your {dishes}?"
    return f"Would you like any {handled.category.replace('_', ' ')} with your {dishes}?"


def _thing(inventory: Inventory, name: str) -> InventoryThing | None:
    """Return the thing of a name, with its number or without."""
    plain = normalise(name)
    return inventory.things.get(plain) or inventory.things.get(f"{plain}_0")


_COOK = ADAPT_POLICIES[COOK].parameters
POLICIES: Mapping[str, ScriptedPolicy] = {
    STUDENT_POLICY: ScriptedPolicy(
        STUDENT_POLICY, "agent", "Scripted cook that reflects", VERSION, student, _COOK
    ),
    TEACHER_POLICY: ScriptedPolicy(
        TEACHER_POLICY, "teacher", "Scripted cook that knows the preferences", VERSION, teacher,
        _COOK,
    ),
    PERSONA_POLICY: ADAPT_POLICIES[PERSONA_POLICY],
    TABLE_POLICY: ScriptedPolicy(
        TABLE_POLICY, SCORER, "Word table (no model)", TABLE_VERSION, word_table, dict(TABLE)
    ),
}  # fmt: skip

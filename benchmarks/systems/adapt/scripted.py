"""Scripted answerers: agents that follow recipes, and a persona that answers by a lexicon.

None is a model. The cook looks around, asks as its method does, plans once from the words of the
answers, and forgets single steps. Its rates were fixed before any run. The blind agents ask nobody.
"""

import json
import math
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace

from benchmarks.core.answerers import Answer, Answerer, Scripted
from benchmarks.core.digests import canonical_json
from benchmarks.core.system import ScriptedPolicy
from benchmarks.core.types import Ask, Json, Task
from benchmarks.systems.adapt.blind import NOTHING, RECIPES, TITLES
from benchmarks.systems.adapt.household.actions import (
    ASK,
    DONE,
    LOOKING,
    SEARCH,
    UNREAD,
    parse_action,
)
from benchmarks.systems.adapt.household.dishes import COFFEE, EGGS, TEA, TOAST
from benchmarks.systems.adapt.household.inventory import Inventory, inventory_of
from benchmarks.systems.adapt.household.rules import Rule
from benchmarks.systems.adapt.lexicon import (
    About,
    about_rule,
    answer_text,
    answers,
)
from benchmarks.systems.adapt.preferences import Preference, RuleNames, RuleReader, preferences_of
from benchmarks.systems.adapt.recipes import Cook, Rates
from benchmarks.systems.adapt.settings import (
    ALWAYS_ASK,
    BASELINE,
    NEVER_ASK,
    NO_DPO,
    NO_REFLECTION,
    REACT,
    REFLECTION_DPO,
    STAR_GATE,
    TEACHER,
    played_as,
)
from benchmarks.systems.adapt.wishes import read_wishes


@dataclass(frozen=True)
class Habit:
    """How the cook plays a method.

    Before it acts it asks ``questions``, and up to ``again`` more where answers told it nothing;
    ``general``: it begins with how each dish is liked, otherwise with what personas differ in most.
    ``recall`` is the share of forgotten steps that it remembers after all.
    """

    questions: int = 0
    again: int = 0
    general: bool = True
    recall: float = 0.0


# Fixed before any run was made. A thought before each step lets ReAct notice an answer that told
# nothing, and recall some of what it forgot; a model that is fine-tuned on its best rollouts, as
# STaR-GATE is, asks at once for what mattered in them.
HABITS: Mapping[str, Habit] = {
    NEVER_ASK: Habit(),
    BASELINE: Habit(questions=2),
    REACT: Habit(questions=2, again=1, recall=0.3),
    STAR_GATE: Habit(questions=2, general=False),
    REFLECTION_DPO: Habit(questions=10, general=False),
    ALWAYS_ASK: Habit(),
    TEACHER: Habit(),
    # Without reflection nothing taught it to ask; without DPO it asks a little more than untrained.
    NO_REFLECTION: Habit(questions=1),
    NO_DPO: Habit(questions=3),
}
# Where the ingredients of a dish are looked for.
_STORES = ("fridge_0", "counter_0", "counter_1", "spice_rack_0", "pantry_shelf_1", "cabinet_2")
_PLACES: Mapping[str, Sequence[str]] = {
    EGGS: (*_STORES, "cabinet_3", "drawer_1", "pantry_cabinet_0", "freezer_0"),
    TOAST: (*_STORES, "bread_box_0"),
    "cereal": (*_STORES, "pantry_shelf_0"),
    "yoghurt": (*_STORES, "pantry_shelf_0", "cabinet_1"),
    COFFEE: (*_STORES, "cabinet_0", "cabinet_1", "cabinet_4", "freezer_0", "stove_0",
             "china_cabinet_0"),
    TEA: (*_STORES, "cabinet_0", "cabinet_1", "freezer_0", "stove_0", "china_cabinet_0"),
}  # fmt: skip
_DISH_WORDS: Mapping[str, str] = {"yoghurt": "yoghurt parfait", "french_toast": "French toast"}
# How a facet is asked for; others are asked for as something that goes with the dish.
_FACET_QUESTIONS: Mapping[str, str] = {
    "temperature": "Do you want your {dish} hot or iced?",
    "order": "In which order should I add or serve things for your {dish}?",
    "location": "Where should I serve breakfast?",
    "cookware": "Which cookware should I use for your {dish}?",
    "method": "Which machine should I use for your {dish}?",
    "style": "Which style of {dish} do you want?",
    "variety": "Which kind of {dish} do you want?",
    "topping": "Do you want any toppings on your {dish}?",
    "side": "Do you want anything on the side of your {dish}?",
    "size": "Should your {dish} be simple or fancy?",
}
# Facets that are named in the plural.
_PLURAL = ("vegetable", "herb", "nut", "seed", "spice", "condiment")
# What an agent asks that has run out of questions and must ask.
_STATE_QUESTIONS = (
    "Is the stove on?", "Do we have enough water?", "Is the counter clean?", "Is the plate ready?",
)  # fmt: skip
_BEFORE = (*LOOKING, ASK, DONE, UNREAD)


def cook(task: Task, parameters: Json) -> Answerer:
    """Return the scripted agent for a task."""
    rates = _rates(parameters)

    def rule(ask: Ask, seed: int) -> Answer:
        habit = Habit(**parameters["methods"].get(played_as(ask.context), {}))
        text = _next_action(task, ask.context, rates, habit)
        return Answer(_as_reply(text, ask.context))

    return Scripted(AGENT_POLICY, VERSION, rule, parameters)


def blind(task: Task, parameters: Json) -> Answerer:
    """Return an agent that follows one recipe for everybody, or does nothing."""
    name = parameters["recipe"]
    rates = Rates(slip=0, extra=0, iced=0, cereal_milk=1)

    def rule(ask: Ask, seed: int) -> Answer:
        if name == NOTHING:
            return Answer(_as_reply("Declare Done", ask.context))
        tried = _tried(ask.context["events"])
        text = _work(task, ask.context, rates, _read_rules(task, RECIPES[name]), tried)
        return Answer(_as_reply(text, ask.context))

    return Scripted(f"blind-{name}", BLIND_VERSION, rule, parameters)


def _rates(parameters: Json) -> Rates:
    return Rates(**{name: parameters[name] for name in asdict(Rates())})


def _as_reply(text: str, context: Json) -> str:
    """Return an action in the form that the ask wants."""
    thought = "This is the next step." if context["method"] == REACT else ""
    if context["json"]:
        record = parse_action(text).record
        parts = dict.fromkeys(("x", "y", "z", "verb", "result", "tool"), "")
        action = {"thought": thought, "action": record.pop("kind")}
        return json.dumps({**action, **parts, **record}, ensure_ascii=False)
    return f"Thought: {thought}\nAction: {text}" if thought else text


def _next_action(task: Task, context: Json, rates: Rates, habit: Habit) -> str:
    events = context["events"]
    questions = [event["action"] for event in events if event["kind"] == ASK]
    acted = [event for event in events if event["kind"] not in _BEFORE and event["ok"]]
    tried = _tried(events)
    wishes = _wishes(task, context, tried)
    budget = habit.questions + min(habit.again, sum(not told for told in wishes))
    may_ask = context["may_ask"] and context["questions_left"] > 0
    if may_ask and not acted and len(questions) < budget:
        for question in _questions(task, habit.general):
            if f"Ask {question}" not in questions:
                return f"Ask {question}"
    # Told twice is wanted once: a second rule would be a second chance to remember it.
    rules = _read_rules(
        task, {canonical_json(rule): rule for told in wishes for rule in told}.values()
    )
    recalling = replace(rates, slip=rates.slip * (1 - habit.recall))
    action = _work(task, context, recalling, rules, tried)
    if context["must_ask"] and may_ask and action != "Declare Done":
        for question in _questions(task, habit.general):
            if f"Ask {question}" not in questions:
                return f"Ask {question}"
        return f"Ask {_STATE_QUESTIONS[len(questions) % len(_STATE_QUESTIONS)]}"
    return action


def _tried(events: Sequence[Json]) -> list[Json]:
    """Return the actions in the household that were tried."""
    return [event for event in events if event["kind"] not in _BEFORE and not _refused(event)]


def _wishes(task: Task, context: Json, tried: Sequence[Json]) -> list[list[Json]]:
    """Return what the person wants, as rules by answer: read from the words before the cook began.

    The teacher is told the preferences themselves.
    """
    if context["method"] == TEACHER:
        return [[row["rule"] for row in context["told"]]]
    began = tried[0]["t"] if tried else math.inf
    inventory, meal = inventory_of(task.shared["household"]), task.payload["expects"]
    phrases = {
        row["text"]: row["rule"]
        for persona in task.shared["personas"].values()
        for row in persona["preferences"]
    }
    return [
        read_wishes(
            event["action"].removeprefix("Ask "), event["message"].partition(": ")[2],
            phrases, inventory, meal,
        )
        for event in context["events"]
        if event["kind"] == ASK and event["ok"] and event["t"] < began
    ]  # fmt: skip


def _read_rules(task: Task, wishes: Iterable[Json]) -> list[Rule]:
    inventory = inventory_of(task.shared["household"])
    reader = RuleReader(RuleNames(inventory, tuple(task.shared["tasks"])), _ignore)
    return [rule for wish in wishes if (rule := reader.read(wish, ()))]


def _refused(event: Json) -> bool:
    """Return whether an action was not even tried, because a question had to come first."""
    return not event["ok"] and event["message"].startswith("Ask the person")


def _work(
    task: Task, context: Json, rates: Rates, rules: Sequence[Rule], tried: Sequence[Json]
) -> str:
    """Return the next action in the household: look around, then follow the plan."""
    searched = {event["action"] for event in context["events"] if event["kind"] == SEARCH}
    for place in dict.fromkeys(p for kind in task.payload["expects"] for p in _PLACES[kind]):
        if f"Search {place}" not in searched and not tried:
            return f"Search {place}"
    known = [row["id"] for row in context["known"]]
    # What was used up is known no more, but the plan began with it.
    known += [parse_action(event["action"]).x for event in tried]
    inventory = inventory_of(task.shared["household"])
    plan = Cook(inventory, known, rules, context["draw"], rates).plan(
        task.payload["expects"], task.payload["style"]
    )
    return plan[len(tried)] if len(tried) < len(plan) else "Declare Done"


def _ignore(path: tuple[str | int, ...], expected: str, found: object) -> None:
    """Leave out what is no rule: preferences were checked when their file was read."""


# --- Questions ------------------------------------------------------------------------------------


def _questions(task: Task, general: bool) -> tuple[str, ...]:
    """Return the questions on a task in their order.

    General ones ask how a dish is liked; the others come by how much personas differ in them.
    """
    key = (task.shared["checksum"], tuple(task.payload["expects"]), general)
    if key not in _asked:
        if len(_asked) > 200:
            _asked.clear()
        _asked[key] = tuple(dict.fromkeys(_make_questions(task, key[2])))
    return _asked[key]


_asked: dict[tuple[str, tuple[str, ...], bool], tuple[str, ...]] = {}


def _make_questions(task: Task, general: bool) -> Iterator[str]:
    expects = task.payload["expects"]
    if general:
        for kind in expects:
            yield f"How would you like your {_DISH_WORDS.get(kind, kind)}?"
    inventory = inventory_of(task.shared["household"])
    held = _abouts(task.shared["checksum"], task, inventory)
    ranked = []
    for place, kind in enumerate(expects):
        facets = sorted({f for some in held for about, _ in some if kind in about.subjects
                         for f in about.facets if _can_be_asked(f, inventory)})  # fmt: skip
        ranked += [(-_entropy(held, kind, facet), place, facet, kind) for facet in facets]
    for _, _, facet, kind in sorted(ranked):
        dish = _DISH_WORDS.get(kind, kind)
        thing = f"{facet.replace('_', ' ')}{'s' * (facet in _PLURAL)}"
        usual = f"Would you like any {thing} with your {{dish}}?"
        yield _FACET_QUESTIONS.get(facet, usual).format(dish=dish)


def _can_be_asked(facet: str, inventory: Inventory) -> bool:
    """Return whether a facet is asked for by its own name: attributes are not."""
    return facet in _FACET_QUESTIONS or any(t.category == facet for t in inventory.movable)


def _abouts(
    checksum: str, task: Task, inventory: Inventory
) -> list[list[tuple[About, Preference]]]:
    return [
        [(about_rule(p.rule), p) for p in preferences_of(task.shared, inventory, persona)]
        for persona in task.shared["personas"]
    ]


def _entropy(held: Sequence[Sequence[tuple[About, Preference]]], kind: str, facet: str) -> float:
    """Return the entropy in bits of what personas hold on a facet of a dish."""
    stances = Counter(
        tuple(
            sorted(
                _stance(p.rule)
                for about, p in some
                if kind in about.subjects and facet in about.facets
            )
        )
        for some in held
    )
    total = stances.total()
    return -sum(n / total * math.log2(n / total) for n in stances.values())


def _stance(rule: Rule) -> str:
    inner = ",".join(_stance(one) for one in rule.inner)
    args = json.dumps({k: v for k, v in rule.args.items() if k != "min"}, sort_keys=True)
    return f"{rule.form}:{args}{inner}"


# --- The persona ----------------------------------------------------------------------------------


def persona(task: Task, parameters: Json) -> Answerer:
    """Return the persona that answers by the lexicon; it knows what its ask tells it."""
    inventory = inventory_of(task.shared["household"])
    held = preferences_of(task.shared, inventory, task.payload["persona"])

    def rule(ask: Ask, seed: int) -> Answer:
        question = ask.context["question"]
        disclosed = answers(question, held, inventory, task.payload["expects"])
        reply = {
            "answer": answer_text(question, disclosed),
            "preferences": [p.n for p in disclosed],
        }
        return Answer(json.dumps(reply, ensure_ascii=False))

    return Scripted("lexicon-persona", PERSONA_VERSION, rule, parameters)


# Version 1 of the cook read ticks, not words, and played three methods alike; version 1 of the
# persona took "Are there toppings you would like?" for a question about the kitchen.
VERSION, PERSONA_VERSION, BLIND_VERSION = "2", "2", "1"
AGENT_POLICY, PERSONA_POLICY = "cook", "lexicon-persona"
BLIND_POLICIES: Mapping[str, ScriptedPolicy] = {
    f"blind-{name}": ScriptedPolicy(
        f"blind-{name}", "agent", title, BLIND_VERSION, blind, {"recipe": name}
    )
    for name, title in TITLES.items()
}
POLICIES: Mapping[str, ScriptedPolicy] = {
    AGENT_POLICY: ScriptedPolicy(
        AGENT_POLICY,
        "agent",
        "Scripted cook",
        VERSION,
        cook,
        {
            **asdict(Rates()),
            "methods": {method: asdict(habit) for method, habit in HABITS.items()},
        },
    ),
    PERSONA_POLICY: ScriptedPolicy(
        PERSONA_POLICY, "persona", "Lexicon persona", PERSONA_VERSION, persona, {}, "lexicon"
    ),
    **BLIND_POLICIES,
}

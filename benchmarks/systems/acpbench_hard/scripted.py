"""Scripted agents: they need no key, and their answers are labelled as scripted.

They do not read prose. The perfect agent, the noisy one and the one that breaks the format know the
stored answer; the greedy and the random one know the problem alone, and for the next action which
actions are applicable.
"""

import random
import re
from collections.abc import Callable, Iterable, Mapping, Sequence

from benchmarks.core.answerers import Answer, Answerer, Scripted
from benchmarks.core.system import ScriptedPolicy
from benchmarks.core.types import Ask, Json, Task
from benchmarks.systems.acpbench_hard.dataset import question_of
from benchmarks.systems.acpbench_hard.pddl.conditions import Atom, Case
from benchmarks.systems.acpbench_hard.pddl.instance import (
    Instance,
    instance_of,
    parse_atom,
    show_atom,
)
from benchmarks.systems.acpbench_hard.questions import PlanningQuestion
from benchmarks.systems.acpbench_hard.verdicts import VERSION as VALIDATOR_VERSION
from benchmarks.systems.acpbench_hard.verdicts import validator

VERSION = "1"
NONE = "None"
_QUOTED = re.compile(r'"([^"]*)"')
_TERM = re.compile(r"\([^()]*\)")

# An answer before it is written down: texts in parentheses, two lists of them, or an index.
Texts = list[str]
Content = Texts | tuple[Texts, Texts] | int


def quoted(question: PlanningQuestion) -> Texts:
    """Return the plan that a question quotes, with its case."""
    match = _QUOTED.search(question.question)
    return _TERM.findall(match[1]) if match else []


def write(content: Content) -> str:
    """Return an answer in the form that is asked for."""
    if isinstance(content, int):
        return str(content)
    if isinstance(content, tuple):
        return " ".join(f"[{' '.join(texts)}]" for texts in content)
    return " ".join(content) or NONE


# --- Right answers --------------------------------------------------------------------------------


def right_answer(question: PlanningQuestion, rng: random.Random) -> Content:
    """Return a right answer by what is stored; of several one by chance."""
    stored = question.answer
    if question.options:
        return [str(stored)]
    match question.task:
        case "app":
            return list(stored)
        case "val":
            return int(stored)
        case "prog":
            return list(stored["pos"]), list(stored["neg"])
        case "just":
            return _shorter(question)
        case "reach":
            return [show_atom(parse_atom(rng.choice(stored)))] if stored else []
        case "areach":
            return [rng.choice(stored)] if stored else []
    right = stored["yes"] or stored.get("maybe", [])
    return [rng.choice(right)] if right else []


def _shorter(question: PlanningQuestion) -> Texts:
    """Return the plan without the first pair or action that it does not need; else all of it."""
    plan = quoted(question)
    instance = _instance(question)
    for size in (2, 1):
        for place in range(len(plan) - size + 1):
            rest = [*plan[:place], *plan[place + size :]]
            if rest and not instance.fault_of_plan([parse_atom(text) for text in rest]):
                return rest
    return plan


def _instance(question: PlanningQuestion) -> Instance:
    return instance_of(question.pddl_domain, question.pddl_problem)


# --- Answers that go wrong ------------------------------------------------------------------------


def spoilt(question: PlanningQuestion, content: Content, rng: random.Random) -> Content:
    """Return an answer that is well formed and, mostly, wrong."""
    if isinstance(content, int):
        return max(0, content + rng.choice((-1, 1)))
    if isinstance(content, tuple):
        pos, neg = content
        return rng.choice(((pos, []), (neg, pos), (pos[:-1], neg)))
    if question.task in ("app", "just") and len(content) > 1:
        place = rng.randrange(len(content))
        return [*content[:place], *content[place + 1 :]]
    return random_answer(question, rng)


def broken(question: PlanningQuestion, content: Content, rng: random.Random) -> str:
    """Return the right answer, written down as models do write although they were told
    otherwise.
    """
    text = write(content)
    if text == NONE:
        return rng.choice(("none", "There is none.", "NONE", "(None)"))
    if isinstance(content, int):
        return rng.choice(
            (f"The first 2 actions are fine.\nIndex: {text}", f"0{text}", f"Action number {text}.",
             f"**{text}**")
        )  # fmt: skip
    ways: list[Callable[[str], str]] = [
        lambda words: words.replace("(", "( ").replace(")", " )"),
        lambda words: words.replace(" ", "\n"),
        lambda words: re.sub(r"\((\S+) ([^()]*)\)", r"\1(\2)", words),
        lambda words: words.replace("(", "").replace(")", ""),
        lambda words: f"(in this state) {words}",
        lambda words: f"```\n{words.upper()}\n```",
    ]
    return rng.choice(ways)(text)


# --- Answers without search -----------------------------------------------------------------------


def random_answer(question: PlanningQuestion, rng: random.Random) -> Content:
    """Return a well-formed answer by chance; for the next action one that is applicable."""
    if question.options:
        return [rng.choice(question.options)]
    instance, stored = _instance(question), question.answer
    match question.task:
        case "val":
            return rng.randrange(max(1, len(quoted(question))))
        case "app":
            return [show_atom(_random_action(instance, rng)) for _ in range(rng.randint(1, 4))]
        case "nexta":
            every = sorted([*stored["yes"], *stored["no"], *stored["maybe"]])
            return [rng.choice(every)] if every else []
        case "areach":
            return [show_atom(_random_action(instance, rng))]
        case "just":
            plan = quoted(question)
            place = rng.randrange(len(plan)) if plan else 0
            return [*plan[:place], *plan[place + 1 :]]
        case "prog":
            atoms = [show_atom(_random_atom(instance, rng)) for _ in range(3)]
            return atoms[:2], atoms[2:]
    return [show_atom(_random_atom(instance, rng))]


def _random_action(instance: Instance, rng: random.Random) -> Atom:
    action = rng.choice(list(instance.domain.actions.values()))
    return (action.name, *(_random_object(instance, rng, types) for _, types in action.parameters))


def _random_atom(instance: Instance, rng: random.Random) -> Atom:
    names = sorted(instance.domain.fluents) or sorted(instance.domain.predicates)
    name = rng.choice(names)
    kinds = instance.domain.predicates[name]
    return (name, *(_random_object(instance, rng, types) for types in kinds))


def _random_object(instance: Instance, rng: random.Random, types: tuple[str, ...]) -> str:
    every = instance.objects
    fitting = [name for name, own in every.items() if instance.domain.is_one_of(own, types)]
    return rng.choice(fitting or list(every) or ["nothing"])


def greedy_answer(question: PlanningQuestion, rng: random.Random) -> Content:
    """Return an answer by the next best thing, as somebody gives who does not look ahead."""
    if question.options:
        return [question.options[0]]
    instance = _instance(question)
    match question.task:
        case "app":
            kinds: dict[str, Texts] = {}
            for text in question.answer:
                kinds.setdefault(parse_atom(text)[0], []).append(text)
            return max(kinds.values(), key=len) if kinds else []
        case "areach":
            return _twice_the_same(instance)
        case "just":
            return _without_detour(question, instance)
        case "land":
            return _needed_at_once(instance)
        case "nexta":
            return _most_goals(question, instance)
        case "prog":
            return _by_the_schema(question, instance)
        case "val":
            return _without_deletes(question, instance)
    # For atom reachability: nothing seems out of reach.
    return []


def _goal(instance: Instance) -> list[Atom]:
    return [tuple(map(str, template)) for case in instance.goal for template in case.positive]


def _twice_the_same(instance: Instance) -> Texts:
    """Return an action of something with itself, the first that there is."""
    for action in instance.domain.actions.values():
        kinds = [types for _, types in action.parameters]
        if len(kinds) > 1 and len(set(kinds)) < len(kinds):
            own = [next((name for name, types in instance.objects.items()
                         if instance.domain.is_one_of(types, kind)), "nothing")
                   for kind in kinds]  # fmt: skip
            return [show_atom((action.name, *own))]
    return []


def _without_detour(question: PlanningQuestion, instance: Instance) -> Texts:
    """Return the plan without the first two actions of which the second undoes the first."""
    plan = quoted(question)
    state = instance.init
    for place, text in enumerate(plan[:-1]):
        first, second = parse_atom(text), parse_atom(plan[place + 1])
        between = instance.apply(first, state)
        if instance.apply(second, between) == state:
            return [*plan[:place], *plan[place + 2 :]]
        state = between
    return plan[:-1]


def _needed_at_once(instance: Instance) -> Texts:
    """Return what an action needs that makes the first open goal true."""
    for goal in _goal(instance):
        if goal in instance.init:
            continue
        for action in instance.domain.actions.values():
            for template in action.effects.add:
                bound = _unify(template, goal)
                if bound is not None:
                    needed = _open(instance, action.cases[:1], bound)
                    if needed:
                        return needed
    return []


def _unify(template: Sequence[int | str], atom: Atom) -> dict[int, str] | None:
    if template[0] != atom[0] or len(template) != len(atom):
        return None
    bound: dict[int, str] = {}
    for term, name in zip(template[1:], atom[1:], strict=True):
        if isinstance(term, int):
            if bound.setdefault(term, name) != name:
                return None
        elif term != name:
            return None
    return bound


def _open(instance: Instance, cases: Iterable[Case], bound: Mapping[int, str]) -> Texts:
    for case in cases:
        for template in case.positive:
            if template[0] not in instance.domain.fluents:
                continue
            terms = [bound.get(term) if isinstance(term, int) else term for term in template[1:]]
            if None not in terms:
                atom = (template[0], *map(str, terms))
                if atom not in instance.init:
                    return [show_atom(atom)]
    return []


def _most_goals(question: PlanningQuestion, instance: Instance) -> Texts:
    """Return the applicable action after which most goals hold."""
    stored, goals = question.answer, set(_goal(instance))
    every = sorted([*stored["yes"], *stored["no"], *stored["maybe"]])
    if not every:
        return []
    return [
        max(every, key=lambda text: len(goals & instance.apply(parse_atom(text), instance.init)))
    ]


def _by_the_schema(question: PlanningQuestion, instance: Instance) -> Content:
    """Return what the action makes true; what becomes false is forgotten."""
    texts = _TERM.findall(question.question)
    action = parse_atom(texts[0]) if texts else ()
    if instance.fault_of_action(action):
        stored = question.answer
        return list(stored["pos"]), []
    added = instance.domain.actions[action[0]].effects.add
    bound = [
        show_atom([str(action[1:][term]) if isinstance(term, int) else term for term in template])
        for template in added
    ]
    return bound, []


def _without_deletes(question: PlanningQuestion, instance: Instance) -> int:
    """Return the first action that cannot be performed even if nothing ever became false."""
    state, plan = instance.init, quoted(question)
    for place, text in enumerate(plan):
        action = parse_atom(text)
        if instance.fault_of_action(action) or instance.unmet(action, state):
            return place
        state = state | instance.apply(action, state)
    return max(0, len(plan) - 1)


# --- Policies -------------------------------------------------------------------------------------

Say = Callable[[PlanningQuestion, random.Random, Json], str]


def _agent(name: str, say: Say) -> Callable[[Task, Json], Answerer]:
    def build(task: Task, parameters: Json) -> Answerer:
        question = question_of(task)

        def rule(ask: Ask, seed: int) -> Answer:
            return Answer(say(question, random.Random(seed), parameters))

        return Scripted(name, VERSION, rule, dict(parameters))

    return build


def _perfect(question: PlanningQuestion, rng: random.Random, parameters: Json) -> str:
    return write(right_answer(question, rng))


def _noisy(question: PlanningQuestion, rng: random.Random, parameters: Json) -> str:
    content = right_answer(question, rng)
    if rng.random() < float(parameters["mistakes"]):
        content = spoilt(question, content, rng)
    return write(content)


def _breaking(question: PlanningQuestion, rng: random.Random, parameters: Json) -> str:
    content = right_answer(question, rng)
    if rng.random() < float(parameters["share"]):
        return broken(question, content, rng)
    return write(content)


def _greedy(question: PlanningQuestion, rng: random.Random, parameters: Json) -> str:
    return write(greedy_answer(question, rng))


def _random(question: PlanningQuestion, rng: random.Random, parameters: Json) -> str:
    return write(random_answer(question, rng))


def _recorded(task: Task, parameters: Json) -> Answerer:
    """Reply with recorded answers of a model; of several to a question one by chance."""
    model = str(parameters.get("model", ""))
    texts = [
        one["text"] for one in task.payload.get("recordings", ()) if model in ("", one["model"])
    ]

    def rule(ask: Ask, seed: int) -> Answer:
        if not texts:
            return Answer("", declined="no_recording: there is no recorded answer to this question")
        return Answer(random.Random(seed).choice(texts))

    return Scripted("acp-recorded", VERSION, rule, {"model": model}, kind="recorded")


POLICIES: Mapping[str, ScriptedPolicy] = {
    policy.name: policy
    for policy in (
        ScriptedPolicy("acp-perfect", "agent", "Perfect by the validator", VERSION,
                       _agent("acp-perfect", _perfect)),
        ScriptedPolicy("acp-noisy", "agent", "Perfect but for slips", VERSION,
                       _agent("acp-noisy", _noisy), {"mistakes": 0.35}),
        ScriptedPolicy("acp-format-breaker", "agent", "Right in a broken format", VERSION,
                       _agent("acp-format-breaker", _breaking), {"share": 0.7}),
        ScriptedPolicy("acp-greedy", "agent", "Greedy, without looking ahead", VERSION,
                       _agent("acp-greedy", _greedy)),
        ScriptedPolicy("acp-random", "agent", "Random guesses", VERSION,
                       _agent("acp-random", _random)),
        ScriptedPolicy("acp-recorded", "agent", "Recorded answers", VERSION, _recorded,
                       {"model": ""}, label="recorded",
                       has_recordings=lambda task: bool(task.payload.get("recordings")),
                       pool_size=lambda task: len(task.payload.get("recordings", ()))),
        ScriptedPolicy("validator", "validator", "Built-in validators", VALIDATOR_VERSION,
                       validator, label="machine"),
    )
}  # fmt: skip
# Those that need no recordings.
DEMO_AGENTS = tuple(
    name
    for name, policy in POLICIES.items()
    if policy.role == "agent" and policy.label == "scripted"
)

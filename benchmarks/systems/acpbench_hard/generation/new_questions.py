"""New questions for the eight tasks, from a domain and problems in PDDL (paper, section 5).

States are sampled along plans: walks to the goal that sometimes stray. Each question is about one
state, which becomes the initial state of its problem. Every stored answer is known to be complete:
a space was explored to its end, or a bounded search settled all that the answer needs. A state in
doubt is skipped, and counted as declined.
"""

import random
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from benchmarks.core.digests import derive_seed
from benchmarks.systems.acpbench_hard.generation.space import KnownSpace, SpaceUndecided
from benchmarks.systems.acpbench_hard.generation.text import Describer
from benchmarks.systems.acpbench_hard.pddl.conditions import Atom
from benchmarks.systems.acpbench_hard.pddl.instance import State, show_atom
from benchmarks.systems.acpbench_hard.questions import PlanningQuestion
from benchmarks.systems.acpbench_hard.tasks import TASKS

# The paper keeps states with at most so many applicable actions (A.3).
MOST_APPLICABLE = 100
# The published files store at most so many unreachable propositions.
MOST_STORED = 50
# A problem is asked no further after so many questions in a row that a search could not settle.
MOST_DECLINED = 5
# Beyond any plan that is looked for: it bounds nothing.
FAR = 1000
_COMMENT = re.compile(r";[^\n]*")

Made = tuple[str, Any]


class Difficulty(NamedTuple):
    """The states that are asked about: how far the goal is, and how many actions are applicable."""

    min_distance: int = 1
    max_distance: int = FAR
    max_applicable: int = MOST_APPLICABLE


class Source:
    """A problem that questions are made of."""

    def __init__(
        self,
        domain: str,
        problem: str,
        space: KnownSpace,
        describer: Describer,
        difficulty: Difficulty,
    ) -> None:
        self.domain, self.problem = _COMMENT.sub("", domain), _COMMENT.sub("", problem)
        self.space, self.describer, self.difficulty = space, describer, difficulty
        self.instance = space.instance
        # By task, why questions were declined.
        self.declined: dict[str, list[str]] = {}

    def fits(self, state: State) -> bool:
        """Return whether a state along a plan is as difficult as wanted."""
        wanted = self.difficulty
        if self.space.is_goal(state) or len(self.space.moves_of(state)) > wanted.max_applicable:
            return False
        if wanted.min_distance <= 1 and wanted.max_distance >= FAR:
            return True
        distance = self.space.distance(state)
        return distance is not None and wanted.min_distance <= distance <= wanted.max_distance

    def sample(self, rng: random.Random) -> State | None:
        """Return a state along a plan from the initial state; None if none of the walk fits."""
        states = [one for one in self.space.walk(rng, self.instance.init)[1] if self.fits(one)]
        return rng.choice(states) if states else None

    def with_state(self, state: State) -> str:
        """Return the problem in PDDL with another initial state."""
        start = re.search(r"\(\s*:init\b", self.problem, re.IGNORECASE)
        assert start  # it was read as a problem
        depth, end = 0, start.start()
        for end in range(start.start(), len(self.problem)):
            depth += {"(": 1, ")": -1}.get(self.problem[end], 0)
            if not depth:
                break
        init = " ".join([*self.instance.values, *map(show_atom, sorted(state))])
        return f"{self.problem[: start.start()]}(:init {init}){self.problem[end + 1 :]}"


# --- One maker for each task: the words of a question and its stored answer, or None --------------


def _applicability(source: Source, state: State, rng: random.Random) -> Made | None:
    actions = sorted(source.space.moves_of(state))
    if not actions:
        return None
    return "Which actions can be performed in this state? List all of them.", _texts(actions)


def _progression(source: Source, state: State, rng: random.Random) -> Made | None:
    changes = {
        action: (child - state, state - child)
        for action, child in source.space.moves_of(state).items()
        if child != state
    }
    if not changes:
        return None
    action = rng.choice(sorted(changes))
    pos, neg = changes[action]
    question = (
        f"What changes when this action is performed: “{source.describer.action(action)}”, that is "
        f"{show_atom(action)}? Give the propositions that become true, then those that become "
        "false."
    )
    return question, {"pos": _texts(sorted(pos)), "neg": _texts(sorted(neg))}


def _reachability(source: Source, state: State, rng: random.Random) -> Made | None:
    never = source.space.never_atoms(state)
    if len(never) > MOST_STORED:
        never = sorted(rng.sample(never, MOST_STORED))
    # The published files store these without parentheses.
    return (
        "Which proposition can never hold, whatever is done from this state on?",
        [" ".join(atom) for atom in never],
    )


def _action_reachability(source: Source, state: State, rng: random.Random) -> Made | None:
    never = source.space.never_actions(state)
    return (
        "Which action can never be performed, whatever is done from this state on?",
        _texts([rng.choice(never)]) if never else [],
    )


def _validation(source: Source, state: State, rng: random.Random) -> Made | None:
    plan, states = source.space.walk(rng, state)
    if len(plan) < 2:
        return None
    index = rng.randrange(len(plan))
    here = source.space.moves_of(states[index])
    # An action that can be performed elsewhere is harder to tell than one that never can.
    wrong = sorted(set(source.space.performable) - here.keys())
    wrong = wrong or sorted(set(source.space.actions) - here.keys())
    if not wrong:
        return None
    plan[index] = rng.choice(wrong)
    return (
        f'Which action of this sequence is the first that cannot be performed: "{_plan(plan)}"?',
        index,
    )


# The reference evaluator cuts the plan out by 19 characters before and 147 after it.
JUST_BEFORE = 'This is the plan: "'
JUST_AFTER = (
    '". It reaches the goal, but is longer than it need be. Leave out one action, or two '
    "consecutive actions so that a plan remains, and give that plan."
)


def _justification(source: Source, state: State, rng: random.Random) -> Made | None:
    plan, states = source.space.walk(rng, state)
    removable = _removable(source, state, plan)
    if not removable:
        plan = _padded(source, rng, plan, states)
        removable = _removable(source, state, plan)
    if not removable or len(plan) < 2:
        return None
    return f"{JUST_BEFORE}{_plan(plan)}{JUST_AFTER}", removable


def _removable(source: Source, state: State, plan: Sequence[Atom]) -> list[list[str]]:
    """Return single actions and pairs without which a plan remains, with their number of
    appearance.

    It counts from 1; an action that stands once, and a pair, have -1.
    """
    removable = []
    for size in (1, 2):
        for place in range(len(plan) - size + 1):
            if _reaches(source, state, [*plan[:place], *plan[place + size :]]):
                part = plan[place : place + size]
                several = size == 1 and plan.count(part[0]) > 1
                number = plan[: place + 1].count(part[0]) if several else -1
                removable.append([*_texts(part), str(number)])
    return removable


def _reaches(source: Source, state: State, plan: Sequence[Atom]) -> bool:
    for action in plan:
        child = source.space.moves_of(state).get(action)
        if child is None:
            return False
        state = child
    return source.space.is_goal(state)


def _padded(
    source: Source, rng: random.Random, plan: list[Atom], states: Sequence[State]
) -> list[Atom]:
    """Return the plan with an action or a pair put in that it does not need; unchanged if none
    fits.
    """
    places = list(range(len(states)))
    rng.shuffle(places)
    for place in places:
        ways: list[tuple[Atom, ...]] = []
        for first, child in sorted(source.space.moves_of(states[place]).items()):
            ways.append((first,))
            ways += [(first, second) for second in sorted(source.space.moves_of(child))]
        rng.shuffle(ways)
        for way in ways:
            longer = [*plan[:place], *way, *plan[place:]]
            if _reaches(source, states[0], longer):
                return longer
    return plan


def _landmarks(source: Source, state: State, rng: random.Random) -> Made | None:
    open_atoms = [
        atom for atom in source.space.atoms if atom not in state and atom not in _goal_atoms(source)
    ]
    seen_on_plans: list[set[Atom]] = [
        set().union(*source.space.walk(rng, state)[1]) for _ in range(3)
    ]
    yes: list[Atom] = []
    no: list[Atom] = []
    for atom in open_atoms:
        needed = all(atom in seen for seen in seen_on_plans)
        (yes if needed and not source.space.avoidable(atom, state) else no).append(atom)
    return (
        "Which proposition must hold at some time on every way to the goal, though it neither "
        "holds now nor belongs to the goal?",
        {"yes": _texts(yes), "no": _texts(no)},
    )


def _goal_atoms(source: Source) -> set[Atom]:
    return {
        tuple(map(str, template)) for case in source.instance.goal for template in case.positive
    }


def _next_action(source: Source, state: State, rng: random.Random) -> Made | None:
    nearer = source.space.nearer(state)
    yes: list[Atom] = []
    no: list[Atom] = []
    for action in sorted(source.space.moves_of(state)):
        (yes if action in nearer else no).append(action)
    return (
        "Which action should be performed next, so that the goal comes closer?",
        {
            "yes": _texts(yes),
            "no": _texts(no),
            "maybe": [],
            "opt": str(source.space.distance(state)),
        },
    )


MAKERS: Mapping[str, Callable[[Source, State, random.Random], Made | None]] = {
    "app": _applicability,
    "areach": _action_reachability,
    "just": _justification,
    "land": _landmarks,
    "nexta": _next_action,
    "prog": _progression,
    "reach": _reachability,
    "val": _validation,
}


def _texts(atoms: Sequence[Atom]) -> list[str]:
    return [show_atom(atom) for atom in atoms]


def _plan(plan: Sequence[Atom]) -> str:
    return " ".join(_texts(plan))


# --- All questions --------------------------------------------------------------------------------


class MadeQuestion(NamedTuple):
    """A question with the record of its making."""

    question: PlanningQuestion
    record: Mapping[str, Any]


def make_questions(
    sources: Sequence[Source], seed: int, per_task: int, tasks: Sequence[str] = tuple(TASKS)
) -> Iterator[MadeQuestion]:
    """Make up to ``per_task`` different questions of each task, spread evenly over the problems."""
    for task in tasks:
        # Problems may differ in their goal alone, of which not every question tells.
        known: set[tuple[str, str]] = set()
        makers = [
            _questions_of(source, task, seed, known) for source in sources if source.space.solvable
        ]
        made = 0
        while makers and made < per_task:
            for maker in list(makers):
                question = next(maker, None)
                if question is None:
                    makers.remove(maker)
                    continue
                yield question
                made += 1
                if made == per_task:
                    break


def _questions_of(
    source: Source, task: str, seed: int, known: set[tuple[str, str]]
) -> Iterator[MadeQuestion]:
    """Yield questions of a task about a problem that are not ``known`` yet, until none is found."""
    instance, kind = source.instance, TASKS[task]
    rng = random.Random(derive_seed(seed, instance.domain.name, instance.name, task))
    draws = declined = fitting = 0
    while draws < source.space.patience and declined < MOST_DECLINED:
        draws += 1
        try:
            state = source.sample(rng)
            if state is None:
                continue
            fitting += 1
            made = MAKERS[task](source, state, rng)
        except SpaceUndecided as error:
            declined += 1
            source.declined.setdefault(task, []).append(str(error))
            continue
        if made is None:
            continue
        context = source.describer.context(
            instance, state, actions=kind.shape in ("action", "actions", "index"), goal=kind.goal
        )
        if (context, made[0]) in known:
            continue
        known.add((context, made[0]))
        draws = declined = 0
        problem = source.with_state(state)
        number = derive_seed(task, source.domain, problem, made[0])
        question = PlanningQuestion(
            task, "", number, kind.group, context, made[0], source.domain.strip(),
            problem.strip(), made[1],
        )  # fmt: skip
        record = {
            "seed": seed,
            "problem": instance.name,
            "distance": source.space.known_distance(state),
            **source.space.effort,
        }
        yield MadeQuestion(question, record)
    if not fitting and not declined:
        source.declined.setdefault(task, []).append(
            "no state along a plan has a wanted distance to the goal and at most "
            f"{source.difficulty.max_applicable} applicable actions"
        )

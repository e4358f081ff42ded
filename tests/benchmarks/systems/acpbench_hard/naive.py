"""A second, naive implementation of the eight tasks, for small problems.

It shares no code with the product: its own reader of PDDL (conjunctive preconditions, typed or
not), every binding of every action tried, every reachable state visited. It is slow and plain, so
that the two can only agree where both are right.
"""

import re
from dataclasses import dataclass
from functools import cached_property
from itertools import product

State = frozenset[str]


def read(text: str) -> list:
    """The nested lists of a PDDL text, in lower case."""
    tokens = re.findall(r"[()]|[^\s()]+", re.sub(r";[^\n]*", "", text.lower()))
    stack: list[list] = [[]]
    for token in tokens:
        if token == "(":
            stack.append([])
        elif token == ")":
            done = stack.pop()
            stack[-1].append(done)
        else:
            stack[-1].append(token)
    (found,) = stack[0]
    return found


def typed(words: list[str]) -> list[tuple[str, str]]:
    """(name, type) of a typed list."""
    found, names = [], []
    rest = iter(words)
    for word in rest:
        if word == "-":
            kind = next(rest)
            found += [(name, kind) for name in names]
            names = []
        else:
            names.append(word)
    return found + [(name, "object") for name in names]


def write(parts: list[str]) -> str:
    return "(" + " ".join(parts) + ")"


@dataclass(frozen=True)
class Op:
    name: str
    pre: frozenset[str]
    add: frozenset[str]
    delete: frozenset[str]

    def apply(self, state: State) -> State:
        return (state - self.delete) | self.add


class Naive:
    """A problem with everything that can be known of it by looking at every state."""

    def __init__(self, domain: str, problem: str) -> None:
        self.domain, self.problem = read(domain), read(problem)
        self.parents = dict(typed(self.part(self.domain, ":types")))
        self.objects = typed(self.part(self.problem, ":objects"))
        self.init: State = frozenset(map(write, self.part(self.problem, ":init")))
        (goal,) = self.part(self.problem, ":goal")
        self.goal = frozenset(map(write, goal[1:] if goal[0] == "and" else [goal]))
        self.actions = [one for one in self.domain if one[0] == ":action"]

    @staticmethod
    def part(whole: list, name: str) -> list:
        return next((one[1:] for one in whole if one[0] == name), [])

    def of_type(self, wanted: str) -> list[str]:
        return [name for name, kind in self.objects if self.is_a(kind, wanted)]

    def is_a(self, kind: str, wanted: str) -> bool:
        while kind != wanted and kind in self.parents and kind != "object":
            kind = self.parents[kind]
        return wanted in (kind, "object")

    @cached_property
    def ops(self) -> dict[str, Op]:
        """Every well-typed ground action."""
        found = {}
        for action in self.actions:
            fields = dict(zip(action[2::2], action[3::2], strict=True))
            names = typed(fields[":parameters"])
            for values in product(*(self.of_type(kind) for _, kind in names)):
                bound = dict(zip((name for name, _ in names), values, strict=True))

                def ground(atom: list[str], bound: dict[str, str] = bound) -> str:
                    return write([bound.get(word, word) for word in atom])

                parts = fields[":precondition"]
                pre = parts[1:] if parts[0] == "and" else [parts]
                effects = fields[":effect"]
                effects = effects[1:] if effects[0] == "and" else [effects]
                name = write([action[1], *values])
                found[name] = Op(
                    name,
                    frozenset(map(ground, pre)),
                    frozenset(ground(e) for e in effects if e[0] != "not"),
                    frozenset(ground(e[1]) for e in effects if e[0] == "not"),
                )
        return found

    @cached_property
    def fluents(self) -> set[str]:
        """Names of the predicates that some action adds or deletes."""
        return {
            atom[1:].split()[0].rstrip(")")
            for op in self.ops.values()
            for atom in op.add | op.delete
        }

    @cached_property
    def atoms(self) -> set[str]:
        """Every well-typed ground atom of a fluent predicate."""
        found = set()
        for name, *parameters in self.part(self.domain, ":predicates"):
            if name in self.fluents:
                kinds = [kind for _, kind in typed(parameters)]
                found |= {write([name, *values]) for values in product(*map(self.of_type, kinds))}
        return found

    def applicable(self, state: State) -> set[str]:
        return {name for name, op in self.ops.items() if op.pre <= state}

    @cached_property
    def graph(self) -> dict[State, dict[str, State]]:
        """Every state that can be reached, with where each action leads."""
        found: dict[State, dict[str, State]] = {}
        front = [self.init]
        while front:
            state = front.pop()
            if state not in found:
                found[state] = {n: self.ops[n].apply(state) for n in self.applicable(state)}
                front += found[state].values()
        return found

    @cached_property
    def ever(self) -> frozenset[str]:
        """Atoms that hold in some reachable state."""
        return frozenset().union(*self.graph)

    @cached_property
    def ever_applicable(self) -> set[str]:
        return {name for moves in self.graph.values() for name in moves}

    def distance(self, state: State, without: str = "") -> int | None:
        """Length of a shortest plan, never through a state with the atom ``without``."""
        seen, front, depth = {state}, [state], 0
        while front:
            if any(self.goal <= one for one in front):
                return depth
            following = []
            for one in front:
                for child in self.graph[one].values():
                    if child not in seen and not (without and without in child):
                        seen.add(child)
                        following.append(child)
            front, depth = following, depth + 1
        return None

    def run(self, plan: list[str]) -> tuple[int | None, State]:
        """The place of the first action that is not applicable, and the last state."""
        state = self.init
        for place, name in enumerate(plan):
            op = self.ops.get(name.lower())
            if op is None or not op.pre <= state:
                return place, state
            state = op.apply(state)
        return None, state

    def is_plan(self, plan: list[str]) -> bool:
        fails, state = self.run(plan)
        return fails is None and self.goal <= state


def plan_in(question: str) -> list[str]:
    """The actions that stand in quotes in a question."""
    return re.findall(r"\([^()]*\)", question.split('"')[1].lower())

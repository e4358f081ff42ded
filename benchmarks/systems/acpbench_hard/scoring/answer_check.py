"""Data about one question that validators share; each part is made when it is first needed."""

import re
from collections.abc import Sequence
from functools import cached_property

from benchmarks.systems.acpbench_hard.corrected_reading import Names
from benchmarks.systems.acpbench_hard.pddl.conditions import Atom
from benchmarks.systems.acpbench_hard.pddl.expressions import PddlError
from benchmarks.systems.acpbench_hard.pddl.grounding import Declined, Ground, ground
from benchmarks.systems.acpbench_hard.pddl.instance import (
    Instance,
    State,
    parse_plan,
    read_instance,
)
from benchmarks.systems.acpbench_hard.pddl.operators import OperatorCondition
from benchmarks.systems.acpbench_hard.questions import PlanningQuestion
from benchmarks.systems.acpbench_hard.search.external import ask_planner, find_planner
from benchmarks.systems.acpbench_hard.search.optimal import Distances
from benchmarks.systems.acpbench_hard.search.plans import find_plan
from benchmarks.systems.acpbench_hard.search.result import Limits, SearchResult
from benchmarks.systems.acpbench_hard.search.space import Space

# The reference cuts the plan of a justification from the question by these offsets.
PLAN_FROM, PLAN_TO = 19, -147
_QUOTED = re.compile(r'"([^"]*)"')


class AnswerCheck:
    """A question under work."""

    def __init__(self, question: PlanningQuestion, limits: Limits) -> None:
        self.question, self.limits = question, limits
        # Why the PDDL cannot be used; empty where it can.
        self.fault = ""
        self._found: dict[object, SearchResult] = {}

    @cached_property
    def instance(self) -> Instance | None:
        """The problem, or None where its PDDL cannot be read; ``fault`` then says why."""
        try:
            return read_instance(self.question.pddl_domain, self.question.pddl_problem)
        except PddlError as error:
            self.fault = str(error)
            return None

    @cached_property
    def ground(self) -> Ground | None:
        """The grounded problem, or None where it is too large; ``fault`` then says why."""
        if self.instance is None:
            return None
        try:
            return ground(self.instance, self.limits.operators, self.limits.steps)
        except Declined as declined:
            self.fault = str(declined)
            return None

    def reach(self, grounded: Ground, goal: Sequence[OperatorCondition]) -> SearchResult:
        """Return a plan for another goal, or a proof that there is none."""
        key = tuple(goal)
        if key not in self._found:
            result = SearchResult("unsolvable", None, "relaxation")
            if goal:
                result = find_plan(Space(grounded, goal), self.limits)
            state = grounded.instance.init
            self._found[key] = self._or_ask_planner(result, grounded, state, goal, None)
        return self._found[key]

    def within(self, grounded: Ground, action: Atom, bound: int) -> SearchResult:
        """Return a plan of at most ``bound`` actions after one action, or a proof of none."""
        key = (action, bound)
        if key not in self._found:
            instance, goal = grounded.instance, grounded.goal
            state = instance.apply(action, instance.init)
            result = SearchResult("unsolvable", None, "relaxation")
            if goal:
                space = Space(grounded, goal)
                after = space.state(grounded.state(state))
                result = Distances(space, self.limits).within(after, bound)
            self._found[key] = self._or_ask_planner(result, grounded, state, goal, bound)
        return self._found[key]

    def _or_ask_planner(
        self,
        result: SearchResult,
        grounded: Ground,
        state: State,
        goal: Sequence[OperatorCondition],
        bound: int | None,
    ) -> SearchResult:
        """Ask an external planner, if there is one, where our own search gave up."""
        planner = find_planner() if result.outcome == "gave_up" else ""
        if not planner:
            return result
        text = self.question.pddl_domain
        planned = ask_planner(planner, text, grounded, state, goal, self.limits, bound=bound)
        return result if planned.outcome == "gave_up" else planned

    @cached_property
    def actions(self) -> Names:
        """The names of an answer that consists of actions."""
        instance = self.instance
        if instance is None:
            return Names()
        arity = {name: len(action.parameters) for name, action in instance.domain.actions.items()}
        others = frozenset(instance.domain.predicates) - frozenset(arity)
        return Names(arity, others, frozenset(instance.objects))

    @cached_property
    def propositions(self) -> Names:
        """The names of an answer that consists of propositions."""
        instance = self.instance
        if instance is None:
            return Names()
        arity = {name: len(types) for name, types in instance.domain.predicates.items()}
        others = frozenset(instance.domain.actions) - frozenset(arity)
        return Names(arity, others, frozenset(instance.objects))

    @property
    def plan(self) -> tuple[str, ...]:
        """The plan of a justification question as the reference cuts it out, with its case."""
        cut = self.question.question[PLAN_FROM:PLAN_TO]
        return tuple(cut.replace(") (", ")\n(").split("\n"))

    @property
    def quoted_plan(self) -> tuple[Atom, ...]:
        """The actions that a question quotes, in lower case."""
        match = _QUOTED.search(self.question.question)
        return parse_plan(match.group(1) if match else self.question.question)

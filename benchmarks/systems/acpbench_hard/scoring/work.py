"""What the validators share about one question; each part is made when it is first needed."""

import re
from functools import cached_property

from benchmarks.systems.acpbench_hard.limits import Limits
from benchmarks.systems.acpbench_hard.pddl.conditions import Atom
from benchmarks.systems.acpbench_hard.pddl.expressions import PddlError
from benchmarks.systems.acpbench_hard.pddl.instance import Instance, parse_plan, read_instance
from benchmarks.systems.acpbench_hard.questions import Question
from benchmarks.systems.acpbench_hard.readings import Names

# The reference cuts the plan of a justification from the question by these offsets.
PLAN_FROM, PLAN_TO = 19, -147
_QUOTED = re.compile(r'"([^"]*)"')


class Work:
    """A question under work."""

    def __init__(self, question: Question, limits: Limits) -> None:
        self.question, self.limits = question, limits
        # Why the PDDL cannot be used; empty where it can.
        self.fault = ""

    @cached_property
    def instance(self) -> Instance | None:
        """The problem, or None where its PDDL cannot be read; ``fault`` then says why."""
        try:
            return read_instance(self.question.pddl_domain, self.question.pddl_problem)
        except PddlError as error:
            self.fault = str(error)
            return None

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
        found = _QUOTED.search(self.question.question)
        return parse_plan(found.group(1) if found else self.question.question)

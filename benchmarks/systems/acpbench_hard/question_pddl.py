"""A question's PDDL, read once per process: checks for importers, names for forms."""

from functools import lru_cache
from typing import Any

from benchmarks.systems.acpbench_hard.pddl.domain import read_domain
from benchmarks.systems.acpbench_hard.pddl.expressions import PddlError
from benchmarks.systems.acpbench_hard.pddl.instance import Instance, read_instance


@lru_cache(maxsize=64)
def instance_of(domain: str, problem: str) -> Instance:
    """The problem of a question."""
    return read_instance(domain, problem)


def pddl_fault(domain: str, problem: str = "") -> str:
    """What is wrong with a domain, or with a problem of it; empty where nothing is."""
    try:
        read_instance(domain, problem) if problem else read_domain(domain)
    except PddlError as error:
        return str(error)
    return ""


def vocabulary_of(domain: str, problem: str) -> dict[str, Any]:
    """The names that an answer may use: actions, propositions that change, and objects.

    Actions and propositions come with how many objects they take.
    """
    instance = instance_of(domain, problem)
    known = instance.domain
    return {
        "actions": [
            {"name": action.name, "size": len(action.parameters)}
            for action in known.actions.values()
        ],
        "propositions": [
            {"name": name, "size": len(kinds)}
            for name, kinds in known.predicates.items()
            if name in known.fluents
        ],
        "objects": list(instance.objects),
    }

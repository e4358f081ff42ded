"""Runs that somebody must not see for now.

Studies hide from their annotators who made what. This app knows nothing of studies: apps above it
say by a rule which runs to close to whom.
"""

from collections.abc import Callable, Iterable

from django.contrib.auth.models import User

Rule = Callable[[User], Iterable[int]]
_rules: list[Rule] = []


def blinding_rule(rule: Rule) -> Rule:
    """Register a rule: from a person to the ids of the runs that are closed to them."""
    if rule not in _rules:
        _rules.append(rule)
    return rule


def closed_runs(user: User) -> frozenset[int]:
    """The runs that are closed to this person at this moment."""
    return frozenset(pk for rule in _rules for pk in rule(user))

"""Agents that need no set-up: each scripted or recorded policy of each system, and a person."""

from benchmarks.core.registry import SYSTEMS, get_system
from benchmarks.models import Agent

# Whoever is there takes the agent's part on the page of open asks.
PERSON = "person"


def ensure_scripted_agents() -> int:
    """Make the missing ones; returns how many were made. Existing agents are left alone."""
    known = set(Agent.objects.values_list("name", flat=True))
    missing = [
        Agent(
            name=policy.name,
            title=policy.title,
            kind="recorded" if policy.label == "recorded" else "scripted",
            system=key,
            policy=policy.name,
        )
        for key in SYSTEMS
        for policy in get_system(key).scripted.values()
        if policy.role == "agent" and policy.name not in known
    ]
    if PERSON not in known:
        missing.append(Agent(name=PERSON, title="A person", kind=Agent.Kind.HUMAN))
    Agent.objects.bulk_create(missing, ignore_conflicts=True)
    return len(missing)

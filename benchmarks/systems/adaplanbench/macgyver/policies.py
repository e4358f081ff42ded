"""Everybody whom MacGyver tasks bring along: recorded agents and lexicon judges."""

from collections.abc import Mapping

from benchmarks.core.system import ScriptedPolicy
from benchmarks.systems.adaplanbench.macgyver import judges, pools, rubric

POLICIES: Mapping[str, ScriptedPolicy] = {**pools.POLICIES, **judges.POLICIES, **rubric.POLICIES}

# Who fills the judges' roles for these tasks, where a run does not say otherwise.
ROLES: Mapping[str, tuple[str, ...]] = {
    "agent": ("everyone",),
    "world_judge": ("lexicon-world",),
    "user_judge": ("lexicon-user",),
    "rubric_judge": ("lexicon-even", "lexicon-strict", "lexicon-mild"),
}

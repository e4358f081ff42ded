"""AdaPlanBench in plain words, for pages."""

from collections.abc import Mapping
from typing import Any

from benchmarks.core.types import Outcome
from benchmarks.core.words import Ending, Measure
from benchmarks.systems.adaplanbench.rubric import DIMENSIONS

ENDINGS: Mapping[str, Ending] = {
    "valid_plan": Ending("Valid plan", "The last plan violates no hidden constraint.", "ok"),
    "early_stop": Ending(
        "Early stop", "Plans went on violating constraints, but nothing new came to light.", "bad"
    ),
    "max_turns": Ending("Out of turns", "The turn budget was used up without a valid plan.", "bad"),
    "refinement_spent": Ending(
        "Refinement used up", "All refinement turns were used, and the plan still fails.", "warn"
    ),
    "pool_exhausted": Ending(
        "Pool ran dry",
        "No recorded answer was left to propose. Counts neither as valid nor as invalid.",
        "idle",
    ),
    "judge_failure": Ending(
        "Judge failed",
        "A constraint judge gave no readable verdict, so validity is unknown.",
        "idle",
    ),
    "simulator_failure": Ending(
        "User simulator failed", "The user simulator gave no readable feedback.", "idle"
    ),
    "agent_unreadable": Ending(
        "Unreadable plan", "The agent gave no plan that could be read.", "idle"
    ),
    "agent_declined": Ending("Agent declined", "The agent gave no plan.", "idle"),
}

MEASURES: Mapping[str, Measure] = {
    "accurate": Measure(
        "Acc", "Share whose last plan is valid and passes every counted dimension.", "rate"
    ),
    "valid": Measure("VPR", "Share whose last plan violates no constraint.", "rate"),
    "turns": Measure("Turns", "Mean number of turns."),
    "world_repeated": Measure(
        "AWRV", "World constraints violated again after they were disclosed, per trajectory."
    ),
    "user_repeated": Measure(
        "AURV", "User constraints violated again after they were disclosed, per trajectory."
    ),
    "world_triggered": Measure("ATWC", "Different world constraints disclosed per turn."),
    "user_triggered": Measure("ATUC", "Different user constraints disclosed per turn."),
}


def explain(outcome: Outcome, settings: Mapping[str, Any]) -> str:
    """Why it ended, and where the last plan stands."""
    match outcome.termination:
        case "valid_plan":
            return f"The last plan violates no hidden constraint{_passing(outcome, settings)}"
        case "early_stop":
            return (
                f"{settings.get('patience', 2)} turns in a row violated constraints without "
                "bringing a new one to light. The last plan is not valid."
            )
        case "max_turns":
            turns = settings.get("max_turns", 20)
            return f"The budget of {turns} turns was used up. The last plan is not valid."
    ending = ENDINGS.get(outcome.termination)
    reason = str(outcome.payload.get("reason", "")).removeprefix(f"{outcome.termination}: ")
    return (ending.sentence if ending else "") + (f" Reason given: {reason}" if reason else "")


def _passing(outcome: Outcome, settings: Mapping[str, Any]) -> str:
    tau = settings.get("tau", 3.5)
    accurate = outcome.metrics.get("accurate")
    if accurate is None:
        why = outcome.undefined.get("accurate", "scores are missing")
        return f"; whether it passes the rubric is undefined: {in_words(why)}."
    if accurate:
        return f", and every dimension that counts reaches a mean of {tau}: valid and accurate."
    return f", but a dimension that counts stays below a mean of {tau}: valid, not accurate."


def in_words(reason: str) -> str:
    """A reason with dimensions by title instead of key."""
    for dimension in DIMENSIONS:
        reason = reason.replace(dimension.key, dimension.title.lower())
    return reason

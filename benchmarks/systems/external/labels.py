"""Trajectories made elsewhere in plain words, for pages."""

from collections.abc import Mapping
from typing import Any

from benchmarks.core.ports.labels import Ending, Labels, Measure
from benchmarks.core.ports.results import (
    NEARLY,
    PARTLY_RIGHT,
    RIGHT,
    WRONG,
    HeaderAnswer,
    TrajectoryResult,
    one_line,
)
from benchmarks.core.types import Outcome, Task, Turn

ENDINGS: Mapping[str, Ending] = {
    "user_stop": Ending("User was done", "The user ended the talk.", "info"),
    "agent_stop": Ending("Agent was done", "The agent ended the talk.", "info"),
    "transfer": Ending("Handed over", "The agent handed its user over to a person.", "info"),
    "completed": Ending("Completed", "It ran to its end.", "info"),
    "max_steps": Ending("Out of steps", "The budget of steps was used up.", "warn"),
    "too_many_errors": Ending("Too many errors", "Calls of tools failed too often.", "warn"),
    "limit": Ending("At a limit", "A limit of its run stopped it.", "warn"),
    "error": Ending("Error", "Infrastructure let it down, or its own program failed.", "idle"),
    "not_stated": Ending("End not stated", "The file does not say how it ended.", "idle"),
}

MEASURES: Mapping[str, Measure] = {
    "reward": Measure("Reward", "Mean reward as the file states it."),
    "full_reward": Measure("Full reward", "Share of trajectories with a reward of 1.", "rate"),
    "turns": Measure("Turns", "Mean number of turns, from one word of the user to the next."),
    "tool_calls": Measure("Tool calls", "Mean number of calls by the agent."),
    "cost": Measure("Cost", "Mean cost of the agent, in the currency of the file."),
    "user_cost": Measure("User cost", "Mean cost of the simulated user."),
    "tokens": Measure("Tokens", "Mean number of tokens that the agent wrote."),
}

# What pages about judges and hidden constraints say here.
MISSING = (
    "These trajectories were made elsewhere. They have no hidden constraints that judges looked "
    "for and no scores of judges, so validity, violations and rubric scores are not known here."
)
NO_VERDICT = "made elsewhere: no judge looked for violations"


def result(outcome: Outcome) -> TrajectoryResult:
    """Return right for a reward of 1, wrong for none, partly right between; else the ending."""
    ending = LABELS.ending(outcome.termination)
    reward = outcome.metrics.get("reward")
    if reward is None:
        return TrajectoryResult(ending.title, ending.tone, "no reward stated")
    words = f"reward {reward:g}"
    if reward > 1 + NEARLY:
        return TrajectoryResult(ending.title, ending.tone, words)
    if reward >= 1 - NEARLY:
        return TrajectoryResult(RIGHT, "ok", words)
    return (
        TrajectoryResult(PARTLY_RIGHT, "warn", words)
        if reward > 0
        else TrajectoryResult(WRONG, "bad", words)
    )


def answer(task: Task, last: Turn, outcome: Outcome, settings: Mapping[str, Any]) -> HeaderAnswer:
    """Return the agent's last text; what was expected is among what the file states."""
    said = [
        row["text"]
        for row in last.payload.get("messages", ())
        if row["speaker"] == "assistant" and row.get("text", "").strip()
    ]
    return HeaderAnswer(one_line(said[-1] if said else last.text))


def explain(outcome: Outcome, settings: Mapping[str, Any]) -> str:
    """Explain why it ended, and what it was worth."""
    known = ENDINGS.get(outcome.termination)
    sentence = known.sentence if known else f"Stated as “{outcome.termination}”."
    reward = outcome.metrics.get("reward")
    if reward is None:
        return f"{sentence} No reward: {outcome.undefined.get('reward', 'none is stated')}."
    return f"{sentence} Reward {reward:g}."


LABELS = Labels(
    endings=ENDINGS,
    measures=MEASURES,
    verdicts={},
    columns=("reward",),
    result=result,
    answer=answer,
    explain=explain,
    not_judged=MISSING,
    no_verdict=NO_VERDICT,
)

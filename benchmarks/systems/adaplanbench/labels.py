"""AdaPlanBench in plain words, for pages; and what goes wrong: which constraints plans violate."""

import json
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from statistics import fmean
from typing import Any

from benchmarks.core.plans import split_steps
from benchmarks.core.ports.disclosures import Disclosure, Disclosures, TurnRecord
from benchmarks.core.ports.faults import Fault, Faults
from benchmarks.core.ports.labels import Ending, Labels, Measure
from benchmarks.core.ports.results import HeaderAnswer, TrajectoryResult, listed, verdict_result
from benchmarks.core.types import Outcome, Task, Turn
from benchmarks.systems.adaplanbench.macgyver.answers import VERDICTS
from benchmarks.systems.adaplanbench.protocol import COUNTED, DIMENSIONS

ENDINGS: Mapping[str, Ending] = {
    "valid_plan": Ending(
        "Valid plan",
        "The last plan violates no hidden constraint.",
        "info",
        does="end with a valid plan",
    ),
    "early_stop": Ending(
        "Early stop",
        "Plans went on violating constraints, but nothing new came to light.",
        "bad",
        does="stop early",
    ),
    "max_turns": Ending(
        "Out of turns",
        "The turn budget was used up without a valid plan.",
        "bad",
        does="run out of turns",
    ),
    "refinement_spent": Ending(
        "Refinement used up",
        "All refinement turns were used, and the plan still fails.",
        "warn",
        does="use up all refinement turns",
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
        "Acc",
        "Share whose last plan is valid and passes every counted dimension.",
        "rate",
        noun="accuracy",
        says="accurate on",
    ),
    "valid": Measure(
        "VPR",
        "Share whose last plan violates no constraint.",
        "rate",
        noun="share of valid last plans",
    ),
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


def result(outcome: Outcome) -> TrajectoryResult:
    """Return whether the last plan is valid and passes the rubric."""
    valid, accurate = outcome.metrics.get("valid"), outcome.metrics.get("accurate")
    if valid and not accurate:
        missing = "scores are missing" if accurate is None else "a score is too low"
        return verdict_result(accurate, f"Valid plan, {missing}")
    return verdict_result(accurate, LABELS.ending(outcome.termination).title)


def answer(task: Task, last: Turn, outcome: Outcome, settings: Mapping[str, Any]) -> HeaderAnswer:
    """Return the last plan's size, the constraints that it violates and the scores below τ."""
    steps = len(split_steps(last.text))
    given = f"plan of {steps} step{'s' * (steps != 1)}, turn {last.index}"
    if not outcome.metrics.get("valid"):
        return HeaderAnswer(given, fault=listed([row.text for row in last.violations], "Violated"))
    tau = settings.get("tau", 3.5)
    counted = COUNTED.get(settings.get("dimensions", "all"), ())
    scores: dict[str, list[float]] = defaultdict(list)
    for score in last.scores:
        if score.value is not None:
            scores[score.dimension].append(score.value)
    means = [
        (d.title, fmean(scores[d.key])) for d in DIMENSIONS if d.key in counted and scores[d.key]
    ]
    low = [f"{title} {mean:.2f}" for title, mean in means if mean < tau]
    return HeaderAnswer(
        given, f"no violation, every score at least {tau:g}", listed(low, "Too low")
    )


def explain(outcome: Outcome, settings: Mapping[str, Any]) -> str:
    """Explain why it ended, and where the last plan stands."""
    match outcome.termination:
        case "valid_plan":
            if again := _judged_otherwise(outcome, played=True):
                return f"While it was played, the last plan violated no hidden constraint. {again}"
            return f"The last plan violates no hidden constraint{_passing(outcome, settings)}"
        case "early_stop":
            why = (
                f"{settings.get('patience', 2)} turns in a row violated constraints without "
                "bringing a new one to light."
            )
            return f"{why} {_invalid(outcome)}"
        case "max_turns":
            turns = settings.get("max_turns", 20)
            return f"The budget of {turns} turns was used up. {_invalid(outcome)}"
    ending = ENDINGS.get(outcome.termination)
    reason = str(outcome.payload.get("reason", "")).removeprefix(f"{outcome.termination}: ")
    return (ending.sentence if ending else "") + (f" Reason given: {reason}" if reason else "")


def _invalid(outcome: Outcome) -> str:
    if again := _judged_otherwise(outcome, played=False):
        return f"The last plan was not valid then. {again}"
    return "The last plan is not valid."


def _judged_otherwise(outcome: Outcome, *, played: bool) -> str:
    """Return what judges who looked once more make of the last plan, where that is something else.

    How a trajectory ended says what they found while it was played; metrics are of the judging that
    counts.
    """
    valid = outcome.metrics.get("valid", float(played))
    if valid is None:
        why = reword_reason(outcome.undefined.get("valid", "verdicts are missing"))
        return f"Whether it is valid by the judging that counts is undefined: {why}."
    if bool(valid) == played:
        return ""
    verdict = "violates none" if valid else "violates one"
    return f"By the judging that counts it {verdict}: {'valid' if valid else 'not valid'}."


def _passing(outcome: Outcome, settings: Mapping[str, Any]) -> str:
    tau = settings.get("tau", 3.5)
    accurate = outcome.metrics.get("accurate")
    if accurate is None:
        why = outcome.undefined.get("accurate", "scores are missing")
        return f"; whether it passes the rubric is undefined: {reword_reason(why)}."
    if accurate:
        return f", and every dimension that counts reaches a mean of {tau}: valid and accurate."
    return f", but a dimension that counts stays below a mean of {tau}: valid, not accurate."


def reword_reason(reason: str) -> str:
    """Return a reason with dimensions by title instead of key."""
    for dimension in DIMENSIONS:
        reason = reason.replace(dimension.key, dimension.title.lower())
    return reason


# --- Replies of people: kind to (what is expected, a reply that would do) ---------------------


def _plan(params: Mapping[str, Any]) -> tuple[str, str]:
    return (
        "A plan in numbered steps, one a line. What stands before the first step is not judged.",
        "1. Open the window.\n2. Lay a dry towel over the wet place.\n3. Press it down.",
    )


def _violations(params: Mapping[str, Any]) -> tuple[str, str]:
    keys = list(params.get("keys", ()))
    shown = {"violated": keys[:1], "reasons": dict.fromkeys(keys[:1], "Step 2 needs it.")}
    return (
        "One JSON object: under “violated” the keys of the conditions that the plan violates, an "
        f"empty list if none; under “reasons” a few words for each. The keys are {_listed(keys)}.",
        json.dumps(shown, ensure_ascii=False, indent=2),
    )


def _scores(params: Mapping[str, Any]) -> tuple[str, str]:
    keys = list(params.get("dimensions", ()))
    shown = {"scores": dict.fromkeys(keys, 3), "reasons": dict.fromkeys(keys[:1], "…")}
    return (
        "One JSON object: under “scores” a whole number from 1 to 5 for each dimension, or null "
        f"where you cannot judge; under “reasons” a few words. Dimensions: {_listed(keys)}.",
        json.dumps(shown, ensure_ascii=False, indent=2),
    )


def _feedback(params: Mapping[str, Any]) -> tuple[str, str]:
    return (
        "What you would say to the agent, in your own words and in the part that the messages give "
        "you. Any text that is not blank will do.",
        "That will not work for me: I have no ladder here.",
    )


def _listed(keys: list[str]) -> str:
    return ", ".join(keys) or "none"


REPLIES = {"plan": _plan, "violations": _violations, "scores": _scores, "feedback": _feedback}

# What the choices mean with which judges look at stored turns again.
CHOICES: Mapping[str, Mapping[str, str]] = {
    "what": {
        "rubric": "scores",
        "constraints": "violations",
        "both": "scores and violations",
    },
    "turns": {"all": "every turn", "last": "the last one alone"},
    "calls": {
        "together": "one reply for all dimensions",
        "per_dimension": "one reply for each dimension",
    },
    "anchors": {"ascending": "1, 3, 5", "descending": "5, 3, 1"},
}

LABELS = Labels(
    endings=ENDINGS,
    measures=MEASURES,
    headline=("accurate", "valid"),
    costs=("turns",),
    choices=CHOICES,
    result=result,
    answer=answer,
    explain=explain,
    explain_reason=reword_reason,
    replies=REPLIES,
    answer_verdicts=VERDICTS,
)

FAULTS = Faults(
    kinds={
        "world": Fault("World constraint violated", "violate a world constraint"),
        "user": Fault("User constraint violated", "violate a user constraint"),
        "disclosed": Fault(
            "Disclosed constraint violated again",
            "violate a constraint again after it was disclosed",
        ),
    },
    violations={"world": "world", "user": "user"},
    violated_again="disclosed",
)


def _disclosed(turns: Sequence[TurnRecord]) -> Iterator[Disclosure]:
    """Return the constraints that the feedback named, and the first later plan that violates each.

    A plan that violates a constraint before it was disclosed breaks nothing (paper, eq. 14).
    """
    told: dict[str, Disclosure] = {}
    for turn in turns:
        for key, kind, text, revealed, repeated in turn.violations:
            known = told.get(key)
            if known is None and revealed:
                told[key] = Disclosure(text, kind, turn.number)
            elif known is not None and repeated and known.broken is None:
                told[key] = known._replace(broken=turn.number)
    yield from told.values()


DISCLOSURES = Disclosures(
    noun="constraint",
    verb="disclosed",
    broken="violated again",
    turn="plan",
    read=_disclosed,
    kinds=(("world", "World constraints"), ("user", "User constraints")),
    early=frozenset({"early_stop"}),
)

"""The construction pipeline in plain words, for pages."""

import json
from collections.abc import Mapping
from typing import Any

from benchmarks.core.ports.labels import Ending, Labels, Measure
from benchmarks.core.types import Outcome
from benchmarks.systems.adaplanbench.protocol import KINDS, WORLD
from benchmarks.systems.adaplanbench_construction.metrics import size_name
from benchmarks.systems.adaplanbench_construction.protocol import (
    ANSWERING,
    CONSTRUCTED,
    CRITERIA,
    FILTERED_OUT,
    LEVELS,
)

_WHO = {
    "rewriter": ("Rewriter", "a request"),
    "filter": ("Filter", "a verdict on the request"),
    "planner": ("Planner", "plans"),
    "extractor": ("Extractor", "candidates"),
    "merger": ("Merger", "a list of constraints"),
    "checker": ("Checker", "decisions"),
}

ENDINGS: Mapping[str, Ending] = {
    CONSTRUCTED: Ending("Constructed", "All rounds are done, and the profiles stand.", "ok"),
    FILTERED_OUT: Ending(
        "Left out", "The filter found the request unfit for a test of planning.", "aside"
    ),
    **{
        f"{role}_unreadable": Ending(
            f"{_WHO[role][0]} unreadable",
            f"No reply of the {role} could be read as {_WHO[role][1]}.",
            "idle",
        )
        for role in ANSWERING
    },
    **{
        f"{role}_declined": Ending(
            f"{_WHO[role][0]} declined", f"The {role} gave no reply.", "idle"
        )
        for role in ANSWERING
    },
}

_SIZES = {
    size_name(kind, level): Measure(
        f"{'World' if kind == WORLD else 'User'}, {level}",
        f"{'World' if kind == WORLD else 'User'} constraints of a profile after round {place}.",
    )
    for place, level in enumerate(LEVELS[:3], 1)
    for kind in KINDS
}
MEASURES: Mapping[str, Measure] = {
    "constructed": Measure(
        "Constructed", "Share of problems that passed the filter and went through all rounds.",
        "rate",
    ),
    "filtered_out": Measure("Left out", "Share of problems that the filter left out.", "rate"),
    "removed": Measure(
        "Removed", "Of a problem's candidates, the share that the checker removed.", "rate"
    ),
    "candidates": Measure("Candidates", "Constraints proposed to the checker, per problem."),
    **_SIZES,
}  # fmt: skip

VERDICTS = {"constructed": "Constructed"}
COLUMNS = ("candidates", "world_high", "user_high")
HIDDEN = "Planners are told neither the known solution nor what other planners brought up."
FIRST_SETTINGS = ("rounds", "plans_per_ask", "planners")


def explain(outcome: Outcome, settings: Mapping[str, Any]) -> str:
    """Explain why a construction ended, and what stands at its end."""
    ending = ENDINGS.get(outcome.termination)
    sentences = [ending.sentence] if ending else []
    if outcome.termination == CONSTRUCTED:
        kept = list(outcome.payload.get("levels", {}).values())
        number = len(outcome.payload.get("candidates", ()))
        sentences = [
            f"{len(kept)} rounds; {len(kept[-1]) if kept else 0} of {number} candidates kept."
        ]
    failed = outcome.payload.get("failed", ())
    sentences += [f"Does not hold: {CRITERIA.get(name, name)}" for name in failed]
    if reason := outcome.payload.get("reason"):
        sentences.append(f"Reason given: {reason}")
    return " ".join(sentences)


# --- Replies of people: kind to (what is expected, a reply that would do) -------------------------


def _query(params: Mapping[str, Any]) -> tuple[str, str]:
    return (
        "The request in one to three sentences, without what there is to work with.",
        "A kite hangs in a tree and cannot be reached from the ground. How can I get it down?",
    )


def _verdict(params: Mapping[str, Any]) -> tuple[str, str]:
    names = list(params.get("criteria", CRITERIA))
    shown = {"fit": False, "failed": names[:1], "reason": "It happens on a mountain."}
    return (
        "One JSON object: under “fit” whether the request is fit, under “failed” what does not "
        f"hold, and a reason. The names are {_listed(names)}.",
        _json(shown),
    )


def _plans(params: Mapping[str, Any]) -> tuple[str, str]:
    shown = {"plans": [{"plan": "1. Fetch a rake.\n2. Lift it down.", "probability": 0.5}]}
    return (
        f"One JSON object with up to {params.get('count', 3)} plans in numbered steps, as unlike "
        "each other as they can be, each with its probability from 0 to 1.",
        _json(shown),
    )


def _candidates(params: Mapping[str, Any]) -> tuple[str, str]:
    row = {"text": "There is no rake.", "tool": "rake"}
    if params.get("kind", WORLD) != WORLD:
        row = {"text": "I do not want noise.", "tool": "drill", "attribute": "noise"}
    return (
        "One JSON object: under “tools” what the plans use, under “candidates” what may be missing "
        "or disliked, each with one of these tools.",
        _json({"tools": [row["tool"]], "candidates": [row]}),
    )


def _merged(params: Mapping[str, Any]) -> tuple[str, str]:
    new = list(params.get("new", ())) or ["n1"]
    shown = {"constraints": [{"text": "There is no rake.", "from": new}]}
    return (
        "One JSON object: under “constraints” each constraint once, with the ids that went into "
        f"it. New are {_listed(new)}; what is forgotten stays as it is.",
        _json(shown),
    )


def _decisions(params: Mapping[str, Any]) -> tuple[str, str]:
    keys = list(params.get("keys", ())) or ["c1"]
    rows = [{"key": key, "decision": "keep", "ground": "", "reason": ""} for key in keys]
    return (
        "One JSON object: under “decisions” keep or remove for each key, with a ground and a "
        f"reason for what is removed. The keys are {_listed(keys)}.",
        _json({"decisions": rows}),
    )


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, indent=2)


def _listed(names: list[str]) -> str:
    return ", ".join(names) or "none"


REPLIES = {
    "query": _query,
    "verdict": _verdict,
    "plans": _plans,
    "candidates": _candidates,
    "merged": _merged,
    "decisions": _decisions,
}

LABELS = Labels(
    endings=ENDINGS,
    measures=MEASURES,
    verdicts=VERDICTS,
    columns=COLUMNS,
    hidden=HIDDEN,
    first_settings=FIRST_SETTINGS,
    explain=explain,
    replies=REPLIES,
)

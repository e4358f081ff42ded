"""PlanBench-XL in plain words, for pages."""

from collections.abc import Mapping
from typing import Any

from benchmarks.core.ports.labels import Ending, Labels, Measure
from benchmarks.core.ports.results import HeaderAnswer, one_line
from benchmarks.core.types import Outcome, Task, Turn

ENDINGS: Mapping[str, Ending] = {
    "answered": Ending(
        "Answered",
        "The agent gave a final answer.",
        "info",
        does="end with an answer",
    ),
    "max_steps": Ending(
        "Out of steps",
        "The steps were used up without a final answer.",
        "bad",
        does="run out of steps",
    ),
    "label_errors": Ending(
        "Unreadable replies",
        "The agent gave too many replies in a row that held no readable action.",
        "bad",
        does="end with unreadable replies",
    ),
    "retrieval_errors": Ending(
        "Failed searches",
        "Too many searches were refused.",
        "bad",
        does="end with refused searches",
    ),
    "call_errors": Ending(
        "Refused calls",
        "Too many calls were refused.",
        "bad",
        does="end with refused calls",
    ),
    "ambiguous_record": Ending(
        "Ambiguous record",
        "A lookup fitted records with different values. As in the reference, the query is left out "
        "of the score.",
        "idle",
    ),
    "agent_declined": Ending("Agent declined", "The agent gave no reply.", "idle"),
}

MEASURES: Mapping[str, Measure] = {
    "accurate": Measure(
        "Acc",
        "Share with the right answer, found by tools that can be relied on.",
        "rate",
        noun="accuracy",
        says="accurate on",
    ),
    "turns": Measure("Steps", "Mean number of replies."),
    "search_turns": Measure("Searches", "Searches per query, failed ones included."),
    "call_turns": Measure("Calls", "Tool calls per query, refused ones included."),
    "search_to_call": Measure("Search/call", "Searches per call, where there was a call."),
    "explored": Measure("Explored", "Data types that could be reached with the tools shown."),
    "precision": Measure("Precision", "Of the data types found, the share on a catalogued path."),
    "recall": Measure("Recall", "Of the data types on catalogued paths, the share found."),
    "invalid_calls": Measure("Invalid calls", "Calls refused for what they are, per query."),
    "untrusted_rejections": Measure(
        "Untrusted inputs", "Calls refused for values from unreliable tools, per query."
    ),
    "combined_invalid": Measure("Refused calls", "Both kinds of refused calls, per query."),
    "noisy_calls": Measure("Noisy calls", "Calls of noisy tools per query, refused ones included."),
}

FAILURES: Mapping[str, str] = {
    "target_datatype_not_reached": "What was asked for was not found by reliable tools.",
    "final_answer_wrong": "It was found, but the answer does not hold it.",
}

CATEGORIES: Mapping[str, tuple[str, str]] = {
    "format_error": ("Format error", "Too many replies that could not be read or were refused."),
    "noisy_response_adopted": (
        "Noisy response adopted",
        "The answer is a value that only unreliable tools returned.",
    ),
    "premature_answering": (
        "Premature answering",
        "Answered on the way, before what was asked for had been found.",
    ),
    "irrecoverable_drift": (
        "Irrecoverable drift",
        "Left the paths that lead to the target and did not come back.",
    ),
    "unresolved_execution": (
        "Unresolved execution",
        "Still making progress when the steps ran out.",
    ),
    "misreported_answer": (
        "Misreported answer",
        "Found what was asked for and did not report it.",
    ),
}


def answer(task: Task, last: Turn, outcome: Outcome, settings: Mapping[str, Any]) -> HeaderAnswer:
    """Return the final answer, the right one, and the failure where the values are equal."""
    given = outcome.payload.get("result", {}).get("final_answer")
    if given is None:
        shown = "no final answer"
    else:
        shown = one_line(str(given)) or "an empty text"
    failed = CATEGORIES.get(outcome.payload.get("failure_category") or "")
    return HeaderAnswer(
        shown, one_line(str(task.payload.get("correct_answer", ""))), failed[0] if failed else ""
    )


def explain(outcome: Outcome, settings: Mapping[str, Any]) -> str:
    """Explain why it ended, whether the answer counts, and in which way it failed."""
    ending = ENDINGS.get(outcome.termination)
    sentences = [ending.sentence] if ending else []
    result = outcome.payload.get("result", {})
    if outcome.termination == "answered":
        failure = result.get("failure")
        sentences.append("It is right." if failure is None else FAILURES.get(failure, ""))
    if named := CATEGORIES.get(outcome.payload.get("failure_category") or ""):
        sentences.append(f"{named[0]}: {named[1][0].lower()}{named[1][1:]}")
    if reason := outcome.payload.get("reason"):
        sentences.append(f"Reason given: {reason}")
    return " ".join(part for part in sentences if part)


# --- Replies of people: kind to (what is expected, a reply that would do) -------------------------


def _tagged(params: Mapping[str, Any]) -> tuple[str, str]:
    return (
        "One action in one pair of tags: a search (retrieve_tools), a call of a tool that a search "
        "has shown (tool_call), or the answer (final_answer).",
        "<retrieve_tools>\n"
        '{"meta_tool": "by_output_info", "output_information": "delivery date"}\n'
        "</retrieve_tools>",
    )


def _native(params: Mapping[str, Any]) -> tuple[str, str]:
    return (
        "One JSON object with one call under “tool_calls”: retrieve_tools, call_tool or "
        "final_answer, with its arguments.",
        '{"content": "", "tool_calls": [{"function": {"name": "final_answer", "arguments": '
        '{"answer": "B-204"}}}]}',
    )


REPLIES = {"tagged_action": _tagged, "native_action": _native}

# --- Pages ----------------------------------------------------------------------------------------

VERDICTS = {"accurate": "Correct"}
COLUMNS = ("search_turns", "call_turns", "recall")
HIDDEN = (
    "The agent is told neither the expected answer nor which tools are noisy, blocked or reliable."
)
GROUPS = {
    "input_type": "What the query gives",
    "paths": "Catalogued paths",
    "shortest_path": "Tools on the shortest path",
}
INPUT_TYPES = {"single_input": "One value", "two_inputs": "Two values"}
CONDITION_WORDS: Mapping[str, str] = {
    "default": "nothing is blocked; noisy siblings beside every tool",
    "blocker": "blocks so that about one path remains, with all three types of blocking tools",
    "feedback": "as blocker, and a wrong answer may be mended up to five times",
    "finegrain_long": "as blocker; the longest paths remain",
    "finegrain_short": "as blocker; the shortest paths remain",
    "noise_ratio_0p2": "a fifth of the paths remains",
    "noise_ratio_0p4": "two fifths of the paths remain",
    "noise_ratio_0p6": "three fifths of the paths remain",
    "noise_ratio_0p8": "four fifths of the paths remain",
    "noise_type_explicit": "as blocker; blocked tools say that they fail",
    "noise_type_implicit": "as blocker; blocked tools return malformed values",
    "noise_type_misleading": "as blocker; blocked tools return plausible values of another kind",
}
CHOICES = {"condition": CONDITION_WORDS}
FIRST_SETTINGS = ("condition", "max_steps")

LABELS = Labels(
    endings=ENDINGS,
    measures=MEASURES,
    costs=("turns", "search_turns", "call_turns"),
    verdicts=VERDICTS,
    columns=COLUMNS,
    hidden=HIDDEN,
    choices=CHOICES,
    first_settings=FIRST_SETTINGS,
    answer=answer,
    explain=explain,
    replies=REPLIES,
)

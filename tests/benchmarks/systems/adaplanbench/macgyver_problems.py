"""A MacGyver problem of our own with answers of our own, and the two files they stand in."""

import json
from pathlib import Path
from typing import Any

import openpyxl

from benchmarks.systems.adaplanbench.macgyver.reader import COLUMNS, MacGyverProblem, RecordedAnswer

PROBLEM = (
    "17 A paper kite of your niece hangs in an apple tree and you cannot reach it from the ground. "
    "Tools available: a ladder, a garden rake, a rope, a tennis ball, a roll of duct tape, a "
    "kitchen knife and an old towel. However, the rope is frayed and the ladder has lost two "
    "rungs. How can you get the kite down using only these items?"
)
QUERY = (
    "A paper kite of your niece hangs in an apple tree and you cannot reach it from the ground. "
    "How can you get the kite down?"
)
SOLUTION = "Step1: Tape the rope to the rake with the duct tape.<br>\nStep2: Hook the kite with it."
ENTRY = MacGyverProblem(17, PROBLEM, True, "unconventional", SOLUTION, "efficient")
ANSWERS = (
    RecordedAnswer(
        "solutions_gpt4",
        "correct_efficient",
        "Step1: Tape the rope to the rake.<br>Step2: Lift the kite off. Tools used: rope, rake.",
    ),
    RecordedAnswer(
        "solutions_gpt4",
        "wrong_partial_correct",
        "Step 1: Tape the rope to the rake.\nStep 2: Lift the kite off.",
    ),
    RecordedAnswer(
        "gpt4-prompt-2",
        "correct_inefficient",
        "<br>\nStep1: Lean the ladder against the tree.<br>\nStep2: Climb up and cut the branch "
        "with the kitchen knife.<br>\nThis solution needs a steady hand.",
    ),
    RecordedAnswer("gpt4-prompt-3", "", "It is not possible to reach the kite with these items."),
    RecordedAnswer("Prolific", "correct_efficient", "Throw the tennis ball at the kite"),
    RecordedAnswer("Prolific", "wrong_fail_solvability_status", "Unsolvable. The tree is too tall"),
    RecordedAnswer("Prolific", "", "no"),
    RecordedAnswer(
        "solutions_bard", "wrong_entire_wrong_solution", "1. Wrap the towel round the ball."
    ),
)


def row(**changes: Any) -> dict[str, Any]:
    """One row of the workbook by column."""
    values = (ENTRY.id, PROBLEM, "Yes", "unconventional", SOLUTION, "efficient")
    return {**dict(zip(COLUMNS, values, strict=True)), **changes}


def results() -> dict[str, list[dict[str, Any]]]:
    """The answers in the shape of the file; an answer without a verdict lacks the field."""
    rows = []
    for answer in ANSWERS:
        given = {"model": answer.author, "annotation": answer.verdict, "solution": answer.text}
        if not answer.verdict:
            del given["annotation"]
        rows.append(given)
    return {"17": rows}


def write_workbook(path: Path, rows: list[dict[str, Any]], header: Any = COLUMNS) -> Path:
    """A workbook with these rows."""
    book = openpyxl.Workbook(write_only=True)
    sheet = book.create_sheet()
    sheet.append(list(header))
    for cells in rows:
        sheet.append([cells.get(name) for name in header])
    book.save(path)
    return path


def write_results(path: Path, data: Any) -> Path:
    """A results file: a value as JSON, bytes as they are."""
    path.write_bytes(data if isinstance(data, bytes) else json.dumps(data).encode())
    return path

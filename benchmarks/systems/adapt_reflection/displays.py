"""The view of a step for pages: its numbers, and the decision that follows from them."""

from collections.abc import Mapping
from typing import Any, NamedTuple

from benchmarks.core.ports.display import Subject, View
from benchmarks.core.types import Json
from benchmarks.systems.adapt_reflection.decisions import (
    AGREE,
    CHOOSING,
    KINDS,
    QUESTION,
    Decision,
    QuestionCounts,
    choice_of,
    chosen_text,
    decide,
)
from benchmarks.systems.adapt_reflection.labels import KIND_HELP, KIND_TITLES
from benchmarks.systems.adapt_reflection.settings import thresholds_of

TONES = {**dict.fromkeys(CHOOSING, "ok"), AGREE: "idle", QUESTION: "info"}


class StepPage(NamedTuple):
    """A step with its decision. ``chosen`` is the text of its row, '' where it makes none."""

    step: Json
    decision: Decision
    title: str
    help: str
    tone: str
    chosen: str


def step_page(subject: Subject, index: int) -> StepPage | None:
    """Return what the card of a turn shows; None where no turn of the builder has that number."""
    payload = subject.once("turns", lambda: dict(subject.read_turns())).get(index, {})
    step = payload.get("builder")
    if step is None:
        return None
    decision = decide(step, thresholds_of(subject.settings))
    choice = choice_of(decision.kind)
    chosen = chosen_text(step, choice) if choice else ""
    return StepPage(
        step, decision, KIND_TITLES[decision.kind], KIND_HELP[decision.kind],
        TONES.get(decision.kind, "warn"), chosen,
    )  # fmt: skip


class NotesPage(NamedTuple):
    """A run's decisions, the grid of thresholds, and the questions among its rows."""

    rows: list[dict[str, Any]]
    grid: list[dict[str, Any]]
    heads: list[str]
    questions: QuestionCounts | None


def notes_page(metrics: Json) -> NotesPage:
    """Return what the page of a run shows of its decisions."""
    rows = [{**row, "title": KIND_TITLES[row["kind"]], "help": KIND_HELP[row["kind"]]}
            for row in metrics.get("decisions", ())]  # fmt: skip
    shown = [kind for kind in KINDS if any(row[kind] for row in metrics.get("grid", ()))]
    used = metrics.get("thresholds") or {}
    grid = [
        {
            "tau_u": row["tau_u"],
            "tau_d": row["tau_d"],
            "used": (row["tau_u"], row["tau_d"]) == (used.get("tau_u"), used.get("tau_d")),
            "counts": [row[kind] for kind in shown],
            "questions": _questions(row),
        }
        for row in metrics.get("grid", ())
    ]
    return NotesPage(rows, grid, [KIND_TITLES[kind] for kind in shown], _questions(metrics))


def _questions(metrics: Json) -> QuestionCounts | None:
    """Return the questions among the rows; None for runs whose metrics lack them."""
    counts = metrics.get("questions")
    if counts is None:
        return None
    return QuestionCounts(counts["rows"], counts["chosen"], counts["rejected"])


DISPLAYS: Mapping[str, View] = {
    "step": step_page,
    "notes": notes_page,
}

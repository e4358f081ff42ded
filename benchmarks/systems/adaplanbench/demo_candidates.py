"""The candidates of the demo tasks: their constraints, which a script kept, and what it removed."""

from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from pathlib import Path
from typing import Any

from benchmarks.core.candidates import (
    KEPT,
    REMOVED,
    CandidateRow,
    candidate_key,
)
from benchmarks.core.types import Candidate, Profile, Task
from benchmarks.core.yaml_files import read_yaml_file
from benchmarks.systems.adaplanbench.demo import LEVELS

FILE = Path(__file__).parent / "demo_candidates.yaml"
# The level that the candidates made: what was kept in the rounds up to it is its profile.
LEVEL = "mid"
CHECKER = "scripted"
REASONS = ("vague", "reference", "query", "contradictory", "exhausting")


@cache
def _stored() -> dict[str, dict[str, Any]]:
    rows: dict[str, dict[str, Any]] = read_yaml_file(FILE)
    return rows


def demo_candidates(tasks: Iterable[tuple[Task, Sequence[Profile]]]) -> Iterator[CandidateRow]:
    """The candidates of these tasks.

    ``payload["truth"]`` says what a careful reader would do, ``keep`` or ``remove``. The checker
    errs in a few stated cases. Simulated annotators go by it; nobody is shown it.
    """
    for task, profiles in tasks:
        stored = _stored()[task.id]
        doubts = stored.get("wrongly_kept", {})
        for candidate in (*_kept(profiles, doubts), *_removed(stored["removed"])):
            yield CandidateRow(task.id, candidate, f"{FILE.name}, {task.id}, {candidate.key}")


def _kept(profiles: Sequence[Profile], doubts: dict[str, str]) -> Iterator[Candidate]:
    known: set[str] = set()
    for profile in profiles[: LEVELS.index(LEVEL) + 1]:
        for c in profile.constraints:
            if c.key in known:
                continue
            known.add(c.key)
            doubt = doubts.get(c.key)
            yield Candidate(
                key=candidate_key(c.kind, c.text),
                kind=c.kind,
                text=c.text,
                round=LEVELS.index(profile.level) + 1,
                decision=KEPT,
                decided_by=CHECKER,
                payload={"truth": "remove", "doubt": doubt} if doubt else {"truth": "keep"},
            )


def _removed(rows: Sequence[dict[str, Any]]) -> Iterator[Candidate]:
    for row in rows:
        yield Candidate(
            key=candidate_key(row["kind"], row["text"]),
            kind=row["kind"],
            text=row["text"],
            round=row["round"],
            decision=REMOVED,
            reason=row["reason"],
            decided_by=CHECKER,
            payload={"truth": row.get("truth", "remove"), "ground": row["ground"]},
        )


def problems(tasks: Sequence[tuple[Task, Sequence[Profile]]]) -> Iterator[str]:
    """What is wrong with the shipped file, one line a problem."""
    known = {task.id for task, _ in tasks}
    yield from (f"{name}: no demo task" for name in _stored() if name not in known)
    for task, profiles in tasks:
        if task.id not in _stored():
            yield f"{task.id}: no candidates"
            continue
        yield from (f"{task.id}: {text}" for text in _task_problems(task.id, profiles))


def _task_problems(name: str, profiles: Sequence[Profile]) -> Iterator[str]:
    stored = _stored()[name]
    removed = stored["removed"]
    constraints = profiles[-1].constraints
    texts = [row["text"] for row in removed]
    if not 5 <= len(removed) <= 8:
        yield f"{len(removed)} removed, 5 to 8 wanted"
    if len(set(texts)) != len(texts):
        yield "a text stands twice"
    if again := {c.text for c in constraints} & set(texts):
        yield f"removed and in the profile: {sorted(again)}"
    mid = {c.key for c in profiles[LEVELS.index(LEVEL)].constraints}
    if strange := set(stored.get("wrongly_kept", {})) - mid:
        yield f"wrongly kept, but not kept at {LEVEL}: {sorted(strange)}"
    for row in removed:
        if row["ground"] not in REASONS:
            yield f"{row['text']!r}: ground {row['ground']!r}"
        if row.get("truth", "remove") not in ("keep", "remove"):
            yield f"{row['text']!r}: truth {row['truth']!r}"
        if row["ground"] in ("contradictory", "exhausting") and row["kind"] != "user":
            yield f"{row['text']!r}: only preferences contradict or exhaust each other"

"""The demo datasets of AdaPlanBench, and what is run on them."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

from benchmarks.core.candidates import (
    KEPT,
    REMOVED,
    CandidateRow,
    candidate_key,
)
from benchmarks.core.digests import digest
from benchmarks.core.ports.demo import DemoDataset, DemoRejudging, DemoRuns
from benchmarks.core.ports.importer import TaskFile
from benchmarks.core.types import Candidate, Json, Profile, Task
from benchmarks.core.yaml_files import read_yaml_file
from benchmarks.systems.adaplanbench.demo import LEVELS, load_demo_tasks, load_full_tasks
from benchmarks.systems.adaplanbench.scripted import FAVOURITE, PARTIAL, TEMPERAMENTS

# --- Candidates of the demo tasks -----------------------------------------------------------------

CANDIDATES_FILE = Path(__file__).parent / "demo_candidates.yaml"
# The level that the candidates made: what was kept in the rounds up to it is its profile.
LEVEL = "mid"
CHECKER = "scripted"
REASONS = ("vague", "reference", "query", "contradictory", "exhausting")


@cache
def _stored() -> dict[str, dict[str, Any]]:
    rows: dict[str, dict[str, Any]] = read_yaml_file(CANDIDATES_FILE)
    return rows


def demo_candidates(tasks: Iterable[tuple[Task, Sequence[Profile]]]) -> Iterator[CandidateRow]:
    """Yield the candidates of these tasks.

    ``payload["truth"]`` says what a careful reader would do, ``keep`` or ``remove``. The checker
    errs in a few stated cases. Simulated annotators go by it; nobody is shown it.
    """
    for task, profiles in tasks:
        stored = _stored()[task.id]
        doubts = stored.get("wrongly_kept", {})
        for candidate in (*_kept(profiles, doubts), *_removed(stored["removed"])):
            yield CandidateRow(
                task.id, candidate, f"{CANDIDATES_FILE.name}, {task.id}, {candidate.key}"
            )


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
    """Yield what is wrong with the shipped file, one line a problem."""
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


AGENTS = tuple(TEMPERAMENTS)
# Two who forget, whom tracking helps, and one who tries something else after every remark.
VARIED_AGENTS = ("explorer", "last-word", "forgetful")
# The level of the paper's main table comes first; at the last one scripts differ most.
FULL_LEVELS = ("high", "mid", "low")
# Conditions of the paper. Temperature is not among them: scripts have none.
VARIATIONS: Mapping[str, Json] = {
    "world constraints alone": {"constraints": "world_only"},
    "user constraints alone": {"constraints": "user_only"},
    "tracking of constraints": {"tracking": True},
    "refinement, six extra turns": {"refinement": 6},
}


def _file(tasks: Sequence[tuple[Task, Sequence[Profile]]], notes: str) -> TaskFile:
    content = [
        [
            task.id,
            task.prompt,
            task.payload,
            [[c.key, c.text, c.about] for c in profile.constraints],
        ]
        for task, profiles in tasks
        for profile in profiles
    ]
    return TaskFile(tasks, digest(content), source="Written for PlanJury", notes=notes)


def _household() -> TaskFile:
    return _file(
        load_demo_tasks(),
        "Tasks, plans and constraints were written for this demo; agents and judges are scripts.",
    )


def _full_size() -> TaskFile:
    notes = (
        "Ten tasks with as many constraints as the paper's profiles have on average. They were "
        "written for this demo; agents and judges are scripts."
    )
    return _file(load_full_tasks(), notes)


def _one_kind() -> TaskFile:
    """Return each household task twice: with what the world, and what the user, rules out."""
    tasks = [
        (
            replace(task, id=f"{task.id}-{kind}"),
            tuple(
                Profile(profile.level, profile.of_kind(kind))
                for profile in profiles
                if profile.level == LEVEL
            ),
        )
        for task, profiles in load_demo_tasks()
        for kind in ("world", "user")
    ]
    notes = (
        "The tasks of the household demo with one kind of constraints each. The only rubric judge "
        "shares the creature of habit's taste; simulated people rated a random part of the plans."
    )
    return _file(tasks, notes)


def _ten_agents(level: str) -> DemoRuns:
    return DemoRuns(f"ten scripted agents, {level}", AGENTS, level)


DEMO = (
    DemoDataset(
        "Household demo",
        _household,
        runs=(_ten_agents(LEVEL),),
        # The same three judges once more over some of the last plans.
        rejudging=DemoRejudging(
            "Anchors from 5 down, twice",
            {"rubric_judge": ("judge-even", "judge-strict", "judge-lenient")},
            {"turns": "last", "anchors": "descending", "replicates": 2},
            AGENTS[:4],
            LEVEL,
            nth_task=3,
        ),
        candidates=demo_candidates,
    ),
    DemoDataset(
        "Full-size household demo",
        _full_size,
        runs=(
            *(
                DemoRuns(title, VARIED_AGENTS, FULL_LEVELS[0], settings)
                for title, settings in VARIATIONS.items()
            ),
            # Pages open on what was made last.
            *(_ten_agents(level) for level in FULL_LEVELS),
        ),
    ),
    DemoDataset(
        "Partial judge demo",
        _one_kind,
        runs=(
            DemoRuns(
                "three scripted agents, one partial judge",
                ("careful-tracker", "coin-flipper", FAVOURITE),
                LEVEL,
                roles={"rubric_judge": (PARTIAL,)},
            ),
        ),
        # The certificate may leave a task out, and pages correct judges from 40 rated plans on.
        rated=48,
    ),
)

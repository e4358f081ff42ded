"""Precision and recall of the lexicon judges on turns that were marked by hand.

The figures stand in benchmarks/systems/adaplanbench/macgyver/README.md; whoever changes the lexicon
sees here what the change does to them, and states the new ones there. The final sample stays held
out: its disagreements are no grounds for a change.
"""

import json
from collections import Counter
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from analysis.stats.descriptive.proportions import share
from benchmarks.core.digests import digest_text
from benchmarks.core.plans import pool_of
from benchmarks.core.types import Task
from benchmarks.systems.adaplanbench.macgyver import build
from benchmarks.systems.adaplanbench.macgyver.judges import violations
from benchmarks.systems.adaplanbench.macgyver.reader import read_macgyver_problems
from tests.shared_data import shared_data

FILE = Path(__file__).with_name("macgyver_marked_sample.json")
README = Path(build.__file__).with_name("README.md")
KINDS = {"tool": "world", "attribute": "user"}


@cache
def samples() -> dict[str, Any]:
    marked: dict[str, Any] = json.loads(FILE.read_text(encoding="utf-8"))
    return {name: sample["turns"] for name, sample in marked["samples"].items()}


@cache
def plans() -> dict[tuple[str, str], tuple[str, Task]]:
    """Every recorded plan of the slice by task and digest of its text."""
    entries = read_macgyver_problems(
        shared_data("macgyver", "problem_solution_pair.slice.xlsx"),
        shared_data("macgyver", "benchmark_results.slice.json"),
    )
    tasks = [build.build_task(entry, recorded)[0] for entry, recorded in entries]
    return {
        (task.id, digest_text(plan.text)): (plan.text, task)
        for task in tasks
        for plan in pool_of(task)
    }


@cache
def tally(name: str) -> Counter[tuple[str, str]]:
    """Decisions of the judges against the marks: (kind, hit, extra, missed or clear)."""
    counts: Counter[tuple[str, str]] = Counter()
    for turn in samples()[name]:
        text, task = plans()[turn["task"], turn["digest"]]
        asked = [
            {"key": about, "kind": KINDS[about.partition(":")[0]], "about": about, "text": ""}
            for about in turn["judged"]
        ]
        found, undecided = violations(text, asked, task.payload["listed"])
        assert not undecided
        for constraint in asked:
            here, marked = constraint["key"] in found, constraint["key"] in turn["violated"]
            kind = {(1, 1): "hit", (1, 0): "extra", (0, 1): "missed", (0, 0): "clear"}[here, marked]
            counts[constraint["kind"], kind] += 1
    return counts


def counted(name: str, kind: str) -> tuple[int, int, int]:
    """Hits, extra and missed violations of one kind, or of both."""
    kinds = ("world", "user") if kind == "both" else (kind,)
    hit, extra, missed = (
        sum(tally(name)[one, what] for one in kinds) for what in ("hit", "extra", "missed")
    )
    return hit, extra, missed


def figures(name: str, kind: str) -> str:
    """Precision and recall with 95 % Wilson intervals, as the README states them."""
    hit, extra, missed = counted(name, kind)

    def stated(n: int) -> str:
        estimate = share(hit, n)
        assert estimate.value is not None and estimate.interval is not None
        low, high = estimate.interval.low, estimate.interval.high
        return f"{estimate.value:.3f} ({hit} of {n}; {low:.3f} to {high:.3f})"

    return f"| {kind} | {stated(hit + extra)} | {stated(hit + missed)} |"


def test_each_sample_is_sixty_different_turns_of_four_agents() -> None:
    for turns in samples().values():
        assert len({(turn["task"], turn["digest"]) for turn in turns}) == 60
        agents = Counter(turn["agent"] for turn in turns)
        assert agents == dict.fromkeys(("gpt4", "people", "all-models", "everyone"), 15)
        assert all(set(turn["violated"]) <= set(turn["judged"]) for turn in turns)
    first, second = ({(t["task"], t["digest"]) for t in turns} for turns in samples().values())
    assert first.isdisjoint(second)


@pytest.mark.parametrize(
    ("kind", "expected"), [("world", (36, 1, 6)), ("user", (32, 6, 6)), ("both", (68, 7, 12))]
)
def test_the_judges_agree_with_the_held_out_marks_as_stated(
    kind: str, expected: tuple[int, int, int]
) -> None:
    assert counted("final", kind) == expected


@pytest.mark.parametrize("kind", ["world", "user", "both"])
def test_the_readme_states_the_figures(kind: str) -> None:
    assert figures("final", kind) in README.read_text(encoding="utf-8"), figures("final", kind)


def test_the_marked_turns_of_the_pilot_do_not_get_worse() -> None:
    hit, extra, missed = counted("pilot", "both")
    assert (hit, extra, missed) == (86, 0, 2)

"""An external planner: what it may answer, and what else it may do."""

import os
import sys
import time
from dataclasses import replace
from pathlib import Path

import pytest

from benchmarks.systems.acpbench_hard.pddl.grounding import Ground, ground
from benchmarks.systems.acpbench_hard.pddl.instance import read_instance
from benchmarks.systems.acpbench_hard.questions import PlanningQuestion
from benchmarks.systems.acpbench_hard.scoring import score
from benchmarks.systems.acpbench_hard.search.external import VARIABLE, ask_planner, find_planner
from benchmarks.systems.acpbench_hard.search.facts import shortest_plan
from benchmarks.systems.acpbench_hard.search.result import Limits, SearchResult
from tests.benchmarks.systems.acpbench_hard.domains import Texts, tunnel

SECOND = Limits(planner_seconds=1, planner_megabytes=300)


def planner(folder: Path, script: str) -> str:
    """A planner that is a Python script; ``plan`` is the file that it should write."""
    path = folder / "planner"
    head = f"#!{sys.executable}\nimport sys\nplan = open(sys.argv[2], 'w')\n"
    path.write_text(head + script, encoding="utf-8")
    path.chmod(0o755)
    return str(path)


@pytest.fixture
def texts() -> Texts:
    return tunnel(2, 3, 0)


@pytest.fixture
def made(texts: Texts) -> Ground:
    return ground(read_instance(*texts))


def ask(path: str, texts: Texts, made: Ground, bound: int | None = None) -> SearchResult:
    state = made.instance.init
    return ask_planner(
        path, texts.domain, made, state, made.goal, SECOND, bound=bound, wall_seconds=5
    )


def test_a_plan_counts_after_our_own_simulation(tmp_path: Path, texts: Texts, made: Ground) -> None:
    best = shortest_plan(made).plan
    assert best is not None
    lines = "\n".join(f"({' '.join(action)})" for action in best)
    path = planner(tmp_path, f"plan.write({lines!r} + '\\n; cost = 1')")
    assert ask(path, texts, made) == SearchResult("solved", best, "planner")
    assert ask(path, texts, made, bound=len(best)).solved is True
    assert ask(path, texts, made, bound=len(best) - 1).solved is False


@pytest.mark.parametrize(
    ("script", "outcome"),
    [
        ("sys.exit(11)", "unsolvable"),
        ("sys.exit(10)", "unsolvable"),
        ("sys.exit(23)", "timed_out"),
        ("sys.exit(1)", "gave_up"),
        ("import os; os.abort()", "gave_up"),
        ("plan.write('(step nowhere c0-0)')", "gave_up"),
        ("plan.write('\\0\\xff nonsense ((( ' * 1000)", "gave_up"),
        ("plan.write('(a)\\n' * 1_000_000)", "gave_up"),
        ("", "gave_up"),
        ("x = bytearray(1 << 30)", "gave_up"),
        ("while True: pass", "timed_out"),
    ],
)
def test_whatever_else_it_does_is_an_outcome(
    tmp_path: Path, texts: Texts, made: Ground, script: str, outcome: str
) -> None:
    assert ask(planner(tmp_path, script), texts, made).outcome == outcome


def test_one_that_hangs_is_ended_with_all_that_it_started(
    tmp_path: Path, texts: Texts, made: Ground
) -> None:
    note = tmp_path / "pid"
    path = planner(tmp_path, "")
    # A shell has begun its child long before the limit, however busy the machine.
    Path(path).write_text(f"#!/bin/sh\nsleep 600 &\necho $! > {note}\nsleep 600\n")
    state, began = made.instance.init, time.monotonic()
    found = ask_planner(path, texts.domain, made, state, made.goal, SECOND, wall_seconds=1)
    assert found.outcome == "timed_out" and time.monotonic() - began < 60
    with pytest.raises(ProcessLookupError):
        for _ in range(6000):
            os.kill(int(note.read_text()), 0)
            time.sleep(0.01)


def test_it_is_found_by_its_variable_or_on_the_path(tmp_path: Path) -> None:
    path = planner(tmp_path, "")
    named = tmp_path / "fast-downward"
    named.write_bytes(Path(path).read_bytes())
    named.chmod(0o755)
    assert find_planner({"PATH": str(tmp_path)}) == str(named)
    assert find_planner({"PATH": str(tmp_path), VARIABLE: path}) == path
    assert find_planner({"PATH": str(tmp_path), VARIABLE: "off"}) == ""
    assert find_planner({"PATH": "/nowhere"}) == ""
    assert find_planner({"PATH": str(tmp_path), VARIABLE: "/nowhere/planner"}) == ""


def test_it_is_asked_where_our_search_gives_up(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    texts = tunnel(4, 5, 1)
    question = PlanningQuestion(
        "reach", "dev", 1, "reachable_atom_gen", "c", "q", *texts, ["hard c0-0"]
    )
    few = replace(SECOND, nodes=1)
    monkeypatch.setenv(VARIABLE, "off")
    alone = score(question, "(has-ore)", limits=few)
    assert (alone.reference, alone.corrected, alone.failure) == (None, None, "undecided")
    assert "undecided" in alone.reasons[0]
    monkeypatch.setenv(VARIABLE, planner(tmp_path, "sys.exit(11)"))
    helped = score(question, "(has-ore)", limits=few)
    assert (helped.reference, helped.corrected) == (1, 1)
    monkeypatch.setenv(VARIABLE, planner(tmp_path, "sys.exit(23)"))
    late = score(question, "(has-ore)", limits=few)
    assert (late.reference, late.corrected, late.failure) == (None, None, "timed_out")

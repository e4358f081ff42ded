"""The demo as it is loaded, over a few of its tasks and agents."""

from dataclasses import replace

import pytest

from annotation.demo import services as study_demo
from benchmarks import demo
from benchmarks.systems.acpbench_hard import samples
from benchmarks.systems.adaplanbench.demo import load_demo_tasks, load_full_tasks
from benchmarks.systems.planbench_xl import world


def shrink_demo(monkeypatch: pytest.MonkeyPatch, *, tasks: int = 3, agents: int = 3) -> None:
    """So many tasks and agents, nothing varied or judged again; one full-size task, few tools."""
    few = load_demo_tasks()[:tasks]
    one_full = load_full_tasks()[:1]
    some = dict(list(demo.TEMPERAMENTS.items())[:agents])
    monkeypatch.setattr(demo, "load_demo_tasks", lambda: few)
    monkeypatch.setattr(demo, "load_full_tasks", lambda: one_full)
    monkeypatch.setattr(demo, "TEMPERAMENTS", some)
    monkeypatch.setattr(study_demo, "TEMPERAMENTS", some)
    monkeypatch.setattr(demo, "VARIATIONS", ())
    monkeypatch.setattr(study_demo, "VARIATIONS", ())
    monkeypatch.setattr(demo, "AGAIN_AGENTS", 0)
    loaded = world.load_world()
    small = replace(loaded, tasks=loaded.tasks[:2])
    one = {"gullible": demo.POLICIES["gullible"]}
    monkeypatch.setattr(demo, "load_world", lambda: small)
    monkeypatch.setattr(demo, "POLICIES", one)
    questions = samples.sample_file()
    two = replace(questions, tasks=list(questions.tasks)[:2])
    monkeypatch.setattr(demo, "sample_file", lambda: two)
    monkeypatch.setattr(demo, "DEMO_AGENTS", ("acp-noisy",))

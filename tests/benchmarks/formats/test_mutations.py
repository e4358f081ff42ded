"""Damaged files: each is refused clearly or imported completely, whatever was done to it."""

import gzip
import json
import random
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from benchmarks.core.digests import canonical_json
from benchmarks.core.errors import CoreError
from benchmarks.formats.registry import FORMATS, check_file
from benchmarks.formats.trajectory import split_turns
from tests.benchmarks.formats import samples
from tests.benchmarks.formats.damage import TIMES, mutate, rot, spoil
from tests.benchmarks.formats.reading import read_checked
from tests.shared_data import shared_data


def settle(path: Path, name: str) -> bool:
    """Import completely (True) or be refused in words (False); anything else is a failure."""
    try:
        checked = check_file(path, name)
    except CoreError as refused:
        assert str(refused).strip()
        assert "Traceback" not in str(refused)
        return False
    found = read_checked(path, checked)
    turns = 0
    for trajectory in found:
        opening, made = split_turns(trajectory.messages)
        turns += len(made)
        assert made
        assert len(opening) + sum(len(t.messages) for t in made) == len(trajectory.messages)
        assert trajectory.task.id and len(trajectory.task.id) <= 120
        stored = [
            [
                [m.text, m.name, m.call_id, m.reasoning, dict(m.extra)]
                + [[c.name, c.id, c.arguments] for c in m.calls]
                for m in trajectory.messages
            ],
            dict(trajectory.scores),
            dict(trajectory.metadata),
            dict(trajectory.hidden),
            dict(trajectory.task.hidden),
            trajectory.task.prompt,
            trajectory.agent,
            trajectory.termination,
        ]
        text = canonical_json(stored)  # no NaN, and every text can be stored
        text.encode()
        assert "\\u0000" not in text
    assert turns == checked.turns
    return True


@pytest.mark.parametrize("name", FORMATS)
def test_changed_values(name: str, tmp_path: Path) -> None:
    rng = random.Random(f"values {name}")
    outcomes = set()
    for _ in range(TIMES):
        value = mutate(samples.SAMPLES[name](), rng)
        if name in samples.LINES and isinstance(value, list):
            path = samples.write_lines(tmp_path / "x.jsonl", value)
        else:
            path = samples.write(tmp_path / "x.json", value)
        outcomes.add(settle(path, name))
    assert outcomes == {True, False}, "the changes should break some files and spare others"


@pytest.mark.parametrize("name", FORMATS)
def test_changed_bytes(name: str, tmp_path: Path) -> None:
    rng = random.Random(f"bytes {name}")
    sound = samples.write_sample(tmp_path, name).read_bytes()
    path = tmp_path / ("damaged.jsonl" if name in samples.LINES else "damaged.json")
    for _ in range(TIMES):
        path.write_bytes(spoil(sound, rng))
        settle(path, name)


@pytest.mark.parametrize("packed", ["deflate", "zstandard"])
def test_damaged_archives(packed: str, tmp_path: Path) -> None:
    rng = random.Random("archive")
    path = tmp_path / "log.eval"
    if packed == "deflate":
        sound = samples.eval_archive(samples.inspect_log())
    else:
        sound = samples.zstd_archive(path, samples.log_members(samples.inspect_log())).read_bytes()
    for _ in range(TIMES):
        path.write_bytes(rot(sound, rng))
        settle(path, "inspect")


def test_changed_real_trajectories(tmp_path: Path) -> None:
    path = shared_data("tau_bench", "gpt-4o-airline.slice.json.gz")
    with gzip.open(path) as raw:
        real = json.load(raw)
    rng = random.Random("real")
    for _ in range(TIMES):
        few = rng.sample(real, 2)
        settle(samples.write(tmp_path / "x.json", mutate(few, rng)), "tau-bench")


def test_truncated_real_files(tmp_path: Path) -> None:
    sound = shared_data("tau_bench", "gpt-4o-airline.slice.json.gz").read_bytes()
    path = tmp_path / "x.json.gz"
    rng = random.Random("truncated")
    for _ in range(10):
        path.write_bytes(sound[: rng.randrange(len(sound))])
        assert not settle(path, "tau-bench")


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(
                ["role", "content", "messages", "traj", "tool_calls", "steps", "task_id", "eval"]
                + ["samples", "simulations", "info", "tasks", "schema_version", "id"]
            ),
            inner,
            max_size=4,
        )
    ),
    max_leaves=12,
)


@pytest.mark.parametrize("name", FORMATS)
@settings(max_examples=TIMES)
@given(value=JSON)
def test_any_json(name: str, tmp_path_factory: pytest.TempPathFactory, value: Any) -> None:
    settle(samples.write(tmp_path_factory.getbasetemp() / "any.json", value), name)


@pytest.mark.parametrize("name", FORMATS)
def test_depth_and_length_have_limits(name: str, tmp_path: Path) -> None:
    path = tmp_path / "x.json"
    for text in (
        "[" * 100_000,
        '{"messages":' * 50_000,
        '[{"role": "user", "content": "' + "x" * 100,
    ):
        path.write_text(text)
        assert not settle(path, name)

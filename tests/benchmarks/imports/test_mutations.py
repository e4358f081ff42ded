"""Damaged files in a real database: nothing of them is stored, or all that the check found."""

import gzip
import json
import random
from pathlib import Path

import pytest
from django.db import transaction

from benchmarks.core.errors import CoreError
from benchmarks.exports.selectors import exported
from benchmarks.exports.services import export_run
from benchmarks.formats.registry import FORMATS, check_file
from benchmarks.imports.services import import_trajectories
from benchmarks.models import Agent, Dataset, Run, StoredMessage, Task, Trajectory, Turn
from tests.benchmarks.formats import samples
from tests.benchmarks.formats.damage import TIMES_STORED, mutate, rot, spoil
from tests.shared_data import shared_data

pytestmark = [pytest.mark.django_db, pytest.mark.either]


def counts() -> list[int]:
    models = (Dataset, Task, Agent, Run, Trajectory, Turn, StoredMessage)
    return [model.objects.count() for model in models]


def settle(path: Path, name: str) -> bool:
    """Import into the database, and take it back; whether it was imported."""
    before = counts()
    with transaction.atomic():
        try:
            saved = import_trajectories(path=path, format=name)
        except CoreError as refused:
            assert str(refused).strip() and "Traceback" not in str(refused)
            assert counts() == before, "something of a refused file is stored"
            with pytest.raises(CoreError):
                check_and_compare(path, name)
            return False
        checked = check_file(path, saved.format)
        assert (saved.trajectories, saved.turns) == (checked.trajectories, checked.turns)
        assert Trajectory.objects.count() - before[4] == checked.trajectories
        assert Turn.objects.count() - before[5] == checked.turns
        found = [one for run in saved.runs for one in exported(run)]
        assert len(found) == checked.trajectories
        transaction.set_rollback(True)
    assert counts() == before
    return True


def check_and_compare(path: Path, name: str) -> None:
    """Check that what the service refuses the check refuses, unless it contradicts stored rows."""
    check_file(path, name)
    with transaction.atomic():
        import_trajectories(path=path, format=name)


@pytest.mark.parametrize("name", FORMATS)
def test_changed_values(name: str, tmp_path: Path) -> None:
    rng = random.Random(f"stored values {name}")
    outcomes = set()
    # A reader of sessions leaves out a line that it does not know, and refuses one copy in ten.
    for _ in range(3 * TIMES_STORED if name in samples.LINES else TIMES_STORED):
        value = mutate(samples.SAMPLES[name](), rng)
        if name in samples.LINES and isinstance(value, list):
            path = samples.write_lines(tmp_path / "x.jsonl", value)
        else:
            path = samples.write(tmp_path / "x.json", value)
        outcomes.add(settle(path, name))
    assert outcomes == {True, False}, "the changes should break some files and spare others"


@pytest.mark.parametrize("name", FORMATS)
def test_changed_bytes(name: str, tmp_path: Path) -> None:
    rng = random.Random(f"stored bytes {name}")
    sound = samples.write_sample(tmp_path, name).read_bytes()
    path = tmp_path / ("damaged.jsonl" if name in samples.LINES else "damaged.json")
    for _ in range(TIMES_STORED):
        path.write_bytes(spoil(sound, rng))
        settle(path, "" if rng.random() < 0.3 else name)


def test_damaged_archives(tmp_path: Path) -> None:
    rng = random.Random("stored archive")
    path = tmp_path / "log.eval"
    sound = samples.zstd_archive(path, samples.log_members(samples.inspect_log())).read_bytes()
    for _ in range(TIMES_STORED):
        path.write_bytes(rot(sound, rng))
        settle(path, "inspect")


def test_changed_exports(played: Run, tmp_path: Path) -> None:
    export_run(run=played, format="openai-chat", target=tmp_path / "sound.jsonl")
    lines = (tmp_path / "sound.jsonl").read_text().splitlines()
    rows = [json.loads(line) for line in lines]
    rng = random.Random("stored exports")
    outcomes = {
        settle(samples.write_lines(tmp_path / "x.jsonl", mutate(rows, rng)), "openai-chat")
        for _ in range(TIMES_STORED)
    }
    assert outcomes == {True, False}


def test_rotten_parquet(played: Run, tmp_path: Path) -> None:
    export_run(run=played, format="huggingface-parquet", target=tmp_path / "set")
    sound = (tmp_path / "set" / "trajectories.parquet").read_bytes()
    rng = random.Random("stored parquet")
    path = tmp_path / "x.parquet"
    for _ in range(TIMES_STORED):
        path.write_bytes(rot(sound, rng))
        settle(path, "openai-chat")


def test_changed_real_trajectories(tmp_path: Path) -> None:
    with gzip.open(shared_data("tau_bench", "gpt-4o-airline.slice.json.gz")) as raw:
        real = json.load(raw)
    rng = random.Random("stored real")
    for _ in range(TIMES_STORED):
        settle(samples.write(tmp_path / "x.json", mutate(rng.sample(real, 2), rng)), "tau-bench")

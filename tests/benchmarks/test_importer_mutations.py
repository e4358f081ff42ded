"""A thousand damaged copies of each importer's own sample: read, or refused with file and place.

An error of another kind (``TypeError``, ``KeyError``) would reach a page as an error 500, and a
worker as a failed job without a reason. Seeds are fixed, so a failure comes again.
"""

import io
import json
import random
import zipfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import pytest
import yaml

from analysis.agreement.csv_table import read_tidy
from analysis.agreement.inputs import example_csv
from benchmarks.core.candidates import read_candidates, write_candidates
from benchmarks.core.errors import CoreError
from benchmarks.core.problems import FileRefused
from benchmarks.core.registry import get_system
from benchmarks.formats.registry import FORMATS, check_file
from benchmarks.systems.acpbench_hard.dataset import row_of
from benchmarks.systems.acpbench_hard.samples import sample_questions
from benchmarks.systems.adaplanbench.demo import load_demo_tasks
from benchmarks.systems.adaplanbench.demo_datasets import demo_candidates
from benchmarks.systems.adapt.household.inventory import FILE as HOUSEHOLD
from benchmarks.systems.planbench_xl.world.build import build
from benchmarks.systems.sda_planner.dataset.sample_house import sample_rows
from tests.benchmarks.formats import samples
from tests.benchmarks.formats.damage import mutate, rot, spoil
from tests.benchmarks.systems.adaplanbench.macgyver_problems import (
    results,
    row,
    write_results,
    write_workbook,
)
from tests.benchmarks.systems.adapt.test_files import SOUND
from tests.benchmarks.systems.sda_planner.originals import traj_data
from tests.hostile_values import changed, places

TIMES = 1000
Read = Callable[[Sequence[Path]], object]
Write = Callable[[Any], bytes]


def as_json(value: Any) -> bytes:
    return json.dumps(value).encode()


def as_lines(value: Any) -> bytes:
    """Return rows as JSON Lines."""
    rows = value if isinstance(value, list) else [value]
    return b"".join(as_json(row) + b"\n" for row in rows)


def as_yaml(value: Any) -> bytes:
    return yaml.safe_dump(value, allow_unicode=True).encode("utf-8", "surrogatepass")


# In any place of a document: values of every kind, among them those that no set can hold.
VALUES: list[Any] = [
    None, True, False, 0, -1, 1.5, 10**30, "", "x", "a" * 5000, [], {}, [[]], ["x"], {"x": 1},
    [1, "a", None], {"a": {"b": [1]}}, [{}], "NaN", "\u2028",
]  # fmt: skip


@dataclass(frozen=True)
class Sample:
    """Sound documents by the name of their file, and how they are written and read.

    A document that is bytes already is damaged as such.
    """

    documents: dict[str, Any]
    read: Read
    write: Write = as_json


def dataset(key: str, format: str = "") -> Read:
    """Return a reader of a system's own importer."""

    def read(paths: Sequence[Path]) -> object:
        importer = get_system(key).importer
        assert importer is not None
        return list(importer.find_format(paths, format).read_files(paths, {}).tasks)

    return read


def trajectories(name: str) -> Read:
    return lambda paths: check_file(paths[0], name)


def own_table(paths: Sequence[Path]) -> object:
    with paths[0].open("rb") as file:
        return read_tidy(file)


def trials() -> tuple[dict[str, Any], dict[str, Any]]:
    """Return a scene and a trial of the sample house with few objects."""
    scenes, tasks = sample_rows()
    task = tasks[0]
    (scene,) = [one for one in scenes if one["floor_plan"] == task["scene"]["floor_plan"]]
    return scene, task


def published(tmp: Path) -> bytes:
    """Return the file of two of AdaPlanBench's demo tasks, as its importer writes it."""
    importer, text = get_system("adaplanbench").importer, io.StringIO()
    assert importer is not None and importer.write is not None
    importer.write(load_demo_tasks()[:2], text, {})
    return text.getvalue().encode()


def archive(files: dict[str, bytes]) -> bytes:
    target = io.BytesIO()
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as zipped:
        for name, data in files.items():
            zipped.writestr(name, data)
    return target.getvalue()


def planbench() -> dict[str, Any]:
    """Return the files of PlanBench-XL's own world."""
    return {f"{name}.json": content for name, content in build().items()}


def file_bytes(write: Callable[[Path], object], path: Path) -> bytes:
    write(path)
    return path.read_bytes()


def make_samples(tmp: Path) -> dict[str, Sample]:
    """Return a sample of every importer of datasets, trajectories, tables and candidates."""
    scene, task = trials()
    house = yaml.safe_load(HOUSEHOLD.read_text())
    wanted = {"cereal", "milk", "nut", "walnut", "almond", "peanut"}
    house["movable"] = {
        name: thing
        for number, (name, thing) in enumerate(house["movable"].items())
        if number < 5 or wanted & {thing[1], *thing[3], name.rpartition("_")[0]}
    }
    house["mandatory"] = [name for name in house["mandatory"] if name in house["movable"]]
    questions = [row_of(question) for question in sample_questions()[:4]]
    candidates = io.StringIO()
    tasks = load_demo_tasks()[:2]
    rows = list(demo_candidates(tasks))[:6]
    queries = [(task.id, [one.candidate for one in rows if one.task == task.id])
               for task, _ in tasks]  # fmt: skip
    write_candidates(queries, candidates, {})
    problem = {"id": "1", "problem": "A kite.", "solution": "1. Fetch a rake.", "category": "c"}
    workbook = file_bytes(lambda path: write_workbook(path, [row()]), tmp / "workbook.xlsx")
    answers = json.loads(file_bytes(lambda path: write_results(path, results()), tmp / "r.json"))
    table = example_csv().splitlines(keepends=True)[:30]
    found = {
        "adaplanbench": Sample(
            {"q.json": json.loads(published(tmp))}, dataset("adaplanbench", "published")
        ),
        "candidates": Sample(
            {"c.json": json.loads(candidates.getvalue())},
            lambda paths: list(read_candidates(paths[0])),
        ),
        "macgyver": Sample(
            {"p.xlsx": workbook, "r.json": answers}, dataset("adaplanbench", "macgyver")
        ),
        "problems": Sample(
            {"p.json": [problem, {**problem, "id": "2"}]}, dataset("adaplanbench_construction")
        ),
        "problems csv": Sample(
            {"p.csv": b"problem,solution,category\nA kite.,1. Fetch it.,garden\nB,2. Do,x\n"},
            dataset("adaplanbench_construction"),
        ),
        "acpbench": Sample({"a.json": questions}, dataset("acpbench_hard", "published")),
        "planbench": Sample(planbench(), dataset("planbench_xl", "published")),
        "personas": Sample({"p.yaml": yaml.safe_load(SOUND)}, dataset("adapt"), as_yaml),
        "household": Sample(
            {"p.yaml": yaml.safe_load(SOUND), "h.yaml": house}, dataset("adapt"), as_yaml
        ),
        "prepared trials": Sample(
            {"scenes.jsonl": [scene], "tasks.jsonl": [task]},
            dataset("sda_planner", "prepared"),
            as_lines,
        ),
        "original trials": Sample(
            {"traj_data.json": traj_data(task)}, dataset("sda_planner", "original")
        ),
        "archive of trials": Sample(
            {"trials.zip": archive({"a/traj_data.json": as_json(traj_data(task))})},
            dataset("sda_planner", "original"),
        ),
        "own table": Sample({"t.csv": "".join(table).encode()}, own_table),
    }
    for name in FORMATS:
        write = as_lines if name in samples.LINES else as_json
        found[name] = Sample({"x.json": samples.SAMPLES[name]()}, trajectories(name), write)
    log = samples.eval_archive(samples.inspect_log())
    found["inspect archive"] = Sample({"log.eval": log}, trajectories("inspect"))
    return found


NAMES = (
    "adaplanbench", "candidates", "macgyver", "problems", "problems csv", "acpbench", "planbench",
    "personas", "household", "prepared trials", "original trials", "archive of trials",
    "own table", *FORMATS, "inspect archive",
)  # fmt: skip


@pytest.fixture(scope="module")
def every(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Sample]:
    found = make_samples(tmp_path_factory.mktemp("samples"))
    assert set(found) == set(NAMES)
    return found


@pytest.mark.parametrize("name", NAMES)
def test_damaged_files_are_read_or_refused(
    name: str, every: dict[str, Sample], tmp_path: Path
) -> None:
    sample, rng = every[name], random.Random(f"importer {name}")
    sound = {
        file: one if isinstance(one, bytes) else sample.write(one)
        for file, one in sample.documents.items()
    }
    paths = [tmp_path / file for file in sound]
    for path in paths:
        path.write_bytes(sound[path.name])
    sample.read(paths)  # the sample itself is sound
    outcomes = {True: 0, False: 0}
    for number in range(TIMES):
        path = rng.choice(paths)
        path.write_bytes(damaged(sample, path.name, sound[path.name], rng))
        try:
            sample.read(paths)
            outcomes[True] += 1
        except CoreError as refused:
            outcomes[False] += 1
            check_words(refused)
        except Exception as error:
            raise AssertionError(f"{name}, mutation {number}: {error!r}") from error
        path.write_bytes(sound[path.name])
    assert all(outcomes.values()), "the damage should break some files and spare others"


def damaged(sample: Sample, file: str, sound: bytes, rng: random.Random) -> bytes:
    """Return a damaged copy: one value is another, or some bytes are."""
    document = sample.documents[file]
    if isinstance(document, bytes):
        return rot(sound, rng) if rng.random() < 0.5 else spoil(sound, rng)
    way = rng.random()
    if way < 0.2:
        return spoil(sound, rng)
    if way < 0.6:
        return sample.write(mutate(document, rng))
    places = _places(sample, file)
    return sample.write(changed(document, rng.choice(places), rng.choice(VALUES)))


@lru_cache(maxsize=64)
def _places_of(text: str) -> list[tuple[Any, ...]]:
    return places(json.loads(text))[1:]


def _places(sample: Sample, file: str) -> list[tuple[Any, ...]]:
    return _places_of(json.dumps(sample.documents[file]))


def check_words(refused: CoreError) -> None:
    """Check that a refusal says in words what was expected where."""
    assert str(refused).strip() and "Traceback" not in str(refused)
    if isinstance(refused, FileRefused):
        assert all(problem.where and problem.expected for problem in refused.problems)

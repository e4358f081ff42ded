"""Every shipped agent under every condition on data in the published form: nobody crashes."""

from collections import Counter

import pytest

from benchmarks.systems.planbench_xl.dataset import LoadedDataset, load_dataset
from benchmarks.systems.planbench_xl.environment.catalogue import world_of
from benchmarks.systems.planbench_xl.scripted import given_values
from benchmarks.systems.planbench_xl.settings import CONDITIONS
from benchmarks.systems.planbench_xl.system import SYSTEM
from benchmarks.systems.planbench_xl.world.build import write
from tests.benchmarks.systems.planbench_xl.published_form import files
from tests.benchmarks.systems.planbench_xl.stage import run

QUERIES = 24


@pytest.fixture(scope="module")
def dataset(tmp_path_factory) -> LoadedDataset:
    folder = tmp_path_factory.mktemp("published-form")
    write(folder, files(QUERIES))
    return load_dataset(folder, "workshop")


def test_some_questions_can_be_read_whole_and_some_cannot(dataset):
    world = world_of(dataset.shared)
    assert len(dataset.tasks) == QUERIES
    whole = Counter(
        set(given_values(task, world)) == set(task.payload["input_datatypes"])
        for task in dataset.tasks
    )
    assert whole[True] >= 8
    assert whole[False] >= 4


@pytest.mark.parametrize("condition", CONDITIONS)
@pytest.mark.parametrize("name", SYSTEM.scripted)
def test_no_agent_crashes_on_the_published_form(dataset, name, condition):
    outcomes = [run(name, task, condition=condition) for task in dataset.tasks]
    assert len(outcomes) == QUERIES
    assert all(outcome.metrics["accurate"] is not None for outcome in outcomes)

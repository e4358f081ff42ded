"""Starting runs by the form."""

from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from benchmarks.core.registry import get_system
from benchmarks.models import Agent, Dataset, Experiment, Run, Trajectory
from tests.factories.benchmarks import DatasetFactory, TaskFactory, save_sample_dataset

URL = "/runs/new/"


@pytest.fixture
def dataset(db: None) -> Dataset:
    return save_sample_dataset()


@pytest.fixture
def answers(dataset: Dataset, researcher: Client) -> dict[str, Any]:
    """Return what the form sends when nothing but an agent and a level is chosen."""
    form = researcher.get(URL).context["form"]
    given = {name: form[name].value() for name in form.fields if form[name].value() is not None}
    return {**given, "dataset": dataset.pk, "agents": ["explorer"], "levels": ["mid"]}


def test_there_is_nothing_to_run(researcher: Client) -> None:
    page = researcher.get(URL).content.decode()
    assert "No dataset to run" in page


def test_fields_come_from_the_system(researcher: Client, dataset: Dataset) -> None:
    form = researcher.get(URL).context["form"]
    settings = {name.removeprefix("set_") for name in form.setting_names}
    assert settings == {setting.name for setting in get_system("adaplanbench").settings}
    assert form.role_names == [
        "role_world_judge_1", "role_user_judge_1", "role_rubric_judge_1", "role_rubric_judge_2",
        "role_rubric_judge_3", "role_simulator_1",
    ]  # fmt: skip
    assert form["role_rubric_judge_2"].value() == "judge-strict"


def test_roles_begin_with_the_datasets_own_choice(researcher: Client) -> None:
    dataset = DatasetFactory(roles={"rubric_judge": ["judge-lenient"]})
    TaskFactory(dataset=dataset)
    form = researcher.get(URL, {"dataset": dataset.pk}).context["form"]
    assert form["role_rubric_judge_3"].value() == "judge-lenient"
    assert "levels" not in form.fields


def test_an_agent_whose_policy_is_gone_is_not_offered(
    researcher: Client, answers: dict[str, Any]
) -> None:
    Agent.objects.create(name="old", title="Old", kind="scripted", system="adaplanbench",
                         policy="of-an-earlier-version")  # fmt: skip
    page = researcher.post(URL, {**answers, "agents": ["explorer", "old"]})
    assert page.status_code == 422
    assert "old cannot play this dataset" in page.content.decode()
    assert not Run.objects.exists()


def test_one_run_opens_its_page(researcher: Client, answers: dict[str, Any]) -> None:
    response = researcher.post(URL, answers)
    run = Run.objects.get()
    assert response["Location"] == reverse("benchmarks:run", args=[run.pk])
    assert run.created_by is not None
    assert run.created_by.username == "researcher"
    assert run.condition == "standard"
    assert run.trajectories.count() == 3


def test_the_dataset_is_that_of_the_latest_run(
    researcher: Client, answers: dict[str, Any], dataset: Dataset
) -> None:
    added = DatasetFactory(name="Added later", is_demo=False)
    assert researcher.get(URL).context["dataset"] == added
    Dataset.objects.update(is_demo=True)
    assert researcher.get(URL).context["dataset"] == dataset, "the demo's first"
    researcher.post(URL, answers | {"dataset": added.pk, "levels": []})
    researcher.post(URL, answers)
    DatasetFactory(name="A third", is_demo=False)
    assert researcher.get(URL).context["dataset"] == dataset, "that of the latest run"


def test_several_runs_open_their_experiment(researcher: Client, answers: dict[str, Any]) -> None:
    more: dict[str, Any] = {
        "agents": ["explorer", "forgetful"],
        "levels": ["low", "high"],
        "name": "A pair",
    }
    more |= {"seed": "9", "set_tracking": "true", "set_tau": "4"}
    more |= {"role_world_judge_1": "lexicon-world"}
    response = researcher.post(URL, answers | more, follow=True)
    experiment = Experiment.objects.get(name="A pair")
    assert response.redirect_chain[-1][0] == f"/experiments/{experiment.pk}/"
    page = response.content.decode()
    assert "Started 4 runs with 12 trajectories." in page
    listed = researcher.get(f"/runs/?experiment={experiment.pk}").content.decode()
    assert "Experiment: A pair" in listed
    for run in Run.objects.all():
        assert (run.seed, run.condition) == (9, "tracking=True, tau=4.0")
        assert [assignment["policy"] for assignment in run.roles["world_judge"]] == [
            "lexicon-world"
        ]


def test_only_some_tasks(researcher: Client, answers: dict[str, Any], dataset: Dataset) -> None:
    ids = list(dataset.tasks.values_list("external_id", flat=True))[:2]
    researcher.post(URL, answers | {"tasks": f" {ids[0]}\n\n{ids[1]} \n"})
    assert Trajectory.objects.count() == 2


@pytest.mark.parametrize(
    ("wrong", "field", "words"),
    [
        ({"agents": []}, "agents", "Choose at least one agent"),
        ({"agents": ["nobody"]}, "agents", "Select a valid choice"),
        ({"levels": []}, "levels", "Choose at least one level"),
        ({"levels": ["highest"]}, "levels", "Select a valid choice"),
        ({"seed": "-1"}, "seed", "greater than or equal to 0"),
        ({"seed": str(2**63)}, "seed", "less than or equal to"),
        ({"seed": "seven"}, "seed", "Enter a whole number"),
        ({"tasks": "no-such-task"}, "tasks", "has no task no-such-task"),
        ({"set_tau": "9"}, "set_tau", "Expected at most 5"),
        ({"set_patience": "two"}, "set_patience", "Expected a whole number"),
        ({"set_constraints": "none"}, "set_constraints", "Expected one of both"),
        ({"set_tau": "nan"}, "set_tau", "Expected a number"),
        ({"role_simulator_1": "explorer"}, "role_simulator_1", "Select a valid choice"),
    ],
)
def test_a_refusal_stands_beside_its_field_and_changes_nothing(
    researcher: Client, answers: dict[str, Any], wrong: dict[str, Any], field: str, words: str
) -> None:
    response = researcher.post(URL, answers | wrong)
    assert response.status_code == 422
    assert words in " ".join(response.context["form"].errors[field])
    assert words in response.content.decode().replace("&#x27;", "'")
    assert "Nothing was started" in response.content.decode()
    assert not Run.objects.exists() and not Experiment.objects.exists()


def test_what_was_typed_is_kept(researcher: Client, answers: dict[str, Any]) -> None:
    hostile = "</textarea><script>x</script>"
    page = researcher.post(URL, answers | {"tasks": hostile, "name": hostile}).content.decode()
    assert "<script>x" not in page
    assert "&lt;/textarea&gt;" in page


def test_it_says_how_much_it_would_start(researcher: Client, answers: dict[str, Any]) -> None:
    query = answers | {"agents": ["explorer", "forgetful"], "levels": ["low", "mid"]}
    assert researcher.get(URL).context["size"] is None
    response = researcher.get(URL, query)
    assert response.context["size"] == {"runs": 4, "trajectories": 12}
    assert "<html" in response.content.decode()
    part = researcher.get(URL, query, headers={"HX-Request": "true"}).content.decode()
    assert "<html" not in part
    assert '<strong class="num">12</strong> trajectories' in part
    assert not Run.objects.exists()


@pytest.mark.parametrize("wanted", ["999", "x", ""])
def test_an_unknown_dataset_falls_back_on_one_that_exists(
    researcher: Client, dataset: Dataset, wanted: str
) -> None:
    assert researcher.get(URL, {"dataset": wanted}).context["dataset"] == dataset


def test_datasets_of_other_systems_are_not_offered(researcher: Client) -> None:
    DatasetFactory(system="external")
    assert "No dataset to run" in researcher.get(URL).content.decode()

"""Judges that cannot read what an agent writes, and recorded agents without recordings."""

import json
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.core.management import CommandError, call_command
from django.test import Client

from benchmarks.core.problems import FileRefused
from benchmarks.endpoints.services import create_endpoint
from benchmarks.experiments.checks import read_checked
from benchmarks.models import Agent, Dataset, Run, Trajectory
from benchmarks.roles.judge_fit import unfit_judges
from benchmarks.roles.services import ensure_scripted_agents
from benchmarks.runs.selectors import MUCH_UNDEFINED, much_undefined, run_figures
from tests.benchmarks.api.conftest import bearer
from tests.factories.benchmarks import save_sample_dataset, start_sample_runs

pytestmark = [pytest.mark.django_db, pytest.mark.either]
ENDPOINT = {"base_url": "http://127.0.0.1:9/v1", "model": "m", "parameters": {"max_tokens": 100}}
SCRIPTED = ["judge-even", "judge-lenient", "judge-strict", "user-facts", "world-facts"]
READING = {
    "world_judge": ["endpoint:referee"],
    "user_judge": ["endpoint:referee"],
    "rubric_judge": ["endpoint:referee"],
}


@pytest.fixture
def dataset() -> Dataset:
    """The sample tasks, whose pools hold no recorded answers; two endpoints."""
    found = save_sample_dataset()
    ensure_scripted_agents()
    for name in ("planner", "referee"):
        create_endpoint(name=name, title=name.title(), **ENDPOINT)
    return found


@pytest.fixture
def tab(dataset: Dataset) -> Client:
    client = Client()
    client.force_login(User.objects.create_superuser("root"))
    return client


def form(tab: Client, dataset: Dataset, *agents: str, **more: Any) -> dict[str, Any]:
    """Return what the page of new runs sends."""
    page = tab.get("/runs/new/", {"dataset": dataset.pk}).context["form"]
    fields = {name: field.initial for name, field in page.fields.items() if field.initial}
    return {**fields, "dataset": dataset.pk, "agents": list(agents), "levels": ["high"], **more}


def design(agent: str, more: str = "") -> str:
    return f"name: One\ndataset: Sample\nagents: [{agent}]\nlevels: [high]\n{more}"


def test_who_cannot_read_what_whom(dataset: Dataset) -> None:
    agents = {name: Agent.objects.get(name=name) for name in ("explorer", "planner", "person")}
    found = {
        name: sorted(misfit.policy.name for misfit in unfit_judges(dataset=dataset, agents=[agent]))
        for name, agent in agents.items()
    }
    assert found == {"explorer": [], "planner": SCRIPTED, "person": SCRIPTED}
    assert unfit_judges(dataset=dataset, agents=[agents["planner"]], roles=READING) == []
    one_kind = unfit_judges(
        dataset=dataset, agents=[agents["planner"]], settings={"constraints": "world_only"}
    )
    assert "user-facts" not in {misfit.policy.name for misfit in one_kind}
    lexicon = {**READING, "world_judge": ["lexicon-world"]}
    (misfit,) = unfit_judges(
        dataset=dataset, agents=[agents["planner"]], levels=["high"], roles=lexicon
    )
    assert "has no words for" in misfit.why and "undecided" in misfit.why


def test_the_form_proposes_judges_and_starts_nothing_before(tab: Client, dataset: Dataset) -> None:
    sent = form(tab, dataset, "planner")
    counted = tab.get("/runs/new/", sent, headers={"HX-Request": "true"}).content.decode()
    assert "Scripts cannot read free plans" in counted and "Choose these judges" in counted
    page = tab.post("/runs/new/", sent)
    assert page.status_code == 422 and "score none of them" in page.content.decode()
    proposed = tab.post("/runs/new/", {**sent, "propose": "1"})
    assert proposed.status_code == 200 and not Run.objects.exists()
    chosen = proposed.context["form"].chosen_roles
    # Not the agent itself, as long as another endpoint is there.
    assert chosen["world_judge"] == chosen["user_judge"] == ["endpoint:referee"]
    assert chosen["rubric_judge"] == ["endpoint:referee"] * 3
    roles = {name: "endpoint:referee" for name in sent if "_judge_" in name}
    assert tab.post("/runs/new/", {**sent, **roles}).status_code == 302
    assert tab.post("/runs/new/", {**sent, "accept_undefined": "on"}).status_code == 302
    assert Run.objects.count() == 2


def test_scripted_agents_start_as_before(tab: Client, dataset: Dataset) -> None:
    assert tab.post("/runs/new/", form(tab, dataset, "explorer")).status_code == 302


def test_the_command_the_api_and_experiments_refuse_too(tab: Client, dataset: Dataset) -> None:
    with pytest.raises(CommandError, match=r"language model as judge.* --accept-undefined"):
        call_command("run_benchmark", "Sample", "--agent", "planner", "--level", "high")
    root = User.objects.get(username="root")
    body: dict[str, Any] = {"dataset": dataset.pk, "agents": ["planner"], "levels": ["high"]}

    def ask(**more: Any) -> Any:
        sent = json.dumps({**body, **more})
        return tab.post("/api/v1/runs", sent, "application/json", headers=bearer(root))

    refused = ask()
    assert refused.status_code == 422 and "accept_undefined" in refused.json()["error"]["message"]
    with pytest.raises(FileRefused, match="judges that can read what the agents write"):
        read_checked(design("planner"))
    assert not Run.objects.exists()
    assert ask(roles=READING).status_code == 201
    assert ask(accept_undefined=True).status_code == 201
    told = "\n".join(f"  {role}: {names}" for role, names in READING.items())
    assert read_checked(design("planner", f"roles:\n{told}\n"))
    accepted = read_checked(design("planner", "accept_undefined: true\n"))
    assert "accept_undefined: true" in accepted.design.text
    with pytest.raises(FileRefused, match="true or false"):
        read_checked(design("planner", "accept_undefined: perhaps\n"))


def test_recorded_agents_need_their_recordings(tab: Client, dataset: Dataset) -> None:
    """It ended 32 times with “pool ran dry”, and the run was done."""
    page = tab.get("/runs/new/", {"dataset": dataset.pk})
    assert "gpt4" not in dict(page.context["form"].fields["agents"].choices)
    assert "holds none of their answers" in page.content.decode()
    refused = tab.post("/runs/new/", form(tab, dataset, "gpt4"))
    assert refused.status_code == 422 and "no recorded answers" in refused.content.decode()
    with pytest.raises(CommandError, match="no recorded answers of Recorded GPT-4"):
        call_command("run_benchmark", "Sample", "--agent", "gpt4", "--level", "high")
    body = {"dataset": dataset.pk, "agents": ["gpt4"], "levels": ["high"]}
    token = bearer(User.objects.get(username="root"))
    answer = tab.post("/api/v1/runs", json.dumps(body), "application/json", headers=token)
    assert answer.status_code == 422
    assert "no recorded answers" in answer.json()["error"]["message"]
    with pytest.raises(FileRefused, match=r"line 3.*holds no recorded answers"):
        read_checked(design("gpt4"))
    assert not Run.objects.exists()


def test_a_dataset_with_recordings_of_some(tab: Client, dataset: Dataset) -> None:
    task = dataset.tasks.order_by("-pk").first()
    assert task is not None
    task.payload = {"plans": [{"key": "a", "steps": ["Do it."], "author": "solutions_bard"}]}
    task.save()
    other = Dataset.objects.create(system="adaplanbench", name="Taken", version="1", checksum="t")
    task.pk, task.dataset = None, other
    task.save()
    page = tab.get("/runs/new/", {"dataset": other.pk})
    names = dict(page.context["form"].fields["agents"].choices)
    assert {"bard", "everyone"} <= set(names) and "gpt4" not in names


def test_the_run_says_in_red_what_is_undefined_and_why(tab: Client, dataset: Dataset) -> None:
    (run,) = start_sample_runs("explorer", level="high", dataset=dataset)
    rows = list(run.trajectories.order_by("pk"))
    why = "not every judge scored: feasibility"
    for place, row in enumerate(rows):
        known = place > 0
        row.status, row.termination = Trajectory.Status.DONE, "valid_plan"
        row.metrics = {"accurate": 1.0 if known else None, "valid": 1.0, "turns": 1}
        row.undefined = {} if known else {"accurate": why}
        row.save()
    page = tab.get(f"/runs/{run.pk}/").content.decode()
    assert f"Acc is undefined for 1 of {len(rows)} trajectories" in page
    assert "VPR is undefined" not in page
    metrics = {
        "trajectories": 20,
        "status": {"done": 20},
        "metrics": {"accurate": {"value": 1.0, "n": 18, "excluded": {why: 2}}},
    }
    figures = run_figures("adaplanbench", metrics)
    # A tenth is not more than a tenth.
    assert MUCH_UNDEFINED == 0.1 and much_undefined("adaplanbench", figures, metrics) == []
    metrics["trajectories"] = 19
    (told,) = much_undefined("adaplanbench", figures, metrics)
    assert told.reasons == (("not every judge scored: feasibility", 2),)

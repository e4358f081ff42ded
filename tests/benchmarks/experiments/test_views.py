"""The pages of experiments: written, counted, started, watched, and closed to whoever is blind."""

from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from django.urls import reverse

from benchmarks.experiments.checks import read_checked
from benchmarks.experiments.plans import plan_design
from benchmarks.experiments.presets import presets
from benchmarks.experiments.services import make_experiment
from benchmarks.models import Experiment, Run
from tests.factories.benchmarks import play, save_sample_dataset

pytestmark = [pytest.mark.django_db, pytest.mark.either]
NEW = "/experiments/new/"
TEXT = """\
name: Small table
dataset: Sample
agents: [sampling-planner]
levels: [mid]
temperatures: [null, 1.0]
seeds: [1, 2]
tasks: 1
"""


@pytest.fixture(autouse=True)
def _sample() -> None:
    save_sample_dataset(2)


def made() -> Experiment:
    return make_experiment(plan=plan_design(read_checked(TEXT)), wake=False)


def words(response: Any) -> str:
    return " ".join(response.content.decode().split())


@pytest.mark.parametrize("name", ["²", "9" * 100])
def test_a_dataset_of_an_odd_number_is_not_found(researcher: Client, name: str) -> None:
    text = TEXT.replace("dataset: Sample", f'dataset: "{name}"')
    page = researcher.post(NEW, {"text": text, "count": ""})
    assert page.status_code == 422
    assert "Sample" in words(page)  # the datasets that there are


def test_a_design_is_counted_before_it_is_started(researcher: Client) -> None:
    page = researcher.post(NEW, {"text": TEXT, "count": ""})
    said = words(page)
    assert page.status_code == 200 and "Start the experiment" in said
    assert "<dt>Runs</dt><dd>4</dd>" in said and "no endpoint is asked" in said
    assert not Run.objects.exists()
    counted = page.context["form"].initial["counted"]
    other = researcher.post(NEW, {"text": TEXT + "cost_cap: 3\n", "counted": counted, "start": ""})
    assert "the design has changed since it was counted" in words(other)
    assert not Run.objects.exists()
    started = researcher.post(NEW, {"text": TEXT, "counted": counted, "start": ""})
    experiment = Experiment.objects.get()
    assert started.headers["Location"] == f"/experiments/{experiment.pk}/"
    assert experiment.runs.count() == 4 and experiment.created_by is not None
    again = words(researcher.post(NEW, {"text": TEXT, "count": ""}))
    assert "Use 4 existing runs" in again


def test_faults_are_listed_and_what_was_written_stays(researcher: Client) -> None:
    file = SimpleUploadedFile("design.yaml", TEXT.replace("planner", "<b>").encode())
    page = researcher.post(NEW, {"file": file})
    said = words(page)
    assert page.status_code == 422 and "Nothing was started: 1 error in the design" in said
    assert "line 3, agents 1</strong>: expected an agent among" in said
    assert "agents: [sampling-&lt;b&gt;]" in said
    assert researcher.post(NEW, {}).status_code == 422
    binary = SimpleUploadedFile("design.yaml", b"\xff\xfe")
    assert "Expected text in UTF-8" in words(researcher.post(NEW, {"file": binary}))


def test_a_design_can_begin_from_choices_presets_and_other_experiments(researcher: Client) -> None:
    def text(query: dict[str, Any]) -> str:
        found: str = researcher.get(NEW, query).context["form"].initial["text"]
        return found

    chosen = {"c-agents": ["explorer", "forgetful"], "c-levels": ["low"], "c-replicates": "2"}
    assert "agents: [explorer, forgetful]\nlevels: [low]\nseeds: [1, 2]\n" in text(chosen)
    assert text({**chosen, "c-temperatures": "hot"}) == ""
    dataset = Run._meta.get_field("dataset").related_model.objects.get()  # type: ignore[union-attr]
    form = {"dataset": dataset.pk, "agents": "explorer", "levels": "mid", "seed": "4"}
    roles = {"role_world_judge_1": "world-facts", "role_user_judge_1": "user-facts",
             "role_simulator_1": "plain-words",
             **{f"role_rubric_judge_{n}": "judge-even" for n in (1, 2, 3)}}  # fmt: skip
    posted = {**form, **roles, "set_refinement": "2", "of_runs": "1"}
    written = researcher.post(NEW, posted).context["form"].initial["text"]
    assert "- refinement: 2" in written and "seeds: [4, 5, 6]" in written
    assert plan_design(read_checked(written)).trajectories == 6
    assert text({"preset": presets()[0].key}) == presets()[0].text
    assert text({"copy": made().pk}).startswith("name: Small table\ndataset: Sample\n")
    assert researcher.get(NEW, {"preset": "none"}).status_code == 404


def test_an_experiment_shows_its_runs_and_is_moved_as_one(
    researcher: Client, reader: Client
) -> None:
    experiment = made()
    url = reverse("benchmarks:experiment", args=[experiment.pk])
    page = words(researcher.get(url))
    for run in experiment.runs.all():
        assert f'href="/runs/{run.pk}/"' in page
    assert "Sampling planner, temperature 1" in page and "0 of 4 trajectories ended" in page
    assert "Pause all" not in words(reader.get(url))
    researcher.post(f"{url}pause/")
    assert set(Run.objects.values_list("status", flat=True)) == {"paused"}
    assert "4 runs resumed" in words(researcher.post(f"{url}resume/", follow=True))
    first = experiment.runs.earliest("pk")
    Run.objects.exclude(pk=first.pk).update(status="done")
    play(first)
    last = researcher.get(f"{url}progress/", headers={"HX-Request": "true"})
    assert last.status_code == 286 and last.headers["HX-Trigger"] == "experiment-ended"
    assert "has no common cost cap" in words(researcher.post(f"{url}share/", follow=True))
    assert reader.get(f"{url}design.yaml").content.decode().startswith("name: Small table")
    assert "Small table" in words(reader.get("/experiments/"))


def test_a_list_counts_the_runs_that_an_experiment_took(reader: Client) -> None:
    first = made()
    plan = plan_design(read_checked(TEXT))
    second = make_experiment(plan=plan, take=True, wake=False)
    assert not second.runs.exists()
    rows = {row.experiment.pk: row for row in reader.get("/experiments/").context["rows"]}
    for experiment in (first, second):
        row = rows[experiment.pk]
        assert (row.runs, row.agents, row.levels, row.total, row.ended) == (4, 2, ("mid",), 4, 0)


def test_a_fragment_says_nothing_while_nothing_moves(researcher: Client) -> None:
    url = reverse("benchmarks:experiment_progress", args=[made().pk])
    version = researcher.get(url).context["version"]
    assert researcher.get(url, {"v": version}).status_code == 204

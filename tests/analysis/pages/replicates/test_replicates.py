"""The results of an experiment: its table, its CSV, and what is closed to whoever is blind."""

import csv
import io

import pytest
from django.test import Client

from annotation.models import Study
from benchmarks.experiments.checks import read_checked
from benchmarks.experiments.plans import plan_design
from benchmarks.experiments.services import make_experiment
from benchmarks.models import Experiment, Run
from tests.annotation.rows import make_person, make_study
from tests.factories.benchmarks import TrajectoryFactory, save_sample_dataset

pytestmark = [pytest.mark.django_db, pytest.mark.either]
TEXT = """\
name: Pair
dataset: Sample
agents: [explorer]
levels: [mid]
conditions: [{}, {tracking: true}]
seeds: [1, 2]
tasks: 2
"""


def url(experiment: Experiment, part: str = "") -> str:
    return f"/analysis/experiments/{experiment.pk}/replicates/{part}"


def test_each_cell_has_mean_and_spread_of_its_runs(reader: Client) -> None:
    save_sample_dataset(2)
    experiment = make_experiment(plan=plan_design(read_checked(TEXT)), wake=False)
    first, second, *_ = experiment.runs.order_by("pk")
    for run, valid in ((first, [1.0, 1.0]), (second, [1.0, 0.0])):
        for row, value in zip(run.trajectories.order_by("pk"), valid, strict=True):
            row.metrics, row.status = {"valid": value, "turns": 2}, "done"
            row.undefined = {"accurate": "not every judge scored: safety"}
            row.save()
    page = reader.get(url(experiment))
    text = " ".join(page.content.decode().split())
    assert "75.0 % ± 35.4" in text and "runs 50.0 to 100.0" in text
    assert "Acc is undefined in every cell so far" in text
    assert "No results yet" not in text and "4 (not played yet)" in text
    part = reader.get(url(experiment), headers={"HX-Request": "true"}).content.decode()
    assert "75.0 % ± 35.4" in part and "<html" not in part
    rows = list(
        csv.DictReader(
            io.StringIO(reader.get(url(experiment, "replicates.csv")).content.decode("utf-8-sig"))
        )
    )
    assert [row["VPR mean"] for row in rows] == ["0.75", ""]
    assert (rows[0]["VPR sd"], rows[0]["VPR n"], rows[0]["runs"]) == ("0.353553", "4", "2")
    assert rows[1]["Condition".lower()] == "tracking=True"


def test_closed_runs_are_neither_shown_nor_named(client: Client) -> None:
    ann = make_person("ann", superuser=True)
    study: Study = make_study(annotators=[ann], tasks=1)
    closed = list(Run.objects.order_by("pk"))
    experiment = Experiment.objects.create(
        name="Together", design={"name": "Together", "dataset": "1", "agents": ["secret-agent"]}
    )
    Run.objects.filter(pk__in=[run.pk for run in closed]).update(experiment=experiment)
    client.force_login(ann)
    assert study.pk and client.get(url(experiment)).status_code == 404
    assert client.get(f"/experiments/{experiment.pk}/").status_code == 404
    opened = TrajectoryFactory(run__experiment=experiment, run__agent__title="Open agent").run
    page = client.get(f"/experiments/{experiment.pk}/").content.decode()
    assert f'href="/runs/{opened.pk}/"' in page and "Open agent" in page
    for run in closed:
        assert run.agent.title not in page
    assert "secret-agent" not in page and "Pause all" not in page
    assert client.get(f"/experiments/{experiment.pk}/design.yaml").status_code == 404
    assert client.get("/experiments/new/", {"copy": experiment.pk}).status_code == 404
    assert client.post(f"/experiments/{experiment.pk}/cancel/").status_code == 403
    assert Run.objects.filter(status="cancelled").count() == 0
    assert "Open agent" in client.get(url(experiment)).content.decode()

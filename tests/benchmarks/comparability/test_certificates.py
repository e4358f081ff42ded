"""Certificates of comparability of stored runs, of datasets, and of several runs at once."""

from types import SimpleNamespace

import pytest
from django.test import Client

from benchmarks.comparability import certificates
from benchmarks.comparability.certificates import (
    Certificate,
    ComparedRun,
    certificates_of,
    dataset_certificates,
    run_certificates,
)
from benchmarks.models import Agent, AnswererVersion, Dataset, Endpoint, Run, Task, Trajectory
from tests.factories.benchmarks import make_user, start_sample_runs

pytestmark = pytest.mark.django_db


def make_dataset(system: str, split: str, tasks: int, *, is_demo: bool = False) -> Dataset:
    dataset = Dataset.objects.create(
        system=system, name=split, checksum=f"{system}{split}", is_demo=is_demo
    )
    Task.objects.bulk_create(
        Task(dataset=dataset, external_id=str(n), prompt="?", payload={"split": split})
        for n in range(tasks)
    )
    return dataset


def make_run(dataset: Dataset, parameters: dict[str, object], **settings: object) -> Run:
    """A run of a model on every task of a dataset."""
    sent = {"model": "openai/gpt-4o", "parameters": parameters}
    version = AnswererVersion.objects.create(
        kind="endpoint", name="gpt", version="1", parameters=sent, digest=str(parameters)[:32]
    )
    agent, _ = Agent.objects.get_or_create(name="gpt", title="GPT", kind="endpoint")
    run = Run.objects.create(
        dataset=dataset,
        agent=agent,
        settings=settings,
        pins={"prompts": "1"},
        roles={
            "agent": [
                {"kind": "endpoint", "label": "endpoint", "endpoint": "gpt",
                 "version": version.digest}
            ]
        },
    )  # fmt: skip
    Trajectory.objects.bulk_create(Trajectory(run=run, task=task) for task in dataset.tasks.all())
    return run


def verdicts(certificate: Certificate) -> dict[str, str]:
    return {row.aspect: row.verdict for row in certificate.rows}


def test_a_run_in_the_setting_of_the_paper_and_one_that_is_not() -> None:
    whole = make_dataset("acpbench_hard", "test", 1040)
    same = {"temperature": 0, "max_tokens": 1000}
    official = {"prompt": "paper", "context": "nl", "shots": 2, "counts": "reference", "nodes": 9}
    usual, tables = run_certificates(make_run(whole, same, **official))
    assert verdicts(usual) == {
        "prompt": "same",
        "shots": "same",
        "split": "same",
        "decoding": "same",
        "turns": "same",
        "judges": "same",
        "scorer": "same",
        "dataset": "unknown",
    }
    assert usual.line == "7 same · 1 unknown"
    assert tables.sources == ("Table 3",)

    own = make_run(make_dataset("acpbench_hard", "dev", 20), {}, **official | {"prompt": "own"})
    found = run_certificates(own)[0]
    apart = ("prompt", "shots", "split", "decoding")
    assert [verdicts(found)[name] for name in apart] == ["different"] * 4
    row = next(row for row in found.rows if row.aspect == "prompt")
    assert row.here == "own wording, version 1; context nl"
    assert "Different: prompt (own wording, version 1; context nl; paper: " in found.text


def test_tasks_that_are_left_out_of_scores_make_another_split(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    run = make_run(make_dataset("acpbench_hard", "test", 1040), {})
    validity = SimpleNamespace(unusable_tasks=lambda level: frozenset({1, 2}))
    monkeypatch.setattr(certificates, "current_certificate", lambda dataset: validity)
    row = next(row for row in run_certificates(run)[0].rows if row.aspect == "split")
    assert row.verdict == "different"
    assert "1,040 tasks: 1,040 test, 2 left out by default" in row.here


def test_splits_of_alfred_have_settings_of_their_own() -> None:
    run = make_run(make_dataset("sda_planner", "valid_seen", 348), {"temperature": 0})
    found = {one.sources: verdicts(one)["split"] for one in run_certificates(run)}
    assert found == {
        (): "different",
        ("Table 1, valid seen",): "same",
        ("Table 1, valid unseen",): "different",
    }


def test_demo_runs_of_scripts_say_so() -> None:
    (run,) = start_sample_runs("explorer")
    found = verdicts(run_certificates(run)[0])
    assert {name: found[name] for name in ("decoding", "judges", "dataset", "split")} == {
        "decoding": "different",
        "judges": "different",
        "dataset": "different",
        "split": "different",
    }


def test_several_runs_are_the_same_only_where_all_are() -> None:
    dataset = make_dataset("acpbench_hard", "test", 3)
    cold, warm = make_run(dataset, {"temperature": 0}), make_run(dataset, {"temperature": 1})
    compared = [
        ComparedRun(run.pk, label, "", {"counts": counts, "nodes": 1}, {}, run.roles, False)
        for run, label, counts in ((cold, "Cold", "reference"), (warm, "Warm", "corrected"))
    ]
    (found,) = certificates_of(dataset, compared, ["Table 2"])
    assert found.sources == ("Table 2",)
    row = next(row for row in found.rows if row.aspect == "scorer")
    assert row.verdict == "different"
    assert row.here.endswith("in place of K* (Cold); corrected score (Warm)")


def test_what_an_agent_was_asked_with_comes_before_what_its_endpoint_is_now() -> None:
    run = make_run(make_dataset("planbench_xl", "", 1), {"temperature": 0.2})
    Endpoint.objects.create(name="gpt", title="GPT", model="other", base_url="http://x/v1")
    row = next(row for row in run_certificates(run)[0].rows if row.aspect == "decoding")
    assert row.here == "openai/gpt-4o: temperature 0.2"


def test_re_judging_runs_stand_beside_nothing() -> None:
    run = make_run(make_dataset("acpbench_hard", "test", 1), {})
    run.kind = Run.Kind.JUDGING
    assert run_certificates(run) == ()


def test_a_dataset_alone_is_compared_in_split_and_digest() -> None:
    found = dataset_certificates(make_dataset("adaplanbench", "", 2), ["Table 2"])
    assert [row.aspect for row in found[0].rows] == ["split", "dataset"]


def test_pages_of_run_and_dataset_show_it(client: Client) -> None:
    (run,) = start_sample_runs("explorer")
    client.force_login(make_user("reader", ["view_results"]))
    for address in (f"/runs/{run.pk}/", f"/datasets/{run.dataset_id}/"):
        page = client.get(address).content.decode()
        assert "Comparable with the AdaPlanBench paper" in page and "Dataset digest" in page

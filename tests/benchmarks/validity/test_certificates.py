"""A dataset is certified: what its reference solves, what blind policies score, and what decides.

The toy system's agent counts up to 9. Of the numbers below it cannot name 20.
"""

import io
import json
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command
from django.test import Client
from django.urls import reverse

from analysis.filters import Filters
from analysis.filters.datasets import select_runs
from analysis.reports.content import Report
from benchmarks.core.registry import SYSTEMS
from benchmarks.jobs.services import perform
from benchmarks.models import Agent, Dataset, Job, Run, Trajectory, ValidityCertificate
from benchmarks.roles.services import ensure_scripted_agents
from benchmarks.runs.selectors import run_metrics, run_rows, sorted_runs
from benchmarks.runs.services import start_runs
from benchmarks.validity import trials
from benchmarks.validity.selectors import CertifiedValidity, current_certificate
from benchmarks.validity.services import certify_dataset, dataset_trials
from benchmarks.verification.services import verify_run
from tests.analysis.page_reports import report_of
from tests.factories.benchmarks import play
from tests.plug_ins.package.toy_plug_ins.counting.system import SYSTEM

pytestmark = pytest.mark.django_db
TARGET = "tests.plug_ins.package.toy_plug_ins.counting.system:SYSTEM"
NUMBERS = [2, 2, 2, 8, 20]


@pytest.fixture(autouse=True)
def registered(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(SYSTEMS, "counting", ("Counting", TARGET))


def store(path: Path, *numbers: int) -> Dataset:
    """Store tasks with these numbers; their ids are their places."""
    tasks = [{"id": f"t{place}", "number": number} for place, number in enumerate(numbers, 1)]
    file = path / "numbers.json"
    file.write_text(json.dumps(tasks))
    call_command("import_dataset", "counting", str(file), name="Numbers", stdout=io.StringIO())
    return Dataset.objects.filter(system="counting").latest("pk")


@pytest.fixture
def dataset(tmp_path: Path) -> Dataset:
    return store(tmp_path, *NUMBERS)


@pytest.fixture
def certificate(dataset: Dataset) -> CertifiedValidity:
    return certify_dataset(dataset, dataset_trials(dataset))


def values(certificate: CertifiedValidity, key: str) -> list[float | None]:
    (found,) = [policy for policy in certificate.policies if policy.key == key]
    return list(found.values["accurate"])


def test_what_the_reference_does_not_solve_is_named_with_its_reason(
    certificate: CertifiedValidity,
) -> None:
    (gone,) = certificate.unsolved()
    assert (gone.task, gone.usable, gone.reason) == ("t5", False, "All guesses were used up.")
    assert certificate.usable_words == "4 of 5 tasks usable"
    assert certificate.summary()["left_out"] == [
        {"task": "t5", "level": "", "reason": "All guesses were used up."}
    ]


def test_blind_policies_and_the_constant_that_is_best_elsewhere(
    certificate: CertifiedValidity,
) -> None:
    assert values(certificate, "nothing") == [0.0] * 5
    # Of the small numbers 2 is right most often elsewhere, also for the task with 8. No other
    # number is large, so any constant is as good there, and the first is taken.
    assert values(certificate, "constant") == [1.0, 1.0, 1.0, 0.0, 1.0]
    rows = {row.policy.key: row for row in certificate.blind_rows()}
    assert rows["constant"].n == 4
    assert rows["constant"].values[0][1:] == (0.75, 4)
    assert certificate.by_kind()[1][:2] == ("small", 4)


def test_an_order_that_an_assumption_decides_is_said(certificate: CertifiedValidity) -> None:
    # In 3 guesses counting up names 2, and counting back 8; in 9 guesses both name the same.
    assert certificate.bracket is not None
    assert certificate.bracket["values"] == [[0.6, 0.2], [0.8, 0.8]]
    assert certificate.bracket_words == (
        "The order of 2 scripts is the same under two opposite assumptions."
    )


def test_an_order_that_is_reversed_names_the_pair(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pair = SYSTEM.validity.bracket
    swapped = [[0.6, 0.2], [0.2, 0.6]]
    monkeypatch.setattr(trials.Trials, "rankings", lambda self, bracket: swapped)
    dataset = store(tmp_path, 1, 3)
    found = certify_dataset(dataset, dataset_trials(dataset))
    assert pair is not None and found.bracket_words == (
        "1 of 1 pairs of scripts swaps order under the opposite assumption: "
        "Counting up and Counting back."
    )


def test_the_form_of_an_answer(certificate: CertifiedValidity) -> None:
    # The parser reads a number and nothing else around it but blanks.
    forms = {form["key"]: form["value"] for form in certificate.content["forms"]["forms"]}
    assert forms == {"fenced": 0.0, "introduced": 0.0, "labelled": 0.0, "spaced": 0.8}
    assert certificate.form_words.startswith("The form of an answer decides up to 80.0 points:")


def test_a_certificate_is_stored_once_and_can_be_checked(
    dataset: Dataset, certificate: CertifiedValidity
) -> None:
    again = certify_dataset(dataset, dataset_trials(dataset))
    assert again.row.pk == certificate.row.pk and ValidityCertificate.objects.count() == 1
    out = io.StringIO()
    call_command("certify", str(dataset.pk), check=True, stdout=out)
    assert certificate.row.digest in out.getvalue()
    ValidityCertificate.objects.update(content={**certificate.content, "seed": 1}, digest="0" * 32)
    with pytest.raises(
        CommandError, match="the certificate of Numbers 1 differs when played again"
    ):
        call_command("certify", str(dataset.pk), check=True, stdout=io.StringIO())


def test_a_dataset_without_a_certificate_costs_no_other_its_check(
    dataset: Dataset, certificate: CertifiedValidity, tmp_path: Path
) -> None:
    other, out = store(tmp_path, 1, 3), io.StringIO()
    with pytest.raises(CommandError, match="has no certificate to check"):
        call_command("certify", str(other.pk), str(dataset.pk), check=True, stdout=out)
    assert certificate.row.digest in out.getvalue()


def test_other_versions_need_another_certificate(
    dataset: Dataset, certificate: CertifiedValidity, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert current_certificate(dataset) is not None
    monkeypatch.setattr(SYSTEM, "scorer_version", "2")
    assert current_certificate(dataset) is None


def test_a_large_dataset_is_sampled_by_its_ids(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(trials, "MOST_SOLVED", 4)
    dataset = store(tmp_path, *[2] * 9)
    found = certify_dataset(dataset, dataset_trials(dataset))
    assert (found.checked, found.part, found.content["tasks"]) == (4, 4, 9)


def test_a_script_that_breaks_off_is_a_task_that_is_not_usable(
    dataset: Dataset, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*given: object) -> None:
        raise KeyError("value")

    monkeypatch.setattr(SYSTEM, "episode", fail)
    found = certify_dataset(dataset, dataset_trials(dataset))
    assert found.usable == 0
    assert found.unsolved()[0].reason == "It broke off with KeyError: 'value'"


# --- Pages and figures ----------------------------------------------------------------------------


def test_a_dataset_is_certified_from_its_page(
    dataset: Dataset, researcher: Client, reader: Client
) -> None:
    page = reverse("benchmarks:dataset", args=[dataset.pk])
    address = reverse("benchmarks:dataset_validity", args=[dataset.pk])
    assert "Not validated yet" in reader.get(page).content.decode()
    assert "Certify the dataset" not in reader.get(page).content.decode()
    assert reader.post(address).status_code == 403
    assert "Certify the dataset" in researcher.get(page).content.decode()
    researcher.post(address)
    researcher.post(address)  # one job is enough
    job = Job.objects.get()
    part = {"HTTP_HX_REQUEST": "true"}
    assert "Waiting for a worker" in reader.get(page).content.decode()
    assert reader.get(f"{address}?v=queued-0", **part).status_code == 204
    perform(job_id=job.pk, owner="test")
    assert reader.get(address, **part).headers["HX-Refresh"] == "true"
    for shown in (page, address):
        text = reader.get(shown).content.decode()
        assert "4 of 5 tasks usable" in text and "All guesses were used up." in text
        assert "Best constant" in text and "75.0 %" in text


@pytest.fixture
def run(dataset: Dataset) -> Run:
    ensure_scripted_agents()
    agent = Agent.objects.get(name="counting-up")
    (found,) = start_runs(dataset=dataset, agents=[agent])
    play(found)
    return found


def test_a_run_leaves_out_what_is_not_usable_and_stores_nothing(
    dataset: Dataset, run: Run, reader: Client
) -> None:
    stored = list(Trajectory.objects.values())
    before = run_metrics(run)
    assert before["usable"] is None and before["metrics"]["accurate"]["value"] == 0.8
    certify_dataset(dataset, dataset_trials(dataset))
    now, every = run_metrics(run), run_metrics(run, every_task=True)
    assert now["metrics"]["accurate"] == {"value": 1.0, "n": 4, "excluded": {}}
    assert (now["left_out"], now["usable"]) == (1, {"usable": 4, "checked": 5})
    assert every["metrics"] == before["metrics"]
    address = reverse("benchmarks:run", args=[run.pk])
    page = reader.get(address).content.decode()
    assert "4 of 5 tasks usable" in page and "Count all tasks" in page
    assert "n = 5" in reader.get(f"{address}?tasks=all").content.decode()
    # The dataset's page lists its runs.
    assert address in reader.get(reverse("benchmarks:dataset", args=[dataset.pk])).content.decode()
    (row,) = run_rows([run])
    assert row.result == 1.0 and list(sorted_runs(Run.objects.all(), "best")) == [run]
    listed = reader.get("/trajectories/", {"run": run.pk, "usable": "yes"}).context["list"]
    assert listed.count == 4
    (gone,) = (
        reader.get("/trajectories/", {"run": run.pk, "usable": "no"})
        .context["list"]
        .page({}, 9)
        .ids
    )
    assert Trajectory.objects.get(pk=gone).task.external_id == "t5"
    assert list(Trajectory.objects.values()) == stored
    assert verify_run(run=run).counts == {"same": 5}


def test_runs_side_by_side_and_an_experiment_leave_out_what_is_not_usable(
    dataset: Dataset, run: Run, reader: Client
) -> None:
    certify_dataset(dataset, dataset_trials(dataset))
    (other,) = start_runs(dataset=dataset, agents=[run.agent])
    play(other)
    address = reverse("analysis:compare_runs", query={"a": run.pk, "b": other.pk})
    shown = reader.get(address)
    assert shown.context["total"] == 4 and b"does not solve is left out" in shown.content
    every = reader.get(f"{address}&tasks=all")
    assert every.context["total"] == 5 and b"Count usable tasks alone" in every.content
    page = reader.get(reverse("analysis:replicates", args=[run.experiment_id]))
    (table,) = page.context["report"].tables
    (record,) = table.records()
    numbers = [n for name, n in zip(table.header, record, strict=True) if name.endswith(" n")]
    assert set(numbers) == {4}
    assert reader.get(table.rows[0][0].url).context["list"].count == 4


def current_digest(dataset: Dataset) -> str:
    found = current_certificate(dataset)
    assert found is not None
    return found.row.digest


def board(dataset: Dataset, **words: str) -> Report:
    return report_of("leaderboard", select_runs(Filters(dataset=str(dataset.pk), **words)))


def test_the_leaderboard_has_blind_rows_that_no_sentence_names(dataset: Dataset, run: Run) -> None:
    said = " ".join(notice.text for notice in board(dataset).notices)
    assert "not validated yet" in said
    certify_dataset(dataset, dataset_trials(dataset))
    report = board(dataset)
    table = report.table("board")
    assert table is not None
    rows = [dict(zip(table.header, row, strict=True)) for row in table.records()]
    assert [(row["agent"], row["kind"]) for row in rows] == [
        ("Counting up", "scripted"), ("Best constant", "blind"), ("Nothing", "blind"),
    ]  # fmt: skip
    assert [row["rank"] for row in rows] == [1, None, None]
    assert [(row["usable"], row["checked"]) for row in rows] == [(4, 5)] * 3
    assert [row["trajectories"] for row in rows] == [4, 4, 4]
    assert f"4 of 5 tasks usable (certificate {current_digest(dataset)})." in table.note
    assert "Best constant" not in report.sentence
    assert "100.0 % over 4 trajectories" in report.sentence
    words = " ".join(notice.text for notice in report.notices)
    assert "4 of 5 tasks usable. The 1 that their own reference does not solve is left out" in words
    assert "80.0 % over 5 trajectories" in board(dataset, tasks="all").sentence

"""The page on labels: shares by trajectory, agreement by label, and its states without labels."""

from pathlib import Path

import pytest
from django.contrib.auth.models import User
from django.core.files.uploadedfile import SimpleUploadedFile
from django.core.management import CommandError, call_command
from django.test import Client

from analysis.filters import Filters
from analysis.filters.datasets import select_runs
from analysis.filters.page_filters import with_label_set
from analysis.pages.catalogue import PAGES, select
from analysis.pages.reports import report_key
from analysis.reports.content import Report
from annotation.models import TrajectoryLabel
from annotation.remarks.label_sets import add_label_set, file_text
from annotation.remarks.services import put_label
from benchmarks.models import Dataset, Run, Trajectory
from tests.analysis.page_reports import report_of
from tests.analysis.rows import make_dataset, make_person, make_run, make_trajectory
from tests.benchmarks.api.conftest import Caller, bearer

pytestmark = [pytest.mark.django_db, pytest.mark.either]
TASKS = 6


@pytest.fixture
def run() -> Run:
    run = make_run(make_dataset(tasks=TASKS), "stubborn")
    for task in range(1, TASKS + 1):
        make_trajectory(run, task, texts=["1. Drill.", "1. Glue."])
    return run


@pytest.fixture
def people() -> tuple[User, User]:
    return make_person("ann", "view_results"), make_person("bob", "view_results")


def report(dataset: Dataset) -> Report:
    chosen = with_label_set(select_runs(Filters(dataset=str(dataset.pk)), fits=bool))
    return report_of("labels", chosen)


def rows_of(report: Report, name: str) -> dict[str, dict[str, object]]:
    table = report.table(name)
    assert table is not None
    records = [dict(zip(table.header, row, strict=True)) for row in table.records()]
    return {str(record["label"]): record for record in records}


def test_without_set_or_labels_the_page_says_what_to_do(run: Run, people: tuple[User, ...]) -> None:
    empty = report(run.dataset).empty
    assert empty is not None and empty.title == "No label set yet"
    add_label_set(text=file_text("mast@1"), by=people[0])
    empty = report(run.dataset).empty
    assert empty is not None and empty.title == "Nobody has labelled these trajectories"


def test_shares_and_agreement(run: Run, people: tuple[User, User]) -> None:
    ann, bob = people
    add_label_set(text=file_text("mast@1"), by=ann)
    ended, derailed, none = "mast_premature_end", "mast_derailment", "mast_none"
    given = {
        # Of six trajectories both put it on 1 and 2, on 3 one of them.
        ann: [ended, ended, ended, none, none, none],
        bob: [ended, ended, derailed, none, none, none],
    }
    for person, keys in given.items():
        for row, key in zip(run.trajectories.order_by("task"), keys, strict=True):
            put_label(trajectory=row, key=key, by=person, turn=1 if key == derailed else None)
    found = report(run.dataset)
    assert found.sentence.startswith(
        "2 people labelled 6 trajectories with MAST. The highest share has “Ends too early”: 41.7 %"
    )
    assert "they share 83.3 % of their labels" in found.sentence
    labels = rows_of(found, "labels")
    early = labels["Ends too early"]
    assert early["share"] == pytest.approx((1 + 1 + 0.5) / 6, abs=1e-6)
    # Put 5 of 12 times, one of six pairs unequal: D_o = 2/12, D_e = 2·5·7/(12·11), α = 0.686.
    assert early["alpha"] == pytest.approx(1 - (2 / 12) / (70 / 132), abs=1e-5)
    assert early["equal"] == pytest.approx(5 / 6, abs=1e-6)
    # The heading holds where any of its labels does.
    assert labels["Task verification"]["share"] == early["share"]
    assert labels["Inter-agent misalignment"]["share"] == pytest.approx(1 / 12, abs=1e-6)
    assert labels["Repeats a step"]["share"] == 0 and labels["Repeats a step"]["alpha"] is None
    assert "None of these" not in labels


def test_one_labeller_gives_shares_and_no_agreement(run: Run, people: tuple[User, ...]) -> None:
    add_label_set(text=file_text("mast@1"), by=people[0])
    for row in run.trajectories.all():
        put_label(trajectory=row, key="mast_derailment", by=people[0])
    found = report(run.dataset)
    assert "No trajectory was labelled by two people" in found.notices[0].text
    derailed = rows_of(found, "labels")["Derails from the task"]
    assert derailed["share"] == 1 and derailed["alpha"] is None


def test_a_label_makes_another_report(run: Run, people: tuple[User, ...]) -> None:
    add_label_set(text=file_text("mast@1"), by=people[0])

    def key() -> str:
        page = PAGES["labels"]
        return report_key(page, select(page, Filters(dataset=str(run.dataset_id)), people[0]))

    before = key()
    put_label(trajectory=run.trajectories.earliest("pk"), key="mast_none", by=people[0])
    assert key() != before


def test_a_set_is_added_imported_and_exported_on_its_page(client: Client, run: Run) -> None:
    client.force_login(make_person("rita", "view_results", "start_runs"))
    page = client.get("/label-sets/").content.decode()
    assert "Add MAST" in page
    assert client.post("/label-sets/", {"id": "mast@1"})["Location"] == "/label-sets/mast/"
    broken = SimpleUploadedFile("a.yaml", b"key: Ends\n")
    answer = client.post("/label-sets/", {"file": broken})
    assert answer.status_code == 422 and "line 1, key: expected" in answer.content.decode()
    row = run.trajectories.earliest("pk")
    text = f"trajectory,label,who,turn,note\r\n{row.pk},premature_end,rater,1,<b>soon</b>\r\n"
    client.post("/label-sets/mast/", {"file": SimpleUploadedFile("l.csv", text.encode())})
    exported = b"".join(client.get("/label-sets/mast/labels.csv"))  # type: ignore[arg-type]
    assert exported.decode() == text
    shown = client.get(f"/trajectories/{row.pk}/").content.decode()
    assert "&lt;b&gt;soon&lt;/b&gt;" in shown and "<b>soon" not in shown
    assert Trajectory.objects.filter(failure_labels__label__key="mast_premature_end").count() == 1
    api = Caller(bearer(User.objects.get(username="rita")))
    listed = api.get("/failure-labels?set=mast").json()["items"]
    assert [(one["label"], one["who"], one["note"]) for one in listed] == [
        ("mast_premature_end", "rater", "<b>soon</b>")
    ]
    assert api.get("/failure-labels?set=other").json()["items"] == []


def test_labels_are_imported_by_programs_and_by_command(run: Run, tmp_path: Path) -> None:
    rita = make_person("rita", "view_results", "start_runs")
    add_label_set(text=file_text("mast@1"), by=rita)
    row = run.trajectories.earliest("pk")
    label = {"trajectory": row.pk, "label": "premature_end", "who": "rater", "turn": 1}
    api = Caller(bearer(rita))
    assert api.post("/failure-labels", {"set": "mast", "labels": [label]}).json() == {"added": 1}
    assert api.post("/failure-labels", {"set": "mast", "labels": [label]}).json() == {"added": 0}
    for change, status in (({"label": "no such"}, 422), ({"trajectory": 999999}, 422)):
        body = {"set": "mast", "labels": [{**label, "who": "other"}, {**label, **change}]}
        assert api.post("/failure-labels", body).status_code == status
    assert api.post("/failure-labels", {"set": "x", "labels": [label]}).status_code == 404
    assert TrajectoryLabel.objects.count() == 1
    file = tmp_path / "labels.csv"
    file.write_text(f"trajectory,label,who\n{row.pk},premature_end,other\n{row.pk},none,third\n")
    call_command("import_labels", "mast", str(file), by="rita")
    assert TrajectoryLabel.objects.count() == 3
    file.write_text(f"trajectory,label,who\n{row.pk},premature_end,last\n{row.pk},no such,last\n")
    for arguments in (("mast", str(file)), ("x", str(file)), ("mast", str(tmp_path / "gone"))):
        with pytest.raises(CommandError):
            call_command("import_labels", *arguments, by="rita")
    with pytest.raises(CommandError, match="no user"):
        call_command("import_labels", "mast", str(file), by="nobody")
    assert TrajectoryLabel.objects.count() == 3


def test_readers_import_nothing(client: Client, run: Run) -> None:
    person = make_person("rita", "view_results")
    add_label_set(text=file_text("mast@1"), by=person)
    client.force_login(person)
    assert "Import labels" not in client.get("/label-sets/mast/").content.decode()
    assert client.post("/label-sets/mast/", {"retired": "1"}).status_code == 403

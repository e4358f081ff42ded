"""Freezing, files and pages of registrations."""

import json
import re
from pathlib import Path
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.core.files.uploadedfile import SimpleUploadedFile
from django.core.management import CommandError, call_command
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from analysis.models import Registration
from analysis.registrations.document import (
    Comparison,
    file_text,
    read_comparison,
    read_file,
    read_plan,
    sha256,
)
from analysis.registrations.services import (
    RegistrationRefused,
    freeze,
    import_registration,
    withdraw,
)
from analysis.registrations.text import as_text
from annotation.models import Assignment, Study
from benchmarks.api.tokens import create_token
from benchmarks.core.problems import FileRefused
from benchmarks.models import Agent, Experiment, Trajectory
from tests.analysis.human_rows import make_people, make_preferences
from tests.analysis.registrations.test_changes import agents_world, frozen, play
from tests.analysis.rows import (
    make_dataset,
    make_person,
    make_ratings,
    make_run,
    make_study,
    make_trajectory,
)
from tests.factories.registrations import registration_file, registration_plan

pytestmark = pytest.mark.django_db


@pytest.fixture
def root(db: None) -> User:
    return make_person("root", superuser=True)


def signed_in(user: User) -> Client:
    client = Client()
    client.force_login(user)
    return client


# --- Documents ------------------------------------------------------------------------------------


def test_a_document_is_read_back_and_its_digest_verifies_whatever_its_layout() -> None:
    plan = registration_plan()
    assert read_plan(plan.document) == plan
    document, again = read_file(registration_file())
    assert again == plan and sha256(document) == sha256(plan.document)
    shuffled = dict(reversed(list(plan.document.items())))
    assert file_text(shuffled, sha256(shuffled)) == file_text(plan.document, sha256(plan.document))


@pytest.mark.parametrize(
    ("change", "where", "expected"),
    [
        ({"title": "Coin leads"}, "sha256", "of the document"),
        ({"direction": "<"}, "the document, direction", "a field among"),
        ({"question": "mode"}, "the document, question", "one of mean, slope"),
        ({"comparisons": []}, "the document, comparisons", "a list of 1 to 100"),
        ({"epsilon": 1.5}, "the document, epsilon", "a number"),
        ({"study": "Pilot"}, "the document", "a dataset or a study"),
        ({"question": "judge"}, "the document", "a study for this question"),
        ({"registered_at": "yesterday"}, "the document, registered_at", "a time such as"),
        ({"format": "planjury-registration/9"}, "the document, format", "planjury-registration/1"),
        ({"tasks": -1}, "the document, tasks", "a whole number"),
        ({"title": "a\x00b"}, "the document, title", "without NUL"),
    ],
)
def test_a_changed_file_is_refused_by_its_field(
    change: dict[str, Any], where: str, expected: str
) -> None:
    content = json.loads(registration_file())
    content["document"] |= change
    with pytest.raises(FileRefused) as refused:
        read_file(json.dumps(content).encode())
    told = str(refused.value)
    assert where in told and expected in told


@pytest.mark.parametrize("data", [b"", b"[]", b"{", b"\xff", b'{"document": 1, "sha256": 2}',
                                  b"[" * 100_000, b"{}", b"1" * 2_000_000])  # fmt: skip
def test_what_is_no_registration_is_refused(data: bytes) -> None:
    with pytest.raises(FileRefused):
        read_file(data)


def test_a_line_is_a_comparison() -> None:
    one = read_comparison(" careful planner > coin ")
    assert one is not None and (one.first, one.direction, one.second) == (
        "careful planner", ">", "coin",
    )  # fmt: skip
    assert read_comparison("careful>coin") is None and read_comparison("careful") is None


def test_the_text_for_a_registry_has_every_section() -> None:
    text = as_text(registration_plan(study=""), "ab" * 32)
    for words in ("Study information", "Data", "Sampling plan", "Variables", "Analysis plan",
                  "careful is higher than coin", "Stopping rule", "ab" * 32):  # fmt: skip
        assert words in text


# --- Freezing -------------------------------------------------------------------------------------


def test_freezing_is_refused_after_the_first_answer(root: User) -> None:
    dataset = make_dataset()
    run = make_run(dataset, "ada", experiment=Experiment.objects.create(name="Main"))
    make_run(dataset, "bob", experiment=run.experiment)
    frozen(dataset, root, title="In time")
    make_trajectory(run, 1)
    with pytest.raises(RegistrationRefused, match="1 trajectory of experiment “Main” has answers"):
        frozen(dataset, root)
    # Another experiment of the same agents is still to come.
    assert frozen(dataset, root, experiment="Second").document["experiment"] == "Second"
    with pytest.raises(RegistrationRefused, match="name the experiment"):
        frozen(dataset, root, experiment="")
    assert Registration.objects.count() == 2


def test_freezing_is_refused_after_the_first_answer_of_a_study_even_a_draft(root: User) -> None:
    study, plan = make_study(), make_trajectory(make_run(make_dataset(), "ada"), 1)
    values = {
        "title": "Strict", "question": "judge", "measure": "all", "stopping": "At the end.",
        "comparisons": [{"first": "strict", "direction": "=", "second": "people"}],
    }  # fmt: skip
    row = freeze(values=values, by=root, study=study)
    assert row.document["epsilon"] == 0.1 and row.document["study"] == "Pilot"
    make_ratings(study, make_people()[0], plan, {"q1": 4}, state="open")
    with pytest.raises(RegistrationRefused, match="people answered 1 item of “Pilot”"):
        freeze(values=values, by=root, study=study)


@pytest.mark.parametrize(
    ("more", "words"),
    [
        ({"measure": "beauty"}, "measure: expected one of"),
        ({"agents": ["nobody"]}, "agents: expected agents of this server"),
        ({"tasks": 5}, "tasks: expected at most 4"),
        ({"title": " "}, "title: expected a text that is not blank"),
        ({"comparisons": [{"first": "ada", "direction": ">", "second": "ada"}]},
         "two different agents"),
    ],
)  # fmt: skip
def test_a_plan_that_cannot_be_is_refused_by_its_field(
    root: User, more: dict[str, Any], words: str
) -> None:
    with pytest.raises(FileRefused, match=words):
        frozen(make_dataset(), root, **more)
    assert not Registration.objects.exists()


def test_a_document_names_nothing_of_this_installation(root: User) -> None:
    for _ in range(3):
        make_dataset(f"Other {_}")
    row = frozen(make_dataset(tasks=4), root)
    assert not any("id" in name.split("_") for name in row.document)
    assert row.document["dataset"] == "Tests" and row.document["tasks"] == 4


# --- Elsewhere ------------------------------------------------------------------------------------


def test_a_file_verifies_and_marks_pages_on_another_installation(root: User) -> None:
    file = registration_file(dataset="Tests", experiment="Main", agents=("ada", "bob"))
    row, new = import_registration(data=file, by=root)
    assert new and row.imported and import_registration(data=file, by=root) == (row, False)
    dataset, experiment = make_dataset(), Experiment.objects.create(name="Main")
    for name in ("ada", "bob"):
        play(dataset, name, experiment)
    page = signed_in(root).get(
        reverse("analysis:leaderboard"), {"dataset": dataset.pk, "experiment": experiment.pk}
    )
    text = page.content.decode()
    # Its comparison is of other agents.
    assert "Undefined as registered" in text and "its time is what its file states" in text
    assert "no finished run of careful and coin is here" in text


# --- Pages ----------------------------------------------------------------------------------------


def test_pages_say_it() -> None:
    world = agents_world()
    client = signed_in(world.root)
    address = reverse("analysis:leaderboard")
    text = client.get(address, world.query).content.decode()
    assert "As registered before the first answer" in text and world.row.digest[:12] in text
    assert "Exploratory: not as registered" in client.get(
        reverse("analysis:compare-models"), world.query | {"agents": "ada"}
    ).content.decode()  # fmt: skip
    withdraw(row=world.row, reason="Wrong.", by=world.root)
    assert "withdrawn on" in client.get(address, world.query).content.decode()


def test_without_registrations_nothing_is_asked_and_with_one_a_single_query_more() -> None:
    root, dataset = make_person("root", superuser=True), make_dataset()
    experiment = Experiment.objects.create(name="Main")
    play(dataset, "ada", experiment)
    client, address = signed_in(root), reverse("analysis:leaderboard")

    def warm() -> int:
        client.get(address)
        with CaptureQueriesContext(connection) as queries:
            client.get(address)
        return sum('analysis_registration"."document' in one["sql"] for one in queries)

    assert warm() == 0
    import_registration(data=registration_file(dataset="Tests"), by=root)
    assert warm() == 1


def test_the_form_freezes_and_shows_every_fault_beside_its_field(root: User) -> None:
    client, dataset = signed_in(root), make_dataset()
    for name in ("ada", "bob"):
        Agent.objects.create(name=name, title=name.title(), kind="scripted")
    new = reverse("analysis:registration_new")
    assert "Runs on a dataset" in client.get(new).content.decode()
    address = f"{new}?dataset={dataset.pk}"
    assert client.get(address).status_code == 200
    given = {
        "title": "Ada leads", "question": "mean", "measure": "accurate", "correction": "bonferroni",
        "comparisons": "ada > bob\nada ! bob", "stopping": "At the end.", "tasks": "9",
    }  # fmt: skip
    refused = client.post(address, given)
    assert refused.status_code == 422
    assert "Line 2 is no comparison" in refused.content.decode()
    refused = client.post(address, given | {"comparisons": "ada > carl"})
    text = refused.content.decode()
    assert "found the text &#x27;carl&#x27;" in text and "at most 4" in text
    kept = client.post(address, given | {"comparisons": "ada > Bob", "tasks": ""})
    row = Registration.objects.get()
    assert kept.status_code == 302 and kept["Location"] == reverse(
        "analysis:registration", args=[row.pk]
    )
    shown = client.get(kept["Location"]).content.decode()
    assert row.digest in shown and "SHA-256 verifies" in shown
    told = client.get(reverse("analysis:registration_text", args=[row.pk])).content.decode()
    assert "ada is higher than bob" in told
    file = client.get(reverse("analysis:registration_json", args=[row.pk])).content
    assert read_file(file)[0] == row.document
    listed = client.get(reverse("analysis:registration_list")).content.decode()
    assert "Ada leads" in listed


def test_a_file_is_verified_or_imported_on_the_page(root: User) -> None:
    client, address = signed_in(root), reverse("analysis:registration_list")

    def send(data: bytes, action: str) -> Any:
        return client.post(address, {"file": SimpleUploadedFile("r.json", data), "action": action})

    verified = send(registration_file(), "verify")
    assert verified.status_code == 200 and "The file verifies" in verified.content.decode()
    assert not Registration.objects.exists()
    assert send(registration_file(), "import").status_code == 302
    altered = registration_file().replace(b"Careful leads", b"Careless leads")
    refused = send(altered, "import")
    assert refused.status_code == 422 and "does not verify" in refused.content.decode()
    assert client.post(address, {}).status_code == 422
    row = Registration.objects.get()
    shown = client.get(reverse("analysis:registration", args=[row.pk])).content.decode()
    assert "Undefined: There is no dataset “Elsewhere, version 1” here" in shown


def test_only_who_registered_withdraws_and_it_stays(root: User) -> None:
    row, _ = import_registration(data=registration_file(), by=root)
    at = reverse("analysis:registration_withdraw", args=[row.pk])
    reader = signed_in(make_person("rita", "view_results"))
    assert reader.post(at, {"reason": "No."}).status_code == 403
    client = signed_in(root)
    client.post(at, {"reason": " "})
    assert not hasattr(Registration.objects.get(pk=row.pk), "withdrawal")
    client.post(at, {"reason": "The level was wrong."})
    again = Registration.objects.get(pk=row.pk)
    assert again.document == row.document and again.withdrawal.document["withdraws"] == row.digest
    with pytest.raises(RegistrationRefused, match="already"):
        withdraw(row=again, reason="Twice.", by=root)
    shown = client.get(reverse("analysis:registration", args=[row.pk])).content.decode()
    assert "The level was wrong." in shown


def test_a_registration_of_a_study_is_for_those_who_read_the_study(root: User) -> None:
    study = make_preferences(make_people())
    Study.objects.filter(pk=study.pk).update(name="Hidden study")
    plan = registration_plan(question="preference", study="Hidden study", dataset="", system="",
                             version="")  # fmt: skip
    row = Registration.objects.create(document=plan.document, digest=sha256(plan.document),
                                      title=plan.title, study_name="Hidden study")  # fmt: skip
    reader = signed_in(make_person("rita", "view_results"))
    assert reader.get(reverse("analysis:registration", args=[row.pk])).status_code == 404
    assert "Careful leads" not in reader.get(reverse("analysis:registration_list")).content.decode()
    address = reverse("analysis:registration", args=[row.pk])
    assert signed_in(root).get(address).status_code == 200


def test_preferences_say_that_agents_are_missing(root: User) -> None:
    study = make_preferences(make_people())
    plan = registration_plan(question="preference", study=study.name, dataset="", system="",
                             version="", correction="holm")  # fmt: skip
    Registration.objects.create(document=plan.document, digest=sha256(plan.document),
                                title=plan.title, study_name=study.name)  # fmt: skip
    text = signed_in(root).get(reverse("analysis:preferences"), {"study": study.pk})
    assert "no finished run of careful and coin is here" in text.content.decode()


def test_preferences_are_as_registered_until_their_answers_are_gone(root: User) -> None:
    study = make_preferences(make_people())
    study.items.update(given=3, done=3)
    plan = registration_plan(question="preference", study=study.name, dataset="", system="",
                             version="", correction="holm", measure="better", agents=("x", "y"),
                             questionnaire=study.questionnaire, level="", condition="",
                             items=4, raters=3,
                             comparisons=(Comparison("x", ">", "y"),))  # fmt: skip
    Registration.objects.create(document=plan.document, digest=sha256(plan.document),
                                title=plan.title, study_name=study.name)  # fmt: skip
    client, address = signed_in(root), reverse("analysis:preferences")
    text = client.get(address, {"study": study.pk}).content.decode()
    assert "As registered before the first answer" in text
    assert "x &gt; y, on better" in text
    Assignment.objects.filter(study=study, item__rank=1).update(state="voided")
    study.items.filter(rank=1).update(done=0)
    text = client.get(address, {"study": study.pk}).content.decode()
    assert "Exploratory: not as registered" in text
    assert "answers so far (9; registered: 12)" in text
    # Nobody will answer again.
    Study.objects.filter(pk=study.pk).update(status="closed")
    text = client.get(address, {"study": study.pk, "epsilon": "0.1"}).content.decode()
    reason = "3 of 12 registered ratings are gone: 3 submissions that a manager voided"
    assert "Undefined as registered" in text and reason in text
    assert 'class="lede"' not in text and "<table" not in text
    Assignment.objects.filter(study=study).update(state="voided")
    study.items.update(done=0)
    text = client.get(address, {"study": study.pk}).content.decode()
    assert "no answer of this study is left, or none was given yet" in text
    assert "is preferred" not in text and 'class="lede"' not in text


def test_a_registered_pair_without_one_of_its_agents_has_no_number() -> None:
    world = agents_world()
    client, address = signed_in(world.root), reverse("analysis:compare-models")
    lede = re.compile(r'class="lede">([^<]*)')
    before = client.get(address, world.query).content.decode()
    assert "Ada beats Bob by 100.0 points" in lede.findall(before)[0]
    run = world.runs[1]
    run.primary_judging = None
    run.save()
    Trajectory.objects.filter(run=run).delete()
    run.delete()
    text = client.get(address, world.query).content.decode()
    assert "Undefined as registered" in text
    assert "no finished run of bob is here: deleted, or not made yet" in text
    assert not any("points" in words for words in lede.findall(text))


def test_a_registered_pair_without_some_of_its_trajectories_has_no_number_anywhere(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    world = agents_world()
    client = signed_in(world.root)
    file = tmp_path / "registration.json"
    file.write_text(file_text(world.row.document, world.row.digest))
    query = world.query
    page = reverse("analysis:compare-models")
    assert "Ada beats Bob by 100.0 points" in client.get(page, query).content.decode()
    for address in (page, reverse("analysis:leaderboard")):
        assert "Undefined as registered" not in client.get(address, query).content.decode()
    call_command("registration", "verify", str(file))
    assert "Undefined" not in capsys.readouterr().out

    Trajectory.objects.filter(run=world.runs[1], task__external_id="t4").delete()
    reason = "1 of 4 registered trajectories of bob is gone"
    for address in (page, reverse("analysis:leaderboard")):
        text = client.get(address, query).content.decode()
        assert reason in text and "Undefined as registered" in text
        assert 'class="lede"' not in text and "<table" not in text
        left = client.get(address, {**query, "deleted": "show"}).content.decode()
        assert "Exploratory: not as registered" in left and 'class="lede"' in left
        assert "what is left is shown; registered: all" in left
    headers = {"HX-Request": "true"}
    details = reverse("analysis:compare-models_details")
    shown = client.get(details, query, headers=headers).content.decode()
    assert "<table" not in shown and "points" not in shown
    table = client.get(reverse("analysis:compare-models_table", kwargs={"part": "pairs"}), query)
    assert table.status_code == 404
    token = {"authorization": f"Bearer {create_token(user=world.root, name='test')[1]}"}
    answer = Client().get("/api/v1/analysis/compare-models", query, headers=token).json()
    assert not answer["tables"] and not answer["figures"] and not answer["answer"]
    assert answer["empty"]["title"] == "Undefined as registered"
    assert "1 of 4 registered trajectories of bob" in answer["empty"]["text"]
    stored = Client().get(f"/api/v1/registrations/{world.row.pk}", headers=token).json()
    assert stored["undefined"] == reason
    text = client.get(reverse("analysis:registration", args=[world.row.pk])).content.decode()
    assert f"Undefined: {reason}." in text
    call_command("registration", "verify", str(file))
    assert f"Undefined on this server: {reason}." in capsys.readouterr().out


def test_a_second_experiment_of_the_name_flips_a_kept_page() -> None:
    world = agents_world()
    client, address = signed_in(world.root), reverse("analysis:leaderboard")
    assert "As registered" in client.get(address, world.query).content.decode()
    again = Experiment.objects.create(name="Main")
    for name in ("ada", "bob"):
        play(world.dataset, name, again)
    text = client.get(address, world.query).content.decode()
    assert "experiments of this name (2; registered: 1)" in text


# --- Commands and the API -------------------------------------------------------------------------


def test_the_command_verifies_imports_and_exports(
    root: User, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "registration.json"
    file.write_bytes(registration_file())
    call_command("registration", "verify", str(file))
    assert "Verified: “Careful leads”" in capsys.readouterr().out
    assert not Registration.objects.exists()
    call_command("registration", "import", str(file), "--user", "root")
    row = Registration.objects.get()
    assert row.by == root and "Imported" in capsys.readouterr().out
    call_command("registration", "export", row.digest[:12])
    assert read_file(capsys.readouterr().out.encode())[0] == row.document
    file.write_bytes(registration_file().replace(b"careful", b"careles"))
    with pytest.raises(CommandError, match="does not verify"):
        call_command("registration", "import", str(file))
    for wrong in (["verify", str(tmp_path)], ["export", "0" * 12], ["export", "ab"]):
        with pytest.raises(CommandError):
            call_command("registration", *wrong)


def test_the_api_freezes_and_refuses_as_the_form_does(root: User) -> None:
    dataset = make_dataset()
    for name in ("ada", "bob"):
        Agent.objects.create(name=name, title=name.title(), kind="scripted")
    headers = {"authorization": f"Bearer {create_token(user=root, name='test')[1]}"}
    plan = {
        "title": "Ada leads", "question": "mean", "measure": "accurate", "level": "mid",
        "comparisons": [{"first": "ada", "direction": ">", "second": "bob"}],
        "stopping": "At the end.",
    }  # fmt: skip

    def send(**body: Any) -> Any:
        return Client().post("/api/v1/registrations", json.dumps(body), headers=headers,
                             content_type="application/json")  # fmt: skip

    made = send(dataset=dataset.pk, plan=plan)
    assert made.status_code == 201 and made.json()["document"]["family"] == 1
    assert made.json()["sha256"] == sha256(made.json()["document"])
    assert send(dataset=dataset.pk, plan=plan | {"measure": "beauty"}).status_code == 422
    assert send(dataset=dataset.pk, plan=plan | {"colour": "red"}).status_code == 422
    assert send(dataset=dataset.pk, study=1, plan=plan).status_code == 422
    make_trajectory(make_run(dataset, "ada"), 1)
    late = send(dataset=dataset.pk, plan=plan | {"title": "Late"})
    assert late.status_code == 422 and "Too late to register" in late.json()["error"]["message"]
    address = f"/api/v1/registrations/{made.json()['id']}"
    assert Client().get(address, headers=headers).json() == made.json()
    assert len(Client().get("/api/v1/registrations", headers=headers).json()) == 1

"""Studies in the API, and that nobody who annotates blind learns there who made what."""

import csv
import io
import re
import uuid
from typing import Any

import pytest
from django.contrib.auth.models import Permission, User

from analysis.pages.catalogue import PAGES as ANALYSIS
from annotation.desk.services import submit_assignment
from annotation.models import Assignment, Membership, Study
from annotation.ratings.services import record_rating
from benchmarks.imports.selectors import IMPORT
from benchmarks.models import Agent, Dataset, Endpoint, Job, Run, Task, Trajectory
from benchmarks.visibility import Visibility
from config.urls import api as app
from tests.annotation.rows import SECRETS, make_person, make_runs
from tests.benchmarks.api.conftest import Caller, bearer

pytestmark = pytest.mark.either

PATHS = [path for path, methods in app.get_openapi_schema()["paths"].items() if "get" in methods]


def may(user: User, *codes: str) -> None:
    user.user_permissions.set(
        Permission.objects.filter(content_type__app_label="benchmarks", codename__in=codes)
    )


def text_of(response: Any) -> str:
    body = b"".join(response) if response.streaming else response.content
    headers = " ".join(f"{name}: {value}" for name, value in response.headers.items())
    return f"{headers} {body.decode(errors='replace')}"


def finish(study: Study, user: User) -> None:
    for item in study.assignments.filter(annotator=user):
        for key in item.item.asked:
            record_rating(assignment=item, by=user, question=key, value=3, client_id=uuid.uuid4())
        submit_assignment(assignment=item, by=user)


def everything(caller: Caller, study: Study) -> dict[str, str]:
    """Every answer to a GET, with every id that there is."""
    runs, rows = list(Run.objects.all()), list(Trajectory.objects.all())
    keys: dict[str, list[Any]] = {
        "run_id": [run.pk for run in runs],
        "trajectory_id": [row.pk for row in rows],
        "dataset_id": list(Dataset.objects.values_list("pk", flat=True)),
        "task_id": list(Task.objects.values_list("pk", flat=True)),
        "agent_id": list(Agent.objects.values_list("pk", flat=True)),
        "study_id": [study.pk],
        "key": ["adaplanbench"],
        "page": list(ANALYSIS),
        "job_id": list(Job.objects.values_list("pk", flat=True)),
    }
    found = {}
    for path in PATHS:
        name = next(iter(re.findall(r"{(\w+)}", path)), "")
        for key in keys.get(name, [""]):
            url = re.sub(r"{\w+}", str(key), path).removeprefix(caller.BASE)
            queries = [""]
            if "/scores" in path:
                queries = [f"?run={runs[0].pk}", f"?trajectory={rows[0].pk}"]
            if path.endswith("/export"):
                queries = ["", "?format=huggingface"]
            for query in queries:
                found[url + query] = text_of(caller.get(url + query))
    return found


def import_of_a_file_that_names_its_model() -> None:
    """Imported by somebody else, and judged in the study."""
    run = Run.objects.filter(agent__name=SECRETS[0])[0]
    notes = f"first seen in {SECRETS[0]}.json"
    dataset = Dataset.objects.create(system="external", name=SECRETS[0], notes=notes)
    Task.objects.create(dataset=dataset, external_id=SECRETS[0], prompt="Where is my bag?")
    Run.objects.filter(pk=run.pk).update(
        kind=Run.Kind.IMPORTED, dataset=dataset, source=f"{SECRETS[0]}.json"
    )
    Job.objects.create(kind=IMPORT, title=f"Importing {SECRETS[0]}.json", status="done")


def test_no_name_of_a_model_reaches_who_annotates_blind(study: Study, ann: User) -> None:
    may(ann, "view_results", "start_runs")
    Membership.objects.create(study=study, user=ann, role="manager")
    import_of_a_file_that_names_its_model()
    caller = Caller(bearer(ann))
    for url, text in everything(caller, study).items():
        found = [secret for secret in SECRETS if secret.lower() in text.lower()]
        assert not found, (url, found)
    dataset = Dataset.objects.get(name="Tests").pk
    Endpoint.objects.create(name=SECRETS[0], base_url="http://localhost:1", model=SECRETS[2])
    for wrong in ({"agents": ["nobody"]}, {"roles": {"world_judge": ["endpoint:nobody"]}}):
        answer = caller.post("/runs", {"dataset": dataset, "agents": ["explorer"], **wrong})
        assert answer.status_code == 422
        assert not [secret for secret in SECRETS if secret in text_of(answer)], wrong
    assert "There is no endpoint" in text_of(answer)


def test_all_is_open_again_when_the_last_item_is_done(study: Study, ann: User) -> None:
    may(ann, "view_results", "start_runs")
    Membership.objects.create(study=study, user=ann, role="manager")
    import_of_a_file_that_names_its_model()
    caller = Caller(bearer(ann))
    run = Run.objects.filter(trajectories__assignments__annotator=ann).distinct()[0]
    closed = caller.get(f"/runs/{run.pk}")
    assert (closed.status_code, closed.json()["error"]["code"]) == (404, "not_found")
    assert caller.get("/runs").json()["items"] == []
    assert caller.get("/trajectories").json()["items"] == []
    finish(study, ann)
    assert caller.get(f"/runs/{run.pk}").json()["agent"]["name"] in SECRETS
    assert len(caller.get("/runs").json()["items"]) == 2
    told = "".join(everything(caller, study).values())
    assert all(secret in told for secret in SECRETS[:4])  # so the test above looks where it must


def test_writing_to_a_closed_run_is_closed_too(study: Study, ann: User) -> None:
    may(ann, "view_results", "start_runs")
    run = Run.objects.all()[0]
    response = Caller(bearer(ann)).post(f"/runs/{run.pk}/cancel")
    assert (response.status_code, response.json()["error"]["code"]) == (404, "not_found")


def test_runs_outside_the_study_stay_open(study: Study, ann: User) -> None:
    may(ann, "view_results")
    Dataset.objects.update(name="Studied")
    other = make_runs(level="low")
    rows = Caller(bearer(ann)).get("/runs").json()["items"]
    assert {row["id"] for row in rows} == {run.pk for run in other}


def test_who_is_not_blind_sees_all(study: Study, manager: User, ann: User) -> None:
    assert Visibility.to(manager).closed == frozenset()
    assert len(Visibility.to(ann).closed) == 2
    Study.objects.update(blinded=False)
    assert Visibility.to(ann).closed == frozenset()


class TestStudies:
    def test_only_those_one_takes_part_in(self, study: Study, ann: User, manager: User) -> None:
        (row,) = Caller(bearer(ann)).get("/studies").json()["items"]
        assert (row["id"], row["roles"], row["blinded"]) == (study.pk, ["annotator"], True)
        stranger = Caller(bearer(make_person("eve")))
        assert stranger.get("/studies").json()["items"] == []
        assert stranger.get(f"/studies/{study.pk}").status_code == 404
        admin = Caller(bearer(User.objects.create_superuser("root")))
        assert [row["roles"] for row in admin.get("/studies").json()["items"]] == [[]]
        assert Caller(bearer(manager)).get(f"/studies/{study.pk}").json()["id"] == study.pk

    @pytest.mark.parametrize("what", ["ratings.csv", "history.csv"])
    def test_answers_are_for_managers_and_researchers(
        self, what: str, study: Study, ann: User, manager: User, item: Assignment
    ) -> None:
        record_rating(assignment=item, by=ann, question="safety", value=4, client_id=uuid.uuid4())
        url = f"/studies/{study.pk}/{what}"
        assert Caller(bearer(ann)).get(url).status_code == 403
        watcher = make_person("olga")
        Membership.objects.create(study=study, user=watcher, role="observer")
        assert Caller(bearer(watcher)).get(url).status_code == 403
        response = Caller(bearer(manager)).get(url)
        (line,) = csv.DictReader(io.StringIO(b"".join(response).decode()))
        assert (line["question"], line["value"]) == ("safety", "4")
        assert line["rater"].startswith("rater-") and "ann" not in line.values()
        assert line["model"] in SECRETS
        Membership.objects.create(study=study, user=ann, role="manager")
        (line,) = csv.DictReader(io.StringIO(b"".join(Caller(bearer(ann)).get(url)).decode()))
        assert "model" not in line

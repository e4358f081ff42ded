"""Tests of what holds for every route, found by looping over the API's description."""

import json
import re
from collections.abc import Iterator
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.urls import resolve

from analysis.models import FailureClustering
from analysis.papers.services import create_paper, share_paper
from analysis.registrations.services import import_registration
from benchmarks.models import Endpoint, Run
from config.urls import api as app
from tests.benchmarks.api.conftest import Caller, bearer
from tests.benchmarks.api.files import chat_file
from tests.factories.registrations import registration_file

pytestmark = pytest.mark.engines

SCHEMA: Any = app.get_openapi_schema()
ROUTES = [(method, path) for path, methods in SCHEMA["paths"].items() for method in methods]
WRITES = {
    ("post", "/api/v1/runs"),
    ("post", "/api/v1/runs/{run_id}/pause"),
    ("post", "/api/v1/runs/{run_id}/resume"),
    ("post", "/api/v1/runs/{run_id}/cancel"),
    ("post", "/api/v1/runs/{run_id}/judging"),
    ("post", "/api/v1/imports"),
    ("post", "/api/v1/judgings"),
    ("post", "/api/v1/trajectories/{trajectory_id}/branches"),
    ("post", "/api/v1/judgings/plan"),
    ("post", "/api/v1/endpoints"),
    ("post", "/api/v1/sessions"),
    ("post", "/api/v1/sessions/plan"),
    ("post", "/api/v1/studies"),
    ("post", "/api/v1/studies/plan"),
    ("post", "/api/v1/failure-labels"),
    ("post", "/api/v1/questions"),
    ("post", "/api/v1/registrations"),
    ("delete", "/api/v1/runs/{run_id}"),
    ("delete", "/api/v1/experiments/{experiment_id}"),
    ("delete", "/api/v1/datasets/{dataset_id}"),
    ("delete", "/api/v1/imports/{job_id}"),
}
# What is done in a study goes by one's part in it; tests/annotation/api has these.
OF_STUDIES = {(method, path) for method, path in ROUTES if method != "get" and "/studies/{" in path}
ASSIGNMENT = "/api/v1/studies/{study_id}/assignments/{item_part}/{position}"
# A body that is complete, so that the right to send it is asked first.
BODIES = {
    "/api/v1/judgings": {"roles": {}},
    "/api/v1/judgings/plan": {"roles": {}},
    "/api/v1/endpoints": {"title": "New", "base_url": "http://localhost:1/v1", "model": "m"},
    "/api/v1/sessions": {"sessions": {}},
    "/api/v1/sessions/plan": {"sessions": {}},
    "/api/v1/studies": {"plan": {}},
    "/api/v1/studies/plan": {"plan": {}},
    "/api/v1/failure-labels": {
        "set": "mast",
        "labels": [{"trajectory": 1, "label": "none", "who": "ada"}],
    },
    "/api/v1/questions": {"question": "is right", "endpoint": "local"},
    "/api/v1/registrations": {"dataset": 1, "plan": {}},
    "/api/v1/papers": {"title": "Mine"},
    "/api/v1/papers/{paper_id}": {"base": 1, "blocks": []},
    "/api/v1/papers/{paper_id}/pins": {
        "source": "page",
        "name": "leaderboard",
        "parts": ["answer"],
    },
    "/api/v1/studies/{study_id}/recruiting-links": {"platform": "other", "places": 1},
    "/api/v1/runs/{run_id}/judging": {"judging": None},
    "/api/v1/studies/{study_id}/status": {"status": "open"},
    f"{ASSIGNMENT}/ratings": {"edits": [{"id": "00000000-0000-0000-0000-000000000000"}]},
    f"{ASSIGNMENT}/skip": {"reason": "unclear"},
}
# These have a report computed, which reading is enough for.
COMPUTES = {("post", "/api/v1/analysis/{page}/later"), ("post", "/api/v1/failure-groups")}
# Whoever may read results may write papers; tests/analysis/papers has these.
PAPERS = {
    ("post", "/api/v1/papers"),
    ("post", "/api/v1/papers/{paper_id}"),
    ("post", "/api/v1/papers/{paper_id}/pins"),
}
# Only for those who may import; studies go by membership.
FOR_STARTERS = {("get", "/api/v1/imports"), ("get", "/api/v1/imports/{job_id}")}


def ids_of(run: Run) -> dict[str, str]:
    row = run.trajectories.first()
    assert row is not None
    endpoint, _ = Endpoint.objects.get_or_create(
        name="local", defaults={"base_url": "http://localhost:1/v1", "model": "m"}
    )
    owner, _ = User.objects.get_or_create(username="author")
    paper = create_paper(owner=owner, title="Read by all")
    share_paper(paper=paper, sharing="read")
    question, _ = FailureClustering.objects.get_or_create(
        question="is right", defaults={
            "trajectories": [row.pk], "part": 1, "endpoint": endpoint, "most_clusters": 8,
        },
    )  # fmt: skip
    return {
        "paper_id": str(paper.pk),
        "registration_id": str(import_registration(data=registration_file(), by=owner)[0].pk),
        "question_id": str(question.pk),
        "run_id": str(run.pk),
        "trajectory_id": str(row.pk),
        "dataset_id": str(run.dataset_id),
        "task_id": str(row.task_id),
        "agent_id": str(run.agent_id),
        "key": "adaplanbench",
        "page": "dispersion",
        "item_part": "main",
        "endpoint_id": str(endpoint.pk),
    }


def filled(path: str, ids: dict[str, str]) -> str:
    return re.sub(r"{(\w+)}", lambda found: ids.get(found.group(1), "999999"), path)


def send(method: str, path: str, ids: dict[str, str], query: str = "", **headers: str) -> Any:
    """A request to a route, with a body that it takes where there is one."""
    client, url = Client(), filled(path, ids) + query
    if method == "post" and url.endswith("/imports"):
        return client.post(url, {"name": "x"}, headers=headers)
    body = json.dumps(BODIES.get(path, {})) if method == "post" else ""
    return client.generic(
        method.upper(), url, body, content_type="application/json", headers=headers
    )


def test_routes_that_write_are_known() -> None:
    assert {route for route in ROUTES if route[0] != "get"} == (
        WRITES | COMPUTES | PAPERS | OF_STUDIES
    )
    assert len(ROUTES) > 25


def test_nothing_without_a_token(played: Run, error_of: Any) -> None:
    for method, path in ROUTES:
        response = send(method, path, ids_of(played))
        assert error_of(response) == (401, "unauthorized", ""), path


def test_a_stranger_gets_nothing(played: Run, outside: Caller, error_of: Any) -> None:
    for method, path in ROUTES:
        if (method, path) in WRITES:
            continue  # below, with all that they need
        response = send(method, path, ids_of(played), **outside.headers)
        if path == "/api/v1/studies":
            assert response.json() == {"items": [], "next": None}
        elif "/studies/" in path or "/sessions/" in path:
            assert error_of(response) == (404, "not_found", ""), path
        else:
            assert error_of(response) == (403, "forbidden", ""), path


@pytest.mark.parametrize("who", ["viewing", "outside"])
def test_who_may_not_start_writes_nothing(
    who: str, played: Run, request: pytest.FixtureRequest, error_of: Any
) -> None:
    caller: Caller = request.getfixturevalue(who)
    before = list(Run.objects.values("pk", "status"))
    for method, path in sorted(WRITES):
        if path.endswith("/imports"):
            response = caller.send("/imports", {"file": chat_file()})
        elif path.endswith("/runs"):
            body = {"dataset": played.dataset_id, "agents": ["explorer"]}
            response = caller.post("/runs", body)
        else:
            response = send(method, path, ids_of(played), **caller.headers)
        assert error_of(response) == (403, "forbidden", ""), path
    assert list(Run.objects.values("pk", "status")) == before


def test_a_viewer_reads_what_the_pages_show(played: Run, viewing: Caller, error_of: Any) -> None:
    for method, path in ROUTES:
        if method != "get" or any(
            part in path
            for part in (
                "/studies/",
                "/sessions/",
                "/branches/{",
                "{name}",
                "{block_id}",
                "/answers",
                "/comparisons",
            )
        ):
            continue  # writes stand above; studies, pins and parts of pages have tests of their own
        query = f"?run={played.pk}" if "/scores" in path or "/turns" in path else ""
        response = send(method, path, ids_of(played), query, **viewing.headers)
        if (method, path) in FOR_STARTERS:
            assert error_of(response) == (403, "forbidden", ""), path
        else:
            assert response.status_code == 200, path


def test_unknown_query_fields_are_named(played: Run, api: Caller, error_of: Any) -> None:
    for method, path in ROUTES:
        response = send(method, path, ids_of(played), "?colour=red", **api.headers)
        assert error_of(response) == (422, "unknown", "colour"), path


@pytest.mark.parametrize("key", ["0", "999999", str(2**63), "9" * 30, "9" * 5000])
def test_what_does_not_exist_is_not_found(key: str, api: Caller, error_of: Any) -> None:
    for method, path in ROUTES:
        if "{" in path:
            ids = {**dict.fromkeys(re.findall(r"{(\w+)}", path), key), "item_part": "main"}
            response = send(method, path, ids, **api.headers)
            assert error_of(response) == (404, "not_found", ""), path


@pytest.mark.parametrize("url", ["/api/v1/nothing", "/api/v1/runs/x", "/api/v1/runs/-1"])
def test_unknown_addresses_have_the_same_shape(url: str, db: None, error_of: Any) -> None:
    assert error_of(Client().get(url)) == (404, "not_found", "")


@pytest.mark.parametrize("method", ["put", "patch", "delete", "options", "trace"])
def test_other_methods_have_the_same_shape(method: str, db: None, error_of: Any) -> None:
    response = Client().generic(method.upper(), "/api/v1/runs")
    assert error_of(response) == (405, "method_not_allowed", "")
    assert set(response["Allow"].split(", ")) == {"GET", "POST"}


def test_a_fault_of_ours_tells_nothing_but_an_id(
    starter: User, monkeypatch: pytest.MonkeyPatch, error_of: Any, caplog: Any
) -> None:
    from benchmarks.runs import selectors as runs

    def broken(*args: object) -> None:
        raise RuntimeError("the password is swordfish")

    monkeypatch.setattr(runs, "run_list", broken)
    response = Caller(bearer(starter)).get("/runs")
    assert error_of(response) == (500, "server_error", "")
    assert "swordfish" not in response.content.decode()
    (mark,) = re.findall(r"[0-9a-f]{12}", response.json()["error"]["message"])
    assert mark in caplog.text
    assert "swordfish" in caplog.text


def test_answers_are_not_kept_by_caches(api: Caller) -> None:
    assert api.get("/runs")["Cache-Control"] == "no-store"


class TestDescription:
    def operations(self) -> Iterator[tuple[str, Any]]:
        for methods in SCHEMA["paths"].values():
            for operation in methods.values():
                yield operation["operationId"], operation

    def test_names_differ_and_refusals_are_described(self) -> None:
        names = [name for name, _ in self.operations()]
        assert len(names) == len(set(names)) == len(ROUTES)
        for name, operation in self.operations():
            codes = set(map(int, operation["responses"]))
            assert {401, 403, 422, 429} <= codes, name
            assert operation["security"] == [{"Token": []}], name
            assert operation["description"], name

    def test_the_reference_names_every_operation_and_needs_no_script(self, db: None) -> None:
        page = Client().get("/api/v1/docs").content.decode()
        for method, path in ROUTES:
            assert f"{method.upper()}</span> <code>{path}</code>" in page
        for name, operation in self.operations():
            assert f'id="{name}"' in page
            for parameter in operation["parameters"]:
                assert f"<code>{parameter['name']}</code>" in page
        main = page.partition("<main")[2].partition("</main")[0]
        assert "<script" not in main
        assert Client().get("/api/v1/openapi.json").json()["info"]["title"] == "PlanJury"

    def test_paths_resolve(self) -> None:
        for _, path in ROUTES:
            resolve(re.sub(r"{\w+}", "1", path))

"""Re-judging and endpoints through the API."""

from typing import Any

import pytest
from django.contrib.auth.models import User

from benchmarks.models import Agent, Endpoint, JudgeScore, Judging, Run
from tests.benchmarks.api.conftest import Caller, bearer
from tests.factories.benchmarks import play

RUBRIC = {"rubric_judge": ["judge-strict"]}


def test_judges_look_again_and_count_when_they_are_chosen(api: Caller, played: Run) -> None:
    body = {"runs": [played.pk], "roles": RUBRIC, "name": "Strict"}
    plan = api.post("/judgings/plan", body).json()
    assert (plan["runs"], plan["trajectories"], plan["currency"]) == (1, 3, "")
    assert plan["calls"]["rubric_judge"] > 0
    assert not Judging.objects.filter(name="Strict").exists()
    first, second = (api.post("/judgings", body, **{"Idempotency-Key": "k"}) for _ in range(2))
    assert (first.status_code, first.json()) == (201, second.json())
    (made,) = first.json()["judgings"]
    assert (made["run"], made["name"], made["primary"]) == (played.pk, "Strict", False)
    url = f"/runs/{played.pk}/judging"
    early = api.post(url, {"judging": made["id"]})
    assert (early.status_code, early.json()["error"]["code"]) == (422, "refused")
    play(Run.objects.get(pk=made["made_by"]))
    rows = api.post(url, {"judging": made["id"]}).json()
    assert [(row["id"], row["primary"]) for row in rows][-1] == (made["id"], True)
    assert api.get(f"/runs/{played.pk}/judgings").json() == rows
    scores = api.get("/scores", run=played.pk).json()["items"]
    assert {row["judging"] for row in scores} == {"Strict"}
    assert JudgeScore.objects.exclude(judging=made["id"]).exists(), "earlier scores stay"


@pytest.mark.parametrize(
    ("more", "field"),
    [
        ({}, "runs"),
        ({"runs": [999]}, "runs"),
        ({"runs": [0]}, "runs.0"),
        ({"trajectories": [999]}, ""),
        ({"colour": 1}, "colour"),
    ],
)
def test_nonsense_starts_no_judging(
    api: Caller, more: dict[str, Any], field: str, error_of: Any, played: Run
) -> None:
    answer = api.post("/judgings", {"roles": RUBRIC, **more})
    assert error_of(answer)[::2] == (422, field)
    for roles in ({"rubric_judge": ["nobody"]}, {"rubric_judge": ["endpoint:none"]}):
        answer = api.post("/judgings", {"runs": [played.pk], "roles": roles})
        assert answer.status_code == 422
    assert not Run.objects.filter(kind="judging").exists()


NEW = {
    "title": "Example 70B", "base_url": "http://localhost:9/v1", "model": "example-70b",
    "parameters": {"max_tokens": 256}, "price_in": 1, "price_out": 2,
}  # fmt: skip


class TestEndpoints:
    def test_an_administrator_makes_one(self, db: None, error_of: Any) -> None:
        admin = Caller(bearer(User.objects.create_superuser("root")))
        made = admin.post("/endpoints", NEW)
        assert made.status_code == 201
        body = made.json()
        assert (body["name"], body["parameters"]) == ("example-70b", {"max_tokens": 256})
        assert admin.get(f"/endpoints/{body['id']}").json() == body
        assert admin.get("/endpoints").json()["items"] == [body]
        assert Agent.objects.get(name="example-70b").endpoint_id == body["id"]
        assert error_of(admin.post("/endpoints", NEW)) == (422, "invalid", "title")

    @pytest.mark.parametrize(
        ("wrong", "field"),
        [
            ({"base_url": "http://evil.example/v1"}, "base_url"),
            ({"parameters": {"stream": True}}, "parameters"),
            ({"key_variable": "HOME"}, "key_variable"),
            ({"currency": "euro"}, "currency"),
            ({"api_key": "secret"}, "api_key"),
        ],
    )
    def test_what_the_page_refuses_is_refused(
        self, db: None, error_of: Any, wrong: dict[str, Any], field: str
    ) -> None:
        admin = Caller(bearer(User.objects.create_superuser("root")))
        assert error_of(admin.post("/endpoints", {**NEW, **wrong}))[::2] == (422, field)
        assert not Endpoint.objects.exists()

    def test_others_may_not(self, api: Caller, error_of: Any) -> None:
        assert error_of(api.post("/endpoints", NEW)) == (403, "forbidden", "")
        assert not Endpoint.objects.exists()

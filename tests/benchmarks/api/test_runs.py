"""Runs through the API: lists by key, starting with the form's checks, repeating, changing."""

from typing import Any

import pytest
import time_machine
from django.contrib.auth.models import User
from django.utils import timezone

from benchmarks.api import repeats
from benchmarks.models import Experiment, Run, StoredAnswer, Trajectory
from tests.benchmarks.api.conftest import Caller, bearer
from tests.factories.benchmarks import (
    PERMISSIONS,
    AgentFactory,
    DatasetFactory,
    RunFactory,
    TrajectoryFactory,
    make_user,
    save_sample_dataset,
    start_sample_runs,
)

KEY = {"Idempotency-Key": "run-2026-11-21"}


def test_lists_go_on_by_key(api: Caller) -> None:
    made = [run.pk for run in RunFactory.create_batch(5)]
    seen, path = [], "/runs?limit=2"
    pages = 0
    while path:
        body = api.get(path).json()
        seen += [row["id"] for row in body["items"]]
        path = (body["next"] or "").removeprefix(api.BASE)
        pages += 1
    assert seen == sorted(made, reverse=True)
    assert pages == 3


def test_a_row_that_comes_meanwhile_shifts_no_page(api: Caller) -> None:
    made = [run.pk for run in RunFactory.create_batch(4)]
    first = api.get("/runs", limit=2).json()
    RunFactory()
    second = api.get(first["next"].removeprefix(api.BASE)).json()
    assert [row["id"] for row in second["items"]] == [made[1], made[0]]


def test_the_filters_are_those_of_the_page(api: Caller) -> None:
    from benchmarks.api.runs import RunQuery
    from benchmarks.runs.forms import RunFilter

    assert set(RunQuery.model_fields) - {"after", "limit"} == set(RunFilter.base_fields) - {"order"}


def test_narrowing(api: Caller) -> None:
    low, high = RunFactory(level="low"), RunFactory(level="high", status="paused")
    assert [r["id"] for r in api.get("/runs", level="high").json()["items"]] == [high.pk]
    assert [r["id"] for r in api.get("/runs", agent=low.agent_id).json()["items"]] == [low.pk]
    assert [r["id"] for r in api.get("/runs", status="paused").json()["items"]] == [high.pk]
    assert api.get("/runs", dataset=999_999).json()["items"] == []


@pytest.mark.parametrize(
    ("field", "value"),
    [("status", "sleeping"), ("limit", "0"), ("limit", "101"), ("after", "x"), ("after", "0"),
     ("dataset", str(2**63)), ("level", "x" * 21), ("limit", ""), ("level", "a\x00b")],
)  # fmt: skip
def test_nonsense_is_named(api: Caller, field: str, value: str, error_of: Any) -> None:
    assert error_of(api.get("/runs", **{field: value})) == (422, "invalid", field)


def test_one_run_in_full(api: Caller, played: Run) -> None:
    body = api.get(f"/runs/{played.pk}").json()
    assert body["progress"]["done"] == body["progress"]["total"] == 3
    assert body["agent"]["name"] == "explorer"
    assert body["settings"] == played.settings
    assert body["pins"] == played.pins
    assert set(body["roles"]) == set(played.roles)


def test_undefined_metrics_are_null_with_a_count(api: Caller) -> None:
    run = RunFactory()
    TrajectoryFactory(run=run, metrics={"valid": None}, undefined={"valid": "judges disagree"})
    body = api.get(f"/runs/{run.pk}/metrics").json()
    assert body["metrics"]["valid"]["value"] is None
    assert body["metrics"]["valid"]["n"] == 0
    assert sum(body["metrics"]["valid"]["excluded"].values()) == 1
    assert body["status"] == {"done": 1}


class TestStart:
    def body(self, **more: Any) -> dict[str, Any]:
        return {"dataset": save_sample_dataset().pk, "agents": ["explorer"], **more}

    def test_one_run_for_each_agent_and_level(self, api: Caller, starter: User) -> None:
        body = self.body(agents=["explorer", "forgetful"], levels=["low", "high"], seed=7,
                         name="Mine", tasks=["bar-noise-at-night"])  # fmt: skip
        response = api.post("/runs", body)
        assert response.status_code == 201
        made = response.json()
        runs = Run.objects.filter(pk__in=made["runs"])
        assert runs.count() == 4
        assert made["trajectories"] == Trajectory.objects.count() == 4
        assert {run.level for run in runs} == {"low", "high"}
        assert {(run.seed, run.created_by) for run in runs} == {(7, starter)}
        assert Experiment.objects.get(pk=made["experiment"]).name == "Mine"

    @pytest.mark.parametrize(
        ("more", "field"),
        [
            ({"agents": []}, "agents"),
            ({"agents": ["nobody"]}, "agents"),
            ({"agents": "explorer"}, "agents"),
            ({"dataset": 999_999}, "dataset"),
            ({"dataset": 2**63}, "dataset"),
            ({"levels": ["huge"]}, ""),
            ({"settings": {"max_turns": 999}}, "settings.max_turns"),
            ({"settings": {"max_turns": True}}, "settings.max_turns"),
            ({"settings": {"colour": "red"}}, "settings.colour"),
            ({"settings": {"max_turns": [1]}}, None),
            ({"roles": {"cook": ["explorer"]}}, ""),
            ({"roles": {"world_judge": ["nobody"]}}, ""),
            ({"cost_cap": -1}, "cost_cap"),
            ({"seed": -1}, "seed"),
            ({"seed": 2**63}, "seed"),
            ({"tasks": ["no-such-task"]}, ""),
            ({"name": "x" * 161}, "name"),
            ({"name": "a\x00b"}, ""),
            ({"name": "\ud800"}, ""),
            ({"colour": "red"}, "colour"),
        ],
    )
    def test_nonsense_starts_nothing(
        self, api: Caller, more: dict[str, Any], field: str | None, error_of: Any
    ) -> None:
        status, code, found = error_of(api.post("/runs", self.body(**more)))
        assert status == 422
        assert code in ("invalid", "refused")
        assert field is None or found == field
        assert not Run.objects.exists()
        assert not Experiment.objects.exists()

    def test_nothing_runs_on_what_was_made_elsewhere(self, api: Caller, error_of: Any) -> None:
        body = self.body(dataset=DatasetFactory(system="external").pk)
        assert error_of(api.post("/runs", body)) == (422, "invalid", "dataset")

    def test_agents_of_other_kinds_are_not_on_offer(self, api: Caller, error_of: Any) -> None:
        AgentFactory(name="elsewhere", kind="imported", system="external")
        body = self.body(agents=["elsewhere"])
        assert error_of(api.post("/runs", body)) == (422, "invalid", "agents")

    @pytest.mark.parametrize(
        "text",
        ["{", "[1,", '{"cost_cap": 1e999}', '{"seed": NaN}', '{"seed": 1, "seed": 2}',
         "[" * 100_000, '{"seed": ' + "9" * 5000 + "}", b"\xff\xfe"],
    )  # fmt: skip
    def test_what_is_no_json_is_a_bad_request(self, api: Caller, text: Any, error_of: Any) -> None:
        response = api.client.post(
            "/api/v1/runs", text, content_type="application/json", headers=api.headers
        )
        assert error_of(response) == (400, "bad_request", "")

    @pytest.mark.parametrize("text", ["", "null", "[]", "7", '"x"'])
    def test_what_is_no_object_is_refused(self, api: Caller, text: str, error_of: Any) -> None:
        response = api.client.post(
            "/api/v1/runs", text, content_type="application/json", headers=api.headers
        )
        assert error_of(response)[:2] == (422, "invalid")

    def test_a_huge_body_is_too_large(self, api: Caller, settings: Any, error_of: Any) -> None:
        settings.DATA_UPLOAD_MAX_MEMORY_SIZE = 100
        assert error_of(api.post("/runs", self.body(name="x" * 150))) == (413, "too_large", "")


class TestRepeating:
    def body(self, **more: Any) -> dict[str, Any]:
        return {"dataset": save_sample_dataset().pk, "agents": ["explorer"], **more}

    def test_the_same_key_twice_is_one_run(self, api: Caller) -> None:
        first, second = (api.post("/runs", self.body(), **KEY) for _ in range(2))
        assert first.status_code == second.status_code == 201
        assert first.json() == second.json()
        assert Run.objects.count() == 1

    def test_without_a_key_each_is_a_run(self, api: Caller) -> None:
        api.post("/runs", self.body())
        api.post("/runs", self.body())
        assert Run.objects.count() == 2

    def test_a_key_serves_one_request(self, api: Caller, error_of: Any) -> None:
        api.post("/runs", self.body(), **KEY)
        other = api.post("/runs", self.body(seed=1), **KEY)
        assert error_of(other) == (409, "key_reused", "Idempotency-Key")
        assert Run.objects.count() == 1

    def test_a_refusal_keeps_no_key(self, api: Caller) -> None:
        assert api.post("/runs", self.body(levels=["huge"]), **KEY).status_code == 422
        assert api.post("/runs", self.body(), **KEY).status_code == 201

    def test_keys_are_ones_own(self, api: Caller) -> None:
        other = Caller(bearer(make_user("second", PERMISSIONS)))
        api.post("/runs", self.body(), **KEY)
        other.post("/runs", self.body(), **KEY)
        assert Run.objects.count() == 2

    def test_a_failure_in_between_leaves_neither_key_nor_run(
        self, api: Caller, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        body = self.body()
        monkeypatch.setattr(StoredAnswer, "save", lambda *a, **k: 1 / 0 if k.get("update_fields")
                            else super(StoredAnswer, a[0]).save(**k))  # fmt: skip
        assert api.post("/runs", body, **KEY).status_code == 500
        assert not Run.objects.exists()
        monkeypatch.undo()
        assert api.post("/runs", body, **KEY).status_code == 201

    def test_of_two_at_once_the_second_gets_the_answer_of_the_first(
        self, api: Caller, starter: User, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """The second has looked for the key before the first stored it."""
        body = self.body()
        first = api.post("/runs", body, **KEY)
        looked: list[int] = []
        filter_ = StoredAnswer.objects.filter

        def late(**lookup: Any) -> Any:
            rows = filter_(**lookup)
            return _BlindOnce(rows, looked)

        monkeypatch.setattr(repeats.StoredAnswer.objects, "filter", late)
        second = api.post("/runs", body, **KEY)
        assert looked
        assert second.json() == first.json()
        assert Run.objects.count() == 1

    @pytest.mark.parametrize("key", ["", "a b", "é", "x" * 201])
    def test_keys_have_a_form(self, api: Caller, key: str, error_of: Any) -> None:
        response = api.post("/runs", self.body(), **{"Idempotency-Key": key})
        assert error_of(response) == (422, "invalid", "Idempotency-Key")

    def test_keys_are_forgotten_after_a_week(self, api: Caller) -> None:
        body = self.body()
        api.post("/runs", body, **KEY)
        with time_machine.travel(timezone.now() + repeats.KEPT * 1.01, tick=False):
            api.post("/runs", body, **KEY)
        assert Run.objects.count() == 2


class _BlindOnce:
    """Rows that do not show the key at the first look."""

    def __init__(self, rows: Any, looked: list[int]) -> None:
        self.rows, self.looked = rows, looked

    def filter(self, **lookup: Any) -> Any:
        if "key" in lookup and not self.looked:
            self.looked.append(1)
            return self.rows.none()
        return self.rows.filter(**lookup)


class TestChange:
    def test_resume_with_another_cost_cap(self, api: Caller, error_of: Any) -> None:
        run = RunFactory(status="paused", cost_cap=0.5, committed=0.5, problem="at the cap")
        url = f"/runs/{run.pk}/resume"
        assert error_of(api.post(url, {"cost_cap": -1})) == (422, "refused", "cost_cap")
        run.refresh_from_db()
        assert (run.status, run.cost_cap, run.problem) == ("paused", 0.5, "at the cap")
        resumed = api.post(url, {"cost_cap": 2}).json()
        assert (resumed["status"], resumed["cost_cap"], resumed["problem"]) == ("queued", 2.0, "")
        assert error_of(api.post(url, {"cost_cap": 3})) == (422, "refused", "")
        run.refresh_from_db()
        assert run.cost_cap == 2.0

    def test_pause_resume_cancel(self, api: Caller, error_of: Any) -> None:
        (run,) = start_sample_runs()
        url = f"/runs/{run.pk}"
        assert api.post(f"{url}/pause").json()["status"] == "paused"
        assert error_of(api.post(f"{url}/pause")) == (422, "refused", "")
        assert api.post(f"{url}/cancel").json()["status"] == "cancelled"
        response = api.post(f"{url}/resume")
        assert error_of(response) == (422, "refused", "")
        assert "cancelled" in response.json()["error"]["message"]
        run.refresh_from_db()
        assert run.status == "cancelled"

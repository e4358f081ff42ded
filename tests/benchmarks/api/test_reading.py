"""Tests of reading through the API, and of its number of queries."""

import csv
import io
import json
import zipfile
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from benchmarks.formats.registry import check_file
from benchmarks.imports.selectors import IMPORT
from benchmarks.models import Job, JudgeScore, Run, Trajectory
from tests.benchmarks.api.conftest import Caller
from tests.factories.benchmarks import (
    JudgeScoreFactory,
    RunFactory,
    TrajectoryFactory,
    TurnFactory,
    ViolationFactory,
)


def body_of(response: Any) -> bytes:
    return b"".join(response)


def test_systems_offer_what_a_run_takes(api: Caller, error_of: Any) -> None:
    (system,) = [s for s in api.get("/systems").json() if s["key"] == "adaplanbench"]
    assert api.get("/systems/adaplanbench").json() == system
    assert system["roles"][0]["name"] == "agent"
    assert "explorer" in system["roles"][0]["scripts"]
    (turns,) = [s for s in system["settings"] if s["name"] == "max_turns"]
    assert (turns["kind"], turns["maximum"]) == ("int", 100.0)
    assert len(system["dimensions"]) == 8
    assert error_of(api.get("/systems/none")) == (404, "not_found", "")


def test_datasets_tasks_and_agents(api: Caller, played: Run) -> None:
    (row,) = api.get("/datasets").json()["items"]
    assert (row["id"], row["tasks"], row["is_demo"]) == (played.dataset_id, 3, True)
    detail = api.get(f"/datasets/{row['id']}").json()
    assert [level["level"] for level in detail["levels"]] == ["low", "mid", "high"]
    tasks = api.get(f"/datasets/{row['id']}/tasks", q="costume").json()["items"]
    assert [task["external_id"] for task in tasks] == ["animal-costume-by-tomorrow"]
    assert (tasks[0]["levels"], tasks[0]["trajectories"]) == (3, 1)
    task = api.get(f"/tasks/{tasks[0]['id']}").json()
    assert [level["level"] for level in task["levels"]] == ["low", "mid", "high"]
    assert task["payload"]
    names = [agent["name"] for agent in api.get("/agents").json()["items"]]
    assert "explorer" in names
    assert "parameters" not in api.get("/agents").json()["items"][0]


def test_a_run_says_how_it_compares_with_its_paper(api: Caller, played: Run) -> None:
    (usual, table_5) = api.get(f"/runs/{played.pk}").json()["comparability"]
    assert (usual["sources"], table_5["sources"]) == ([], ["Table 5"])
    assert usual["summary"] == {"same": 1, "different": 5, "unknown": 2}
    aspects = {one["aspect"]: one for one in usual["aspects"]}
    assert aspects["scorer"]["verdict"] == "same"
    assert aspects["judges"]["published"].startswith("GPT-5.4 for constraints")


def test_a_trajectory_with_all_its_parts(api: Caller) -> None:
    turn = TurnFactory()
    ViolationFactory(turn=turn, text="No hammer.", new=False, repeated=True)
    JudgeScoreFactory(turn=turn, dimension="feasibility", value=4.0, seat="1")
    JudgeScoreFactory(turn=turn, dimension="feasibility", value=None, reason="no answer", seat="2")
    Trajectory.objects.filter(pk=turn.trajectory_id).update(
        metrics={"valid": None, "turns": 1}, undefined={"valid": "judges disagree"}
    )
    body = api.get(f"/trajectories/{turn.trajectory_id}").json()
    assert body["valid"] == {"value": None, "reason": "judges disagree"}
    assert (body["metrics"], body["undefined"]["valid"]) == (
        {"valid": None, "turns": 1.0}, "judges disagree",
    )  # fmt: skip
    (shown,) = body["turn_list"]
    assert [(v["text"], v["mark"]) for v in shown["violations"]] == [("No hammer.", "repeated")]
    (dimension,) = shown["dimensions"]
    assert (dimension["dimension"], dimension["mean"]) == ("feasibility", 4.0)
    assert [s["value"] for s in dimension["scores"]] == [4.0, None]
    assert dimension["scores"][1]["reason"] == "no answer"
    (row,) = api.get("/trajectories").json()["items"]
    assert (row["mean_score"], row["missing_scores"]) == (4.0, 1)


def test_trajectories_are_narrowed_as_on_the_page(api: Caller) -> None:
    valid = TrajectoryFactory()
    failed = TrajectoryFactory(status="failed", termination="", metrics={}, turn_count=0)
    pending = TrajectoryFactory(status="pending", termination="", metrics={}, turn_count=0)

    def ids(**query: Any) -> list[int]:
        return [row["id"] for row in api.get("/trajectories", **query).json()["items"]]

    assert ids() == [failed.pk, valid.pk]
    assert ids(order="oldest") == [valid.pk, failed.pk]
    assert ids(end=["pending", "failed"]) == [pending.pk, failed.pk]
    assert ids(end="valid_plan", valid="yes") == [valid.pk]
    assert ids(run=valid.run_id) == [valid.pk]
    assert ids(min_turns=1) == [valid.pk]
    assert ids(q=failed.task.external_id) == [failed.pk]


def test_oldest_first_goes_on_in_that_order(api: Caller) -> None:
    made = [row.pk for row in TrajectoryFactory.create_batch(3)]
    first = api.get("/trajectories", order="oldest", limit=2).json()
    second = api.get(first["next"].removeprefix(api.BASE)).json()
    assert [row["id"] for row in first["items"] + second["items"]] == made
    assert second["next"] is None


def test_the_log_in_pages_and_by_turn(api: Caller, played: Run) -> None:
    row = played.trajectories.filter(turn_count__gt=1).first()
    assert row is not None
    url = f"/trajectories/{row.pk}/exchanges"
    whole = api.get(url, limit=100).json()
    assert whole["next"] is None
    assert len(whole["items"]) == row.exchanges.count()
    assert whole["items"][0]["role"] == "agent"
    assert whole["items"][0]["messages"][0]["speaker"] == "system"
    pages = api.get(url, limit=3).json()
    rest = api.get(pages["next"].removeprefix(api.BASE)).json()
    assert [e["id"] for e in pages["items"] + rest["items"]] == [
        e["id"] for e in whole["items"][:6]
    ]
    first = api.get(url, turn=1).json()["items"]
    assert 0 < len(first) < len(whole["items"])
    assert api.get(url, turn=99).json()["items"] == []


class TestScores:
    def test_rows_and_csv_are_the_same(self, api: Caller, played: Run) -> None:
        rows, path = [], f"/scores?run={played.pk}&limit=50"
        while path:
            body = api.get(path).json()
            rows += body["items"]
            path = (body["next"] or "").removeprefix(api.BASE)
        assert len(rows) == JudgeScore.objects.count() > 50  # more than a page
        response = api.get(f"/scores.csv?run={played.pk}")
        assert response["Content-Type"] == "text/csv; charset=utf-8"
        table = list(csv.DictReader(io.StringIO(body_of(response).decode())))
        assert [int(line["id"]) for line in table] == [row["id"] for row in rows]
        assert list(table[0]) == list(rows[0])
        assert [float(line["value"]) for line in table] == [row["value"] for row in rows]

    def test_undefined_is_null_and_empty(self, api: Caller) -> None:
        score = JudgeScoreFactory(value=None, reason="=cmd()")
        (row,) = api.get("/scores", trajectory=score.trajectory_id).json()["items"]
        assert (row["value"], row["reason"]) == (None, "=cmd()")
        text = body_of(api.get(f"/scores.csv?trajectory={score.trajectory_id}")).decode()
        (line,) = csv.DictReader(io.StringIO(text))
        assert (line["value"], line["reason"]) == ("", "'=cmd()")  # no formula for spreadsheets

    def test_narrowing(self, api: Caller, error_of: Any) -> None:
        kept, other = JudgeScoreFactory(dimension="safety"), JudgeScoreFactory()
        both = f"/scores?run={kept.run_id}&run={other.run_id}"
        assert len(api.get(both).json()["items"]) == 2
        assert [r["id"] for r in api.get(f"{both}&dimension=safety").json()["items"]] == [kept.pk]
        JudgeScore.objects.filter(pk=other.pk).update(is_final=False)
        assert [r["id"] for r in api.get(f"{both}&final=true").json()["items"]] == [kept.pk]
        assert error_of(api.get("/scores")) == (422, "invalid", "run")
        assert error_of(api.get("/scores.csv")) == (422, "invalid", "run")

    def test_only_of_the_judging_that_the_run_calls_its_own(self, api: Caller) -> None:
        from benchmarks.models import Judging

        score = JudgeScoreFactory()
        other = JudgeScoreFactory(
            turn=score.turn, judging=Judging.objects.create(run=score.run, name="again")
        )
        rows = api.get("/scores", run=score.run_id).json()["items"]
        assert [row["id"] for row in rows] == [score.pk]
        rows = api.get("/scores", run=score.run_id, every_judging="true").json()["items"]
        assert [row["id"] for row in rows] == [score.pk, other.pk]


class TestExports:
    def get(self, api: Caller, run: Run, format: str) -> bytes:
        response = api.get(f"/runs/{run.pk}/export", format=format)
        assert response.streaming
        assert f"run-{run.pk}" in response["Content-Disposition"]
        return body_of(response)

    def test_lines_of_chat_are_what_our_importer_reads(
        self, api: Caller, played: Run, tmp_path: Any
    ) -> None:
        data = self.get(api, played, "openai-chat")
        rows = [json.loads(line) for line in data.splitlines()]
        assert [row["model"] for row in rows] == ["Explorer"] * 3
        path = tmp_path / "run.jsonl"
        path.write_bytes(data)
        assert check_file(path, "openai-chat").trajectories == 3

    def test_archives_are_sound(self, api: Caller, played: Run) -> None:
        with zipfile.ZipFile(io.BytesIO(self.get(api, played, "atif"))) as archive:
            assert archive.testzip() is None
            assert archive.namelist() == ["000001.json", "000002.json", "000003.json"]
            assert json.loads(archive.read("000001.json"))["schema_version"].startswith("ATIF-")
        with zipfile.ZipFile(io.BytesIO(self.get(api, played, "huggingface"))) as archive:
            assert archive.testzip() is None
            assert archive.namelist() == [
                "README.md", "trajectories.jsonl", "codebook.csv", ".zenodo.json",
                "schemas/trajectory-row.v1.json", "SHA256SUMS",
            ]  # fmt: skip
            lines = archive.read("trajectories.jsonl").splitlines()
        assert lines == self.get(api, played, "openai-chat").splitlines()

    def test_an_empty_run_is_an_empty_export(self, api: Caller) -> None:
        assert self.get(api, RunFactory(), "openai-chat") == b""

    def test_other_formats_are_refused(self, api: Caller, played: Run, error_of: Any) -> None:
        response = api.get(f"/runs/{played.pk}/export", format="excel")
        assert error_of(response) == (422, "invalid", "format")


@pytest.mark.parametrize(
    ("path", "budget"),
    [("/runs", 6), ("/trajectories", 6), ("/agents", 5), ("/datasets", 5), ("/imports", 5),
     ("/studies", 3)],
)  # fmt: skip
def test_lists_take_no_query_more_for_more_rows(api: Caller, path: str, budget: int) -> None:
    """The token with its user, two for permissions, hidden and deleted runs, rows and parts."""

    def cost() -> int:
        with CaptureQueriesContext(connection) as found:
            assert api.get(path).status_code == 200
        return len(found)

    JudgeScoreFactory()
    api.get(path)  # notes the use of the token
    few = cost()
    for _ in range(4):
        JudgeScoreFactory()
        Job.objects.create(kind=IMPORT, title="Importing", payload={"result": {"runs": []}})
    assert cost() == few
    assert few <= budget

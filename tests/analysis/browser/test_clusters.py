"""Clusters of failures that a model names: caps, resuming, evidence, edits, and who may do what."""

import json
from typing import Any

import pytest
from django.core.cache import caches
from django.test import Client

from analysis.browser.clusters import episode as protocol
from analysis.browser.clusters.edits import Edit, EditRefused, current_clusters
from analysis.browser.clusters.services import (
    ClusteringError,
    edit_clusters,
    edits_of,
    failure_texts,
    recompute,
    resume_clustering,
    start_clustering,
)
from analysis.models import ClusterCall, ClusterEdit, FailureClustering
from benchmarks.calls.use import use_of_calls
from benchmarks.core.errors import UnreadableReply
from benchmarks.endpoints.administration import bind_key
from benchmarks.endpoints.services import CapError, create_endpoint
from benchmarks.jobs.services import cancel_job, perform
from benchmarks.models import Endpoint, Job, Trajectory, Turn
from devtools.fake_endpoint.server import FakeServer
from tests.analysis.rows import make_person
from tests.benchmarks.conftest import serve, server  # noqa: F401
from tests.factories.benchmarks import AgentFactory, RunFactory, TrajectoryFactory, TurnFactory

pytestmark = pytest.mark.django_db
LEAK = "Put a bucket under the leaking pipe."


@pytest.fixture(autouse=True)
def _clean(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("benchmarks.jobs.wake_up.wake_for_job", lambda job_id: None)
    caches["kept"].clear()


@pytest.fixture
def endpoint(server: FakeServer) -> Endpoint:  # noqa: F811
    return create_endpoint(
        name="reader", title="Reader 70B", base_url=server.base_url, model="fake", price_in=1,
        price_out=3, parameters={"max_tokens": 800}, simulated=True,
    )  # fmt: skip


@pytest.fixture
def failures() -> list[int]:
    """Twelve failures of three kinds: seven stop early, four run out of turns, one gives up."""
    run = RunFactory(agent=AgentFactory(title="Plumber"))
    ids = []
    for number, ending in enumerate(["early_stop"] * 7 + ["max_turns"] * 4 + ["quit"]):
        row = TrajectoryFactory(
            run=run, metrics={"valid": 1.0, "accurate": 0.0}, termination=ending, turn_count=2
        )
        TurnFactory(trajectory=row, index=1, text="Look around.", feedback="Too slow.")
        TurnFactory(trajectory=row, index=2, text=f"{LEAK} Then wait {number} hours.", feedback="")
        ids.append(row.pk)
    return ids


def begin(ids: list[int], endpoint: Endpoint, **given: Any) -> FailureClustering:
    given = {"token_cap": 1_000_000, "query": "", **given}
    return start_clustering(trajectories=ids, endpoint=endpoint, **given)


def carry(row: FailureClustering) -> FailureClustering:
    assert row.job is not None
    perform(job_id=row.job.pk, owner="test")
    return FailureClustering.objects.get(pk=row.pk)


class TestNaming:
    def test_a_model_names_clusters_with_evidence(
        self, failures: list[int], endpoint: Endpoint
    ) -> None:
        done = carry(begin(failures, endpoint))
        assert (done.state, done.problem) == ("done", "")
        assert done.result is not None
        assert [len(row["members"]) for row in done.result["clusters"]] == [7, 4, 1]
        assert done.result["clusters"][0]["members"] == failures[:7]
        note = done.result["notes"][str(failures[0])]
        assert note["turn"] == 2 and note["quoted"] and note["quote"].endswith("wait 0 hours.")
        # 12 failures, six at a time, and one call to group them
        calls = list(done.calls.values_list("step", "slot", "state"))
        assert calls == [(0, 0, "answered"), (0, 1, "answered"), (1, 0, "answered")]
        use = use_of_calls(done.calls.all(), done.currency)
        assert use.cost is not None and done.committed == pytest.approx(use.cost)
        assert 0 < use.tokens == done.committed_tokens
        assert recompute(done) == ""
        ClusterCall.objects.filter(step=1).update(value=[], text='{"clusters": []}')
        assert "other clusters" in recompute(done)

    def test_a_quote_that_is_not_there_is_no_evidence(self) -> None:
        one = protocol.FailureText(5, "text", {3: "Mop  the FLOOR twice."})
        for quote, turn, stands in (
            ("“mop the floor…”", 3, True), ("mop the roof", 3, False),
            ("mop the floor", 4, False), ("", 3, False),
        ):  # fmt: skip
            note = protocol._note({"cause": "c", "turn": turn, "quote": quote}, one)
            assert note["quoted"] is stands

    def test_what_the_model_reads(self, failures: list[int]) -> None:
        Turn.objects.filter(trajectory=failures[0], index=2).update(text="x" * 5000)
        (text, *_) = failure_texts(failures)
        assert "Ended: " in text.text and "Feedback: Too slow." in text.text
        assert len(text.text) < 2500 and "[…]" in text.text
        assert list(text.turns) == [1, 2]

    @pytest.mark.parametrize(
        ("kind", "reply", "why"),
        [
            ("notes", {"failures": []}, "missing on F1, F2"),
            ("notes", {"failures": [{"id": "F9", "cause": "c", "turn": 1}]}, "no failure 'F9'"),
            ("notes", {"failures": [{"id": "F1", "cause": "c", "turn": "x"}]}, "no whole number"),
            ("notes", {"failures": [{"id": "F1", "cause": " ", "turn": 1}]}, "is no text"),
            ("notes", {"failures": "all"}, "no list of objects"),
            ("clusters", {"clusters": []}, "no cluster"),
            ("clusters", {"clusters": [{"name": "a", "members": ["F3"]}]}, "no failure 'F3'"),
            ("clusters", {"clusters": [{"name": "a", "members": [["F1"]]}]}, "no failure"),
            (
                "clusters",
                {"clusters": [{"name": "a", "members": ["F1"]}, {"name": "b", "members": ["F1"]}]},
                "two clusters",
            ),
            (
                "clusters",
                {"clusters": [{"name": "a", "members": ["F1"]}, {"name": "A", "members": ["F2"]}]},
                "same name",
            ),
        ],
    )
    def test_replies_that_cannot_be_read(self, kind: str, reply: Any, why: str) -> None:
        read = protocol.read_notes if kind == "notes" else protocol.read_clusters
        with pytest.raises(UnreadableReply, match=why):
            read(json.dumps(reply), {"ids": ["F1", "F2"], "most": 2})

    def test_a_model_that_writes_nonsense_leaves_no_clusters(
        self, failures: list[int], endpoint: Endpoint
    ) -> None:
        Endpoint.objects.update(model="garbage")
        endpoint.refresh_from_db()
        done = carry(begin(failures, endpoint))
        assert done.state == "done" and done.result is not None
        assert done.result["clusters"] == [] and done.result["unread"] == failures
        assert "could not be read" in done.problem
        assert done.calls.count() == 6  # three attempts at each of two batches


class TestCaps:
    def test_a_cap_on_tokens_stops_before_the_call_and_a_higher_one_goes_on(
        self, failures: list[int], endpoint: Endpoint
    ) -> None:
        stopped = carry(begin(failures, endpoint, token_cap=100))
        assert stopped.state == "capped" and "cap of 100 tokens" in stopped.problem
        assert not stopped.calls.exists()
        # enough for both first calls, which put their most aside, and not for the third
        resume_clustering(clustering=stopped, token_cap=5000)
        halfway = carry(FailureClustering.objects.get())
        first = list(halfway.calls.values_list("pk", "step"))
        if halfway.state == "capped":
            resume_clustering(clustering=halfway, token_cap=1_000_000)
            halfway = carry(FailureClustering.objects.get())
        assert halfway.state == "done"
        assert list(halfway.calls.values_list("pk", "step"))[: len(first)] == first

    def test_a_cap_on_money_is_kept(self, failures: list[int], endpoint: Endpoint) -> None:
        stopped = carry(begin(failures, endpoint, token_cap=None, cost_cap=0.0001))
        assert stopped.state == "capped" and "of 0.0001 used under the cost cap" in stopped.problem
        resume_clustering(clustering=stopped, cost_cap=5)
        assert carry(FailureClustering.objects.get()).state == "done"
        with pytest.raises(ClusteringError, match="there already"):
            resume_clustering(clustering=FailureClustering.objects.get(), cost_cap=5)

    def test_what_cannot_be_capped_is_refused(
        self, failures: list[int], endpoint: Endpoint
    ) -> None:
        with pytest.raises(ClusteringError, match="give a cap"):
            begin(failures, endpoint, token_cap=None)
        with pytest.raises(ClusteringError, match="4 to 200 failures"):
            begin(failures[:3], endpoint)
        Endpoint.objects.update(parameters={}, price_in=None)
        endpoint.refresh_from_db()
        with pytest.raises(ClusteringError, match="needs a max_tokens"):
            begin(failures, endpoint)
        with pytest.raises(CapError, match="input price"):
            begin(failures, endpoint, token_cap=None, cost_cap=1)
        assert not Job.objects.exists()

    def test_a_key_of_other_people_is_refused(
        self, failures: list[int], endpoint: Endpoint
    ) -> None:
        Endpoint.objects.update(key_variable="PLANJURY_KEY_X")
        endpoint.refresh_from_db()
        bind_key(
            variable="PLANJURY_KEY_X", host=endpoint.base_url.split("/")[2], users=[], shared=False,
            by=None,
        )  # fmt: skip
        with pytest.raises(Exception, match="kept for other people"):
            begin(failures, endpoint, created_by=make_person("rob", "view_results", "start_runs"))

    def test_a_killed_worker_leaves_its_calls_to_the_next(
        self, failures: list[int], endpoint: Endpoint
    ) -> None:
        done = carry(begin(failures, endpoint))
        result = done.result
        # As a worker leaves it that died with the second call under way.
        done.calls.filter(step=1).delete()
        done.calls.filter(slot=1).update(state="sent", value=None, text="", cost=None)
        FailureClustering.objects.update(state="working", result=None)
        cancel_job(job=done.job)  # type: ignore[arg-type]
        resume_clustering(clustering=done, token_cap=1_000_000)
        again = carry(FailureClustering.objects.get())
        assert again.state == "done" and again.result == result
        states = list(again.calls.values_list("step", "slot", "attempt", "state"))
        assert states == [
            (0, 0, 1, "answered"), (0, 1, 1, "lost"), (0, 1, 2, "answered"), (1, 0, 1, "answered"),
        ]  # fmt: skip

    def test_another_model_behind_the_name_is_refused(
        self, failures: list[int], endpoint: Endpoint
    ) -> None:
        row = begin(failures, endpoint)
        Endpoint.objects.update(model="other")
        assert "is not what it was" in carry(row).problem


RESULT = {
    "clusters": [
        {"name": "Stops early", "description": "d", "members": [1, 2, 3]},
        {"name": "Gives up", "description": "", "members": [4, 5]},
    ]
}
KNOWN = [1, 2, 3, 4, 5, 6]


def after(*edits: tuple[str, dict[str, Any]]) -> dict[str, tuple[int, ...]]:
    rows = [Edit(number, kind, detail) for number, (kind, detail) in enumerate(edits, 1)]
    return {c.name: c.members for c in current_clusters(RESULT, KNOWN, rows)}


class TestEdits:
    def test_what_people_can_do(self) -> None:
        assert after(("rename", {"cluster": "m1", "name": "Too early"})) == {
            "Too early": (1, 2, 3), "Gives up": (4, 5),
        }  # fmt: skip
        assert after(("move", {"trajectories": [3, 6], "to": "m2"})) == {
            "Stops early": (1, 2), "Gives up": (4, 5, 3, 6),
        }  # fmt: skip
        assert after(("move", {"trajectories": [4, 5], "to": ""})) == {"Stops early": (1, 2, 3)}
        assert after(("merge", {"cluster": "m2", "into": "m1"})) == {"Stops early": (1, 2, 3, 4, 5)}
        split = ("split", {"trajectories": [2, 4], "name": "New"})
        assert after(split) == {"Stops early": (1, 3), "Gives up": (5,), "New": (2, 4)}
        assert after(split, ("rename", {"cluster": "e1", "name": "Newer"}))["Newer"] == (2, 4)
        assert after(split, ("undo", {"edit": 1})) == after()

    @pytest.mark.parametrize(
        ("kind", "detail", "why"),
        [
            ("rename", {"cluster": "m1", "name": "gives UP"}, "another cluster is called"),
            ("rename", {"cluster": "m1", "name": " "}, "give a name"),
            ("rename", {"cluster": "m1", "name": "x" * 81}, "at most 80"),
            ("rename", {"cluster": "m9", "name": "x"}, "no such cluster"),
            ("merge", {"cluster": "m1", "into": "m1"}, "choose another"),
            ("merge", {"cluster": "m1", "into": ""}, "no such cluster"),
            ("move", {"trajectories": [], "to": "m1"}, "mark the trajectories"),
            ("move", {"trajectories": [7], "to": "m1"}, "not among these"),
            ("split", {"trajectories": [1], "name": "Gives up"}, "another cluster"),
            ("erase", {"trajectories": [1]}, "no such edit"),
        ],
    )
    def test_what_does_not_fit_is_refused(self, kind: str, detail: Any, why: str) -> None:
        with pytest.raises(EditRefused, match=why):
            after((kind, detail))

    def test_edits_are_added_and_the_model_is_kept(
        self, failures: list[int], endpoint: Endpoint
    ) -> None:
        ana = make_person("ana", "view_results", "start_runs")
        done = carry(begin(failures, endpoint))
        edit_clusters(clustering=done, kind="rename", detail={"cluster": "m1", "name": "A"}, by=ana)
        edit_clusters(clustering=done, kind="undo", detail={}, by=ana)
        with pytest.raises(EditRefused, match="nothing to undo"):
            edit_clusters(clustering=done, kind="undo", detail={}, by=ana)
        with pytest.raises(EditRefused):
            edit_clusters(clustering=done, kind="rename", detail={"cluster": "m1"}, by=ana)
        assert [edit.kind for edit in edits_of(done)] == ["rename", "undo"]
        before = done.result
        done.refresh_from_db()
        assert done.result == before and recompute(done) == ""


class TestPages:
    @pytest.fixture
    def ana(self, client: Client) -> Client:
        client.force_login(make_person("ana", "view_results", "start_runs"))
        return client

    def test_from_the_topics_to_edited_clusters(
        self, ana: Client, failures: list[int], endpoint: Endpoint
    ) -> None:
        shown = ana.get("/trajectories/groups/").content.decode()
        assert "Name clusters of 12 failures" in shown
        given = {"endpoint": endpoint.pk, "most_clusters": "8", "token_cap": "1000000"}
        answer = ana.post("/trajectories/clusters/new/?among=failed", given)
        row = FailureClustering.objects.get()
        assert answer["Location"] == f"/trajectories/clusters/{row.pk}/"
        page = answer["Location"]
        assert (
            "Waiting" in ana.get(page).content.decode()
            or "reads the failures" in ana.get(page).content.decode()
        )
        assert ana.get(f"{page}progress/").status_code == 200
        carry(row)
        over = ana.get(f"{page}progress/")
        assert (over.status_code, over.headers["HX-Refresh"]) == (286, "true")
        shown = ana.get(page).content.decode()
        assert "Reader 70B names 3 clusters in 12 failures" in shown
        assert "A program made these clusters up" in shown  # the fake endpoint is simulated
        assert f'/trajectories/{failures[0]}/?turn=2#turn-2"' in shown
        assert "<blockquote>" in shown and "wait 0 hours." in shown
        ana.post(page, {"do": "rename", "cluster": "m1", "name": "Stops <b>early</b>"})
        ana.post(page, {"do": "split", "trajectory": failures[7:9], "name": "Two of them"})
        ana.post(page, {"do": "merge", "cluster": "m3", "to": "m2"})
        ana.post(page, {"do": "move", "trajectory": failures[0], "to": ""})
        shown = ana.get(page).content.decode()
        assert "Stops &lt;b&gt;early&lt;/b&gt;" in shown and "<b>early" not in shown
        assert "by a person" in shown and "4 changes by people" in shown
        assert "and people name 3 clusters" in shown and "1 is in none" in shown
        as_named = ana.get(f"{page}?as=model").content.decode()
        assert "Two of them" not in as_named.split("changes by people")[0]
        ana.post(page, {"do": "undo"})
        assert ClusterEdit.objects.count() == 5
        assert "(undone)" in ana.get(page).content.decode()
        told = ana.post(page, {"do": "recompute"}, follow=True).content.decode()
        assert "The stored replies give the same clusters" in told
        listed = ana.get(f"/trajectories/?ids={failures[0]},{failures[1]}").content.decode()
        assert "<strong>2</strong> of 12" in listed
        assert "Reader 70B" in ana.get("/trajectories/groups/").content.decode()

    def test_the_endpoints_page_has_the_cost(
        self, ana: Client, failures: list[int], endpoint: Endpoint
    ) -> None:
        part = f"/endpoints/{endpoint.pk}/clusters/"
        assert part in ana.get(f"/endpoints/{endpoint.pk}/").content.decode()
        assert "in no run" not in ana.get(part).content.decode()
        use = use_of_calls(carry(begin(failures, endpoint)).calls.all(), "USD")
        shown = ana.get(part).content.decode()
        assert f"<dd>{use.calls}, in no run" in shown and "USD" in shown and use.cost

    def test_who_may_what(self, client: Client, failures: list[int], endpoint: Endpoint) -> None:
        row = carry(begin(failures, endpoint))
        page = f"/trajectories/clusters/{row.pk}/"
        assert client.get(page).status_code == 302
        client.force_login(make_person("nobody"))
        assert client.get(page).status_code == 403
        client.force_login(make_person("reader", "view_results"))
        shown = client.get(page).content.decode()
        assert "Rename" not in shown and "clusters in 12 failures" in shown
        assert client.post(page, {"do": "undo"}).status_code == 403
        assert client.post("/trajectories/clusters/new/", {}).status_code == 403
        assert client.get("/trajectories/clusters/999/").status_code == 404

    def test_hidden_trajectories_hide_their_clusters(
        self, ana: Client, failures: list[int], endpoint: Endpoint, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        from benchmarks import visibility

        row = carry(begin(failures, endpoint))
        run = Trajectory.objects.get(pk=failures[0]).run_id
        hides = lambda user: visibility.ClosedRows(runs=[run])  # noqa: E731
        monkeypatch.setattr(visibility, "_rules", [hides])
        assert ana.get(f"/trajectories/clusters/{row.pk}/").status_code == 404
        assert (
            f"/trajectories/clusters/{row.pk}/"
            not in ana.get("/trajectories/groups/").content.decode()
        )

    def test_a_cap_is_told_and_raised_on_the_page(
        self, ana: Client, failures: list[int], endpoint: Endpoint
    ) -> None:
        row = carry(begin(failures, endpoint, token_cap=100))
        page = f"/trajectories/clusters/{row.pk}/"
        assert "Stopped at its cap" in ana.get(page).content.decode()
        ana.post(page, {"do": "resume", "token_cap": "1000000"})
        assert carry(FailureClustering.objects.get()).state == "done"

"""The list of runs, one run, its progress, and what can be done with it."""

import re
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from benchmarks.core.registry import find_system
from benchmarks.models import Run, Trajectory
from benchmarks.pages import runs as views
from benchmarks.runs.selectors import MetricFigure, run_metrics
from tests.factories.benchmarks import (
    AgentFactory,
    RunFactory,
    TrajectoryFactory,
    play,
    start_sample_runs,
)

R, S = Run.Status, Trajectory.Status


def text_of(client: Client, name: str, *args: int, **query: Any) -> str:
    return client.get(reverse(f"benchmarks:{name}", args=args), query).content.decode()


def test_an_empty_list_says_what_a_run_is(researcher: Client, reader: Client) -> None:
    assert "Start runs" in text_of(researcher, "run_list")
    page = text_of(reader, "run_list")
    assert "No runs yet" in page
    assert "/runs/new/" not in page


def test_the_list_is_narrowed_by_what_runs_differ_in(researcher: Client) -> None:
    agent = AgentFactory(title="Some agent")
    wanted = RunFactory(agent=agent, level="mid", condition="tracking=True", status=R.PAUSED)
    other = RunFactory()
    for query in (
        {"agent": agent.pk},
        {"dataset": wanted.dataset_id},
        {"level": "mid"},
        {"condition": "tracking=True"},
        {"status": "paused"},
        {"experiment": wanted.experiment_id},
    ):
        rows = researcher.get(reverse("benchmarks:run_list"), query).context["rows"]
        assert [row.run.pk for row in rows] == [wanted.pk], query
    rows = researcher.get(reverse("benchmarks:run_list")).context["rows"]
    assert [row.run.pk for row in rows] == [other.pk, wanted.pk]


def test_a_choice_that_is_not_on_offer_is_named_and_left_out(researcher: Client) -> None:
    RunFactory()
    response = researcher.get(
        reverse("benchmarks:run_list"), {"agent": "x' or 1=1", "status": "lost", "experiment": "a"}
    )
    assert len(response.context["rows"]) == 1
    assert "Select a valid choice" in response.content.decode()


def test_chips_take_one_choice_away(researcher: Client) -> None:
    run = RunFactory(level="mid")
    page = text_of(researcher, "run_list", level="mid", agent=run.agent_id, status="")
    assert f'href="/runs/?agent={run.agent_id}"' in page
    assert 'href="/runs/?level=mid"' in page
    assert f"Agent: {run.agent.title}" in page
    assert "1 run, newest first" in page


def test_a_filter_that_finds_nothing_says_so(researcher: Client) -> None:
    RunFactory()
    assert "No run matches" in text_of(researcher, "run_list", status="paused")


def test_pages_of_runs_by_key(researcher: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(views, "ROWS", 2)
    runs = [RunFactory().pk for _ in range(5)]
    url = reverse("benchmarks:run_list")
    first = researcher.get(url).context["page"]
    second = researcher.get(url + first.next_url).context["page"]
    RunFactory()  # newer than what is being read: pages by key do not shift
    third = researcher.get(url + second.next_url).context["page"]
    seen = [run.pk for page in (first, second, third) for run in page.rows]
    assert seen == runs[::-1]
    assert (first.previous_url, third.next_url) == ("", "")
    back = researcher.get(url + third.previous_url).context["page"]
    assert [run.pk for run in back.rows] == [run.pk for run in second.rows]


def test_the_list_is_sorted_by_result_cost_and_failures(researcher: Client) -> None:
    """Runs without a value come last; pages go on in the same order."""
    results = {0.25: [1.0, 0.0, 0.0, 0.0], 1.0: [1.0, None], None: []}
    found = {}
    for place, (result, values) in enumerate(results.items()):
        run = found[result] = RunFactory(currency="EUR" if place else "", committed=5.0 - place)
        for value in values:
            TrajectoryFactory(run=run, status=S.DONE, metrics={"accurate": value})
        for _ in range(place):
            TrajectoryFactory(run=run, status=S.FAILED)
    url = reverse("benchmarks:run_list")

    def listed(**query: Any) -> list[float | None]:
        rows = researcher.get(url, query).context["rows"]
        assert [found[row.result] for row in rows] == [row.run for row in rows]
        return [row.result for row in rows]

    assert listed(order="best") == [1.0, 0.25, None]
    assert listed(order="worst") == [0.25, 1.0, None]
    assert listed(order="most-failed") == [None, 1.0, 0.25]
    assert listed(order="dearest") == [1.0, None]  # the first has no price
    assert listed(order="cheapest") == [None, 1.0]
    assert listed(order="by name") == [None, 1.0, 0.25]  # the newest first
    page = text_of(researcher, "run_list", order="best")
    assert "3 runs, best result first" in page
    assert 'aria-sort="descending"' in page
    assert "25.0 %" in page
    assert "Acc" in page


def test_pages_of_sorted_runs(researcher: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(views, "ROWS", 2)
    runs = [RunFactory(currency="EUR", committed=float(cost)) for cost in range(5)]
    url = reverse("benchmarks:run_list")
    seen, address = [], "?order=cheapest"
    while address:
        page = researcher.get(url + address).context["page"]
        seen += list(page.rows)
        address = page.next_url
    assert seen == runs
    assert page.previous_url == "?order=cheapest&page=2"
    for number in ("0", "x", "9" * 18):
        assert researcher.get(url, {"order": "cheapest", "page": number}).status_code == 200


def test_the_result_in_the_list_is_that_of_the_run(researcher: Client, played: Run) -> None:
    (row,) = researcher.get(reverse("benchmarks:run_list")).context["rows"]
    assert row.result == run_metrics(played)["metrics"]["accurate"]["value"]


def test_the_list_renews_itself_while_a_run_is_under_way(researcher: Client) -> None:
    run = RunFactory(status=R.RUNNING)
    assert 'hx-trigger="every 3s"' in text_of(researcher, "run_list")
    Run.objects.filter(pk=run.pk).update(status=R.DONE)
    assert 'hx-trigger="every 3s"' not in text_of(researcher, "run_list")


def test_what_runs_are_made_of_stands_in_a_second_bar(researcher: Client) -> None:
    for name in ("run", "experiment", "dataset", "agent", "endpoint", "judge"):
        page = text_of(researcher, f"{name}_list")
        (current,) = re.findall(r'<a href="([^"]*)" aria-current="page">', page.split("subnav")[1])
        assert current == reverse(f"benchmarks:{name}_list")
        assert re.search(r'<a href="/runs/" aria-current="(page|true)">Runs</a>', page)
    assert "subnav" not in researcher.get(reverse("analysis:index")).content.decode()


@pytest.mark.parametrize("key", ["x", "-1", "9" * 40, "1e3", "٣"])
def test_a_key_that_is_none_is_ignored(researcher: Client, key: str) -> None:
    RunFactory()
    for name in ("after", "before"):
        response = researcher.get(reverse("benchmarks:run_list"), {name: key})
        assert len(response.context["rows"]) == 1


def test_queries_of_the_list_do_not_grow_with_rows(
    researcher: Client, django_assert_max_num_queries: Any
) -> None:
    for _ in range(12):
        TrajectoryFactory()
    with django_assert_max_num_queries(14):  # one reads the columns
        researcher.get(reverse("benchmarks:run_list"))


def test_the_page_of_a_run_tells_what_came_of_it(researcher: Client, played: Run) -> None:
    page = text_of(researcher, "run", played.pk)
    for words in (
        "Explorer", "3 of 3 done", "n = 3", "Valid plan", "Scripted world judge", "Strict judge",
        "Demo data", "agent.v1.txt", "The other early-stop rule changes no ending", "patience",
    ):  # fmt: skip
        assert words in page, words
    assert "Pause" not in page


def test_what_is_undefined_says_why(researcher: Client) -> None:
    why = "the pool of recorded answers ran out before the trajectory ended"
    run = RunFactory(
        roles={
            "agent": [{"kind": "scripted", "policy": "bard", "label": "recorded"}],
            "world_judge": [{"kind": "scripted", "policy": "x", "label": "lexicon"}],
        }
    )
    TrajectoryFactory(
        run=run, termination="pool_exhausted", metrics={"valid": None, "turns": 2},
        undefined={"valid": why},
    )  # fmt: skip
    page = text_of(researcher, "run", run.pk)
    assert f"undefined: 1 left out: {why}" in page
    assert "Pool ran dry" in page
    assert "Recorded answers · Lexicon judges" in page


def test_the_refinement_curve(researcher: Client) -> None:
    run = RunFactory()
    states = [{"valid": True, "passed": False}, {"valid": True, "passed": True}]
    TrajectoryFactory(run=run, metrics={"valid": 1.0}, payload={"states": states})
    page = text_of(researcher, "run", run.pk)
    assert "After extra turns of refinement" in page


def test_an_imported_run_of_an_unknown_system(researcher: Client) -> None:
    run = RunFactory(
        dataset__system="no-system",
        kind="imported",
        roles={},
        pins={},
        settings={},
        source="a.json",
    )
    TrajectoryFactory(run=run, metrics={}, profile=None)
    assert "a.json" in text_of(researcher, "run", run.pk)
    assert "No results yet" in text_of(researcher, "run", run.pk)


def test_failures_come_first_with_reason_and_remedy(researcher: Client, reader: Client) -> None:
    run = RunFactory(status=R.ATTENTION)
    failed = TrajectoryFactory(run=run, status=S.FAILED, problem="the endpoint <b>was</b> gone")
    doubtful = TrajectoryFactory(run=run, status=S.DECISION, problem="step 3 differs")
    page = text_of(researcher, "run", run.pk)
    assert "the endpoint &lt;b&gt;was&lt;/b&gt; gone" in page
    assert reverse("benchmarks:trajectory_retry", args=[failed.pk]) in page
    assert reverse("benchmarks:trajectory_restart", args=[doubtful.pk]) in page
    assert "Continue" in page
    assert "Retry" not in text_of(reader, "run", run.pk)


class TestProgress:
    def url(self, run: Run) -> str:
        return reverse("benchmarks:run_progress", args=[run.pk])

    def test_nothing_moved(self, researcher: Client) -> None:
        (run,) = start_sample_runs()
        version = researcher.get(self.url(run)).context["version"]
        response = researcher.get(self.url(run), {"v": version})
        assert (response.status_code, response.content) == (204, b"")

    def test_it_asks_again_while_the_run_moves(self, researcher: Client) -> None:
        (run,) = start_sample_runs()
        response = researcher.get(self.url(run), {"v": "old"})
        assert response.status_code == 200
        assert "every 1s" in response.content.decode()
        assert "0 of 3 done" in response.content.decode()
        assert "<html" not in response.content.decode()

    def test_the_end_stops_the_asking_and_brings_the_results(
        self, researcher: Client, played: Run
    ) -> None:
        response = researcher.get(self.url(played))
        assert response.status_code == 286
        assert response["HX-Trigger"] == "run-ended"
        assert "every 1s" not in response.content.decode()
        part = researcher.get(
            reverse("benchmarks:run", args=[played.pk]), headers={"HX-Request": "true"}
        ).content.decode()
        assert 'id="run-report"' in part and "<html" not in part

    def test_rate_and_time_left(self, researcher: Client) -> None:
        (run,) = start_sample_runs()
        play(run)
        Run.objects.filter(pk=run.pk).update(status=R.RUNNING, finished_at=None)
        first = run.trajectories.first()
        Trajectory.objects.filter(pk=getattr(first, "pk", 0)).update(status=S.PENDING)
        page = researcher.get(self.url(run)).content.decode()
        assert "2 of 3 done" in page
        assert "a minute, about" in page

    def test_queries(self, researcher: Client, django_assert_max_num_queries: Any) -> None:
        (run,) = start_sample_runs()
        with django_assert_max_num_queries(7):
            researcher.get(self.url(run))


class TestChanges:
    def test_pause_resume_cancel_without_scripts(self, researcher: Client) -> None:
        (run,) = start_sample_runs()
        page = reverse("benchmarks:run", args=[run.pk])
        for name, status in (("pause", R.PAUSED), ("resume", R.QUEUED), ("cancel", R.CANCELLED)):
            response = researcher.post(reverse(f"benchmarks:run_{name}", args=[run.pk]))
            assert (response.status_code, response["Location"]) == (302, page)
            run.refresh_from_db()
            assert run.status == status
        assert "Finished trajectories are kept" in text_of(researcher, "run", run.pk)

    def test_a_change_that_comes_too_late_says_so(self, researcher: Client, played: Run) -> None:
        response = researcher.post(reverse("benchmarks:run_pause", args=[played.pk]), follow=True)
        assert "is done and cannot be paused" in response.content.decode()
        played.refresh_from_db()
        assert played.status == R.DONE

    def test_a_retry_returns_to_where_it_was_asked_for(self, researcher: Client) -> None:
        row = TrajectoryFactory(run__status=R.ATTENTION, status=S.FAILED)
        back = reverse("benchmarks:run", args=[row.run_id])
        url = reverse("benchmarks:trajectory_retry", args=[row.pk])
        assert researcher.post(url, {"next": back})["Location"] == back
        row.refresh_from_db()
        assert row.status == S.PENDING

    @pytest.mark.parametrize("next_", ["https://elsewhere.example/", "//elsewhere.example", "x:y"])
    def test_nobody_is_led_elsewhere(self, researcher: Client, next_: str) -> None:
        row = TrajectoryFactory(run__status=R.ATTENTION, status=S.FAILED)
        url = reverse("benchmarks:trajectory_retry", args=[row.pk])
        response = researcher.post(url, {"next": next_})
        assert response["Location"] == reverse("analysis:trajectory", args=[row.pk])

    def test_starting_anew_opens_the_new_attempt(self, researcher: Client) -> None:
        row = TrajectoryFactory(run__status=R.ATTENTION, status=S.DECISION)
        response = researcher.post(reverse("benchmarks:trajectory_restart", args=[row.pk]))
        fresh = Trajectory.objects.get(attempt=2)
        assert response["Location"] == reverse("analysis:trajectory", args=[fresh.pk])


def test_a_metric_without_values_says_so_of_a_run_that_has_ended() -> None:
    """Of an ADAPT run without a fold no persona counts as seen, although all trajectories ended."""
    measure = find_system("adapt").labels.measures["satisfaction_seen"]
    figure = MetricFigure("satisfaction_seen", measure, None, 0, {})
    assert figure.why == "no trajectory that ended has a value"

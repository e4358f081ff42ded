"""Pages of PlanBench-XL: turns, walks, tasks, runs, lists and the form that starts runs."""

import re
from types import SimpleNamespace
from typing import Any

import pytest
from django.db import connection
from django.template.loader import render_to_string
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from analysis.browser.comparison.address import PORTION
from benchmarks.demo import save_demo_dataset, start_demo_runs
from benchmarks.models import Agent, Dataset, Run, Task, Trajectory, Turn
from benchmarks.roles.services import ensure_scripted_agents
from benchmarks.runs.services import start_runs
from benchmarks.systems.planbench_xl.demo import DEMO
from benchmarks.systems.planbench_xl.people import FormField, ToolFields
from benchmarks.systems.planbench_xl.settings import CONDITIONS
from tests.factories.benchmarks import TurnFactory, play

HOSTILE = "<script>alert('x')</script>"
TASK = "repaid-for-entry"
(NURSERY,) = DEMO


@pytest.fixture
def nursery(db: None) -> Dataset:
    return save_demo_dataset("planbench_xl", NURSERY)


def run_of(nursery: Dataset, agent: str, *tasks: str, **settings: Any) -> Run:
    """A run of a scripted agent, carried to its end."""
    ensure_scripted_agents()
    (run,) = start_runs(
        dataset=nursery,
        agents=[Agent.objects.get(name=agent)],
        settings={"condition": "blocker"} | settings,
        tasks=tasks or (TASK,),
        wake=False,
    )
    play(run)
    run.refresh_from_db()
    return run


def page(client: Client, row: Trajectory, **query: Any) -> str:
    response = client.get(reverse("analysis:trajectory", args=[row.pk]), query)
    assert response.status_code == 200
    return response.content.decode()


def with_turn(nursery: Dataset, text: str = "words", **payload: Any) -> Trajectory:
    """A trajectory that holds one turn with this payload and has not ended."""
    ensure_scripted_agents()
    (run,) = start_runs(
        dataset=nursery, agents=[Agent.objects.get(name="gullible")], tasks=[TASK], wake=False
    )
    row = run.trajectories.get()
    TurnFactory(trajectory=row, index=1, text=text, payload=payload, is_final=False)
    return row


class TestTrajectory:
    def test_everything_about_a_walk(self, researcher: Client, nursery: Dataset) -> None:
        row = run_of(nursery, "path-follower").trajectories.get()
        shown = page(researcher, row)
        for words in (
            "Tools that give “", "kinds were hidden", "noisy: ", "reliable, on a path",
            "look_up_", "Trusted", "Now known:", "Expected", "hidden from the agent", "Walk",
            "It holds the expected value", "Precision", "Recall", "Blocked here", "closes 5 of 6",
            "<title id=", 'role="img"', "The same as a table", "blocked",
        ):  # fmt: skip
            assert words in shown, words
        # what belongs to rubrics and constraints is not spoken of
        for words in ("Last plan", "repeated</span>", "<dt>Valid</dt>", "No judge scored"):
            assert words not in shown, words
        assert "<dt>Correct</dt>" in shown

    def test_a_gullible_agent_is_seen_to_be_misled(
        self, researcher: Client, nursery: Dataset
    ) -> None:
        row = run_of(nursery, "gullible").trajectories.get()
        shown = page(researcher, row)
        for words in ("Not trusted", "▲", "only unreliable values", "called, unreliable"):
            assert words in shown, words
        assert row.payload["result"]["failure"] == "target_datatype_not_reached"
        assert "Target datatype not reached." in shown
        assert "Noisy response adopted" in shown

    def test_step_by_step_without_script(self, researcher: Client, nursery: Dataset) -> None:
        row = run_of(nursery, "path-follower").trajectories.get()
        first = page(researcher, row, step=2)
        assert f"After step 2 of {row.turn_count}" in first
        assert 'href="?step=1#walk"' in first
        assert 'href="?step=3#walk"' in first
        calls = Turn.objects.filter(trajectory=row, payload__action="tool_call")
        found = sorted(call.index for call in calls)
        assert f"✓ step {found[-1]}" not in first
        whole = page(researcher, row)
        assert f"All {row.turn_count} steps" in whole
        for index in found:
            assert f"✓ step {index}" in whole
        assert page(researcher, row, step=row.turn_count).count("From the first step") == 1

    @pytest.mark.parametrize("step", ["0", "-1", "x", "99999999999", "²", "1e3", HOSTILE])
    def test_a_step_that_is_none_shows_all(
        self, researcher: Client, nursery: Dataset, step: str
    ) -> None:
        row = run_of(nursery, "path-follower").trajectories.get()
        shown = page(researcher, row, step=step)
        assert f"All {row.turn_count} steps" in shown
        assert HOSTILE not in shown

    @pytest.mark.parametrize(
        ("payload", "words"),
        [
            ({"action": "malformed", "category": "err_label", "attempt": 2, "of": 3},
             ["Malformed reply", "mistake 2 of 3 in a row", "exactly one action"]),
            ({"action": "retrieve_tools", "category": "err_retrieve_json"},
             ["malformed search", "no JSON object"]),
            ({"action": "tool_call", "category": "err_call_unavailable",
              "request": {"name": HOSTILE, "arguments": {HOSTILE: HOSTILE}}},
             ["unknown tool", "No search of this trajectory"]),
            ({"action": "tool_call", "category": "err_call_inputs", "untrusted": ["bill_number"],
              "missing": ["box_number"], "request": {"name": "x", "arguments": {}}},
             ["only unreliable tools gave (bill_number)", "not known yet (box_number)"]),
            ({"action": "retrieve_tools", "category": "retrieve_ok", "tools": [], "note":
              "no io match", "matched": {"output_information": "box_number"},
              "request": {"meta_tool": "by_io_info", "output_information": HOSTILE,
                          "input_information": ["a", "b"]}},
             ["No tool fits; the agent was told", "“a” and “b”", "box_number"]),
            ({"action": "final_answer", "category": "answer_retry", "request": HOSTILE,
              "correct": False, "reached": False, "untrusted_sources": ["noisy", "blocker"]},
             ["turned down", "does not hold the expected value", "noisy and blocking tools"]),
            ({}, ["Malformed reply"]),
        ],
    )  # fmt: skip
    def test_kinds_of_turns(
        self, researcher: Client, nursery: Dataset, payload: Any, words: list[str]
    ) -> None:
        shown = page(researcher, with_turn(nursery, HOSTILE, **payload))
        for one in words:
            assert one in shown, one
        assert HOSTILE not in shown
        assert "&lt;script&gt;" in shown

    def test_a_hundred_turns_ask_no_more_of_the_database(
        self, researcher: Client, nursery: Dataset
    ) -> None:
        row = run_of(nursery, "breadth-first").trajectories.get()
        assert row.turn_count > 20
        page(researcher, row)
        with CaptureQueriesContext(
            connection,
        ) as long:
            page(researcher, row)
        Turn.objects.filter(trajectory=row, index__gt=3).delete()
        with CaptureQueriesContext(connection) as short:
            page(researcher, row)
        assert len(long) == len(short) <= 25

    def test_side_by_side(self, researcher: Client, nursery: Dataset) -> None:
        rows = [run_of(nursery, name).trajectories.get() for name in ("path-follower", "gullible")]
        url = reverse("analysis:compare")
        shown = researcher.get(url, {"t": [row.pk for row in rows]}).content.decode()
        # Long ones come in portions.
        assert shown.count("As written") == sum(min(row.turn_count, PORTION) for row in rows)


class TestTask:
    def test_what_is_hidden_and_what_each_condition_blocks(
        self, researcher: Client, nursery: Dataset
    ) -> None:
        task = Task.objects.get(dataset=nursery, external_id=TASK)
        url = reverse("benchmarks:task", args=[task.pk])
        shown = researcher.get(url, {"condition": "blocker"}).content.decode()
        assert task.payload["correct_answer"] in shown
        assert "6: 1 of 6 tools, 2 of 7 tools, 2 of 8 tools, 1 of 9 tools" in shown
        for condition in CONDITIONS:
            assert f'href="?condition={condition}#graph"' in shown
        assert "6 of 6" in shown
        assert "1 of 6" in shown
        # four tools are blocked: their lines are drawn so, and none is without a condition
        assert len(re.findall(r'class="tag blocked is-blocked"', shown)) == 4
        assert "is-blocked" not in researcher.get(url).content.decode()
        assert "is-blocked" not in researcher.get(url, {"condition": "x"}).content.decode()

    def test_only_for_people_who_may_see_results(self, stranger: Client, nursery: Dataset) -> None:
        task = Task.objects.filter(dataset=nursery).first()
        assert task is not None
        response = stranger.get(reverse("benchmarks:task", args=[task.pk]))
        assert response.status_code == 403
        assert task.payload["correct_answer"] not in response.content.decode()


class TestRun:
    def test_figures_failures_and_groups(self, researcher: Client, nursery: Dataset) -> None:
        run = run_of(nursery, "gullible", TASK, "state-of-bill", "grower-of-entry")
        shown = researcher.get(reverse("benchmarks:run", args=[run.pk])).content.decode()
        for words in (
            "Acc", "Noisy calls", "Right answers and failures", "Failure categories",
            "Noisy response adopted", "What the query gives", "Catalogued paths",
            "Tools on the shortest path", "One value", ">Correct</a></th>",
            "Searches</abbr>",
        ):  # fmt: skip
            assert words in shown, words
        for words in ("Mean score", ">Valid<", ">Passes<"):
            assert words not in shown, words

    def test_the_form_explains_the_twelve_conditions(
        self, researcher: Client, nursery: Dataset
    ) -> None:
        url = reverse("benchmarks:run_new")
        shown = researcher.get(url, {"dataset": nursery.pk}).content.decode()
        before = shown[: shown.index("Settings of the protocol")]
        for condition in CONDITIONS:
            assert f'<option value="{condition}"' in before
        assert "blocker: blocks so that about one path remains" in before
        assert "Who fills the other roles" not in shown
        assert "set_untrusted_match" in shown  # nothing is out of reach


def test_lists_of_one_system_and_of_two(researcher: Client, nursery: Dataset, played: Run) -> None:
    ours = run_of(nursery, "path-follower")
    url = reverse("analysis:trajectory_list")
    both = researcher.get(url).content.decode()
    by_score = "order=highest"  # the column's head
    for words in (">Valid</th>", by_score, "Path follower"):
        assert words in both, words
    assert "Searches</abbr>" not in both
    alone = researcher.get(url, {"run": ours.pk}).content.decode()
    assert "Searches</abbr>" in alone
    assert by_score not in alone
    other = researcher.get(url, {"run": played.pk}).content.decode()
    assert ">Passes</a></th>" in other
    assert "Correct</" not in other


def test_the_demo_runs_are_started_once(nursery: Dataset) -> None:
    assert save_demo_dataset("planbench_xl", NURSERY) == nursery
    assert nursery.is_demo
    blocked = NURSERY.runs[1]
    started = start_demo_runs(nursery, blocked)
    assert [run.settings["condition"] for run in started] == ["blocker"] * 4
    assert all(run.is_demo for run in Run.objects.filter(dataset=nursery))
    assert start_demo_runs(nursery, blocked) == []
    assert Trajectory.objects.count() == 4 * nursery.tasks.count()


def test_descriptions_of_tools_show_code_as_code() -> None:
    field = FormField("arg-a", "tool-1-1", label="a", about="An `id` <of> a thing.", type="text")
    tool = ToolFields(1, "look_up", "", "Finds `a < b`; **all**.", [field], True, False, 0)
    ask = SimpleNamespace(row=SimpleNamespace(pk=1))
    shown = render_to_string(
        "systems/planbench_xl/_reply_tool.html", {"tool": tool, "ask": ask, "action": "/"}
    )
    assert "Finds <code>a &lt; b</code>; <strong>all</strong>." in shown
    assert "An <code>id</code> &lt;of&gt; a thing." in shown and "`" not in shown

"""What a turn is: chosen at import, changed afterwards, kept where somebody named turns."""

import json
from pathlib import Path
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.db import connection
from django.test import Client

from analysis.search.index import TURNS, first_row
from analysis.search.services import index_run
from annotation.models import Remark
from benchmarks.exports.selectors import exported
from benchmarks.formats.counts import trajectory_counts
from benchmarks.formats.plan_commits import committed_plan
from benchmarks.formats.trajectory import ImportedMessage, ToolCall, split_turns
from benchmarks.imports.services import import_trajectories
from benchmarks.imports.turns import (
    TurnsKept,
    change_turns,
    copy_in_spans,
    copy_with_turns,
    enqueue_change,
)
from benchmarks.jobs import wake_up
from benchmarks.models import Job, Run, Turn

pytestmark = pytest.mark.django_db


def call(name: str, arguments: Any) -> dict[str, Any]:
    return {
        "role": "assistant",
        "content": "",
        "tool_calls": [
            {
                "id": f"c-{name}-{len(json.dumps(arguments))}",
                "type": "function",
                "function": {"name": name, "arguments": json.dumps(arguments)},
            }
        ],
    }


def todos(*steps: str, done: int = 0) -> dict[str, Any]:
    states = ["completed" if place < done else "pending" for place in range(len(steps))]
    rows = zip(steps, states, strict=True)
    return call("TodoWrite", {"todos": [{"content": text, "status": s} for text, s in rows]})


MESSAGES = [
    {"role": "system", "content": "You are careful."},
    {"role": "user", "content": "Mend the door."},
    {"role": "assistant", "content": "I look first."},
    todos("look", "mend"),
    {"role": "assistant", "content": "Looking."},
    todos("look", "mend", done=1),
    {"role": "user", "content": "Paint it, too."},
    todos("look", "mend", "paint", done=2),
    {"role": "assistant", "content": "Done."},
]


@pytest.fixture
def run(tmp_path: Path) -> Run:
    return store(tmp_path / "door.jsonl")


def store(path: Path, **options: str) -> Run:
    path.write_text(json.dumps({"messages": MESSAGES, "model": "m"}) + "\n")
    return import_trajectories(path=path, **options).runs[0]  # type: ignore[arg-type]


def shape(run: Run) -> list[list[str]]:
    """Return the first words of each turn's messages; calls by name."""
    rows = Turn.objects.filter(trajectory__run=run).order_by("index")
    return [
        [row.get("text") or row["calls"][0]["name"] for row in turn.payload["messages"]]
        for turn in rows
    ]


STEPS = [
    ["I look first."],
    ["TodoWrite"],
    ["Looking."],
    ["TodoWrite", "Paint it, too."],
    ["TodoWrite"],
    ["Done."],
]
PLANS = [
    ["I look first."],
    ["TodoWrite", "Looking.", "TodoWrite", "Paint it, too."],
    ["TodoWrite", "Done."],
]


def test_a_plan_begins_a_turn_where_its_steps_are_others(tmp_path: Path) -> None:
    run = store(tmp_path / "door.jsonl", turns_by="plan")
    assert shape(run) == PLANS
    assert run.settings["turns"] == "plan"


def test_plans_of_several_programs() -> None:
    steps = ("look", "mend")
    for name, arguments in (
        ("TodoWrite", {"todos": [{"content": "look", "status": "x"}, {"content": "mend"}]}),
        ("update_plan", {"explanation": "so", "plan": [{"step": "look"}, {"step": "mend"}]}),
        ("write_todos", {"todos": [{"description": "look"}, {"description": "mend"}]}),
        ("task_tracker", {"command": "plan", "task_list": [{"title": "look"}, {"title": "mend"}]}),
        ("ExitPlanMode", {"plan": "look\n\nmend\n"}),
        ("mcp__board__create_plan", {"steps": ["look", "mend"]}),
    ):
        assert committed_plan(name, arguments) == steps, name
    for name, arguments in (("task_tracker", {"command": "view"}), ("Bash", {"plan": "rm"})):
        assert committed_plan(name, arguments) == (), name
    assert committed_plan("TodoWrite", "no JSON") == ()


def test_one_plan_in_several_messages_is_one_turn() -> None:
    first, second = (
        ImportedMessage("assistant", "", (ToolCall("TaskCreate", {"subject": text}),))
        for text in ("look", "mend")
    )
    work = ImportedMessage("assistant", "I begin.")
    _, turns = split_turns((work, first, second, work), "plan")
    assert [len(turn.messages) for turn in turns] == [1, 3]


def test_turns_change_and_come_back(run: Run) -> None:
    trajectory = run.trajectories.get()
    before = list(trajectory.turns.order_by("index").values("text", "feedback", "payload"))
    counts = [trajectory_counts(one) for one in exported(run)]
    version = run.data_version
    for by, expected in (("step", STEPS), ("plan", PLANS)):
        change_turns(run=run, by=by)
        run.refresh_from_db()
        trajectory.refresh_from_db()
        assert shape(run) == expected
        assert trajectory.turn_count == trajectory.metrics["turns"] == len(expected)
        assert [trajectory_counts(one) for one in exported(run)] == counts
        assert trajectory.turns.filter(is_final=True).get().index == len(expected)
    assert run.data_version == version + 2
    change_turns(run=run, by="user")
    assert list(trajectory.turns.order_by("index").values("text", "feedback", "payload")) == before


def test_what_somebody_said_of_a_turn_keeps_the_turns(run: Run, researcher: Client) -> None:
    note = Remark.objects.create(
        trajectory=run.trajectories.get(), turn=2, by=User.objects.get(username="researcher")
    )
    with pytest.raises(TurnsKept, match="Notes on its turns: 1"):
        change_turns(run=run, by="step")
    copy = copy_with_turns(run=run, by="step", created_by=None)
    assert shape(copy) == STEPS
    assert shape(run) != STEPS
    assert Remark.objects.get() == note
    assert copy.trajectories.get().task_id == run.trajectories.get().task_id
    assert copy_with_turns(run=run, by="step", created_by=None) == copy


def test_the_search_follows(run: Run) -> None:
    trajectory = run.trajectories.get().pk
    index_run(run_id=run.pk)
    change_turns(run=run, by="step")
    run.refresh_from_db()
    index_run(run_id=run.pk)
    ids = "rowid" if connection.vendor == "sqlite" else "id"
    with connection.cursor() as cursor:
        cursor.execute(
            f"SELECT count(*) FROM {TURNS} WHERE {ids} BETWEEN %s AND %s",  # noqa: S608
            [first_row(trajectory), first_row(trajectory + 1) - 1],
        )
        assert cursor.fetchone() == (6,)


def test_other_runs_and_kinds_are_refused(run: Run) -> None:
    for by, words in (("user", "already"), ("verse", "no turns of this kind")):
        with pytest.raises(TurnsKept, match=words):
            enqueue_change(run=run, by=by, copy=False, created_by=None)
    trajectory = run.trajectories.get()
    trajectory.payload = {**trajectory.payload, "rubric": [{"turn": 1}]}
    trajectory.save()
    for copy in (False, True):
        with pytest.raises(TurnsKept, match="scores of single turns"):
            enqueue_change(run=run, by="step", copy=copy, created_by=None)


def test_the_page_changes_and_copies(run: Run, researcher: Client, reader: Client) -> None:
    url = f"/runs/{run.pk}/turns/"
    assert url in researcher.get(f"/runs/{run.pk}/").content.decode()
    assert url not in reader.get(f"/runs/{run.pk}/").content.decode()
    assert reader.get(url).status_code == 403
    assert "Change turns" in researcher.get(url).content.decode()
    researcher.post(url, {"turns": "step", "act": "change"})
    wake_up.wake_for_job(Job.objects.get(kind="change-turns").pk)
    assert shape(run) == STEPS
    page = researcher.post(url, {"turns": "step", "act": "change"})
    assert page.status_code == 422
    assert "already" in page.content.decode()
    researcher.post(url, {"turns": "plan", "act": "copy"})
    wake_up.wake_for_job(Job.objects.filter(kind="change-turns").latest("pk").pk)
    copy = Run.objects.latest("pk")
    assert (shape(copy), shape(run)) == (PLANS, STEPS)
    assert f"/trajectories/?run={copy.pk}" in researcher.get(url).content.decode()


def test_spans_are_trajectories_of_their_own(run: Run, researcher: Client) -> None:
    change_turns(run=run, by="step")
    run.refresh_from_db()
    whole = run.trajectories.get()
    url = f"/runs/{run.pk}/turns/"
    assert researcher.post(url, {"size": "0", "act": "spans"}).status_code == 422
    researcher.post(url, {"size": "4", "act": "spans"})
    wake_up.wake_for_job(Job.objects.filter(kind="change-turns").latest("pk").pk)
    copy = Run.objects.latest("pk")
    first, second = copy.trajectories.order_by("attempt")
    assert copy.created_trajectories == 2
    assert [first.turn_count, second.turn_count] == [4, 2]
    assert first.payload["metadata"]["span"] == {
        "trajectory": whole.pk, "first": 1, "last": 4, "turns": 6
    }  # fmt: skip
    assert [
        [row.get("text") or row["calls"][0]["name"] for row in turn.payload["messages"]]
        for turn in second.turns.order_by("index")
    ] == STEPS[4:]
    opening = second.turns.get(index=1).payload["opening"]
    assert [row["speaker"] for row in opening] == ["system", "user"]
    assert second.metrics["turns"] == 2
    assert second.metrics["tool_calls"] == 1
    assert second.metrics["full_reward"] is None
    assert "span" in second.undefined["full_reward"]
    assert (first.termination, second.termination) == ("not_stated", whole.termination)
    page = researcher.get(f"/trajectories/{second.pk}/").content.decode()
    assert "Turns 5 to 6 of 6" in page
    with pytest.raises(TurnsKept, match="spans already"):
        copy_in_spans(run=copy, spans=2, created_by=None)
    assert copy_in_spans(run=run, spans=4, created_by=None) == copy


def test_chosen_spans_are_trajectories_of_their_own(run: Run, researcher: Client) -> None:
    change_turns(run=run, by="step")
    whole = run.trajectories.get()
    url = f"/runs/{run.pk}/turns/"
    for wrong, words in (
        ("2-x", "line 1: &#x27;2-x&#x27; is no span"),
        ("1-2\n4-3", "line 2: &#x27;4-3&#x27; is no span"),
        ("2-7", "the longest trajectory has 6 turns, not 7"),
        ("999: 1-2", "the run has no trajectory 999"),
        ("me: 1-2", "&#x27;me&#x27; is no number of a trajectory"),
    ):
        answer = researcher.post(url, {"chosen": wrong, "act": "spans"})
        assert answer.status_code == 422 and words in answer.content.decode(), wrong
    assert researcher.post(url, {"act": "spans"}).status_code == 422
    researcher.post(url, {"size": "4", "chosen": f"2-3, 3-5\n{whole.pk}: 6", "act": "spans"})
    wake_up.wake_for_job(Job.objects.filter(kind="change-turns").latest("pk").pk)
    copy = Run.objects.latest("pk")
    spans = [row.payload["metadata"]["span"] for row in copy.trajectories.order_by("attempt")]
    assert [(span["first"], span["last"]) for span in spans] == [(2, 3), (3, 5), (6, 6)]
    assert sorted(shape(copy)) == sorted([*STEPS[1:3], *STEPS[2:5], STEPS[5]])
    assert copy.condition.endswith("chosen spans")

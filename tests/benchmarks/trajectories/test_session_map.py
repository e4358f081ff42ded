"""The map of a session: kinds of steps, where turns begin, and the messages that are shown."""

import json
from pathlib import Path

import pytest
from django.test import Client

from benchmarks.imports.services import import_trajectories
from benchmarks.models import Trajectory
from benchmarks.trajectories.session_map import (
    FIRST,
    PART,
    MessageGap,
    message_window,
    read_map,
    session_map,
)

SHELL = {"id": "c1", "type": "function", "function": {"name": "Bash", "arguments": "{}"}}


def session(tmp_path: Path, steps: int, users: int = 1) -> Trajectory:
    messages: list[dict[str, object]] = [{"role": "user", "content": "Go."}]
    for step in range(steps):
        call = {**SHELL, "id": f"c{step}"}
        messages.append({"role": "assistant", "content": "", "tool_calls": [call]})
        text = "error: no" if step == 7 else f"line {step}"
        messages.append({"role": "tool", "tool_call_id": f"c{step}", "content": text})
        if users > 1 and step % (steps // users) == 0:
            messages.append({"role": "user", "content": f"Then {step}."})
    path = tmp_path / "session.jsonl"
    path.write_text(json.dumps({"messages": messages, "model": "m"}))
    return import_trajectories(path=path).runs[0].trajectories.get()


def test_kinds_of_steps_and_repeated_texts() -> None:
    long = "a line of a file\n" * 20
    plan = {"name": "update_plan", "arguments": {"plan": [{"step": "a"}, {"step": "b"}]}}
    rows = [
        {"speaker": "user", "text": "Go."},
        {"speaker": "assistant", "reasoning": "Hm.", "calls": [plan]},
        {"speaker": "tool", "text": long},
        {"speaker": "assistant", "text": "I look.", "calls": [{"name": "x", "arguments": {}}]},
        {"speaker": "tool", "text": "no", "extra": {"failed": True}},
        {"speaker": "assistant", "calls": [plan]},
        {"speaker": "tool", "text": long},
    ]
    kinds, counts, repeats, _ = read_map([(1, rows[:2]), (2, rows[2:])])
    # messages 1, thinking 2, calls 4, results 8, errors 16, plans 32
    assert [ord(char) - ord("0") for char in kinds] == [1, 2 + 4 + 32, 8, 1 + 4, 8 + 16, 4, 8]
    assert counts == {1: 2, 2: 5}
    assert repeats == {7: 3}


def test_a_command_that_ended_badly_is_an_error() -> None:
    calls = [{"id": "c1", "name": "shell_command", "arguments": {"command": "make"}}]
    row = {"speaker": "tool", "call_id": "c1", "name": "", "text": "Exit code: 2\nOutput:\nno"}
    fine = row | {"text": "Exit code: 0"}
    kinds, *_ = read_map([(1, [{"speaker": "assistant", "calls": calls}, row, fine])])
    assert [ord(char) - ord("0") for char in kinds] == [4, 8 + 16, 8]
    # Without a terminal the same words are what a file says.
    assert ord(read_map([(1, [row])])[0]) - ord("0") == 8


@pytest.mark.django_db
def test_a_call_whose_result_never_came_says_so(tmp_path: Path, researcher: Client) -> None:
    calls = [{**SHELL, "id": "c1"}, {**SHELL, "id": "c2"}]
    messages = [
        {"role": "user", "content": "Go."},
        {"role": "assistant", "content": "", "tool_calls": calls},
        {"role": "tool", "tool_call_id": "c1", "content": "done"},
    ]
    path = tmp_path / "session.jsonl"
    path.write_text(json.dumps({"messages": messages, "model": "m"}))
    trajectory = import_trajectories(path=path).runs[0].trajectories.get()
    assert session_map(trajectory).unanswered == {"c2"}
    page = researcher.get(f"/trajectories/{trajectory.pk}/").content.decode()
    assert page.count("The file has no result of this call.") == 1


@pytest.mark.django_db
def test_a_long_turn_is_shown_in_parts(tmp_path: Path) -> None:
    trajectory = session(tmp_path, 100)
    known = session_map(trajectory)
    assert len(known.kinds) == 201
    assert known.starts == {1: 1}
    assert [known.turn_of(number) for number in (0, 1, 201, 202)] == [None, 1, 1, None]
    assert dict(known.totals)["errors"] == known.errors == 1
    assert [len(lane) for lane in known.lanes(50)] == [1, 0, 50, 50, 1, 0]
    turn = trajectory.turns.get()
    window = message_window(trajectory, turn)
    assert [number for number, _, _ in window.messages] == list(range(1, PART + 1))
    assert (window.before, window.after) == (None, MessageGap(PART + 1, 201))
    window = message_window(trajectory, turn, at=150, within=MessageGap(PART + 1, 201))
    assert [number for number, _, _ in window.messages] == list(range(146, 146 + PART))
    assert window.before == MessageGap(PART + 1, 145)
    assert window.after == MessageGap(146 + PART, 201)
    window = message_window(trajectory, turn, at=10**9)
    assert window.messages[-1][0] == 201


@pytest.mark.django_db
def test_many_turns_show_fewer_messages_each(tmp_path: Path) -> None:
    trajectory = session(tmp_path, 100, users=6)
    turn = trajectory.turns.get(index=2)
    assert len(message_window(trajectory, turn).messages) == FIRST


@pytest.mark.django_db
def test_the_page_leads_to_a_message(tmp_path: Path, researcher: Client) -> None:
    trajectory = session(tmp_path, 100)
    url = f"/trajectories/{trajectory.pk}/"
    page = researcher.get(url).content.decode()
    assert 'id="m-24"' in page
    assert 'id="m-25"' not in page
    assert "1 error<" in page
    answer = researcher.get(url, {"message": "150"})
    assert answer.headers["Location"] == f"{url}?turn=1&place=150#m-150"
    page = researcher.get(answer.headers["Location"]).content.decode()
    assert 'id="m-150"' in page
    assert 'id="m-24"' not in page
    assert researcher.get(url, {"message": "999"}).headers["Location"] == url
    part = researcher.get(
        f"{url}messages/", {"turn": "1", "gap": "25-201"}, headers={"HX-Request": "true"}
    ).content.decode()
    assert part.count('class="utterance') == PART
    # No message is read out as English because the page is.
    assert part.count('<p class="speech" lang="" dir="auto"')
    assert "Show messages 49–72 of turn 1" in part
    for wrong in ({"turn": "9"}, {"turn": "1", "gap": "500-600"}, {}):
        headers = {"HX-Request": "true"}
        assert researcher.get(f"{url}messages/", wrong, headers=headers).status_code == 404


@pytest.mark.django_db
def test_a_long_text_is_fetched_when_it_is_opened(tmp_path: Path, researcher: Client) -> None:
    path = tmp_path / "long.jsonl"
    call = {"role": "assistant", "content": "", "tool_calls": [SHELL]}
    text = "x" * 30_000 + "<end>"
    messages = [call, {"role": "tool", "tool_call_id": "c1", "content": text}]
    path.write_text(json.dumps({"messages": messages, "model": "m"}))
    trajectory = import_trajectories(path=path).runs[0].trajectories.get()
    url = f"/trajectories/{trajectory.pk}/"
    page = researcher.get(url).content.decode()
    assert "&lt;end&gt;" not in page
    assert f'hx-get="{url}messages/2/"' in page
    whole = researcher.get(f"{url}messages/2/", headers={"HX-Request": "true"})
    assert "&lt;end&gt;" in whole.content.decode()
    assert researcher.get(f"{url}messages/2/").headers["Location"].endswith("#m-2")
    assert researcher.get(f"{url}messages/9/").status_code == 404

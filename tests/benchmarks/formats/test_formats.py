"""Every format: recognised, read whole, refused with the place and the reason."""

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from benchmarks.core.errors import UnknownName
from benchmarks.core.problems import FileRefused
from benchmarks.formats import registry
from benchmarks.formats.registry import FORMATS, check_file, detect
from benchmarks.formats.trajectory import split_turns
from tests.benchmarks.formats import samples
from tests.benchmarks.formats.reading import read_whole
from tests.shared_data import shared_data


@pytest.mark.parametrize("name", FORMATS)
def test_a_sound_file_is_recognised_and_read(name: str, tmp_path: Path) -> None:
    path = samples.write_sample(tmp_path, name)
    assert detect(path) == name
    checked = check_file(path, name)
    found = read_whole(path, name)
    assert len(found) == checked.trajectories > 0
    for trajectory in found:
        assert trajectory.attempt and trajectory.attempt >= 1
        assert split_turns(trajectory.messages)[1]
        if trajectory.session.get("parent"):  # a sub-agent, which calls nothing
            continue
        calls = [call for m in trajectory.messages for call in m.calls]
        assert calls[0].name == "look_up" and calls[0].arguments == {"a": 1}
        assert any(m.speaker == "tool" and m.call_id == calls[0].id for m in trajectory.messages)


@pytest.mark.parametrize("name", FORMATS)
@pytest.mark.parametrize("other", FORMATS)
def test_another_format_is_said(name: str, other: str, tmp_path: Path) -> None:
    if name == other:
        return
    path = samples.write_sample(tmp_path, name)
    with pytest.raises(FileRefused, match=f"use --format {name}"):
        check_file(path, other)


def test_a_wrong_format_name_lists_the_right_ones(tmp_path: Path) -> None:
    path = samples.write_sample(tmp_path, "tau2")
    with pytest.raises(UnknownName, match=", ".join(sorted(FORMATS))):
        check_file(path, "tau3")


def test_the_real_slice_is_read_whole() -> None:
    path = shared_data("tau_bench", "gpt-4o-airline.slice.json.gz")
    assert detect(path) == "tau-bench"
    found = read_whole(path, "tau-bench")
    # counted in the file itself: 12 tasks with 4 trials each, 1492 messages, 6 rewards of 1
    assert len(found) == 48
    assert {(t.task.id, t.attempt) for t in found} == {
        (str(task), attempt) for task in range(12) for attempt in (1, 2, 3, 4)
    }
    assert sum(len(t.messages) for t in found) == 1492
    assert sum(t.scores["reward"] == 1 for t in found) == 6
    assert sum(len(m.calls) for t in found for m in t.messages) == 343
    for t in found:
        assert t.task.hidden["instruction"].startswith("You")
        assert "###" not in t.task.prompt and t.task.hidden["instruction"] != t.task.prompt
        shown = [m.text for m in t.messages]
        assert t.task.hidden["instruction"] not in shown
        opening, turns = split_turns(t.messages)
        again = [*opening, *(m for turn in turns for m in turn.messages)]
        assert again == list(t.messages), "no message is lost or doubled"
        facts = t.metadata["reward_info"]
        assert (facts is None) == (t.termination == "max_steps")
        assert facts is None or facts["reward"] == t.scores["reward"]
    assert Counter(t.termination for t in found) == {"user_stop": 41, "transfer": 4, "max_steps": 3}


def test_tau2_marks_what_the_agent_never_saw(tmp_path: Path) -> None:
    (found,) = read_whole(samples.write_sample(tmp_path, "tau2"), "tau2")
    assert found.agent == "some-model" and found.seed == 9
    assert found.task.hidden == {"user_scenario": {"instructions": "phone off"}}
    hidden = [m.text for m in found.messages if m.hidden]
    assert hidden == ["", "it is on"]
    assert found.scores == {"reward": 1.0, "cost": 0.2, "user_cost": None, "duration": 2.5}
    assert "user_cost" in found.undefined
    assert found.messages[2].tokens_in == 7 and found.messages[2].cost == 0.1
    assert found.metadata["review"]["errors"][0]["turn_idx"] == 2


def test_tau2_reads_the_folder_beside_an_index(tmp_path: Path) -> None:
    whole = samples.tau2()
    simulations = whole.pop("simulations")
    (tmp_path / "simulations").mkdir()
    samples.write(tmp_path / "simulations" / "s1.json", simulations[0])
    path = samples.write(
        tmp_path / "results.json", {**whole, "simulation_index": [{"id": "s1", "task_id": "t1"}]}
    )
    (found,) = read_whole(path, "tau2")
    assert found.termination == "user_stop"


def test_tau2_does_not_leave_its_folder(tmp_path: Path) -> None:
    whole = {**samples.tau2(), "simulation_index": [{"id": "../../secret"}]}
    whole.pop("simulations")
    with pytest.raises(FileRefused, match="the name of a file in the folder"):
        check_file(samples.write(tmp_path / "results.json", whole), "tau2")


@pytest.mark.parametrize("header", [True, False])
def test_inspect_archives_and_killed_runs(header: bool, tmp_path: Path) -> None:
    path = tmp_path / "log.eval"
    path.write_bytes(samples.eval_archive(samples.inspect_log(), header=header))
    (found,) = read_whole(path, "inspect")
    assert found.agent == "openai/some-model"
    assert found.messages[0].text == "Where is my bag?"
    assert found.messages[-1].reasoning == "hm" and found.messages[-1].text == "Oslo"
    assert found.scores == {"reward": 1.0, "match": 1.0, "n.a": 3.0}
    assert found.task.hidden == {"target": "Oslo"}


def test_atif_splits_results_from_steps_and_leaves_copies_out(tmp_path: Path) -> None:
    (found,) = read_whole(samples.write_sample(tmp_path, "atif"), "atif")
    assert [m.speaker for m in found.messages] == ["user", "assistant", "tool", "assistant"]
    assert found.scores == {"reward": None, "cost": 0.02}
    assert found.messages[1].tokens_out == 3 and found.messages[1].reasoning == "hm"


@pytest.mark.parametrize(
    "value",
    [
        samples.CHAT,
        {"messages": samples.CHAT},
        {"traj": samples.CHAT},
        [{"messages": samples.CHAT}],
    ],
    ids=["bare", "messages", "traj", "list"],
)
def test_chats_come_in_several_wraps(value: Any, tmp_path: Path) -> None:
    (found,) = read_whole(samples.write(tmp_path / "chat.json", value), "openai-chat")
    assert len(found.messages) == 6
    assert found.task.prompt == "Where is my bag?"


def test_chats_that_begin_alike_are_attempts_at_one_task(tmp_path: Path) -> None:
    path = samples.write_lines(tmp_path / "chat.jsonl", [samples.CHAT, samples.CHAT])
    first, second = read_whole(path, "openai-chat")
    assert first.task.id == second.task.id
    assert (first.attempt, second.attempt) == (1, 2)


def test_arguments_that_are_no_json_stay_as_they_are(tmp_path: Path) -> None:
    chat = json.loads(json.dumps(samples.CHAT))
    chat[2]["tool_calls"][0]["function"]["arguments"] = "{a: 1"
    (found,) = read_whole(samples.write(tmp_path / "chat.json", chat), "openai-chat")
    call = found.messages[2].calls[0]
    assert call.raw and call.arguments == "{a: 1"


def test_an_unmatched_result_is_refused_with_its_line(tmp_path: Path) -> None:
    chat = json.loads(json.dumps(samples.CHAT))
    chat[3]["tool_call_id"] = "c9"
    path = samples.write_lines(tmp_path / "chat.jsonl", [samples.CHAT, {"messages": chat}])
    with pytest.raises(FileRefused) as refused:
        check_file(path, "openai-chat")
    (problem,) = refused.value.problems
    assert str(problem) == (
        "chat.jsonl, line 2, messages[3].tool_call_id: expected the id of a call before it, "
        "found the text 'c9'"
    )


def test_all_faults_are_told_at_once_and_twenty_shown(tmp_path: Path) -> None:
    rows = samples.tau_bench() * 10
    for row in rows:
        row["reward"] = "much"
    with pytest.raises(FileRefused) as refused:
        check_file(samples.write(tmp_path / "t.json", rows), "tau-bench")
    assert refused.value.total == 40 and len(refused.value.problems) == 20
    assert str(refused.value.problems[0]).startswith("t.json, [0].reward: expected a number")


def test_the_same_attempt_twice_is_refused(tmp_path: Path) -> None:
    path = samples.write(tmp_path / "t.json", samples.tau_bench() * 2)
    with pytest.raises(FileRefused, match="each attempt once"):
        check_file(path, "tau-bench")


def test_too_many_attempts_say_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(registry, "MOST_ATTEMPTS", 2)
    path = samples.write_lines(tmp_path / "c.jsonl", [{"messages": samples.CHAT}] * 3)
    with pytest.raises(FileRefused, match="at most 2 attempts of an agent at a task"):
        check_file(path, "openai-chat")


@pytest.mark.parametrize("name", FORMATS)
@pytest.mark.parametrize(
    "content", [b"", b"[]", b"{}", b"null", b"PK\x03\x04", b"\x1f\x8b\x00", b"\xff"]
)
def test_empty_and_broken_files_are_refused(name: str, content: bytes, tmp_path: Path) -> None:
    path = tmp_path / "x.json"
    path.write_bytes(content)
    with pytest.raises(FileRefused):
        check_file(path, name)


def test_a_missing_file_is_refused(tmp_path: Path) -> None:
    with pytest.raises(FileRefused, match="a file to read"):
        check_file(tmp_path / "none.json", "tau2")

"""Sessions and logs of other programs: what was said by whom, and nothing that nobody said."""

import json
from pathlib import Path
from typing import Any

import pytest

from benchmarks.core.problems import FileRefused
from benchmarks.formats.counts import trajectory_counts
from benchmarks.formats.registry import check_file, detect
from benchmarks.formats.reports import describe_file
from tests.benchmarks.formats import samples
from tests.benchmarks.formats.reading import read_whole
from tests.benchmarks.formats.session_samples import LOOK

ANTHROPIC_CHAT: list[dict[str, Any]] = [
    {"role": "user", "content": "Where is my bag?"},
    {"role": "assistant", "content": [{"type": "text", "text": "I look."}, LOOK]},
    {
        "role": "user",
        "content": [{"type": "tool_result", "tool_use_id": "c1", "content": "in Oslo"}],
    },
    {"role": "assistant", "content": "In Oslo."},
]


def counts_of(path: Path) -> dict[str, Any]:
    (trajectory,) = read_whole(path)
    return trajectory_counts(trajectory)


def has(counts: dict[str, Any], **expected: Any) -> None:
    assert {name: counts[name] for name in expected} == expected


class TestCallsAsParts:
    @pytest.mark.parametrize(
        "wrap", [lambda chat: chat, lambda chat: {"messages": chat, "lang": "en"}]
    )
    def test_results_are_no_messages_of_the_user(self, wrap: Any, tmp_path: Path) -> None:
        path = samples.write(tmp_path / "x.json", wrap(ANTHROPIC_CHAT))
        assert detect(path) == "anthropic"
        (trajectory,) = read_whole(path)
        assert [m.speaker for m in trajectory.messages] == [
            "user",
            "assistant",
            "tool",
            "assistant",
        ]
        assert not any("tool_" in m.text for m in trajectory.messages)
        has(trajectory_counts(trajectory), user=1, turns=1, tool_calls=1, matched=1, errors=0)

    def test_as_openai_chat_they_are_refused_by_name_and_place(self, tmp_path: Path) -> None:
        path = samples.write(tmp_path / "x.json", ANTHROPIC_CHAT)
        with pytest.raises(FileRefused, match="use --format anthropic"):
            check_file(path, "openai-chat")
        padding = [{"messages": [{"role": "assistant", "content": "x" * 600_000}]}] * 2
        late = samples.write_lines(tmp_path / "x.jsonl", [*padding, {"messages": ANTHROPIC_CHAT}])
        with pytest.raises(FileRefused) as refused:
            check_file(late, "")
        assert "line 3, messages[1].content[1]: expected texts, images or files" in str(
            refused.value
        )
        assert "found a part of kind tool_use" in str(refused.value)
        assert "--format anthropic" in str(refused.value)

    def test_an_image_is_an_attachment_and_no_word(self, tmp_path: Path) -> None:
        shown = {"type": "image_url", "image_url": {"url": "data:image/png;base64,QUJD"}}
        chat = [
            {
                "role": "user",
                "content": [{"type": "text", "text": "Look:"}, shown, {"type": "new"}],
            },
            {"role": "assistant", "content": "A bag."},
        ]
        path = samples.write(tmp_path / "x.json", chat)
        (trajectory,) = read_whole(path, "openai-chat")
        assert trajectory.messages[0].text == "Look:"
        assert trajectory.messages[0].extra["attachments"] == [
            {"kind": "image", "type": "image/png", "bytes": 3},
            {"kind": "new"},
        ]


class TestRequests:
    def test_a_log_repeats_its_history_once(self, tmp_path: Path) -> None:
        has(
            counts_of(samples.write_sample(tmp_path, "anthropic")),
            user=1, turns=1, assistant=2, assistant_texts=2, tool_calls=2, tool_results=2,
            matched=2, errors=1, images=1, thinking=1, tokens_in=20, tokens_out=10,
            first_user="Where is my bag?", last_assistant="In Oslo.",
        )  # fmt: skip

    def test_items_are_no_messages_and_hosted_calls_stand_apart(self, tmp_path: Path) -> None:
        has(
            counts_of(samples.write_sample(tmp_path, "responses")),
            user=1, turns=1, assistant=None, assistant_texts=1, tool_calls=1, matched=1, missing=0,
            errors=None, hosted_calls=1, thinking=1, tokens_in=18, tokens_out=8,
        )  # fmt: skip

    def test_a_call_that_names_the_one_before_goes_on_from_it(self, tmp_path: Path) -> None:
        first, second = samples.SAMPLES["responses"]()
        second["request"]["input"] = second["request"]["input"][2:]
        second["request"]["previous_response_id"] = "r1"
        path = samples.write_lines(tmp_path / "x.jsonl", [first, second])
        has(counts_of(path), user=1, tool_calls=1, matched=1, assistant_texts=1)

    def test_requests_that_begin_otherwise_are_other_trajectories(self, tmp_path: Path) -> None:
        first, second = samples.SAMPLES["anthropic"]()
        other = json.loads(json.dumps(first).replace("my bag", "my cat"))
        path = samples.write_lines(tmp_path / "x.jsonl", [first, other, second])
        assert [len(t.messages) for t in read_whole(path)] == [6, 3]


def test_a_report_says_what_a_file_holds(tmp_path: Path) -> None:
    report = describe_file(samples.write_sample(tmp_path, "anthropic"))
    assert (report["format"], report["left_out"], report["error"]) == ("anthropic", {}, None)
    assert [t["tool_calls"] for t in report["trajectories"]] == [2]
    report = describe_file(samples.write(tmp_path / "x.json", {"a": 1}))
    assert report["format"] is None and "none of them" in report["error"]

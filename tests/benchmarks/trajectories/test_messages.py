"""Messages of imported trajectories as pages show them."""

import pytest

from benchmarks.trajectories.messages import CLIP, MessageView, ToolCallView, indented


def said(text: str, speaker: str = "tool", name: str = "find") -> MessageView:
    return MessageView(speaker, name, text, (), False, "", "", False)


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ('{"a": 1, "b": ["é"]}', '{\n  "a": 1,\n  "b": [\n    "é"\n  ]\n}'),
        ('{"a": "\\u00e9"}', '{\n  "a": "é"\n}'),
        # What would change by being read and written again stays as it is.
        ('{"a": 1.50}', '{"a": 1.50}'),
        ('{"a":1}', '{"a":1}'),
        ('{"a": 1, "a": 2}', '{"a": 1, "a": 2}'),
        ('{"a": 1', '{"a": 1'),
        ("Error: no", "Error: no"),
        ("[" * 100_000, "[" * 100_000),
    ],
)
def test_one_line_of_json_is_spread_out_where_nothing_is_lost(text: str, shown: str) -> None:
    assert indented(text) == shown


def test_long_texts_are_cut_where_it_is_worth_it() -> None:
    short = said("x" * (CLIP + 100))
    assert (short.head, short.rest) == (short.text, "")
    long = said("x" * 2 * CLIP)
    assert len(long.head) == CLIP and long.head + long.rest == long.text


def test_an_agent_has_no_name_of_its_own() -> None:
    assert said("", "assistant", "model-9").title == "Agent"
    assert said("", "tool", "find").title == "Tool: find"
    assert ToolCallView("f", '{\n  "a": 1\n}', "agent").preview == '{ "a": 1 }'

"""Differences by word and by step."""

from hypothesis import given, settings
from hypothesis import strategies as st

from benchmarks.trajectories import diffs
from benchmarks.trajectories.diffs import DiffSegment, diff_steps, diff_words

# Few different words, so that texts have much in common.
texts = st.lists(st.sampled_from(["a", "towel", "wet", "cat's", ".", ",", "<b>"])).map(" ".join)


@settings(max_examples=300)
@given(before=texts, after=texts)
def test_segments_hold_both_texts(before: str, after: str) -> None:
    segments = diff_words(before, after)
    assert "".join(s.text for s in segments if s.kind != "added") == before
    assert "".join(s.text for s in segments if s.kind != "removed") == after
    assert all(s.text for s in segments)


@given(st.text(), st.text())
def test_any_text_can_be_compared(before: str, after: str) -> None:
    segments = diff_words(before, after)
    assert "".join(s.text for s in segments if s.kind != "added") == before
    assert "".join(s.text for s in segments if s.kind != "removed") == after


def test_replaced_words_stand_together() -> None:
    assert diff_words("Lay a bath towel down", "Lay a fleece blanket down") == [
        DiffSegment("same", "Lay a "),
        DiffSegment("removed", "bath towel"),
        DiffSegment("added", "fleece blanket"),
        DiffSegment("same", " down"),
    ]


def test_equal_texts_are_one_segment() -> None:
    assert diff_words("Lock the door.", "Lock the door.") == [DiffSegment("same", "Lock the door.")]
    assert diff_words("", "") == []


def test_texts_too_long_to_compare_are_replaced_between_their_ends() -> None:
    size = int(diffs.MOST_PAIRS**0.5)
    before = "first " + "x y " * size + "last"
    after = "first " + "y x " * size + "last"
    kinds = [segment.kind for segment in diff_words(before, after)]
    assert kinds == ["same", "removed", "added", "same"]


def test_steps_that_were_reworded_stand_in_one_line() -> None:
    lines = diff_steps(
        ["Get up at six.", "Put the carrier by the wall.", "Close the door."],
        ["Put the carrier by the bathroom wall.", "Feed her tuna.", "Close the door."],
    )
    assert [(line.op, line.number) for line in lines] == [
        ("removed", 1),
        ("changed", 1),
        ("added", 2),
        ("same", 3),
    ]
    assert [part.op for part in lines[1].parts] == ["equal", "insert", "equal"]


@given(st.lists(texts, max_size=6), st.lists(texts, max_size=6))
def test_every_step_has_its_line(before: list[str], after: list[str]) -> None:
    lines = diff_steps(before, after)
    assert sum(line.op != "added" for line in lines) == len(before)
    assert sum(line.op != "removed" for line in lines) == len(after)
    assert [line.number for line in lines if line.op != "removed"] == [*range(1, len(after) + 1)]

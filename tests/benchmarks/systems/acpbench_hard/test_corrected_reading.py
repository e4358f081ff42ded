"""Tests of odd responses: read as the reference reads them, and so that no answer gets lost."""

import pytest

from benchmarks.systems.acpbench_hard import corrected_reading
from benchmarks.systems.acpbench_hard.corrected_reading import Lists, Names
from benchmarks.systems.acpbench_hard.grammar import read_reference
from tests.benchmarks.systems.acpbench_hard.public import rows

ACTIONS = Names({"sail": 2, "board": 2, "rest": 0}, frozenset({"on"}), frozenset({"a", "b", "c"}))
FACTS = Names({"on": 1, "at": 2, "empty": 0}, frozenset({"sail"}), frozenset({"a", "b", "c"}))


def test_public_answers_are_read_as_by_the_reference() -> None:
    for row in rows():
        reading = read_reference(row["task"], row["response_text"])
        made = {
            "val": reading.index,
            "prog": [list(one) for one in reading.lists],
            "app": list(reading.names),
            "just": list(reading.names),
        }.get(row["task"], "".join(reading.names))
        if row["reference_parsed"] is None:
            assert not reading.parsed or made == "None", row
        else:
            assert made == row["reference_parsed"], row


# Checked against the grammar of the paper's figure 8 in an LALR parser that skips errors.
@pytest.mark.parametrize(
    ("task", "response", "expected"),
    [
        ("land", "(a b", ["(a b)"]),
        ("land", "(a b.", ["(a b)"]),
        ("land", "(a b )", None),
        ("land", "( a b)", ["(a b)"]),
        ("land", "(a  b)", ["(a b)"]),
        ("land", "(a\tb c)", ["(a c)"]),
        ("land", "act(x, y)", ["(x y)"]),
        ("land", "(a, b)", ["(a b)"]),
        ("land", "(a\nb)", ["(ab)"]),
        ("land", "(not (on a))", ["(not on a)"]),
        ("land", "(x) None", ["(x)"]),
        ("land", "Nonetheless (x)", ["None"]),
        ("land", "none", None),
        ("land", "(None)", ["(None)"]),
        ("land", "xNone 1None", ["None"]),
        ("nexta", "None of them, so (a b)", ["(a b)"]),
        ("nexta", "a b", None),
        ("app", "", []),
        ("app", "(note 5) (a b)", ["(note a b)"]),
        ("app", "1. (a b)\n2. (c)", ["(a b)", "(c)"]),
        ("app", "(a b) (", None),
        ("just", "Simplified plan: (A B)", ["(a b)"]),
        ("just", "(X) simplified plan: (A) Simplified Plan: (B)", ["(a)"]),
        ("prog", "[(a)] [(b), (c)]", [["(a)"], ["(b)", "(c)"]]),
        ("prog", "[(a) (b)] []", [["(a)", "(b)"], []]),
        ("prog", "[(a), (b) (c)] []", [["(a)", "(b)"], []]),
        ("prog", "[(a),] [(b)]", None),
        ("prog", "[(a)] [(b)", None),
        ("prog", "[(a)]", None),
        ("prog", "[(a)] [(a)]", [["(a)"]]),
        ("prog", "[see] [(a)] [(b)]", [[], ["(a)"]]),
        ("prog", "Positive effects: (A) Negative effects: (B)", [["(a)"], ["(b)"]]),
        ("prog", "Negative effects: (A) Positive effects: (B)", None),
        ("val", "9\n10", "910"),
        ("val", "l1 is 4", "1"),
        ("val", "-4", "4"),
        ("val", "12.5", "12"),
        ("val", "four", None),
    ],
)
def test_reference_grammar(task: str, response: str, expected: object) -> None:
    reading = read_reference(task, response)
    if expected is None:
        assert not reading.parsed
    elif task == "val":
        assert reading.index == expected
    elif task == "prog":
        assert [list(one) for one in reading.lists] == expected
    else:
        assert reading.parsed and list(reading.names) == expected


@pytest.mark.parametrize(
    ("response", "expected"),
    [
        ("( SAIL a\n b ) and sail(b, c)", [("sail", "a", "b"), ("sail", "b", "c")]),
        ("`sail`(a, b)", [("sail", "a", "b")]),
        ('["(sail a b)", "(rest)"] (that is all) (on a)', [("sail", "a", "b"), ("rest",)]),
        ("(fly a b)", [("fly", "a", "b")]),
        ("(sail a zzz)", [("sail", "a", "zzz")]),
        ("sail a b, then board c b.", [("sail", "a", "b"), ("board", "c", "b")]),
        ("I would rest now", []),
        ("rest", [("rest",)]),
        ("(sail a b", [("sail", "a", "b")]),
        ("(sail this way) and (rest assured): (sail a b)", [("sail", "a", "b")]),
        ("(sail x1 y1), (board a b)", [("sail", "x1", "y1"), ("board", "a", "b")]),
        ("(sail moon mars)", [("sail", "moon", "mars")]),
        ("sail (that is, by sea) a b", []),
        ("[sail a b, rest, board c b]", [("sail", "a", "b"), ("rest",), ("board", "c", "b")]),
        (
            "(sail a b) is blocked.\n**Final answer:** (sail b c) (rest)",
            [("sail", "b", "c"), ("rest",)],
        ),
        ("(sail a b) is blocked, so the answer is [board c b]", [("board", "c", "b")]),
        ("Answer the question first: (sail a b).", [("sail", "a", "b")]),
        ("(sail a b)\nAnswer: (see above)", [("sail", "a", "b")]),
    ],
)
def test_actions_are_found_whatever_surrounds_them(response: str, expected: object) -> None:
    assert corrected_reading.read_atoms(response, ACTIONS) == expected


@pytest.mark.parametrize(
    ("response", "expected"),
    [
        ("none", "none"),
        ("**None**", "none"),
        ("(None)", "none"),
        ("There is none.", "none"),
        ("None. All of them can hold, such as (on a).", "none"),
        ("None of the others, so (on a)", ("on", "a")),
        ("Nonetheless (on a)", ("on", "a")),
        ("(not (on a))", ("not", "on", "a")),
        ("no idea", None),
        ("(at this moment) (on a)", ("on", "a")),
        ("(at this moment) none", "none"),
        ("(on a) holds already. Answer: (on b)", ("on", "b")),
        ("(on a) holds already. The answer is the proposition on b.", ("on", "b")),
        ("(on a) can hold. Answer: None", "none"),
        ("The answer is not (on a). The answer is (on b).", ("on", "b")),
        (r"(on a) holds; \boxed{(on b)}", ("on", "b")),
        ("Answer: (on a)? It holds. Answer: (on b)", ("on", "b")),
    ],
)
def test_none_and_first_atom(response: str, expected: object) -> None:
    assert corrected_reading.read_first(response, FACTS) == expected


A, B = (("on", "a"),), (("on", "b"),)


@pytest.mark.parametrize(
    ("response", "expected"),
    [
        ("[(on a)] [(on b)", Lists(A, B)),
        ("[see rules] [(on a)] [(on b)]", Lists(A, B)),
        ("Negative effects: [(on b)]\nPositive effects: [(on a)]", Lists(A, B)),
        ('{"negative": ["(on b)"], "positive": ["(on a)"]}', Lists(A, B)),
        ("**Positive**\n- (on a)\n**Negative**\n- none", Lists(A, ())),
        ("Positive and negative effects: [(on a)] [None]", Lists(A, ())),
        ("[(on a)]", Lists(A, ())),
        ("[(on a),] [(on b)]", Lists(A, B)),
        ("[on a] [on b]", Lists(A, B)),
        (
            "[on a, empty] [at a b; on b]",
            Lists((("on", "a"), ("empty",)), (("at", "a", "b"), ("on", "b"))),
        ),
        ("[on a empty] [on, b]", Lists((("on", "a"), ("empty",)), B)),
        ("[on the way] [on a] [on b]", Lists(A, B)),
        ("[on x1] [on b]", Lists((("on", "x1"),), B)),
        ("At first [(on b)] [(on a)], but no. Answer: [(on a)] [(on b)]", Lists(A, B)),
        ("[(on b)] holds. Answer: positive [(on a)], negative [(on b)]", Lists(A, B)),
        ("(on a) and (on b)", None),
        ("None", None),
    ],
)
def test_lists_of_a_progression(response: str, expected: object) -> None:
    assert corrected_reading.read_lists(response, FACTS) == expected


@pytest.mark.parametrize(
    ("response", "expected"),
    [
        ("9\n10", 9),
        ("```\n15\n```", 15),
        ("3 (0-based), i.e. 4 counting from 1", 3),
        ("Action 0 is (sail l1 l2), fine; the next fails, so the answer is 9.", 9),
        ("1. (sail a b) works\n2. (board c b) fails\nIndex: 1", 1),
        ("l1 to 4", 4),
        ("the 8th action", 8),
        ("8.0", 8),
        ("12.5", None),
        ("-1", -1),
        ('{"index": 4}', 4),
        ("2 is no solution. So the answer is action 4.", 4),
        (r"The first 2 work: $\boxed{4}$", 4),
        ("06", 6),
        ("four", None),
        ("9" * 5_000, None),
    ],
)
def test_index(response: str, expected: object) -> None:
    assert corrected_reading.read_index(response) == expected


def test_long_answers_are_read_at_once() -> None:
    for part in (
        "(",
        "(a ",
        "a",
        "( ",
        "9",
        "[] ",
        "none ",
        "é😀",
        "\n",
        "(not ",
        "answer  ",
        "answer: (a ",
        "*",
    ):
        text = part * (200_000 // len(part))
        for task in ("land", "app", "prog", "val", "just", "nexta"):
            read_reference(task, text)
        corrected_reading.read_first(text, FACTS)
        corrected_reading.read_plan(text, ACTIONS)
        corrected_reading.read_lists(text, FACTS)
        corrected_reading.read_index(text)

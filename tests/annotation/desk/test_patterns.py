"""HTML that is rendered once and filled many times: nothing stays in it, nothing gets out."""

import re
from html import escape
from typing import Any

import pytest

from annotation.desk.guide import Guide
from annotation.desk.trajectories import DeskFinding, DeskTurn
from annotation.patterns import CLOSE, OPEN, Pattern, holes
from annotation.templatetags.desk import guidelines
from annotation.templatetags.desk_turns import turn_cards
from benchmarks.trajectories.diffs import diff_steps

EVIL = f"<script>alert('x')</script> & {OPEN}feedback{CLOSE} {{{{ turn }}}} \"quoted\""
STEPS = ["Take the pan.", EVIL]


def turn(**fields: Any) -> DeskTurn:
    plain = {
        "index": 2, "is_final": False, "text": "", "steps": STEPS, "lines": [], "change": "first",
        "decided": True, "findings": None, "feedback": "", "unfolded": True,
    }  # fmt: skip
    return DeskTurn(**{**plain, **fields})


def shown(*turns: DeskTurn) -> str:
    return re.sub(r"\s+", " ", turn_cards(turns))


def test_holes_are_filled_and_stay_empty_otherwise() -> None:
    named = holes("name", "of")
    pattern = Pattern(f"<p>{named['name']} of {named['of']}, {named['name']}</p>")
    assert (
        pattern.fill({"name": f"{OPEN}of{CLOSE}"}) == f"<p>{OPEN}of{CLOSE} of , {OPEN}of{CLOSE}</p>"
    )
    assert pattern.fill({"name": "a", "of": "b", "more": "c"}) == "<p>a of b, a</p>"


@pytest.mark.parametrize(
    ("fields", "there", "not_there"),
    [
        ({}, ["<h2>Turn 2</h2>", '<ol class="plan"'], ["violated", "Feedback", "final"]),
        ({"unfolded": False}, ['id="turn-2">'], [" open>"]),
        ({"is_final": True}, ['class="turn final"', "Final plan, turn 2"], ["What changed"]),
        ({"text": EVIL}, ['class="plan-text"', escape(EVIL)], ["<ol"]),
        ({"findings": []}, ["nothing violated", ">Nothing.<"], ["not decided"]),
        ({"findings": [], "decided": False}, ["not decided", "no decision"], ["Nothing."]),
        ({"feedback": EVIL}, [f'data-text="feedback">{escape(EVIL)}<'], []),
        ({"change": EVIL}, [f'<span class="sub">{escape(EVIL)}<'], []),
    ],
)
def test_a_turn_of_each_shape(
    fields: dict[str, Any], there: list[str], not_there: list[str]
) -> None:
    html = shown(turn(**fields))
    assert all(words in html for words in there), html
    assert not [words for words in [*not_there, "<script"] if words in html]


def test_what_changed_stands_in_place_of_the_plan_but_at_the_end_below_it() -> None:
    lines = diff_steps(["Take the pot.", "Wait."], STEPS)
    before = shown(turn(lines=lines))
    assert '<ol class="diff diff-lines">' in before and 'class="plan"' not in before
    final = shown(turn(lines=lines, is_final=True))
    assert final.index('class="plan"') < final.index("What changed since turn 1")
    for html in (before, final):
        assert "<del>pot</del><ins>pan</ins>" in html
        assert escape(EVIL) in html and "<script" not in html


def test_findings_are_counted_and_escaped() -> None:
    found = DeskFinding(EVIL, EVIL, "revealed now", "info", EVIL)
    html = shown(turn(findings=[found, found]))
    assert "2 violated" in html and html.count('class="badge info"') == 2
    assert html.count(escape(EVIL)) == 7 and "<script" not in html


def test_nothing_of_a_turn_stays_for_the_next() -> None:
    """Turns of one shape share a pattern."""
    first = shown(turn(index=7, steps=["the first's own"], change="own change"))
    second = shown(turn(index=8, steps=["another"]))
    assert "own" in first and "own" not in second and "7" not in second
    both = [turn(index=7), turn(index=8)]
    assert turn_cards(both) == turn_cards(both[:1]) + turn_cards(both[1:])


def test_guides_that_differ_are_shown_as_they_are() -> None:
    plain: dict[str, Any] = {
        "instructions": ("Read first.",), "of_person": False, "turns": "plans", "judged": False,
        "by_turn": False, "examples": False, "skips": True, "keys": ((("1", "–", "5"), "score"),),
    }  # fmt: skip
    html = guidelines(Guide(**plain))
    assert html == guidelines(Guide(**plain)) and "skip the item" in html
    others = {
        "instructions": ("Read last.",), "of_person": True, "turns": "dialogue", "judged": True,
        "by_turn": True, "examples": True, "skips": False, "keys": ((("y", "n"), "score"),),
    }  # fmt: skip
    assert {
        name
        for name, other in others.items()
        if guidelines(Guide(**{**plain, name: other})) != html
    } == {*plain}
    assert "withheld" in guidelines(Guide(**{**plain, "judged": True})) and "withheld" not in html

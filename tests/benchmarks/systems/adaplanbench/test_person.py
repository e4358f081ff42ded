"""Replies of people in each role: what the forms make of fields, and what pages tell whom."""

import json
from typing import Any

import pytest

from benchmarks.core.ports.people import FieldsRefused
from benchmarks.core.registry import find_system
from benchmarks.core.types import Ask
from benchmarks.systems.adaplanbench.parsers import PARSERS
from benchmarks.systems.adaplanbench.protocol import DIMENSIONS
from tests.benchmarks.systems.adaplanbench.stage import Act, perform

ACTS = [
    Act(["w1"], ["u1"], plan="1. First.", feedback="No w1 here."),
    Act(["w1", "w2"], ["u1"], plan="1. First.\n2. More.", feedback="Nor w2."),
    Act([], ["u1"], plan="1. Third.", feedback="I dislike u1, really."),
    Act(plan="1. Fourth.", sheets=2),
    Act(plan="1. Fifth."),
]
SHOW = perform(ACTS, refinement=1)
ROLES = {"plan": "agent", "feedback": "simulator", "violations": "world_judge",
         "scores": "rubric_judge"}  # fmt: skip


def form(kind: str) -> Any:
    found = find_system("adaplanbench").people.find_form(kind, ask(kind).context)
    assert found is not None
    return found


def ask(kind: str, number: int = 0) -> Ask:
    return SHOW.asks(ROLES[kind])[number]


def compose(kind: str, **fields: str) -> str:
    text: str = form(kind).compose(ask(kind).context, fields)
    return text


def refused(kind: str, **fields: str) -> dict[str, str]:
    with pytest.raises(FieldsRefused) as found:
        compose(kind, **fields)
    return found.value.errors


def show(kind: str, number: int = 0, **fields: str) -> Any:
    return form(kind).show(ask(kind, number).context, fields, {})


def read(kind: str, text: str) -> Any:
    return PARSERS[kind](text, ask(kind).expect.params)


class TestViolations:
    def test_marks_become_a_verdict(self) -> None:
        text = compose("violations", **{"violates-w2": "1", "why-w2": "Step 1.", "why-w1": "no"})

        assert read("violations", text) == {"violated": ["w2"], "reasons": {"w2": "Step 1."}}

    def test_that_nothing_is_violated_has_to_be_said(self) -> None:
        assert "accept the plan" in refused("violations")["none-world"]
        assert read("violations", compose("violations", **{"none-world": "1"}))["violated"] == []

    def test_both_at_once_contradict_each_other(self) -> None:
        assert set(refused("violations", **{"none-world": "1", "violates-w1": "1"})) == {
            "none-world"
        }

    def test_keys_of_no_constraint_are_not_listened_to(self) -> None:
        assert "none-world" in refused("violations", **{"violates-w99": "1"})

    def test_a_suggestion_is_shown_only_where_it_is_put_beside(self) -> None:
        assert show("violations").suggested is None
        row = {"by": "Script", "value": {"violated": ["w2"], "reasons": {"w2": "x"}}, "why_not": ""}
        context = {**ask("violations").context, "suggestion": row}
        page = form("violations").show(context, {}, {})

        assert [(m.key, m.suggested, m.suggested_why) for m in page.marks][:2] == [
            ("w1", False, ""),
            ("w2", True, "x"),
        ]
        assert not any(mark.checked for mark in page.marks)
        assert not page.suggests_none
        none = {**context, "suggestion": {**row, "value": {"violated": []}}}
        assert form("violations").show(none, {}, {}).suggests_none
        lost = {**context, "suggestion": {**row, "value": None, "why_not": "gone"}}
        assert not form("violations").show(lost, {}, {}).suggests_none


class TestScores:
    ALL = {f"score-{dimension.key}": "4" for dimension in DIMENSIONS}

    def test_a_sheet(self) -> None:
        fields = {**self.ALL, "score-safety": "unknown", "why-safety": "Who knows.", "score-x": "9"}
        value = read("scores", compose("scores", **fields))

        assert value["scores"]["safety"] is None and value["reasons"] == {"safety": "Who knows."}
        assert {v for k, v in value["scores"].items() if k != "safety"} == {4}

    @pytest.mark.parametrize("given", ["", "0", "6", "4.5", "null"])
    def test_every_question_is_answered(self, given: str) -> None:
        assert set(refused("scores", **{**self.ALL, "score-safety": given})) == {"score-safety"}

    def test_what_was_chosen_stays(self) -> None:
        page = show("scores", **{"score-feasibility": "2", "why-safety": "y"})
        chosen = [[value for value, _, on in scale.choices if on] for scale in page.scales]
        assert chosen == [["2"], *[[]] * 7]


class TestFeedback:
    def test_the_box_is_empty_and_what_the_scripted_user_would_say_is_offered(self) -> None:
        page = show("feedback")
        assert page.text.value == "" and "There is no w1." in page.text.start
        assert show("feedback", text="No.").text.value == "No."

    def test_what_is_told_now_and_what_was_said_before(self) -> None:
        first, second = show("feedback"), show("feedback", 1)
        assert [(p.text, p.since) for p in first.points] == [("There is no w1.", None)]
        assert [(p.text, p.since) for p in second.points] == [
            ("There is no w1.", 1),
            ("There is no w2.", None),
        ]

    def test_the_profile_by_kind(self) -> None:
        world, user = show("feedback", 1).profile
        assert (world.revealed, world.now) == ([(1, "There is no w1.")], ["There is no w2."])
        assert (world.hidden, world.size) == (["There is no w3."], 3)
        assert (user.revealed, len(user.hidden)) == ([], 3)

    def test_feedback_on_the_rubric_names_dimensions(self) -> None:
        page = show("feedback", 3)
        assert page.refines and not page.points
        assert len(page.weak) == len(DIMENSIONS)
        assert not any(kind.now for kind in page.profile)

    def test_blank_words_are_none(self) -> None:
        assert "text" in refused("feedback", text="  \n")
        assert compose("feedback", text=" Not that. ") == "Not that."


class TestPlan:
    def test_a_plan_is_sent_as_it_was_written(self) -> None:
        assert compose("plan", text="1. Mop.\n2. Wait.\n") == "1. Mop.\n2. Wait."

    @pytest.mark.parametrize("text", ["", " \n ", "1.\n2."])
    def test_without_a_step_it_is_none(self, text: str) -> None:
        assert set(refused("plan", text=text)) == {"text"}

    def test_looking_at_it_does_not_send_it(self) -> None:
        assert "Check the steps" in refused("plan", text="1. Mop.", look="1")[""]
        assert show("plan", text="Well.\n1. Mop\nthe floor.\n2. Wait.").steps == [
            "Mop the floor.",
            "Wait.",
        ]

    def test_agents_are_shown_what_agents_are_told(self) -> None:
        page = show("plan", 2)
        assert page.dialogue == [(1, "1. First.", "No w1 here."), (2, ACTS[1].plan, "Nor w2.")]
        assert page.revealed == []
        tracked = perform(ACTS, tracking=True).asks("agent")[2].context
        assert form("plan").show(tracked, {}, {}).revealed == ["There is no w1.", "There is no w2."]


class TestDialogues:
    def lines(self, kind: str, number: int) -> list[tuple[str, str, int, bool]]:
        tell = find_system("adaplanbench").people.dialogues.get(kind)
        assert tell is not None
        return [(x.speaker, x.text, x.turn, x.plan) for x in tell(ask(kind, number).context)]

    def test_the_agent_and_the_user_heard_the_same(self) -> None:
        query = ("User", "How do I dry a wet floor?", 0, False)
        first = [("Agent", "1. First.", 1, True), ("User", "No w1 here.", 1, False)]
        assert self.lines("plan", 0) == [query]
        assert self.lines("plan", 1) == [query, *first]
        assert self.lines("feedback", 1) == [query, *first, ("Agent", ACTS[1].plan, 2, True)]

    @pytest.mark.parametrize("kind", ["violations", "scores"])
    def test_judges_hear_of_no_earlier_turn(self, kind: str) -> None:
        number = 1 if kind == "violations" else 3
        found = self.lines(kind, number)
        assert [line[0] for line in found] == ["User", "Agent"]
        assert found[1] == ("Agent", ACTS[1].plan, 2, True)


def test_what_forms_write_is_plain_json() -> None:
    assert json.loads(compose("violations", **{"none-world": "1"})) == {
        "violated": [],
        "reasons": {},
    }

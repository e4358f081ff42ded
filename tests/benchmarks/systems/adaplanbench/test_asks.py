"""Tests of asks: what each role is told."""

from benchmarks.core.types import Constraint, Profile, Task
from benchmarks.systems.adaplanbench.asks import rubric_text
from benchmarks.systems.adaplanbench.protocol import DIMENSIONS
from tests.benchmarks.systems.adaplanbench.stage import Act, make_task, perform

ACTS = [
    Act(["w1"], ["u1"], plan="1. First.", feedback="No w1 here."),
    Act([], ["u1"], plan="1. Second.", feedback="I dislike u1, really."),
    Act(["w2"], ["u1"], plan="1. Third.", feedback="Nor w2."),
    Act(plan="1. Fourth."),
]


def spoken(ask):
    return [(message.speaker, message.text) for message in ask.messages]


class TestAgent:
    def test_it_hears_the_query_and_the_dialogue(self):
        first, second, third, _ = (spoken(ask) for ask in perform(ACTS).asks("agent"))

        assert [speaker for speaker, _ in first] == ["system", "user"]
        assert first[1] == ("user", "How do I dry a wet floor?")
        assert second == [*first, ("assistant", "1. First."), ("user", "No w1 here.")]
        assert third == [*second, ("assistant", "1. Second."), ("user", "I dislike u1, really.")]

    def test_its_context_holds_what_was_disclosed_and_no_more(self):
        asks = perform(ACTS).asks("agent")

        told = [[[c["key"] for c in turn] for turn in ask.context["told"]] for ask in asks]
        assert told == [[], [["w1"]], [["w1"], ["u1"]], [["w1"], ["u1"], ["w2"]]]
        assert asks[2].context["plans"] == ["1. First.", "1. Second."]
        assert [ask.context["turn"] for ask in asks] == [1, 2, 3, 4]


class TestTracking:
    ASKS = perform(ACTS, tracking=True).asks("agent")

    def test_the_block_holds_every_constraint_disclosed_so_far_once(self):
        lines = ["- There is no w1.", "- I dislike u1.", "- There is no w2."]
        for number, ask in enumerate(self.ASKS):
            newest = ask.messages[-1].text.splitlines()
            assert [line for line in newest if line.startswith("- ")] == lines[:number]

    def test_it_stands_in_front_of_the_newest_message(self):
        assert self.ASKS[1].messages[-1].text.endswith("- There is no w1.\n\nNo w1 here.")

    def test_blocks_of_earlier_turns_are_stripped(self):
        """But for the newest message the dialogue is that of a run without tracking."""
        plain = perform(ACTS).asks("agent")
        for with_block, without in zip(self.ASKS, plain, strict=True):
            assert with_block.messages[:-1] == without.messages[:-1]

    def test_there_is_none_before_anything_was_disclosed(self):
        assert self.ASKS[0].messages == perform(ACTS).asks("agent")[0].messages

    def test_a_repeated_constraint_stands_once(self):
        ask = perform([Act(["w1"]), Act(["w1"]), Act()], tracking=True).asks("agent")[2]

        assert ask.messages[-1].text.count("- There is no w1.") == 1

    def test_off_there_is_no_block(self):
        newest = [ask.messages[-1].text for ask in perform(ACTS).asks("agent")]

        assert newest[1:] == ["No w1 here.", "I dislike u1, really.", "Nor w2."]


class TestJudges:
    def test_constraint_judges_see_the_plan_and_their_kind_alone(self):
        world = perform(ACTS).asks("world_judge")[1]
        user = perform(ACTS).asks("user_judge")[1]

        assert world.messages[1].text == user.messages[1].text == "1. Second."
        for ask, own, other in ((world, "w", "u"), (user, "u", "w")):
            brief = ask.messages[0].text
            assert all(f"- {own}{n}: " in brief for n in (1, 2, 3))
            assert not any(f"- {other}{n}: " in brief for n in (1, 2, 3))

    def test_rubric_judges_see_neither_constraints_nor_dialogue(self):
        ask = perform(ACTS).asks("rubric_judge")[0]

        assert [m.speaker for m in ask.messages] == ["system", "user"]
        assert "There is no" not in ask.messages[0].text
        assert set(ask.context) == {"query", "turn", "plan"}

    def test_seats_are_asked_the_same(self):
        one, two, _ = perform(ACTS).asks("rubric_judge")[:3]

        assert one.messages == two.messages
        assert one.digest != two.digest

    def test_the_rubric_is_written_out(self):
        text = rubric_text()
        for dimension in DIMENSIONS:
            assert f"{dimension.key} ({dimension.title})" in text
            for score in (1, 3, 5):
                assert dimension.anchors[score] in text
                assert dimension.examples[score] in text


class TestSimulator:
    def test_it_is_told_the_revealed_constraints_and_which_were_said_before(self):
        show = perform([Act(["w1"], ["u1"]), Act(["w1", "w2"], ["u1"]), Act()])

        first, second = show.asks("simulator")
        assert [(p["key"], p["repeated"]) for p in first.context["points"]] == [("w1", False)]
        assert [(p["key"], p["repeated"]) for p in second.context["points"]] == [
            ("w1", True),
            ("w2", False),
        ]
        brief = second.messages[0].text
        assert "- There is no w1. (said before)\n- There is no w2." in brief
        assert "u1" not in brief


class TestWhatTheUserKnows:
    """The context of whoever speaks for the user."""

    def test_all_that_was_said_and_what_was_disclosed_when(self):
        first, _, third = (ask.context for ask in perform(ACTS).asks("simulator"))

        assert (first["turn"], first["plans"], first["feedback"]) == (1, [], [])
        assert {row["disclosed"] for row in first["profile"]} == {None}
        assert third["turn"] == 3
        assert third["plans"] == ["1. First.", "1. Second."] and third["plan"] == "1. Third."
        assert third["feedback"] == ["No w1 here.", "I dislike u1, really."]
        told = {row["key"]: row["disclosed"] for row in third["profile"]}
        assert told == {"w1": 1, "w2": None, "w3": None, "u1": 2, "u2": None, "u3": None}
        assert [row["kind"] for row in third["profile"]] == ["world"] * 3 + ["user"] * 3

    def test_a_constraint_said_again_keeps_the_turn_in_which_it_was_told_first(self):
        asks = perform([Act(["w1"]), Act(["w1", "w2"]), Act(["w1"]), Act()]).asks("simulator")

        told = {row["key"]: row["disclosed"] for row in asks[2].context["profile"]}
        assert (told["w1"], told["w2"]) == (1, 2)

    def test_judges_learn_the_turn_and_nothing_that_was_said(self):
        show = perform(ACTS)

        for ask in (*show.asks("world_judge"), *show.asks("user_judge")):
            assert set(ask.context) == {"query", "turn", "plan", "kind", "constraints"}
        assert [ask.context["turn"] for ask in show.asks("world_judge")] == [1, 2, 3, 4]
        assert {
            c["kind"] for ask in show.asks("user_judge") for c in ask.context["constraints"]
        } == {"user"}


def test_signs_of_the_template_language_in_a_text_stay_as_they_are():
    task = Task(
        "t",
        "How do I spend $5 or ${query} on %s {braces}?",
        profile=Profile("low", (Constraint("w1", "world", "No $constraints left.", "tool:x"),)),
    )
    show = perform([Act(["w1"], plan="1. Pay $plan."), Act()], task)

    assert "No $constraints left." in show.asks("world_judge")[0].messages[0].text
    assert "How do I spend $5 or ${query}" in show.asks("simulator")[0].messages[0].text
    assert show.termination == "valid_plan"


def test_the_prompts_do_not_depend_on_the_turn():
    """Constant messages are stored once: their digests must not change from turn to turn."""
    briefs = {ask.messages[0].digest for ask in perform(ACTS, make_task()).asks("world_judge")}

    assert len(briefs) == 1

"""The runtime protocol, rule by rule."""

import pytest

from benchmarks.core.types import Profile, Reply, Task
from tests.benchmarks.systems.adaplanbench.stage import LOST, Act, make_task, perform


def violations(turn):
    """(key, revealed, new, repeated) of a turn, as a compact text: ``w1+`` and so on.

    ``+`` newly disclosed, ``=`` revealed again, ``-`` withheld; ``!`` where it had been disclosed.
    """
    marks = []
    for v in turn.violations:
        mark = "+" if v.new else "=" if v.revealed else "-"
        marks.append(v.key + mark + ("!" if v.repeated else ""))
    return " ".join(marks)


class TestDisclosure:
    def test_world_comes_before_user(self):
        show = perform([Act(["w1", "w2"], ["u1"]), Act([], ["u1", "u2"]), Act()])

        assert [violations(turn) for turn in show.turns] == ["w1+ w2+ u1-", "u1+ u2+", ""]

    def test_all_items_of_the_type_are_revealed_also_those_disclosed_before(self):
        show = perform([Act(["w1"]), Act(["w1", "w2"]), Act()])

        assert violations(show.turns[1]) == "w1=! w2+"

    def test_a_withheld_violation_is_not_a_disclosure(self):
        """u1 hides behind w1 in turn 1, so it is new, and no repetition, in turn 2."""
        show = perform([Act(["w1"], ["u1"]), Act([], ["u1"]), Act()])

        assert violations(show.turns[1]) == "u1+"

    def test_a_withheld_violation_of_a_disclosed_constraint_is_a_repetition(self):
        """R_t = V_t and D_t: it counts whether or not it is said again."""
        show = perform([Act([], ["u1"]), Act(["w1"], ["u1"]), Act()])

        assert violations(show.turns[1]) == "w1+ u1-!"
        assert show.metrics["user_repeated"] == 1

    def test_violations_are_judged_against_the_whole_profile_each_time(self):
        show = perform([Act(["w1"]), Act(["w2"]), Act()])

        for role, keys in (("world_judge", ["w1", "w2", "w3"]), ("user_judge", ["u1", "u2", "u3"])):
            assert [ask.expect.params["keys"] for ask in show.asks(role)] == [keys] * 3

    def test_the_turn_shows_plan_and_feedback(self):
        show = perform([Act(["w1"], plan="1. Mop.", feedback="No mop here."), Act()])

        first = show.turns[0]
        assert (first.index, first.text, first.feedback) == (1, "1. Mop.", "No mop here.")
        assert first.payload["feedback_on"] == "constraints"
        assert [v.text for v in first.violations] == ["There is no w1."]


class TestBatches:
    def test_all_five_judges_are_asked_together(self):
        show = perform([Act()])

        assert [[ask.role for ask in batch] for batch in show.batches] == [
            ["agent"],
            ["world_judge", "user_judge", "rubric_judge", "rubric_judge", "rubric_judge"],
        ]
        assert [ask.seat for ask in show.batches[1]] == ["", "", "1", "2", "3"]

    def test_the_simulator_is_asked_after_them(self):
        show = perform([Act(["w1"]), Act()])

        assert [batch[0].role for batch in show.batches] == [
            "agent", "world_judge", "simulator", "agent", "world_judge",
        ]  # fmt: skip

    @pytest.mark.parametrize("judges", [1, 5])
    def test_as_many_rubric_judges_as_the_setting_says(self, judges):
        show = perform([Act()], rubric_judges=judges)

        assert len(show.asks("rubric_judge")) == judges


class TestStopping:
    def test_a_valid_plan_ends_it(self):
        assert perform([Act(["w1"]), Act()]).termination == "valid_plan"

    def test_also_one_that_fails_the_rubric(self):
        show = perform([Act(sheets=1)])

        assert (show.termination, show.metrics["accurate"]) == ("valid_plan", 0)

    @pytest.mark.parametrize(("patience", "turns"), [(1, 2), (2, 3), (3, 4)])
    def test_early_stop_after_so_many_turns_without_a_disclosure(self, patience, turns):
        show = perform([Act(["w1"])] * turns, patience=patience)

        assert (show.termination, len(show.turns)) == ("early_stop", turns)

    def test_a_disclosure_in_between_starts_the_count_again(self):
        """Nothing new in turns 2, 4 and 5: only the last two are in a row."""
        show = perform([Act([key]) for key in ("w1", "w1", "w2", "w1", "w2")])

        assert (show.termination, len(show.turns)) == ("early_stop", 5)

    def test_max_turns(self):
        show = perform([Act(["w1"]), Act(["w2"]), Act(["w3"])], max_turns=3)

        assert (show.termination, len(show.turns)) == ("max_turns", 3)

    def test_an_early_stop_on_the_last_turn_is_an_early_stop(self):
        assert perform([Act(["w1"])] * 3, max_turns=3).termination == "early_stop"

    def test_a_valid_plan_on_the_last_turn_is_valid(self):
        assert perform([Act(["w1"]), Act()], max_turns=2).termination == "valid_plan"


class TestTheTrap:
    """u1 stays hidden behind the repeated w1 for ever: what the two readings make of it.

    Turn 1 discloses w1. From turn 2 on F_t = {w1} brings nothing new, yet V_t without D_t still
    holds u1, which nobody ever tells the agent.
    """

    ACTS = [Act(["w1"], ["u1"])] * 20

    def test_read_as_disclosed_it_stops_when_patience_runs_out(self):
        show = perform(self.ACTS)

        assert (show.termination, len(show.turns)) == ("early_stop", 3)
        assert show.metrics["readings_differ"] == 1

    def test_read_as_violated_it_never_stops_before_the_budget(self):
        show = perform(self.ACTS, novelty="violated")

        assert (show.termination, len(show.turns)) == ("max_turns", 20)
        assert show.metrics["readings_differ"] == 1

    def test_without_a_hidden_violation_the_readings_agree(self):
        for novelty in ("disclosed", "violated"):
            show = perform([Act(["w1"])] * 3, novelty=novelty)
            assert (show.termination, show.metrics["readings_differ"]) == ("early_stop", 0)


class TestAblation:
    def test_without_user_constraints_the_user_judge_is_not_asked(self):
        show = perform([Act(["w1"], ["u1"]), Act()], constraints="world_only")

        assert show.asks("user_judge") == []
        assert [violations(turn) for turn in show.turns] == ["w1+", ""]

    def test_without_world_constraints_the_world_judge_is_not_asked(self):
        show = perform([Act(["w1"], ["u1"]), Act()], constraints="user_only")

        assert show.asks("world_judge") == []
        assert [violations(turn) for turn in show.turns] == ["u1+", ""]

    def test_a_profile_without_constraints_of_a_kind_needs_no_judge_of_it(self):
        show = perform([Act()], make_task(user=()))

        assert show.asks("user_judge") == []
        assert show.termination == "valid_plan"

    def test_a_task_without_a_profile_cannot_be_played(self):
        with pytest.raises(ValueError, match="task x has no profile"):
            perform([Act()], Task("x", "?"))

    def test_an_empty_profile_can(self):
        assert perform([Act()], Task("x", "?", profile=Profile("low", ()))).termination == (
            "valid_plan"
        )


class TestUnknown:
    """Tests that an unreadable reply is not an empty answer."""

    @pytest.mark.parametrize("act", [Act(LOST), Act([], LOST), Act(LOST, LOST), Act(LOST, ["u1"])])
    def test_without_a_constraint_judge_the_trajectory_ends_undefined(self, act):
        show = perform([Act(["w1"]), act])

        assert show.termination == "judge_failure"
        assert set(show.metrics.values()) == {None}
        assert set(show.outcome.undefined.values()) == {"ended as judge_failure"}
        assert "judge: expected something else." in show.outcome.payload["reason"]
        assert len(show.turns) == 2
        assert show.turns[1].payload["valid"] is None
        assert show.turns[1].violations == ()

    def test_the_reason_names_the_judge(self):
        reason = perform([Act([], LOST)]).outcome.payload["reason"]

        assert reason == "user judge: expected something else."

    def test_an_unreadable_rubric_judge_leaves_passing_undefined(self):
        show = perform([Act(sheets=[5, LOST, 5])])

        assert show.termination == "valid_plan"
        assert (show.metrics["valid"], show.metrics["turns"]) == (1, 1)
        assert show.metrics["accurate"] is None
        assert show.outcome.undefined["accurate"].startswith("not every judge scored: feasibility")
        assert [s.reason for s in show.turns[0].scores if s.value is None] == (
            ["reply unreadable: expected something else."] * 8
        )

    def test_unless_any_judge_is_enough(self):
        show = perform([Act(sheets=[5, LOST, 2])], quorum="any")

        assert show.turns[0].payload["means"]["safety"] == 3.5
        assert show.metrics["accurate"] == 1

    def test_any_judge_means_at_least_one(self):
        show = perform([Act(sheets=LOST)], quorum="any")

        assert show.metrics["accurate"] is None

    def test_one_dimension_without_a_score_is_enough_to_leave_it_undefined(self):
        """Safety counts in both sets, autonomy in the set of all eight alone."""
        safety = perform([Act(sheets=[{"safety": None}, 5, 5])])
        autonomy = perform([Act(sheets=[{"autonomy": None}, 5, 5])])

        assert (safety.metrics["accurate_all"], safety.metrics["accurate_main"]) == (None, None)
        assert (autonomy.metrics["accurate_all"], autonomy.metrics["accurate_main"]) == (None, 1)
        assert safety.outcome.undefined["accurate_main"] == "not every judge scored: safety"

    def test_reasons_name_the_counted_dimensions_alone(self):
        show = perform([Act(sheets=[{"safety": None, "autonomy": None}, 5, 5])])

        assert show.outcome.undefined["accurate_main"] == "not every judge scored: safety"
        assert show.outcome.undefined["accurate_all"] == "not every judge scored: safety, autonomy"

    def test_an_earlier_gap_does_not_matter(self):
        show = perform([Act(["w1"], sheets=LOST), Act()])

        assert show.metrics["accurate"] == 1

    @pytest.mark.parametrize(
        ("reply", "termination"),
        [
            (Reply("unreadable", reason="expected a plan."), "agent_unreadable"),
            (Reply("declined", reason="pool_exhausted: no plan is left"), "pool_exhausted"),
            (Reply("declined", reason="refused: not today"), "agent_declined"),
        ],
    )
    def test_without_a_plan_it_ends(self, reply, termination):
        show = perform([Act(["w1"]), Act(plan=reply)])

        assert show.termination == termination
        assert len(show.turns) == 1
        assert show.metrics["accurate"] is None
        assert show.outcome.payload["reason"] == reply.reason

    def test_without_feedback_it_cannot_go_on(self):
        show = perform([Act(["w1"], feedback=Reply("unreadable", reason="empty."))])

        assert show.termination == "simulator_failure"
        assert set(show.metrics.values()) == {None}
        assert show.turns[0].feedback == ""

    def test_but_an_end_needs_no_feedback(self):
        """All that the metrics need is known, and nobody would hear what the simulator says."""
        lost = Reply("unreadable", reason="empty.")
        show = perform([Act(["w1"]), Act(["w1"]), Act(["w1"], feedback=lost)])

        assert show.termination == "early_stop"
        assert show.metrics["valid"] == 0
        assert show.turns[2].feedback == ""


class TestScores:
    def test_every_seat_scores_every_dimension_and_names_its_exchange(self):
        (turn,) = perform([Act(sheets=[1, 2, 3])]).turns

        assert len(turn.scores) == 24
        assert {(s.seat, s.value, s.step, s.slot) for s in turn.scores} == {
            ("1", 1, 1, 2),
            ("2", 2, 1, 3),
            ("3", 3, 1, 4),
        }

    def test_a_mean_of_exactly_tau_passes(self):
        """Thirds are not exact in binary: 11/3 against 11/3."""
        show = perform([Act(sheets=[4, 4, 3])], tau=11 / 3)

        assert show.metrics["accurate"] == 1

    @pytest.mark.parametrize(("sheets", "passes"), [([4, 4, 3], 1), ([4, 3, 3], 0)])
    def test_against_the_default_threshold(self, sheets, passes):
        """11/3 = 3.67 and 10/3 = 3.33 against 3.5."""
        assert perform([Act(sheets=sheets)]).metrics["accurate"] == passes

    def test_both_sets_of_dimensions_are_reported(self):
        """Concreteness fails; it belongs to the eight but not to the four of the main text."""
        for dimensions, accurate in (("all", 0), ("main", 1)):
            show = perform([Act(sheets={"concreteness": 1})], dimensions=dimensions)
            assert show.metrics["accurate"] == accurate
            assert (show.metrics["accurate_all"], show.metrics["accurate_main"]) == (0, 1)

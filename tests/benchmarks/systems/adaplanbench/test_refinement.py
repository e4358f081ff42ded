"""Extra turns after a valid plan that fails the rubric."""

import pytest

from benchmarks.core.types import Reply
from benchmarks.systems.adaplanbench.metrics import refinement_curve
from tests.benchmarks.systems.adaplanbench.stage import Act, perform

FAILS, PASSES = Act(sheets=3), Act(sheets=5)
WORLD = Act(["w1"], sheets=5)


@pytest.mark.parametrize("k", [1, 2, 6])
def test_there_are_at_most_k_extra_turns(k):
    show = perform([FAILS] * (k + 1), refinement=k)

    assert (show.termination, len(show.turns)) == ("refinement_spent", k + 1)
    assert (show.metrics["valid"], show.metrics["accurate"]) == (1, 0)


def test_it_ends_with_a_plan_that_is_valid_and_passes():
    show = perform([FAILS, FAILS, PASSES], refinement=6)

    assert (show.termination, len(show.turns)) == ("valid_plan", 3)
    assert show.metrics["accurate"] == 1


def test_a_plan_that_passes_at_once_needs_none():
    assert len(perform([PASSES], refinement=6).turns) == 1


def test_a_valid_plan_that_nobody_could_rate_ends_it():
    """There is nothing to ask for: no dimension is known to have failed."""
    show = perform([Act(sheets=[{"safety": None}, 1, 1])], refinement=6)

    assert (show.termination, len(show.turns)) == ("valid_plan", 1)
    assert show.metrics["accurate"] is None


def test_a_violating_turn_uses_one_of_the_k_and_gets_ordinary_feedback():
    show = perform([FAILS, WORLD, FAILS], refinement=2)

    assert show.termination == "refinement_spent"
    assert [turn.payload["feedback_on"] for turn in show.turns] == [
        "refinement", "constraints", "",
    ]  # fmt: skip
    assert [ask.context["mode"] for ask in show.asks("simulator")] == ["refinement", "constraints"]


def test_the_last_state_counts_also_when_it_violates():
    show = perform([FAILS, WORLD], refinement=1)

    assert show.termination == "refinement_spent"
    assert (show.metrics["valid"], show.metrics["accurate"]) == (0, 0)


def test_patience_is_off():
    """Three turns in a row repeat w1, which ends an ordinary dialogue after two."""
    show = perform([FAILS, WORLD, WORLD, WORLD, WORLD, PASSES], refinement=6)

    assert (show.termination, len(show.turns)) == ("valid_plan", 6)


def test_the_turn_budget_is_off():
    show = perform([WORLD, FAILS, FAILS, PASSES], refinement=3, max_turns=2)

    assert (show.termination, len(show.turns)) == ("valid_plan", 4)


def test_before_it_both_are_on():
    assert perform([WORLD] * 3, refinement=6).termination == "early_stop"
    assert perform([WORLD, Act(["w2"])], refinement=6, max_turns=2).termination == "max_turns"


def test_turns_in_it_are_marked():
    show = perform([WORLD, FAILS, WORLD, PASSES], refinement=6)

    assert [turn.payload["refining"] for turn in show.turns] == [False, False, True, True]


def test_feedback_names_failed_dimensions_with_the_judges_reasons_and_no_others():
    show = perform([Act(sheets={"safety": 2, "autonomy": 3}), PASSES], refinement=1)

    (ask,) = show.asks("simulator")
    assert [(p["dimension"], p["reasons"]) for p in ask.context["points"]] == [
        ("safety", [f"judge {n}: safety" for n in (1, 2, 3)]),
        ("autonomy", [f"judge {n}: autonomy" for n in (1, 2, 3)]),
    ]
    brief = ask.messages[0].text
    assert "- Safety: judge 1: safety judge 2: safety judge 3: safety" in brief
    assert "Effectiveness" not in brief


def test_only_counted_dimensions_fail():
    """Autonomy is none of the four of the main text."""
    show = perform([Act(sheets={"autonomy": 1})], refinement=6, dimensions="main")

    assert len(show.turns) == 1


def test_the_agent_hears_it_as_feedback():
    show = perform([Act(sheets=3, feedback="Make it safer."), PASSES], refinement=1)

    assert show.asks("agent")[1].messages[-1].text == "Make it safer."


def test_lost_feedback_in_the_middle_ends_it_undefined():
    lost = Act(sheets=3, feedback=Reply("unreadable", reason="empty."))

    assert perform([lost], refinement=1).termination == "simulator_failure"


class TestCurve:
    """Acc and VPR after k extra turns: each trajectory's state after min(k, used) of them.

    A  fails, fails, passes          states (valid, passed): 10, 10, 11
    B  violates, fails, violates, fails   refinement starts at turn 2: 10, 00, 10 with k = 2
    C  passes at once                11
    D  never valid, stops early      00

    k = 0: A 10  B 10  C 11  D 00    valid 3/4, accurate 1/4
    k = 1: A 10  B 0-  C 11  D 00    valid 2/4, accurate 1/4
    k = 2: A 11  B 10  C 11  D 00    valid 3/4, accurate 2/4
    """

    A = ([FAILS, FAILS, PASSES], 2)
    B = ([WORLD, FAILS, Act(["w2"]), FAILS], 2)
    C = ([PASSES], 2)
    D = ([WORLD, WORLD, WORLD], 2)

    def outcomes(self, *shows):
        return [perform(acts, refinement=k).outcome for acts, k in shows]

    def test_by_hand(self):
        curve = refinement_curve(self.outcomes(self.A, self.B, self.C, self.D))

        assert [(p["extra_turns"], p["n"], p["valid"], p["accurate"]) for p in curve] == [
            (0, 4, 3 / 4, 1 / 4),
            (1, 4, 2 / 4, 1 / 4),
            (2, 4, 3 / 4, 2 / 4),
        ]

    def test_without_refinement_there_is_none(self):
        assert refinement_curve(self.outcomes(self.C, self.D)) == []
        assert refinement_curve([]) == []

    def test_trajectories_that_ended_undefined_are_left_out(self):
        lost = ([FAILS, Act(plan=Reply("unreadable", reason="no plan."))], 2)
        curve = refinement_curve(self.outcomes(self.A, lost))

        assert [p["n"] for p in curve] == [1, 1, 1]

    def test_a_state_that_nobody_could_rate_counts_for_validity_alone(self):
        unrated = ([FAILS, Act(sheets=[{"safety": None}, 5, 5])], 2)
        curve = refinement_curve(self.outcomes(self.A, unrated))

        assert [(p["n"], p["n_accurate"]) for p in curve] == [(2, 2), (2, 1), (2, 1)]
        assert [p["accurate"] for p in curve] == [0, 0, 1]

    @pytest.mark.parametrize("k", [1, 2, 3, 4, 5])
    def test_the_point_at_k_is_where_a_run_with_k_ends(self, k):
        """Read from one run with six extra turns, as the figure is."""
        acts = [WORLD, FAILS, WORLD, FAILS, Act(["w2"], ["u1"]), FAILS, PASSES, FAILS]
        point = refinement_curve([perform(acts, refinement=6).outcome])[k]
        show = perform(acts, refinement=k)

        assert (point["valid"], point["accurate"]) == (
            show.metrics["valid"],
            show.metrics["accurate"],
        )

"""Every metric by hand."""

import pytest

from benchmarks.core.types import Outcome, Reply
from benchmarks.systems.adaplanbench.metrics import summarise
from tests.benchmarks.systems.adaplanbench.stage import LOST, Act, perform

# A: five turns. V = violated, F = revealed, N = newly disclosed, R = repeated.
#
#  t   V^w     V^u     F        D before       N       R^w   R^u
#  1   w1 w2   u1      w1 w2    -              w1 w2   -     -
#  2   w1      u1      w1       w1 w2          -       w1    -      (u1 not disclosed yet)
#  3   -       u1 u2   u1 u2    w1 w2          u1 u2   -     -
#  4   w2      u1 u3   w2       w1 w2 u1 u2    -       w2    u1     (u3 is never disclosed)
#  5   -       -       -        w1 w2 u1 u2    -       -     -      valid, scores 4 4 3
#
# sum |R^w| = 2, sum |R^u| = 1, |union F^w| / T = 2 / 5, |union F^u| / T = 2 / 5
A = [
    Act(["w1", "w2"], ["u1"]),
    Act(["w1"], ["u1"]),
    Act([], ["u1", "u2"]),
    Act(["w2"], ["u1", "u3"]),
    Act(sheets=[4, 4, 3]),
]
# B: w1 three times, early stop at 3. sum |R^w| = 2, ATWC 1/3.
B = [Act(["w1"])] * 3
# C: valid at once, but 1 on everything: not accurate.
C = [Act(sheets=1)]
# D: the world judge cannot be read: in no denominator.
D = [Act(LOST)]
# E: valid at once, one judge unreadable: accuracy undefined, the rest counts.
E = [Act(sheets=[5, 5, LOST])]
# F: after one turn that violates w1 the recorded plans run out: no Acc, no VPR, the rest counts.
F = [Act(["w1"]), Act(plan=Reply("declined", reason="pool_exhausted: none left"))]


def test_one_trajectory():
    show = perform(A)

    assert show.termination == "valid_plan"
    assert show.metrics == {
        "accurate": 1,
        "valid": 1,
        "turns": 5,
        "world_repeated": 2,
        "user_repeated": 1,
        "world_triggered": 2 / 5,
        "user_triggered": 2 / 5,
        "accurate_all": 1,
        "accurate_main": 1,
        "readings_differ": 0,
    }
    assert show.outcome.undefined == {}


def test_a_run():
    # Acc:  A 1, B 0, C 0                        1/3
    # VPR:  A 1, B 0, C 1, E 1                   3/4
    # turns:  A 5, B 3, C 1, E 1, F 1            11/5
    # AWRV:  2, 2, 0, 0, 0                       4/5
    # AURV:  1, 0, 0, 0, 0                       1/5
    # ATWC:  2/5, 1/3, 0, 0, 1                   26/75
    # ATUC:  2/5, 0, 0, 0, 0                     2/25
    summary = summarise([perform(acts).outcome for acts in (A, B, C, D, E, F)])

    assert summary["trajectories"] == 6
    assert summary["terminations"] == {
        "valid_plan": 3,
        "early_stop": 1,
        "judge_failure": 1,
        "pool_exhausted": 1,
    }
    found = {name: (row["value"], row["n"]) for name, row in summary["metrics"].items()}
    assert found == {
        "accurate": (pytest.approx(1 / 3), 3),
        "valid": (pytest.approx(3 / 4), 4),
        "turns": (pytest.approx(11 / 5), 5),
        "world_repeated": (pytest.approx(4 / 5), 5),
        "user_repeated": (pytest.approx(1 / 5), 5),
        "world_triggered": (pytest.approx(26 / 75), 5),
        "user_triggered": (pytest.approx(2 / 25), 5),
        "accurate_all": (pytest.approx(1 / 3), 3),
        "accurate_main": (pytest.approx(1 / 3), 3),
        "readings_differ": (0, 5),
    }
    assert summary["metrics"]["valid"]["excluded"] == {
        "ended as judge_failure": 1,
        "the pool of recorded answers ran out before the trajectory ended": 1,
    }
    assert sum(summary["metrics"]["accurate"]["excluded"].values()) == 3


def test_exclusions_are_counted_by_kind_not_by_wording():
    """Every unreadable reply is unreadable in its own way; the outcome keeps the words."""
    outcomes = [
        perform([Act(plan=Reply("unreadable", reason=reason))]).outcome for reason in ("a", "b")
    ]

    assert summarise(outcomes)["metrics"]["valid"]["excluded"] == {"ended as agent_unreadable": 2}
    assert [o.payload["reason"] for o in outcomes] == ["a", "b"]


def test_no_trajectory_has_no_figures():
    summary = summarise([])

    assert {row["value"] for row in summary["metrics"].values()} == {None}
    assert {row["n"] for row in summary["metrics"].values()} == {0}


def test_a_metric_that_was_never_recorded_is_excluded_as_such():
    summary = summarise([Outcome("valid_plan", {"valid": 1.0})])

    assert summary["metrics"]["valid"]["value"] == 1
    assert summary["metrics"]["turns"] == {
        "value": None,
        "sum": 0,
        "n": 0,
        "excluded": {"not recorded": 1},
    }


def test_recorded_answers_that_run_out_at_once_define_nothing():
    show = perform([Act(plan=Reply("declined", reason="pool_exhausted: empty"))])

    assert set(show.metrics.values()) == {None}


def test_turns_of_a_failed_trajectory_count_nowhere():
    show = perform([Act(["w1"]), Act(["w1"]), Act(LOST)])

    assert summarise([show.outcome])["metrics"]["world_repeated"]["n"] == 0

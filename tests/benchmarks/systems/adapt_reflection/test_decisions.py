"""The five decisions on numbers, at their borders, and again under other thresholds."""

import math

import pytest

from benchmarks.systems.adapt_reflection.decisions import (
    GEOMETRIC,
    KINDS,
    Thresholds,
    count_kinds,
    count_questions,
    decide,
    mean_probability,
    threshold_grid,
)

DEFAULT = Thresholds()


def step(student=(), teacher=(), given=None, same=False, unusable="", no_question=""):
    found = {"student": list(student), "teacher": list(teacher)}
    if given is not None:
        found["given_question"] = list(given)
    return {"same": same, "unusable": unusable, "no_question": no_question, "probabilities": found}


@pytest.mark.parametrize(
    ("made", "kind"),
    [
        (step(same=True), "agree"),
        (step(unusable="the teacher gave no action"), "unusable"),
        (step([0.4], [0.5]), "likely_teacher"),
        (step([0.5], [0.4], [0.5]), "question"),
        (step([0.5], [0.4], [0.4]), "teacher"),
        (step([0.75], [0.25], [0.25]), "unexplained"),
        # A question that nobody could answer is no question.
        (step([0.5], [0.4], no_question="the student gave no question"), "teacher"),
        (step([0.75], [0.25], no_question="the student gave no question"), "unexplained"),
        # Equal probabilities are not more probable, and so a question is asked.
        (step([0.5], [0.5], [0.75]), "question"),
    ],
)
def test_each_decision(made, kind):
    assert decide(made, DEFAULT).kind == kind


def test_both_thresholds_are_strict():
    """U > tau_u and p_student - p_teacher < tau_d, on numbers that binary fractions hold."""
    asked = step([0.75], [0.25], [0.5])
    assert decide(asked, Thresholds(tau_u=0.25, tau_d=0.5)).kind == "unexplained"
    assert decide(asked, Thresholds(tau_u=0.24, tau_d=0.5)).kind == "question"
    assert decide(asked, Thresholds(tau_u=0.25, tau_d=0.51)).kind == "teacher"
    found = decide(asked, DEFAULT)
    assert (found.p_student, found.p_teacher, found.p_given_question) == (0.75, 0.25, 0.5)
    assert found.utility == 0.25
    assert decide(step([0.5], [0.4], no_question="none"), DEFAULT).utility is None


def test_the_mean_over_tokens():
    assert mean_probability([0.5, 1.0]) == 0.75
    assert mean_probability([0.25, 1.0], GEOMETRIC) == pytest.approx(0.5)
    assert mean_probability([0.0, 1.0], GEOMETRIC) == 0.0
    assert math.isclose(mean_probability([1e-200] * 9, GEOMETRIC), 1e-200, rel_tol=1e-9)
    with pytest.raises(ValueError, match="without tokens"):
        mean_probability([])


def test_another_mean_may_need_a_question_that_was_not_asked():
    """Under the arithmetic mean the teacher's action was likelier, so nothing else was asked."""
    made = step([0.5, 0.5], [0.1, 1.0])
    assert decide(made, DEFAULT).kind == "likely_teacher"
    assert decide(made, Thresholds(mean=GEOMETRIC)).kind == "undecided"


def test_thresholds_decide_again():
    steps = [
        step(same=True),
        step([0.4], [0.5]),
        step([0.5], [0.4], [0.43]),
        step([0.5], [0.4], [0.6]),
        step([0.9], [0.4], [0.4]),
    ]
    counts = count_kinds(steps, DEFAULT)
    assert list(counts) == list(KINDS)
    assert {kind: n for kind, n in counts.items() if n} == dict.fromkeys(
        ("agree", "likely_teacher", "question", "teacher", "unexplained"), 1
    )
    assert count_kinds(steps, Thresholds(tau_u=0.02))["question"] == 2
    assert count_kinds(steps, Thresholds(tau_d=0.6))["teacher"] == 2
    grid = threshold_grid(steps)
    assert all(sum(row[kind] for kind in KINDS) == len(steps) for row in grid)
    at = {(row["tau_u"], row["tau_d"]): row for row in grid}
    assert {kind: at[0.05, 0.3][kind] for kind in KINDS} == counts
    # A higher threshold leaves fewer questions; a wider one fewer steps unexplained.
    assert at[0.0, 0.3]["question"] >= at[0.05, 0.3]["question"] >= at[0.2, 0.3]["question"]
    assert at[0.05, 0.1]["unexplained"] >= at[0.05, 1.0]["unexplained"] == 0


def test_rows_that_would_teach_silence():
    """Questions among chosen and rejected actions, under the run's thresholds and others."""
    asks = {**step([0.5], [0.75]), "student_asks": True}
    acts = {**step([0.5], [0.4], [0.5]), "student_asks": False}
    steps = [asks, asks, acts, {**step(same=True), "student_asks": True}]
    counts = count_questions(steps, DEFAULT)
    assert (counts.rows, counts.chosen, counts.rejected) == (3, 1, 2)
    assert counts.teaches_silence and "of 3 rejected actions 2 are questions" in counts.warning
    assert not count_questions([asks, acts], DEFAULT).warning
    grid = threshold_grid(steps)
    strict = next(row for row in grid if (row["tau_u"], row["tau_d"]) == (0.2, 0.3))
    assert strict["questions"]["chosen"] == 0
    # Steps of earlier runs do not say whether the student asked.
    old = count_questions([step([0.5], [0.75])], DEFAULT)
    assert old.rejected is None and not old.teaches_silence

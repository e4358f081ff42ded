"""Rows of training data: prompts word for word, what was chosen, and both ablations."""

from benchmarks.core.types import Turn
from benchmarks.systems.adapt_reflection.decisions import Thresholds
from benchmarks.systems.adapt_reflection.rows import (
    BuiltTrajectory,
    Policy,
    preference_rows,
    sft_rows,
    star_gate_rows,
    teacher_rows,
)

DEFAULT = Thresholds()
OPENING = [{"role": "system", "content": "You help."}, {"role": "user", "content": "Eggs."}]


def turn(t, student="Open fridge_0", teacher="Search fridge_0", *, found=None, **more):
    step = {
        "student": student, "teacher": teacher, "same": student == teacher, "unusable": "",
        "no_question": "", "question": None, "answer": None, "probabilities": found or {}, **more,
    }  # fmt: skip
    return Turn(t, f"said {t}", f"came {t}", {"builder": step})


ASKED = {"question": "Which milk?", "answer": "Oat milk."}
TURNS = [
    turn(1, teacher="Open fridge_0"),
    turn(2, found={"student": [0.5], "teacher": [0.4], "given_question": [0.6]}, **ASKED),
    turn(3, found={"student": [0.5], "teacher": [0.4], "given_question": [0.4]}, **ASKED),
    turn(4, found={"student": [0.4], "teacher": [0.5]}),
    turn(5, found={"student": [0.9], "teacher": [0.4], "given_question": [0.4]}, **ASKED),
    turn(6, teacher="", unusable="the teacher gave no action"),
]


def built(name="a", satisfaction=50.0, turns=TURNS):
    return BuiltTrajectory(name, "persona_01", "eggs", 2, OPENING, turns, satisfaction)


def contents(messages):
    return [message["content"] for message in messages]


def test_preference_rows():
    pairs = list(preference_rows([built()], Policy(DEFAULT)))
    assert [meta["kind"] for _, meta in pairs] == ["question", "teacher", "likely_teacher"]
    assert [contents(row["chosen"]) for row, _ in pairs] == [
        ["Ask Which milk?"], ["Search fridge_0"], ["Search fridge_0"],
    ]  # fmt: skip
    row, meta = pairs[0]
    assert row["rejected"] == [{"role": "assistant", "content": "Open fridge_0"}]
    # What the student saw before step 2, and nothing after it.
    assert contents(row["prompt"]) == ["You help.", "Eggs.", "said 1", "came 1"]
    assert [m["role"] for m in row["prompt"]] == ["system", "user", "assistant", "user"]
    assert meta["utility"] == 0.6 - 0.4 and meta["answer"] == "Oat milk."
    assert (meta["trajectory"], meta["t"], meta["fold"]) == ("a", 2, 2)
    assert set(row) == {"prompt", "chosen", "rejected"}


def test_other_thresholds_make_other_rows_of_the_same_numbers():
    rows = list(preference_rows([built()], Policy(Thresholds(tau_u=0.5, tau_d=0.6))))
    assert [meta["kind"] for _, meta in rows] == [
        "teacher", "teacher", "likely_teacher", "teacher",
    ]  # fmt: skip


def test_ablations():
    """Without DPO the chosen texts alone; without reflection all that the teacher did otherwise."""
    chosen = [row["chosen"] for row, _ in preference_rows([built()], Policy(DEFAULT))]
    assert [row["completion"] for row, _ in sft_rows([built()], Policy(DEFAULT))] == chosen
    rows = list(teacher_rows([built()], Policy(DEFAULT)))
    assert [meta["t"] for _, meta in rows] == [2, 3, 4, 5]
    assert {contents(row["chosen"])[0] for row, _ in rows} == {"Search fridge_0"}


def test_star_gate_takes_the_best_third_of_those_with_a_rate():
    some = [built(name, rate) for name, rate in
            [("a", 10.0), ("b", 90.0), ("c", 50.0), ("d", None), ("e", 90.0), ("f", 20.0),
             ("g", 0.0)]]  # fmt: skip
    rows = list(star_gate_rows(some))
    assert [meta["trajectory"] for _, meta in rows] == ["b"] * 6 + ["e"] * 6
    assert rows[1][0]["completion"] == [{"role": "assistant", "content": "Open fridge_0"}]
    assert {meta["trajectory"] for _, meta in star_gate_rows(some[:1])} == {"a"}
    assert list(star_gate_rows([built(satisfaction=None)])) == []

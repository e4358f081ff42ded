"""Each peculiarity of the reference: what it makes of an answer, what is right, and its name."""

import random

import pytest

from benchmarks.systems.acpbench_hard.pddl.instance import parse_plan, show_atom
from benchmarks.systems.acpbench_hard.questions import PlanningQuestion
from benchmarks.systems.acpbench_hard.scoring import score
from benchmarks.systems.acpbench_hard.scripted import random_answer, right_answer, write
from tests.benchmarks.systems.acpbench_hard.public import questions


def find(task: str, domain: str, **wanted: bool) -> PlanningQuestion:
    """The first question of a task and domain, by whether something is stored."""
    return next(
        one
        for one in questions().values()
        if (one.task, one.domain) == (task, domain)
        and ("stored" not in wanted or bool(one.answer) == wanted["stored"])
    )


@pytest.mark.parametrize(
    ("task", "domain", "answer", "reference", "corrected", "quirk", "failure"),
    [
        ("areach", "ferry", "(sail l1 l1)", 0, 1, "relaxed_unreachable_action", None),
        ("areach", "ferry", "(board zzz9 l0)", 0, 0, "", "wrong_form"),
        ("areach", "ferry", "None", 0, 0, "", "wrong_value"),
        ("reach", "logistics-strips", "(at zzz9 zzz9)", 1, 0, "made_up_object", "wrong_form"),
        ("reach", "logistics-strips", "(in c0 p0)", 1, 0, "made_up_object", "wrong_form"),
        ("reach", "logistics-strips", "(in-city l1-1 c0)", 1, 0, "static_fact", "wrong_form"),
        ("reach", "logistics-strips", "(flies a0)", 0, 0, "", "wrong_form"),
        ("reach", "blocksworld-4ops", "(on block_2 block_2)", 1, 1, "", None),
        ("reach", "blocksworld-4ops", "(on block_2 block_1)", 0, 0, "", "wrong_value"),
        ("reach", "ferry", "none", 0, 1, "none_spelling", None),
        ("reach", "ferry", "None, so (at c0 l0)", 1, 0, "none_prefix", "wrong_value"),
        ("reach", "ferry", "Nonetheless I cannot say.", 1, 0, "none_prefix", "unparsed"),
        ("reach", "ferry", "(not-eq l0 l0)", 0, 0, "", "wrong_form"),
        ("reach", "blocksworld-4ops", "on(block_2, block_2)", 0, 1, "call_form", None),
        ("reach", "blocksworld-4ops", "(on\nblock_2\nblock_2)", 0, 1, "newlines_deleted", None),
        ("reach", "blocksworld-4ops", "(on block_2\tblock_2)", 0, 1, "spaces", None),
        ("reach", "blocksworld-4ops", "on block_2 block_2", 0, 1, "no_parentheses", None),
        (
            "reach",
            "blocksworld-4ops",
            "(on block_2 block_1) can hold. Answer: (on block_2 block_2)",
            0,
            1,
            "reasoning_read",
            None,
        ),
        ("nexta", "ferry", "None", 0, 0, "", "wrong_form"),
        ("nexta", "ferry", "I do not know.", 0, 0, "", "unparsed"),
        ("val", "ferry", "l1 fails at last, that is 4", 0, 1, "first_digits", None),
        ("val", "ferry", "99", 0, 0, "", "wrong_form"),
    ],
)
def test_both_scores_and_the_quirk(
    task: str, domain: str, answer: str, reference: int, corrected: int, quirk: str, failure: str
) -> None:
    if task == "val":
        question = next(q for q in questions().values() if q.task == "val" and q.answer == 4)
    else:
        question = find(task, domain)
    verdict = score(question, answer)
    assert (verdict.reference, verdict.corrected) == (reference, corrected), verdict
    assert verdict.quirks == ((quirk,) if quirk else ()), verdict
    assert verdict.failure == failure, verdict


def test_no_form_of_a_right_answer_loses_it() -> None:
    """Remarks, labels after reasoning and lists without parentheses, in every task and domain."""
    for question in questions().values():
        rng = random.Random(1)
        content = right_answer(question, rng)
        right, wrong = write(content), write(random_answer(question, rng))
        bare = right.replace("(", "").replace(")", "")
        forms = [
            f"(in this state) (at the goal) (on the table) {right}",
            f"First, {wrong}: that fails (see the state). Answer: {right}",
            f"{wrong} fails.\n\n**Final Answer:** {right}.",
            f"{wrong} is no solution. So the answer is {right}",
            f"{wrong} fails; $\\boxed{{{right}}}$",
            bare if isinstance(content, tuple) else f"[{bare}]",
        ]
        for form in forms:
            assert score(question, form).corrected == 1, (form, right)


def test_what_is_stored_can_be_incomplete() -> None:
    """None goes by what is stored, an element by proof; the reasons name what is not stored."""
    empty = [
        question
        for question in questions().values()
        if question.task in ("reach", "areach")
        and not question.answer
        or question.task == "land"
        and not question.answer["yes"]
    ]
    named = 0
    for question in empty:
        told = score(question, "None")
        assert (told.reference, told.corrected, told.quirks) == (1, 1, ())
        for example in parse_plan(told.reasons[1]):
            element = score(question, show_atom(example))
            assert (element.reference, element.corrected) == (0, 1)
            assert element.quirks == ("stored_incomplete",)
            named += 1
    assert named >= 9


@pytest.mark.parametrize("domain", ["logistics-strips", "ferry"])
def test_the_case_of_a_plan(domain: str) -> None:
    question = find("just", domain)
    plan = question.question[19:-147].replace(") (", ")\n(").split("\n")
    shorter = next(
        rest
        for place in range(len(plan))
        for rest in (plan[:place] + plan[place + 1 :], plan[:place] + plan[place + 2 :])
        if score(question, " ".join(rest)).reference == 1
    )
    answer = " ".join(shorter)
    other = answer.lower() if answer != answer.lower() else answer.upper()
    turned = score(question, other)
    assert (turned.reference, turned.corrected, turned.quirks) == (0, 1, ("plan_case",))
    labelled = score(question, f"Simplified plan: {answer}")
    assert labelled.corrected == 1
    assert labelled.quirks == (("plan_case",) if answer != answer.lower() else ())
    reordered = " ".join(reversed(shorter))
    assert score(question, reordered).failure == "wrong_value"


def test_marks_say_what_is_right_and_what_is_missing() -> None:
    question = find("app", "ferry")
    right = question.answer
    verdict = score(question, f"{right[0]} (board zzz9 l0) (sail l0 l0)")
    found = [(mark.text, mark.right, mark.part) for mark in verdict.marks]
    assert found[:3] == [
        (right[0], True, ""),
        ("(board zzz9 l0)", False, ""),
        ("(sail l0 l0)", False, ""),
    ]
    assert {text for text, _, part in found if part == "missing"} == set(right[1:])
    assert "there is no object 'zzz9'" in verdict.marks[1].why
    assert "(not-eq l0 l0) does not hold" in verdict.marks[2].why
    assert verdict.jaccard == 1 / (len(right) + 2)
    question = next(q for q in questions().values() if q.task == "val" and q.answer == 4)
    assert score(question, "6").offset == 2 and score(question, "4").offset == 0
    assert score(find("nexta", "ferry"), "(a)").distance == 6


def test_a_long_answer_leaves_a_short_verdict() -> None:
    question = find("app", "ferry")
    text = " ".join(f"(sail l0 x{n})" for n in range(20_000))
    verdict = score(question, text)
    assert len(verdict.marks) <= 1_000 and len(verdict.read) <= 20_000 >= len(verdict.parsed)


@pytest.mark.parametrize(
    ("answer", "reasons"),
    [
        ("4", ["Answered 4, which is correct."]),
        ("6", ["Answered 6; correct is 4."]),
        (
            "l1 fails, that is 4",
            ["Reference: Answered 1; correct is 4.", "Corrected: Answered 4, which is correct."],
        ),
    ],
)
def test_an_index_is_stated_beside_the_correct_one_and_once_where_both_scores_agree(
    answer: str, reasons: list[str]
) -> None:
    question = next(q for q in questions().values() if q.task == "val" and q.answer == 4)
    assert list(score(question, answer).reasons) == reasons

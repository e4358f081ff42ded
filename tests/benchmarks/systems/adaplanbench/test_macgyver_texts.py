"""Recorded answers as steps, and problems as queries: own examples, then the real slice."""

import re

import pytest

from benchmarks.core.plans import number_steps, split_steps
from benchmarks.systems.adaplanbench.macgyver.answers import read_answer
from benchmarks.systems.adaplanbench.macgyver.queries import read_problem
from benchmarks.systems.adaplanbench.macgyver.reader import read_macgyver_problems
from tests.benchmarks.systems.adaplanbench.macgyver_problems import PROBLEM, QUERY
from tests.shared_data import shared_data


@pytest.mark.parametrize(
    "text",
    [
        "Step1: Fill the jug. <br>\nStep2: Pour.",
        "<br>\n**Step 1:** Fill the jug.<br>\n**Step 2:** Pour.",
        " Step 1) Fill the jug. Step 2) Pour.",
        "Step1, Fill the jug. Step2, Pour.",
        "Step 1 - Fill the jug.\n\nStep 2 - Pour.",
        "step 1 Fill the jug.\nstep 2 Pour.",
        "1. Fill the jug.\n2. Pour.",
        "1. Fill the jug. 2. Pour.",
        "1) Fill the jug.\n2) Pour.",
        "1 Fill the jug.\n2 Pour.",
        "Ste 1. Fill the jug.<br/>Ste 2. Pour.",
        "- Fill the jug.\n- Pour.",
        "Fill the jug. Pour.",
        "Fill the jug.<br>Pour.",
    ],
)
def test_steps_are_told_apart_however_they_are_numbered(text: str) -> None:
    answer = read_answer(text)
    assert (answer.kind, answer.steps) == ("plan", ("Fill the jug.", "Pour."))


def test_a_step_that_is_mentioned_begins_none() -> None:
    answer = read_answer("Step1: Fill it.\nStep2: Repeat step 1 until full. If step 2 fails, wait.")
    assert answer.steps == ("Fill it.", "Repeat step 1 until full. If step 2 fails, wait.")


@pytest.mark.parametrize(
    "remark",
    [
        "Tools: jug and tap.",
        "Tools used: jug.",
        "Note: Mind the floor.",
        "(Note: The towel is not needed.)",
        "This solution uses a jug.",
        "The resulting mixture can be poured.",
        "It is not possible to do it better.",
    ],
)
@pytest.mark.parametrize("glue", ["<br>\n", " "])
def test_closing_remarks_are_set_aside(glue: str, remark: str) -> None:
    answer = read_answer(f"Step1: Fill the jug. Step2: Pour.{glue}{remark}")
    assert answer.steps == ("Fill the jug.", "Pour.")
    assert answer.remark.strip("() ") == remark.strip("() ")


@pytest.mark.parametrize(
    "text",
    [
        "Unsolvable. You could use the jug, but it leaks.",
        "It is not possible to fill a jug that leaks.",
        "Unfortunately, this is impossible with a leaking jug.",
        "None of the items holds water.",
    ],
)
def test_an_answer_that_gives_up_is_no_plan(text: str) -> None:
    answer = read_answer(text)
    assert (answer.kind, answer.steps, answer.remark) == ("unsolvable", (), text)


def test_numbered_steps_are_a_plan_even_beside_doubts() -> None:
    answer = read_answer("It is not possible to be sure. Still:<br>Step 1: Fill it.<br>Step 2: Go.")
    assert (answer.kind, answer.steps) == ("plan", ("Fill it.", "Go."))


@pytest.mark.parametrize("text", ["", "n/a", "<br>", "I can't help with this request."])
def test_what_says_nothing_is_empty(text: str) -> None:
    assert read_answer(text).kind == "empty"


def test_markup_is_cleaned() -> None:
    answer = read_answer("Step1: Mix <b>salt</b> &amp; water, **slowly**.<br><br>Step2: Stir.")
    assert answer.steps == ("Mix salt & water, slowly.", "Stir.")


@pytest.mark.parametrize(
    ("problem", "query"),
    [
        (PROBLEM, QUERY),
        (
            "Your lamp wobbles, but all you have is a spoon, a towel and a newspaper. The spoon is "
            "bent. How can you steady it with these items?",
            "Your lamp wobbles. How can you steady it?",
        ),
        (
            "You need to dry a shoe. You don't have a dryer, but you do have a newspaper, a towel "
            "and some rice. How now can you dry it under these conditions?",
            "You need to dry a shoe. You don't have a dryer. How can you dry it?",
        ),
        (
            "A drain is blocked. The available items are a hanger, a spoon and a sponge. The drain "
            "is narrow and winding so that the hanger gets stuck. How do you clear it using only "
            "what you have?",
            "A drain is blocked. The drain is narrow and winding. How do you clear it?",
        ),
        (
            "The window rattles. You have a towel, a magazine, and a roll of tape. No other things "
            "are available. Given these constraints, how can you stop the noise?",
            "The window rattles. How can you stop the noise?",
        ),
    ],
)
def test_the_query_keeps_goal_and_circumstances(problem: str, query: str) -> None:
    assert read_problem(problem, 17).query == query


_OFFER = re.compile(
    r"\b(?:these|those|following|available|the given|only) (?:items|tools|objects|materials|"
    r"resources|things|utilities)\b|tools available|at your disposal\?|using only|"
    r"with what you have|these (?:conditions|constraints|issues|considerations)",
    re.IGNORECASE,
)


def test_no_real_query_tells_what_there_is() -> None:
    entries = read_macgyver_problems(
        shared_data("macgyver", "problem_solution_pair.slice.xlsx"),
        shared_data("macgyver", "benchmark_results.slice.json"),
    )
    for entry, _ in entries:
        problem = read_problem(entry.problem, entry.id)
        assert problem.offers, entry.id
        assert not _OFFER.search(problem.query), problem.query
        assert len(problem.query) < 0.8 * len(entry.problem), problem.query
        assert problem.query[0].isupper() and problem.query[-1] in ".?!", problem.query
        assert 6 <= len(problem.query.split()) <= 90, problem.query


def test_real_answers_read_back_as_the_same_steps() -> None:
    entries = read_macgyver_problems(
        shared_data("macgyver", "problem_solution_pair.slice.xlsx"),
        shared_data("macgyver", "benchmark_results.slice.json"),
    )
    kinds = {"plan": 0, "unsolvable": 0, "empty": 0}
    for _, recorded in entries:
        for row in recorded:
            answer = read_answer(row.text)
            kinds[answer.kind] += 1
            assert split_steps(number_steps(answer.steps)) == list(answer.steps)
            assert "<" not in " ".join(answer.steps) and "**" not in " ".join(answer.steps)
    assert sum(kinds.values()) == 1740
    assert kinds["unsolvable"] > 250 and kinds["empty"] < 10

"""The classifier of failures: each category on a trace that shows it."""

import pytest

from benchmarks.systems.planbench_xl.episode import CATEGORIES, Trace
from benchmarks.systems.planbench_xl.labels import CATEGORIES as NAMED

ON_PATHS, TARGET = {"start", "middle", "target"}, "target"
NOT_REACHED, WRONG = "target_datatype_not_reached", "final_answer_wrong"


def found(datatype, value, provenance="trusted"):
    return {"provenance": provenance, "datatype": datatype, "value": value}


def answered(text, *sources):
    return {"untrusted_sources": list(sources), "request": text}


SEARCH = {"tools": []}


def category(seen, termination="answered", failure=NOT_REACHED):
    trace = Trace(ON_PATHS, TARGET)
    for step, one in enumerate(seen, 1):
        trace.add(one, step)
    return trace.category(termination, failure)


def test_success_has_no_category():
    assert category([found("target", "x"), answered("x")], failure=None) is None
    assert category([SEARCH], "ambiguous_record", "ambiguous_record") is None


@pytest.mark.parametrize("ending", ["label_errors", "retrieval_errors", "call_errors"])
def test_too_many_errors(ending):
    assert category([SEARCH], ending, "exceeded") == "format_error"


def test_a_value_that_only_noise_returned():
    noise = found("target", "Pot 9", "untrusted")
    assert category([noise, answered("It is pot 9.")]) == "noisy_response_adopted"
    assert category([answered("pot 9", "noisy")]) == "noisy_response_adopted"
    # another word than the value is no adoption
    assert category([noise, answered("pot 99")]) == "premature_answering"


def test_a_value_that_noise_and_a_reliable_tool_returned_is_no_adoption():
    seen = [found("middle", "m1", "untrusted"), found("middle", "m1"), answered("m1")]
    assert category(seen) == "premature_answering"


def test_a_value_from_the_way_or_from_nowhere():
    assert category([found("middle", "m1"), answered("m1")]) == "premature_answering"
    assert category([found("middle", "m1"), answered("")]) == "premature_answering"
    assert category([answered("a guess")]) == "premature_answering"


def test_a_value_from_off_the_paths():
    seen = [found("middle", "m1"), found("elsewhere", "e1"), answered("e1")]
    assert category(seen) == "irrecoverable_drift"


def test_steps_that_ran_out():
    late = [SEARCH] * 6 + [found("middle", "m1")] + [SEARCH]
    early = [found("middle", "m1"), *[SEARCH] * 7]
    aside = [SEARCH] * 7 + [found("elsewhere", "e1")]
    again = [found("middle", "m1"), *[SEARCH] * 6, found("middle", "m1")]

    def ended(seen):
        return category(seen, "max_steps", "exceeded_max_steps")

    assert ended(late) == "unresolved_execution"
    assert ended([found("target", "x"), *[SEARCH] * 7]) == "unresolved_execution"
    assert ended(early) == ended(aside) == ended(again) == "irrecoverable_drift"
    assert ended([SEARCH] * 8) == "irrecoverable_drift"


def test_a_target_that_was_found_and_not_told():
    assert category([found("target", "x"), answered("y")], failure=WRONG) == "misreported_answer"


def test_every_category_has_words():
    assert set(NAMED) == set(CATEGORIES)

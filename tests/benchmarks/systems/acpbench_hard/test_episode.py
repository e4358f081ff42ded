"""One question, one answer, one verdict: what is asked, what is told, and what comes of it."""

import json
import random
from types import SimpleNamespace
from typing import Any

import pytest
from django.template.loader import render_to_string

from benchmarks.core.answerers import Answer, Cast, Scripted
from benchmarks.core.driver import Driver, Finished
from benchmarks.core.errors import UnreadableReply
from benchmarks.core.log import MemoryLog
from benchmarks.core.ports.people import FieldsRefused
from benchmarks.core.system import read_settings
from benchmarks.core.types import Ask, Outcome, Task
from benchmarks.systems.acpbench_hard import people
from benchmarks.systems.acpbench_hard.dataset import task_of
from benchmarks.systems.acpbench_hard.episode import visible
from benchmarks.systems.acpbench_hard.metrics import OTHER_TASK, summarise
from benchmarks.systems.acpbench_hard.samples import sample_questions
from benchmarks.systems.acpbench_hard.scripted import right_answer, write
from benchmarks.systems.acpbench_hard.settings import BOTH, CONTEXTS, NL, PDDL
from benchmarks.systems.acpbench_hard.system import SYSTEM
from benchmarks.systems.acpbench_hard.tasks import TASKS, shown_answers
from benchmarks.systems.acpbench_hard.verdicts import parse_verdict, validator

every_task = pytest.mark.parametrize("kind", TASKS)
FIRST = {question.task: question for question in reversed(sample_questions())}


def task(kind: str) -> Task:
    return task_of(FIRST[kind])


def saying(text: str, **more: Any) -> Scripted:
    return Scripted("saying", "1", lambda ask, seed: Answer(text, **more))


def play(
    kind: str, text: str, judge: Any = None, own: Task | None = None, **settings: Any
) -> tuple[Outcome, MemoryLog]:
    """The outcome of an answer, and the log."""
    own, log = own or task(kind), MemoryLog()
    cast = Cast({"agent": {"": saying(text)}, "validator": {"": judge or validator(own, {})}})
    driver = Driver(cast, log, SYSTEM.parsers, lambda step, slot: 1)
    episode = SYSTEM.episode(own, read_settings(SYSTEM.settings, settings), random.Random(1))
    result = driver.run(episode)
    assert isinstance(result, Finished)
    return result.outcome, log


def first_ask(kind: str, **settings: Any) -> Ask:
    episode = SYSTEM.episode(task(kind), read_settings(SYSTEM.settings, settings), random.Random(1))
    (ask,) = next(episode)
    return ask


@every_task
def test_a_right_answer_is_right_by_both_scores(kind):
    outcome, _ = play(kind, write(right_answer(FIRST[kind], random.Random(1))))

    assert outcome.termination == "right"
    assert outcome.metrics["accurate"] == outcome.metrics["reference"] == 1
    assert outcome.metrics[kind] == 1
    assert {outcome.undefined[other] for other in TASKS if other != kind} == {OTHER_TASK}


@every_task
@pytest.mark.parametrize("form", CONTEXTS)
def test_the_agent_is_shown_what_its_context_form_says_and_never_the_answer(kind, form):
    ask = first_ask(kind, context=form, shots=0)
    text = "\n".join(message.text for message in ask.messages)
    question = FIRST[kind]

    assert (question.context in text) == (form != PDDL)
    assert (question.pddl_problem in text) == (form != NL)
    assert question.question in text
    assert "answer" not in visible(task(kind), form)
    told = text + json.dumps(ask.context)
    if kind in ("app", "areach", "land", "nexta", "reach") and form == NL:
        for _, entries in shown_answers(kind, question.answer):
            assert not any(entry in told for entry in entries if " " in entry)


@every_task
def test_worked_examples_come_before_the_question_as_a_dialogue(kind):
    speakers = [message.speaker for message in first_ask(kind).messages]

    assert speakers == ["system", "user", "assistant", "user", "assistant", "user"]
    assert len(first_ask(kind, shots=0).messages) == 2
    assert "(:action" in first_ask(kind, context=BOTH).messages[1].text


def test_an_answer_lost_to_its_form_counts_by_the_score_that_is_chosen():
    text = write(right_answer(FIRST["app"], random.Random(1))).replace(")", " )")
    by_reference, _ = play("app", text)
    by_rule, _ = play("app", text, counts="corrected")

    assert by_reference.termination == by_rule.termination == "lost"
    assert (by_reference.metrics["accurate"], by_rule.metrics["accurate"]) == (0, 1)
    assert by_reference.metrics["differs"] == 1
    assert by_reference.payload["quirks"]


def test_failures_have_classes():
    assert play("app", "I do not know.")[0].termination == "unparsed"
    action = first_ask("nexta").context["names"]["actions"][0]
    made_up = f"({' '.join([action['name'], *['moon'] * action['size']])})"
    assert play("nexta", made_up)[0].termination == "wrong_form"
    other = "1" if FIRST["val"].answer == 0 else "0"
    assert play("val", other)[0].termination == "wrong_value"


def test_a_validator_that_gives_up_leaves_the_scores_undefined():
    unknown = {"reference": None, "corrected": None, "reasons": [], "failure": "timed_out"}
    outcome, log = play("reach", "(a b)", judge=saying(json.dumps(unknown)))

    assert outcome.termination == "timed_out"
    assert outcome.metrics["accurate"] is None
    assert outcome.undefined["accurate"] == "the search gave up before the answer was known"
    assert [row.state for row in log.exchanges()] == ["answered", "answered"]
    declined, _ = play("reach", "(a b)", judge=saying("", declined="gone: no validator"))
    assert declined.termination == "not_validated"


def test_an_agent_without_a_reply_is_left_out():
    own, log = task("val"), MemoryLog()
    cast = Cast({"agent": {"": saying("", declined="no_recording: none")},
                 "validator": {"": validator(own, {})}})  # fmt: skip
    settings = read_settings(SYSTEM.settings, {})
    result = Driver(cast, log, SYSTEM.parsers, lambda step, slot: 1).run(
        SYSTEM.episode(own, settings, random.Random(1))
    )
    assert isinstance(result, Finished)
    assert result.outcome.termination == "agent_declined"
    assert len(log.exchanges()) == 1


def test_a_run_counts_the_questions_of_a_task_for_its_metric():
    outcomes = [play(kind, write(right_answer(FIRST[kind], random.Random(1))))[0] for kind in TASKS]
    found = summarise([*outcomes, play("val", "977")[0]])

    assert found["metrics"]["accurate"]["n"] == 9
    assert found["metrics"]["val"] == {"value": 0.5, "sum": 1, "n": 2, "excluded": {}}
    assert found["metrics"]["jaccard"]["n"] == 1
    by_task = found["accuracy_by_group"]["task"]
    assert set(by_task) == set(TASKS)
    assert by_task["val"]["corrected"]["value"] == 0.5
    assert found["accuracy_by_group"]["distance"]


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"reference": 2, "corrected": 1}',
    '{"reference": true, "corrected": 1}', '{"reference": 1, "corrected": 1, "reasons": "no"}',
    '{"reference": 1, "corrected": 1, "marks": [1]}', "[" * 5000,
    '{"reference": 0, "corrected": 0, "failure": "tired"}',
    '{"reference": 1, "corrected": 1, "jaccard": "half"}'])  # fmt: skip
def test_a_verdict_that_cannot_be_read_is_refused(text):
    with pytest.raises(UnreadableReply):
        parse_verdict(text, {})


def test_a_verdict_of_a_person_may_be_short():
    found = parse_verdict('{"reference": 0, "corrected": 0}', {})
    assert (found["failure"], found["marks"]) == ("wrong_value", [])


# --- The form of a person -------------------------------------------------------------------------


def form(kind: str, **fields: str) -> str:
    return people.compose(first_ask(kind).context, fields)


def test_the_form_writes_answers_in_the_form_that_is_asked_for():
    assert form("app", answer="(a b)\n( c,  d )") == "(a b) (c d)"
    assert form("prog", pos="(a)", neg="") == "[(a)] []"
    assert form("val", index=" 4 ") == "4"
    assert form("reach", answer="none") == "None"
    assert form("nexta", answer="(a b)") == "(a b)"


@pytest.mark.parametrize(("kind", "fields", "wrong"), [
    ("app", {"answer": ""}, "answer"), ("app", {"answer": "a b"}, "answer"),
    ("app", {"answer": "(a b) and so on"}, "answer"), ("app", {"answer": "()"}, "answer"),
    ("nexta", {"answer": "(a) (b)"}, "answer"), ("nexta", {"answer": "None"}, "answer"),
    ("val", {"index": "-1"}, "index"), ("val", {"index": "²"}, "index"),
    ("prog", {"pos": "x"}, "pos"),
])  # fmt: skip
def test_the_form_refuses_what_has_another_form(kind, fields, wrong):
    with pytest.raises(FieldsRefused) as refused:
        form(kind, **fields)
    assert list(refused.value.errors) == [wrong]


@every_task
def test_the_form_helps_with_names_and_knows_no_answer(kind):
    context = first_ask(kind).context
    page = people.show(context, {}, {})
    right = write(right_answer(FIRST[kind], random.Random(1)))

    assert page.question == FIRST[kind].question
    assert people.hints(context, right) == []
    if page.names:
        name = page.names[0]
        made_up = f"({' '.join([name.name, *['moon'] * name.size])})"
        found = {hint.code for hint in people.hints(context, f"{made_up} (fly)")}
        assert "unknown_name" in found
        assert "unknown_object" in found or not name.size
    lines = people.dialogue(context)
    assert [line.speaker for line in lines][-1] == "The question"
    assert len(lines) == 5


def test_a_form_with_very_many_objects_is_typed_not_picked():
    context = first_ask("app").context
    assert people.show(context, {}, {}).picks
    names = {**context["names"], "objects": [f"crate{n}" for n in range(10_000)]}
    page = people.show({**context, "names": names}, {}, {})
    html = render_to_string(
        "systems/acpbench_hard/_reply_answer.html",
        {"page": page, "ask": SimpleNamespace(row=SimpleNamespace(pk=1)), "action": "/"},
    )
    assert "10,000 objects, too many for a list" in html
    assert "<option" not in html
    assert html.count("data-object=") == 10_000  # so that typed names are still checked

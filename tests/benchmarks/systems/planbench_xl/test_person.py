"""A person in the agent's place: what the form shows, and which replies its fields make."""

import json
import random
import re
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.core.digests import canonical_json, derive_seed
from benchmarks.core.ports.people import FieldsRefused
from benchmarks.core.system import read_settings
from benchmarks.core.types import Ask, Reply, Turn
from benchmarks.systems.planbench_xl.environment.actions import (
    ANSWER,
    CALL,
    RETRIEVE,
    parse_native,
    parse_tagged,
    read_call,
    read_object,
)
from benchmarks.systems.planbench_xl.people import REPLY_FORMS, compose, dialogue
from benchmarks.systems.planbench_xl.prompts import load_feedback
from benchmarks.systems.planbench_xl.system import SYSTEM
from benchmarks.systems.planbench_xl.world import load_world
from tests.benchmarks.systems.planbench_xl.stage import Stage

PARSERS = {False: parse_tagged, True: parse_native}
# Texts that a store can hold, and such as look like the grammar itself.
TEXTS = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\x00"), max_size=30)
TRICKY = st.lists(
    TEXTS
    | st.sampled_from(
        ["</tool_call>", "<final_answer>", "</FINAL_ANSWER>", "</retrieve_tools>", '"', "\\", "{}"]
    ),
    max_size=4,
).map("".join)
FILLED = TRICKY.filter(str.strip)


def read(native: bool, context: Mapping[str, Any], **fields: str) -> tuple[str, str]:
    """Return what the parser makes of the reply that these fields make: kind and content."""
    value = PARSERS[native](compose(native, context, fields), {})
    return value["kind"], value["content"]


# --- From fields to a reply and back --------------------------------------------------------------


@given(gives=TRICKY, takes=TRICKY, takes_2=TRICKY, native=st.booleans())
def test_a_search_is_read_as_it_was_filled_in(gives, takes, takes_2, native):
    fields = {"do": "search", "gives": gives, "takes": takes, "takes_2": takes_2}
    taken = [text.strip() for text in (takes, takes_2) if text.strip()]
    if not gives.strip() and not taken:
        with pytest.raises(FieldsRefused):
            compose(native, {}, fields)
        return
    kind, content = read(native, {}, **fields)
    request = read_object(content)
    assert kind == RETRIEVE
    assert request.pop("meta_tool") == (
        "by_inputs" if not gives.strip() else "by_io_info" if taken else "by_output_info"
    )
    expected = {"output_information": gives.strip()} if gives.strip() else {}
    assert request == expected | ({"input_information": taken} if taken else {})


@given(
    name=FILLED, arguments=st.dictionaries(FILLED, FILLED, min_size=1, max_size=3),
    native=st.booleans(),
)  # fmt: skip
def test_a_call_is_read_as_it_was_filled_in(name, arguments, native):
    properties = {key: {"type": "string"} for key in arguments}
    context = {"tools": [{"name": name, "parameters": {"properties": properties}}]}
    typed = {f"arg-{key}": text for key, text in arguments.items()}
    kind, content = read(native, context, do="call", tool=name, **typed)
    call = read_call(content)
    assert kind == CALL
    assert call.name == name
    assert call.arguments == {key: text.strip() for key, text in arguments.items()}


@given(answer=FILLED, native=st.booleans())
def test_an_answer_is_read_as_it_was_filled_in_or_refused(answer, native):
    fields = {"do": "answer", "answer": answer, "sure": "1"}
    try:
        found = read(native, {}, **fields)
    except FieldsRefused as refused:
        assert not native
        assert re.search("</?(tool_call|final_answer|retrieve_tools)>", answer, re.IGNORECASE)
        assert list(refused.errors) == ["answer"]
    else:
        assert found == (ANSWER, answer.strip())


@pytest.mark.parametrize(
    ("kind", "typed", "read_as"),
    [
        ("string", "12", "12"), ("integer", "12", 12), ("integer", "12.5", "12.5"),
        ("number", "79.99", 79.99), ("number", "118.0", 118.0), ("number", "NaN", "NaN"),
        ("number", "1e999", "1e999"), ("number", "true", "true"), ("boolean", "true", True),
        ("integer", "true", "true"), ("array", '["a"]', ["a"]), ("object", "[", "["),
        ("array", "[" * 5000, "[" * 5000), (["string", "null"], "null", "null"),
    ],
)  # fmt: skip
def test_arguments_take_their_parameters_type_where_they_can(kind, typed, read_as):
    properties = {"n": {"type": kind}}
    context = {"tools": [{"name": "t", "parameters": {"properties": properties}}]}
    _, content = read(False, context, do="call", tool="t", **{"arg-n": typed})
    assert repr(json.loads(content)["arguments"]) == repr({"n": read_as})


@pytest.mark.parametrize(
    ("fields", "wrong"),
    [
        ({}, {""}),
        ({"do": "dance"}, {""}),
        ({"do": "search", "gives": " "}, {"gives"}),
        ({"do": "call"}, {""}),
        ({"do": "call", "tool": "never-shown", "arg-a": "1"}, {""}),
        ({"do": "call", "tool": "t", "arg-a": "1", "arg-b": " "}, {"arg-b"}),
        ({"do": "call", "tool": "t"}, {"arg-a", "arg-b"}),
        ({"do": "answer"}, {"answer", "sure"}),
        ({"do": "answer", "answer": "x"}, {"sure"}),
    ],
)
def test_what_makes_no_reply(fields, wrong):
    context = {"tools": [{"name": "t", "parameters": {"properties": {"a": {}, "b": {}}}}]}
    with pytest.raises(FieldsRefused) as refused:
        compose(False, context, fields)
    assert refused.value.errors.keys() == wrong


# --- Nothing in the context but what was told -----------------------------------------------------

TEMPLATES = {
    "retrieve_ok": ["retrieve_ok", "no_pair_match", "no_io_match", "nothing_found"],
    "err_label": ["err_label", "err_label_native"],
    "err_retrieve_request": [
        "invalid_meta_tool", "missing_or_invalid_output_information",
        "missing_or_invalid_input_information", "invalid_input_count",
    ],
}  # fmt: skip
CATEGORIES = (
    "retrieve_ok", "tool_ok", "tool_no_result", "err_label", "err_retrieve_json",
    "err_retrieve_request", "err_call_json", "err_call_unavailable", "err_call_arguments",
    "err_call_inputs", "answer_retry",
)  # fmt: skip
# Names of our own for the parts of a context.
PARTS = {
    "query", "step", "steps_left", "limits", "tools", "events", "feedback", "action", "category",
    "request", "success", "value", "error", "parameters", "description", "name", "arguments",
    "tool_id", "meta_tool", "input_information", "output_information", "label_errors",
    "retrieval_errors", "call_errors",
}  # fmt: skip


@cache
def pattern(name: str) -> re.Pattern[str]:
    parts = re.split(r"\$\w+", load_feedback()[name].template)
    return re.compile(".*".join(map(re.escape, parts)), re.DOTALL)


@cache
def fitting(feedback: str) -> list[str]:
    """The categories in whose words this is said."""
    return [
        name
        for name in CATEGORIES
        if any(pattern(part).fullmatch(feedback) for part in TEMPLATES.get(name, [name]))
    ]


def heard(ask: Ask) -> str:
    """All that the agent was told or has said itself, in one text."""
    calls = [
        f"{call['function']['name']} {call['function']['arguments']}"
        for message in ask.messages
        for call in message.tool_calls
    ]
    return "\n".join([*(message.text for message in ask.messages), *calls])


def leaves(value: Any) -> Iterator[Any]:
    """Every value in a context, and every name that is not one of its own parts."""
    if isinstance(value, Mapping):
        yield from (key for key in value if key not in PARTS)
        for inner in value.values():
            yield from leaves(inner)
    elif isinstance(value, Sequence) and not isinstance(value, str):
        for inner in value:
            yield from leaves(inner)
    else:
        yield value


def untold(ask: Ask) -> list[Any]:
    """Return what the context holds beyond the messages."""
    said = heard(ask)
    found = []
    context = dict(ask.context)
    replies = [message for message in ask.messages if message.speaker == "assistant"]
    limit = re.search(r"You have (\d+) replies in all", said)
    if (context.pop("step"), context.pop("steps_left")) != (
        len(replies) + 1, int(limit[1]) - len(replies),
    ):  # fmt: skip
        found.append("step")
    events = []
    for event in context.pop("events"):
        event = dict(event)
        category, feedback = event.pop("category"), event["feedback"]
        fits = fitting(feedback)
        # No result is told in the form of any result, in words of its own.
        if category not in fits or len(set(fits) - {"tool_ok"}) > 1:
            found.append(category)
        if "success" in event and f"Success: {str(event.pop('success')).lower()}\n" not in feedback:
            found.append("success")
        action = event.pop("action")
        if action != "label_error" and action.split("_")[0] not in said:
            found.append(action)
        events.append(event)
    # Most are there many times. True and 1 are not the same leaf.
    for kind, leaf in dict.fromkeys((type(leaf), leaf) for leaf in leaves([context, events])):
        if leaf is None or leaf == "" or (kind is str and leaf in said):
            continue
        text = canonical_json(leaf)
        if text not in said and text[1:-1] not in said:
            found.append(leaf)
    return found


def asks_of(name: str, task: Any, **given: Any) -> list[Ask]:
    """Every ask of an episode of a scripted agent."""
    policy = SYSTEM.scripted[name]
    agent = policy.build(task, policy.parameters)
    settings = read_settings(SYSTEM.settings, given)
    episode = SYSTEM.episode(task, settings, random.Random(0))
    asks: list[Ask] = []
    send: Any = None
    while True:
        try:
            item = episode.send(send)
        except StopIteration:
            return asks
        send = None
        if not isinstance(item, Turn):
            (ask,) = item
            asks.append(ask)
            text = agent.answer(ask, derive_seed(task.id, len(asks), 0)).text
            send = [Reply("answered", SYSTEM.parsers[ask.expect.kind](text, {}), text)]


@pytest.mark.parametrize("condition", ["default", "feedback"])
@pytest.mark.parametrize("name", list(SYSTEM.scripted))
def test_the_context_holds_nothing_that_was_not_told(name, condition):
    asks = [ask for t in load_world().tasks for ask in asks_of(name, t, condition=condition)]
    assert len(asks) > 30
    assert [(ask.context["step"], found) for ask in asks if (found := untold(ask))] == []


def test_nor_does_it_with_native_calls_and_ids():
    for task in load_world().tasks[:4]:
        for ask in asks_of("clumsy", task, calling="native", tool_ids=True):
            assert untold(ask) == []


def test_what_was_not_told_would_be_found():
    ask = asks_of("path-follower", load_world().tasks[0])[2]
    context = json.loads(json.dumps(ask.context))
    for spoil in (
        lambda c: c["tools"][0].update(output="grower_in_charge"),
        lambda c: c["events"][0].update(category="err_call_json"),
        lambda c: c["events"][-1].update(success=False),
        lambda c: c.update(target="x" * 40),
        lambda c: c.update(steps_left=5),
    ):
        spoilt = json.loads(json.dumps(context))
        spoil(spoilt)
        assert untold(Ask(ask.role, ask.messages, ask.expect, context=spoilt))


def test_the_context_is_no_part_of_what_is_asked():
    ask = asks_of("path-follower", load_world().tasks[0])[2]
    assert Ask(ask.role, ask.messages, ask.expect).digest == ask.digest


# --- What the page shows --------------------------------------------------------------------------


def page(stage: Stage, fields: Mapping[str, str] | None = None, **errors: str) -> Any:
    kind = stage.ask.expect.kind
    return REPLY_FORMS[kind].show(stage.ask.context, fields or {}, errors)


def test_at_the_beginning_nothing_is_known():
    found = page(Stage())
    assert (found.step, found.steps, found.shown) == (1, 100, 0)
    assert found.last is None
    assert found.suggestions == ["WEY-12741"]
    assert [(m.count, m.limit) for m in found.mistakes] == [(0, 3)] * 3


def test_what_happened_is_counted_and_kept():
    stage = Stage()
    stage.say("I think.")
    stage.search(inputs=["wish list entry"])
    names = [tool.name for tool in page(stage).latest]
    assert names == list(stage.ask.context["events"][-1]["tools"])
    stage.call("look_up_wish_list_by_wish_entry", wish_entry="WEY-12741")
    stage.call("never_shown", a="1")
    stage.search(output="buyer number")
    found = page(stage)
    assert [m.count for m in found.mistakes] == [1, 0, 1]
    assert [p.step for p in found.past] == [5, 4, 3, 2, 1]
    assert found.last.came == f"{len(found.latest)} tools shown"
    (value,) = found.values
    assert (value.success, value.tools, value.step) == (
        True, ["look_up_wish_list_by_wish_entry"], 3,
    )  # fmt: skip
    assert found.suggestions == [value.text, "WEY-12741"]
    assert {tool.name for tool in found.earlier} == set(names) - {t.name for t in found.latest}
    (called,) = [tool for tool in found.earlier if tool.calls]
    assert (called.name, called.calls) == ("look_up_wish_list_by_wish_entry", 1)


def test_the_dialogue_has_each_reply_in_the_words_of_its_form():
    stage = Stage()
    search = compose(False, {}, {"do": "search", "gives": "buyer  number", "takes": "wish list"})
    stage.say(search)
    stage.say("I think.")
    stage.call("look_up_wish_list_by_wish_entry", wish_entry="WEY-12741")
    call = stage.ask.context["events"][-1]["request"]
    lines = dialogue(stage.ask.context)
    assert [(line.speaker, line.turn) for line in lines] == [
        ("Question", 0), ("Agent", 1), ("Result", 1), ("Agent", 2), ("Result", 2), ("Agent", 3),
        ("Result", 3),
    ]  # fmt: skip
    assert lines[1].text == "Searched: what takes “wish list” and gives “buyer number”"
    # A reply that the next ask does not tell of yet stands there in the same words.
    spoken = REPLY_FORMS["tagged_action"].spoken
    assert spoken(search) == lines[1].text
    assert spoken(f"<tool_call>{canonical_json(call)}</tool_call>") == lines[5].text
    assert spoken("<final_answer> 7 </final_answer>") == "Answered: 7"
    for odd in ("I think.", "<tool_call>{</tool_call>", "<retrieve_tools>{}</retrieve_tools>"):
        assert spoken(odd) == odd
    native = compose(True, {}, {"do": "answer", "answer": "7", "sure": "1"})
    assert REPLY_FORMS["native_action"].spoken(native) == "Answered: 7"


def test_a_form_that_was_refused_keeps_what_was_filled_in():
    stage = Stage()
    stage.search(inputs=["wish list entry"])
    tool = page(stage).latest[3]
    argument = tool.fields[0].name
    found = page(stage, {"do": "call", "tool": tool.name, argument: "W"}, **{argument: "No."})
    chosen = [t for t in found.latest if t.chosen]
    assert [t.name for t in chosen] == [tool.name]
    assert (chosen[0].fields[0].value, chosen[0].fields[0].error) == ("W", "No.")
    others = [f for t in found.latest if not t.chosen for f in t.fields]
    assert not any(f.value or f.error for f in others)


def test_every_field_has_an_id_of_its_own():
    stage = Stage()
    stage.search(output="buyer number")
    found = page(stage)
    ids = [f.id for t in (*found.latest, *found.earlier) for f in t.fields]
    assert len(ids) == len(set(ids)) > 3

"""People in PlanBench-XL: the reply form and the live mode for a person in the agent's place.

Pages are made from the context of an ask, which holds what the agent was told and nothing else."""

import json
import math
import re
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple

from benchmarks.core.digests import canonical_json
from benchmarks.core.ports.people import (
    Fields,
    FieldsRefused,
    Mode,
    People,
    Place,
    ReplyForm,
    Utterance,
)
from benchmarks.core.types import Json
from benchmarks.systems.planbench_xl.environment.actions import (
    ANSWER,
    CALL,
    RETRIEVE,
    AgentAction,
    call_text,
    parse_native,
    parse_tagged,
    read_call,
    read_request,
    tagged,
)
from benchmarks.systems.planbench_xl.environment.retrieval import RequestRefused, check_request

GIVES, TAKES, TAKES_2 = "gives", "takes", "takes_2"
SEARCHED, CALLED, ANSWERED = "Searched", "Called", "Answered"
ARGUMENT = "arg-"
# What stands in quotes of any kind, and words with a digit: values, rather than prose.
_QUOTED = re.compile(r"[`\"“‘']([^`\"”’'\n]{1,80})[`\"”’']")
_NUMBERED = re.compile(r"(?<![\w.:@#/-])(?:[^\W\d]|[.:@#/-])*\d[\w.:@#/-]*")


class FormField(NamedTuple):
    """A field of the form with what was filled in; ``id`` is its own in the whole page."""

    name: str
    id: str
    value: str = ""
    error: str = ""
    label: str = ""
    about: str = ""
    type: str = ""


class ToolFields(NamedTuple):
    """A tool that a search has shown, with a field for each of its parameters."""

    number: int
    name: str
    tool_id: str
    description: str
    fields: Sequence[FormField]
    latest: bool
    chosen: bool
    calls: int


@dataclass(frozen=True)
class Value:
    """A value that came back, and the tools that returned it."""

    text: str
    success: bool
    tools: Sequence[str]
    step: int


class EarlierReply(NamedTuple):
    """A reply that was given: what it asked for and what came of it, in words."""

    step: int
    did: str
    asked: str
    came: str
    good: bool


@dataclass(frozen=True)
class Mistakes:
    """Mistakes of a kind; ``limit`` is how many of them the instructions allow."""

    title: str
    count: int
    limit: int | None


class ReplyPage(NamedTuple):
    """The form and what is known beside it."""

    query: str
    step: int
    steps: int
    last: EarlierReply | None
    past: Sequence[EarlierReply]
    mistakes: Sequence[Mistakes]
    values: Sequence[Value]
    suggestions: Sequence[str]
    latest: Sequence[ToolFields]
    earlier: Sequence[ToolFields]
    search: Sequence[FormField]
    answer: FormField
    sure: FormField

    @property
    def shown(self) -> int:
        return len(self.latest) + len(self.earlier)

    @property
    def earlier_chosen(self) -> bool:
        return any(tool.chosen for tool in self.earlier)

    @property
    def calls_next(self) -> bool:
        """Return whether the last reply was a search that showed tools: a call mostly follows."""
        return self.last is not None and self.last.did == SEARCHED and self.last.good


def show(context: Json, given: Fields, errors: Mapping[str, str]) -> ReplyPage:
    """Return the page of an ask; ``given`` and ``errors`` come of a form that was refused."""
    events, step = context["events"], context["step"]
    past = [_past(number, event) for number, event in enumerate(events, 1)]
    values = _values(events)
    latest, earlier = _tools(context, given, errors)
    return ReplyPage(
        query=context["query"],
        step=step,
        steps=step - 1 + context["steps_left"],
        last=past[-1] if past else None,
        past=past[::-1],
        mistakes=_mistakes(events, context["limits"]),
        values=values[::-1],
        suggestions=_suggestions(context["query"], values),
        latest=latest,
        earlier=earlier,
        search=[_field(name, name, given, errors) for name in (GIVES, TAKES, TAKES_2)],
        answer=_field("answer", "answer", given, errors),
        sure=_field("sure", "sure", given, errors),
    )


def _field(name: str, id: str, given: Fields, errors: Mapping[str, str], **more: str) -> FormField:
    return FormField(name, id, given.get(name, ""), errors.get(name, ""), **more)


def _tools(
    context: Json, given: Fields, errors: Mapping[str, str]
) -> tuple[list[ToolFields], list[ToolFields]]:
    """Return the tools of the last search in the order that it showed, then all others, newest
    first.
    """
    searches = [event["tools"] for event in context["events"] if _searched(event)]
    order = {name: place for place, name in enumerate(searches[-1] if searches else ())}
    called = [event["request"]["name"] for event in context["events"] if _carried_out(event)]
    latest: list[ToolFields] = []
    earlier: list[ToolFields] = []
    for number, spec in enumerate(context["tools"], 1):
        chosen = given.get("tool") == spec["name"]
        mine = (given, errors) if chosen else ({}, {})
        tool = ToolFields(
            number,
            spec["name"],
            spec.get("tool_id", ""),
            spec["description"],
            [
                _field(
                    f"{ARGUMENT}{name}",
                    f"tool-{number}-{place}",
                    *mine,
                    label=name,
                    about=about.get("description", ""),
                    type=_type(about),
                )
                for place, (name, about) in enumerate(parameters_of(spec).items(), 1)
            ],
            spec["name"] in order,
            chosen,
            called.count(spec["name"]),
        )
        (latest if tool.latest else earlier).append(tool)
    return sorted(latest, key=lambda tool: order[tool.name]), earlier[::-1]


def parameters_of(tool: Json) -> Mapping[str, Json]:
    parameters: Mapping[str, Json] = tool["parameters"].get("properties", {})
    return parameters


def _type(about: Json) -> str:
    """Return the type of a parameter in JSON's word, where it is anything but text."""
    kind = about.get("type", "string")
    return kind if isinstance(kind, str) and kind != "string" else ""


def _searched(event: Json) -> bool:
    return bool(event["category"] == "retrieve_ok")


def _carried_out(event: Json) -> bool:
    return event["category"] in ("tool_ok", "tool_no_result")


def _values(events: Sequence[Json]) -> list[Value]:
    """Return every value once, with the step at which it came first."""
    value_by_key: dict[tuple[str, bool], Value] = {}
    for step, event in enumerate(events, 1):
        if event["category"] != "tool_ok":
            continue
        text, tool = as_text(event["value"]), event["request"]["name"]
        old = value_by_key.get((text, event["success"])) or Value(text, event["success"], [], step)
        tools = list(dict.fromkeys([*old.tools, tool]))
        value_by_key[text, event["success"]] = Value(text, old.success, tools, old.step)
    return list(value_by_key.values())


def as_text(value: Any) -> str:
    """Return a value as it is typed into a field."""
    return value if isinstance(value, str) else canonical_json(value)


def _suggestions(query: str, values: Sequence[Value]) -> list[str]:
    """Return what an argument may be: values that came back, the newest first, and those of the
    query.
    """
    quoted = [*_QUOTED.findall(query), *_NUMBERED.findall(query)]
    quoted = [text.strip().rstrip(".:,") for text in quoted]
    came = [value.text for value in values[::-1] if value.success]
    return [text for text in dict.fromkeys([*came, *quoted]) if text]


_KINDS = (
    ("Unreadable replies", "label_errors", ("err_label",)),
    ("Failed searches", "retrieval_errors", ("err_retrieve_json", "err_retrieve_request")),
    (
        "Refused calls",
        "call_errors",
        ("err_call_json", "err_call_unavailable", "err_call_arguments", "err_call_inputs"),
    ),
)


def _mistakes(events: Sequence[Json], limits: Mapping[str, int]) -> list[Mistakes]:
    made = [event["category"] for event in events]
    return [
        Mistakes(title, sum(category in kinds for category in made), limits.get(counter))
        for title, counter, kinds in _KINDS
    ]


_DID = {RETRIEVE: SEARCHED, CALL: CALLED, ANSWER: ANSWERED}


def _past(step: int, event: Json) -> EarlierReply:
    request: Any = event.get("request")
    if _searched(event):
        count, note = len(event["tools"]), event["feedback"].splitlines()[2:]
        shown = f"{count} tool{'s' * (count != 1)} shown"
        came = shown if count else " ".join(["No tools.", *note])
        return EarlierReply(step, SEARCHED, _search_words(request), came, bool(count))
    if _carried_out(event):
        came = "Nothing was found for these values."
        if event["value"] is not None:
            came = as_text(event["value"])
        return EarlierReply(step, CALLED, _call_words(request), came, bool(event["success"]))
    did = _DID.get(event["action"], "Replied")
    asked = request if isinstance(request, str) else _call_words(request) if request else ""
    return EarlierReply(step, did, asked, event["feedback"], False)


def _search_words(request: Json) -> str:
    takes = " and ".join(f"“{text}”" for text in request.get("input_information", ()))
    gives = request.get("output_information")
    parts = [f"takes {takes}" if takes else "", f"gives “{gives}”" if gives else ""]
    return "what " + " and ".join(part for part in parts if part)


def _call_words(request: Json) -> str:
    arguments = ", ".join(
        f"{name}: {as_text(value)}" for name, value in request["arguments"].items()
    )
    return f"{request['name']} ({arguments})"


# --- The dialogue ---------------------------------------------------------------------------------

_AGENT, _RESULT = "Agent", "Result"


def dialogue(context: Json) -> list[Utterance]:
    """Return the question, and every reply with its result, in words."""
    lines = [Utterance("Question", context["query"])]
    for step, event in enumerate(context["events"], 1):
        past = _past(step, event)
        lines += [
            Utterance(_AGENT, _acted(past.did, past.asked), step),
            Utterance(_RESULT, past.came or "–", step),
        ]
    return lines


def _acted(did: str, asked: str) -> str:
    return f"{did}: {asked}" if asked else did


def spoken(parse: Callable[[str, Json], Json], text: str) -> str:
    """Return a stored reply in the words of `dialogue`; as it is where it holds no action."""
    action = parse(text, {})
    kind, content = action["kind"], action["content"]
    asked = ""
    if kind == ANSWER:
        asked = content
    elif kind == RETRIEVE and (request := read_request(content)):
        with suppress(RequestRefused):
            asked = _search_words(check_request(request, ""))
    elif kind == CALL and (call := read_call(content)):
        asked = _call_words({"name": call.name or call.tool_id, "arguments": call.arguments})
    return _acted(_DID[kind], asked) if asked else text


# --- From fields to a reply -----------------------------------------------------------------------

_NATIVE_NAMES = {RETRIEVE: "retrieve_tools", CALL: "call_tool"}


def compose(native: bool, context: Json, fields: Fields) -> str:
    """Return the reply that the filled-in form stands for."""
    action = {"search": _search, "call": _call, "answer": _answer}.get(fields.get("do", ""))
    if action is None:
        raise FieldsRefused({"": "Choose what to do: search, call a tool, or answer."})
    kind, content = action(context, fields)
    if native:
        if kind == ANSWER:
            return call_text("final_answer", {"answer": content})
        return call_text(_NATIVE_NAMES[kind], content)
    if kind != ANSWER:
        # Tags inside a text would count as tags; JSON has another way to write them.
        inside = canonical_json(content).replace("<", "\\u003c")
        return f"<{kind}>\n{inside}\n</{kind}>"
    text = f"<{kind}>\n{content}\n</{kind}>"
    if tagged(text) != [AgentAction(kind, content)]:
        raise FieldsRefused({"answer": "An answer cannot hold the tags in which replies stand."})
    return text


def _search(context: Json, fields: Fields) -> tuple[str, Any]:
    gives = fields.get(GIVES, "").strip()
    takes = [text for name in (TAKES, TAKES_2) if (text := fields.get(name, "").strip())]
    if not gives and not takes:
        raise FieldsRefused({GIVES: "Say what the tool should give, or what it takes."})
    if not takes:
        return RETRIEVE, {"meta_tool": "by_output_info", "output_information": gives}
    if not gives:
        return RETRIEVE, {"meta_tool": "by_inputs", "input_information": takes}
    return RETRIEVE, {
        "meta_tool": "by_io_info",
        "input_information": takes,
        "output_information": gives,
    }


def _call(context: Json, fields: Fields) -> tuple[str, Any]:
    name = fields.get("tool", "")
    spec = next((tool for tool in context["tools"] if tool["name"] == name), None)
    if spec is None:
        raise FieldsRefused({"": "Choose one of the tools that your searches have shown."})
    parameters = parameters_of(spec)
    typed = {key: fields.get(f"{ARGUMENT}{key}", "").strip() for key in parameters}
    if missing := [key for key, text in typed.items() if not text]:
        raise FieldsRefused({f"{ARGUMENT}{key}": "Give a value." for key in missing})
    arguments = {key: _argument(text, parameters[key]) for key, text in typed.items()}
    return CALL, {"name": name, "arguments": arguments}


_TYPES: Mapping[str, tuple[type, ...]] = {
    "integer": (int,), "number": (int, float), "boolean": (bool,), "array": (list,),
    "object": (dict,),
}  # fmt: skip


def _argument(text: str, about: Json) -> Any:
    """Return what was typed as the parameter's type, where it can be read as one; else as text."""
    kind = about.get("type")
    wanted = _TYPES.get(kind, ()) if isinstance(kind, str) else ()
    try:
        value = json.loads(text) if wanted else text
    except (ValueError, RecursionError):
        return text
    if type(value) not in wanted or (isinstance(value, float) and not math.isfinite(value)):
        return text
    return value


def _answer(context: Json, fields: Fields) -> tuple[str, Any]:
    answer = fields.get("answer", "").strip()
    errors = {}
    if not answer:
        errors["answer"] = "Write the answer."
    if not fields.get("sure"):
        errors["sure"] = "Confirm that this is your final answer."
    if errors:
        raise FieldsRefused(errors)
    return ANSWER, answer


_NEEDS = frozenset({"query", "step", "steps_left", "tools", "events", "limits"})
REPLY_FORMS: Mapping[str, ReplyForm] = {
    "tagged_action": ReplyForm(
        show, partial(compose, False), _NEEDS, spoken=partial(spoken, parse_tagged)
    ),
    "native_action": ReplyForm(
        show, partial(compose, True), _NEEDS, spoken=partial(spoken, parse_native)
    ),
}

# What an agent can know of the end by itself; it never learns whether the answer is right.
END_MESSAGES: Mapping[str, str] = {
    "answered": "You gave the final answer. This page does not say whether it is right.",
    "max_steps": "All replies are used up.",
    "label_errors": "Too many replies could not be read.",
    "retrieval_errors": "Too many searches were refused.",
    "call_errors": "Too many calls were refused.",
}


MODES = (
    Mode(
        "agent",
        "Agent",
        "The person answers a question by searching for tools and calling them.",
        (
            Place(
                "Agent",
                ("agent",),
                "Search, call a tool that a search showed, or answer once. You see what each call "
                "returns, and not whether the answer is right.",
            ),
        ),
        minutes=20,
        alone=True,
    ),
)

PEOPLE = People(
    reply_forms=REPLY_FORMS,
    end_messages=END_MESSAGES,
    modes=MODES,
    dialogues=dict.fromkeys(REPLY_FORMS, dialogue),
)

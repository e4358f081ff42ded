"""Scripted agents: they need no key, and their replies are labelled as scripted.

They cannot read prose. What a reader of the question would understand (which values it gives, what
kind of value it asks for) and what a reader of a tool's description would understand (what it takes
and gives) they know from the task. Beyond that they know what they were told, but for the
path-follower and its clumsy cousin, who know the catalogued paths and which tools are genuine.
"""

import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, NamedTuple

from benchmarks.core.answerers import Answer, Answerer, Scripted
from benchmarks.core.digests import canonical_json
from benchmarks.core.system import ScriptedPolicy
from benchmarks.core.types import Ask, Json, Task
from benchmarks.systems.planbench_xl.environment.actions import ANSWER, CALL, RETRIEVE, call_text
from benchmarks.systems.planbench_xl.environment.catalogue import (
    BASELINE,
    CatalogueTool,
    ToolWorld,
    world_of,
)
from benchmarks.systems.planbench_xl.environment.paths import in_order
from benchmarks.systems.planbench_xl.environment.values import text_of

# --- What an agent knows --------------------------------------------------------------------------


class Briefing(NamedTuple):
    """The question as a reader would understand it, and the catalogued paths."""

    world: ToolWorld
    given: Mapping[str, Any]
    target: str
    paths: tuple[tuple[CatalogueTool, ...], ...]
    example: tuple[CatalogueTool, ...]

    @classmethod
    def of(cls, task: Task) -> "Briefing":
        world, payload = world_of(task.shared), task.payload
        known = {tool.name: (tool.inputs, tool.output) for tool in world.of_kind(BASELINE)}
        given = payload["input_datatypes"]
        ordered = (in_order(path, given, known) for path in payload["paths"])
        paths = sorted((path for path in ordered if path), key=lambda path: (len(path), path))
        example = in_order(payload["example_path"], given, known)
        return cls(
            world,
            given_values(task, world),
            payload["target_datatype"],
            tuple(tuple(world.tools[name] for name in path) for path in paths),
            tuple(world.tools[name] for name in example),
        )


def given_values(task: Task, world: ToolWorld) -> dict[str, Any]:
    """Return the values that a question gives, by data type, as far as they can be read.

    Questions give them in prose. The record is meant from which the most values stand in it, and
    of several the one with the right answer, for several buyers may share a plant. A value that
    stands in no form known to `prose_forms` is left out: who needs it gives up.
    """
    payload = task.payload
    names, prose = payload["input_datatypes"], task.prompt.casefold()
    if values := payload["input_values"]:
        return {name: values[name] for name in names if name in values}

    def read(row: Json) -> dict[str, Any]:
        # A task may give a data type that no record has.
        held = {name: row[name] for name in names if row.get(name) is not None}
        return {
            name: value
            for name, value in held.items()
            if any(form.casefold() in prose for form in prose_forms(value))
        }

    readings = [(read(row), row) for row in world.rows]
    most = max((len(values) for values, _ in readings), default=0)
    fitting = [(values, row) for values, row in readings if len(values) == most]
    wanted, target = payload["correct_answer"], payload["target_datatype"]
    meant = [values for values, row in fitting if text_of(row.get(target)) == wanted]
    return next(iter(meant or [values for values, _ in fitting]), {}) if most else {}


def prose_forms(value: Any) -> tuple[str, ...]:
    """Return how a question may write a value: as it is stored, an amount with its cents, a time
    with a blank between date and hour, with or without seconds.
    """
    if isinstance(value, int | float) and not isinstance(value, bool):
        return text_of(value), f"{value:.2f}", f"{value:,.2f}"
    text = text_of(value)
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        return (text,)
    if len(text) < len("2026-04-13T03:59"):
        return (text,)  # a date alone: its hour is nobody's word
    return text, f"{moment:%Y-%m-%d %H:%M}", f"{moment:%Y-%m-%dT%H:%M}"


@dataclass
class Notes:
    """The dialogue so far, read from the agent's prompt.

    ``reliable`` are the values that genuine tools returned: only those who know which they are may
    look. ``plausible`` are values of tools that do not warn of themselves, ``believed`` those of
    all tools that did not report an error. Values that a later call was refused for are dropped.
    """

    world: ToolWorld
    shown: dict[str, CatalogueTool] = field(default_factory=dict)
    reliable: dict[str, Any] = field(default_factory=dict)
    plausible: dict[str, Any] = field(default_factory=dict)
    believed: dict[str, Any] = field(default_factory=dict)
    outputs_searched: set[str] = field(default_factory=set)
    called_in_vain: set[str] = field(default_factory=set)
    _searches: set[str] = field(default_factory=set)
    _calls: set[str] = field(default_factory=set)
    _refused: set[tuple[str, str]] = field(default_factory=set)

    @classmethod
    def of(cls, world: ToolWorld, context: Json) -> "Notes":
        notes = cls(world)
        for told in context["tools"]:
            notes.shown[told["name"]] = world.tools[told["name"]]
        for event in context["events"]:
            if event["category"] == "retrieve_ok":
                notes._note_search(event["request"])
            elif event["action"] == "tool_call" and isinstance(event.get("request"), dict):
                notes._note_call(event)
        return notes

    def _note_search(self, request: Json) -> None:
        self._searches.add(canonical_json(request))
        if "output_information" in request and "input_information" not in request:
            self.outputs_searched.add(request["output_information"].replace(" ", "_"))

    def _note_call(self, event: Json) -> None:
        request, category = event["request"], event["category"]
        tool = self.shown.get(request["name"])
        if tool is None:
            return
        if category == "err_call_inputs":
            self._calls.add(canonical_json(request))
            self._drop(tool, request["arguments"])
        elif category in ("tool_ok", "tool_no_result"):
            self._calls.add(canonical_json(request))
            if event["value"] is None:
                self.called_in_vain.add(tool.name)
            elif event["success"]:
                self._take(tool, event["value"])

    def _take(self, tool: CatalogueTool, value: Any) -> None:
        if (tool.output, text_of(value)) in self._refused:
            return
        self.believed.setdefault(tool.output, value)
        if tool.kind != "noisy":
            self.plausible.setdefault(tool.output, value)
        if tool.kind == BASELINE:
            self.reliable.setdefault(tool.output, value)

    def _drop(self, tool: CatalogueTool, arguments: Json) -> None:
        for surface, value in arguments.items():
            datatype = tool.arguments.get(surface, "")
            self._refused.add((datatype, text_of(value)))
            for values in (self.believed, self.plausible):
                if text_of(values.get(datatype)) == text_of(value):
                    del values[datatype]

    def in_vain(self, tool: CatalogueTool) -> bool:
        """Return whether a tool was looked for and not shown, or called and found nothing."""
        sought = tool.output in self.outputs_searched and tool.name not in self.shown
        return sought or tool.name in self.called_in_vain

    def call(self, tool: CatalogueTool, held: Mapping[str, Any]) -> dict[str, Any]:
        """Return a call of a tool with values that are held."""
        arguments = {surface: held[datatype] for surface, datatype in tool.arguments.items()}
        return {"name": tool.name, "arguments": arguments}

    def made(self, call: Json) -> bool:
        return canonical_json(call) in self._calls

    def searched(self, move: tuple[str, Any]) -> bool:
        return canonical_json(move[1]) in self._searches

    def wanted(self, held: Mapping[str, Any]) -> Sequence[str]:
        """Return what tools that were shown still lack, in the order in which they were shown."""
        lacking = (name for tool in self.shown.values() for name in tool.inputs)
        return list(dict.fromkeys(name for name in lacking if name not in held))


VERSION = "2"
GIVEN_UP = "not found"
_FUNCTIONS = {RETRIEVE: "retrieve_tools", CALL: "call_tool"}

Move = tuple[str, Any]


def write(ask: Ask, move: Move) -> str:
    """Return a move as the text of a reply: in tags, or as a native call where functions are
    offered.
    """
    kind, content = move
    if ask.tools:
        if kind == ANSWER:
            return call_text("final_answer", {"answer": content})
        return call_text(_FUNCTIONS[kind], content)
    inside = content if isinstance(content, str) else canonical_json(content)
    return f"<{kind}>\n{inside}\n</{kind}>"


def search(*, output: str = "", inputs: Sequence[str] = ()) -> Move:
    """Return a search for tools by the data types that they give or take, put in words."""
    taken = [name.replace("_", " ") for name in inputs]
    if output and inputs:
        about = {"output_information": output.replace("_", " "), "input_information": taken}
        return RETRIEVE, {"meta_tool": "by_io_info", **about}
    if output:
        wanted = output.replace("_", " ")
        return RETRIEVE, {"meta_tool": "by_output_info", "output_information": wanted}
    return RETRIEVE, {"meta_tool": "by_inputs", "input_information": taken}


# --- the policies: from a briefing and notes to a move --------------------------------------------


def follow_path(briefing: Briefing, notes: Notes) -> Move:
    """Go the shortest catalogued path; where one of its tools cannot be found, take the next."""
    held = {**briefing.given, **notes.reliable}
    if briefing.target in held:
        return ANSWER, held[briefing.target]
    for path in briefing.paths:
        if any(notes.in_vain(tool) for tool in path):
            continue
        tool = next(tool for tool in path if tool.output not in held)
        if not tool.needs <= held.keys():
            continue  # it needs a value that could not be read from the question
        if tool.name not in notes.shown:
            return search(output=tool.output)
        return CALL, notes.call(tool, held)
    return ANSWER, GIVEN_UP


def explore(briefing: Briefing, notes: Notes) -> Move:
    """Search breadth first from everything held; call everything that does not warn of itself."""
    held = {**briefing.given, **notes.plausible}
    if briefing.target in held:
        return ANSWER, held[briefing.target]
    for tool in notes.shown.values():
        if tool.kind == "noisy" or tool.output in held or not tool.needs <= held.keys():
            continue
        call = notes.call(tool, held)
        if not notes.made(call):
            return CALL, call
    for datatype in held:
        if not notes.searched(move := search(inputs=[datatype])):
            return move
    for datatype in (briefing.target, *notes.wanted(held)):
        if not notes.searched(move := search(output=datatype)):
            return move
    return ANSWER, GIVEN_UP


def believe(briefing: Briefing, notes: Notes) -> Move:
    """Follow the example path by the first tool shown for each step, and believe what it says."""
    held = {**briefing.given, **notes.believed}
    if briefing.target in held:
        return ANSWER, held[briefing.target]
    for step in briefing.example:
        if step.output in held or not step.needs <= held.keys():
            continue
        if not notes.searched(move := search(output=step.output, inputs=step.inputs[:2])):
            return move
        for tool in notes.shown.values():
            if tool.output == step.output and tool.needs == step.needs:
                call = notes.call(tool, held)
                if not notes.made(call):
                    return CALL, call
    believed = list(notes.believed.values())
    return ANSWER, believed[-1] if believed else GIVEN_UP


def wander(briefing: Briefing, notes: Notes) -> Move:
    """Leave the catalogued paths after the first value on one, and answer with what turns up."""
    on_paths = {tool.output for path in briefing.paths for tool in path}
    held = {**briefing.given, **notes.plausible}
    off_paths = [name for name in notes.plausible if name not in on_paths]
    left = not on_paths.isdisjoint(notes.plausible)
    for tool in notes.shown.values():
        if tool.kind == "noisy" or tool.output in held or not tool.needs <= held.keys():
            continue
        wanted = tool.output not in on_paths if left else tool.output != briefing.target
        if wanted and not notes.made(call := notes.call(tool, held)):
            return CALL, call
    for datatype in held:
        if not notes.searched(move := search(inputs=[datatype])):
            return move
    return ANSWER, held[off_paths[-1]] if off_paths else GIVEN_UP


def mislabel(briefing: Briefing, notes: Notes) -> Move:
    """Follow a path to its first value, then take that value for whatever the tools lack that give
    the answer, however often the call is refused.
    """
    found = [name for name in notes.reliable if name not in briefing.given]
    if not found:
        return follow_path(briefing, notes)
    if not notes.searched(move := search(output=briefing.target)):
        return move
    held = {**briefing.given, **notes.reliable}
    for tool in notes.shown.values():
        lacking = [name for name in tool.inputs if name not in held]
        if tool.kind != "noisy" and tool.output == briefing.target and lacking:
            return CALL, notes.call(tool, {**dict.fromkeys(lacking, held[found[-1]]), **held})
    return follow_path(briefing, notes)


# --- agents ---------------------------------------------------------------------------------------

Policy = Callable[[Briefing, Notes], Move]


def _agent(name: str, policy: Policy, mistakes: float = 0.0) -> Callable[[Task, Json], Answerer]:
    def build(task: Task, parameters: Json) -> Answerer:
        briefing = Briefing.of(task)
        share = float(parameters.get("mistakes", mistakes))

        def rule(ask: Ask, seed: int) -> Answer:
            move = policy(briefing, Notes.of(briefing.world, ask.context))
            rng = random.Random(seed)
            if share and rng.random() < share:
                return Answer(_mistake(ask, move, rng))
            return Answer(write(ask, move))

        return Scripted(name, VERSION, rule, {"mistakes": share} if share else {})

    return build


def _mistake(ask: Ask, move: Move, rng: random.Random) -> str:
    """Return a move gone wrong, as agents do go wrong."""
    kind, content = move
    if ask.tools:
        spoilt = {"content": "Let me think about that.", "tool_calls": []}
        return canonical_json(spoilt) if rng.random() < 0.3 else write(ask, _spoilt(move, rng))
    match rng.randrange(6):
        case 0:
            return "I shall look for the right tool first."
        case 1:
            return write(ask, move) + "\n" + write(ask, move)
        case 2:
            return f"<{kind}>{canonical_json(content)}"
        case 3 if kind != ANSWER:
            return f"<{kind}>{{this: is no JSON}}</{kind}>"
        case _:
            return write(ask, _spoilt(move, rng))


def _spoilt(move: Move, rng: random.Random) -> Move:
    """Return a move that is well formed and wrong."""
    kind, content = move
    if kind == RETRIEVE:
        wrong = [
            {**content, "meta_tool": content["meta_tool"].upper()},
            {"meta_tool": content["meta_tool"]},
            {"meta_tool": "by_inputs", "input_information": ["this", "that", "the other"]},
        ]
        return RETRIEVE, rng.choice(wrong)
    if kind == CALL:
        arguments = dict(content["arguments"])
        wrong = [
            {**content, "name": f"{content['name']}_plus"},
            {**content, "arguments": {}},
            {**content, "arguments": {**arguments, "verbose": True}},
            {**content, "arguments": dict.fromkeys(arguments, "unknown-0")},
        ]
        return CALL, rng.choice(wrong)
    return ANSWER, rng.choice([str(content)[:-1], f"It is **{content}**.", ""])


POLICIES: Mapping[str, ScriptedPolicy] = {
    policy.name: policy
    for policy in (
        ScriptedPolicy(
            "path-follower", "agent", "Path follower", VERSION,
            _agent("path-follower", follow_path),
        ),
        ScriptedPolicy(
            "breadth-first", "agent", "Breadth-first explorer", VERSION,
            _agent("breadth-first", explore),
        ),
        ScriptedPolicy(
            "clumsy", "agent", "Clumsy path follower", VERSION,
            _agent("clumsy", follow_path, mistakes=0.3), {"mistakes": 0.3},
        ),
        ScriptedPolicy(
            "gullible", "agent", "Gullible caller", VERSION, _agent("gullible", believe),
        ),
        ScriptedPolicy("wanderer", "agent", "Wanderer", VERSION, _agent("wanderer", wander)),
        ScriptedPolicy(
            "mislabeller", "agent", "Mislabeller", VERSION, _agent("mislabeller", mislabel),
        ),
    )
}  # fmt: skip

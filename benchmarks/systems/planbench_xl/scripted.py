"""Scripted agents: they need no key, and their replies are labelled as scripted.

They cannot read prose. What a reader of the question would understand (which values it gives, what
kind of value it asks for) and what a reader of a tool's description would understand (what it takes
and gives) they know from the task. Beyond that they know what they were told, but for the
path-follower and its clumsy cousin, who know the catalogued paths and which tools are genuine.
"""

import random
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from benchmarks.core.answerers import Answer, Answerer, Scripted
from benchmarks.core.digests import canonical_json
from benchmarks.core.system import ScriptedPolicy
from benchmarks.core.types import Ask, Json, Task
from benchmarks.systems.planbench_xl.actions import ANSWER, CALL, RETRIEVE
from benchmarks.systems.planbench_xl.native import call_text
from benchmarks.systems.planbench_xl.notes import Briefing, Notes

VERSION = "1"
GIVEN_UP = "not found"
_FUNCTIONS = {RETRIEVE: "retrieve_tools", CALL: "call_tool"}

Move = tuple[str, Any]


def write(ask: Ask, move: Move) -> str:
    """A move as the text of a reply: in tags, or as a native call where functions are offered."""
    kind, content = move
    if ask.tools:
        if kind == ANSWER:
            return call_text("final_answer", {"answer": content})
        return call_text(_FUNCTIONS[kind], content)
    inside = content if isinstance(content, str) else canonical_json(content)
    return f"<{kind}>\n{inside}\n</{kind}>"


def search(*, output: str = "", inputs: Sequence[str] = ()) -> Move:
    """A search for tools by the data types that they give or take, put in words."""
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
        if tool.name not in notes.shown:
            return search(output=tool.output)
        return CALL, notes.call(tool, held)
    return ANSWER, GIVEN_UP


def explore(briefing: Briefing, notes: Notes) -> Move:
    """Breadth first: search from everything held, call everything that does not warn of itself."""
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
    found = list(notes.believed.values())
    return ANSWER, found[-1] if found else GIVEN_UP


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
    """A move gone wrong, as agents do go wrong."""
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
    """A move that is well formed and wrong."""
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
    )
}  # fmt: skip

"""What a scripted agent knows: its briefing before the start, and notes of what it was told."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from benchmarks.core.digests import canonical_json
from benchmarks.core.types import Json, Task
from benchmarks.systems.planbench_xl.catalogue import BASELINE, Tool, World, world_of
from benchmarks.systems.planbench_xl.paths import in_order
from benchmarks.systems.planbench_xl.values import text_of


@dataclass(frozen=True)
class Briefing:
    """What the question says, as a reader would understand it, and the catalogued paths."""

    world: World
    given: Mapping[str, Any]
    target: str
    paths: tuple[tuple[Tool, ...], ...]
    example: tuple[Tool, ...]

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


def given_values(task: Task, world: World) -> dict[str, Any]:
    """The values that a question gives, by data type.

    Questions give them in prose. Of the records whose values stand in it the one with the right
    answer is meant, for several buyers may share a plant.
    """
    payload = task.payload
    names, prose = payload["input_datatypes"], task.prompt.casefold()
    if told := payload["input_values"]:
        return {name: told[name] for name in names if name in told}

    def named(row: Json) -> bool:
        # A task may give a data type that no record has.
        return all(text_of(row[name]).casefold() in prose for name in names if name in row)

    fitting = [row for row in world.rows if named(row)]
    wanted = payload["correct_answer"]
    meant = [row for row in fitting if text_of(row.get(payload["target_datatype"])) == wanted]
    row = next(iter(meant or fitting), {})
    return {name: row[name] for name in names if row.get(name) is not None}


@dataclass
class Notes:
    """What has happened so far, read from what the agent was told.

    ``reliable`` are the values that genuine tools returned: only those who know which they are may
    look. ``plausible`` are values of tools that do not warn of themselves, ``believed`` those of
    all tools that did not report an error. Values that a later call was refused for are dropped.
    """

    world: World
    shown: dict[str, Tool] = field(default_factory=dict)
    reliable: dict[str, Any] = field(default_factory=dict)
    plausible: dict[str, Any] = field(default_factory=dict)
    believed: dict[str, Any] = field(default_factory=dict)
    outputs_searched: set[str] = field(default_factory=set)
    called_in_vain: set[str] = field(default_factory=set)
    _searches: set[str] = field(default_factory=set)
    _calls: set[str] = field(default_factory=set)
    _refused: set[tuple[str, str]] = field(default_factory=set)

    @classmethod
    def of(cls, world: World, context: Json) -> "Notes":
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

    def _take(self, tool: Tool, value: Any) -> None:
        if (tool.output, text_of(value)) in self._refused:
            return
        self.believed.setdefault(tool.output, value)
        if tool.kind != "noisy":
            self.plausible.setdefault(tool.output, value)
        if tool.kind == BASELINE:
            self.reliable.setdefault(tool.output, value)

    def _drop(self, tool: Tool, arguments: Json) -> None:
        for surface, value in arguments.items():
            datatype = tool.arguments.get(surface, "")
            self._refused.add((datatype, text_of(value)))
            for values in (self.believed, self.plausible):
                if text_of(values.get(datatype)) == text_of(value):
                    del values[datatype]

    def in_vain(self, tool: Tool) -> bool:
        """Whether a tool was looked for and not shown, or called and found nothing."""
        sought = tool.output in self.outputs_searched and tool.name not in self.shown
        return sought or tool.name in self.called_in_vain

    def call(self, tool: Tool, held: Mapping[str, Any]) -> dict[str, Any]:
        """A call of a tool with values that are held."""
        arguments = {surface: held[datatype] for surface, datatype in tool.arguments.items()}
        return {"name": tool.name, "arguments": arguments}

    def made(self, call: Json) -> bool:
        return canonical_json(call) in self._calls

    def searched(self, move: tuple[str, Any]) -> bool:
        return canonical_json(move[1]) in self._searches

    def wanted(self, held: Mapping[str, Any]) -> Sequence[str]:
        """What tools that were shown still lack, in the order in which they were shown."""
        lacking = (name for tool in self.shown.values() for name in tool.inputs)
        return list(dict.fromkeys(name for name in lacking if name not in held))

"""The tools and records that all tasks of a dataset share, indexed once for all episodes."""

from collections import OrderedDict, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from threading import Lock
from typing import Any

from benchmarks.core.digests import canonical_json
from benchmarks.core.types import Json
from benchmarks.systems.planbench_xl.environment.similarity import DataType, Matcher
from benchmarks.systems.planbench_xl.environment.values import text_of

BASELINE, NOISY, BLOCKER = "baseline", "noisy", "blocker"
KINDS = (BASELINE, NOISY, BLOCKER)
TOOL_TYPES = {BASELINE: "baseline", NOISY: "noisy_misleading", BLOCKER: "blocker_misleading"}
EXPLICIT, IMPLICIT, MISLEADING = "explicit failures", "implicit failures", "semantic misleading"
BLOCKER_TYPES = (EXPLICIT, IMPLICIT, MISLEADING)
NOISY_TYPES = (
    "deprecated", "condition_limited", "stale", "miswired_or_unreliable", "non_authoritative_value",
)  # fmt: skip
# What these return is shown as an error; the other kinds lie with a straight face.
SHOWN_AS_ERROR = frozenset({EXPLICIT, "deprecated", "condition_limited"})
# Datasets that a process keeps indexed at the same time.
KEPT = 4


@dataclass(frozen=True)
class CatalogueTool:
    """One tool. ``arguments`` maps the names that the agent sees to data types, which it does not.

    ``source`` is the baseline tool that it stands beside or in place of (itself, for a baseline
    tool); ``value`` is what a noisy or blocking tool returns whatever it is given.
    """

    name: str
    kind: str
    inputs: tuple[str, ...]
    output: str
    arguments: Mapping[str, str]
    description: str
    parameters: Json
    type: str = "function"
    strict: bool = True
    source: str = ""
    noise: str = ""
    value: Any = None

    @property
    def tool_type(self) -> str:
        return TOOL_TYPES[self.kind]

    @property
    def shown(self) -> dict[str, Any]:
        """The description that an agent is shown of it."""
        return {
            "type": self.type,
            "name": self.name,
            "description": self.description,
            "strict": self.strict,
            "parameters": self.parameters,
        }

    @cached_property
    def shown_json(self) -> str:
        return canonical_json(self.shown)

    @cached_property
    def needs(self) -> frozenset[str]:
        return frozenset(self.inputs)


class Ambiguous(Exception):
    """A lookup that fits records with different answers."""

    def __init__(self, tool: str, values: Sequence[str]) -> None:
        self.tool, self.values = tool, tuple(values)
        super().__init__(f"{tool} finds {len(self.values)} different values")


@dataclass(frozen=True)
class ToolWorld:
    """Data types, records and tools of one domain, with the indexes that episodes need."""

    domain: str
    datatypes: tuple[DataType, ...]
    rows: tuple[Mapping[str, Any], ...]
    tools: Mapping[str, CatalogueTool]
    _columns: dict[str, dict[str, int]] = field(default_factory=dict, compare=False, repr=False)

    def of_kind(self, kind: str) -> Iterator[CatalogueTool]:
        return (tool for tool in self.tools.values() if tool.kind == kind)

    @cached_property
    def matcher(self) -> Matcher:
        return Matcher(self.datatypes)

    @cached_property
    def by_output(self) -> Mapping[str, tuple[CatalogueTool, ...]]:
        """The baseline tools that give a data type, sorted by name."""
        tools_by_output = defaultdict(list)
        for tool in sorted(self.of_kind(BASELINE), key=lambda tool: tool.name):
            tools_by_output[tool.output].append(tool)
        return {key: tuple(tools) for key, tools in tools_by_output.items()}

    @cached_property
    def by_inputs(self) -> Mapping[tuple[str, ...], tuple[CatalogueTool, ...]]:
        """The baseline tools with one or two inputs, by these (sorted), sorted by name."""
        tools_by_inputs = defaultdict(list)
        for tool in sorted(self.of_kind(BASELINE), key=lambda tool: tool.name):
            if len(tool.inputs) <= 2:
                tools_by_inputs[tuple(sorted(tool.inputs))].append(tool)
        return {key: tuple(tools) for key, tools in tools_by_inputs.items()}

    @cached_property
    def siblings(self) -> Mapping[str, tuple[CatalogueTool, ...]]:
        """The noisy tools beside each baseline tool, sorted by name."""
        tools_by_source = defaultdict(list)
        for tool in sorted(self.of_kind(NOISY), key=lambda tool: tool.name):
            tools_by_source[tool.source].append(tool)
        return {key: tuple(tools) for key, tools in tools_by_source.items()}

    @cached_property
    def blockers(self) -> Mapping[tuple[str, str], CatalogueTool]:
        """The tool that blocks a baseline tool, by this and its type of noise."""
        return {(tool.source, tool.noise): tool for tool in self.of_kind(BLOCKER)}

    def look_up(self, tool: CatalogueTool, arguments: Mapping[str, Any]) -> Any:
        """Return what a baseline tool finds: None for nothing, ``Ambiguous`` for several values."""
        rows = (1 << len(self.rows)) - 1
        for name, datatype in tool.arguments.items():
            rows &= self._column(datatype).get(text_of(arguments[name]), 0)
            if not rows:
                return None
        values: dict[str, Any] = {}
        while rows:
            number = (rows & -rows).bit_length() - 1
            rows &= rows - 1
            value = self.rows[number].get(tool.output)
            if value is not None:
                values.setdefault(text_of(value), value)
        if len(values) > 1:
            raise Ambiguous(tool.name, list(values))
        return next(iter(values.values()), None)

    def _column(self, datatype: str) -> dict[str, int]:
        """Return by the text of a value the rows that have it, as bits; built when first asked
        for.
        """
        column = self._columns.get(datatype)
        if column is None:
            column = defaultdict(int)
            for number, row in enumerate(self.rows):
                column[text_of(row.get(datatype))] |= 1 << number
            self._columns[datatype] = column = dict(column)
        return column


def read_world(shared: Json) -> ToolWorld:
    """Return the world of a dataset from what its tasks share."""
    tools = {}
    for kind in KINDS:
        for entry in shared["tools"][kind]:
            tools[entry["name"]] = CatalogueTool(
                name=entry["name"],
                kind=kind,
                inputs=tuple(entry["input_datatypes"]),
                output=entry["output_datatype"],
                arguments=entry["surface_argument_to_datatype"],
                description=entry["description"],
                parameters=entry["parameters"],
                type=entry["type"],
                strict=entry["strict"],
                source=entry.get("baseline_tool_name", entry["name"]),
                noise=entry.get("noise_type", ""),
                value=entry.get("return_value"),
            )
    datatypes = tuple(
        DataType(entry["name"], tuple(entry["aliases"]), entry["description"])
        for entry in shared["datatypes"]
    )
    # Sorted, because not every store keeps the order of an object's fields.
    rows = tuple(row for _, row in sorted(shared["rows"].items()))
    return ToolWorld(shared["domain"], datatypes, rows, tools)


_worlds: OrderedDict[str, ToolWorld] = OrderedDict()
_lock = Lock()


def world_of(shared: Json) -> ToolWorld:
    """Return the world of a dataset; the indexes are made once per process and content.

    The checksum stands for the content: a store may hand out a new object for every trajectory.
    """
    key = shared["checksum"]
    with _lock:
        if key in _worlds:
            _worlds.move_to_end(key)
            return _worlds[key]
    world = read_world(shared)
    with _lock:
        _worlds[key] = world
        while len(_worlds) > KEPT:
            _worlds.popitem(last=False)
    return world

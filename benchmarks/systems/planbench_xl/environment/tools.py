"""Carrying out a tool: what it returns, and whether that can be relied on."""

from collections.abc import Mapping
from typing import Any, NamedTuple

from benchmarks.systems.planbench_xl.environment.catalogue import (
    BASELINE,
    SHOWN_AS_ERROR,
    CatalogueTool,
    ToolWorld,
)

TRUSTED, UNTRUSTED, NOTHING = "trusted", "untrusted", "none"


class ToolResult(NamedTuple):
    """The result of a tool. The agent sees ``value`` and ``success``, nothing of the rest."""

    tool: CatalogueTool
    value: Any
    provenance: str
    success: bool

    @property
    def source(self) -> str | None:
        return self.tool.kind if self.provenance == UNTRUSTED else None

    @property
    def record(self) -> dict[str, Any]:
        return {
            "tool": self.tool.name,
            "tool_type": self.tool.tool_type,
            "shown_success": self.success,
            "datatype": self.tool.output,
            "value": self.value,
            "provenance": self.provenance,
            "source": self.source,
        }


def execute(world: ToolWorld, tool: CatalogueTool, arguments: Mapping[str, Any]) -> ToolResult:
    """Call a tool. Baseline tools look records up; the others say what they always say.

    Raises ``Ambiguous`` where a lookup fits records with different values.
    """
    if tool.kind == BASELINE:
        value = world.look_up(tool, arguments)
        if value is None:
            return ToolResult(tool, None, NOTHING, False)
        return ToolResult(tool, value, TRUSTED, True)
    value = tool.description if tool.value is None else tool.value
    return ToolResult(tool, value, UNTRUSTED, tool.noise not in SHOWN_AS_ERROR)

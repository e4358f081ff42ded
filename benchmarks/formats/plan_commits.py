"""Plans that an agent commits by a call: lists of tasks, plans put up for approval."""

from collections.abc import Mapping
from typing import Any

# Names of tools that hold a plan, without case and separators: Claude Code, Codex, Gemini CLI,
# OpenHands and programs that follow them.
_TOOLS = frozenset(
    ("todowrite", "taskcreate", "exitplanmode", "updateplan", "writetodos", "tasktracker")
    + ("createplan", "writeplan", "setplan", "plan")
)
_LISTS = ("plan", "todos", "task_list", "tasks", "steps", "items")
_STEPS = ("step", "content", "description", "title", "subject", "task", "text")


def committed_plan(name: str, arguments: Any) -> tuple[str, ...]:
    """Return the steps of the plan that a call commits; empty if it commits none.

    How far the steps are is left out, so that a call that only ticks one off has the same steps.
    """
    if plain_tool(name) not in _TOOLS or not isinstance(arguments, Mapping):
        return ()
    for key in (*_LISTS, *_STEPS):
        value = arguments.get(key)
        if isinstance(value, str) and value.strip():
            return tuple(line.strip() for line in value.splitlines() if line.strip())
        if isinstance(value, list) and value:
            return tuple(filter(None, (_step(one) for one in value)))
    return ()


def plain_tool(name: str) -> str:
    """Return the name of a tool without its server, case and separators."""
    last = name.rpartition(".")[2].rpartition("__")[2]
    return last.lower().replace("_", "").replace("-", "")


def _step(given: Any) -> str:
    if isinstance(given, Mapping):
        given = next((given[key] for key in _STEPS if isinstance(given.get(key), str)), "")
    return given.strip() if isinstance(given, str) else ""

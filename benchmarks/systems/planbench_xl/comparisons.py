"""PlanBench-XL's conditions, and its record of tool use, for pages that compare."""

from collections.abc import Mapping

from benchmarks.core.ports.comparisons import Caption, Comparisons, Contrasts, Grouping, ToolUse
from benchmarks.core.types import Json, Task
from benchmarks.systems.planbench_xl.environment.catalogue import world_of
from benchmarks.systems.planbench_xl.environment.evaluation import Tally
from benchmarks.systems.planbench_xl.environment.tools import TRUSTED
from benchmarks.systems.planbench_xl.labels import CATEGORIES, GROUPS, INPUT_TYPES
from benchmarks.systems.planbench_xl.settings import CONDITIONS, WORDS

_TITLES = {
    "default": Caption("Block-free", "Noisy siblings only; nothing is blocked."),
    "blocker": Caption("Blocked", "One path remains; all three kinds of blocking tools."),
    "feedback": Caption("Blocked, with feedback", "As blocked; wrong answers are turned down."),
    "finegrain_long": Caption("Long path remains", "As blocked; the remaining path is long."),
    "finegrain_short": Caption("Short path remains", "As blocked; the remaining path is short."),
    **{
        f"noise_ratio_0p{n}": Caption(f"{n}0 % of paths remain", "All kinds of blocking tools.")
        for n in (2, 4, 6, 8)
    },
    **{
        f"noise_type_{word}": Caption(f"Blocked, {word}", f"As blocked, by {word} tools alone.")
        for word in WORDS
    },
}


def run_name(condition: str) -> str:
    """Return a condition as runs are labelled with it."""
    return "standard" if condition == "default" else f"condition={condition}"


def remaining_length(task: Json, outcome: Json) -> float | None:
    """Return the mean length of the catalogued paths that hold no blocked tool.

    None where nothing was blocked, so that nothing was left over either.
    """
    blocked = set((outcome.get("blocked") or {}).get("tools", ()))
    left = [len(path) for path in task.get("paths", ()) if blocked.isdisjoint(path)]
    return sum(left) / len(left) if blocked and left else None


def path_datatypes(task: Task) -> frozenset[str]:
    """Return the data types on a task's catalogued paths: what recall is the share of."""
    return frozenset(Tally(world_of(task.shared), task.payload["paths"]).ground_truth)


PUBLISHED: Mapping[str, Caption] = {
    "accurate@blocking=none": Caption("no blocking"),
    "accurate@blocking=most severe": Caption("most severe blocking"),
    "accurate@condition=default": Caption("no blocking"),
}

CONTRASTS = Contrasts(
    conditions={run_name(name): _TITLES[name] for name in CONDITIONS},
    baseline=run_name("default"),
    contrast=run_name("blocker"),
    kinds=tuple(run_name(f"noise_type_{word}") for word in WORDS),
    lengths=(run_name("finegrain_short"), run_name("finegrain_long")),
    remaining=remaining_length,
    remaining_title="Tools on the remaining path",
    published=PUBLISHED,
)

TOOL_USE = ToolUse(
    searches="search_turns",
    calls="call_turns",
    mishaps=("invalid_calls", "untrusted_rejections", "noisy_calls"),
    categories=CATEGORIES,
    parts=path_datatypes,
    parts_title="data types on the task's paths",
    found_part="datatype",
    found_where={"provenance": TRUSTED},
)

COMPARISONS = Comparisons(
    contrasts=CONTRASTS,
    tool_use=TOOL_USE,
    groups={
        name: Grouping(title, INPUT_TYPES if name == "input_type" else {})
        for name, title in GROUPS.items()
    },
)

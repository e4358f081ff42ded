"""The evaluator's figures of one query, counted while it goes on."""

from collections.abc import Sequence
from typing import Any

from benchmarks.systems.planbench_xl.environment.catalogue import NOISY, ToolWorld


class Tally:
    """Counts of what an agent did. ``rejected`` are calls with unreliable inputs, ``invalid`` all
    other calls that were not carried out.
    """

    def __init__(self, world: ToolWorld, paths: Sequence[Sequence[str]]) -> None:
        self._world = world
        self.searches = self.searches_run = self.calls = self.calls_run = 0
        self.invalid = self.rejected = self.noisy = 0
        self.executed: set[str] = set()
        # What the tools on the paths take and give: a given value that no path needs is not in it.
        self.ground_truth: set[str] = set()
        for name in {name for path in paths for name in path}:
            tool = world.tools[name]
            self.ground_truth.update(tool.inputs, (tool.output,))

    def name_called(self, name: str) -> None:
        tool = self._world.tools.get(name)
        self.noisy += tool is not None and tool.kind == NOISY

    @property
    def useful(self) -> set[str]:
        """The data types that were found out and lie on a catalogued path."""
        return self.executed & self.ground_truth

    def figures(self, *, steps: int, explored: int, correct: bool, checked: bool) -> dict[str, Any]:
        """Return the evaluator's fields, under the names that it gives them."""
        return {
            "answer_correct": correct and checked,
            "datatype_check_passed": checked,
            "evaluation_failure_reason_detail": _detail(correct, checked),
            "turn_count": steps,
            "search_turns": self.searches,
            "call_turns": self.calls,
            "search_to_call_ratio": _share(self.searches, self.calls),
            "invalid_tool_call_count": self.invalid,
            "untrusted_input_rejection_count": self.rejected,
            "combined_invalid_tool_call_count": self.invalid + self.rejected,
            "noisy_tool_call_count": self.noisy,
            "explored_datatype_count": explored,
            "executed_datatypes": sorted(self.executed),
            "executed_gt_datatype_precision": _share(len(self.useful), len(self.executed)),
            "executed_gt_datatype_recall": _share(len(self.useful), len(self.ground_truth)),
        }


def _detail(correct: bool, checked: bool) -> str | None:
    if not checked:
        return "target_datatype_not_reached"
    return None if correct else "final_answer_wrong"


def _share(part: int, whole: int) -> float | None:
    return part / whole if whole else None

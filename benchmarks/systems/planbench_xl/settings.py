"""The settings of PlanBench-XL: the twelve published conditions, and every knob beneath them.

``condition`` names one of the twelve. A knob that is set to something else than its default has
precedence over what the condition says; left alone, it follows the condition. No two conditions
differ in a knob at its default alone, so nothing is out of reach. Defaults are the reference's
behaviour, also where that surprises.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import combinations
from typing import Any

from benchmarks.core.errors import SettingError
from benchmarks.core.system import PROMPTS, Setting
from benchmarks.systems.planbench_xl.environment.blockers import (
    EDGES,
    FIXED,
    FIXED_MULTI,
    LENGTHS,
    NOISE_MODES,
    RATIO,
    REMAINING,
    SELECTIONS,
    Rules,
)
from benchmarks.systems.planbench_xl.environment.catalogue import BLOCKER_TYPES

# Short words for the three types of blocking tools, and every choice among them.
WORDS = dict(zip(("explicit", "implicit", "misleading"), BLOCKER_TYPES, strict=True))
TYPE_CHOICES = tuple("+".join(words) for size in (3, 1, 2) for words in combinations(WORDS, size))
ALL_TYPES = TYPE_CHOICES[0]

_BLOCKED = {"blockers": True, "selection": REMAINING}
_RATIOS = {f"noise_ratio_0p{n}": {"blockers": True, "selection": RATIO, "remaining_ratio": n / 10}
           for n in (2, 4, 6, 8)}  # fmt: skip
_TYPES = {
    f"noise_type_{word}": {**_BLOCKED, "noise_mode": FIXED, "noise_types": word} for word in WORDS
}
CONDITIONS: Mapping[str, Mapping[str, Any]] = {
    "default": {},
    "blocker": _BLOCKED,
    "feedback": {**_BLOCKED, "answer_feedback": True},
    "finegrain_long": {**_BLOCKED, "length_objective": "maximize"},
    "finegrain_short": {**_BLOCKED, "length_objective": "minimize"},
    **_RATIOS,
    **_TYPES,
}

SETTINGS = (
    Setting("condition", "choice", "default",
            "One of the twelve published conditions. Settings below that are left at their default "
            "follow it; others have precedence.",
            tuple(CONDITIONS)),
    Setting("calling", "choice", "tags",
            "How the agent acts: by the three tags, or by native function calls.",
            ("tags", "native"), title="Form of calls"),
    Setting("max_steps", "int", 100, "Replies that the agent may give.", minimum=1, maximum=1000,
            title="Reply limit"),
    Setting("max_label_errors", "int", 3,
            "Replies in a row without exactly one action that end the query.",
            minimum=1, maximum=50, title="Replies without one action"),
    Setting("max_retrieval_errors", "int", 3, "Failed searches that end the query.",
            minimum=1, maximum=50, title="Failed searches"),
    Setting("max_call_errors", "int", 3, "Rejected calls that end the query.",
            minimum=1, maximum=50, title="Rejected calls"),
    Setting("errors_reset", "choice", "same_action",
            "What sets the count of failed searches or calls back: success of the same kind of "
            "action, or any action in between that is well formed.",
            ("same_action", "any_action"), title="What resets errors"),
    Setting("tool_ids", "bool", False, "Show tools with short ids that calls may use.",
            title="Short tool ids"),
    Setting("noise", "bool", True, "Show noisy siblings beside the tools that a search finds.",
            title="Noisy siblings"),
    Setting("max_total_tools", "int", 30,
            "Tools that a search shows at most, siblings included; 0 for no limit.",
            minimum=0, maximum=1000, title="Tools per search"),
    Setting("blockers", "bool", False, "Block tools on the catalogued paths of each task."),
    Setting("selection", "choice", REMAINING,
            "What decides how much is blocked: the number of paths that remain, their share, or "
            "the number of paths blocked.", SELECTIONS, title="How much is blocked"),
    Setting("remaining_paths", "int", 1, "Paths that should remain (target_remaining_paths).",
            minimum=0, maximum=1000),
    Setting("remaining_ratio", "float", 0.6,
            "Share of paths that should remain (target_remaining_ratio).", minimum=0, maximum=1,
            title="Share of paths remaining"),
    Setting("block_paths", "int", 1, "Paths to block (exact_blocked_paths).",
            minimum=0, maximum=1000, title="Paths blocked"),
    Setting("tolerance", "int", 1, "How far from its goal the number of remaining paths may lie.",
            minimum=0, maximum=1000, title="Tolerance in paths"),
    Setting("min_remaining", "int", 1, "Paths that must remain.", minimum=0, maximum=1000,
            title="Least paths remaining"),
    Setting("length_objective", "choice", "none",
            "Which mean length the remaining paths should have, among the plans that fit.",
            LENGTHS, title="Length of remaining paths"),
    Setting("tools_objective", "choice", "none",
            "Whether to block as few tools as possible, among the plans that fit.", EDGES,
            title="Tools blocked"),
    Setting("max_blocked_tools", "int", 4, "Tools that a plan blocks at most.",
            minimum=0, maximum=10, title="Limit of blocked tools"),
    Setting("max_candidates", "int", 20_000, "Plans that are looked at for a task.",
            minimum=1, maximum=200_000, title="Plans looked at"),
    Setting("noise_mode", "choice", FIXED_MULTI,
            "Which blocking tools stand in for a blocked one: all of noise_types, the first of "
            "them, one at random, or several at random.", NOISE_MODES, title="Blocking tools"),
    Setting("noise_types", "choice", ALL_TYPES, "Types of blocking tools (fixed, fixed_multi).",
            TYPE_CHOICES, title="Types of blocking tools"),
    Setting("noise_count", "int", 1, "How many types at random (random_multi).",
            minimum=1, maximum=3, title="Number of types"),
    Setting("blocker_seed", "int", 42, "Seed of the blocking plans and of the order of tools.",
            minimum=0, maximum=2**31 - 1, title="Seed of blocking"),
    Setting("answer_feedback", "bool", False,
            "Tell the agent that an answer is not right, and let it go on.",
            title="Feedback on answers"),
    Setting("feedback_budget", "int", 5, "How often an answer may be turned down like that.",
            minimum=0, maximum=1000),
    Setting("trust", "choice", "datatype",
            "What a call may be given: any value of a data type that is held, or only values that "
            "the query or a reliable tool gave.", ("datatype", "value"),
            title="Values a call may take"),
    Setting("answer_match", "choice", "substring",
            "How an answer holds the expected value: anywhere, or as words of its own.",
            ("substring", "words"), title="Match of answers"),
    Setting("untrusted_match", "choice", "always",
            "When a value that an unreliable tool returned spoils a right answer: always, or only "
            "if no reliable tool returned the same.", ("always", "unless_trusted"),
            title="Unreliable values"),
    Setting("ambiguous_record", "choice", "leave_out",
            "What a lookup that fits records with different values does: it ends the query, which "
            "is left out of the score, or it finds nothing.", ("leave_out", "no_result"),
            title="Ambiguous records"),
)  # fmt: skip
DEFAULTS = {setting.name: setting.default for setting in SETTINGS}


@dataclass(frozen=True)
class Conditions:
    """The settings of an episode, resolved."""

    values: Mapping[str, Any]

    def __getitem__(self, name: str) -> Any:
        return self.values[name]

    @property
    def prompts(self) -> str:
        """The version of the prompts, empty for the newest."""
        return str(self.values.get(PROMPTS, ""))

    @property
    def rules(self) -> Rules | None:
        """The rules by which blocking plans are drawn; None where nothing is blocked."""
        if not self["blockers"]:
            return None
        return Rules(
            selection=self["selection"],
            block_paths=self["block_paths"],
            remaining_paths=self["remaining_paths"],
            remaining_ratio=self["remaining_ratio"],
            tolerance=self["tolerance"],
            min_remaining=self["min_remaining"],
            length_objective=self["length_objective"],
            tools_objective=self["tools_objective"],
            seed=self["blocker_seed"],
            noise_mode=self["noise_mode"],
            noise_types=tuple(WORDS[word] for word in self["noise_types"].split("+")),
            noise_count=self["noise_count"],
            max_candidates=self["max_candidates"],
            max_tools=self["max_blocked_tools"],
        )

    @property
    def most_tools(self) -> int | None:
        most: int = self["max_total_tools"]
        return most or None


def resolve(settings: Mapping[str, Any]) -> Conditions:
    """Return the condition with the knobs that were turned; settings that are missing are at
    default.
    """
    name = settings.get("condition", "default")
    if name not in CONDITIONS:
        raise SettingError("condition", "one of " + ", ".join(CONDITIONS), name)
    turned = {key: value for key, value in settings.items() if value != DEFAULTS.get(key)}
    return Conditions({**DEFAULTS, **CONDITIONS[name], **turned})

"""The reference's configuration as our settings: its dotted knobs, and conditions made of them.

A condition of a file starts from one of the twelve and overrides knobs. All is resolved in the
reference's terms first: where blocking is switched on over ``default``, the reference's own base
values hold, not our defaults.
"""

import math
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from benchmarks.core.errors import CoreError
from benchmarks.core.problems import Problems
from benchmarks.systems.planbench_xl.environment.blockers import (
    EDGES,
    EXACT,
    FIXED,
    FIXED_MULTI,
    LENGTHS,
    NOISE_MODES,
    RANDOM,
    RATIO,
    REMAINING,
    SELECTIONS,
)
from benchmarks.systems.planbench_xl.environment.catalogue import BLOCKER_TYPES
from benchmarks.systems.planbench_xl.files import read_json
from benchmarks.systems.planbench_xl.settings import SETTINGS, WORDS

SIBLINGS = "append_noisy_siblings"
LONGEST_NAME, MOST_CONDITIONS = 120, 1000
_MOST = {setting.name: setting.maximum for setting in SETTINGS}
_WORD_OF = {kind: word for word, kind in WORDS.items()}
_TOOL_IDS = ("capabilities.tool_id_calling", "model.capabilities.tool_id_calling")


class CannotExpress(CoreError):
    """A condition that our settings cannot stand for; the text names the knob and says why."""


# --- knobs -----------------------------------------------------------------------------------


def _whole(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= 0


def _whole_or_null(value: Any) -> bool:
    return value is None or _whole(value)


def _flag(value: Any) -> bool:
    return isinstance(value, bool)


def _steps(value: Any) -> bool:
    if isinstance(value, str):
        return value.lstrip("+.").lower() in ("inf", "infinity")
    number = isinstance(value, int | float) and not isinstance(value, bool)
    return number and not math.isnan(value)


def _share(value: Any) -> bool:
    number = isinstance(value, int | float) and not isinstance(value, bool)
    return value is None or (number and 0 <= value <= 1)


def _text(value: Any) -> bool:
    return value is None or isinstance(value, str)


def _types(value: Any) -> bool:
    return value is None or (
        isinstance(value, list) and bool(value) and all(one in BLOCKER_TYPES for one in value)
    )


def _one_of(*known: Any) -> tuple[str, Callable[[Any], bool]]:
    words = ", ".join("null" if one is None else str(one) for one in known)
    return f"one of {words}", lambda value: isinstance(value, str | None) and value in known


_WHOLE = ("a whole number of at least 0", _whole)
_WHOLE_OR_NULL = ("a whole number of at least 0, or null", _whole_or_null)
_FLAG = ("true or false", _flag)

# By knob: the value that the twelve conditions start from, what it may be, and whether it is that.
_KNOBS: Mapping[str, tuple[Any, str, Callable[[Any], bool]]] = {
    "noise.mode": (SIBLINGS, "a text or null", _text),
    "noise.max_total_tools": (30, *_WHOLE_OR_NULL),
    "blocker.enable_block": (False, *_FLAG),
    "blocker.selection_mode": (RATIO, *_one_of(*SELECTIONS)),
    "blocker.block_n_per_task": (None, *_WHOLE_OR_NULL),
    "blocker.target_remaining_paths": (None, *_WHOLE_OR_NULL),
    "blocker.target_remaining_ratio": (0.6, "a number from 0 to 1, or null", _share),
    "blocker.remaining_tolerance": (1, *_WHOLE),
    "blocker.min_remaining_paths": (1, *_WHOLE),
    "blocker.remaining_path_length_objective": ("none", *_one_of(*LENGTHS)),
    "blocker.blocking_edge_count_objective": ("none", *_one_of(*EDGES)),
    "blocker.noise_mode": (RANDOM, *_one_of(*NOISE_MODES)),
    "blocker.fixed_noise_type": (None, *_one_of(*BLOCKER_TYPES, None)),
    "blocker.fixed_noise_types": (None, "a list of types of blocking tools, or null", _types),
    "blocker.multi_noise_count": (1, *_WHOLE_OR_NULL),
    "blocker.seed": (42, *_WHOLE),
    "blocker.max_combo_candidates": (5000, *_WHOLE),
    "blocker.max_cover_size": (4, *_WHOLE),
    "runtime.max_steps": (100, "a number, or .inf", _steps),
    "runtime.max_label_errors": (3, *_WHOLE),
    "runtime.max_retrieval_errors": (3, *_WHOLE),
    "runtime.max_call_errors": (3, *_WHOLE),
    "runtime.enable_incorrect_final_answer_feedback": (False, *_FLAG),
    "runtime.incorrect_final_answer_feedback_budget": (5, *_WHOLE),
    **dict.fromkeys(_TOOL_IDS, (False, *_FLAG)),
}
# Knobs that the reference reads without effect on an episode whose replies are given.
_WITHOUT_EFFECT = frozenset({
    "noise.ratio", "retriever.embedding_model", "query_sample.size", "query_sample.seed",
    "runtime.max_concurrency", "runtime.llm_max_concurrent_requests",
    "runtime.max_resume_attempts", "runtime.truncate_history", "runtime.save_progress_every_turn",
    "output.root_dir", "output.output_dir", "output.save_progress_every_turn",
    "output.save_raw_llm_response", "logging.level", "logging.console",
    "data.blocker_tools_file", "data.datatypes_file", "data.database_file",
    "truncate_history", "save_progress_every_turn", "llm_max_concurrent_requests", "limits",
})  # fmt: skip
_MODEL_REQUEST = "model.request."
# Files that the reference reads by their knobs; here ``--data`` names the folder.
_FILES = frozenset({
    "data.task_file", "data.query_file", "data.baseline_tools_file", "data.noisy_tools_file",
    "data.paths_set_catalog_file",
})  # fmt: skip

_BLOCKED = {
    "blocker.enable_block": True,
    "blocker.selection_mode": REMAINING,
    "blocker.target_remaining_paths": 1,
    "blocker.noise_mode": FIXED_MULTI,
    "blocker.fixed_noise_types": list(BLOCKER_TYPES),
    "blocker.max_combo_candidates": 20_000,
}
_LENGTH = "blocker.remaining_path_length_objective"
BASES: Mapping[str, Mapping[str, Any]] = {
    "default": {},
    "blocker": _BLOCKED,
    "feedback": {**_BLOCKED, "runtime.enable_incorrect_final_answer_feedback": True},
    "finegrain_long": {**_BLOCKED, _LENGTH: "maximize"},
    "finegrain_short": {**_BLOCKED, _LENGTH: "minimize"},
    **{
        f"noise_ratio_0p{n}": {
            **_BLOCKED,
            "blocker.selection_mode": RATIO,
            "blocker.target_remaining_paths": None,
            "blocker.target_remaining_ratio": n / 10,
        }
        for n in (2, 4, 6, 8)
    },
    **{
        f"noise_type_{word}": {
            **_BLOCKED,
            "blocker.noise_mode": FIXED,
            "blocker.fixed_noise_types": None,
            "blocker.fixed_noise_type": kind,
        }
        for word, kind in WORDS.items()
    },
}


def settings_of(base: str, override: Mapping[str, Any]) -> dict[str, Any]:
    """Return one of the twelve conditions with overridden knobs, as settings of an episode.

    Raises ``CannotExpress`` where a knob is not known, or its value has no counterpart here.
    """
    for name in override:
        if name in _FILES:
            raise CannotExpress(f"knob {name!r} has no counterpart: --data names the files")
        if name not in _KNOBS and not _harmless(name):
            raise CannotExpress(f"unknown knob {name[:LONGEST_NAME]!r}")
    start = {name: value for name, (value, *_) in _KNOBS.items()}
    return _translated({**start, **BASES[base], **override})


def _harmless(name: str) -> bool:
    return name in _WITHOUT_EFFECT or name.startswith(_MODEL_REQUEST)


def _translated(knobs: Mapping[str, Any]) -> dict[str, Any]:
    """Return our settings for a whole configuration of the reference."""
    most_tools, steps = knobs["noise.max_total_tools"], knobs["runtime.max_steps"]
    steps = math.inf if isinstance(steps, str) else steps
    if steps <= 0:
        raise CannotExpress("knob 'runtime.max_steps': an episode has at least one step here")
    knobs_here: dict[str, Any] = {
        "condition": "default",
        # No room for siblings is the same as none; our 0 stands for no limit.
        "noise": knobs["noise.mode"] == SIBLINGS and most_tools != 0,
        "max_total_tools": most_tools or 0,
        "blockers": knobs["blocker.enable_block"],
        "blocker_seed": knobs["blocker.seed"],
        "max_steps": steps,
        "max_label_errors": knobs["runtime.max_label_errors"],
        "max_retrieval_errors": knobs["runtime.max_retrieval_errors"],
        "max_call_errors": knobs["runtime.max_call_errors"],
        "answer_feedback": knobs["runtime.enable_incorrect_final_answer_feedback"],
        "feedback_budget": knobs["runtime.incorrect_final_answer_feedback_budget"],
        "tool_ids": any(knobs[name] for name in _TOOL_IDS),
    }
    return {**knobs_here, **_blocking(knobs)} if knobs_here["blockers"] else knobs_here


def _blocking(knobs: Mapping[str, Any]) -> dict[str, Any]:
    """Return the settings by which plans of blocking are drawn."""
    mode, selection = knobs["blocker.noise_mode"], knobs["blocker.selection_mode"]
    needed = {
        EXACT: "blocker.block_n_per_task",
        REMAINING: "blocker.target_remaining_paths",
        RATIO: "blocker.target_remaining_ratio",
        FIXED: "blocker.fixed_noise_type",
        FIXED_MULTI: "blocker.fixed_noise_types",
    }
    for choice in (selection, mode):
        if choice in needed and knobs[needed[choice]] is None:
            raise CannotExpress(f"knob {needed[choice]!r} is null, and {choice!r} needs it")
    blocking: dict[str, Any] = {
        "selection": selection,
        "block_paths": knobs["blocker.block_n_per_task"] or 0,
        "remaining_paths": knobs["blocker.target_remaining_paths"] or 0,
        "remaining_ratio": knobs["blocker.target_remaining_ratio"] or 0.0,
        "tolerance": knobs["blocker.remaining_tolerance"],
        "min_remaining": knobs["blocker.min_remaining_paths"],
        "length_objective": knobs[_LENGTH],
        "tools_objective": knobs["blocker.blocking_edge_count_objective"],
        "max_blocked_tools": knobs["blocker.max_cover_size"],
        # The reference looks at the empty plan whatever the limit is.
        "max_candidates": max(1, knobs["blocker.max_combo_candidates"]),
        "noise_mode": mode,
        "noise_count": min(max(1, knobs["blocker.multi_noise_count"] or 1), len(BLOCKER_TYPES)),
    }
    types = {FIXED: [knobs["blocker.fixed_noise_type"]],
             FIXED_MULTI: knobs["blocker.fixed_noise_types"]}.get(mode)  # fmt: skip
    if types:
        blocking["noise_types"] = "+".join(_WORD_OF[kind] for kind in types)
    for name, knob in (
        ("max_candidates", "blocker.max_combo_candidates"),
        ("max_blocked_tools", "blocker.max_cover_size"),
    ):
        if blocking[name] > (limit := _MOST[name] or 0):
            raise CannotExpress(f"knob {knob!r}: at most {limit:g} here")
    return blocking


# --- conditions from a file ------------------------------------------------------------------


class NamedConditions:
    """Named conditions: the twelve, and those of a file, which come first.

    ``faults`` says by name which conditions of the file cannot be played here, and why.
    """

    def __init__(self, defined: Mapping[str, tuple[str, Mapping[str, Any]]]) -> None:
        self.settings: dict[str, Mapping[str, Any]] = {name: {"condition": name} for name in BASES}
        self.faults: dict[str, str] = {}
        for name, (base, override) in defined.items():
            try:
                self.settings[name] = settings_of(base, override)
            except CannotExpress as error:
                self.settings.pop(name, None)
                self.faults[name] = str(error)

    def why_not(self, name: str) -> str:
        """Return why a condition cannot be played, or ''."""
        if name in self.settings:
            return ""
        shown = name[:LONGEST_NAME]
        if name in self.faults:
            return f"condition {shown!r}: {self.faults[name]}"
        return f"unknown condition {shown!r}"


PUBLISHED = NamedConditions({})


def read_conditions(path: Path) -> NamedConditions:
    """Return the conditions of a JSON file: by name, ``{"base": …, "override": {knob: value}}``.

    Raises ``FileRefused`` where the file has another form, or a knob a value of another kind.
    """
    problems = Problems()
    content = read_json(path, problems)
    problems.check()
    if not isinstance(content, dict) or len(content) > MOST_CONDITIONS:
        problems.add(path.name, f"an object with at most {MOST_CONDITIONS} conditions", content)
        problems.check()
    defined = {}
    for name, entry in content.items():
        where = f"{path.name}, {name[:LONGEST_NAME]!r}"
        if not isinstance(entry, dict):
            problems.add(where, 'an object with "base" and "override"', entry)
            continue
        base, override = entry.get("base"), entry.get("override")
        if not isinstance(base, str) or base not in BASES:
            problems.add(f"{where}, base", "one of " + ", ".join(BASES), base)
        if not isinstance(override, dict):
            problems.add(f"{where}, override", "an object from knobs to values", override)
            continue
        for knob, value in override.items():
            if knob in _KNOBS and not _KNOBS[knob][2](value):
                problems.add(f"{where}, override, {knob}", _KNOBS[knob][1], value)
        defined[name] = (str(base), override)
    problems.check()
    return NamedConditions(defined)

"""The reference's knobs as our settings, and conditions read from a file."""

import gzip
import json
import math

import pytest

from benchmarks.core.problems import FileRefused
from benchmarks.systems.planbench_xl.settings import CONDITIONS, resolve
from devtools.recordings.reference_knobs import (
    BASES,
    CannotExpress,
    read_conditions,
    settings_of,
)
from tests.benchmarks.systems.planbench_xl import slice
from tests.benchmarks.systems.planbench_xl.test_units import rules_of

NO_RULES = ("condition", "selection", "block_paths", "remaining_paths", "remaining_ratio",
            "length_objective", "max_candidates", "noise_mode", "noise_types")  # fmt: skip


@pytest.mark.parametrize("name", CONDITIONS)
def test_the_twelve_conditions_come_out_as_they_are_defined(name):
    """Both tables were written by hand: one in the reference's knobs, one in ours."""
    ours, theirs = resolve({"condition": name}), resolve(settings_of(name, {}))

    def rest(found):
        return {key: value for key, value in found.values.items() if key not in NO_RULES}

    assert rest(theirs) == rest(ours)
    if ours.rules is None:
        assert theirs.rules is None
        return
    for field in ("selection", "length_objective", "noise_mode", "noise_types", "max_candidates"):
        assert getattr(theirs.rules, field) == getattr(ours.rules, field)
    goal = "remaining_ratio" if "ratio" in name else "remaining_paths"
    assert getattr(theirs.rules, goal) == getattr(ours.rules, goal)


def test_every_configuration_of_plans_can_be_said_in_knobs():
    """The reference's own configurations, also those beyond the twelve conditions."""
    units = slice.units("blocker_plans")
    assert len(units) == 14
    for unit in units.values():
        config = unit["config"]
        knobs = {f"blocker.{name}": value for name, value in config.items()}
        found = resolve(settings_of("default", {**knobs, "blocker.enable_block": True})).rules
        wanted = rules_of(config)
        assert found is not None
        unused = {"fixed": ("noise_count",), "random": ("noise_types", "noise_count")}
        for field in vars(wanted):
            if field not in unused.get(config["noise_mode"], ()) and (
                field != "noise_types" or config["noise_mode"] != "random_multi"
            ):
                assert getattr(found, field) == getattr(wanted, field), field


def test_what_is_switched_on_over_default_has_the_reference_s_base_values():
    """Base (section 13): ratio .6, noise type at random, 5,000 candidates."""
    rules = resolve(settings_of("default", {"blocker.enable_block": True})).rules
    assert rules is not None
    found = (rules.selection, rules.remaining_ratio, rules.noise_mode, rules.max_candidates)
    assert found == ("target_remaining_ratio", 0.6, "random", 5000)


@pytest.mark.parametrize(
    ("knob", "value", "setting", "wanted"),
    [
        ("noise.mode", "none", "noise", False),
        ("noise.mode", None, "noise", False),
        ("noise.max_total_tools", 12, "max_total_tools", 12),
        # None is no limit, which our 0 says; 0 leaves no room for siblings.
        ("noise.max_total_tools", None, "max_total_tools", 0),
        ("noise.max_total_tools", 0, "noise", False),
        ("runtime.max_steps", 7, "max_steps", 7),
        ("runtime.max_steps", ".inf", "max_steps", math.inf),
        ("runtime.max_label_errors", 1, "max_label_errors", 1),
        ("runtime.max_retrieval_errors", 2, "max_retrieval_errors", 2),
        ("runtime.max_call_errors", 4, "max_call_errors", 4),
        ("runtime.enable_incorrect_final_answer_feedback", True, "answer_feedback", True),
        ("runtime.incorrect_final_answer_feedback_budget", 1, "feedback_budget", 1),
        ("capabilities.tool_id_calling", True, "tool_ids", True),
        ("model.capabilities.tool_id_calling", True, "tool_ids", True),
        ("blocker.seed", 7, "blocker_seed", 7),
        ("blocker.max_cover_size", 2, "max_blocked_tools", 2),
        ("blocker.max_combo_candidates", 9, "max_candidates", 9),
        ("blocker.min_remaining_paths", 2, "min_remaining", 2),
        ("blocker.remaining_tolerance", 0, "tolerance", 0),
        ("blocker.target_remaining_paths", 3, "remaining_paths", 3),
        ("blocker.blocking_edge_count_objective", "minimize", "tools_objective", "minimize"),
        ("blocker.remaining_path_length_objective", "random_middle", "length_objective",
         "random_middle"),
        ("blocker.noise_mode", "random", "noise_mode", "random"),
        # The order of types is the order in which the tools take part in later draws.
        ("blocker.fixed_noise_types", ["semantic misleading", "explicit failures"], "noise_types",
         "misleading+explicit"),
    ],
)  # fmt: skip
def test_a_knob_sets_its_setting(knob, value, setting, wanted):
    assert resolve(settings_of("blocker", {knob: value}))[setting] == wanted


@pytest.mark.parametrize(
    "knob",
    ["noise.ratio", "retriever.embedding_model", "query_sample.size", "runtime.max_concurrency",
     "runtime.truncate_history", "model.request.temperature"],
)  # fmt: skip
def test_knobs_without_effect_change_nothing(knob):
    assert settings_of("feedback", {knob: 5}) == settings_of("feedback", {})


@pytest.mark.parametrize(
    ("base", "override", "wanted"),
    [
        ("default", {"noise.loudness": 3}, "unknown knob 'noise.loudness'"),
        ("default", {"max_steps": 3}, "unknown knob 'max_steps'"),
        ("blocker", {"data.task_file": "x"}, "--data names the files"),
        ("blocker", {"runtime.max_steps": 0}, "at least one step"),
        ("blocker", {"blocker.selection_mode": "exact_blocked_paths"},
         "'blocker.block_n_per_task' is null"),
        ("blocker", {"blocker.noise_mode": "fixed"}, "'blocker.fixed_noise_type' is null"),
        ("blocker", {"blocker.max_combo_candidates": 10**9}, "at most 200000 here"),
    ],
)  # fmt: skip
def test_what_cannot_be_expressed_is_named(base, override, wanted):
    with pytest.raises(CannotExpress) as refused:
        settings_of(base, override)
    assert wanted in str(refused.value)


def save(tmp_path, content, packed=False):
    path = tmp_path / "conditions.json"
    text = content if isinstance(content, str) else json.dumps(content)
    path.write_bytes(gzip.compress(text.encode()) if packed else text.encode())
    return path


@pytest.mark.parametrize("packed", [False, True])
def test_conditions_of_a_file_stand_beside_the_twelve(tmp_path, packed):
    content = {
        "few": {"base": "default", "override": {"noise.max_total_tools": 8}},
        "odd": {"base": "default", "override": {"noise.loudness": 8}},
    }
    known = read_conditions(save(tmp_path, content, packed))

    assert set(known.settings) == {*BASES, "few"}
    assert known.settings["few"]["max_total_tools"] == 8
    assert known.why_not("few") == known.why_not("blocker") == ""
    assert known.why_not("odd") == "condition 'odd': unknown knob 'noise.loudness'"
    assert known.why_not("none") == "unknown condition 'none'"


@pytest.mark.parametrize(
    ("content", "wanted"),
    [
        ("[]", "conditions.json: expected an object with at most 1000 conditions"),
        ("{", "conditions.json: expected JSON in UTF-8"),
        ({"a": 5}, "conditions.json, 'a': expected an object with \"base\" and \"override\""),
        ({"a": {"base": "none", "override": {}}}, "conditions.json, 'a', base: expected one of"),
        ({"a": {"base": "default"}}, "conditions.json, 'a', override: expected an object"),
        ({"a": {"base": "default", "override": {"noise.max_total_tools": -1}}},
         "'a', override, noise.max_total_tools: expected a whole number of at least 0, or null"),
        ({"a": {"base": "default", "override": {"blocker.enable_block": 1}}},
         "'a', override, blocker.enable_block: expected true or false, found the number 1"),
        ({"a": {"base": "default", "override": {"blocker.selection_mode": ["x"]}}},
         "expected one of target_remaining_ratio, target_remaining_paths, exact_blocked_paths"),
        ({"a": {"base": "default", "override": {"blocker.fixed_noise_types": []}}},
         "expected a list of types of blocking tools, or null"),
        ({"a": {"base": "default", "override": {"blocker.fixed_noise_types": [[]]}}},
         "expected a list of types of blocking tools, or null"),
    ],
)  # fmt: skip
def test_a_file_of_another_form_is_refused(tmp_path, content, wanted):
    with pytest.raises(FileRefused) as refused:
        read_conditions(save(tmp_path, content))
    assert wanted in str(refused.value)

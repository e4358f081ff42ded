"""The twelve conditions, and knobs that change them."""

import pytest

from benchmarks.core.errors import SettingError
from benchmarks.core.system import read_settings
from benchmarks.systems.planbench_xl.settings import CONDITIONS, DEFAULTS, SETTINGS, resolve

EXPLICIT, IMPLICIT, MISLEADING = "explicit failures", "implicit failures", "semantic misleading"


def test_there_are_twelve_conditions_and_all_differ():
    resolved = [tuple(resolve({"condition": name}).values.items()) for name in CONDITIONS]

    assert len(set(resolved)) == len(CONDITIONS) == 12


def test_conditions_turn_known_knobs_to_sound_values():
    known = {setting.name: setting for setting in SETTINGS}
    for knobs in CONDITIONS.values():
        for name, value in knobs.items():
            assert known[name].read(value) == value


def test_nothing_is_out_of_reach():
    """A knob at its default follows the condition, so two conditions must not differ in that alone:
    what one condition with a knob at its default would be is another condition."""

    def knobs_of(name):
        return {k: v for k, v in resolve({"condition": name}).values.items() if k != "condition"}

    whole = [knobs_of(name) for name in CONDITIONS]
    for name, knobs in CONDITIONS.items():
        for knob in set(knobs) - {"blockers", "selection", "remaining_ratio", "noise_types"}:
            undone = {**knobs_of(name), knob: DEFAULTS[knob]}
            if knob == "noise_mode":  # fixed is the first of the types, fixed_multi all of them
                assert resolve({"condition": name}).rules.noise_types[1:] == ()
                continue
            assert undone in whole, (name, knob)


def test_a_knob_has_precedence_over_the_condition():
    settings = read_settings(SETTINGS, {"condition": "noise_ratio_0p4", "tolerance": "3"})
    rules = resolve(settings).rules

    assert (rules.remaining_ratio, rules.tolerance) == (0.4, 3)
    changed = read_settings(SETTINGS, {**settings, "remaining_ratio": 0.5})
    assert resolve(changed).rules.remaining_ratio == 0.5


def test_types_of_noise():
    assert resolve({"condition": "blocker"}).rules.noise_types == (EXPLICIT, IMPLICIT, MISLEADING)
    chosen = {"blockers": True, "noise_types": "explicit+misleading"}
    assert resolve(chosen).rules.noise_types == (EXPLICIT, MISLEADING)


def test_no_limit_of_tools():
    assert resolve({}).most_tools == 30
    assert resolve({"max_total_tools": 0}).most_tools is None


def test_an_unknown_condition_is_refused():
    with pytest.raises(SettingError, match="one of default, blocker"):
        resolve({"condition": "storm"})
    with pytest.raises(SettingError):
        read_settings(SETTINGS, {"noise_types": "implicit+explicit"})

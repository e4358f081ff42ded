"""Reading the settings of a condition from forms, terminals and JSON."""

import pytest

from benchmarks.core.conditions import condition_title
from benchmarks.core.errors import CoreError, SettingError
from benchmarks.core.registry import find_system
from benchmarks.core.system import Role, Setting, read_settings

COUNT = Setting("count", "int", 2, "How many.", minimum=1, maximum=9)
SHARE = Setting("share", "float", 0.5, "How much.", minimum=0, maximum=1)
FREE = Setting("free", "float", 0.0, "Any number.")
SWITCH = Setting("switch", "bool", False, "Whether.")
MODE = Setting("mode", "choice", "slow", "Which.", ("slow", "fast"))
ALL = (COUNT, SHARE, FREE, SWITCH, MODE)


@pytest.mark.parametrize(
    ("setting", "raw", "value"),
    [
        (COUNT, "3", 3),
        (COUNT, " 9 ", 9),
        (COUNT, 1, 1),
        (SHARE, "0.25", 0.25),
        (SHARE, 1, 1.0),
        (SHARE, "1e-3", 0.001),
        (FREE, "-4", -4.0),
        (SWITCH, "on", True),
        (SWITCH, True, True),
        (SWITCH, "0", False),
        (SWITCH, "No", False),
        (MODE, "fast", "fast"),
    ],
)
def test_reads(setting, raw, value):
    read = setting.read(raw)

    assert (read, type(read)) == (value, type(value))


@pytest.mark.parametrize(
    ("setting", "raw", "expected"),
    [
        (COUNT, "many", "a whole number"),
        (COUNT, "2.5", "a whole number"),
        (COUNT, "", "a whole number"),
        (COUNT, None, "a whole number"),
        (COUNT, True, "a whole number"),
        (COUNT, [1], "a whole number"),
        (COUNT, 0, "at least 1"),
        (COUNT, "10", "at most 9"),
        (SHARE, "half", "a number"),
        (SHARE, "nan", "a number"),
        (SHARE, "1.01", "at most 1"),
        (FREE, "inf", "a number"),
        (FREE, "-Infinity", "a number"),
        (SWITCH, "maybe", "true or false"),
        (SWITCH, 2, "true or false"),
        (MODE, "Fast", "one of slow, fast"),
        (MODE, None, "one of slow, fast"),
    ],
)
def test_refuses_and_says_what_was_expected(setting, raw, expected):
    with pytest.raises(SettingError) as caught:
        setting.read(raw)

    error = caught.value
    assert (error.name, error.expected, error.found) == (setting.name, expected, raw)
    assert str(error) == f"setting {setting.name!r}: expected {expected}, found {raw!r}"
    assert isinstance(error, CoreError)


def test_every_setting_gets_a_value():
    assert read_settings(ALL, {"count": "7", "switch": "yes"}) == {
        "count": 7,
        "share": 0.5,
        "free": 0.0,
        "switch": True,
        "mode": "slow",
    }


def test_unknown_names_are_refused():
    with pytest.raises(SettingError, match="'cuont': expected a setting among count, share"):
        read_settings(ALL, {"cuont": 1})


def test_what_was_read_reads_the_same_again():
    once = read_settings(ALL, {"share": "0.1", "mode": "fast"})

    assert read_settings(ALL, once) == once


@pytest.mark.parametrize(("default", "seats"), [((), 1), (("a",), 1), (("a", "b", "c"), 3)])
def test_a_role_has_a_seat_for_each_of_its_defaults_and_at_least_one(default, seats):
    assert Role("judge", "Judge", default).seats == seats


def test_a_condition_is_called_by_the_titles_of_its_system() -> None:
    titles = {
        ("sda_planner", "planner=tree"): "Planner: Tree Planner",
        ("adaplanbench", "simulator=person"): "User simulator: a person",
        ("adaplanbench", "standard"): "standard",
        ("adaplanbench", "refinement=6, tau=4.0"): "Extra turns: 6, Pass mark τ: 4.0",
        ("adaplanbench", "turns=last, anchors=descending, replicates=2"): (
            "Turns judged: last, Order of anchors: descending, Replicates: 2"
        ),
        ("planbench_xl", "condition=blocker"): "Blocked",
        ("planbench_xl", "errors_reset=any_action, noise=False"): (
            "What resets errors: any action, Noisy siblings: off"
        ),
        ("adaplanbench", "gone=1, simulator=person"): "gone=1, User simulator: a person",
    }
    for (system, condition), title in titles.items():
        assert condition_title(find_system(system), condition) == title

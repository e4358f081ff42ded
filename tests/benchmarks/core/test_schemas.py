"""What comes from outside is read by a type, and each fault is said in the words of its schema."""

from dataclasses import dataclass
from typing import Annotated, Any

import pytest
from pydantic import Field, StrictBool, with_config

from benchmarks.core.problems import Unquoted
from benchmarks.core.schemas import STRICT, Checked, ShortText, Whole, expects

Count = Annotated[int, Field(strict=True, ge=1, le=2_000)]
Names = tuple[Annotated[str, ShortText(9)], ...]


@with_config(STRICT)
@dataclass(frozen=True)
class Part:
    count: Count
    seed: Whole = 0


@with_config(STRICT)
@dataclass(frozen=True)
class Wish:
    name: Annotated[str, ShortText(9)]
    parts: tuple[Part, ...] = ()
    tasks: Annotated[Count | Names | None, expects("a number, or a list of ids")] = None
    flag: StrictBool = False


WISHES = Checked[Wish](Wish)
NUMBER = "a whole number from 1 to 2,000"


@pytest.mark.parametrize(
    ("given", "fault"),
    [
        (5, ((), "fields such as name, parts, tasks", 5)),
        ({}, (("name",), "a text of at most 9 characters", None)),
        ({"name": "a" * 10}, (("name",), "a text of at most 9 characters", "a" * 10)),
        ({"name": "a", "flag": "no"}, (("flag",), "true or false", "no")),
        ({"name": "a", "parts": {}}, (("parts",), "a list", {})),
        ({"name": "a", "parts": [{"count": True}]}, (("parts", 0, "count"), NUMBER, True)),
        ({"name": "a", "parts": [{}]}, (("parts", 0, "count"), NUMBER, None)),
        (
            {"name": "a", "parts": [{"count": 1, "seed": -1}]},
            (("parts", 0, "seed"), "a whole number from 0", -1),
        ),
        ({"name": "a", "tasks": 0}, (("tasks",), "a number, or a list of ids", 0)),
        ({"name": "a", "tasks": ["b", ""]}, (("tasks", 1), "a text that is not blank", "")),
        (
            {"name": "a", "more": 1},
            (("more",), "a field among name, parts, tasks, flag", Unquoted("another one")),
        ),
    ],
)
def test_a_fault_has_its_place_and_what_was_expected(given: Any, fault: Any) -> None:
    assert WISHES.faults(given) == [fault]


def test_a_sound_value_is_read_and_written_without_what_is_usual() -> None:
    given = {"name": 7, "parts": [{"count": 2}], "tasks": ["b"]}
    wish = WISHES.read(given, lambda *fault: pytest.fail(str(fault)))
    assert wish == Wish("7", (Part(2),), ("b",))
    assert WISHES.write(wish) == {**given, "name": "7"}


def test_all_of_many_faults_are_found() -> None:
    faults = WISHES.faults({"name": "a", "parts": [{"count": 0, "x": 1}] * 5_000})
    assert len(faults) == 10_000 and faults[-1][0][:2] == ("parts", 4_999)

"""A workshop of our own in the form of the published files, at their size where that is wanted.

``python -m tests.benchmarks.systems.planbench_xl.published_form FOLDER [QUERIES]`` writes the eight
files. Questions write their values in every form that the published ones use, and in some that no
script reads: a time with "UTC", a date in words, a range, a list, a price with its currency, an id
with or without marks, several values in a sentence. The same seed gives the same files.
"""

import random
import sys
from collections.abc import Callable, Iterator, Mapping
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

from benchmarks.systems.planbench_xl.world.build import files_of, write

QUERIES, CASES, QUIET, LONGEST_PATH = 327, 100, 14, 9
STAGES = (
    "client", "estimate", "estimate line", "quote", "order", "order line", "deposit", "repair",
    "part", "invoice", "parcel", "complaint", "review", "refund",
)  # fmt: skip
# What a stage has beside its code: how a value is stored, and what it is.
FIELDS = {
    "state": ("string", "What became of it."),
    "time": ("timestamp", "When it was entered."),
    "amount": ("number", "The money that it is about."),
}
STATES = ("open", "approved", "paid", "turned down", "processed")
AFTER = STAGES.index("complaint")  # quiet cases have nothing from here on
OPENINGS = (
    "The workshop is closing a file and one linked value is missing.",
    "A colleague asks about a case that went through the whole chain.",
    "Before we answer the client, one entry must be traced.",
)
ENDINGS = ("Which {target} belongs to it?", "Please trace it and return the {target}.")


def _name(stage: str, field: str) -> str:
    return f"{stage} {field}".replace(" ", "_")


# --- values in prose ------------------------------------------------------------------------------

Form = Callable[[Any], str]


def _moment(value: str) -> datetime:
    return datetime.fromisoformat(value)


ID_FORMS: tuple[Form, ...] = (
    lambda v: f"`{v}`",
    lambda v: f"({v})",
    lambda v: f'"{v.lower()}"',
    lambda v: f"one of {v}, ZZ-1 and ZZ-2",
)
TIME_FORMS: tuple[Form, ...] = (
    lambda v: f"{_moment(v):%Y-%m-%d %H:%M} UTC",
    lambda v: f"{_moment(v):%Y-%m-%d %H:%M:%S} UTC",
    lambda v: f"`{v}`",
    lambda v: f"{_moment(v):%Y-%m-%dT%H:%M}",
    lambda v: f"{_moment(v):%Y-%m-%d}",
    lambda v: f"{_moment(v):%d %B %Y, %H:%M} UTC",
    lambda v: f"between {_moment(v) - timedelta(days=1):%Y-%m-%d} and {_moment(v):%Y-%m-%d}",
)
AMOUNT_FORMS: tuple[Form, ...] = (
    lambda v: f"${v:,.2f}",
    lambda v: f"{v:.2f} USD",
    lambda v: f"`{v}`",
    lambda v: f"between ${v - 1:.0f} and ${v + 1:.0f}",
    lambda v: f"about {v:.0f} dollars",
)
FORMS = {"code": ID_FORMS, "time": TIME_FORMS, "amount": AMOUNT_FORMS, "state": ID_FORMS[:3]}


# --- records and tools ----------------------------------------------------------------------------


def _row(case: int, rng: random.Random) -> dict[str, Any]:
    start = datetime(2031, 4, 1) + timedelta(hours=7 * case)
    row: dict[str, Any] = {}
    for number, stage in enumerate(STAGES):
        letters = "".join(word[:2] for word in stage.split()).upper()
        moment = start + timedelta(hours=5 * number, minutes=rng.randrange(60))
        values = {
            "code": f"{letters}-{1000 * (number + 1) + case}",
            "state": rng.choice(STATES),
            "time": f"{moment:%Y-%m-%dT%H:%M:%SZ}",
            "amount": round(rng.uniform(3, 2500), 2),
        }
        quiet = number >= AFTER and case > CASES - QUIET
        row |= {_name(stage, field): None if quiet else v for field, v in values.items()}
    return row


def _tools() -> dict[str, list[list[str]]]:
    """Return, by what a tool gives, each list of what it takes: chains, short cuts, and tools that
    take a time, an amount or a state, as people remember them.
    """
    tools: dict[str, list[list[str]]] = {}
    for number, stage in enumerate(STAGES):
        code = _name(stage, "code")
        reach = 1 + number % 2
        before = [_name(s, "code") for s in STAGES[max(0, number - reach) : number]]
        tools[code] = [[one] for one in before]
        tools[code].append([_name(stage, "time"), _name(stage, "amount")])
        if number:
            time, amount = _name(stage, "time"), _name(stage, "amount")
            tools[code] += [[before[-1], time], [before[-1], _name(stage, "state"), amount]]
        for field in FIELDS:
            tools[_name(stage, field)] = [[code]]
        tools[_name(stage, "state")] += [[one] for one in before]
    return tools


def _spec() -> dict[str, Any]:
    fields = {"code": ("string", "The code under which it is kept."), **FIELDS}
    return {
        "datatypes": {
            _name(stage, field): [stage.title(), kind, about, f"{field} of the {stage}"]
            for stage in STAGES
            for field, (kind, about) in fields.items()
        },
        "tools": _tools(),
        "tasks": {},
    }


# --- questions ------------------------------------------------------------------------------------

GIVEN = (
    ("code",), ("time", "amount"), ("code", "time"), ("code", "state", "amount"), ("code", "code"),
)  # fmt: skip


def _given(fields: tuple[str, ...], number: int) -> list[str]:
    """Return the data types that a question gives: those of a stage, and where a code stands
    before other fields, the code of the stage before.
    """
    stages = [STAGES[number]] * len(fields)
    if len(fields) > 1 and fields[0] == "code":
        stages[0] = STAGES[number - 1]
    return [_name(stage, field) for stage, field in zip(stages, fields, strict=True)]


def _questions(
    rows: Mapping[str, Mapping[str, Any]], count: int, rng: random.Random
) -> Iterator[tuple[str, tuple[int, list[str], str, str]]]:
    for number in range(count):
        at = rng.randrange(1, len(STAGES) - 3)
        fields = GIVEN[number % len(GIVEN)]
        inputs = _given(fields, at)
        end = rng.randrange(at + 2, min(at + 7, len(STAGES)))
        target = _name(STAGES[end], rng.choice(tuple(FIELDS)))
        last = CASES - QUIET if max(at, end) >= AFTER else CASES
        case = rng.randint(1, last)
        row = rows[f"case-{case:02}"]
        told = [
            f"the {name.replace('_', ' ')} is {rng.choice(FORMS[field])(row[name])}"
            for name, field in zip(inputs, fields, strict=True)
        ]
        ending = rng.choice(ENDINGS).format(target=target.replace("_", " "))
        text = f"{rng.choice(OPENINGS)} What is left: {', and '.join(told)}. {ending}"
        yield f"workshop-{number:04}", (case, inputs, target, text)


def files(queries: int = QUERIES, seed: int = 0) -> dict[str, Any]:
    """Return the content of the eight files by name."""
    rng = random.Random(seed)
    rows = {f"case-{case:02}": _row(case, rng) for case in range(1, CASES + 1)}
    spec = _spec()
    spec["tasks"] = dict(_questions(rows, queries, rng))
    made = files_of(spec, rows, LONGEST_PATH)
    # Two published tasks give a data type that is not listed and that no record has.
    for number in (1, 2):
        for name in ("tasks", "queries"):
            entry = made[name][number]
            entry["input_datatypes"] = [*entry["input_datatypes"], "name"]
    return made


if __name__ == "__main__":
    write(Path(sys.argv[1]), files(int(sys.argv[2]) if len(sys.argv) > 2 else QUERIES))

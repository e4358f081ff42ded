"""Faults of answers to ACPBench Hard, by the elements that the validator checked."""

from collections.abc import Iterable

from benchmarks.core.ports.faults import Fault, Faults
from benchmarks.core.types import Json


def _in_turn(parts: Json) -> Iterable[str]:
    """Return which elements of an answer are wrong or missing, and whether it was misread."""
    for mark in parts["marks"] or ():
        if mark["right"] is False:
            yield "missing" if mark["part"] == "missing" else "wrong"
    if parts["quirks"]:
        yield "misread"


FAULTS = Faults(
    kinds={
        "wrong": Fault("Names something wrong", "name something that is wrong"),
        "missing": Fault("Leaves something out", "leave out something that belongs there"),
        "misread": Fault(
            "Misread by the reference evaluator",
            "are misread by the reference evaluator",
            "A peculiarity of the reference evaluator changes what it reads or scores.",
        ),
    },
    turn_parts=("marks", "quirks"),
    in_turn=_in_turn,
    answer="answer",
)

"""A system outside PlanJury: the agent names a number, and is told whether it is right."""

import json
import random
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from benchmarks.core.answerers import Answer, Answerer, Scripted
from benchmarks.core.digests import digest
from benchmarks.core.errors import UnreadableReply
from benchmarks.core.ports.importer import Importer, TaskFile, TaskFormat
from benchmarks.core.ports.labels import Ending, Labels, Measure
from benchmarks.core.ports.people import Fields, People, ReplyForm
from benchmarks.core.ports.validity import AssumptionPair, Validity, Variant, always
from benchmarks.core.problems import Problems
from benchmarks.core.system import Dimension, Role, ScriptedPolicy, Setting, System
from benchmarks.core.types import (
    Ask,
    Episode,
    Expect,
    Json,
    Message,
    Outcome,
    Profile,
    Task,
    Turn,
)

INTERFACE = 1
RIGHT, SPENT = "right", "spent"


def read_numbers(paths: Sequence[Path], options: Mapping[str, Any]) -> TaskFile:
    """Read a JSON list of numbers, or of numbers with ids: each is a task."""
    name, problems = paths[0].name, Problems()
    try:
        rows = json.loads(paths[0].read_text(encoding="utf-8"))
    except ValueError as error:
        problems.add(name, "JSON", str(error))
        rows = []
    tasks = []
    for index, row in enumerate(rows if isinstance(rows, list) else [rows]):
        given = row if isinstance(row, dict) else {"number": row, "id": f"n{row}"}
        if type(given.get("number")) is int and isinstance(given.get("id"), str):
            tasks.append((_task(given["number"], given["id"]), ()))
        else:
            problems.add(f"{name}, [{index}]", "a whole number, or one with an id", row)
    if not tasks and not problems.total:
        problems.add(name, "at least one number", rows)
    problems.check()
    return TaskFile(tasks, digest(rows), name)


def _task(number: int, id: str = "") -> Task:
    return Task(id or f"n{number}", "Which number do I think of?", "", {"number": number})


def parse_number(text: str, params: Mapping[str, Any]) -> int:
    """Read a whole number."""
    try:
        return int(text)
    except ValueError:
        raise UnreadableReply("expected a whole number.") from None


def counting_up(task: Task, parameters: Json) -> Answerer:
    """Name 1, then 2, and so on."""
    return Scripted("counting-up", "1", lambda ask, seed: Answer(str(ask.context["turn"])))


def constants(tasks: Sequence[Task]) -> list[Variant]:
    """Return each number of these tasks, as what is always named."""
    numbers = sorted({str(task.payload["number"]) for task in tasks})
    return [Variant("constant", number, agent=always(number)) for number in numbers]


def counting_back(task: Task, others: Sequence[Task]) -> Answerer:
    """Name 9, then 8, and so on."""
    return Scripted("counting-back", "1", lambda ask, seed: Answer(str(10 - ask.context["turn"])))


def _show(context: Json, fields: Fields, errors: Mapping[str, str]) -> Mapping[str, Any]:
    return {"turn": context["turn"], "number": fields.get("number", ""), "errors": errors}


class Counting(System):
    """Guess a number by counting up."""

    key = "counting"
    title = "Counting"
    prompt_version = "1"
    roles = (Role("agent", "Guesser", ("counting-up",)),)
    settings = (Setting("max_turns", "int", 9, "How many guesses there are.", minimum=1),)
    parsers = {"number": parse_number}
    scripted = {
        "counting-up": ScriptedPolicy("counting-up", "agent", "Counting up", "1", counting_up)
    }
    dimensions = (
        Dimension(
            "boldness",
            "Boldness",
            "How bold the guess is.",
            anchors={1: "The next number.", 3: "A number some way off.", 5: "A number far off."},
            examples={1: "“4” after “3”.", 3: "“9” after “3”.", 5: "“700” after “3”."},
        ),
    )
    importer = Importer(
        (
            TaskFormat(
                *("numbers", "Numbers", "numbers.json", "Numbers", read_numbers),
                uploads=1,
                accept=".json",
            ),
        )
    )
    labels = Labels(
        endings={
            RIGHT: Ending("Right", "The number was named.", "ok"),
            SPENT: Ending("Out of guesses", "All guesses were used up.", "warn"),
        },
        measures={
            "accurate": Measure("Right", "Share of numbers that were named.", "rate"),
            "guesses": Measure("Guesses", "Mean number of guesses."),
        },
        verdicts={"accurate": "Right"},
    )
    validity = Validity(
        reference=Variant("reference", "Counting up", "Names 1, then 2, and so on.", "counting-up"),
        blind=(Variant("nothing", "Nothing", "Names nothing.", always("none")),),
        constants=constants,
        constant_help="The number that is right most often elsewhere.",
        kind_of=lambda task: "small" if task.payload["number"] < 9 else "large",
        kinds="Size",
        bracket=AssumptionPair(
            "There are few guesses, or many.",
            (
                Variant("few", "3 guesses", settings={"max_turns": 3}),
                Variant("many", "9 guesses", settings={"max_turns": 9}),
            ),
            (
                Variant("up", "Counting up", agent="counting-up"),
                Variant("back", "Counting back", agent=counting_back),
            ),
        ),
    )
    people = People(
        reply_forms={"number": ReplyForm(_show, lambda context, fields: fields["number"])},
        end_messages={RIGHT: "You named the number."},
    )

    def episode(self, task: Task, settings: Mapping[str, Any], rng: random.Random) -> Episode:
        number, count = task.payload["number"], 0
        messages = [Message("user", task.prompt)]
        for count in range(1, settings["max_turns"] + 1):
            ask = Ask("agent", tuple(messages), Expect("number"), context={"turn": count})
            (reply,) = (yield [ask]) or ()
            right = reply.value == number
            feedback = "" if right else "No."
            yield Turn(count, reply.text, feedback)
            if right:
                return Outcome(RIGHT, {"accurate": 1.0, "guesses": float(count)})
            messages += [Message("assistant", reply.text), Message("user", feedback)]
        return Outcome(SPENT, {"accurate": 0.0, "guesses": float(count)})

    def summarise(self, outcomes: Sequence[Outcome]) -> Mapping[str, Any]:
        metrics = {}
        for name in self.labels.measures:
            values = [o.metrics[name] for o in outcomes if o.metrics[name] is not None]
            mean = sum(v for v in values if v is not None) / len(values) if values else None
            metrics[name] = {"value": mean, "n": len(values), "excluded": {}}
        return {"trajectories": len(outcomes), "metrics": metrics, "terminations": {}}

    def sample_tasks(self) -> Sequence[tuple[Task, Sequence[Profile]]]:
        return [(_task(number), ()) for number in (1, 3)]


SYSTEM = Counting()

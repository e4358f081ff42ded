"""Feedback of which it is known what it says: of the demo's scripts, and as people may word it."""

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import yaml

from benchmarks.core.digests import derive_seed
from benchmarks.core.system import read_settings
from benchmarks.core.types import Constraint, Json, Reply, Task, Turn
from benchmarks.systems.adaplanbench import demo
from benchmarks.systems.adaplanbench.hints import GIVES_AWAY, LEFT_OUT, feedback_hints
from benchmarks.systems.adaplanbench.scripted import feedback_on
from benchmarks.systems.adaplanbench.system import SYSTEM

WRITTEN = Path(__file__).parent / "feedback_texts.yaml"
AGENT = "coin-flipper"


@dataclass(frozen=True)
class Text:
    """A text for an ask's context, with the keys of what it leaves out and gives away."""

    context: Json
    text: str
    left_out: frozenset[str] = frozenset()
    given_away: frozenset[str] = frozenset()


@dataclass(frozen=True)
class Counts:
    """Hints of one kind against the truth."""

    right: int = 0
    wrong: int = 0
    missed: int = 0

    @property
    def figures(self) -> tuple[int, int, int]:
        return self.right, self.wrong, self.missed


def count(texts: Sequence[Text]) -> dict[str, Counts]:
    """Return how often each kind of hint is right, wrong and missing over these texts."""
    found = {LEFT_OUT: Counts(), GIVES_AWAY: Counts()}
    for text in texts:
        hints = feedback_hints(text.context, text.text)
        for code, truth in ((LEFT_OUT, text.left_out), (GIVES_AWAY, text.given_away)):
            about = {hint.about for hint in hints if hint.code == code}
            before = found[code]
            found[code] = Counts(
                before.right + len(about & truth),
                before.wrong + len(about - truth),
                before.missed + len(truth - about),
            )
    return found


def demo_contexts() -> Iterator[Json]:
    """The context of every feedback on constraints in one run of the demo at its highest level."""
    for task, profiles in demo.load_demo_tasks():
        yield from _contexts(replace(task, profile=profiles[-1]))


def scripted_texts(contexts: Sequence[Json]) -> dict[str, list[Text]]:
    """Return the scripted feedback as it is, with one point removed, and with a hidden one added.

    Which point goes and which comes is drawn; feedback with one point alone has none to remove.
    """
    rng = random.Random(8313)
    found: dict[str, list[Text]] = {"as said": [], "one removed": [], "one added": []}
    for context in contexts:
        text = feedback_on(context, context["turn"])
        found["as said"].append(Text(context, text))
        lines = text.split("\n")
        if len(lines) > 1:
            gone = rng.randrange(len(lines))
            rest = "\n".join(line for n, line in enumerate(lines) if n != gone)
            key = context["points"][gone]["key"]
            found["one removed"].append(Text(context, rest, left_out=frozenset([key])))
        now = {point["key"] for point in context["points"]}
        rows = context["profile"]
        hidden = [row for row in rows if row["disclosed"] is None and row["key"] not in now]
        if hidden:
            row = rng.choice(hidden)
            more = f"{text}\n{row['text']}"
            found["one added"].append(Text(context, more, given_away=frozenset([row["key"]])))
    return found


def written_texts(half: str) -> list[Text]:
    """The texts that were written by hand."""
    tasks = {task.id: (task, profiles[-1]) for task, profiles in demo.load_demo_tasks()}
    rows = yaml.safe_load(WRITTEN.read_text(encoding="utf-8"))[half]
    found = []
    for task_id, texts in rows.items():
        task, profile = tasks[task_id]
        by_key = {constraint.key: constraint for constraint in profile.constraints}
        for row in texts:
            left, given = set(row.get("leaves_out", ())), set(row.get("gives_away", ()))
            before = set(row.get("before", ()))
            assert left <= set(row["reveals"]) and not given & {*row["reveals"], *before}
            context = {
                "query": task.prompt,
                "turn": 1 + bool(before),
                "mode": "constraints",
                "points": [{**_row(by_key[key]), "repeated": False} for key in row["reveals"]],
                "profile": [
                    {**_row(c), "disclosed": 1 if c.key in before else None}
                    for c in profile.constraints
                ],
            }
            assert given | before <= by_key.keys()
            found.append(Text(context, row["text"], frozenset(left), frozenset(given)))
    return found


def _row(constraint: Constraint) -> dict[str, str]:
    return {
        "key": constraint.key,
        "kind": constraint.kind,
        "text": constraint.text,
        "about": constraint.about,
    }


def _contexts(task: Task) -> Iterator[Json]:
    settings = read_settings(SYSTEM.settings, {"rubric_judges": 1})
    names = {"agent": AGENT, "world_judge": "world-facts", "user_judge": "user-facts",
             "rubric_judge": "judge-even", "simulator": "plain-words"}  # fmt: skip
    cast = {role: SYSTEM.scripted[name].build(task, {}) for role, name in names.items()}
    play = SYSTEM.episode(task, settings, random.Random(1))
    item: Any = next(play)
    step = 0
    while True:
        send: list[Reply] | None = None
        if not isinstance(item, Turn):
            send = []
            for ask in item:
                if ask.role == "simulator" and ask.context["mode"] == "constraints":
                    yield ask.context
                answer = cast[ask.role].answer(ask, derive_seed(task.id, step, len(send)))
                value = SYSTEM.parsers[ask.expect.kind](answer.text, ask.expect.params)
                send.append(Reply("answered", value, answer.text))
            step += 1
        try:
            item = play.send(send)
        except StopIteration:
            return

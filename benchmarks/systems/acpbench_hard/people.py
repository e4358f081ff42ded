"""The form in which a person answers: it knows the syntax of an answer, and nothing more.

It offers the names of actions, propositions and objects, and says whether an answer has the right
form. Whether the answer is right it does not know: an ask's context holds no stored answer.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from benchmarks.core.ports.people import (
    Fields,
    FieldsRefused,
    Hint,
    Mode,
    People,
    Place,
    ReplyForm,
    Utterance,
)
from benchmarks.core.types import Json
from benchmarks.systems.acpbench_hard.labels import ENDINGS
from benchmarks.systems.acpbench_hard.tasks import KINDS, YES_NO, TaskKind

ANSWER, POS, NEG, INDEX = "answer", "pos", "neg", "index"
NONE = "None"
_TERM = re.compile(r"\(([^()]*)\)")
_QUOTED = re.compile(r'"([^"]*)"')
LONGEST = 100_000
# With more objects nobody finds one in a list, and the page would hold them once for each place.
MOST_PICKED = 500


@dataclass(frozen=True)
class Field:
    """A field of the form with what was filled in."""

    name: str
    title: str
    help: str
    value: str
    error: str
    many: bool = False
    # Possible answers with their texts, where one of them is chosen.
    options: Sequence[tuple[str, str]] = ()


@dataclass(frozen=True)
class Name:
    """An action or proposition that can be picked, and how many objects it takes."""

    name: str
    size: int


class QuestionPage(NamedTuple):
    """The question and the form."""

    task: TaskKind
    question: str
    context: str
    domain: str
    problem: str
    fields: Sequence[Field]
    names: Sequence[Name]
    objects: Sequence[str]
    plan: str

    @property
    def kind(self) -> str:
        """The kind of thing that is picked."""
        return "action" if self.task.shape in ("action", "actions") else "proposition"

    @property
    def picks(self) -> bool:
        """Return whether names and objects are few enough to be picked from lists."""
        return bool(self.names) and len(self.objects) <= MOST_PICKED

    @property
    def most(self) -> int:
        """The most objects that one of the names takes."""
        return max((name.size for name in self.names), default=0)

    @property
    def places(self) -> Sequence[int]:
        """The places of objects, counted from 1."""
        return range(1, self.most + 1)


def show(context: Json, given: Fields, errors: Mapping[str, str]) -> QuestionPage:
    """Return the page of an ask; ``given`` and ``errors`` come of a form that was refused."""
    task = KINDS[context["task"]]
    options = _options(context) if task.shape == "choice" else ()
    names = context["names"]["actions" if task.shape in ("action", "actions") else "propositions"]
    return QuestionPage(
        task=task,
        question=context["question"],
        context=context.get("context", ""),
        domain=context.get("pddl_domain", ""),
        problem=context.get("pddl_problem", ""),
        fields=[
            Field(name, title, help, given.get(name, ""), errors.get(name, ""), many, options)
            for name, title, help, many in _fields(task)
        ],
        names=[] if task.shape == "index" else [Name(one["name"], one["size"]) for one in names],
        objects=context["names"]["objects"],
        plan=_plan(context["question"]) if task.key == "just" else "",
    )


def _options(context: Json) -> Sequence[tuple[str, str]]:
    """Return the possible answers of a question, each with its text."""
    choices = context.get("choices") or [(word, word.capitalize()) for word in YES_NO]
    return [(value, text if value in YES_NO else f"{value}. {text}") for value, text in choices]


def _fields(task: TaskKind) -> list[tuple[str, str, str, bool]]:
    match task.shape:
        case "effects":
            return [
                (POS, "What becomes true", "One proposition a line; may stay empty.", True),
                (NEG, "What becomes false", "One proposition a line; may stay empty.", True),
            ]
        case "index":
            return [(INDEX, "Index", f"For example {task.example}", False)]
        case "actions":
            return [(ANSWER, "Your list", "One action a line.", True)]
        case "choice":
            return [(ANSWER, "Your answer", "", False)]
        case _:
            return [(ANSWER, "Your answer", f"For example {task.example}", False)]


def _plan(question: str) -> str:
    """Return the plan that a question quotes, an action a line, to begin from."""
    match = _QUOTED.search(question)
    return "\n".join(f"({term})" for term in _TERM.findall(match[1])) if match else ""


def compose(context: Json, fields: Fields) -> str:
    """Return the reply that the filled-in form stands for, in the form that the question asks
    for.
    """
    task = KINDS[context["task"]]
    match task.shape:
        case "index":
            text = fields.get(INDEX, "").strip()
            if not (text.isascii() and text.isdecimal() and len(text) < 10):
                raise FieldsRefused({INDEX: "Write a whole number, 0 for the first action."})
            return text
        case "effects":
            lists = {name: _terms(name, fields) for name in (POS, NEG)}
            return " ".join(f"[{' '.join(terms)}]" for terms in lists.values())
        case "actions":
            terms = _terms(ANSWER, fields)
            if not terms:
                raise FieldsRefused({ANSWER: "Write at least one action."})
            return " ".join(terms)
        case "choice":
            chosen = fields.get(ANSWER, "")
            if chosen not in dict(_options(context)):
                raise FieldsRefused({ANSWER: "Choose one of the answers."})
            return chosen
    if task.none and fields.get(ANSWER, "").strip().lower() in ("none", "(none)"):
        return NONE
    terms = _terms(ANSWER, fields)
    if len(terms) != 1:
        count = f"found {len(terms)}" if terms else "found nothing"
        raise FieldsRefused({ANSWER: f"Write exactly one, {count}."})
    return terms[0]


def _terms(name: str, fields: Fields) -> list[str]:
    """Return what stands in parentheses in a field, with single spaces; anything else is
    refused.
    """
    text = fields.get(name, "")
    if len(text) > LONGEST:
        raise FieldsRefused({name: f"Write at most {LONGEST:,} characters."})
    rest = _TERM.sub(" ", text).replace(",", " ").strip()
    if rest:
        raise FieldsRefused(
            {name: f"Write each in parentheses, such as (name object). Outside stands: {rest[:60]}"}
        )
    terms = [" ".join(term.replace(",", " ").split()) for term in _TERM.findall(text)]
    if not all(terms):
        raise FieldsRefused({name: "There are parentheses with nothing in them."})
    return [f"({term})" for term in terms]


def hints(context: Json, text: str) -> list[Hint]:
    """Return names in a reply that the question does not have; whether the answer is right stays
    open.
    """
    task = KINDS[context["task"]]
    if task.shape in ("index", "choice") or text.strip() == NONE:
        return []
    kind = "actions" if task.shape in ("action", "actions") else "propositions"
    word = kind[:-1]
    sizes = {one["name"].lower(): one["size"] for one in context["names"][kind]}
    objects = {name.lower() for name in context["names"]["objects"]}
    by_term: dict[str, Hint] = {}
    for term in _TERM.findall(text):
        name, *given = term.split() or [""]
        if name.lower() not in sizes:
            by_term[name] = Hint("unknown_name", f"“{name}” is no {word} of this question.", name)
            continue
        size = sizes[name.lower()]
        if len(given) != size:
            wanted = f"{size} object{'s' * (size != 1)}"
            by_term[term] = Hint("size", f"({term}): {name} takes {wanted}.", term)
        for one in given:
            if one.lower() not in objects:
                by_term[one] = Hint(
                    "unknown_object", f"“{one}” is no object of this question.", one
                )
    return list(by_term.values())


def dialogue(context: Json) -> list[Utterance]:
    """Return the worked examples, which a model gets as a dialogue, and the question."""
    lines: list[Utterance] = []
    for number, example in enumerate(context.get("examples", ()), 1):
        lines.append(Utterance(f"Worked example {number}", example["question"]))
        lines.append(Utterance("Its answer", example["answer"]))
    return [*lines, Utterance("The question", context["question"])]


_STORED = "Your answer is stored. This page does not say whether it is right."
END_MESSAGES: Mapping[str, str] = dict.fromkeys(ENDINGS, _STORED)

MODES = (
    Mode(
        "agent",
        "Answer questions",
        "The person answers one question about a planning problem, as a model would.",
        (
            Place(
                "Agent",
                ("agent",),
                "Answer once. The page shows how your answer is read, and not whether it is right.",
            ),
        ),
        advice="Give people the questions that models got: accuracy can then be compared question "
        "by question.",
        minutes=3,
        alone=True,
    ),
)

PEOPLE = People(
    reply_forms={
        "answer": ReplyForm(
            show,
            compose,
            frozenset({"task", "question", "names"}),
            hints,
            "They compare names only: the page does not know whether your answer is right.",
        )
    },
    dialogues={"answer": dialogue},
    end_messages=END_MESSAGES,
    modes=MODES,
)

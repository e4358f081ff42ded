"""People in ADAPT: they play the persona who answers, or the agent that acts.

Pages are made from the context of an ask, which holds what its role is told and nothing else.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple

from benchmarks.core.ports.people import (
    Fields,
    FieldsRefused,
    Hint,
    Mode,
    People,
    Place,
    ReplyForm,
    Story,
    Utterance,
)
from benchmarks.core.types import Json
from benchmarks.systems.adapt.household.actions import (
    ASK,
    CHOP,
    CLOSE,
    COOK,
    DONE,
    FREE_IN,
    FREE_ON,
    HEAT,
    LOOK_FOR,
    MIX,
    MOVE,
    MOVE_FROM,
    OPEN,
    POUR,
    SEARCH,
    TURN_OFF,
    TURN_ON,
    UNREAD,
    VERBS,
    action_text,
    parse_action,
)
from benchmarks.systems.adapt.labels import describe_dishes
from benchmarks.systems.adapt.lexicon import content_words
from benchmarks.systems.adapt.prompts import PROMPTS
from benchmarks.systems.adapt.settings import SILENT, TEACHER

ANSWER, TELLS, NOTHING = "answer", "tells-", "tells_nothing"
NO_PREFERENCE, LOOK_YOURSELF = "I have no preference about that.", "Please look for yourself."
LONGEST_ANSWER = 2000
MOST_HINTED = 2


# --- The persona ----------------------------------------------------------------------------------


class HeldPreference(NamedTuple):
    """A preference on the persona's list; ``since`` is the step at which it was disclosed."""

    n: int
    text: str
    since: int | None
    ticked: bool


class PersonaPage(NamedTuple):
    """The persona's form: the question, the preferences, and what was said so far."""

    task: str
    question: str
    number: int
    preferences: Sequence[HeldPreference]
    dialogue: Sequence[Json]
    answer: str
    errors: Mapping[str, str]
    quick: Sequence[str] = (NO_PREFERENCE, LOOK_YOURSELF)

    @property
    def disclosed(self) -> int:
        return sum(p.since is not None for p in self.preferences)


def show_persona(context: Json, fields: Fields, errors: Mapping[str, str]) -> PersonaPage:
    """Return what the persona's form shows."""
    rows = [
        HeldPreference(
            row["n"], row["text"], row["disclosed"], bool(fields.get(f"{TELLS}{row['n']}"))
        )
        for row in context["preferences"]
    ]
    return PersonaPage(
        context["task"], context["question"], context["asked"], rows, context["dialogue"][::-1],
        fields.get(ANSWER, ""), errors,
    )  # fmt: skip


def compose_answer(context: Json, fields: Fields) -> str:
    """Return the answer with the preferences that it discloses, as the parser reads it."""
    answer = fields.get(ANSWER, "").strip()
    if not answer:
        raise FieldsRefused({ANSWER: "Write what you say to the agent."})
    if len(answer) > LONGEST_ANSWER:
        raise FieldsRefused({ANSWER: f"Write at most {LONGEST_ANSWER:,} characters."})
    disclosed = [row["n"] for row in context["preferences"] if fields.get(f"{TELLS}{row['n']}")]
    return json.dumps({"answer": answer, "preferences": disclosed}, ensure_ascii=False)


def spoken_answer(text: str) -> str:
    """Return what the persona says to the agent in a stored reply; all of one with more around its
    JSON.
    """
    try:
        return str(json.loads(text)["answer"])
    except (ValueError, KeyError, TypeError):
        return text


def answer_hints(context: Json, text: str) -> list[Hint]:
    """Return what seems wrong between the words of an answer and its ticks."""
    try:
        reply = json.loads(text)
        answer, disclosed = str(reply["answer"]), list(reply["preferences"])
    except (ValueError, KeyError, TypeError):
        return []
    held = {row["n"]: row for row in context["preferences"]}
    if disclosed and answer in (NO_PREFERENCE, LOOK_YOURSELF):
        return [Hint("ticked_without", "You ticked a preference, but the answer tells none.")]
    quoted = [
        row["text"] for n, row in held.items() if n not in disclosed and row["text"] in answer
    ]
    if quoted:
        return [Hint("not_ticked", f"The answer tells “{quoted[0]}”, which is not ticked.")]
    if not disclosed and (near := _near(answer, context["preferences"])):
        names = " or ".join(f"“{preference}”" for preference in near)
        return [Hint("none_ticked", f"Nothing is ticked. Does the answer tell {names}?")]
    return []


def _near(answer: str, preferences: Sequence[Json]) -> list[str]:
    """Return the preferences that share most words with an answer.

    None where one of them was disclosed before: then the answer only repeats it.
    """
    words = content_words(answer)
    shared = [(len(words & content_words(row["text"])), row) for row in preferences]
    most = max((count for count, _ in shared), default=0)
    near = [row for count, row in shared if count == most] if most else []
    if any(row["disclosed"] for row in near):
        return []
    return [row["text"] for row in near][:MOST_HINTED]


# --- The agent ------------------------------------------------------------------------------------


class Input(NamedTuple):
    """One field of the agent's form; ``options`` are to choose from, ``listed`` to type or pick."""

    name: str
    label: str
    value: str = ""
    error: str = ""
    listed: bool = False
    options: Sequence[str] = ()
    optional: bool = False


@dataclass(frozen=True)
class Group:
    """Actions that are alike: a small form with one button for each."""

    key: str
    title: str
    about: str
    inputs: Sequence[Input]
    buttons: Sequence[tuple[str, str]]
    error: str = ""
    key_hint: str = ""


class Furniture(NamedTuple):
    """A piece of furniture with what is known to be in it; ``searched`` or opened before."""

    name: str
    things: Sequence[Json]
    searched: bool


class AgentPage(NamedTuple):
    """The agent's form: the groups of actions, and what is known."""

    task: str
    method: str
    step: int
    steps_left: int
    asked: int
    must_ask: bool
    last: Json | None
    past: Sequence[Json]
    groups: Sequence[Group]
    names: Sequence[str]
    rooms: Mapping[str, Sequence[Furniture]]
    wishes: Sequence[str]
    text: str
    text_error: str

    @property
    def things(self) -> int:
        return sum(len(piece.things) for pieces in self.rooms.values() for piece in pieces)

    @property
    def unsearched(self) -> int:
        return sum(not piece.searched for pieces in self.rooms.values() for piece in pieces)


# A field of a group: its name, its label, whether known names are offered, whether it may be empty.
_Field = tuple[str, str, bool, bool]
_TOOL: _Field = ("tool", "With a tool", True, True)
_RESULT: _Field = ("result", "Name of the result", False, False)
# By group: title, what it is for, its fields, its actions.
_GROUPS: tuple[tuple[str, str, str, tuple[_Field, ...], tuple[str, ...]], ...] = (
    (
        "look", "Look around", "Search a room or furniture, or look for a thing by its name.",
        (("x", "Room, furniture or thing", True, False),), (SEARCH, LOOK_FOR, OPEN, CLOSE),
    ),
    (
        "ask", "Ask", "One question is one action.",
        (("x", "Your question to the person", False, False),), (ASK,),
    ),
    (
        "move", "Move", "To pour, say from where. A package gives a portion and stays.",
        (("x", "What", True, False), ("y", "From", True, True),
         ("z", "To", True, False)), (MOVE, POUR),
    ),
    (
        "change", "Prepare", "All food in a vessel, or one thing alone.",
        (("verb", "Do what", False, False), ("x", "Vessel or thing", True, False), _RESULT, _TOOL),
        (FREE_IN, FREE_ON, CHOP),
    ),
    (
        "make", "Combine", "All food in a vessel becomes one thing, which you name.",
        (("x", "Vessel", True, False), _RESULT, _TOOL), (MIX, COOK),
    ),
    (
        "heat", "Heat", "What is on or in a cooking appliance, or the appliance itself.",
        (("x", "What", True, False),), (HEAT, TURN_ON, TURN_OFF),
    ),
)  # fmt: skip
_BUTTONS: Mapping[str, str] = {
    SEARCH: "Search", LOOK_FOR: "Look for", OPEN: "Open", CLOSE: "Close", MOVE: "Move",
    POUR: "Pour", HEAT: "Heat", TURN_ON: "Turn on", TURN_OFF: "Turn off", MIX: "Mix", COOK: "Cook",
    FREE_IN: "All in the vessel", FREE_ON: "The thing", CHOP: "Chop it", ASK: "Ask",
}  # fmt: skip
_KEYS = {"look": "s", "ask": "a", "move": "m", "change": "p", "make": "c", "heat": "h"}
_FIELDS = ("x", "y", "z", "verb", "result", "tool")


def show_agent(context: Json, fields: Fields, errors: Mapping[str, str]) -> AgentPage:
    """Return what the agent's form shows; a refused form keeps what was filled in."""
    chosen = fields.get("group", "")
    groups = []
    for key, title, about, inputs, buttons in _GROUPS:
        if key == "ask" and not context["may_ask"]:
            continue
        mine = fields if key == chosen else {}
        wrong = errors if key == chosen else {}
        groups.append(
            Group(
                key, title, about,
                [Input(name, label, mine.get(name, ""), wrong.get(name, ""), listed,
                       VERBS if name == "verb" else (), optional)
                 for name, label, listed, optional in inputs],
                [(button, _BUTTONS[button]) for button in buttons],
                wrong.get("", ""), _KEYS.get(key, ""),
            )
        )  # fmt: skip
    past = list(context["events"])
    return AgentPage(
        task=context["task"],
        method=context["method"],
        step=context["step"],
        steps_left=context["steps_left"],
        asked=context["asked"],
        must_ask=context["must_ask"],
        last=past[-1] if past else None,
        past=past[::-1],
        groups=groups,
        names=sorted({row["id"] for row in context["known"]}),
        rooms=_rooms(context),
        # What an answer gave away stands in its words, which is all that a model gets, too.
        wishes=[row["text"] for row in context["told"]] if context["method"] == TEACHER else [],
        text=fields.get("text", ""),
        text_error=errors.get("text", ""),
    )


def _rooms(context: Json) -> dict[str, list[Furniture]]:
    """Return the furniture of each room; what lies in a vessel counts to the furniture below it."""
    known = {row["id"]: row for row in context["known"]}
    things: dict[str, list[Json]] = {}
    for row in context["known"]:
        place = row["in"]
        while place in known and known[place]["type"] not in ("room", "furniture"):
            place = known[place]["in"]
        if row["type"] not in ("room", "furniture"):
            within = "" if place == row["in"] else row["in"]
            things.setdefault(place, []).append({**row, "within": within})
    looked = (e["action"] for e in context["events"] if e["ok"] and e["kind"] in (SEARCH, OPEN))
    searched = {parse_action(action).x for action in looked}
    rooms: dict[str, list[Furniture]] = {}
    for row in context["known"]:
        if row["type"] == "furniture":
            piece = Furniture(row["id"], things.get(row["id"], ()), row["id"] in searched)
            rooms.setdefault(row["in"], []).append(piece)
    return rooms


def compose_action(as_json: bool, context: Json, fields: Fields) -> str:
    """Return the action that the filled-in form stands for, in the form that the ask wants."""
    kind = fields.get("do", "")
    if kind == DONE:
        text = action_text(DONE, **dict.fromkeys(_FIELDS, ""))
    elif kind == "text" or "text" in fields:
        text = " ".join(fields.get("text", "").split())
        if not text:
            raise FieldsRefused({"text": "Write an action."})
        if not as_json:
            return text
        if parse_action(text).kind == UNREAD:
            raise FieldsRefused({"text": "This is none of the actions."})
    else:
        text = _from_fields(kind, fields)
    if not as_json:
        return text
    record = parse_action(text).record
    parts = {"thought": "", "action": record.pop("kind"), **dict.fromkeys(_FIELDS, "")}
    return json.dumps({**parts, **record}, ensure_ascii=False)


def spoken_action(text: str) -> str:
    """Return the action of a stored reply in words; all of one with more around its JSON."""
    try:
        reply = json.loads(text)
        return action_text(reply["action"], **{name: str(reply[name]) for name in _FIELDS})
    except (ValueError, KeyError, TypeError):
        return text


def _from_fields(kind: str, fields: Fields) -> str:
    """Return the text of an action from its group's fields."""
    row = next((group for group in _GROUPS if kind in group[4]), None)
    if row is None:
        raise FieldsRefused({"": "Choose what to do."})
    parts = {name: " ".join(fields.get(name, "").split()) for name in _FIELDS}
    needed = [name for name, _, _, optional in row[3] if not optional]
    if kind == CHOP:
        needed.remove("verb")
    if kind == POUR:
        needed.append("y")
    if missing := [name for name in needed if not parts[name]]:
        raise FieldsRefused(dict.fromkeys(missing, "Fill this in."))
    if kind == MOVE:
        if parts["y"]:
            kind = MOVE_FROM
        else:
            parts["y"], parts["z"] = parts["z"], ""
    if "verb" in needed and parts["verb"] not in VERBS:
        raise FieldsRefused({"verb": "Choose one of the verbs."})
    text = action_text(kind, **parts)
    if parse_action(text).kind != kind:
        raise FieldsRefused({"": f"“{text[:120]}” would not be understood as you mean it."})
    return text


_AGENT_NEEDS = frozenset({"task", "step", "known", "events", "told", "may_ask"})
REPLY_FORMS: Mapping[str, ReplyForm] = {
    "action": ReplyForm(show_agent, partial(compose_action, False), _AGENT_NEEDS),
    "json_action": ReplyForm(
        show_agent, partial(compose_action, True), _AGENT_NEEDS, spoken=spoken_action
    ),
    "answer": ReplyForm(
        show_persona,
        compose_answer,
        frozenset({"task", "question", "preferences", "dialogue"}),
        answer_hints,
        "It compares the words of your answer with those of the list; it does not understand them.",
        spoken_answer,
    ),
}

END_MESSAGES: Mapping[str, str] = {
    "done": "The agent declared the task done.",
    "max_actions": "All actions are used up.",
    "max_questions": "All questions are used up.",
    "unparsable": "The robot gave too many unreadable replies in a row, so the session ended.",
}

_ANSWERS = "Answer what was asked. The agent sees your answer, and not your list of preferences."
_ACTS = "Act in the household, or ask. The persona sees your questions, and not your actions."

MODES = (
    Mode(
        "persona",
        "Persona",
        "The person has a list of preferences and answers the agent’s questions.",
        (Place("Persona", ("persona",), _ANSWERS),),
        excludes={"method": SILENT},
        minutes=10,
        duels=True,
    ),
    Mode(
        "agent",
        "Agent",
        "The person acts in the household and may ask; a script or model is the persona.",
        (Place("Agent", ("agent",), _ACTS),),
        minutes=15,
    ),
    Mode(
        "two_people",
        "Two people",
        "One person acts in the household, another one is the persona.",
        (
            Place("Agent", ("agent",), _ACTS),
            Place("Persona", ("persona",), _ANSWERS),
        ),
        excludes={"method": SILENT},
        minutes=20,
    ),
)

_AGENT, _PERSON, _HOUSE = "Agent", "Person", "House"


def _heard(feedback: str) -> str:
    """Return an answer in the person's own words: pages name the speaker themselves."""
    return feedback.removeprefix(PROMPTS.load_set("phrases")["answer"].substitute(answer=""))


def _acted(context: Json) -> list[Utterance]:
    """Return the task, and every action with what came of it."""
    lines = [Utterance(_PERSON, context["task"])]
    for event in context["events"]:
        came = _PERSON if event["kind"] == ASK else _HOUSE
        lines += [
            Utterance(_AGENT, event["action"], event["t"]),
            Utterance(came, _heard(event["message"]), event["t"]),
        ]
    return lines


def _talked(context: Json) -> list[Utterance]:
    """Return the task, questions and answers so far, and the question at hand."""
    lines = [Utterance(_PERSON, context["task"])]
    for turn in context["dialogue"]:
        lines += [
            Utterance(_AGENT, turn["question"], turn["t"]),
            Utterance(_PERSON, turn["answer"], turn["t"]),
        ]
    return [*lines, Utterance(_AGENT, context["question"], context["t"])]


def _tell(query: str, turns: Sequence[tuple[str, str]], newest: str) -> list[Utterance]:
    """Return the whole episode, action by action."""
    lines = [Utterance(_PERSON, query)]
    for turn, (text, feedback) in enumerate(turns, 1):
        lines.append(Utterance(_AGENT, text, turn))
        if feedback:
            came = _PERSON if parse_action(text).kind == ASK else _HOUSE
            lines.append(Utterance(came, _heard(feedback), turn))
    if newest:
        lines.append(Utterance(_AGENT, newest, len(turns) + 1))
    return lines


DIALOGUES: dict[str, Any] = {"action": _acted, "json_action": _acted, "answer": _talked}

PEOPLE = People(
    reply_forms=REPLY_FORMS,
    end_messages=END_MESSAGES,
    tell_outcome=describe_dishes,
    modes=MODES,
    dialogues=DIALOGUES,
    story=Story(frozenset(), _tell),
)

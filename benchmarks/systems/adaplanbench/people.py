"""People in AdaPlanBench: reply forms for each role, and modes of live sessions.

Pages are made from the context of an ask, which holds only what that role may know."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from benchmarks.core.errors import UnreadableReply
from benchmarks.core.plans import parse_plan, split_steps
from benchmarks.core.ports.people import (
    Dialogue,
    Fields,
    FieldsRefused,
    Mode,
    People,
    Place,
    ReplyForm,
    Story,
    Utterance,
)
from benchmarks.core.system import Dimension
from benchmarks.core.types import Json
from benchmarks.systems.adaplanbench.hints import MEASURED, feedback_hints
from benchmarks.systems.adaplanbench.protocol import DIMENSIONS
from benchmarks.systems.adaplanbench.scripted import feedback_on

# Names of fields; of those that end in "-" the key of a constraint or dimension follows.
TEXT, LOOK, UNKNOWN = "text", "look", "unknown"
VIOLATES, SCORE, WHY, NONE = "violates-", "score-", "why-", "none-"
KIND_TITLES = {"world": "At home", "user": "Wishes"}


class PlanContext(NamedTuple):
    """The context that every page shows: the turn, the query, and the plan it is about with the
    one before.
    """

    query: str
    turn: int
    plan: str = ""
    previous: str = ""


@dataclass(frozen=True)
class Text:
    """A text area; ``start`` is a text that may be taken into it."""

    value: str
    start: str = ""
    error: str = ""


class Suggested(NamedTuple):
    """The suggestion of a script or model, by whom; ``why_not`` where there is nothing.

    ``waits``: it has been asked and has not answered yet. ``found`` says in words what it did.
    """

    by: str
    value: Json
    found: str
    why_not: str = ""
    waits: bool = False

    @property
    def made(self) -> bool:
        return not self.why_not and not self.waits


class PlanPage(NamedTuple):
    """``revealed`` are constraints in front of the agent's input, with tracking alone."""

    shown: PlanContext
    dialogue: Sequence[tuple[int, str, str]]
    revealed: Sequence[str]
    text: Text
    steps: Sequence[str]


class FeedbackPoint(NamedTuple):
    """A point of the feedback; ``since`` is the turn in which it was revealed, or None if new."""

    text: str
    kind: str
    since: int | None


class ProfileKind(NamedTuple):
    """The constraints of one kind: (turn, text) of the revealed ones, texts of the others."""

    title: str
    revealed: Sequence[tuple[int, str]]
    now: Sequence[str]
    hidden: Sequence[str]

    @property
    def size(self) -> int:
        return len(self.revealed) + len(self.now) + len(self.hidden)


class FeedbackPage(NamedTuple):
    """``refines``: no constraint is told now, the points are dimensions to become better in."""

    shown: PlanContext
    refines: bool
    points: Sequence[FeedbackPoint]
    weak: Sequence[tuple[str, Sequence[str]]]
    profile: Sequence[ProfileKind]
    text: Text


class ViolationChoice(NamedTuple):
    """A constraint to be marked as violated."""

    key: str
    text: str
    checked: bool
    why: str
    suggested: bool
    suggested_why: str


class ViolationsPage(NamedTuple):
    shown: PlanContext
    accepts: str
    kind: str
    marks: Sequence[ViolationChoice]
    none: bool
    error: str
    suggested: Suggested | None

    @property
    def suggests_none(self) -> bool:
        """Return whether somebody suggests that nothing is violated."""
        made = self.suggested is not None and self.suggested.made
        return made and not any(mark.suggested for mark in self.marks)


class DimensionScale(NamedTuple):
    """A dimension to be scored; ``choices`` are (value, label, chosen)."""

    dimension: Dimension
    choices: Sequence[tuple[str, str, bool]]
    why: str
    error: str
    suggested: Any
    suggested_why: str


class ScoresPage(NamedTuple):
    shown: PlanContext
    scales: Sequence[DimensionScale]
    suggested: Suggested | None


def show_plan(context: Json, fields: Fields, errors: Mapping[str, str]) -> PlanPage:
    """Show the agent's place: what an agent is told, and nothing else."""
    plans, feedback = context["plans"], context["feedback"]
    text = fields.get(TEXT, "")
    dialogue = [(n, p, f) for n, (p, f) in enumerate(zip(plans, feedback, strict=False), 1)]
    rows = [row for turn in context.get("told", ()) for row in turn]
    tracked = {row["key"]: row["text"] for row in rows} if context.get("tracking") else {}
    last = plans[-1] if plans else ""
    return PlanPage(
        PlanContext(context["query"], context["turn"], previous=last),
        dialogue,
        list(tracked.values()),
        Text(text, last, errors.get(TEXT, "")),
        split_steps(text),
    )


def show_feedback(context: Json, fields: Fields, errors: Mapping[str, str]) -> FeedbackPage:
    """Show the user's place. The box is empty; what the scripted user would say is offered."""
    refines = context["mode"] == "refinement"
    draft = feedback_on(context, context["turn"])
    since = {row["key"]: row["disclosed"] for row in context["profile"]}
    now = set() if refines else {point["key"] for point in context["points"]}
    return FeedbackPage(
        _shown(context),
        refines,
        [] if refines else [
            FeedbackPoint(
                p["text"], KIND_TITLES[p["kind"]], since.get(p["key"]) if p["repeated"] else None
            )
            for p in context["points"]
        ],
        [(p["title"], p["reasons"]) for p in context["points"]] if refines else [],
        [_profile_kind(kind, context["profile"], now) for kind in KIND_TITLES],
        Text(fields.get(TEXT, ""), draft, errors.get(TEXT, "")),
    )  # fmt: skip


def _profile_kind(kind: str, profile: Sequence[Json], now: set[str]) -> ProfileKind:
    rows = [row for row in profile if row["kind"] == kind]
    return ProfileKind(
        KIND_TITLES[kind],
        sorted((row["disclosed"], row["text"]) for row in rows if row["disclosed"] is not None),
        [row["text"] for row in rows if row["disclosed"] is None and row["key"] in now],
        [row["text"] for row in rows if row["disclosed"] is None and row["key"] not in now],
    )


def show_violations(context: Json, fields: Fields, errors: Mapping[str, str]) -> ViolationsPage:
    """Show a constraint judge's place: the plan, and every constraint of the kind."""
    suggested = _suggested(context, "marks the conditions labelled “suggested”.")
    found = suggested.value.get("violated", ()) if suggested else ()
    reasons = suggested.value.get("reasons", {}) if suggested else {}
    accepts = f"{NONE}{context['kind']}"
    return ViolationsPage(
        _shown(context),
        accepts,
        KIND_TITLES[context["kind"]],
        [
            ViolationChoice(
                row["key"],
                row["text"],
                bool(fields.get(f"{VIOLATES}{row['key']}")),
                fields.get(f"{WHY}{row['key']}", ""),
                row["key"] in found,
                reasons.get(row["key"], ""),
            )
            for row in context["constraints"]
        ],
        bool(fields.get(accepts)),
        errors.get(accepts, ""),
        suggested,
    )


def show_scores(context: Json, fields: Fields, errors: Mapping[str, str]) -> ScoresPage:
    """Show a rubric judge's place: the plan, and the eight dimensions with their anchors."""
    suggested = _suggested(context, "scored as shown at each question.")
    scores = suggested.value.get("scores", {}) if suggested else {}
    reasons = suggested.value.get("reasons", {}) if suggested else {}
    scales = []
    for dimension in DIMENSIONS:
        name = f"{SCORE}{dimension.key}"
        labels = {**{str(n): str(n) for n in range(1, 6)}, UNKNOWN: "Cannot tell"}
        scales.append(
            DimensionScale(
                dimension,
                [(value, label, fields.get(name) == value) for value, label in labels.items()],
                fields.get(f"{WHY}{dimension.key}", ""),
                errors.get(name, ""),
                scores.get(dimension.key),
                reasons.get(dimension.key, ""),
            )
        )
    return ScoresPage(_shown(context), scales, suggested)


def _shown(context: Json) -> PlanContext:
    plans = context.get("plans") or [""]
    return PlanContext(context["query"], context.get("turn", 1), context["plan"], plans[-1])


def _suggested(context: Json, found: str) -> Suggested | None:
    """Return the suggestion that whoever shows this ask put beside its context, if any."""
    row = context.get("suggestion")
    if not row:
        return None
    return Suggested(row["by"], row["value"] or {}, found, row["why_not"], row.get("waits", False))


def compose_plan(context: Json, fields: Fields) -> str:
    """Return the plan as it was written, once it can be read."""
    text = fields.get(TEXT, "").strip()
    if not text:
        raise FieldsRefused({TEXT: "Write at least one step."})
    try:
        parse_plan(text, {})
    except UnreadableReply as error:
        raise FieldsRefused({TEXT: f"This can’t be read: {error}"}) from error
    if fields.get(LOOK):
        raise FieldsRefused({"": "Check the steps below, then send the plan."})
    return text


def compose_feedback(context: Json, fields: Fields) -> str:
    """Return the feedback as it was written."""
    text = fields.get(TEXT, "").strip()
    if not text:
        raise FieldsRefused({TEXT: "Write a message to the agent."})
    return text


def compose_violations(context: Json, fields: Fields) -> str:
    """Return the verdict of a constraint judge. That nothing is violated has to be said."""
    keys = [row["key"] for row in context["constraints"]]
    violated = [key for key in keys if fields.get(f"{VIOLATES}{key}")]
    accepts = f"{NONE}{context['kind']}"
    none = bool(fields.get(accepts))
    if violated and none:
        wrong = "You marked conditions above. Clear them, or clear this box."
        raise FieldsRefused({accepts: wrong})
    if not violated and not none:
        missing = "Mark the conditions that the plan breaks, or accept the plan."
        raise FieldsRefused({accepts: missing})
    return _json({"violated": violated, "reasons": _reasons(violated, fields)})


def compose_scores(context: Json, fields: Fields) -> str:
    """Return a sheet of scores; a dimension that cannot be judged has none."""
    known = {"1", "2", "3", "4", "5", UNKNOWN}
    given = {d.key: fields.get(f"{SCORE}{d.key}", "") for d in DIMENSIONS}
    if missing := [key for key, value in given.items() if value not in known]:
        words = "Choose 1 to 5, or “Cannot tell”."
        raise FieldsRefused({f"{SCORE}{key}": words for key in missing})
    scores = {key: None if value == UNKNOWN else int(value) for key, value in given.items()}
    return _json({"scores": scores, "reasons": _reasons(list(scores), fields)})


def _reasons(keys: list[str], fields: Fields) -> dict[str, str]:
    written = {key: fields.get(f"{WHY}{key}", "").strip() for key in keys}
    return {key: text for key, text in written.items() if text}


def _json(value: Json) -> str:
    return json.dumps(value, ensure_ascii=False, indent=2)


REPLY_FORMS: Mapping[str, ReplyForm] = {
    "plan": ReplyForm(show_plan, compose_plan, frozenset({"query", "turn", "plans", "feedback"})),
    "feedback": ReplyForm(
        show_feedback,
        compose_feedback,
        frozenset({"query", "turn", "plans", "plan", "mode", "points", "profile"}),
        feedback_hints,
        MEASURED,
        offers=lambda context: feedback_on(context, context["turn"]),
    ),
    "violations": ReplyForm(
        show_violations,
        compose_violations,
        frozenset({"query", "plan", "kind", "constraints"}),
        joins=True,
    ),
    "scores": ReplyForm(show_scores, compose_scores, frozenset({"query", "plan"})),
}

# What whoever spoke for the user, or planned, can tell of the end by themselves.
END_MESSAGES: Mapping[str, str] = {
    "valid_plan": "The last plan respects every condition.",
    "early_stop": "Nothing new came up for several turns. The last plan still breaks a condition.",
    "max_turns": "All turns are used up. The last plan still breaks a condition.",
    "refinement_spent": "All extra turns are used up.",
    "judge_failure": "Nobody could decide whether the last plan respects every condition.",
    "simulator_failure": "The user’s side gave no readable reply.",
    "agent_unreadable": "The agent gave no plan that could be read.",
    "agent_declined": "The agent gave no plan.",
    "pool_exhausted": "The agent has no further plan to propose.",
}

# Where nobody who decides could read the last plan, whatever its verdict was.
UNREAD_MESSAGE = (
    "No condition was found broken, but the script that judged cannot read a plan in a person’s "
    "own words. Whether the last plan respects every condition is undecided."
)


_JUDGES = ("world_judge", "user_judge")
_OWN_WORDS = (
    "Scripted judges cannot read a plan in a person’s own words. Let a language model judge, or "
    "choose a mode in which a person does."
)

_TELLS = "Tell the agent what its plan breaks. It sees your message, and not your list."
_MARKS = "Mark what a plan breaks, then tell the agent. It sees your message, and not your marks."
_PLANS = "Write the whole plan. The user sees every plan; you see only what the user tells you."

MODES = (
    Mode(
        "simulator",
        "User simulator",
        "You will be told what the plan breaks. Tell the agent.",
        (Place("User", ("simulator",), _TELLS),),
        minutes=10,
        duels=True,
    ),
    Mode(
        "judge_and_simulator",
        "Judge and user simulator",
        "The player decides which conditions a plan breaks, and tells the agent.",
        (Place("User and judge", (*_JUDGES, "simulator"), _MARKS),),
        suggests=_JUDGES,
        minutes=15,
        duels=True,
    ),
    Mode(
        "agent",
        "Agent",
        "The player plans, with the information that an agent gets.",
        (Place("Agent", ("agent",), _PLANS),),
        advice=_OWN_WORDS,
        minutes=15,
    ),
    Mode(
        "judge",
        "Judge",
        "The player judges each plan: which conditions it breaks, and how good it is.",
        (
            Place(
                "Judge",
                (*_JUDGES, "rubric_judge"),
                "Mark what a plan breaks, and score it. The user objects to what you mark; "
                "nobody sees scores.",
            ),
        ),
        suggests=_JUDGES,
        # One person has one opinion of a plan.
        settings={"rubric_judges": "1"},
        minutes=15,
    ),
    Mode(
        "two_people",
        "Two people",
        "One player plans. The other is the user and decides which conditions a plan breaks.",
        (
            Place("Agent", ("agent",), _PLANS),
            Place("User", (*_JUDGES, "simulator"), _MARKS),
        ),
        suggests=_JUDGES,
        minutes=20,
    ),
    Mode(
        "two_people_judged",
        "Two people, judged by a model",
        "One player plans, the other is the user. A language model decides which conditions break.",
        (Place("Agent", ("agent",), _PLANS), Place("User", ("simulator",), _TELLS)),
        advice=_OWN_WORDS,
        minutes=20,
    ),
)

_AGENT, _USER = "Agent", "User"


def _played(context: Json) -> list[Utterance]:
    """Return the query, and plan and feedback of every earlier turn."""
    lines = [Utterance(_USER, context["query"])]
    played = zip(context.get("plans", ()), context.get("feedback", ()), strict=False)
    for turn, (plan, feedback) in enumerate(played, 1):
        lines += [Utterance(_AGENT, plan, turn, plan=True), Utterance(_USER, feedback, turn)]
    return lines


def _with_newest(context: Json) -> list[Utterance]:
    """Return the same, with the plan that is talked of now. Judges know no earlier turn."""
    return [
        *_played(context),
        Utterance(_AGENT, context["plan"], context.get("turn", 1), plan=True),
    ]


def _tell(query: str, turns: Sequence[tuple[str, str]], plan: str) -> list[Utterance]:
    """Describe the query, plan and feedback of every turn, and the newest ``plan`` of a turn
    under way.
    """
    lines = [Utterance(_USER, query)]
    for turn, (proposed, feedback) in enumerate(turns, 1):
        lines.append(Utterance(_AGENT, proposed, turn, plan=True))
        if feedback:
            lines.append(Utterance(_USER, feedback, turn))
    if plan:
        lines.append(Utterance(_AGENT, plan, len(turns) + 1, plan=True))
    return lines


# Every player sees the query and every plan while they play.
STORY = Story(frozenset({"agent", "simulator", *_JUDGES, "rubric_judge"}), _tell)

DIALOGUES: Mapping[str, Dialogue] = {
    "plan": _played,
    "feedback": _with_newest,
    "violations": _with_newest,
    "scores": _with_newest,
}

PEOPLE = People(
    reply_forms=REPLY_FORMS,
    end_messages=END_MESSAGES,
    unread_message=UNREAD_MESSAGE,
    modes=MODES,
    dialogues=DIALOGUES,
    story=STORY,
    grows=frozenset({"plan", "feedback"}),
)

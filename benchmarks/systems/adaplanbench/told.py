"""What people are shown who fill a role of AdaPlanBench: pages from the context of an ask."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from benchmarks.core.reply_forms import Fields
from benchmarks.core.system import Dimension
from benchmarks.core.types import Json
from benchmarks.systems.adaplanbench.plans import split_steps
from benchmarks.systems.adaplanbench.rubric import DIMENSIONS
from benchmarks.systems.adaplanbench.scripted import feedback_on

# Names of fields; of those that end in "-" the key of a constraint or dimension follows.
TEXT, LOOK, NONE, UNKNOWN = "text", "look", "none", "unknown"
VIOLATES, SCORE, WHY = "violates-", "score-", "why-"
KIND_TITLES = {"world": "In the world", "user": "What the person wants"}


@dataclass(frozen=True)
class Shown:
    """What every page shows: the turn, the query, and the plan it is about with the one before."""

    query: str
    turn: int
    plan: str = ""
    previous: str = ""


@dataclass(frozen=True)
class Text:
    """A text area; ``start`` is what it holds before anybody has typed."""

    value: str
    start: str = ""
    error: str = ""


@dataclass(frozen=True)
class Suggested:
    """What a script or model would have answered, by whom; ``why_not`` where there is nothing.

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


@dataclass(frozen=True)
class PlanPage:
    """``told`` are constraints that stand in front of the agent's input, with tracking alone."""

    shown: Shown
    said: Sequence[tuple[int, str, str]]
    told: Sequence[str]
    text: Text
    steps: Sequence[str]


@dataclass(frozen=True)
class Point:
    """Something to tell now; ``since`` is the turn in which it was told before, else None."""

    text: str
    kind: str
    since: int | None


@dataclass(frozen=True)
class ProfileKind:
    """The constraints of one kind: (turn, text) of those that were told, texts of the others."""

    title: str
    told: Sequence[tuple[int, str]]
    now: Sequence[str]
    hidden: Sequence[str]

    @property
    def size(self) -> int:
        return len(self.told) + len(self.now) + len(self.hidden)


@dataclass(frozen=True)
class FeedbackPage:
    """``refines``: no constraint is told now, the points are dimensions to become better in."""

    shown: Shown
    refines: bool
    points: Sequence[Point]
    weak: Sequence[tuple[str, Sequence[str]]]
    profile: Sequence[ProfileKind]
    text: Text


@dataclass(frozen=True)
class Mark:
    """A constraint to be marked as violated."""

    key: str
    text: str
    checked: bool
    why: str
    suggested: bool
    suggested_why: str


@dataclass(frozen=True)
class ViolationsPage:
    shown: Shown
    kind: str
    marks: Sequence[Mark]
    none: bool
    error: str
    suggested: Suggested | None

    @property
    def suggests_none(self) -> bool:
        """Whether somebody suggests that nothing is violated."""
        made = self.suggested is not None and self.suggested.made
        return made and not any(mark.suggested for mark in self.marks)


@dataclass(frozen=True)
class Scale:
    """A dimension to be scored; ``choices`` are (value, label, chosen)."""

    dimension: Dimension
    choices: Sequence[tuple[str, str, bool]]
    why: str
    error: str
    suggested: Any
    suggested_why: str


@dataclass(frozen=True)
class ScoresPage:
    shown: Shown
    scales: Sequence[Scale]
    suggested: Suggested | None


def show_plan(context: Json, fields: Fields, errors: Mapping[str, str]) -> PlanPage:
    """The agent's place: what an agent is told, and nothing else."""
    plans, feedback = context["plans"], context["feedback"]
    text = fields.get(TEXT, "")
    said = [(n, p, f) for n, (p, f) in enumerate(zip(plans, feedback, strict=False), 1)]
    rows = [row for turn in context.get("told", ()) for row in turn]
    tracked = {row["key"]: row["text"] for row in rows} if context.get("tracking") else {}
    last = plans[-1] if plans else ""
    return PlanPage(
        Shown(context["query"], context["turn"], previous=last),
        said,
        list(tracked.values()),
        Text(text, last, errors.get(TEXT, "")),
        split_steps(text),
    )


def show_feedback(context: Json, fields: Fields, errors: Mapping[str, str]) -> FeedbackPage:
    """The user's place. The text starts with what the scripted user would say."""
    refines = context["mode"] == "refinement"
    draft = feedback_on(context, context["turn"])
    since = {row["key"]: row["disclosed"] for row in context["profile"]}
    now = set() if refines else {point["key"] for point in context["points"]}
    return FeedbackPage(
        _shown(context),
        refines,
        [] if refines else [
            Point(p["text"], KIND_TITLES[p["kind"]], since.get(p["key"]) if p["repeated"] else None)
            for p in context["points"]
        ],
        [(p["title"], p["reasons"]) for p in context["points"]] if refines else [],
        [_profile_kind(kind, context["profile"], now) for kind in KIND_TITLES],
        Text(fields.get(TEXT, draft), draft, errors.get(TEXT, "")),
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
    """A constraint judge's place: the plan, and every constraint of the kind."""
    suggested = _suggested(context, "would mark what is labelled so below.")
    found = suggested.value.get("violated", ()) if suggested else ()
    reasons = suggested.value.get("reasons", {}) if suggested else {}
    return ViolationsPage(
        _shown(context),
        KIND_TITLES[context["kind"]],
        [
            Mark(
                row["key"],
                row["text"],
                bool(fields.get(f"{VIOLATES}{row['key']}")),
                fields.get(f"{WHY}{row['key']}", ""),
                row["key"] in found,
                reasons.get(row["key"], ""),
            )
            for row in context["constraints"]
        ],
        bool(fields.get(NONE)),
        errors.get(NONE, ""),
        suggested,
    )


def show_scores(context: Json, fields: Fields, errors: Mapping[str, str]) -> ScoresPage:
    """A rubric judge's place: the plan, and the eight dimensions with their anchors."""
    suggested = _suggested(context, "scored as noted at each question.")
    scores = suggested.value.get("scores", {}) if suggested else {}
    reasons = suggested.value.get("reasons", {}) if suggested else {}
    scales = []
    for dimension in DIMENSIONS:
        name = f"{SCORE}{dimension.key}"
        labels = {**{str(n): str(n) for n in range(1, 6)}, UNKNOWN: "Cannot tell"}
        scales.append(
            Scale(
                dimension,
                [(value, label, fields.get(name) == value) for value, label in labels.items()],
                fields.get(f"{WHY}{dimension.key}", ""),
                errors.get(name, ""),
                scores.get(dimension.key),
                reasons.get(dimension.key, ""),
            )
        )
    return ScoresPage(_shown(context), scales, suggested)


def _shown(context: Json) -> Shown:
    plans = context.get("plans") or [""]
    return Shown(context["query"], context.get("turn", 1), context["plan"], plans[-1])


def _suggested(context: Json, found: str) -> Suggested | None:
    """The suggestion that whoever shows this ask put beside its context, if any."""
    row = context.get("suggestion")
    if not row:
        return None
    return Suggested(row["by"], row["value"] or {}, found, row["why_not"], row.get("waits", False))

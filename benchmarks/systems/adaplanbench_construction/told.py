"""What people are shown who fill a role of the construction: pages from the context of an ask."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from benchmarks.core.reply_forms import Fields
from benchmarks.core.types import Json
from benchmarks.systems.adaplanbench.protocol import WORLD
from benchmarks.systems.adaplanbench_construction.protocol import KEEP

# Names of fields; of those that end in "-" a criterion, number, id or key follows.
FAILS, FIT, REASON = "fails-", "fit", "reason"
PLAN, LINES, NONE = "plan-", "lines", "none"
SAME, TEXT = "same-", "text-"
DECIDE, WHY = "decide-", "why-"


@dataclass(frozen=True)
class Shown:
    """What every page shows of the problem; ``reference`` is empty for whoever may not know it."""

    query: str
    round: int = 0
    reference: str = ""
    world: bool = True


@dataclass(frozen=True)
class Choice:
    """One of several values of a field."""

    value: str
    label: str
    chosen: bool


@dataclass(frozen=True)
class VerdictPage:
    shown: Shown
    criteria: Sequence[Choice]
    fit: bool
    reason: str
    error: str


@dataclass(frozen=True)
class PlanField:
    number: int
    value: str
    error: str


@dataclass(frozen=True)
class PlansPage:
    """``told`` is what the plans have to keep to."""

    shown: Shown
    told: Sequence[str]
    plans: Sequence[PlanField]


@dataclass(frozen=True)
class CandidatesPage:
    shown: Shown
    plans: Sequence[str]
    lines: str
    none: bool
    error: str


@dataclass(frozen=True)
class NewRow:
    """Something new beside what it may be the same as: what is settled, and what stands above."""

    id: str
    text: str
    value: str
    same: Sequence[Choice]
    error: str


@dataclass(frozen=True)
class MergedPage:
    shown: Shown
    settled: Sequence[str]
    rows: Sequence[NewRow]


@dataclass(frozen=True)
class DecisionRow:
    key: str
    text: str
    choices: Sequence[Choice]
    why: str
    error: str


@dataclass(frozen=True)
class DecisionsPage:
    shown: Shown
    kept: Sequence[str]
    rows: Sequence[DecisionRow]


def show_verdict(context: Json, fields: Fields, errors: Mapping[str, str]) -> VerdictPage:
    """The filter's place: the request, and what has to hold."""
    criteria = [
        Choice(name, text, bool(fields.get(f"{FAILS}{name}")))
        for name, text in context["criteria"].items()
    ]
    return VerdictPage(
        _shown(context), criteria, bool(fields.get(FIT)), fields.get(REASON, ""),
        errors.get(FIT, ""),
    )  # fmt: skip


def show_plans(context: Json, fields: Fields, errors: Mapping[str, str]) -> PlansPage:
    """A planner's place: the request, and what that planner's plans brought up so far."""
    numbers = range(1, context["count"] + 1)
    return PlansPage(
        _shown(context),
        [row["text"] for row in context["told"]],
        [PlanField(n, fields.get(f"{PLAN}{n}", ""), errors.get(f"{PLAN}{n}", "")) for n in numbers],
    )


def show_candidates(context: Json, fields: Fields, errors: Mapping[str, str]) -> CandidatesPage:
    """The extractor's place: the plans, and the solution that must stay possible."""
    lines, none = fields.get(LINES, ""), bool(fields.get(NONE))
    return CandidatesPage(_shown(context), context["plans"], lines, none, errors.get(LINES, ""))


def show_merged(context: Json, fields: Fields, errors: Mapping[str, str]) -> MergedPage:
    """The merger's place: what is settled in a planner's pool, and what is new."""
    known = {row["id"]: row["text"] for row in context["settled"]}
    rows = []
    for row in context["new"]:
        chosen = fields.get(f"{SAME}{row['id']}", "")
        same = [Choice(name, text, name == chosen) for name, text in known.items()]
        value = fields.get(f"{TEXT}{row['id']}", row["text"])
        error = errors.get(f"{TEXT}{row['id']}", "")
        rows.append(NewRow(row["id"], row["text"], value, same, error))
        known[row["id"]] = row["text"]
    return MergedPage(_shown(context), [row["text"] for row in context["settled"]], rows)


def show_decisions(context: Json, fields: Fields, errors: Mapping[str, str]) -> DecisionsPage:
    """The checker's place: everything that is proposed, beside what is kept already."""
    grounds = {name: f"Remove: {text}" for name, text in context["grounds"].items()}
    offered = {KEEP: "Keep", **grounds}
    rows = []
    for row in context["proposed"]:
        key, chosen = row["key"], fields.get(f"{DECIDE}{row['key']}", "")
        rows.append(
            DecisionRow(
                key,
                row["text"],
                [Choice(value, label, value == chosen) for value, label in offered.items()],
                fields.get(f"{WHY}{key}", ""),
                errors.get(f"{DECIDE}{key}", ""),
            )
        )
    kept = [row["text"] for row in context["kept"]]
    return DecisionsPage(_shown(context), kept, rows)


def _shown(context: Json) -> Shown:
    return Shown(
        context["query"],
        context.get("round", 0),
        context.get("reference", ""),
        context.get("kind", WORLD) == WORLD,
    )

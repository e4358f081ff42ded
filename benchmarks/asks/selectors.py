"""Asks that wait for people: what is asked, and which reply is expected.

A person is told what the ask's messages hold, and nothing else: not who the agent is, not what is
hidden, not how the run goes.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.db.models import Count, QuerySet

from benchmarks.core.labels import plain
from benchmarks.core.people import Fields, FieldsRefused, Hint, ReplyForm
from benchmarks.core.registry import find_system
from benchmarks.core.types import Message
from benchmarks.mappers import core_messages
from benchmarks.models import OpenAsk, Run, Trajectory
from benchmarks.roles.selectors import system_of
from benchmarks.trajectories.selectors import STATES
from benchmarks.visibility import EVERYTHING, Visibility

# In paused runs as well: the reply is kept, and the run goes on with it.
_ALIVE = (Run.Status.QUEUED, Run.Status.RUNNING, Run.Status.WAITING, Run.Status.PAUSED)
_STUCK = (Trajectory.Status.FAILED, Trajectory.Status.DECISION, Trajectory.Status.CANCELLED)
MOST = 200
# What may come after a reply.
OPEN, MOVING, PAUSED, ENDED, STUCK = "open", "moving", "paused", "ended", "stuck"


def open_asks(seen: Visibility = EVERYTHING) -> QuerySet[OpenAsk]:
    """The asks that a reply of anybody's would bring on, the oldest first.

    Those of reserved trajectories are for the people of a session.
    """
    rows = seen.of(OpenAsk.objects.all()).filter(
        answered_at=None,
        trajectory__reserved=False,
        trajectory__status=Trajectory.Status.WAITING,
        trajectory__run__status__in=_ALIVE,
    )
    return rows.select_related("trajectory__run__dataset", "trajectory__task").order_by(
        "opened_at", "pk"
    )


def open_ask_counts(runs: Sequence[int]) -> dict[int, int]:
    """How many asks wait in these runs."""
    rows = open_asks().filter(trajectory__run__in=runs).order_by()
    return dict(rows.values_list("trajectory__run").annotate(n=Count("pk")))


@dataclass(frozen=True)
class AskRow:
    """One line of the list."""

    row: OpenAsk
    role: str
    run: Run

    @property
    def paused(self) -> bool:
        return self.run.status == Run.Status.PAUSED


def ask_rows(asks: Sequence[OpenAsk]) -> list[AskRow]:
    return [AskRow(ask, _role(ask), ask.trajectory.run) for ask in asks]


@dataclass(frozen=True)
class ReplyWords:
    """Which reply is expected, in words, with one that would do."""

    words: str
    example: str = ""


@dataclass(frozen=True)
class AskView:
    """An ask as the person sees it who is to answer. ``waits`` is false once it is too late."""

    row: OpenAsk
    role: str
    messages: Sequence[Message]
    tools: Sequence["ToolView"]
    reply: ReplyWords
    waits: bool
    answered: bool
    paused: bool


@dataclass(frozen=True)
class ToolView:
    """A function that may be called, with its parameters as JSON."""

    name: str
    about: str
    parameters: str


def ask_view(ask: OpenAsk) -> AskView:
    run = ask.trajectory.run
    answered = ask.answered_at is not None
    waits = ask.trajectory.status == Trajectory.Status.WAITING and run.status in _ALIVE
    return AskView(
        ask,
        _role(ask),
        core_messages(ask.messages),
        [_tool(tool) for tool in ask.tools],
        reply_form(run.dataset.system, ask.expect, bool(ask.tools)),
        waits and not answered,
        answered,
        run.status == Run.Status.PAUSED,
    )


@dataclass(frozen=True)
class OwnForm:
    """A system's own form for a reply: its template, and what that shows.

    ``suggested`` are templates of which the first one that exists puts a suggestion beside the
    form when it comes later.
    """

    template: str
    page: Any
    about_hints: str = ""
    suggested: Sequence[str] = ()


def own_form(
    ask: OpenAsk,
    given: Fields,
    errors: Mapping[str, str],
    suggestion: Mapping[str, Any] | None = None,
) -> OwnForm | None:
    """The form that the system brings for this reply; None where it is written as text.

    ``suggestion`` is shown beside it (``selectors.suggestions``).
    """
    system, kind = ask.trajectory.run.dataset.system, ask.expect.get("kind", "")
    form = _form_of(ask)
    if form is None:
        return None
    context = ask.context if suggestion is None else {**ask.context, "suggestion": suggestion}
    page = form.show(context, given, errors)
    return OwnForm(
        f"systems/{system}/_reply_{kind}.html",
        page,
        form.about_hints,
        (f"systems/{system}/_suggested_{kind}.html", "systems/_suggested.html"),
    )


def composed_text(ask: OpenAsk, fields: Fields) -> str:
    """The text of a reply that came in the fields of the system's own form."""
    form = _form_of(ask)
    if form is None:
        raise FieldsRefused({"": "This reply has to be written as text."})
    return form.compose(ask.context, fields)


def hints_on(ask: OpenAsk, text: str) -> Sequence[Hint]:
    """What seems wrong with a reply, as the system's form sees it; its author may send it."""
    form = _form_of(ask)
    return form.hints(ask.context, text) if form is not None else ()


def _form_of(ask: OpenAsk) -> ReplyForm | None:
    kind = ask.expect.get("kind", "")
    return find_system(ask.trajectory.run.dataset.system).people.find_form(kind, ask.context)


@dataclass(frozen=True)
class Following:
    """What comes after a reply: the next ask, or where its trajectory stands.

    ``words`` say how it ended, or what keeps it from going on.
    """

    ask: OpenAsk | None = None
    state: str = MOVING
    words: str = ""

    @property
    def moving(self) -> bool:
        return self.state in (MOVING, PAUSED)


def what_follows(ask: OpenAsk) -> Following:
    """Where the trajectory of an ask stands. ``ask.trajectory`` must be fresh."""
    following = open_asks().filter(trajectory=ask.trajectory_id).first()
    if following is not None:
        return Following(following, OPEN)
    trajectory, run = ask.trajectory, ask.trajectory.run
    state = Trajectory.Status(trajectory.status)
    if state == Trajectory.Status.DONE:
        return Following(
            None, ENDED, find_system(run.dataset.system).people.end_message(trajectory.termination)
        )
    if state in _STUCK:
        return Following(None, STUCK, STATES[state].sentence)
    return Following(None, PAUSED if run.status == Run.Status.PAUSED else MOVING)


def _role(ask: OpenAsk) -> str:
    system = system_of(ask.trajectory.run.dataset.system)
    titles = {role.name: role.title for role in system.roles} if system else {}
    title = titles.get(ask.role, plain(ask.role))
    return f"{title.removesuffix('s')} {ask.seat}" if ask.seat else title


def _tool(tool: Mapping[str, Any]) -> ToolView:
    function = tool.get("function", tool)
    parameters = function.get("parameters") or {}
    return ToolView(
        str(function.get("name", "")),
        str(function.get("description", "")),
        _indented(parameters) if parameters else "",
    )


def reply_form(system: str, expect: Mapping[str, Any], tools: bool = False) -> ReplyWords:
    """What a system says about a kind of reply; else what can be told from its JSON schema."""
    kind, params = expect.get("kind", ""), expect.get("params", {})
    if tools:
        return _TOOLS
    describe = find_system(system).labels.replies.get(kind)
    if describe is not None:
        return ReplyWords(*describe(params))
    build = find_system(system).reply_schemas.get(kind)
    if build is None:
        return ReplyWords("A reply in words, in the form that the messages ask for.")
    words = "One JSON object of this shape, and nothing else."
    return ReplyWords(words, _indented(_sample(build(params))))


_TOOLS = ReplyWords(
    "A message in words, or, to call a function, one JSON object as below. The result comes back "
    "as the next message.",
    json.dumps({"tool_calls": [{"name": "…", "arguments": {}}]}, ensure_ascii=False),
)


def _sample(schema: Mapping[str, Any]) -> Any:
    """A value of a schema's shape, for an example."""
    if schema.get("anyOf"):
        return _sample(schema["anyOf"][0])
    if schema.get("enum"):
        return schema["enum"][0]
    match schema.get("type"):
        case "object":
            return {name: _sample(part) for name, part in schema.get("properties", {}).items()}
        case "array":
            return [_sample(schema.get("items", {}))]
        case "integer" | "number":
            return schema.get("minimum", 1)
        case "boolean":
            return True
        case _:
            return "…"


def _indented(value: Any) -> str:
    return json.dumps(value, indent=2, ensure_ascii=False)

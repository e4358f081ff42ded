"""Read the asks that wait for people: their messages, and the reply that is expected.

A person sees only the messages of the ask: not the agent's name, nothing hidden, no progress of
the run.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

from django.db.models import Count, QuerySet

from benchmarks.asks.forms import LONGEST
from benchmarks.core.ports.labels import plain
from benchmarks.core.ports.people import Fields, FieldsRefused, Hint, ReplyForm
from benchmarks.core.registry import find_system, system_of
from benchmarks.core.types import Message
from benchmarks.mappers import core_messages
from benchmarks.models import OpenAsk, Run, Trajectory
from benchmarks.trajectories.selectors import STATES
from benchmarks.visibility import EVERYTHING, Visibility

# Paused runs are included: the reply is stored, and the run resumes with it.
_ALIVE = (Run.Status.QUEUED, Run.Status.RUNNING, Run.Status.WAITING, Run.Status.PAUSED)
_STUCK = (Trajectory.Status.FAILED, Trajectory.Status.DECISION, Trajectory.Status.CANCELLED)
MOST = 200
# The states after a reply.
OPEN, MOVING, PAUSED, ENDED, STUCK = "open", "moving", "paused", "ended", "stuck"


def open_asks(seen: Visibility = EVERYTHING) -> QuerySet[OpenAsk]:
    """Return the asks that any person may answer, the oldest first.

    Those of reserved trajectories are left out: they are for the people of a session.
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
    """Count the open asks of each of these runs."""
    rows = open_asks().filter(trajectory__run__in=runs).order_by()
    return dict(rows.values_list("trajectory__run").annotate(n=Count("pk")))


class AskListRow(NamedTuple):
    """One line of the list."""

    row: OpenAsk
    role: str
    run: Run

    @property
    def paused(self) -> bool:
        return self.run.status == Run.Status.PAUSED


def ask_rows(asks: Sequence[OpenAsk]) -> list[AskListRow]:
    return [AskListRow(ask, _role(ask), ask.trajectory.run) for ask in asks]


class ReplyFormat(NamedTuple):
    """The expected reply in words, with an example."""

    words: str
    example: str = ""


@dataclass(frozen=True)
class AskView:
    """An ask as its answerer sees it. ``waits`` is false once it is answered or cancelled.

    ``longest`` is how many characters a reply may have.
    """

    row: OpenAsk
    role: str
    tools: Sequence["ToolView"]
    reply: ReplyFormat
    waits: bool
    answered: bool
    paused: bool
    longest: int = LONGEST

    @cached_property
    def messages(self) -> Sequence[Message]:
        """The whole prompt, read when it is shown: a system's own form does not show it."""
        return core_messages(self.row.messages)


class ToolView(NamedTuple):
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
        [_tool(tool) for tool in ask.tools],
        reply_form(run.dataset.system, ask.expect, bool(ask.tools)),
        waits and not answered,
        answered,
        run.status == Run.Status.PAUSED,
    )


class SystemForm(NamedTuple):
    """A system's own form for a reply: its template and the context.

    ``suggested`` are templates; the first one that exists shows a suggestion beside the form when
    it arrives later.
    """

    template: str
    page: Any
    about_hints: str = ""
    suggested: Sequence[str] = ()


def system_form(
    ask: OpenAsk,
    given: Fields,
    errors: Mapping[str, str],
    suggestion: Mapping[str, Any] | None = None,
) -> SystemForm | None:
    """Return the system's own form for this reply; None if the reply is plain text.

    ``suggestion`` is shown beside it (see ``suggestion_selectors``).
    """
    system, kind = ask.trajectory.run.dataset.system, ask.expect.get("kind", "")
    form = _form_of(ask)
    if form is None:
        return None
    context = ask.context if suggestion is None else {**ask.context, "suggestion": suggestion}
    page = form.show(context, given, errors)
    return SystemForm(
        f"systems/{system}/_reply_{kind}.html",
        page,
        form.about_hints,
        (f"systems/{system}/_suggested_{kind}.html", "systems/_suggested.html"),
    )


def composed_text(ask: OpenAsk, fields: Fields) -> str:
    """Return the reply's text from the fields of the system's own form."""
    form = _form_of(ask)
    if form is None:
        raise FieldsRefused({"": "This reply has to be written as text."})
    return form.compose(ask.context, fields)


def hints_on(ask: OpenAsk, text: str) -> Sequence[Hint]:
    """Return the form's hints about likely mistakes in a reply, which may be sent anyway."""
    form = _form_of(ask)
    return form.hints(ask.context, text) if form is not None else ()


def offered_text(ask: OpenAsk) -> str:
    """Return the text that the form offers to start a reply from; '' where it offers none."""
    form = _form_of(ask)
    return form.offers(ask.context) if form is not None and form.offers is not None else ""


def joins(ask: OpenAsk) -> bool:
    """Return whether one form may hold this ask together with others of its kind."""
    form = _form_of(ask)
    return form is not None and form.joins


def _form_of(ask: OpenAsk) -> ReplyForm | None:
    kind = ask.expect.get("kind", "")
    return find_system(ask.trajectory.run.dataset.system).people.find_form(kind, ask.context)


class AfterReply(NamedTuple):
    """The result of a reply: the next ask, or the state of the trajectory.

    ``words`` say how it ended, or what it waits for.
    """

    ask: OpenAsk | None = None
    state: str = MOVING
    words: str = ""

    @property
    def moving(self) -> bool:
        return self.state in (MOVING, PAUSED)


def after_reply(ask: OpenAsk) -> AfterReply:
    """Return the state of an ask's trajectory. ``ask.trajectory`` must be fresh."""
    following = open_asks().filter(trajectory=ask.trajectory_id).first()
    if following is not None:
        return AfterReply(following, OPEN)
    trajectory, run = ask.trajectory, ask.trajectory.run
    state = Trajectory.Status(trajectory.status)
    if state == Trajectory.Status.DONE:
        people = find_system(run.dataset.system).people
        words = people.end_message(trajectory.termination, trajectory.payload)
        return AfterReply(None, ENDED, words)
    if state in _STUCK:
        return AfterReply(None, STUCK, STATES[state].sentence)
    return AfterReply(None, PAUSED if run.status == Run.Status.PAUSED else MOVING)


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


def reply_form(system: str, expect: Mapping[str, Any], tools: bool = False) -> ReplyFormat:
    """Return a system's description of a reply, else one made from its JSON schema."""
    kind, params = expect.get("kind", ""), expect.get("params", {})
    if tools:
        return _TOOLS
    describe = find_system(system).labels.replies.get(kind)
    if describe is not None:
        return ReplyFormat(*describe(params))
    build = find_system(system).reply_schemas.get(kind)
    if build is None:
        return ReplyFormat("A reply in words, in the form that the messages ask for.")
    words = "One JSON object of this shape, and nothing else."
    return ReplyFormat(words, _indented(_sample(build(params))))


_TOOLS = ReplyFormat(
    "A message in words, or, to call a function, one JSON object as below. The result comes back "
    "as the next message.",
    json.dumps({"tool_calls": [{"name": "…", "arguments": {}}]}, ensure_ascii=False),
)


def _sample(schema: Mapping[str, Any]) -> Any:
    """Return an example value that fits a schema."""
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

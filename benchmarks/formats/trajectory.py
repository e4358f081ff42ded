"""An imported trajectory, whichever format it came in."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from math import isfinite
from typing import Annotated, Any, Literal

from pydantic import Field

from benchmarks.core.digests import digest_text
from benchmarks.core.schemas import Number, TextOrNone
from benchmarks.core.types import Json, Speaker
from benchmarks.formats.plan_commits import committed_plan

LONGEST_ID = 120
LARGEST = 30_000
Nth = Annotated[int, Field(strict=True, ge=1, le=LARGEST)]
NOT_STATED = "the file does not state it"


@dataclass(slots=True)
class ToolCall:
    """A call of a tool. ``raw``: the arguments are a text, because they were no JSON.

    The provider of a model runs some tools itself, such as a search: its calls are ``by`` it.
    """

    name: str
    arguments: Any
    id: str = ""
    by: Literal["agent", "user", "provider"] = "agent"
    raw: bool = False


# Files have millions of these, and a frozen one takes three times as long to make.
@dataclass(slots=True)
class ImportedMessage:
    """One message. ``hidden``: the agent never saw it. ``extra`` keeps every other field.

    Fields of ``extra`` with a meaning here: ``by_program``, ``failed``, ``hosted``, ``encrypted``
    and ``attachments``.
    """

    speaker: Speaker
    text: str
    calls: tuple[ToolCall, ...] = ()
    call_id: str = ""
    name: str = ""
    hidden: bool = False
    reasoning: str = ""
    at: str = ""
    tokens_in: int | None = None
    tokens_out: int | None = None
    cost: float | None = None
    extra: dict[str, Any] = field(default_factory=dict)

    @property
    def by_program(self) -> bool:
        """Return whether the agent's program wrote it in the place of its user or the system."""
        return self.extra.get("by_program") is True

    @property
    def speaks(self) -> bool:
        """Return whether it holds a text or a call."""
        return bool(self.calls) or bool(self.text.strip())


@dataclass(frozen=True)
class ImportedTask:
    """The task of an imported trajectory. ``hidden`` is what the agent was not told."""

    id: str
    prompt: str
    category: str = ""
    hidden: Json = field(default_factory=dict)
    payload: Json = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class RubricScore:
    """A judge's score of a turn; no value has its reason.

    ``kind`` says what the judge is: a scripted one only plays a judge's part.
    """

    turn: Nth
    dimension: TextOrNone
    value: Number | None
    reason: TextOrNone = ""
    judge: TextOrNone = ""
    kind: TextOrNone = ""
    seat: TextOrNone = ""
    judging: TextOrNone = ""
    replicate: Annotated[int, Field(strict=True, ge=0, le=LARGEST)] = 1


@dataclass(slots=True)
class ImportedTrajectory:
    """One try at a task. ``agent`` is empty where the file does not say who it was.

    A score that is None is undefined, and ``undefined`` says why; ``reward`` is one of the scores.
    ``attempt`` counts from 1; None where the file does not number them. ``metadata["session"]``
    says which session of a program it is (``id``), which session started it as a sub-agent
    (``parent``), and what the file itself counts (``counts``).
    """

    task: ImportedTask
    messages: tuple[ImportedMessage, ...]
    agent: str = ""
    attempt: int | None = None
    seed: int | None = None
    scores: Mapping[str, float | None] = field(default_factory=dict)
    undefined: Mapping[str, str] = field(default_factory=dict)
    termination: str = "not_stated"
    started: str = ""
    finished: str = ""
    tools: tuple[Json, ...] = ()
    hidden: Json = field(default_factory=dict)
    metadata: Json = field(default_factory=dict)
    rubric: tuple[RubricScore, ...] = ()

    @property
    def session(self) -> Json:
        """Return what is known of the session: ``id``, ``parent`` and ``counts``."""
        given = self.metadata.get("session")
        return given if isinstance(given, dict) else {}

    @property
    def stated_counts(self) -> Mapping[str, Any]:
        """Return counts that the file states itself; None is a number that its format lacks."""
        given = self.session.get("counts")
        return given if isinstance(given, dict) else {}


@dataclass(frozen=True)
class ImportedTurn:
    """A turn: what the agent did from one message of its user to the next, and what came back."""

    index: int
    text: str
    feedback: str
    messages: tuple[ImportedMessage, ...]


def task_key(given: str) -> str:
    """Return an id that fits its column: a long one ends in its digest."""
    if len(given) <= LONGEST_ID:
        return given
    return f"{given[: LONGEST_ID - 33]}~{digest_text(given)}"


# What begins a turn: a message of the user, a message of the agent, or a plan that it commits.
TURNS = {
    "user": "What the agent does after a message of its user",
    "step": "Each step: a message of the agent, with what came back",
    "plan": "Each plan that the agent commits, with the work that follows",
}


def split_turns(
    messages: Sequence[ImportedMessage], by: str = "user"
) -> tuple[tuple[ImportedMessage, ...], tuple[ImportedTurn, ...]]:
    """Return what stood before the agent's first message, and the turns.

    A turn begins where the agent speaks or acts after its user did, and ends with what the user
    said last before the agent came again. What the agent's program writes in the user's place, such
    as a summary, begins none. With ``by`` as "step", every message of the agent begins a turn; with
    "plan" the first one does, and each that commits another plan than the one before, unless the
    agent's message before it committed one, too.
    """
    starts = _plan_starts(messages) if by == "plan" else _starts(messages, by == "step")
    if not starts:
        return tuple(messages), ()
    ends = [*starts[1:], len(messages)]
    return tuple(messages[: starts[0]]), tuple(
        _turn(index, tuple(messages[start:end]))
        for index, (start, end) in enumerate(zip(starts, ends, strict=True), 1)
    )


def count_turns(messages: Sequence[ImportedMessage]) -> int:
    """Return how many turns of its user a session has."""
    return len(_starts(messages, every=False))


def _starts(messages: Sequence[ImportedMessage], every: bool) -> list[int]:
    starts = []
    answered = True
    for place, message in enumerate(messages):
        if message.speaker == "assistant":
            if answered or every:
                starts.append(place)
            answered = False
        elif message.speaker != "tool" and not message.by_program:
            answered = True
    return starts


def _plan_starts(messages: Sequence[ImportedMessage]) -> list[int]:
    starts: list[int] = []
    last: tuple[str, ...] = ()
    planning = False
    for place, message in enumerate(messages):
        if message.speaker != "assistant":
            continue
        plan = commits_plan(message.calls, last)
        if not starts or (plan and not planning):
            starts.append(place)
        last, planning = plan or last, bool(plan)
    return starts


def commits_plan(calls: Iterable[ToolCall], last: tuple[str, ...]) -> tuple[str, ...]:
    """Return the plan that calls of one message commit, if it is another one than the last."""
    plans = [plan for call in calls if (plan := committed_plan(call.name, call.arguments))]
    return plans[-1] if plans and plans[-1] != last else ()


def _turn(index: int, messages: tuple[ImportedMessage, ...]) -> ImportedTurn:
    texts = [m.text.strip() for m in messages if m.speaker == "assistant" and m.text.strip()]
    if not texts:
        names = [call.name for m in messages if m.speaker == "assistant" for call in m.calls]
        texts = [f"(says nothing; calls {', '.join(names)})" if names else "(says nothing)"]
    back = [
        m.text.strip()
        for m in messages
        if m.speaker in ("user", "system") and not m.hidden and not m.by_program
    ]
    if not any(back):
        back = [m.text.strip() for m in messages if m.speaker == "tool" and not m.hidden][-1:]
    return ImportedTurn(index, "\n\n".join(texts), "\n\n".join(filter(None, back)), messages)


def trajectory_metrics(
    trajectory: ImportedTrajectory, turns: int
) -> tuple[dict[str, float | None], dict[str, str]]:
    """Return what the file states as scores, and what the messages show; why something is
    undefined.
    """
    agents = [m for m in trajectory.messages if m.speaker == "assistant"]
    written = [m.tokens_out for m in agents if m.tokens_out is not None]
    costs = [m.cost for m in agents if m.cost is not None]
    reward = trajectory.scores.get("reward")
    counted: dict[str, float | None] = {
        "full_reward": None if reward is None else float(reward >= 1),
        "turns": float(turns),
        "tool_calls": float(sum(call.by == "agent" for m in agents for call in m.calls)),
        "cost": _sum(costs),
        "tokens": _sum(written),
    }
    total = trajectory.stated_counts.get("tokens_out")
    if isinstance(total, int) and not isinstance(total, bool):
        counted["tokens"] = _sum([total])
    stated = {name: value for name, value in trajectory.scores.items() if value is not None}
    metrics = {**dict.fromkeys(trajectory.scores), **counted, **stated}
    undefined = {
        name: trajectory.undefined.get(name, NOT_STATED)
        for name, value in metrics.items()
        if value is None
    }
    return metrics, undefined


def _sum(values: Sequence[float]) -> float | None:
    """Return the sum of what is stated; None where nothing is, or where it is too large a
    number.
    """
    try:
        total = float(sum(values))
    except OverflowError:
        return None
    return total if values and isfinite(total) else None

"""The dialogue of a session as far as it is visible to one player, from stored rows alone."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from hashlib import blake2s
from itertools import chain
from textwrap import shorten

from django.utils.safestring import SafeString

from annotation.models import LivePlace
from annotation.ratings.plan_texts import is_all
from benchmarks.core.plans import split_steps
from benchmarks.core.ports.people import Dialogue, Story, Utterance
from benchmarks.core.registry import find_system
from benchmarks.core.types import Message
from benchmarks.mappers import core_messages
from benchmarks.markdown import draw_markdown, draw_words, has_markup
from benchmarks.models import Exchange, OpenAsk, Task, Trajectory, Turn
from benchmarks.trajectories.turns import PlanChange, plan_change

YOU = "You"
_SPEAKERS = {
    "system": "Instructions",
    "user": "Said to you",
    "assistant": YOU,
    "tool": "Result of a call",
}
_JSON = re.compile(r'\{\s*"')
# Lines of JSON, and marks around it.
_FOR_PROGRAMS = re.compile(r'\A(?:\s*[<{}\[\]"]|.*\{\s*")')


@dataclass(frozen=True)
class DialogueLine:
    """A line of the dialogue. Of a plan, ``steps`` and what changed since the plan of ``before``.

    ``before`` is that plan's number in the dialogue; 0 where there is none. ``whole``: the steps
    are all that was said. ``side`` tells the dialogues of one page apart.
    """

    number: int
    speaker: str
    text: str
    turn: int
    steps: tuple[str, ...] = ()
    change: PlanChange | None = None
    before: int = 0
    whole: bool = True
    side: str = ""

    @property
    def anchor(self) -> str:
        """The id of the line on its page."""
        return f"line-{self.side}{self.number}"

    @property
    def own(self) -> bool:
        return self.speaker == YOU

    @property
    def folded(self) -> bool:
        """Instructions are read once, and long; what holds JSON is for programs to read."""
        return self.speaker == _SPEAKERS["system"] or _JSON.search(self.text) is not None

    @property
    def preview(self) -> str:
        """The text that stands for it while it is folded: its first words, if it has any for
        people.
        """
        words = [line for line in self.text.splitlines() if not _FOR_PROGRAMS.match(line)]
        return shorten(" ".join(words), 100, placeholder=" …") or "As it was sent"

    @property
    def markdown(self) -> SafeString:
        """Return the text as HTML, where it is shown in words."""
        return draw_markdown(self.text)

    @property
    def drawn_steps(self) -> Sequence[SafeString]:
        """Return the steps of a plan as HTML."""
        return [draw_words(step) for step in self.steps]

    @property
    def drawn(self) -> bool:
        """Return whether what is shown is not the text itself, which is copied then."""
        return bool(self.steps) or has_markup(self.text)


def load_session_dialogue(
    place: LivePlace, system: str, *, over: bool = False
) -> list[DialogueLine]:
    """Return the numbered lines that this place was told or said, in their order.

    Where the system tells the whole story, players of its roles see it from the query on, asked or
    not, and everybody does when the session is ``over``: the plan that ended it was put to nobody.
    """
    newest = _newest_asks(place)
    story = find_system(system).people.story
    if story is not None and over:
        return _numbered(_story(place, story, _told_query(newest, system)))
    whole = story is not None and not story.roles.isdisjoint(place.roles)
    if not whole and not newest:
        return _numbered(_query(place, story)) if story is not None else []
    if not whole and not any(_narrator(ask, system) for ask in newest):
        return _numbered(_messages_to(place))
    # A place of several roles is told more in one of them than in another.
    lines: dict[tuple[str, str, int], Utterance] = {}
    sources = [_story(place, story)] if story is not None and whole else []
    for line in chain(*sources, *(_heard(ask, place, system) for ask in newest)):
        lines.setdefault((line.speaker, line.text.strip(), line.turn), line)
    return _numbered(sorted(lines.values(), key=lambda line: line.turn))


def without_newest(lines: Sequence[DialogueLine]) -> Sequence[DialogueLine]:
    """Return the lines up to the player's own last one: what the other side said then is left
    out.
    """
    own = [place for place, line in enumerate(lines, 1) if line.own]
    return lines[: own[-1]] if own else []


def final_plan(lines: Sequence[DialogueLine], system: str) -> DialogueLine | None:
    """Return the plan that an episode ended with, of the lines of a session that is over.

    Only a story is made of the stored turns; a dialogue without one knows the last ask's plan,
    which a repair may have replaced.
    """
    if find_system(system).people.story is None:
        return None
    return next((line for line in reversed(lines) if line.steps), None)


def mark_lines(lines: Sequence[DialogueLine]) -> str:
    """Return how many lines these are, with a digest of them, for `newer_lines`."""
    content = repr([(line.speaker, line.text, line.turn) for line in lines])
    return f"{len(lines)}-{blake2s(content.encode(), digest_size=6).hexdigest()}"


def newer_lines(lines: Sequence[DialogueLine], mark: str) -> Sequence[DialogueLine] | None:
    """Return the lines after those that a page shows; None where it shows others, or none."""
    count = int(mark.partition("-")[0]) if re.fullmatch(r"[1-9]\d{0,5}-[0-9a-f]{12}", mark) else 0
    if not count or mark_lines(lines[:count]) != mark:
        return None
    return lines[count:]


def _query(place: LivePlace, story: Story) -> Iterator[Utterance]:
    """Yield the query alone, which everybody sees before anything was put to them."""
    tasks = Task.objects.filter(trajectories=place.session.trajectory_id)
    for line in story.tell(tasks.values_list("prompt", flat=True).get(), [], ""):
        yield replace(line, speaker=YOU) if line.speaker in place.title else line


def _told_query(newest: Sequence[OpenAsk], system: str) -> str:
    """Return the query as a player was told it, which settings may word differently; '' if none."""
    for ask in newest:
        if tell := _narrator(ask, system):
            return tell(ask.context)[0].text
    return ""


def _story(place: LivePlace, story: Story, query: str = "") -> Iterator[Utterance]:
    """Yield all that was said so far: the query, the finished turns, and the newest plan."""
    trajectory = place.session.trajectory_id
    task = Task.objects.filter(trajectories=trajectory)
    query = query or task.values_list("prompt", flat=True).get()
    turns = list(
        Turn.objects.filter(trajectory=trajectory).order_by("index").values_list("text", "feedback")
    )
    plans = Exchange.objects.filter(
        trajectory=trajectory, role="agent", state=Exchange.State.ANSWERED
    )
    plan_texts = list(plans.order_by("step").values_list("text", flat=True))
    # A turn may take several replies of the agent; of a complete episode all turns are finished.
    done = place.session.trajectory.status == Trajectory.Status.DONE
    newest = plan_texts[-1].strip() if len(plan_texts) > len(turns) and not done else ""
    for line in story.tell(query, turns, newest):
        yield replace(line, speaker=YOU) if line.speaker in place.title else line


def _newest_asks(place: LivePlace) -> list[OpenAsk]:
    """Return the newest ask of each kind that was put to this place, the latest last."""
    by_kind: dict[str, int] = {}
    asks = OpenAsk.objects.filter(trajectory=place.session.trajectory_id).order_by("step", "slot")
    for pk, role, expect in asks.values_list("pk", "role", "expect"):
        if role in place.roles:
            by_kind.pop(expect.get("kind", ""), None)  # so that the latest stands last
            by_kind[expect.get("kind", "")] = pk
    return list(asks.filter(pk__in=by_kind.values()))


def _narrator(ask: OpenAsk, system: str) -> Dialogue | None:
    """Return what tells of the dialogue before an ask; nothing does where it came without a
    context.
    """
    return (
        find_system(system).people.dialogues.get(ask.expect.get("kind", ""))
        if ask.context
        else None
    )


def _heard(ask: OpenAsk, place: LivePlace, system: str) -> Iterator[Utterance]:
    """Yield what an ask tells of the dialogue, and the reply to it; verdicts are no part of it."""
    kind = ask.expect.get("kind", "")
    tell = _narrator(ask, system)
    last = 0
    for line in tell(ask.context) if tell else ():
        last = max(last, line.turn)
        own = line.speaker in place.title
        yield Utterance(YOU if own else line.speaker, line.text, line.turn, line.plan)
    form = find_system(system).people.find_form(kind, ask.context)
    spoken = form.spoken if form is not None else None
    if ask.answered_at is None or (kind in find_system(system).reply_schemas and spoken is None):
        return
    replies = Exchange.objects.filter(
        trajectory=ask.trajectory_id,
        step=ask.step,
        slot=ask.slot,
        state=Exchange.State.ANSWERED,
    )
    reply = replies.order_by("-attempt").values_list("text", flat=True).first()
    if reply is not None:
        turn = ask.context.get("turn") or ask.context.get("step") or last
        words = spoken(reply) if spoken is not None else reply
        yield Utterance(YOU, words, int(turn), plan=kind == "plan")


def _messages_to(place: LivePlace) -> Iterator[Utterance]:
    """Yield all messages that the place was told, each once, and what it replied."""
    trajectory = place.session.trajectory_id
    answered = Exchange.objects.filter(
        trajectory=trajectory, role__in=place.roles, state=Exchange.State.ANSWERED
    )
    waiting = OpenAsk.objects.filter(
        trajectory=trajectory, role__in=place.roles, answered_at=None
    ).order_by("step", "slot")
    asked: list[tuple[list[str], str | None]] = [
        (messages, text)
        for messages, text in answered.order_by("step", "slot", "attempt").values_list(
            "messages", "text"
        )
    ]
    asked += [(messages, None) for messages in waiting.values_list("messages", flat=True)]
    digests = list(dict.fromkeys(digest for messages, _ in asked for digest in messages))
    texts = dict(zip(digests, core_messages(digests), strict=True))
    seen: set[str] = set()
    replies: set[str] = set()
    for messages, reply in asked:
        for digest in messages:
            if digest in seen:
                continue
            seen.add(digest)
            message = texts[digest]
            # What the place itself replied stands there already, in its own words.
            if message.speaker != "assistant" or message.text not in replies:
                yield Utterance(_SPEAKERS[message.speaker], _words(message))
        if reply is not None:
            replies.add(reply)
            yield Utterance(YOU, reply)


def _words(message: Message) -> str:
    calls = [call.get("function", {}) for call in message.tool_calls]
    shown_calls = [f"{call.get('name', '')} {call.get('arguments', '')}" for call in calls]
    return "\n".join(filter(None, [message.text, *shown_calls]))


def _numbered(lines: Sequence[Utterance] | Iterator[Utterance]) -> list[DialogueLine]:
    numbered: list[DialogueLine] = []
    before: int = 0
    plan: tuple[str, ...] = ()
    for number, line in enumerate(lines, 1):
        dialogue_line = _dialogue_line(number, line, before, plan)
        if dialogue_line.steps:
            before, plan = number, dialogue_line.steps
        numbered.append(dialogue_line)
    return numbered


@lru_cache(maxsize=2000)
def _dialogue_line(
    number: int, line: Utterance, before: int, plan: tuple[str, ...]
) -> DialogueLine:
    """Return a line after the ``plan`` of another one; every look comes by the same ones."""
    steps = tuple(split_steps(line.text)) if line.plan else ()
    change = plan_change(plan, steps) if plan and steps else None
    whole = not steps or is_all(line.text, steps)
    return DialogueLine(number, line.speaker, line.text, line.turn, steps, change, before, whole)

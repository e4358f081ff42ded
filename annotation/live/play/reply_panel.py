"""The panel beside the dialogue: the form for a reply, or what the player waits for."""

from collections.abc import Mapping
from dataclasses import dataclass

from django.contrib.auth.models import User

from annotation.live.play.drafts import fetch_draft
from annotation.live.play.session_state import SessionState
from benchmarks.asks.players import player_name
from benchmarks.asks.selectors import AskView, SystemForm, ask_view, joins, system_form
from benchmarks.asks.suggestion_selectors import suggestion_on
from benchmarks.core.ports.people import Fields
from benchmarks.models import Exchange, OpenAsk

# What forms and replies need of an ask.
_ASKED = (
    "trajectory", "step", "slot", "role", "seat", "messages", "expect", "tools", "context",
    "opened_at", "answered_at", "ask_digest", "seed", "trajectory__status", "trajectory__reserved",
    "trajectory__run__status", "trajectory__run__roles", "trajectory__run__dataset__system",
)  # fmt: skip


@dataclass(frozen=True)
class ReplyPanel:
    """``key`` tells one desk from the next; a page that shows the same one keeps its form.

    ``joined`` are the asks that one form answers together, each with its part of the form.
    ``drafted``: what is shown is a draft that was kept; ``version`` is that of the kept one, 0
    where there is none.
    """

    key: str
    ask: AskView | None = None
    own: SystemForm | None = None
    has_own: bool = False
    text: str = ""
    others: tuple[AskView, ...] = ()
    joined: tuple[tuple[AskView, SystemForm], ...] = ()
    drafted: bool = False
    version: int = 0


def desk_key(state: SessionState, shown: str = "") -> str:
    """Return which desk belongs to the table, given the one that is ``shown``."""
    if state.over:
        return "over"
    if state.turn.standing == "gathering":
        return f"lobby-{state.token}"
    keys = [f"ask-{ask.pk}" for ask in state.own]
    if shown in keys:
        return shown
    return keys[0] if keys else "wait-edit" if state.may_edit else "wait"


def fetch_ask(state: SessionState, pk: int) -> OpenAsk | None:
    """Return an ask of this place with all that is told in it; None where it was never asked of
    it.
    """
    if state.place is None or pk > 2**62:
        return None
    asks = OpenAsk.objects.select_related("trajectory__run__dataset").only(*_ASKED)
    ask = asks.filter(pk=pk, trajectory=state.session.trajectory_id).first()
    return ask if ask is not None and ask.role in state.place.roles else None


def load_reply_panel(
    state: SessionState,
    key: str,
    *,
    as_text: bool = False,
    fields: Fields | None = None,
    errors: Mapping[str, str] | None = None,
) -> ReplyPanel:
    """Return the desk of this key. ``fields`` were posted; without them a draft is shown, if
    any.
    """
    if not key.startswith("ask-"):
        return ReplyPanel(key)
    ask = fetch_ask(state, int(key.removeprefix("ask-")))
    if ask is None:
        return ReplyPanel("wait")
    drafted = False
    kept = fetch_draft(ask, state.access.user)
    if fields is None:
        fields, drafted = (kept.fields if kept else {}), kept is not None
    beside = suggestion_on(ask) if state.plan.shows_suggestions else None
    own = system_form(ask, fields, errors or {}, beside)
    together = [] if as_text or own is None else joined_asks(state, ask)
    parts = [(row, system_form(row, fields, errors or {})) for row in together]
    known = {ask.pk, *(row.pk for row in together)}
    rest = [fetch_ask(state, row.pk) for row in state.own if row.pk not in known]
    return ReplyPanel(
        key,
        ask_view(ask),
        None if as_text else own,
        own is not None,
        str(fields.get("text", "")),
        tuple(ask_view(row) for row in rest if row is not None),
        tuple((ask_view(row), part) for row, part in parts if part is not None),
        drafted,
        kept.version if kept else 0,
    )


def joined_asks(state: SessionState, ask: OpenAsk) -> list[OpenAsk]:
    """Return the asks that are answered on one form with this one, itself among them; or none.

    Where suggestions come beside forms, each has its own.
    """
    if len(state.own) < 2 or state.plan.shows_suggestions or not joins(ask):
        return []
    rows = [fetch_ask(state, row.pk) for row in state.own]
    kind = ask.expect["kind"]
    same = [row for row in rows if row is not None and row.expect["kind"] == kind]
    return same if len(same) > 1 else []


def load_suggestion_panel(state: SessionState, key: str) -> SystemForm | None:
    """Return what is suggested beside the form of this desk, for a page that shows the form
    already.

    None where nothing was.
    """
    if not state.suggested or not key.startswith("ask-"):
        return None
    ask = fetch_ask(state, int(key.removeprefix("ask-")))
    beside = suggestion_on(ask) if ask is not None else None
    return system_form(ask, {}, {}, beside) if ask is not None and beside is not None else None


def answered_by(ask: OpenAsk, user: User) -> bool:
    """Return whether a reply to an ask is this person's."""
    replies = Exchange.objects.filter(
        trajectory=ask.trajectory_id,
        step=ask.step,
        slot=ask.slot,
        answerer__kind="human",
        answerer__name=player_name(user),
    )
    return replies.exists()


def describe_reply_outcome(state: SessionState, shown: str) -> str:
    """Return why a form that was shown is not any more, in words; empty where nothing is to be
    said.
    """
    if not shown.startswith("ask-") or not shown.removeprefix("ask-").isdecimal():
        return ""
    ask = fetch_ask(state, int(shown.removeprefix("ask-")[:18]))
    if ask is None:
        return "This reply is no longer needed. Your text is below."
    if ask.answered_at is None:
        return ""
    if answered_by(ask, state.access.user):
        return "Your reply was already sent."
    return "Another person has replied. Their reply counts."

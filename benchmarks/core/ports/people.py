"""The people port: forms for replies, and what the players of a live session see.

A reply form's template is ``<system>/_reply_<kind>.html`` in the system's own ``templates`` folder;
a kind of reply without a form is answered as text. A system without modes can be played one role at
a time; without dialogues, players see the messages of the ask.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from benchmarks.core.errors import CoreError
from benchmarks.core.types import Json

Fields = Mapping[str, str]


class FieldsRefused(CoreError):
    """Fields of which no reply can be made: by the name of a field, what is wrong with it.

    Under the empty name stands what is wrong with all of them together.
    """

    def __init__(self, errors: Mapping[str, str]) -> None:
        self.errors = dict(errors)
        super().__init__(" ".join(self.errors.values()))


@dataclass(frozen=True)
class Hint:
    """A likely mistake in a reply, which its author may send all the same.

    ``code`` is stable, for the record; ``about`` is the key of what it is about.
    """

    code: str
    words: str
    about: str = ""


def no_hints(context: Json, text: str) -> Sequence[Hint]:
    """Return no hints: those of a form that gives none."""
    return ()


@dataclass(frozen=True)
class ReplyForm:
    """A form for one kind of reply. All functions are pure and know the ask's context alone.

    ``show`` makes what the page shows, with what was filled in and what is wrong with it;
    ``compose`` makes the text of the reply, or raises ``FieldsRefused``. A form ``needs`` parts of
    the context; an ask without them is answered in text. ``hints`` looks over the text of a reply;
    ``about_hints`` says in a sentence how far they can be trusted. ``spoken`` takes the words for
    the dialogue out of a stored reply; a reply in JSON without it stands in no dialogue. ``offers``
    is a text that whoever replies may start from: how far their own is from it is kept. ``joins``:
    its fields are named by what they are about, so that one form may hold several asks; its
    template then leaves out its own form (``joined``).

    Where somebody may see what a script or model would have answered, the context that ``show`` is
    given holds it as ``suggestion``: ``by``, the parsed ``value`` or None, ``why_not``, and whether
    it ``waits`` for it. One that comes later is put beside the form by the system's template
    ``_suggested_<kind>.html``, which replaces elements of the page and never a field.
    """

    show: Callable[[Json, Fields, Mapping[str, str]], Any]
    compose: Callable[[Json, Fields], str]
    needs: frozenset[str] = frozenset()
    hints: Callable[[Json, str], Sequence[Hint]] = no_hints
    about_hints: str = ""
    spoken: Callable[[str], str] | None = None
    offers: Callable[[Json], str] | None = None
    joins: bool = False


@dataclass(frozen=True)
class Place:
    """A place in a session: the roles that one person fills together.

    ``says`` tells its player in a line what they may say and what the other side sees.
    """

    title: str
    roles: tuple[str, ...]
    says: str = ""


@dataclass(frozen=True)
class Mode:
    """One way in which people take part. Results of different modes are never pooled.

    ``suggests`` are roles of which a script or model answers beside the person, without deciding.
    ``advice`` is for those who make sessions, ``about`` for everybody. ``settings`` are offered in
    place of the protocol's usual ones, by name and as text. ``excludes`` are values of settings
    under which one of the places would have nothing to do, by name; ``make_session`` refuses them.
    ``minutes`` is an estimate of how long a session takes, which players see until sessions of
    their study have been played; 0 where there is none. ``alone``: nobody else replies in the
    session, neither a person nor a script or model. ``duels``: its one player talks with the agent,
    so they may do so with two agents side by side.
    """

    key: str
    title: str
    about: str
    places: tuple[Place, ...]
    suggests: tuple[str, ...] = ()
    advice: str = ""
    settings: Mapping[str, str] = field(default_factory=dict)
    excludes: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    minutes: int = 0
    alone: bool = False
    duels: bool = False

    @property
    def roles(self) -> frozenset[str]:
        """All roles that people fill."""
        return frozenset(role for place in self.places for role in place.roles)


@dataclass(frozen=True)
class Utterance:
    """One thing that was said, in its order: by whom in a word, and of which turn (0: before any).

    ``plan``: it is a plan of the agent, which pages compare with the one before.
    """

    speaker: str
    text: str
    turn: int = 0
    plan: bool = False


Dialogue = Callable[[Json], Sequence[Utterance]]


@dataclass(frozen=True)
class Story:
    """The messages of an episode for all players when it is over, and for ``roles`` while it is
    played.

    ``tell`` makes it of the query, of text and feedback of the finished turns, and of the agent's
    newest text where its turn is not finished (else empty). The last plan among its lines is the
    one that a player reads as final.
    """

    roles: frozenset[str]
    tell: Callable[[str, Sequence[tuple[str, str]], str], Sequence[Utterance]]


@dataclass(frozen=True)
class People:
    """The port by which people take part in a system; every part is optional.

    ``reply_forms`` are by kind of reply. ``end_messages`` tell players how an episode ended, by
    termination; ``unread_message`` replaces them where no deciding judge could read the plans.
    ``tell_outcome`` adds what came of it, from the outcome's payload, where players may know.
    ``modes`` are the ways in which people take part in live sessions, ``dialogues`` make the
    conversation of the ask's context, by kind of reply and the query first, and ``story`` that of a
    whole episode. ``grows`` are kinds of reply that all players read word for word: they see one
    while a model writes it.
    """

    reply_forms: Mapping[str, ReplyForm] = field(default_factory=dict)
    end_messages: Mapping[str, str] = field(default_factory=dict)
    unread_message: str = ""
    tell_outcome: Callable[[Json], str] | None = None
    modes: tuple[Mode, ...] = ()
    dialogues: Mapping[str, Dialogue] = field(default_factory=dict)
    story: Story | None = None
    grows: frozenset[str] = frozenset()

    @property
    def gives_hints(self) -> bool:
        """Return whether a form gives hints on replies."""
        return any(form.hints is not no_hints for form in self.reply_forms.values())

    def find_form(self, kind: str, context: Json) -> ReplyForm | None:
        """Return the form for a kind of reply, if there is one that this ask can be shown in."""
        form = self.reply_forms.get(kind)
        return form if form and form.needs <= context.keys() else None

    def end_message(self, termination: str, payload: Json, *, unread: bool = False) -> str:
        """Return what players are told of an end and of the outcome's ``payload``; '' if nothing.

        Most systems tell no result: players may go on to rate what they played.
        """
        if unread and self.unread_message:
            return self.unread_message
        words = self.end_messages.get(termination, "")
        outcome = self.tell_outcome(payload) if self.tell_outcome and words else ""
        return f"{words} {outcome}".strip()

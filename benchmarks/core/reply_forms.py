"""Forms by which people reply, where a system brings its own: a module ``person`` in its folder.

``REPLY_FORMS`` of that module maps kinds of reply to forms; what such a form looks like stands in
``templates/systems/<system>/_reply_<kind>.html``. Every other kind of reply is written as text.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from benchmarks.core.errors import CoreError
from benchmarks.core.types import Json
from benchmarks.core.words import system_part

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
    """Something that seems wrong with a reply, which its author may send all the same.

    ``code`` is stable, for the record; ``about`` is the key of what it is about.
    """

    code: str
    words: str
    about: str = ""


@dataclass(frozen=True)
class ReplyForm:
    """A form for one kind of reply. All functions are pure and know the ask's context alone.

    ``show`` makes what the page shows, with what was filled in and what is wrong with it;
    ``compose`` makes the text of the reply, or raises ``FieldsRefused``. A form ``needs`` parts of
    the context; an ask without them is answered in text. ``hints`` looks over the text of a reply;
    ``about_hints`` says in a sentence how far they can be trusted.

    Where somebody may see what a script or model would have answered, the context that ``show`` is
    given holds it as ``suggestion``: ``by``, the parsed ``value`` or None, ``why_not``, and whether
    it ``waits`` for it. One that comes later is put beside the form by the system's template
    ``_suggested_<kind>.html``, which replaces elements of the page and never a field.
    """

    show: Callable[[Json, Fields, Mapping[str, str]], Any]
    compose: Callable[[Json, Fields], str]
    needs: frozenset[str] = frozenset()
    hints: Callable[[Json, str], Sequence[Hint]] = lambda context, text: ()
    about_hints: str = ""


def reply_form_of(system: str, kind: str, context: Json) -> ReplyForm | None:
    """A system's own form for a kind of reply, if it has one that this ask can be shown in."""
    forms: Mapping[str, ReplyForm] = getattr(system_part(system, "person"), "REPLY_FORMS", {})
    form = forms.get(kind)
    return form if form and form.needs <= context.keys() else None


def end_words(system: str, termination: str, *, unread: bool = False) -> str:
    """What whoever played may be told of an end without a right to see results; '' if nothing.

    ``unread``: no judge who decided could read the plans.
    """
    part = system_part(system, "person")
    words: Mapping[str, str] = getattr(part, "END_WORDS", {})
    undecided: str = getattr(part, "UNREAD_WORDS", "")
    return undecided if unread and undecided else words.get(termination, "")

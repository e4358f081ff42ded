"""Rows of the table of sessions and lines of their dialogues."""

from functools import lru_cache
from html import escape

from django import template
from django.template.loader import get_template
from django.urls import reverse
from django.utils.safestring import SafeString, mark_safe

from annotation.live.lists import SessionRow
from annotation.live.play.dialogue import DialogueLine
from annotation.models import LivePlace
from benchmarks.templatetags.planjury import badge, moment
from benchmarks.templatetags.turn_parts import undefined

register = template.Library()


@register.simple_tag
def session_cells(row: SessionRow, told: object) -> SafeString:
    """A session's number, state, places, and since when; ``told``: its agent and task too."""
    name, known = f"Session {row.session.number}", ""
    if told:
        url = reverse("annotation:session_watch", args=[row.session.pk])
        name = f'<a href="{url}">{name}</a>'
        known = "".join(f'<td class="nowrap">{escape(w)}</td>' for w in (row.agent, row.task))
    places = "".join(f'<div class="nowrap">{_place(place)}</div>' for place in row.places)
    at = row.turn.since
    since = moment(at) if at else undefined("it was not kept when this began")
    return mark_safe(
        f'<th scope="row" class="nowrap">{name}</th>\n'
        f"<td>{badge(row.words, row.tone)}</td>\n"
        f"<td>{places}</td>\n"
        f"{known}"
        f'<td class="nowrap">{since}</td>'
    )


def _place(place: LivePlace) -> str:
    if place.player is not None:
        who = escape(place.player.get_username())
    elif place.stand_in:
        who = f"{escape(place.stand_in)} stands in"
    else:
        who = "free"
    return f"{escape(place.title)}: {who}"


@register.simple_tag
@lru_cache(maxsize=2000)
def talk_line(line: DialogueLine) -> str:
    """A line as HTML. Each look shows all lines again, so that those shown before are kept."""
    return get_template("annotation/partials/_session_line.html").render({"line": line})

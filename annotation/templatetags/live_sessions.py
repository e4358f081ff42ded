"""Rows of the table of sessions and lines of their dialogues."""

from functools import lru_cache

from django import template
from django.template.loader import get_template
from django.urls import reverse
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString

from annotation.live.lists import SessionRow
from annotation.live.play.dialogue import DialogueLine
from annotation.models import LivePlace
from benchmarks.templatetags.planjury import badge, moment
from benchmarks.templatetags.turn_parts import undefined

register = template.Library()


@register.simple_tag
def session_cells(row: SessionRow, overseen: object) -> SafeString:
    """Return a session's number, state, places and time; with agent and task if ``overseen``.

    This is faster than an included template: a table may have hundreds of rows.
    """
    name, known = f"Session {row.session.number}", SafeString()
    if overseen:
        url = reverse("annotation:session_watch", args=[row.session.pk])
        name = format_html('<a href="{}">{}</a>', url, name)
        known = format_html_join("", '<td class="nowrap">{}</td>', [(row.agent,), (row.task,)])
    places = ((_place(place),) for place in row.places)
    at = row.turn.since
    return format_html(
        '<th scope="row" class="nowrap">{}</th>\n'
        "<td>{}</td>\n"
        "<td>{}</td>\n"
        "{}"
        '<td class="nowrap">{}</td>',
        name,
        badge(row.words, row.tone),
        format_html_join("", '<div class="nowrap">{}</div>', places),
        known,
        moment(at) if at else undefined("it was not kept when this began"),
    )


def _place(place: LivePlace) -> str:
    if place.player is not None:
        who = place.player.get_username()
    elif place.stand_in:
        who = f"{place.stand_in} stands in"
    else:
        who = "free"
    return f"{place.title}: {who}"


@register.simple_tag
@lru_cache(maxsize=2000)
def talk_line(line: DialogueLine) -> str:
    """Return a line as HTML. Each look shows all lines again, so that those shown before are
    kept.
    """
    return get_template("annotation/partials/_session_line.html").render({"line": line})

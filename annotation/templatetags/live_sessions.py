"""Rows of the table of sessions and lines of their dialogues."""

from collections.abc import Collection
from functools import lru_cache

from django import template
from django.template.loader import get_template
from django.urls import reverse
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString

from annotation.live.lists import SessionRow, place_words
from annotation.live.play.dialogue import DialogueLine
from benchmarks.templatetags.planjury import badge, moment
from benchmarks.templatetags.turn_parts import undefined

register = template.Library()


@register.simple_tag
def session_cells(
    row: SessionRow, overseen: object, hidden: Collection[str] = (), drafts: object = False
) -> SafeString:
    """Return a session's number, state, places and time; with agent and task if ``overseen``, and
    how far replies are from offered ``drafts``.

    ``hidden`` are the keys of columns that are left out.

    This is faster than an included template: a table may have hundreds of rows.
    """
    name, known = row.title.capitalize(), SafeString()
    if overseen:
        url = reverse("annotation:session_watch", args=[row.session.pk])
        name = format_html('<a href="{}">{}</a>', url, name)
        known = format_html_join(
            "",
            '<td class="nowrap">{}</td>',
            [(getattr(row, key),) for key in ("agent", "task") if key not in hidden],
        )
    places = ((place_words(place),) for place in row.places)
    at = row.turn.since
    cells = {
        "state": format_html("<td>{}</td>\n", badge(row.words, row.tone)),
        "places": format_html(
            "<td>{}</td>\n", format_html_join("", '<div class="nowrap">{}</div>', places)
        ),
        "known": known,
        **({"drafts": _draft_cell(row.draft_distance)} if drafts else {}),
        "since": format_html(
            '<td class="nowrap">{}</td>',
            moment(at) if at else undefined("it was not kept when this began"),
        ),
    }
    shown = ((cell,) for key, cell in cells.items() if key not in hidden)
    return format_html('<th scope="row" class="nowrap">{}</th>\n', name) + format_html_join(
        "", "{}", shown
    )


def _draft_cell(distance: float | None) -> SafeString:
    shown = undefined("no draft was offered") if distance is None else f"{100 * distance:.0f} %"
    return format_html('<td class="num">{}</td>\n', shown)


@register.simple_tag
@lru_cache(maxsize=2000)
def talk_line(line: DialogueLine) -> str:
    """Return a line as HTML. Each look shows all lines again, so that those shown before are
    kept.
    """
    return get_template("annotation/partials/_session_line.html").render({"line": line})

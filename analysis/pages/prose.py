"""Sentences of the analysis pages, which stand in templates: read here as plain text.

A template of a page holds paragraphs, each an element whose class says what it is for::

    <p class="answer">{{ result.share|share }} of {{ result.n|plural:"answer" }} are equal.</p>
    {% if result.few %}<p class="warning">Few tasks: read intervals with care.</p>{% endif %}

The page escapes the text when it shows it; files, LaTeX and tests take it as it is.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from html.parser import HTMLParser
from typing import Any

from django.template.loader import render_to_string

from analysis.reports.content import Banner, Empty, Notice, Onward


@dataclass(frozen=True)
class Paragraph:
    """One element of a template: its tag, its attributes, and its text on one line."""

    tag: str
    attributes: Mapping[str, str]
    text: str

    @property
    def use(self) -> str:
        """The use of the paragraph: its class."""
        return self.attributes.get("class", "")


@dataclass(frozen=True)
class Prose:
    """The paragraphs of a template, in their order; those without text are left out."""

    paragraphs: tuple[Paragraph, ...] = ()

    def all(self, *uses: str) -> list[Paragraph]:
        """Return the paragraphs of these uses."""
        return [one for one in self.paragraphs if one.use in uses]

    def texts(self, use: str) -> tuple[str, ...]:
        """Return the texts of one use."""
        return tuple(one.text for one in self.all(use))

    def text(self, use: str, of: str = "") -> str:
        """Return the texts of one use as one, such as the note ``of`` a table."""
        found = [one.text for one in self.all(use) if one.attributes.get("data-of", "") == of]
        return " ".join(found)

    def notices(self) -> tuple[Notice, ...]:
        """Return what must be known before reading on: paragraphs “info” and “warning”."""
        return tuple(
            Notice(one.text, "warning" if one.use == "warning" else "info")
            for one in self.all("warning", "info")
        )

    def banners(self) -> tuple[Banner, ...]:
        """Return what marks the page as not the real thing; the title is an attribute."""
        return tuple(Banner(one.attributes["title"], one.text) for one in self.all("banner"))

    def onward(self) -> tuple[Onward, ...]:
        """Return where to go on."""
        return tuple(Onward(one.text, one.attributes["href"]) for one in self.all("onward"))

    def empty(self) -> Empty:
        """Return why there is nothing to show, and the one thing to do about it."""
        action = next(iter(self.all("action")), Paragraph("a", {}, ""))
        return Empty(
            self.text("title"),
            self.text("text"),
            action.text,
            action.attributes.get("href", ""),
            action.attributes.get("data-needs", ""),
        )


def read_prose(template: str, context: Mapping[str, Any]) -> Prose:
    """Return the paragraphs of a template."""
    reader = _ProseReader()
    reader.feed(render_to_string(template, dict(context)))
    reader.close()
    return Prose(tuple(one for one in reader.found if one.text))


@dataclass
class _Open:
    tag: str
    attributes: dict[str, str]
    words: list[str] = field(default_factory=list)
    depth: int = 0


class _ProseReader(HTMLParser):
    """Collects top-level elements; what stands between them is nobody's."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.found: list[Paragraph] = []
        self._open: _Open | None = None

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if self._open is None:
            self._open = _Open(tag, {name: value or "" for name, value in attrs})
        elif tag == self._open.tag:
            self._open.depth += 1

    def handle_endtag(self, tag: str) -> None:
        if self._open is None or tag != self._open.tag:
            return
        if self._open.depth:
            self._open.depth -= 1
            return
        text = " ".join("".join(self._open.words).split())
        self.found.append(Paragraph(tag, self._open.attributes, text))
        self._open = None

    def handle_data(self, data: str) -> None:
        if self._open is not None:
            self._open.words.append(data)

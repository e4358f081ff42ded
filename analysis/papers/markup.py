"""The markup of texts in papers: headings, lists, bold, italic, code and links; all else is text.

A subset of Markdown. What cannot be read as markup is shown as it was written.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString

from analysis.exports.latex_text import latex_text, latex_url

Style = Literal["", "bold", "italic", "code"]
BlockKind = Literal["h2", "h3", "p", "ul", "ol"]
_SPAN = re.compile(
    r"\*\*(?P<bold>[^*\n]{1,2000})\*\*|\*(?P<italic>[^*\n]{1,2000})\*|`(?P<code>[^`\n]{1,2000})`"
    r"|\[(?P<words>[^\]\n]{1,2000})\]\((?P<url>https?://[^\s()]{1,2000}|/[^\s()]{0,2000})\)"
)
_ITEM = re.compile(r"(?:[-*]|(?P<number>\d{1,3})[.)]) +(?P<text>.*)")
_HEADING = re.compile(r"(?P<marks>#{1,3}) +(?P<text>.*)")
# Numbers in a sentence, with their sign and unit.
_NUMBER = re.compile(r"(?<![\w.-])[+−]?\d[\d,]*(?:\.\d+)?(?![\w-])(?: %)?")


@dataclass(frozen=True)
class Span:
    """Words of one style; ``url`` where they link to something."""

    text: str
    style: Style = ""
    url: str = ""


@dataclass(frozen=True)
class MarkupBlock:
    """A heading, a paragraph, or a list with its items."""

    kind: BlockKind
    items: tuple[tuple[Span, ...], ...]


def read_markup(text: str) -> list[MarkupBlock]:
    """Return the blocks of a text."""
    blocks: list[MarkupBlock] = []
    paragraph: list[str] = []

    def end_paragraph() -> None:
        if paragraph:
            blocks.append(MarkupBlock("p", (_spans(" ".join(paragraph)),)))
            paragraph.clear()

    for line in text.replace("\r\n", "\n").split("\n"):
        line = line.strip()
        heading, item = _HEADING.fullmatch(line), _ITEM.fullmatch(line)
        if not line:
            end_paragraph()
        elif heading is not None:
            end_paragraph()
            kind: BlockKind = "h2" if len(heading["marks"]) == 1 else "h3"
            blocks.append(MarkupBlock(kind, (_spans(heading["text"]),)))
        elif item is not None and not paragraph:
            kind = "ol" if item["number"] else "ul"
            known = blocks.pop().items if blocks and blocks[-1].kind == kind else ()
            blocks.append(MarkupBlock(kind, (*known, _spans(item["text"]))))
        else:
            paragraph.append(line)
    end_paragraph()
    return blocks


def linked_numbers(sentence: str, url: str) -> tuple[Span, ...]:
    """Return a sentence in which every number links to the page that states it."""
    return tuple(_linked(sentence, url))


def spans_html(spans: Sequence[Span], server: str = "") -> SafeString:
    """Return spans as HTML; addresses of the product get ``server`` in front."""
    return format_html_join("", "{}", ((_span_html(span, server),) for span in spans))


def markup_html(text: str, server: str = "") -> SafeString:
    """Return a text as HTML."""
    return format_html_join("\n", "{}", ((_block_html(one, server),) for one in read_markup(text)))


def spans_latex(spans: Sequence[Span], server: str = "") -> str:
    """Return spans as LaTeX. Blanks at the ends of a span stay."""
    return "".join(_span_latex(span, server) for span in spans)


def markup_latex(text: str, server: str = "") -> str:
    """Return a text as LaTeX, with sections for headings."""
    return "\n\n".join(_block_latex(one, server) for one in read_markup(text))


def _spans(text: str) -> tuple[Span, ...]:
    spans, last = [], 0
    for match in _SPAN.finditer(text):
        spans.append(Span(text[last : match.start()]))
        if match["url"]:
            spans.append(Span(match["words"], "", match["url"]))
        for style in ("bold", "italic", "code"):
            if match[style]:
                spans.append(Span(match[style], style))
        last = match.end()
    return tuple(span for span in (*spans, Span(text[last:])) if span.text)


def _linked(sentence: str, url: str) -> Iterator[Span]:
    last = 0
    for match in _NUMBER.finditer(sentence):
        yield Span(sentence[last : match.start()])
        yield Span(match[0], "", url)
        last = match.end()
    yield Span(sentence[last:])


def _absolute(url: str, server: str) -> str:
    return f"{server}{url}" if url.startswith("/") else url


def _span_html(span: Span, server: str) -> SafeString:
    tags = {"bold": "<strong>{}</strong>", "italic": "<em>{}</em>", "code": "<code>{}</code>"}
    if span.url:
        return format_html('<a href="{}">{}</a>', _absolute(span.url, server), span.text)
    return format_html(tags.get(span.style, "{}"), span.text)


def _block_html(block: MarkupBlock, server: str) -> SafeString:
    items = [(spans_html(spans, server),) for spans in block.items]
    if block.kind in ("ul", "ol"):
        tag = "<ul>{}</ul>" if block.kind == "ul" else "<ol>{}</ol>"
        return format_html(tag, format_html_join("", "<li>{}</li>", items))
    tags = {"h2": "<h2>{}</h2>", "h3": "<h3>{}</h3>", "p": "<p>{}</p>"}
    return format_html(tags[block.kind], items[0][0])


def _span_latex(span: Span, server: str) -> str:
    before = " " if span.text[:1].isspace() else ""
    after = " " if span.text[-1:].isspace() and span.text.strip() else ""
    words = latex_text(span.text)
    commands = {"bold": r"\textbf{%s}", "italic": r"\emph{%s}", "code": r"\texttt{%s}"}
    if span.url:
        words = rf"\href{{{latex_url(_absolute(span.url, server))}}}{{{words}}}"
    elif span.style:
        words = commands[span.style] % words
    return f"{before}{words}{after}"


def _block_latex(block: MarkupBlock, server: str) -> str:
    items = [spans_latex(spans, server) for spans in block.items]
    if block.kind in ("ul", "ol"):
        name = "itemize" if block.kind == "ul" else "enumerate"
        lines = "\n".join(rf"\item {{}}{item}" for item in items)
        return f"\\begin{{{name}}}\n{lines}\n\\end{{{name}}}"
    commands = {"h2": r"\section{%s}", "h3": r"\subsection{%s}", "p": "%s"}
    return commands[block.kind] % items[0]

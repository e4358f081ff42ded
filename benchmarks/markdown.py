"""Draw the plain Markdown of messages: bold, lists, code and fenced code, and nothing else.

All of a text is escaped before anything is drawn. Headings, links and HTML stay as they were
written. Every line is read once, so that the time grows with the length of the text.
"""

import re
from collections.abc import Iterator

from django.utils.html import escape
from django.utils.safestring import SafeString, mark_safe

_FENCE = re.compile(r"\A {0,3}```")
_ITEM = re.compile(r"\A *(?:[-*+]|(?P<number>\d{1,6})[.)]) +(?=\S)")
# Both see escaped text, whose entities hold neither a backtick nor an asterisk.
_CODE = re.compile(r"`([^`\n]+)`")
_BOLD = re.compile(r"\*\*(?!\s)([^*\n]+)(?<!\s)\*\*")


def draw_markdown(text: str) -> SafeString:
    """Return a message as HTML; what is no markup is shown as it was written."""
    return mark_safe("".join(_blocks(text.split("\n"))))  # noqa: S308  (draw_words escapes every line)


def has_markup(text: str) -> bool:
    """Return whether a message would be drawn as anything but its own text."""
    lines = text.split("\n")
    return any(_FENCE.match(line) or _ITEM.match(line) for line in lines) or (
        draw_words(text) != escape(text)
    )


def _blocks(lines: list[str]) -> Iterator[str]:
    plain: list[str] = []
    position = 0
    while position < len(lines):
        end, block = position, ""
        if _FENCE.match(lines[position]):
            end, block = _fenced(lines, position)
        elif _ITEM.match(lines[position]):
            end, block = _list(lines, position)
        if not block:
            plain.append(draw_words(lines[position]))
            position += 1
            continue
        yield _paragraph(plain)
        plain.clear()
        yield block
        position = end
    yield _paragraph(plain)


def _paragraph(lines: list[str]) -> str:
    """Return lines between other blocks; those of a message stay apart by its style."""
    words = "\n".join(lines).strip("\n")
    return f"<p>{words}</p>" if words else ""


def _fenced(lines: list[str], start: int) -> tuple[int, str]:
    """Return where a block of code ends, and the block; one without an end takes all that follows.

    So a reply that is still being written shows its code as code.
    """
    end = start + 1
    while end < len(lines) and not _FENCE.match(lines[end]):
        end += 1
    code = escape("\n".join(lines[start + 1 : end]))
    return end + 1, f'<pre tabindex="0"><code>{code}</code></pre>'


def _list(lines: list[str], start: int) -> tuple[int, str]:
    """Return where a list ends, and the list. Items keep the numbers that they were given."""
    end, items = start, []
    first = _ITEM.match(lines[start])
    numbered = bool(first and first["number"])
    while end < len(lines) and (item := _ITEM.match(lines[end])):
        if bool(item["number"]) != numbered:
            break
        value = f' value="{int(item["number"])}"' if numbered else ""
        items.append(f"<li{value}>{draw_words(lines[end][item.end() :])}</li>")
        end += 1
    name = "ol" if numbered else "ul"
    return end, f"<{name}>{''.join(items)}</{name}>"


def draw_words(line: str) -> SafeString:
    """Return a line escaped, with its code and its bold words drawn; code holds no bold."""
    parts = _CODE.split(escape(line))
    parts[::2] = [_BOLD.sub(r"<strong>\1</strong>", part) for part in parts[::2]]
    parts[1::2] = [f"<code>{part}</code>" for part in parts[1::2]]
    return mark_safe("".join(parts))  # noqa: S308  (escaped above)

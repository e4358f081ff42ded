"""Reading the parentheses of PDDL within limits of size, depth and number of parts."""

import re
from typing import Any

from benchmarks.core.errors import CoreError

# A token is a text, an expression a list of both. All of it is in lower case, as PDDL ignores case.
Expression = list[Any]

LONGEST_TEXT = 4 << 20
MOST_TOKENS = 400_000
DEEPEST = 50
_TOKEN = re.compile(r"[()]|[^\s()]+")
_COMMENT = re.compile(r";[^\n]*")
_NAME = re.compile(r"[^\s()?:;]+")


class PddlError(CoreError):
    """A text that is no PDDL, or PDDL of a kind that is not supported; the text says where."""


def read_expression(text: str, what: str) -> Expression:
    """Return the one expression of a text; ``what`` names the text in errors."""
    if len(text) > LONGEST_TEXT:
        raise PddlError(f"{what}: expected at most {LONGEST_TEXT >> 20} MB, found more")
    lowered = text.lower()
    if ";" in lowered:
        lowered = _COMMENT.sub(" ", lowered)
    root: Expression = []
    stack = [root]
    top = root
    tokens = _TOKEN.findall(lowered)
    if len(tokens) > MOST_TOKENS:
        raise PddlError(f"{what}: expected at most {MOST_TOKENS} words and parentheses, found more")
    for number, token in enumerate(tokens):
        if token == "(":
            child: Expression = []
            top.append(child)
            stack.append(child)
            top = child
            if len(stack) > DEEPEST:
                place = _line_of(lowered, number)
                raise PddlError(f"{what}, line {place}: expected at most {DEEPEST} levels")
        elif token == ")":
            if len(stack) == 1:
                place = _line_of(lowered, number)
                raise PddlError(f"{what}, line {place}: a closing parenthesis without an opening")
            stack.pop()
            top = stack[-1]
        else:
            top.append(token)
    if len(stack) > 1:
        raise PddlError(f"{what}: {len(stack) - 1} parentheses are not closed")
    if len(root) != 1 or not isinstance(root[0], list):
        raise PddlError(f"{what}: expected one expression in parentheses, found {len(root)}")
    return root[0]


def _line_of(text: str, number: int) -> int:
    for index, match in enumerate(_TOKEN.finditer(text)):
        if index == number:
            return text.count("\n", 0, match.start()) + 1
    return 1


def read_name(value: Any, where: str) -> str:
    """Return a name, or raise ``PddlError``."""
    if isinstance(value, str) and _NAME.fullmatch(value):
        return value
    raise PddlError(f"{where}: expected a name, found {show(value)}")


def text_of(value: Any) -> str:
    """Return an expression as PDDL, all of it."""
    return value if isinstance(value, str) else f"({' '.join(map(text_of, value))})"


def show(value: Any) -> str:
    """Return an expression as text, cut where it is long."""
    parts: list[str] = []
    _show(value, parts)
    text = "".join(parts)
    return text if len(text) <= 80 else text[:79] + "…"


def _show(value: Any, parts: list[str]) -> None:
    if isinstance(value, str):
        parts.append(value)
        return
    parts.append("(")
    for index, child in enumerate(value):
        if len(parts) > 200:
            break
        if index:
            parts.append(" ")
        _show(child, parts)
    parts.append(")")

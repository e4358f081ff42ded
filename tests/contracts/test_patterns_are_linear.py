"""No regular expression of the product takes more than linear time on a crafted text.

Replies of models, uploaded cells and addresses reach these patterns, so one that grows with the
square of its text could hold a worker for hours. Every pattern of the product is run on texts that
repeat its own literals and white space of all kinds, once with 10 and once with 40 kB.
"""

import ast
import builtins
import importlib
import re
import time
from collections.abc import Iterator
from functools import cache
from itertools import chain
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings

ROOT = Path(settings.BASE_DIR)
FOLDERS = ("config", "benchmarks", "annotation", "analysis", "devtools", "client/planjury_client")
# These import packages of the extra train, which most installations lack.
NEEDS_EXTRAS = ("adapt_reflection.training.dpo", "adapt_reflection.training.local_scorer")
SMALL, LARGE = 10_000, 40_000
MOST_GROWTH = 8  # for four times the text: linear time grows 4 times, quadratic time 16 times
# Below this there is nothing to compare: a square of it would still be only 3 s at 1 MB.
NOTICEABLE_SECONDS = 0.005
HOPELESS_SECONDS = 0.5  # for 10 kB, where a linear pattern takes about a millisecond
SPACES = (" ", "\t", "\n", "\r\n", "\N{NO-BREAK SPACE}", "\N{LINE SEPARATOR}", " \t\n\N{EM SPACE}")
LETTERS = ("a", "A", "0", "é", "a ", "0 ", "a.", "-")
# What stands in a pattern besides its literals: escapes, heads of groups, repetitions.
SYNTAX = re.compile(r"\\[AbBdDsSwWZ]|\(\?(?:P?<\w+>|[:=!>]|<[=!]|\w+\))|\{\d*,?\d*\}|[()|?*+^$]")

Pattern = re.Pattern[Any]


def product_modules() -> Iterator[tuple[str, ast.Module]]:
    for path in sorted(chain.from_iterable((ROOT / folder).rglob("*.py") for folder in FOLDERS)):
        name = ".".join(path.relative_to(ROOT).with_suffix("").parts).removeprefix("client.")
        if "migrations" not in path.parts and not name.endswith(NEEDS_EXTRAS):
            yield name.removesuffix(".__init__"), ast.parse(path.read_text(encoding="utf-8"))


def patterns_in(value: object) -> Iterator[Pattern]:
    """Yield the patterns that a module's name stands for, alone or in a collection."""
    if isinstance(value, re.Pattern):
        yield value
    elif isinstance(value, dict):
        yield from patterns_in([*value.values()])
    elif isinstance(value, tuple | list | set | frozenset):
        yield from chain.from_iterable(map(patterns_in, value))
    elif isinstance(getattr(value, "__self__", None), re.Pattern):  # a method kept under a name
        yield value.__self__  # type: ignore[attr-defined]


class _Names(dict[str, object]):
    """The names of a module; what only a function knows is the text ``word``."""

    def __missing__(self, name: str) -> object:
        return getattr(builtins, name, "word")


def called_pattern(node: ast.AST, module: str) -> Pattern | None:
    """Return the pattern of a call such as ``re.sub(r"…", …)``; None for any other node."""
    if not (isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute)):
        return None
    owner, function = node.func.value, node.func.attr
    if not (isinstance(owner, ast.Name) and owner.id == "re") or function == "escape":
        return None
    names = _Names(vars(importlib.import_module(module)))

    def value_of(expression: ast.expr) -> Any:
        return eval(compile(ast.Expression(expression), module, "eval"), {}, names)  # noqa: S307

    flags = [value_of(word.value) for word in node.keywords if word.arg == "flags"]
    flags += map(value_of, node.args[1:2] if function == "compile" else [])
    return re.compile(value_of(node.args[0]), *flags)


@cache
def product_patterns() -> dict[Pattern, str]:
    """Return every pattern of the product, with one place where it stands."""
    places: dict[Pattern, str] = {}
    for module, tree in product_modules():
        for name, value in vars(importlib.import_module(module)).items():
            for pattern in patterns_in(value):
                places.setdefault(pattern, f"{module}.{name}")
        functions = [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)]
        for node in chain.from_iterable(map(ast.walk, functions)):
            if (called := called_pattern(node, module)) is not None:
                places.setdefault(called, f"{module}, line {getattr(node, 'lineno', 0)}")
    return places


def crafted_units(pattern: Pattern) -> Iterator[tuple[str, str]]:
    """Yield beginnings and units: a crafted text is a beginning with the unit repeated."""
    source = pattern.pattern if isinstance(pattern.pattern, str) else pattern.pattern.decode()
    plain = SYNTAX.sub(" ", source).replace("\\", "")
    literals = sorted({*re.findall(r"\w+|[^\w\s]", plain)}, key=len, reverse=True)
    for unit in (*SPACES, *LETTERS, *literals[:16], *sorted({*plain.split()})[:24]):
        yield "", unit
    for word in literals[:10]:
        yield from (("", word + " "), ("", word + "a "), (word, " "), (word, "\n"), (word, "a"))


def seconds(pattern: Pattern, text: "str | bytes") -> float:
    """Return the processor seconds for trying a pattern at every place of a text and as a whole."""
    best = float("inf")
    for _ in range(3):
        start = time.thread_time()
        for _match in pattern.finditer(text):
            pass
        pattern.fullmatch(text)
        best = min(best, time.thread_time() - start)
        if not NOTICEABLE_SECONDS < best < 20 * NOTICEABLE_SECONDS:
            break
    return best


def slow_text(pattern: Pattern) -> str:
    """Describe the first text for which a pattern takes too long; empty where none does."""
    for beginning, unit in crafted_units(pattern):
        texts = [beginning + unit * (size // len(unit)) + "\x01" for size in (SMALL, LARGE)]
        small, large = (
            text if isinstance(pattern.pattern, str) else text.encode() for text in texts
        )
        before = seconds(pattern, small)
        if before < NOTICEABLE_SECONDS / 16:
            continue
        after = seconds(pattern, large) if before < HOPELESS_SECONDS else float("inf")
        if after > max(NOTICEABLE_SECONDS, MOST_GROWTH * before):
            return f"{beginning!r} and n times {unit!r}: {before:.4f} s, then {after:.3f} s"
    return ""


@pytest.mark.either
@pytest.mark.parametrize("part", range(8))
def test_patterns_take_linear_time(part: int) -> None:
    patterns = list(product_patterns().items())[part::8]
    slow = {
        place: f"{pattern.pattern}: {why}"
        for pattern, place in patterns
        if (why := slow_text(pattern))
    }
    assert slow == {}


@pytest.mark.parametrize("pattern", [r"\s+$", r"\w+@", r"<i>(.*?)</i>", r"([a-z]+) to (.*)x"])
def test_quadratic_patterns_are_noticed(pattern: str) -> None:
    assert slow_text(re.compile(pattern))


def test_patterns_are_collected_from_names_and_calls() -> None:
    places = "\n".join(product_patterns().values())
    assert "benchmarks.llm.security._CREDENTIAL" in places
    assert "benchmarks.systems.adapt.household.actions._PATTERNS" in places
    assert "annotation.exports.writing._PLAIN" in places
    assert len(product_patterns()) > 200

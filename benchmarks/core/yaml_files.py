"""The one reader of YAML: plain values with the line on which each stands; nothing but data.

It reads what people write (designs of experiments, plans of studies, live sessions and
questionnaires) and the files that the product ships. It works on events, one after the other, and
checks every limit before it builds anything, so that no text of the permitted length takes more
than a second.
"""

import math
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path as FilePath
from typing import Any

import yaml

from benchmarks.core.problems import FileRefused, Problem

LONGEST = 200_000
DEEPEST = 30
MOST_VALUES = 20_000
LONGEST_NUMBER = 40
_PREFIX = "tag:yaml.org,2002:"
_TEXT = f"{_PREFIX}str"
_CORE = (_TEXT, *(f"{_PREFIX}{kind}" for kind in ("int", "float", "bool", "null")))
# A number so long that it is not even looked at; a word that begins like one is a text.
_ENDLESS = re.compile(rf"[-+]?[0-9._:,]{{{LONGEST_NUMBER + 1},}}")
# libyaml reads ten times as fast, and is not everywhere.
_LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)

# Names of fields and places in lists, from the outside in.
Path = tuple[str | int, ...]


@dataclass(frozen=True)
class YamlDocument:
    """The content of a text, and the line on which each part of it stands."""

    value: Any
    lines: Mapping[Path, int]


def read_yaml(text: str, *, longest: int = LONGEST, repeated: bool = False) -> YamlDocument:
    """Read one document; raises `FileRefused` for what is no YAML or more than plain data.

    References and tags are refused, and so is a key that stands twice, because the first would be
    lost; ``repeated`` lets the last one count, for texts that were stored before this was refused.
    Names of fields are texts as they are written, and so are dates.
    """
    if len(text) > longest:
        raise _refused("the file", f"at most {longest:,} characters", f"{len(text):,}")
    for number, line in enumerate(text.split("\n"), 1):
        if not _storable(line):
            raise _refused(f"line {number}", "text without NUL and half characters", "one of them")
    try:
        return _EventReader(text, repeated).read()
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        where = f"line {mark.line + 1}" if mark is not None else "the file"
        problem = (error.problem or "something else").removeprefix("found ")
        problem = problem.replace("did not find expected", "something other than")
        raise _refused(where, "YAML", problem) from None
    except yaml.reader.ReaderError as error:
        place = text.count("\n", 0, error.position) + 1
        raise _refused(f"line {place}", "YAML", "a character that YAML does not take") from None
    except (yaml.YAMLError, ValueError, OverflowError) as error:
        reason = str(error).partition("\n")[0][:120]
        raise _refused("the file", "YAML", reason or "something else") from None


def read_yaml_file(path: FilePath) -> Any:
    """Return the value in a file that the product ships."""
    return read_yaml(path.read_text(encoding="utf-8")).value


def place_of(path: Path, lines: Mapping[Path, int]) -> str:
    """Describe a position, such as ``line 7, conditions 2, refinement``; lists count from 1."""
    words: list[str] = []
    for part in path:
        if isinstance(part, int) and words:
            words[-1] += f" {part + 1}"
        else:
            words.append(str(part))
    line = next((lines[path[:n]] for n in range(len(path), 0, -1) if path[:n] in lines), None)
    return ", ".join([f"line {line}"] * (line is not None) + words)


class _EventReader:
    """Builds values from the events of a parser."""

    def __init__(self, text: str, repeated: bool) -> None:
        self.events: Iterator[Any] = yaml.parse(text, Loader=_LOADER)
        self.repeated = repeated
        self.lines: dict[Path, int] = {}
        self.values = 0
        self.resolver: Any = yaml.resolver.Resolver()  # whose method has no types
        self.constructor = yaml.constructor.SafeConstructor()

    def read(self) -> YamlDocument:
        value, documents = None, 0
        for event in self.events:
            if isinstance(event, yaml.DocumentStartEvent):
                documents += 1
                if documents > 1:
                    raise _refused(_place(event), "one document", "a second one")
            elif isinstance(event, yaml.NodeEvent):
                value = self._value(event, ())
        return YamlDocument(value, self.lines)

    def _value(self, event: Any, path: Path) -> Any:
        self.values += 1
        if self.values > MOST_VALUES:
            raise _refused(_place(event), f"at most {MOST_VALUES:,} values", "more")
        if len(path) > DEEPEST:
            raise _refused(_place(event), f"at most {DEEPEST} levels of lists and fields", "more")
        self.lines[path] = _line(event)
        if isinstance(event, yaml.AliasEvent):
            raise _refused(_place(event), "a value of its own", "a reference to another one")
        if isinstance(event, yaml.ScalarEvent):
            return self._scalar(event)
        if event.tag not in (None, "!", f"{_PREFIX}map", f"{_PREFIX}seq"):
            raise _refused(_place(event), "a list or fields without a tag", _shown(event.tag))
        if isinstance(event, yaml.MappingStartEvent):
            return self._fields(path)
        return [self._value(item, (*path, n)) for n, item in enumerate(self._items())]

    def _items(self) -> Iterator[Any]:
        """Yield the events with which the members of a list begin, up to its end."""
        for event in self.events:
            if isinstance(event, yaml.CollectionEndEvent):
                return
            yield event

    def _fields(self, path: Path) -> dict[str, Any]:
        fields: dict[str, Any] = {}
        for event in self._items():
            place = _place(event)
            if not isinstance(event, yaml.ScalarEvent) or not event.value or event.tag:
                raise _refused(place, "a name before the colon", "something else")
            name = event.value
            if not _storable(name):
                raise _refused(place, "a name without NUL and half characters", "one of them")
            if name in fields and not self.repeated:
                raise _refused(place, "each name once", f"{name[:80]!r} again")
            fields[name] = self._value(next(self.events), (*path, name))
            self.lines[*path, name] = _line(event)
        return fields

    def _scalar(self, event: Any) -> Any:
        text: str = event.value
        if not _storable(text):
            raise _refused(_place(event), "text without NUL and half characters", "one of them")
        tag = event.tag
        if tag in (None, "!"):
            if not event.implicit[0]:
                return text  # in quotes
            if _ENDLESS.match(text):
                raise _refused(
                    _place(event), f"numbers of at most {LONGEST_NUMBER} digits", "a longer one"
                )
            tag = self.resolver.resolve(yaml.ScalarNode, text, (True, False))
            if tag not in _CORE:
                return text  # a date, say: as it was written
        elif tag not in _CORE:
            raise _refused(_place(event), "a value without a tag", _shown(tag))
        return text if tag == _TEXT else self._plain(event, tag)

    def _plain(self, event: Any, tag: str) -> Any:
        """Return a number, true or false, or nothing."""
        expected = {"int": "a whole number", "float": "a number", "bool": "true or false"}
        kind = tag.removeprefix(_PREFIX)
        if len(event.value) > LONGEST_NUMBER:
            raise _refused(
                _place(event), f"numbers of at most {LONGEST_NUMBER} digits", "a longer one"
            )
        try:
            value = self.constructor.construct_object(yaml.ScalarNode(tag, event.value))
        except (ValueError, KeyError, IndexError, OverflowError):
            raise _refused(
                _place(event), expected.get(kind, "nothing"), repr(event.value[:80])
            ) from None
        if isinstance(value, float) and not math.isfinite(value):
            raise _refused(_place(event), "a number that is finite", repr(event.value[:80]))
        return value


def _storable(text: str) -> bool:
    """Return whether every database can store a text."""
    return "\x00" not in text and not any("\ud800" <= char <= "\udfff" for char in text)


def _place(event: Any) -> str:
    return f"line {_line(event)}"


def _line(event: Any) -> int:
    return int(event.start_mark.line) + 1


def _shown(tag: str) -> str:
    return f"the tag {tag.replace(_PREFIX, '!!')[:80]}"


def _refused(where: str, expected: str, found: str) -> FileRefused:
    return FileRefused([Problem(where, expected, found)])

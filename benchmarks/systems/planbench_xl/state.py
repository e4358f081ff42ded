"""What is known in the course of a query: values with their trust, and what could be reached."""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import Any

from benchmarks.systems.planbench_xl.catalogue import Tool
from benchmarks.systems.planbench_xl.values import normalise, text_of


class Holdings:
    """The data types that are held, and the values seen of each, reliable and not.

    ``values`` are those that the query states in structured form, by data type: they are reliable.
    """

    def __init__(self, given: Iterable[str], values: Mapping[str, Any] = MappingProxyType({})):
        self.held = set(given)
        self.trusted = {datatype: {text_of(value)} for datatype, value in values.items()}
        self.untrusted: dict[str, set[str]] = {}
        # By data type, the kinds of tool that returned a value, by the value as answers have it.
        self.sources: dict[str, dict[str, list[str]]] = {}

    def trust(self, datatype: str, value: Any) -> None:
        """A reliable tool returned a value: its data type is held from now on."""
        self.held.add(datatype)
        self.trusted.setdefault(datatype, set()).add(text_of(value))

    def distrust(self, datatype: str, value: Any, source: str) -> None:
        """A noisy or blocking tool returned a value; nothing is held by that."""
        self.untrusted.setdefault(datatype, set()).add(text_of(value))
        if plain := normalise(value):
            kinds = self.sources.setdefault(datatype, {}).setdefault(plain, [])
            if source not in kinds:
                kinds.append(source)

    def is_untrusted(self, datatype: str, value: Any) -> bool:
        """Whether a value of a data type is known from unreliable tools alone."""
        text = text_of(value)
        unreliable = text in self.untrusted.get(datatype, ())
        return unreliable and text not in self.trusted.get(datatype, ())

    def sources_in(self, datatype: str, answer: str, unless_trusted: bool) -> list[str]:
        """The kinds of unreliable tool whose values of a data type stand in an answer."""
        given = normalise(answer)
        known = {normalise(text) for text in self.trusted.get(datatype, ())}
        found = {
            kind
            for plain, kinds in self.sources.get(datatype, {}).items()
            if plain in given and not (unless_trusted and plain in known)
            for kind in kinds
        }
        return sorted(found)

    def record(self) -> dict[str, Any]:
        """The end state as JSON values."""
        return {
            "current_datatypes": sorted(self.held),
            "trusted": {key: sorted(texts) for key, texts in self.trusted.items()},
            "untrusted": {key: sorted(texts) for key, texts in self.untrusted.items()},
            "untrusted_sources": {
                key: {plain: list(kinds) for plain, kinds in found.items()}
                for key, found in self.sources.items()
            },
        }


class Reach:
    """The data types that could be come by with the tools shown so far, kept closed step by step.

    Each tool waits for the inputs that are out of reach; a new data type wakes those that wait for
    it. So an episode costs as much as its tools have inputs, however long it is.
    """

    def __init__(self, given: Iterable[str]) -> None:
        self.start = frozenset(given)
        self.reached = set(self.start)
        self._waiting: dict[str, list[Tool]] = defaultdict(list)
        self._known: set[str] = set()

    def show(self, tools: Iterable[Tool]) -> None:
        for tool in tools:
            if tool.name not in self._known:
                self._known.add(tool.name)
                self._try(tool)

    def add(self, datatype: str) -> None:
        fresh = [datatype]
        while fresh:
            reached = fresh.pop()
            if reached in self.reached:
                continue
            self.reached.add(reached)
            for tool in self._waiting.pop(reached, ()):
                if missing := self._missing(tool):
                    self._waiting[missing].append(tool)
                else:
                    fresh.append(tool.output)

    def _try(self, tool: Tool) -> None:
        if missing := self._missing(tool):
            self._waiting[missing].append(tool)
        else:
            self.add(tool.output)

    def _missing(self, tool: Tool) -> str:
        """An input of a tool that is out of reach, or ''."""
        return next((datatype for datatype in tool.inputs if datatype not in self.reached), "")

    @property
    def explored(self) -> int:
        return len(self.reached - self.start)

"""Preferences and their rules as JSON, read and checked field by field."""

from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from benchmarks.core.types import Json
from benchmarks.systems.adapt.household.dishes import GROUPS, KINDS, STYLES
from benchmarks.systems.adapt.household.inventory import FURNITURE, Inventory
from benchmarks.systems.adapt.household.rules import DINING, FORMS, ROLES, HouseholdGoal, Rule

# The paper's seven types of preference (section 4), in its order.
TYPES: Mapping[str, str] = {
    "variation": "Variation",
    "addition": "Addition",
    "exclusion": "Exclusion",
    "order": "Order",
    "tool": "Tool",
    "location": "Location",
    "preparation": "Preparation",
}
Path = tuple[str | int, ...]
Fault = Callable[[Path, str, Any], None]


@dataclass(frozen=True)
class Preference:
    """A preference of a persona: its number there, the paper's type, its text and its rule."""

    n: int
    type: str
    text: str
    rule: Rule

    @property
    def key(self) -> str:
        return f"n{self.n}"


class RuleNames(NamedTuple):
    """The names that rules may use beside dishes: the things of a household, and tasks."""

    inventory: Inventory
    tasks: Sequence[str]


_REQUIRED = object()
# By form, its arguments: how each is read, and the default where it may be left out.
_ARGUMENTS: Mapping[str, Mapping[str, tuple[str, Any]]] = {
    "include": {
        "of": ("dishes", _REQUIRED), "sel": ("selectors", _REQUIRED), "role": ("role", "added"),
        "min": ("count", 1), "heated": ("switch", False),
    },
    "exclude": {
        "of": ("dishes", _REQUIRED), "sel": ("selectors", _REQUIRED), "role": ("role", "added"),
    },
    "only": {
        "of": ("dishes", _REQUIRED), "scope": ("selectors", _REQUIRED),
        "allow": ("selectors", _REQUIRED), "absent": ("absent", "inapplicable"),
    },
    "style": {
        "of": ("dishes", _REQUIRED), "any": ("styles", _REQUIRED), "unless_task": ("tasks", ()),
    },
    "temp": {"of": ("dishes", _REQUIRED), "is": ("temperature", _REQUIRED)},
    "add_order": {
        "of": ("dishes", _REQUIRED), "first": ("selectors", _REQUIRED),
        "then": ("selectors", _REQUIRED),
    },
    "serve_order": {"first": ("dishes", _REQUIRED), "then": ("dishes", _REQUIRED)},
    "serve_with": {"of": ("dishes", _REQUIRED), "dish": ("dish", _REQUIRED)},
    "tool": {
        "of": ("dishes", _REQUIRED), "scope": ("selectors", _REQUIRED),
        "allow": ("selectors", _REQUIRED), "absent": ("tool_absent", "skip"),
    },
    "method": {"of": ("dishes", _REQUIRED), "chain": ("selectors", _REQUIRED)},
    "prefer": {"of": ("dishes", _REQUIRED), "chain": ("selectors", _REQUIRED)},
    "location": {"any": ("places", _REQUIRED)},
    "together": {"of": ("dishes", _REQUIRED), "sel": ("selectors", _REQUIRED)},
    "max_ingredients": {"of": ("dishes", _REQUIRED), "n": ("count", _REQUIRED)},
}  # fmt: skip
_CHOICES: Mapping[str, tuple[str, ...]] = {
    "role": ROLES,
    "absent": ("inapplicable", "satisfied", "violated"),
    "tool_absent": ("skip", "violated"),
    "temperature": ("hot", "iced"),
}


class RuleReader:
    """Reads rules; ``fault`` is told the path, what was expected and what was found."""

    def __init__(self, words: RuleNames, fault: Fault) -> None:
        self.words, self.fault = words, fault

    def read(self, raw: Any, path: Path) -> Rule | None:
        """Return a rule, or None where it has a fault."""
        if isinstance(raw, Mapping) and set(raw) == {"if", "then"}:
            inner = (self.read(raw["if"], (*path, "if")), self.read(raw["then"], (*path, "then")))
            return self._composed("if", inner)
        if not isinstance(raw, Mapping) or len(raw) != 1:
            self.fault(path, f"one form of rule among {', '.join(FORMS)}", raw)
            return None
        ((form, value),) = raw.items()
        path = (*path, form)
        if form in ("all", "any"):
            if not isinstance(value, Sequence) or isinstance(value, str) or not value:
                self.fault(path, "a list of rules", value)
                return None
            return self._composed(form, [self.read(r, (*path, n)) for n, r in enumerate(value)])
        arguments = _ARGUMENTS.get(form)
        if arguments is None:
            self.fault(path, f"a form of rule among {', '.join(FORMS)}", form)
            return None
        if not isinstance(value, Mapping):
            self.fault(path, f"fields {', '.join(arguments)}", value)
            return None
        return self._simple(form, arguments, value, path)

    def _composed(self, form: str, inner: Sequence[Rule | None]) -> Rule | None:
        sound = tuple(rule for rule in inner if rule is not None)
        return Rule(form, inner=sound) if len(sound) == len(inner) else None

    def _simple(
        self, form: str, arguments: Mapping[str, tuple[str, Any]], value: Json, path: Path
    ) -> Rule | None:
        args: dict[str, Any] = {}
        for name in value:
            if name not in arguments:
                self.fault((*path, name), f"fields {', '.join(arguments)} only", name)
        for name, (kind, default) in arguments.items():
            if name not in value:
                args[name] = default
                if default is _REQUIRED:
                    self.fault(path, f"a field {name}", sorted(value))
                continue
            args[name] = self._argument(kind, value[name], (*path, name))
        if None in args.values() or _REQUIRED in args.values() or set(value) - set(arguments):
            return None
        return Rule(form, args.pop("of", ()), args)

    def _argument(self, kind: str, value: Any, path: Path) -> Any:
        """Return an argument of a kind, or None where it has a fault."""
        if kind == "count":
            if isinstance(value, bool) or not isinstance(value, int) or not 1 <= value <= 50:
                return self._wrong(path, "a whole number from 1 to 50", value)
            return value
        if kind == "switch":
            return value if isinstance(value, bool) else self._wrong(path, "true or false", value)
        if kind in _CHOICES:
            if value not in _CHOICES[kind]:
                return self._wrong(path, f"one of {', '.join(_CHOICES[kind])}", value)
            return value
        if kind == "dish":
            known = isinstance(value, str) and value in KINDS
            return value if known else self._wrong(path, "a kind of dish", value)
        values = [value] if isinstance(value, str) else value
        if not isinstance(values, list | tuple) or not values:
            return self._wrong(path, "a text or a list of texts", value)
        read: list[str] = []
        for number, item in enumerate(values):
            found = self._named(kind, item) if isinstance(item, str) else ()
            if not found:
                where = path if isinstance(value, str) else (*path, number)
                return self._wrong(where, _NAMES[kind], item)
            read += found
        return tuple(dict.fromkeys(read))

    def _named(self, kind: str, item: str) -> tuple[str, ...]:
        """Return what a name stands for; nothing where it is unknown."""
        words = self.words
        if kind == "dishes":
            return GROUPS.get(item, (item,) if item in KINDS else ())
        if kind == "styles":
            return (item,) if item in STYLES else ()
        if kind == "tasks":
            return (item,) if item in words.tasks else ()
        if kind == "places":
            thing = words.inventory.things.get(item)
            room = thing is not None and thing.type in (FURNITURE, "room")
            return (item,) if room or item == DINING else ()
        try:
            return (item,) if words.inventory.pick(item) else ()
        except ValueError:
            return ()

    def _wrong(self, path: Path, expected: str, value: Any) -> None:
        self.fault(path, expected, value)


_NAMES: Mapping[str, str] = {
    "dishes": "a kind or group of dishes",
    "styles": f"styles of eggs among {', '.join(STYLES)}",
    "tasks": "a task of this file",
    "places": "a room, a piece of furniture, or dining",
    "selectors": "a selector that matches something in the household, as category+attribute",
}


_kept: OrderedDict[str, dict[str, tuple[Preference, ...]]] = OrderedDict()
# Datasets whose preferences a process keeps.
KEPT = 4


def preferences_of(shared: Json, inventory: Inventory, persona: str) -> tuple[Preference, ...]:
    """Return the preferences of a persona, read once per process and dataset."""
    known = _kept.setdefault(str(shared["checksum"]), {})
    if len(_kept) > KEPT:
        _kept.popitem(last=False)
    if persona not in known:
        words = RuleNames(inventory, tuple(shared["tasks"]))
        known[persona] = read_preferences(words, shared["personas"][persona]["preferences"])
    return known[persona]


def read_preferences(words: RuleNames, rows: Sequence[Json]) -> tuple[Preference, ...]:
    """Return preferences that were checked before they were stored."""

    def refuse(path: Path, expected: str, found: Any) -> None:
        raise ValueError(f"{'.'.join(map(str, path))}: expected {expected}, found {found!r}")

    reader = RuleReader(words, refuse)
    read = []
    for row in rows:
        rule = reader.read(row["rule"], ("rule",))
        assert rule is not None
        read.append(Preference(row["n"], row["dim"], row["text"], rule))
    return tuple(read)


def goal_of(payload: Json) -> HouseholdGoal:
    """Return what a task expects, from its payload."""
    return HouseholdGoal(payload["task"], tuple(payload["expects"]), payload.get("style", ""))

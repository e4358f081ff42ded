"""The design of an experiment: the matrix of its runs, read from a file.

Only the text is read here; `benchmarks.experiments.checks` finds out whether the agents, levels,
settings and roles exist.
"""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeVar

import yaml

from benchmarks.core.digests import digest
from benchmarks.core.problems import Problems, Unquoted, text_fault
from benchmarks.core.yaml_files import Path, read_yaml

LONGEST_NAME, LONGEST_WORD = 160, 120
MOST = 500
LARGEST_SEED = 2**63 - 1
HOTTEST = 2.0
ALL = "all"
TEMPERATURE, MAX_TOKENS = "temperature", "max_tokens"
PARAMETERS = (TEMPERATURE, MAX_TOKENS)
MOST_TOKENS = 10_000_000

T = TypeVar("T")
Condition = Mapping[str, Any]


@dataclass(frozen=True)
class Design:
    """A matrix of runs: agents × levels × conditions × temperatures × seeds on one dataset.

    ``levels`` empty: the first of the dataset. A condition holds the settings that differ from the
    system's defaults. A temperature of None leaves the agent as it is. Each seed is a replicate.
    ``roles`` names who fills the other roles; those left out are filled as usual. ``tasks``: None
    for all, the number of first tasks, or ids. ``cost_cap`` is for all runs together.
    ``endpoint_parameters`` are sent by agents at endpoints; scripts are left as they are.
    ``accept_undefined``: start it even if judges cannot read what an agent writes.
    """

    name: str
    dataset: str
    agents: tuple[str, ...]
    levels: tuple[str, ...] = ()
    conditions: tuple[Condition, ...] = field(default=({},))
    temperatures: tuple[float | None, ...] = (None,)
    seeds: tuple[int, ...] = (0,)
    roles: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    tasks: int | tuple[str, ...] | None = None
    cost_cap: float | None = None
    endpoint_parameters: Mapping[str, float] = field(default_factory=dict)
    accept_undefined: bool = False

    @property
    def data(self) -> dict[str, Any]:
        """Return the design as JSON values in the order of the file, without defaults."""
        fields: dict[str, Any] = {
            "name": self.name,
            "dataset": self.dataset,
            "agents": list(self.agents),
            "levels": list(self.levels),
            "conditions": [dict(one) for one in self.conditions],
            "temperatures": list(self.temperatures),
            "seeds": list(self.seeds),
            "roles": {role: list(names) for role, names in self.roles.items()},
            "tasks": list(self.tasks) if isinstance(self.tasks, tuple) else self.tasks,
            "cost_cap": self.cost_cap,
            "endpoint_parameters": dict(self.endpoint_parameters),
            "accept_undefined": self.accept_undefined,
        }
        usual = {"levels": [], "conditions": [{}], "temperatures": [None], "seeds": [0],
                 "roles": {}, "tasks": None, "cost_cap": None,
                 "endpoint_parameters": {}, "accept_undefined": False}  # fmt: skip
        return {name: value for name, value in fields.items() if value != usual.get(name, ...)}

    @property
    def text(self) -> str:
        """Return the design as YAML; reading it gives an equal design."""
        return yaml.dump(self.data, Dumper=_Dumper, sort_keys=False, allow_unicode=True, width=96)

    @property
    def digest(self) -> str:
        """Return a digest that is equal for equal designs, whatever the layout of their files."""
        return digest(self.data)


class _Dumper(yaml.SafeDumper):
    """Write lists of words and numbers on one line, everything else one per line."""


def _dump_list(dumper: yaml.SafeDumper, rows: list[Any]) -> yaml.Node:
    flat = not any(isinstance(row, list | dict) for row in rows)
    return dumper.represent_sequence("tag:yaml.org,2002:seq", rows, flow_style=flat)


_Dumper.add_representer(list, _dump_list)


def read_design(text: str) -> Design:
    """Read the design of a YAML text; raises `FileRefused` with the line of every fault."""
    document = read_yaml(text)
    return design_of(document.value, document.lines)


def design_of(data: Any, lines: Mapping[Path, int] | None = None) -> Design:
    """Read the design of plain values, such as `Design.data` returns."""
    return _DesignReader(data, lines or {}).read()


class _DesignReader:
    """Read a design field by field and collect its faults."""

    def __init__(self, data: Any, lines: Mapping[Path, int]) -> None:
        self.data, self.lines, self.problems = data, lines, Problems()

    def read(self) -> Design:
        if not isinstance(self.data, dict):
            self.problems.add("the file", "fields such as name, dataset and agents", self.data)
            self.problems.check()
        readers: dict[str, Callable[[str], Any]] = {
            "name": lambda at: self.word(self.data.get(at), (at,), LONGEST_NAME),
            "dataset": self.dataset,
            "agents": lambda at: self.several(at, self.word),
            "levels": lambda at: self.several(at, self.word, least=0),
            "conditions": lambda at: self.several(at, self.condition),
            "temperatures": lambda at: self.several(at, self.temperature),
            "seeds": lambda at: self.several(at, self.seed),
            "roles": self.roles,
            "tasks": self.tasks,
            "cost_cap": self.cap,
            "endpoint_parameters": self.parameters,
            "accept_undefined": self.flag,
        }
        for name in self.data:
            if name not in readers:
                self.fault((name,), "a field among " + ", ".join(readers), Unquoted("another one"))
        given = {
            name: read(name)
            for name, read in readers.items()
            if name in self.data or name in ("name", "dataset", "agents")
        }
        self.problems.check()
        return Design(**given)

    def fault(self, path: Path, expected: str, found: Any) -> None:
        self.problems.add(place_of(path, self.lines), expected, found)

    def word(self, value: Any, path: Path, longest: int = LONGEST_WORD) -> str:
        if isinstance(value, int | float) and not isinstance(value, bool):
            value = str(value)  # a name may look like a number
        if fault := text_fault(value, longest):
            self.fault(path, fault, value)
            return ""
        return str(value).strip()

    def several(
        self, name: str, read: Callable[[Any, Path], T], *, least: int = 1
    ) -> tuple[T, ...]:
        rows = self.data.get(name)
        if not isinstance(rows, list) or not least <= len(rows) <= MOST:
            bound = f"a list of {least} to {MOST}"
            self.fault((name,), bound, rows)
            return ()
        return tuple(read(row, (name, place)) for place, row in enumerate(rows))

    def dataset(self, name: str) -> str:
        return self.word(self.data.get(name), (name,), 2 * LONGEST_WORD)

    def condition(self, value: Any, path: Path) -> Condition:
        if not isinstance(value, dict):
            self.fault(path, "settings as name: value, or {} for none", value)
            return {}
        for name, one in value.items():
            if not isinstance(one, str | int | float | bool) or not _finite(one):
                self.fault((*path, name), "a text, a number, true or false", one)
        return dict(value)

    def temperature(self, value: Any, path: Path) -> float | None:
        if value is None:
            return None
        if not _number(value) or not 0 <= value <= HOTTEST:
            self.fault(path, f"null, or a number from 0 to {HOTTEST:g}", value)
            return None
        return float(value)

    def seed(self, value: Any, path: Path) -> int:
        if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value <= LARGEST_SEED:
            self.fault(path, "a whole number from 0", value)
            return 0
        return value

    def roles(self, name: str) -> dict[str, tuple[str, ...]]:
        value = self.data[name]
        if not isinstance(value, dict):
            self.fault((name,), "roles, each with a list of who fills it", value)
            return {}
        roles = {}
        for role, rows in value.items():
            path = (name, role)
            names = [rows] if isinstance(rows, str) else rows
            if not isinstance(names, list) or not 1 <= len(names) <= MOST:
                self.fault(path, "a list of scripts, endpoint:NAME, or human", rows)
                continue
            roles[role] = tuple(self.word(one, (*path, n)) for n, one in enumerate(names))
        return roles

    def tasks(self, name: str) -> int | tuple[str, ...] | None:
        value = self.data[name]
        if value is None or value == ALL:
            return None
        if isinstance(value, int) and not isinstance(value, bool) and value >= 1:
            return value
        if isinstance(value, list) and value:
            words = (self.word(one, (name, n)) for n, one in enumerate(value))
            return tuple(dict.fromkeys(words))
        self.fault((name,), "all, a number from 1, or a list of task ids", value)
        return None

    def parameters(self, name: str) -> dict[str, float]:
        value = self.data[name]
        if not isinstance(value, dict):
            self.fault((name,), f"parameters among {', '.join(PARAMETERS)}", value)
            return {}
        parameters: dict[str, float] = {}
        for key, one in value.items():
            if key == TEMPERATURE:
                number = self.temperature(one, (name, key))
                if one is None:
                    self.fault((name, key), f"a number from 0 to {HOTTEST:g}", one)
                elif number is not None:
                    parameters[key] = number
            elif key != MAX_TOKENS:
                known = f"a parameter among {', '.join(PARAMETERS)}"
                self.fault((name, key), known, Unquoted("another one"))
            elif isinstance(one, int) and not isinstance(one, bool) and 1 <= one <= MOST_TOKENS:
                parameters[key] = one
            else:
                self.fault((name, key), f"a whole number from 1 to {MOST_TOKENS:,}", one)
        return parameters

    def flag(self, name: str) -> bool:
        value = self.data[name]
        if not isinstance(value, bool):
            self.fault((name,), "true or false", value)
            return False
        return value

    def cap(self, name: str) -> float | None:
        value = self.data[name]
        if value is None:
            return None
        if not _number(value) or value <= 0:
            self.fault((name,), "an amount above 0, or nothing", value)
            return None
        return float(value)


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


def _number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and _finite(value)


def _finite(value: Any) -> bool:
    return not isinstance(value, float) or math.isfinite(value)

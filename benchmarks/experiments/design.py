"""The design of an experiment: the matrix of its runs, read from a file.

Only the text is read here; `benchmarks.experiments.checks` finds out whether the agents, levels,
settings and roles exist.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Annotated, Any, Literal

import yaml
from pydantic import (
    AfterValidator,
    BeforeValidator,
    Field,
    StrictBool,
    StrictInt,
    StrictStr,
    with_config,
)
from typing_extensions import TypedDict

from benchmarks.core.digests import digest
from benchmarks.core.problems import Problems
from benchmarks.core.schemas import STRICT, Checked, Number, ShortText, Whole, expects
from benchmarks.core.yaml_files import Path, place_of, read_yaml

LONGEST_NAME, LONGEST_WORD = 160, 120
MOST = 500
HOTTEST = 2.0
ALL, TEMPERATURE = "all", "temperature"
MOST_TOKENS = 10_000_000

Word = Annotated[str, ShortText(LONGEST_WORD)]
Words = tuple[Word, ...]
several = Field(min_length=1, max_length=MOST)
Value = Annotated[
    StrictStr | StrictInt | Number | StrictBool,
    expects("a text, a number, true or false"),
]
Condition = Annotated[Mapping[str, Value], expects("settings as name: value, or {} for none")]
Heat = Annotated[float, Field(strict=True, ge=0, le=HOTTEST)]
Temperature = Annotated[Heat | None, expects(f"null, or a number from 0 to {HOTTEST:g}")]
Answerers = Annotated[
    Words,
    several,
    BeforeValidator(
        lambda given: [given] if isinstance(given, str) else given,
        json_schema_input_type=Annotated[
            str | Annotated[list[str], several],
            expects("a list of scripts, endpoint:NAME, or human"),
        ],
    ),
]
Count = Annotated[int, Field(strict=True, ge=1)]
TaskIds = Annotated[
    Words, Field(min_length=1), AfterValidator(lambda ids: tuple(dict.fromkeys(ids)))
]
Tasks = Annotated[
    Count | TaskIds | None,
    BeforeValidator(
        lambda given: None if given == ALL else given,
        json_schema_input_type=Annotated[
            Literal["all"] | Count | TaskIds | None,
            expects("all, a number from 1, or a list of task ids"),
        ],
    ),
]


@with_config(STRICT)
class EndpointParameters(TypedDict, total=False):
    """What agents at endpoints send with each call."""

    temperature: Heat
    max_tokens: Annotated[int, Field(strict=True, ge=1, le=MOST_TOKENS)]


@with_config(STRICT)
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

    name: Annotated[str, ShortText(LONGEST_NAME)]
    dataset: Annotated[str, ShortText(2 * LONGEST_WORD)]
    agents: Annotated[Words, several]
    levels: Annotated[Words, Field(max_length=MOST)] = ()
    conditions: Annotated[tuple[Condition, ...], several] = field(default=({},))
    temperatures: Annotated[tuple[Temperature, ...], several] = (None,)
    seeds: Annotated[tuple[Whole, ...], several] = (0,)
    roles: Mapping[str, Answerers] = field(default_factory=dict)
    tasks: Tasks = None
    cost_cap: Annotated[
        Annotated[Number, Field(gt=0)] | None,
        expects("an amount above 0, or nothing"),
    ] = None
    endpoint_parameters: EndpointParameters = field(default_factory=EndpointParameters)
    accept_undefined: StrictBool = False

    @property
    def data(self) -> dict[str, Any]:
        """Return the design as JSON values in the order of the file, without defaults."""
        return dict(DESIGNS.write(self))

    @property
    def text(self) -> str:
        """Return the design as YAML; reading it gives an equal design."""
        return yaml.dump(self.data, Dumper=_Dumper, sort_keys=False, allow_unicode=True, width=96)

    @property
    def digest(self) -> str:
        """Return a digest that is equal for equal designs, whatever the layout of their files."""
        return digest(self.data)


DESIGNS = Checked[Design](Design)


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
    problems = Problems()
    design = DESIGNS.read(
        data,
        lambda path, expected, found: problems.add(
            place_of(path, lines or {}) or "the file", expected, found
        ),
    )
    problems.check()
    assert design is not None
    return design

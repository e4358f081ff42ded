"""The types of a design: items to choose from, entries of people's lists, and allocations."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

Part = Literal["training", "item", "gold"]
TRAINING: Part = "training"
ITEM: Part = "item"
GOLD: Part = "gold"

# As many examples as a message names before it says how many more there are.
NAMED = 5


class DesignError(ValueError):
    """A design that cannot be made as asked; nothing was made.

    ``field`` is the wish that has to change, ``problems`` one sentence each, ``options`` the ids
    that cannot be placed, where the problem lies with some and not with all.
    """

    def __init__(
        self, field: str, problems: str | Sequence[str], *, options: Iterable[int] = ()
    ) -> None:
        self.field = field
        self.problems = (problems,) if isinstance(problems, str) else tuple(problems)
        self.options = tuple(sorted(options))
        super().__init__("; ".join(self.problems))


@dataclass(frozen=True, slots=True)
class DesignOption:
    """An option to judge: a trajectory, or a task where there is no model (``""``)."""

    id: int
    task: str
    model: str = ""
    strata: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class ListEntry:
    """One option at one place of a person's list; ``position`` counts from 1."""

    option: int
    position: int
    part: Part = ITEM


@dataclass(frozen=True, slots=True)
class Allocation:
    """The lists of all annotators, in their order: annotator → ids of options.

    ``options`` are those used, by id; ``warnings`` say where a wish was met only nearly.
    """

    orders: Mapping[str, tuple[int, ...]]
    options: tuple[DesignOption, ...]
    method: str
    seed: int
    warnings: tuple[str, ...] = ()

    @property
    def assignments(self) -> int:
        return sum(len(order) for order in self.orders.values())


def index_options(options: Iterable[DesignOption]) -> dict[int, DesignOption]:
    """Return options by id in the order of ids; an id that stands for two options is refused."""
    by_id: dict[int, DesignOption] = {}
    for option in options:
        if by_id.setdefault(option.id, option) != option:
            raise DesignError("options", f"two different options have the id {option.id}")
    return dict(sorted(by_id.items()))


def name_some(things: Iterable[object]) -> str:
    """Return the first few of ``things``, and how many more there are."""
    names = [str(thing) for thing in things]
    more = len(names) - NAMED
    return ", ".join(names[:NAMED]) + (f" and {more:,} more" if more > 0 else "")

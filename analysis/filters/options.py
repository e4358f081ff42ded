"""The options of a filter, and its default where the address gives no value."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from analysis.filters.runs import FINISHED
from benchmarks.core.conditions import STANDARD
from benchmarks.models import Judging, Run


@dataclass(frozen=True)
class FilterOption:
    """One choice of a filter; ``count`` is how many runs have it."""

    value: str
    label: str
    count: int | None = None


def choose_value(
    wanted: str,
    values: Sequence[str],
    required: bool,
    weights: Mapping[str, int],
) -> tuple[str, tuple[FilterOption, ...]]:
    """Return the chosen level or condition, with all that occur; by default the one with the
    greatest weight, then the standard one, then the one with most runs.
    """
    counts = Counter(values)
    options = tuple(FilterOption(value, value or "none", count) for value, count in counts.items())
    if set(counts) == {""}:
        options = ()  # a system without levels has none to choose from
    if wanted in counts:
        return wanted, options
    if not required:
        default = ""
    else:
        default = max(
            counts,
            key=lambda value: (weights.get(value, 0), value == STANDARD, counts[value]),
            default="",
        )
    return default, options


@dataclass(frozen=True)
class RunJudging:
    """A judging of a run: one pass of judges over its turns.

    ``made_by`` is the run that carries a later one, with who judged (``roles``) and how
    (``settings``); None for the one that was made while the run was played.
    """

    pk: int
    run: int
    name: str
    made_by: int | None = None
    finished: bool = True
    data_version: int = 0
    settings: Mapping[str, Any] = field(default_factory=dict)
    roles: Mapping[str, Any] = field(default_factory=dict)

    @property
    def version(self) -> str:
        """Changes whenever its scores may have changed, beside the run that it looks at."""
        return f"{self.pk}.{self.data_version}"


def judgings_of(rows: Sequence[Run]) -> dict[int, tuple[RunJudging, ...]]:
    """Return the judgings of each run, oldest first."""
    by_run: dict[int, tuple[RunJudging, ...]] = {run.pk: () for run in rows}
    about = ("status", "data_version", "settings", "roles")
    fields = ("pk", "run", "name", "made_by", *(f"made_by__{name}" for name in about))
    judgings = Judging.objects.filter(run__in=list(by_run)).order_by("pk")
    for pk, run, name, made_by, status, version, settings, roles in judgings.values_list(*fields):
        judged = (
            RunJudging(pk, run, name)
            if made_by is None
            else RunJudging(pk, run, name, made_by, status in FINISHED, version, settings, roles)
        )
        by_run[run] = (*by_run[run], judged)
    return by_run


def choose_judging(
    rows: Sequence[Run],
    judgings: Mapping[int, Sequence[RunJudging]],
    wanted: str,
) -> tuple[str, tuple[FilterOption, ...]]:
    """Return the name of the judging that counts, empty for each run's primary one, with all
    names.
    """
    counts = Counter(judged.name for run in rows for judged in judgings[run.pk])
    options = tuple(FilterOption(name, name, count) for name, count in counts.items())
    return wanted if wanted in counts else "", options


def judging_named(run: Run, judgings: Sequence[RunJudging], name: str) -> RunJudging | None:
    """Return the newest judging of this name, or without a name the run's primary one."""
    if not name:
        return next((judging for judging in judgings if judging.pk == run.primary_judging_id), None)
    return next((judging for judging in reversed(judgings) if judging.name == name), None)

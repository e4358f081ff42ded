"""What could be chosen for a filter, and what is chosen where the address does not say."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from analysis.factor_choice import STANDARD
from benchmarks.models import Judging, Run


@dataclass(frozen=True)
class Option:
    """One choice of a filter; ``count`` is how many runs have it."""

    value: str
    label: str
    count: int | None = None


def choose_value(
    name: str,
    wanted: str,
    found: Sequence[str],
    required: bool,
    notes: list[str],
    weights: Mapping[str, int],
) -> tuple[str, tuple[Option, ...]]:
    """The chosen level or condition, with all that occur; by default the one with the greatest
    weight, then the standard one, then the one with most runs.
    """
    counts = Counter(found)
    options = tuple(Option(value, value or "none", count) for value, count in counts.items())
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
    if wanted:
        shown = f"this is {default}" if default else "all are shown"
        notes.append(f"There are no runs with {name} {wanted} here; {shown}.")
    return default, options


def judgings_of(
    rows: Sequence[Run], wanted: str, notes: list[str]
) -> tuple[dict[int, tuple[int, str]], tuple[Option, ...]]:
    """The judging of each run, by name; the primary one where no other is asked for."""
    primary = {
        run.pk: (run.primary_judging.pk, run.primary_judging.name)
        for run in rows
        if run.primary_judging is not None
    }
    found = list(
        Judging.objects.filter(run__in=[run.pk for run in rows]).values_list("pk", "run", "name")
    )
    counts = Counter(name for _, _, name in found)
    options = tuple(Option(name, name, count) for name, count in counts.items())
    if not wanted:
        return primary, options
    if wanted not in counts:
        notes.append(f"There is no judging {wanted} of these runs; shown is the primary one.")
        return primary, options
    return {run: (pk, name) for pk, run, name in found if name == wanted}, options

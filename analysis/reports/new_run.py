"""The way to runs that are not there yet: the form for new runs, filled in like those that are."""

from collections.abc import Mapping, Sequence
from typing import Any
from urllib.parse import urlencode

from analysis.filters.selection import ChosenRun, Selection
from analysis.reports import addresses
from benchmarks.roles.services import AT


def new_run_url(
    selection: Selection,
    like: Sequence[ChosenRun],
    settings: Mapping[str, Any],
    *,
    level: str = "",
) -> str:
    """The form for runs of these agents with some settings changed and all else as it was."""
    if not like:
        return addresses.address("benchmarks:run_new", {"dataset": selection.filters.dataset})
    first = like[0]
    pairs: list[tuple[str, str]] = [("dataset", selection.filters.dataset)]
    pairs += [("agents", name) for name in dict.fromkeys(run.agent for run in like)]
    wanted = level or first.level
    if wanted:
        pairs.append(("levels", wanted))
    for name, value in {**first.settings, **settings}.items():
        pairs.append((f"set_{name}", str(value).lower() if isinstance(value, bool) else str(value)))
    for role, fillers in first.roles.items():
        if role != "agent":
            pairs += [
                (f"role_{role}_{seat}", _filler(filler)) for seat, filler in enumerate(fillers, 1)
            ]
    pairs.append(("seed", str(first.seed)))
    url = addresses.address("benchmarks:run_new")
    return f"{url}?{urlencode(pairs)}" if url else ""


def _filler(filler: Mapping[str, Any]) -> str:
    """A filler as the form names it."""
    if filler.get("kind") == "endpoint":
        return f"{AT}{filler.get('endpoint', '')}"
    return str(filler.get("policy") or filler.get("kind", ""))

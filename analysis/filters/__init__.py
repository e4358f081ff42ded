"""The filters of the analysis pages, as they stand in the URL."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields
from typing import Any
from urllib.parse import urlencode

from django.http import QueryDict

# Filters that every page has, and those that some pages add; the names are those in the URL.
SHARED = ("dataset", "level", "condition", "experiment", "judging", "agents", "tasks")
LISTS = ("agents", "dimensions", "runs")
# What is kept on the way from one page on agents to another.
KEPT = (*SHARED, "runs")
# In place of an experiment: all runs of the dataset, by whichever experiment.
ALL_RUNS = "all"
# In place of the tasks that their own reference solves: all tasks.
ALL_TASKS = "all"
LONGEST = 300


@dataclass(frozen=True)
class Filters:
    """The words of an address, unchecked: `filters.selection` holds them against what is there."""

    dataset: str = ""
    level: str = ""
    condition: str = ""
    agents: tuple[str, ...] = ()
    experiment: str = ""
    judging: str = ""
    study: str = ""
    simulated: str = ""
    unblinded: str = ""
    published: str = ""
    turns: str = ""
    align: str = ""
    epsilon: str = ""
    dimensions: tuple[str, ...] = ()
    measure: str = ""
    against: str = ""
    factor: str = ""
    counted: str = ""
    among: str = ""
    beside: str = ""
    mapped: str = ""
    runs: tuple[str, ...] = ()
    by: str = ""
    profile: str = ""
    tasks: str = ""

    def only(self, names: Iterable[str]) -> "Filters":
        """Return these filters without all others."""
        return Filters(**{name: getattr(self, name) for name in names})

    def query(self, **changes: Any) -> str:
        """Return the query string of these filters, some of them changed."""
        values = {f.name: getattr(self, f.name) for f in fields(self)} | changes
        pairs = []
        for name, value in values.items():
            if isinstance(value, tuple | list):
                pairs += [(name, str(item)) for item in value]
            elif value not in ("", None):
                pairs.append((name, str(value)))
        return urlencode(pairs)


def read_filters(params: QueryDict) -> Filters:
    """Return the filters of an address; what it says beyond them is ignored."""
    given: dict[str, Any] = {}
    for field in fields(Filters):
        if field.name in LISTS:
            values = [value[:LONGEST] for value in params.getlist(field.name) if value]
            given[field.name] = tuple(dict.fromkeys(values))
        else:
            given[field.name] = params.get(field.name, "")[:LONGEST].strip()
    return Filters(**given)


def with_query(url: str, query: str | Mapping[str, Any]) -> str:
    """Return an address with a query string, or as it is where that is empty."""
    text = query if isinstance(query, str) else urlencode(query, doseq=True)
    return f"{url}?{text}" if url and text else url

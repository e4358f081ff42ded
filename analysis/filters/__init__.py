"""The filters of the analysis pages, as they stand in the URL."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, fields
from typing import Any
from urllib.parse import urlencode

from django.http import QueryDict

# Filters that every page has, and those that some pages add; the names are those in the URL.
SHARED = ("dataset", "level", "condition", "experiment", "judging", "agents", "tasks")
# What is kept on the way from one page on agents to another.
KEPT = (*SHARED, "runs")
# In place of an experiment: all runs of the dataset, by whichever experiment.
ALL_RUNS = "all"
# In place of the tasks that their own reference solves: all tasks.
ALL_TASKS = "all"
# The facet of trajectory lists that leaves out tasks which their own reference does not solve.
USABLE = "usable"
LONGEST = 300


@dataclass(frozen=True)
class PageFilter:
    """The words of a filter: its label, and the noun for one of its values in notes.

    ``choices`` are (value, label) where they are the same whatever is stored, the default first;
    else the selection has them. ``empty`` is what an empty choice means where one is offered, and
    ``empty_in_study`` what it means on pages about a study. ``instead`` says in notes what is shown
    where none of several values is known.
    """

    label: str
    choices: tuple[tuple[str, str], ...] = ()
    noun: str = ""
    empty: str = ""
    empty_in_study: str = ""
    instead: str = "all are shown"


def _value(label: str, *choices: tuple[str, str], **words: Any) -> Any:
    return field(default="", metadata={"filter": PageFilter(label, choices, **words)})


def _values(label: str, **words: Any) -> Any:
    return field(default=(), metadata={"filter": PageFilter(label, **words)})


_STUDY = "All of the study"


@dataclass(frozen=True)
class Filters:
    """The words of an address, unchecked: `filters.selection` holds them against what is there."""

    dataset: str = _value("Dataset")
    level: str = _value("Level", empty_in_study=_STUDY)
    condition: str = _value("Condition", empty_in_study=_STUDY)
    agents: tuple[str, ...] = _values("Agents", noun="agent")
    experiment: str = _value("Experiment", empty="All runs", empty_in_study=_STUDY)
    judging: str = _value("Judging", empty="Primary judging", empty_in_study="Primary judging")
    study: str = _value("Study")
    simulated: str = _value(
        "Simulated annotators", ("include", "Counted, and labelled"), ("exclude", "Left out")
    )
    unblinded: str = _value("Answers after unblinding")
    published: str = _value("Published rows", ("show", "Beside the runs"), ("hide", "Hidden"))
    turns: str = _value("Turns", ("", "Final turns"), ("all", "All turns"))
    align: str = _value("Count turns", ("", "From the first"), ("end", "From the last"))
    epsilon: str = _value(
        "ε, chosen beforehand",
        ("", "0.1: beside crowd workers"),
        ("0.15", "0.15: beside skilled annotators"),
        ("0.2", "0.2: beside experts"),
    )
    dimensions: tuple[str, ...] = _values(
        "Dimensions", noun="dimension", instead="the main ones are shown"
    )
    measure: str = _value("Measure")
    against: str = _value("Compare", noun="agent", empty="All pairs")
    factor: str = _value("What is varied", noun="factor")
    counted: str = _value(
        "Dimensions that count", ("", "As the runs count"), ("all", "All"), ("main", "Main ones")
    )
    among: str = _value(
        "Among", ("", "All trajectories"), ("refined", "Refined trajectories alone")
    )
    beside: str = _value("Beside it", noun="judging")
    mapped: str = _value(
        "Map onto people", ("", "A straight line"), ("monotone", "Any that never falls")
    )
    runs: tuple[str, ...] = _values(
        "Runs, in place of an experiment", noun="run", instead="the newest comparison is shown"
    )
    by: str = _value("By", noun="grouping")
    profile: str = _value("Agent", noun="agent", empty="The one that fails most often")
    tasks: str = _value("Tasks")

    def only(self, names: Iterable[str]) -> "Filters":
        """Return these filters without all others."""
        return Filters(**{name: getattr(self, name) for name in names})

    def query(self, **changes: Any) -> str:
        """Return the query string of these filters, some of them changed."""
        values = {name: getattr(self, name) for name in FILTERS} | changes
        pairs = []
        for name, value in values.items():
            if isinstance(value, tuple | list):
                pairs += [(name, str(item)) for item in value]
            elif value not in ("", None):
                pairs.append((name, str(value)))
        return urlencode(pairs)


FILTERS: Mapping[str, PageFilter] = {f.name: f.metadata["filter"] for f in fields(Filters)}
LISTS = tuple(f.name for f in fields(Filters) if f.default == ())


def read_filters(params: QueryDict) -> Filters:
    """Return the filters of an address; what it says beyond them is ignored."""
    given: dict[str, Any] = {}
    for name in FILTERS:
        if name in LISTS:
            values = [value[:LONGEST] for value in params.getlist(name) if value]
            given[name] = tuple(dict.fromkeys(values))
        else:
            given[name] = params.get(name, "")[:LONGEST].strip()
    return Filters(**given)


def with_query(url: str, query: str | Mapping[str, Any]) -> str:
    """Return an address with a query string, or as it is where that is empty."""
    text = query if isinstance(query, str) else urlencode(query, doseq=True)
    return f"{url}?{text}" if url and text else url

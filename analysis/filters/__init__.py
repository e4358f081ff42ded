"""The filters of the analysis pages, as they stand in the URL."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, fields
from typing import Annotated, Any
from urllib.parse import urlencode

from django.http import QueryDict
from pydantic import AfterValidator, BeforeValidator

from analysis.filters.addresses import read_address

# Filters that every page has, and those that some pages add; the names are those in the URL.
SHARED = ("dataset", "level", "condition", "experiment", "judging", "agents", "tasks")
# What is kept on the way from one page on agents to another.
KEPT = (*SHARED, "runs")
# In place of an experiment: all runs of the dataset, by whichever experiment.
ALL_RUNS = "all"
# In place of the tasks that their own reference solves: all tasks.
ALL_TASKS = "all"
# For a registered comparison of which data were deleted: the numbers of what is left.
SHOW_REST = "show"
# The facet of trajectory lists that leaves out tasks which their own reference does not solve.
USABLE = "usable"
LONGEST = 300
Word = Annotated[str, BeforeValidator(lambda text: text[:LONGEST])]
Values = Annotated[tuple[Word, ...], AfterValidator(lambda values: tuple(dict.fromkeys(values)))]


@dataclass(frozen=True)
class PageFilter:
    """The words of a filter: its label, and the noun for one of its values in notes.

    ``choices`` are (value, label) where they are the same whatever is stored, the default first;
    else the selection has them. ``empty`` is what an empty choice means where one is offered, and
    ``empty_in_study`` what it means on pages about a study. ``instead`` says in notes what is shown
    where none of several values is known.
    ``rare``: it changes how the same data are counted or which marks stand beside them, and not
    what the page is about; forms fold such filters.
    """

    label: str
    choices: tuple[tuple[str, str], ...] = ()
    noun: str = ""
    empty: str = ""
    empty_in_study: str = ""
    instead: str = "all are shown"
    rare: bool = False


def _value(label: str, *choices: tuple[str, str], **words: Any) -> Any:
    return field(default="", metadata={"filter": PageFilter(label, choices, **words)})


def _values(label: str, **words: Any) -> Any:
    return field(default=(), metadata={"filter": PageFilter(label, **words)})


_STUDY = "All of the study"


@dataclass(frozen=True)
class Filters:
    """The words of an address, unchecked: `filters.selection` holds them against what is there."""

    dataset: Word = _value("Dataset")
    level: Word = _value("Level", empty_in_study=_STUDY)
    condition: Word = _value("Condition", empty_in_study=_STUDY)
    agents: Values = _values("Agents", noun="agent")
    experiment: Word = _value("Experiment", empty="All runs", empty_in_study=_STUDY)
    judging: Word = _value(
        "Judging", empty="Primary judging", empty_in_study="Primary judging", rare=True
    )
    study: Word = _value("Study")
    simulated: Word = _value(
        "Simulated annotators",
        ("include", "Counted, and labelled"),
        ("exclude", "Left out"),
        rare=True,
    )
    unblinded: Word = _value("Answers after unblinding", rare=True)
    published: Word = _value(
        "Published rows", ("show", "Beside the runs"), ("hide", "Hidden"), rare=True
    )
    scores: Word = _value("Scores of", empty="Corrected, where people rated enough")
    turns: Word = _value("Turns", ("", "Final turns"), ("all", "All turns"))
    align: Word = _value("Count turns", ("", "From the first"), ("end", "From the last"), rare=True)
    epsilon: Word = _value(
        "ε, chosen beforehand",
        ("", "0.1: beside crowd workers"),
        ("0.15", "0.15: beside skilled annotators"),
        ("0.2", "0.2: beside experts"),
        rare=True,
    )
    dimensions: Values = _values("Dimensions", noun="dimension", instead="the main ones are shown")
    measure: Word = _value("Measure")
    against: Word = _value("Compare", noun="agent", empty="All pairs")
    factor: Word = _value("What is varied", noun="factor")
    counted: Word = _value(
        "Dimensions that count",
        ("", "As the runs count"),
        ("all", "All"),
        ("main", "Main ones"),
        rare=True,
    )
    among: Word = _value(
        "Among", ("", "All trajectories"), ("refined", "Refined trajectories alone"), rare=True
    )
    beside: Word = _value("Beside it", noun="judging")
    mapped: Word = _value(
        "Map onto people",
        ("", "A straight line"),
        ("monotone", "Any that never falls"),
        rare=True,
    )
    runs: Values = _values(
        "Runs, in place of an experiment",
        noun="run",
        instead="the newest comparison is shown",
        rare=True,
    )
    by: Word = _value("By", noun="grouping")
    profile: Word = _value("Agent", noun="agent", empty="The one that fails most often")
    tasks: Word = _value("Tasks", rare=True)
    deleted: Word = _value("Where registered data were deleted", rare=True)
    narrower: Word = _value(
        "Wished interval",
        ("", "A quarter narrower"),
        ("half", "Half as wide"),
        ("tenth", "A tenth narrower"),
        rare=True,
    )
    hour: Word = _value(
        "An hour of a rater costs, USD",
        ("", "Not known"),
        ("10", "10"),
        ("20", "20"),
        ("40", "40"),
        ("80", "80"),
        rare=True,
    )
    label_set: Word = _value("Label set", noun="label set")

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
    return read_address(Filters, params)


def with_query(url: str, query: str | Mapping[str, Any]) -> str:
    """Return an address with a query string, or as it is where that is empty."""
    text = query if isinstance(query, str) else urlencode(query, doseq=True)
    return f"{url}?{text}" if url and text else url

"""Names of files that pages export: title, subject, filters that differ from their defaults."""

import re

from django.utils.text import slugify

from analysis.filters import ALL_RUNS, FILTERS
from analysis.filters.selection import Selection
from analysis.pages.catalogue import AnalysisPage
from analysis.reports.chosen_runs import dataset_name
from benchmarks.core.conditions import STANDARD

# In characters; a figure or table, a width and an ending may follow.
LONGEST = 80
# More agents than these are counted.
MOST_NAMED = 2
# The subject of a page, and what its figures name anyway.
NOT_NAMED = frozenset({"dataset", "study", "runs", "dimensions"})
# Filters that are in the name whenever they choose something.
OPEN = frozenset({"judging", "against", "profile"})


def file_name(page: AnalysisPage, selection: Selection, part: str = "") -> str:
    """Return the name of a file without its ending, such as ``leaderboard-household-demo-mid``;
    ``part`` is the figure or table in it, which is left out where the page has its name.
    """
    words = [page.title, selection.study.name if selection.study else dataset_name(selection)]
    for name in page.filters:
        words += _filter_words(page, selection, name)
    about = "-".join(filter(None, map(_slug, words)))
    if len(about) > LONGEST:
        about = about[: LONGEST + 1].rpartition("-")[0]
    return about if about.startswith(part) else f"{about}-{part}"


def _filter_words(page: AnalysisPage, selection: Selection, name: str) -> list[str]:
    """Return a filter in words; nothing where it is at its default."""
    value = getattr(selection.filters, name)
    labels = {one.value: one.label for one in selection.options.get(name, ())}
    if name in NOT_NAMED or not value:
        return []
    if not isinstance(value, str):
        many = len(value) > MOST_NAMED
        return [f"{len(value)} {name}"] if many else [labels.get(one, one) for one in value]
    if choices := FILTERS[name].choices:
        hidden = name == "published" and page.beside_published
        return [] if value == ("hide" if hidden else choices[0][0]) else [name, value]
    return [] if value == _default(name, labels) else [labels.get(value, value)]


def _default(name: str, labels: dict[str, str]) -> str:
    """Return what is chosen without an address; a level is named wherever there are several."""
    first = next(iter(labels), "")
    if name == "condition":
        return STANDARD
    if name == "level":
        return first if len(labels) == 1 else ""
    if name == "experiment":
        return first if ALL_RUNS in labels else ""
    return "" if name in OPEN else first


def _slug(words: str) -> str:
    return slugify(re.sub(r"[^\w-]", " ", words))

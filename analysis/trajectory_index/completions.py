"""How a search that is being typed may go on: operators, and the values that a reader's
trajectories have.
"""

import re
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from analysis.trajectory_index.facets import IndexFacet
from analysis.trajectory_index.listing import Listing
from analysis.trajectory_index.operators import FACETS, NUMBERS, OPERATORS, TASK
from benchmarks.models import Task

MOST = 20
# So many tasks are read to choose those from that the reader may see.
TASKS_READ = 200
# The token that is being typed: a minus, an operator, and the start of its value.
_LAST = re.compile(r'\A(-?)([A-Za-z]*)(?:(:)"?([^"]*))?\Z')
_BOUNDS = (("<3", "less than 3"), (">=4", "4 or more"), ("2..4", "2 to 4"))


class Completion(NamedTuple):
    """The whole text of the search after a choice, and what the choice says."""

    text: str
    label: str


def completions(typed: str, listed: Listing) -> list[Completion]:
    """Return how the last word of a search may go on; none where it is a plain word."""
    start = _start_of_last(typed)
    last = _LAST.match(typed[start:])
    if last is None:
        return []
    minus, name, colon, value = last.groups(default="")
    before = typed[:start] + minus
    if not colon:
        return [
            Completion(f"{before}{known}:", _about(known, listed))
            for known in OPERATORS
            if known.startswith(name.lower())
        ]
    return [
        Completion(f"{before}{name.lower()}:{_quoted(text)}", label)
        for text, label in _values(name.lower(), value.casefold(), listed)
    ][:MOST]


def _start_of_last(typed: str) -> int:
    """Return where the last token begins: after the last blank that is not within quotes."""
    quoted, start = False, 0
    for place, sign in enumerate(typed):
        if sign == '"':
            quoted = not quoted
        elif sign.isspace() and not quoted:
            start = place + 1
    return start


def _about(name: str, listed: Listing) -> str:
    if name in NUMBERS:
        return "a number or a range"
    titles = {facet.name: facet.title for facet in listed.index_facets}
    return "a part of a task’s name" if name == TASK else titles.get(FACETS[name], "none here")


def _quoted(text: str) -> str:
    return f'"{text}"' if any(sign.isspace() for sign in text) else text


def _values(name: str, value: str, listed: Listing) -> Iterator[tuple[str, str]]:
    """Yield the values of an operator that contain what was typed, with how many rows have them."""
    if name in NUMBERS:
        yield from ((bound, words) for bound, words in _BOUNDS if bound.startswith(value))
    elif name == TASK:
        yield from _tasks(value, listed)
    elif name in FACETS:
        facet = next((one for one in listed.index_facets if one.name == FACETS[name]), None)
        yield from _offers(facet, value, listed) if facet is not None else ()


def _offers(facet: IndexFacet, value: str, listed: Listing) -> Iterator[tuple[str, str]]:
    counts = facet.count(listed.visible).tolist()
    offers = zip(counts, facet.offers, strict=True)
    for count, (code, label) in sorted(offers, key=lambda offer: -offer[0]):
        if count and (value in label.casefold() or value in code.casefold()):
            # A quote cannot be typed within quotes; the code of the choice has none.
            text = code if '"' in label or facet.name == "run" else label
            yield text, label if facet.name == "run" else f"{count:,} trajectories"


def _tasks(value: str, listed: Listing) -> Iterator[tuple[str, str]]:
    seen = set(np.unique(listed.index.columns.task[listed.visible]).tolist())
    tasks = Task.objects.filter(external_id__icontains=value).order_by("external_id", "pk")
    for pk, name, prompt in tasks.values_list("pk", "external_id", "prompt")[:TASKS_READ]:
        if pk in seen and '"' not in name:
            yield name, prompt[:60]

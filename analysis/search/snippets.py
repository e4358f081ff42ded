"""Snippets of search results: the turn with most of the words, and an excerpt of it."""

import unicodedata
from collections import defaultdict
from collections.abc import Mapping, Sequence
from itertools import islice
from typing import NamedTuple

from django.db.models import F
from django.db.models.functions import Substr

from analysis.search.index import rows_with, tasks_with, turn_of
from analysis.search.query import SearchTerm, SearchToken, read_words, spans_of
from benchmarks.models import Trajectory, Turn
from benchmarks.trajectories.turn_texts import calls_text

# Signs of an excerpt, and how many of them stand before the first word that was found.
LENGTH, LEAD = 200, 60
# In longer texts only this much is looked through for the best place.
LOOKED_AT = 300_000
PLAN, FEEDBACK, CALLS, TASK = "plan", "feedback", "calls of tools", "task"


class SnippetPart(NamedTuple):
    """A part of an excerpt; ``marked``: a word of the search."""

    text: str
    marked: bool = False


class Snippet(NamedTuple):
    """An excerpt with what was searched for. ``turn`` is None where it is from the task's prompt.

    ``place`` says whether it is from a ``plan``, from ``feedback``, from ``calls of tools`` or from
    the ``task``; ``turns`` counts the turns with any of the words.
    """

    turn: int | None
    place: str
    parts: tuple[SnippetPart, ...]
    turns: int = 0


def snippets(*, words: str, trajectory_ids: Sequence[int]) -> Mapping[int, Snippet]:
    """Return for each trajectory the excerpt that shows most of the words; none for those
    without any.

    Takes four queries, whatever the number of trajectories.
    """
    wanted, ids = read_words(words).wanted, list(dict.fromkeys(trajectory_ids))
    if not wanted or not ids:
        return {}
    terms: dict[int, dict[int, set[int]]] = defaultdict(lambda: defaultdict(set))
    for term, row in rows_with(wanted, ids):
        trajectory, turn = turn_of(row)
        terms[trajectory][turn].add(term)
    by_trajectory = {}
    best = {
        pk: min(turns, key=lambda turn: (-len(turns[turn]), turn)) for pk, turns in terms.items()
    }
    for pk, turn, text, feedback, calls in _texts(best):
        place, parts = _best_of({PLAN: text, FEEDBACK: feedback, CALLS: calls}, wanted)
        by_trajectory[pk] = Snippet(turn, place, parts, len(terms[pk]))
    rest = [pk for pk in ids if pk not in by_trajectory]
    return by_trajectory | (_from_tasks(rest, wanted) if rest else {})


def _texts(turns: Mapping[int, int]) -> Sequence[tuple[int, int, str, str, str]]:
    """Return the texts of one turn of each trajectory, or what of them is looked at."""
    if not turns:
        return []
    rows = Turn.objects.filter(trajectory__in=turns, index__in=set(turns.values())).order_by()
    # Several trajectories and several turns cross; the texts of the others stay where they are.
    wanted = [
        pk
        for pk, trajectory, turn in rows.values_list("pk", "trajectory", "index")
        if turns[trajectory] == turn
    ]
    shown = Turn.objects.filter(pk__in=wanted).values_list(
        "trajectory",
        "index",
        Substr("text", 1, LOOKED_AT),
        Substr("feedback", 1, LOOKED_AT),
        "payload__messages",
        "payload__opening",
    )
    return [
        (pk, turn, text, feedback, calls_text(messages, opening)[:LOOKED_AT])
        for pk, turn, text, feedback, messages, opening in shown
    ]


def _from_tasks(ids: Sequence[int], wanted: Sequence[SearchTerm]) -> dict[int, Snippet]:
    task_of = dict(Trajectory.objects.filter(pk__in=ids).order_by().values_list("pk", "task"))
    tasks = {task for _, task in tasks_with(wanted, sorted(set(task_of.values())))}
    rows = Trajectory.objects.filter(pk__in=ids, task__in=tasks).order_by()
    return {
        pk: Snippet(None, TASK, excerpt(prompt, wanted)[1])
        for pk, prompt in rows.values_list("pk", Substr(F("task__prompt"), 1, LOOKED_AT))
    }


def _best_of(
    texts: Mapping[str, str], wanted: Sequence[SearchTerm]
) -> tuple[str, tuple[SnippetPart, ...]]:
    """Return the place with most of the words, and its excerpt."""
    shown = {place: excerpt(text, wanted) for place, text in texts.items() if text}
    if not shown:
        return PLAN, ()
    place = max(shown, key=lambda name: shown[name][0])
    return place, shown[place][1]


def excerpt(text: str, wanted: Sequence[SearchTerm]) -> tuple[int, tuple[SnippetPart, ...]]:
    """Return how many of the terms an excerpt of a text shows, and the excerpt; its beginning if
    none.
    """
    text = unicodedata.normalize("NFC", text)
    marks = _marks(text, wanted)
    start, terms = 0, 0
    for first, mark in enumerate(marks):
        near = [m for m in islice(marks, first, None) if m[1] <= mark[0] + LENGTH - LEAD]
        if len({m[2] for m in near}) > terms:
            start, terms = mark[0], len({m[2] for m in near})
    return terms, _cut(text, marks, max(0, start - LEAD))


def _marks(text: str, wanted: Sequence[SearchTerm]) -> list[tuple[int, int, int]]:
    """Return (start, end, number of the term) of what was found, in the order of the text, without
    overlaps; of very many the first.
    """
    marks: list[tuple[int, int, int]] = []
    longest = max(len(term.words) for term in wanted)
    last: list[SearchToken] = []
    for span in spans_of(text):
        last = [*last, span][-longest:]
        for number, term in enumerate(wanted):
            size = len(term.words)
            if len(last) >= size and _fits(term, [s.word for s in last[-size:]]):
                start = last[-size].start
                if not marks or start >= marks[-1][1]:
                    marks.append((start, span.end, number))
        if len(marks) >= 200:
            break
    return marks


def _fits(term: SearchTerm, words: Sequence[str]) -> bool:
    *before, last = words
    *wanted, end = term.words
    return before == wanted and (last.startswith(end) if term.begins else last == end)


def _cut(text: str, marks: Sequence[tuple[int, int, int]], start: int) -> tuple[SnippetPart, ...]:
    """Return the excerpt from ``start`` in parts: it begins and ends at words of any usual length.

    A word at its border is left out, or kept whole where nothing shorter is left.
    """
    if start and not text[start - 1].isspace():
        ahead = (at + 1 for at in range(start, start + LEAD // 2) if text[at : at + 1].isspace())
        back = (at for at in range(start, max(0, start - LENGTH), -1) if text[at - 1].isspace())
        start = next(ahead, next(back, 0 if start <= LENGTH else start))
    end = min(len(text), start + LENGTH)
    if end < len(text) and not text[end].isspace():
        inside = (at for at in range(end, start + LENGTH // 2, -1) if text[at].isspace())
        beyond = (at for at in range(end, end + LENGTH) if at >= len(text) or text[at].isspace())
        end = next(inside, next(beyond, end))
    parts: list[SnippetPart] = [SnippetPart("… ")] if start else []
    at = start
    for begin, stop, _ in marks:
        if begin < at or begin >= end:
            continue
        stop = min(stop, max(end, begin + 1))
        parts += [SnippetPart(_flat(text[at:begin])), SnippetPart(_flat(text[begin:stop]), True)]
        at = stop
    if at < end:
        parts.append(SnippetPart(_flat(text[at:end])))
    if end < len(text):
        parts.append(SnippetPart(" …"))
    return tuple(part for part in parts if part.text)


def _flat(text: str) -> str:
    """Return a text as one line: runs of space, line breaks among them, become one space."""
    if not text.strip():
        return " " if text else ""
    words = " ".join(text.split())
    return f"{' ' * text[0].isspace()}{words}{' ' * text[-1].isspace()}"

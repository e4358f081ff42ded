"""Signs of careless work that need nobody else's answers: known answers, speed, equal answers.

Signs, not proof: a manager looks before they act. All pages read them from here, so that they name
the same people.
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from datetime import datetime
from hashlib import sha256
from itertools import groupby
from statistics import median
from typing import NamedTuple

from annotation.annotator_quality.rule import WorkRules

# Answers that a form needs before equal ones are a sign, and the share of items above which.
ENOUGH_ANSWERS, MOST_EQUAL = 4, 0.5
LONGEST_PATTERN = 80


class SubmittedWork(NamedTuple):
    """One submitted item: the active time that the browser counted (0 where none is known), its
    answers in short, and when the server showed it and took it.
    """

    active_ms: int
    pattern: str
    at: datetime | None = None
    opened: datetime | None = None


def answer_pattern(values: Iterable[int]) -> str:
    """Return the scores and choices of an item as a text; a long one as its digest.

    Two items with the same answers have the same text. Equal answers stay readable as such.
    """
    answers = list(values)
    text = ",".join(map(str, answers))
    if len(text) <= LONGEST_PATTERN:
        return text
    if _repeats(answers, 1) or _repeats(answers, 2):
        return ",".join(map(str, answers[:ENOUGH_ANSWERS]))
    return sha256(text.encode()).hexdigest()


def median_seconds(work: Sequence[SubmittedWork]) -> float | None:
    """Return the median active time of these items; None where none is known."""
    times = [item.active_ms for item in work if item.active_ms]
    return median(times) / 1000 if times else None


def elapsed_seconds(moments: Iterable[tuple[datetime | None, datetime | None]]) -> float | None:
    """Return how long a person had any of these items open, by the clock of the server.

    ``moments`` are when each was shown and when it was submitted. Times at which several were open
    count once, so that nobody gains by opening all of them first. None where no time is known.
    """
    known = sorted((start, end) for start, end in moments if start and end and start <= end)
    if not known:
        return None
    total, until = 0.0, known[0][0]
    for start, end in known:
        total += max(0.0, (end - max(start, until)).total_seconds())
        until = max(until, end)
    return total


def work_signs(
    work: Sequence[SubmittedWork], *, right: int, asked: int, rules: WorkRules
) -> list[str]:
    """Return what is striking about somebody's latest items, in the order of their positions."""
    signs = []
    if asked >= rules.answers and right < rules.least_share * asked:
        signs.append(gold_words(right, asked, rules.least_share))
    if rules.least_seconds:
        signs += _too_fast(work, rules)
    patterns = [item.pattern for item in work if item.pattern.count(",") + 1 >= ENOUGH_ANSWERS]
    if len(patterns) >= rules.items:
        signs += _equal_answers(patterns, rules.run)
    return signs


def unknown_times(work: Sequence[SubmittedWork]) -> str:
    """Return in words that too little is known of the time at work; empty where enough is.

    Neither the browser nor the server knows it of most of these items.
    """
    unknown = sum(not item.active_ms and (item.opened is None or item.at is None) for item in work)
    if not work or unknown <= len(work) / 2:
        return ""
    return f"the time at work is not known of {unknown} of {len(work)} items"


def gold_words(right: int, asked: int, share: float) -> str:
    """Return how many known answers were right, beside what the rule asks for."""
    return f"{right} of {asked} known answers right; {100 * share:.0f} % are asked for"


def _too_fast(work: Sequence[SubmittedWork], rules: WorkRules) -> list[str]:
    """Return that items were submitted faster than they can be read: by the active time that the
    browser counted, or by the server's clock, which no browser can change.
    """
    limit = rules.least_seconds
    times = [item.active_ms / 1000 for item in work if item.active_ms]
    if len(times) >= rules.items and median(times) < limit:
        return [
            f"{median(times):.1f} s for an item (median of {len(times)}); "
            f"less than {limit} s is too fast to read one"
        ]
    shown = [(item.opened, item.at) for item in work if item.opened and item.at]
    elapsed = elapsed_seconds(shown)
    if elapsed is None or len(shown) < rules.items or elapsed >= limit * len(shown):
        return []
    return [
        f"{elapsed / len(shown):.1f} s for an item by the clock of the server (mean of "
        f"{len(shown)}); less than {limit} s is too fast to read one"
    ]


def _repeats(answers: Sequence[object], period: int) -> bool:
    """Say whether each answer is the same as the one ``period`` places before it."""
    return all(now == before for before, now in zip(answers, answers[period:], strict=False))


def _equal_answers(patterns: Sequence[str], longest_run: int) -> list[str]:
    signs = []
    forms = [pattern.split(",") for pattern in patterns]
    flat = sum(_repeats(form, 1) for form in forms)
    turns = sum(_repeats(form, 2) for form in forms) - flat
    for count, words in ((flat, "one answer to all questions"), (turns, "two answers in turn")):
        if count > MOST_EQUAL * len(forms):
            signs.append(f"{words} in {count} of {len(forms)} items")
    run = max(len(list(group)) for _, group in groupby(patterns))
    _, same = Counter(patterns).most_common(1)[0]
    if run >= longest_run:
        signs.append(f"the same answers to {run} items in a row, {same} items in all")
    return signs

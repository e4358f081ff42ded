"""Signs of careless work that need nobody else's answers: known answers, speed, equal answers.

Signs, not proof: a manager looks before they act. The page on quality compares people with each
other; the thresholds for equal answers are the same there.
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from hashlib import sha256
from itertools import groupby
from statistics import median

from annotation.quality.rule import GoldRule

# Items that speed and equal answers need, and answers that a form needs for the latter.
ENOUGH, ENOUGH_ANSWERS = 10, 4
MOST_EQUAL, LONGEST_RUN = 0.5, 5
LONGEST_PATTERN = 80


@dataclass(frozen=True)
class SubmittedWork:
    """One submitted item: the active time (0 where it is not known), its answers in short, and
    when it was submitted.
    """

    active_ms: int
    pattern: str
    at: datetime | None = None


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
    times = [one.active_ms for one in work if one.active_ms]
    return median(times) / 1000 if times else None


def work_signs(
    work: Sequence[SubmittedWork], *, right: int, asked: int, rule: GoldRule, least_seconds: int
) -> list[str]:
    """Return what is striking about somebody's latest items, in the order of their positions."""
    found = []
    if rule.is_broken(right, asked):
        found.append(gold_words(right, asked, rule))
    times = [one.active_ms / 1000 for one in work if one.active_ms]
    if least_seconds and len(times) >= ENOUGH and median(times) < least_seconds:
        found.append(
            f"{median(times):.1f} s for an item (median of {len(times)}); "
            f"less than {least_seconds} s is too fast to read one"
        )
    patterns = [one.pattern for one in work if one.pattern.count(",") + 1 >= ENOUGH_ANSWERS]
    if len(patterns) >= ENOUGH:
        found += _equal_answers(patterns)
    return found


def gold_words(right: int, asked: int, rule: GoldRule) -> str:
    """Return how many known answers were right, beside what the rule asks for."""
    return f"{right} of {asked} known answers right; {100 * rule.share:.0f} % are asked for"


def _repeats(answers: Sequence[object], period: int) -> bool:
    """Say whether each answer is the same as the one ``period`` places before it."""
    return all(now == before for before, now in zip(answers, answers[period:], strict=False))


def _equal_answers(patterns: Sequence[str]) -> list[str]:
    found = []
    forms = [pattern.split(",") for pattern in patterns]
    flat = sum(_repeats(form, 1) for form in forms)
    turns = sum(_repeats(form, 2) for form in forms) - flat
    for count, words in ((flat, "one answer to all questions"), (turns, "two answers in turn")):
        if count > MOST_EQUAL * len(forms):
            found.append(f"{words} in {count} of {len(forms)} items")
    run = max(len(list(group)) for _, group in groupby(patterns))
    _, same = Counter(patterns).most_common(1)[0]
    if run >= LONGEST_RUN:
        found.append(f"the same answers to {run} items in a row, {same} items in all")
    return found

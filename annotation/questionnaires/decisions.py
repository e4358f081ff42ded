"""Decisions about single conditions, as answers of a scale whose conditions are each decided.

Such an answer is a list of ``KEY:DECISION``, one for each condition that was decided. A scale of
plain marks lists the violated conditions alone; one that is not listed counts as not violated.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence

from annotation.questionnaires.types import Scale

VIOLATED, RESPECTED, UNSURE = "violated", "not_violated", "cannot_tell"
DECISIONS: Mapping[str, str] = {
    VIOLATED: "violated",
    RESPECTED: "not violated",
    UNSURE: "cannot tell",
}


def decision_mark(key: str, decision: str) -> str:
    """Return how the decision about a condition is stored."""
    return f"{key}:{decision}"


def read_mark(mark: str) -> tuple[str, str]:
    """Return the key and the decision of a stored mark; a plain mark is a violated condition."""
    key, _, decision = mark.rpartition(":")
    return (key, decision) if decision in DECISIONS else (mark, VIOLATED)


def answer_marks(scale: Scale, keys: Sequence[str], violated: Collection[str]) -> list[str]:
    """Return the stored answer that names these conditions violated and all others not."""
    if not scale.each:
        return [key for key in keys if key in violated]
    return [decision_mark(key, VIOLATED if key in violated else RESPECTED) for key in keys]


def violated_keys(scale: Scale, marks: Iterable[str]) -> list[str]:
    """Return the conditions that an answer names violated."""
    return keys_with(scale, marks, VIOLATED)


def unsure_keys(scale: Scale, marks: Iterable[str]) -> list[str]:
    """Return the conditions about which an answer says that its rater cannot tell."""
    return keys_with(scale, marks, UNSURE)


def keys_with(scale: Scale, marks: Iterable[str], wanted: str) -> list[str]:
    """Return the conditions that an answer decides so, in its order."""
    if not scale.each:
        return list(marks) if wanted == VIOLATED else []
    return [key for key, decision in map(read_mark, marks) if decision == wanted]


def mark_text(scale: Scale, mark: str, texts: Mapping[str, str]) -> str:
    """Return a stored mark in words; ``texts`` are the conditions by key."""
    if not scale.each:
        return texts.get(mark, mark)
    key, decision = read_mark(mark)
    return f"{texts.get(key, key).removesuffix('.')}: {DECISIONS[decision]}"


def telling_marks(scale: Scale, marks: Iterable[str]) -> list[str]:
    """Return the marks that say more than that a condition is not violated, for short lists."""
    if not scale.each:
        return list(marks)
    return [mark for mark in marks if read_mark(mark)[1] != RESPECTED]


def is_complete(scale: Scale, keys: Collection[str], chosen: Collection[str] | None) -> bool:
    """Return whether an answer to a question with marks says something of each condition."""
    if chosen is None:
        return False
    return not scale.each or len(chosen) == len(keys)

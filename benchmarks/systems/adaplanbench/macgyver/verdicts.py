"""What people said of MacGyver's recorded answers, best first, with words for a page."""

from collections.abc import Mapping

VERDICTS: Mapping[str, str] = {
    "correct_efficient": "correct, efficient",
    "correct_inefficient": "correct, inefficient",
    "correct_unsolvable": "correct: says that it cannot be solved",
    "wrong_partial_correct": "wrong, partly correct",
    "wrong_entire_wrong_solution": "wrong altogether",
    "wrong_fail_solvability_status": "wrong about whether it can be solved",
}


def verdict_words(verdict: str) -> str:
    """A verdict (or several that differ, joined by slashes) in words."""
    return " / ".join(VERDICTS.get(part, part) for part in verdict.split(" / "))

"""Whether a final answer is right, and whether it was come by honestly."""

import re
from typing import Any

from benchmarks.systems.planbench_xl.values import normalise


def is_correct(expected: Any, answer: Any, match: str = "substring") -> bool:
    """Whether the expected value stands in the answer.

    ``substring`` finds it anywhere ("paid" in "unpaid", too); ``words`` wants it to begin and end
    where words do.
    """
    wanted, given = normalise(expected), normalise(answer)
    if not wanted:
        return False
    if match == "words":
        return re.search(rf"(?<!\w){re.escape(wanted)}(?!\w)", given) is not None
    return wanted in given

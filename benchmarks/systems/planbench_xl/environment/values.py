"""Values as texts: compared with records, and with the expected answer."""

import json
import re
from typing import Any

_DECORATION = re.compile("[*_`\"']")


def text_of(value: Any) -> str:
    """Return a value as the text that lookups compare: 118 and 118.0 differ, 79.99 and "79.99" do
    not.
    """
    if isinstance(value, list | dict):
        return json.dumps(value, sort_keys=True, ensure_ascii=False)
    return str(value)


def normalise(value: Any) -> str:
    """Return a value as answers are compared: lower case, no decoration, single spaces."""
    if value is None:
        return ""
    return " ".join(_DECORATION.sub("", text_of(value).lower()).split())


def is_correct(expected: Any, answer: Any, match: str = "substring") -> bool:
    """Return whether the expected value stands in the answer.

    ``substring`` finds it anywhere ("paid" in "unpaid", too); ``words`` wants it to begin and end
    where words do.
    """
    wanted, given = normalise(expected), normalise(answer)
    if not wanted:
        return False
    if match == "words":
        return re.search(rf"(?<!\w){re.escape(wanted)}(?!\w)", given) is not None
    return wanted in given

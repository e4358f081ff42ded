"""Values as texts: how arguments are compared with records, and answers with what is expected."""

import json
import re
from typing import Any

_DECORATION = re.compile("[*_`\"']")


def text_of(value: Any) -> str:
    """A value as the text that lookups compare: 118 and 118.0 differ, 79.99 and "79.99" do not."""
    if isinstance(value, list | dict):
        return json.dumps(value, sort_keys=True, ensure_ascii=False)
    return str(value)


def normalise(value: Any) -> str:
    """A value as answers are compared: lower case, no decoration, single spaces."""
    if value is None:
        return ""
    return " ".join(_DECORATION.sub("", text_of(value).lower()).split())

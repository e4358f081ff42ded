"""Read JSON request bodies, with limits and with text that every database can store."""

import json
from typing import Any

from benchmarks.core.digests import storable
from benchmarks.core.problems import json_fault


class BadBody(ValueError):
    """A body that is no JSON, or nested too deeply; the text says which."""


def read_json_body(body: bytes) -> Any:
    """Return the value of a JSON body, with U+FFFD for NUL and for halves of surrogate pairs.

    These come in by pasting, and their author cannot see them: the rest of a remark is worth more
    than a refusal that nobody can act on.
    """
    try:
        return storable(json.loads(body))
    except (ValueError, RecursionError) as error:
        raise BadBody(json_fault(error)) from None

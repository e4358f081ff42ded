"""Canonical JSON and digests: equal values have equal digests on every machine."""

import hashlib
import json
from typing import Any


def canonical_json(value: Any) -> str:
    """JSON with sorted keys and no spare spaces; NaN is refused because it is no JSON."""
    return json.dumps(
        value, sort_keys=True, ensure_ascii=False, separators=(",", ":"), allow_nan=False
    )


def digest_text(text: str) -> str:
    """128-bit BLAKE2b of the UTF-8 text, 32 hexadecimal digits."""
    return hashlib.blake2b(text.encode(), digest_size=16).hexdigest()


def digest(value: Any) -> str:
    """Digest of the canonical JSON of ``value``."""
    return digest_text(canonical_json(value))

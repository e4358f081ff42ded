"""Canonical JSON, digests and seeds: equal values have equal ones on every machine."""

import hashlib
import json
import re
from typing import Any

# NUL and halves of surrogate pairs: legal in a Python string, refused by UTF-8 or by databases.
_UNSTORABLE = re.compile("[\\x00\\ud800-\\udfff]")


def storable(value: Any) -> Any:
    """Return ``value`` (a text or JSON) with U+FFFD for the characters that no store can hold."""
    if isinstance(value, str):
        return _UNSTORABLE.sub("\ufffd", value)
    if isinstance(value, dict):
        return {storable(key): storable(item) for key, item in value.items()}
    if isinstance(value, list):
        return [storable(item) for item in value]
    return value


def canonical_json(value: Any) -> str:
    """Return JSON with sorted keys and no spare spaces; NaN is refused because it is no JSON."""
    return json.dumps(
        value, sort_keys=True, ensure_ascii=False, separators=(",", ":"), allow_nan=False
    )


def digest_text(text: str) -> str:
    """Return the 128-bit BLAKE2b of the UTF-8 text, 32 hexadecimal digits."""
    return hashlib.blake2b(text.encode(), digest_size=16).hexdigest()


def digest(value: Any) -> str:
    """Return the digest of the canonical JSON of ``value``."""
    return digest_text(canonical_json(value))


def derive_seed(*parts: object) -> int:
    """Return a 63-bit seed from the text of ``parts``; the parts are kept apart by a separator.

    The driver uses (run seed, task, profile level, trajectory attempt, step, slot), so that a call
    which has to be repeated after a crash is answered with the very same randomness.
    """
    text = "\x1f".join(str(part) for part in parts)
    value = int.from_bytes(hashlib.blake2b(text.encode(), digest_size=8).digest(), "big")
    return value >> 1

"""Seeds that depend on what is asked, never on when or in which order."""

import hashlib


def derive_seed(*parts: object) -> int:
    """A 63-bit seed from the text of ``parts``; the parts are kept apart by a separator.

    The driver uses (run seed, task, profile level, trajectory attempt, step, slot), so that a call
    which has to be repeated after a crash is answered with the very same randomness.
    """
    text = "\x1f".join(str(part) for part in parts)
    value = int.from_bytes(hashlib.blake2b(text.encode(), digest_size=8).digest(), "big")
    return value >> 1

"""Ways to damage a file: things changed, taken away or doubled, and bytes put where none belong."""

import json
import os
import random
from typing import Any

# PLANJURY_MUTATIONS=900 tries 900 of them in each test. Where that is not said, fewer meet a
# database: what is read is the same there, and storing it takes ten times as long.
TIMES = int(os.environ.get("PLANJURY_MUTATIONS", "60"))
TIMES_STORED = int(os.environ.get("PLANJURY_MUTATIONS", "20"))
DEEP: Any = json.loads("[" * 60 + "]" * 60)
ODD = [None, True, -1, 0, 1.5, 10**40, "", "x", "\x00", "\ud800", "é" * 300, [], {}, [[]], {"": 0}]
ODD += [2**63, 1e308, -1e308, float("nan"), DEEP, {"\x00": "\ud83d"}, "a\x00b", "9" * 130, 10**300]
PIECES = [b"", b"{", b"]", b'"', b"\\u0000", b"1e999", b"NaN", b"\xff", b"null,", b"9" * 400]
PIECES += [b"\x00", b"\\ud800", b"\xed\xa0\x80", b"[" * 50, b"-", b"9" * 5000, b"\n", b"1e308"]


def mutate(value: Any, rng: random.Random) -> Any:
    """A copy with one thing changed, taken away or doubled, somewhere."""
    value = json.loads(json.dumps(value))
    node = value
    for _ in range(rng.randrange(1, 9)):
        inner = node.values() if isinstance(node, dict) else node
        deeper = [child for child in inner if isinstance(child, dict | list) and child]
        if not deeper or rng.random() < 0.1:
            break
        node = rng.choice(deeper)
    key = rng.choice(list(node) if isinstance(node, dict) else range(len(node)))
    what = rng.randrange(4)
    if what == 0:
        del node[key]
    elif what == 1 and isinstance(node, list):
        node.insert(key, node[rng.randrange(len(node))])
    else:
        node[key] = rng.choice(ODD)
    return value


def spoil(sound: bytes, rng: random.Random) -> bytes:
    """Bytes with a piece put in, in the place of some others."""
    place, length = rng.randrange(len(sound)), rng.choice((0, 1, 5, 100))
    return sound[:place] + rng.choice(PIECES) + sound[place + length :]


def rot(sound: bytes, rng: random.Random) -> bytes:
    """Bytes of which a few are others, perhaps cut off."""
    damaged = bytearray(sound)
    for _ in range(rng.randrange(1, 4)):
        damaged[rng.randrange(4, len(damaged))] = rng.randrange(256)
    return bytes(damaged[: rng.choice((len(damaged), rng.randrange(5, len(damaged))))])

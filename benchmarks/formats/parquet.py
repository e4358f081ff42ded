"""Rows of Parquet files, as exports and data sets have them; needs the extra ``parquet``.

What has no fixed shape (hidden state, metadata, tools) stands in such files as JSON texts.
"""

import json
from collections.abc import Iterator, Mapping
from typing import Any

from benchmarks.core.errors import CoreError
from benchmarks.core.json_files import DEEPEST, load, too_deep
from benchmarks.core.problems import Problems, Said
from benchmarks.formats.source import Source, Spot, refused

MAGIC = b"PAR1"
# Columns of JSON texts, and the field of a message that holds what has no column.
JSON_COLUMNS = ("tools", "hidden", "stated", "scores", "undefined", "metadata")
REST = "extra"
BATCH = 64
LARGEST_GROUP = 512 << 20


class MissingExtra(CoreError):
    """A package that is only installed where it is wanted."""


def pyarrow() -> Any:
    """The package ``pyarrow``; says how to get it where it is absent."""
    try:
        import pyarrow
        import pyarrow.parquet
    except ImportError:
        raise MissingExtra(
            "Parquet needs the extra 'parquet': install it with "
            "pip install --require-hashes -r requirements/parquet.lock"
        ) from None
    return pyarrow


def rows(source: Source, problems: Problems) -> Iterator[tuple[Spot, Any]]:
    """The rows of a file, a few at a time, with their places."""
    arrow = pyarrow()
    number = 0
    try:
        with source.open() as raw, arrow.parquet.ParquetFile(raw) as file:
            for group in range(file.metadata.num_row_groups):
                if file.metadata.row_group(group).total_byte_size > LARGEST_GROUP:
                    expected = f"row groups of at most {LARGEST_GROUP >> 20} MB"
                    raise refused(source.name, expected, Said("a larger one"))
                for batch in file.iter_batches(BATCH, row_groups=[group], use_threads=False):
                    for row in batch.to_pylist():
                        spot = Spot(problems, f"{source.name}, row {number}")
                        number += 1
                        yield spot, _value(spot, row)
    except (arrow.ArrowException, OSError, ValueError, KeyError, OverflowError) as error:
        why = (str(error).splitlines() or ["none"])[0][:120]
        raise refused(source.name, "a sound Parquet file", Said(why)) from None


def _value(spot: Spot, row: Mapping[str, Any]) -> Any:
    """A row as the JSON object that it stands for."""
    try:
        made = dict(row)
        for name in JSON_COLUMNS:
            if isinstance(made.get(name), str):
                made[name] = load(made[name])
        if isinstance(made.get("messages"), list):
            made["messages"] = [_message(message) for message in made["messages"]]
        value = load(json.dumps(made, allow_nan=False))
    except (ValueError, TypeError, RecursionError) as error:
        spot.fault("values that JSON can hold", Said(str(error)[:120]))
        return None
    if too_deep(value, DEEPEST):
        spot.fault(f"at most {DEEPEST} levels", Said("more"))
        return None
    return value


def _message(message: Any) -> Any:
    if not isinstance(message, dict):
        return message
    rest = message.get(REST)
    more = load(rest) if isinstance(rest, str) else {}
    kept = {k: v for k, v in message.items() if k != REST and v is not None}
    return {**kept, **more} if isinstance(more, dict) else kept

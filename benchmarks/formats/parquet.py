"""Rows of Parquet files, read and written a few at a time; needs the extra ``parquet``.

What has no fixed shape (hidden state, metadata, tools) stands in such files as JSON texts.
"""

import json
from collections.abc import Iterable, Iterator, Mapping
from itertools import islice
from pathlib import Path
from typing import Any

from benchmarks.core.errors import CoreError
from benchmarks.core.json_files import DEEPEST, load, too_deep
from benchmarks.core.problems import Problems, Unquoted, json_fault
from benchmarks.formats.source import FileSource, Spot, refused

# Columns of JSON texts, and the field of a message that holds what has no column.
JSON_COLUMNS = ("tools", "hidden", "stated", "scores", "undefined", "metadata")
REST = "extra"
BATCH = 64
LARGEST_GROUP = 512 << 20


class MissingExtra(CoreError):
    """A package that is only installed where it is wanted."""


def pyarrow() -> Any:
    """Return the package ``pyarrow``; says how to get it where it is absent."""
    try:
        import pyarrow
        import pyarrow.parquet
    except ImportError:
        raise MissingExtra(
            "Parquet needs the extra 'parquet': install it with "
            "pip install --require-hashes -r requirements/parquet.lock"
        ) from None
    return pyarrow


def rows(source: FileSource, problems: Problems) -> Iterator[tuple[Spot, Any]]:
    """Yield the rows of a file, a few at a time, with their places."""
    arrow = pyarrow()
    number = 0
    try:
        with source.open() as raw, arrow.parquet.ParquetFile(raw) as file:
            for group in range(file.metadata.num_row_groups):
                if file.metadata.row_group(group).total_byte_size > LARGEST_GROUP:
                    expected = f"row groups of at most {LARGEST_GROUP >> 20} MB"
                    raise refused(source.name, expected, Unquoted("a larger one"))
                for batch in file.iter_batches(BATCH, row_groups=[group], use_threads=False):
                    for row in batch.to_pylist():
                        spot = Spot(problems, f"{source.name}, row {number}")
                        number += 1
                        yield spot, _value(spot, row)
    except (arrow.ArrowException, OSError, ValueError, KeyError, OverflowError) as error:
        why = (str(error).splitlines() or ["none"])[0][:120]
        raise refused(source.name, "a sound Parquet file", Unquoted(why)) from None


def _value(spot: Spot, row: Mapping[str, Any]) -> Any:
    """Return a row as the JSON object that it stands for."""
    try:
        made = dict(row)
        for name in JSON_COLUMNS:
            if isinstance(made.get(name), str):
                made[name] = load(made[name])
        if isinstance(made.get("messages"), list):
            made["messages"] = [_message(message) for message in made["messages"]]
        value = load(json.dumps(made, allow_nan=False))
    except (ValueError, TypeError, RecursionError) as error:
        spot.fault("values that JSON can hold", Unquoted(json_fault(error)))
        return None
    if too_deep(value, DEEPEST):
        spot.fault(f"at most {DEEPEST} levels", Unquoted("more"))
        return None
    return value


def _message(message: Any) -> Any:
    if not isinstance(message, dict):
        return message
    rest = message.get(REST)
    more = load(rest) if isinstance(rest, str) else {}
    kept = {k: v for k, v in message.items() if k != REST and v is not None}
    return {**kept, **more} if isinstance(more, dict) else kept


GROUP = 200
_MESSAGE_COLUMNS = (
    "role",
    "content",
    "tool_call_id",
    "name",
    "reasoning_content",
    "timestamp",
    "cost",
)


def write_trajectories(rows: Iterable[Mapping[str, Any]], target: Path) -> int:
    """Write rows of chats; how many there were."""
    return write_rows(map(_written_row, rows), target, _trajectory_schema())


def write_ratings(rows: Iterable[Mapping[str, Any]], target: Path) -> int:
    """Write rows of ratings; how many there were."""
    return write_rows(map(dict, rows), target, _rating_schema())


def write_rows(
    rows: Iterator[dict[str, Any]], target: Path, schema: Any, *, group_size: int = GROUP
) -> int:
    """Write rows of a schema, ``group_size`` of them at a time; how many there were."""
    made = pyarrow().Table.from_pylist
    groups = iter(lambda: list(islice(rows, group_size)), [])
    return write_tables((made(group, schema=schema) for group in groups), target, schema)


def write_tables(tables: Iterable[Any], target: Path, schema: Any) -> int:
    """Write tables of one schema, each as a group of rows; how many rows there were."""
    count = 0
    with target.open("xb") as file, pyarrow().parquet.ParquetWriter(file, schema) as writer:
        for table in tables:
            writer.write_table(table)
            count += table.num_rows
    return count


def _written_row(row: Mapping[str, Any]) -> dict[str, Any]:
    made = dict(row)
    for name in JSON_COLUMNS:
        made[name] = json.dumps(made[name], ensure_ascii=False)
    made["messages"] = [_written_message(message) for message in made["messages"]]
    return made


def _written_message(message: Mapping[str, Any]) -> dict[str, Any]:
    """Return a message in columns; whatever has none is one JSON text."""
    columns = {name: message[name] for name in _MESSAGE_COLUMNS if name in message}
    if not isinstance(columns.get("content"), str | None):
        del columns["content"]
    columns |= {name: message[name] for name in ("hidden", "tool_calls") if name in message}
    if any("requestor" in call for call in columns.get("tool_calls") or ()):
        del columns["tool_calls"]  # the column has no place for who called
    rest = {name: value for name, value in message.items() if name not in columns}
    return {**columns, REST: json.dumps(rest, ensure_ascii=False) if rest else None}


def _trajectory_schema() -> Any:
    arrow = pyarrow()
    text, whole, number = arrow.string(), arrow.int64(), arrow.float64()
    function = arrow.struct([("name", text), ("arguments", text)])
    call = arrow.struct([("id", text), ("type", text), ("function", function)])
    message = arrow.struct(
        [(name, number if name == "cost" else text) for name in _MESSAGE_COLUMNS]
        + [("hidden", arrow.bool_()), ("tool_calls", arrow.list_(call)), (REST, text)]
    )
    score = arrow.struct(
        [("turn", whole), ("dimension", text), ("value", number), ("reason", text)]
        + [("judge", text), ("kind", text), ("seat", text), ("judging", text)]
        + [("replicate", whole)]
    )
    return arrow.schema(
        [("planjury", whole), ("task_id", text), ("attempt", whole), ("model", text)]
        + [("category", text), ("prompt", text), ("system", text)]
        + [("messages", arrow.list_(message))]
        + [(name, text) for name in JSON_COLUMNS]
        + [("reward", number), ("rubric", arrow.list_(score)), ("termination", text)]
        + [("started", text), ("finished", text), ("seed", whole)]
    )


def _rating_schema() -> Any:
    arrow = pyarrow()
    text, whole = arrow.string(), arrow.int64()
    return arrow.schema(
        [("task_id", text), ("attempt", whole), ("study", text), ("rater", text)]
        + [("simulated", arrow.bool_()), ("turn", whole), ("question", text)]
        + [("dimension", text), ("value", whole), ("text", text)]
        + [("subject", text), ("label", text), ("chosen", arrow.list_(text)), ("comment", text)]
    )

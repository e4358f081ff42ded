"""Rows of exports as Parquet files, a few at a time; needs the extra ``parquet``."""

import json
from collections.abc import Iterable, Iterator, Mapping
from itertools import islice
from pathlib import Path
from typing import Any

from benchmarks.formats.parquet import JSON_COLUMNS, REST, pyarrow

GROUP = 200
_MESSAGE = ("role", "content", "tool_call_id", "name", "reasoning_content", "timestamp", "cost")


def write_trajectories(rows: Iterable[Mapping[str, Any]], target: Path) -> int:
    """Write rows of chats; how many there were."""
    return write_rows(map(_trajectory, rows), target, _trajectory_schema())


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


def _trajectory(row: Mapping[str, Any]) -> dict[str, Any]:
    made = dict(row)
    for name in JSON_COLUMNS:
        made[name] = json.dumps(made[name], ensure_ascii=False)
    made["messages"] = [_message(message) for message in made["messages"]]
    return made


def _message(message: Mapping[str, Any]) -> dict[str, Any]:
    """A message in columns; whatever has none is one JSON text."""
    columns = {name: message[name] for name in _MESSAGE if name in message}
    if not isinstance(columns.get("content"), str | None):
        del columns["content"]
    columns |= {name: message[name] for name in ("hidden", "tool_calls") if name in message}
    rest = {name: value for name, value in message.items() if name not in columns}
    return {**columns, REST: json.dumps(rest, ensure_ascii=False) if rest else None}


def _trajectory_schema() -> Any:
    arrow = pyarrow()
    text, whole, number = arrow.string(), arrow.int64(), arrow.float64()
    function = arrow.struct([("name", text), ("arguments", text)])
    call = arrow.struct([("id", text), ("type", text), ("function", function)])
    message = arrow.struct(
        [(name, number if name == "cost" else text) for name in _MESSAGE]
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

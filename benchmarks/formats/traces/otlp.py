"""OTLP/JSON, the files of OpenTelemetry: one document, or a line for each export."""

from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from typing import Any

from benchmarks.core.problems import Problems
from benchmarks.formats.shape import shape_of
from benchmarks.formats.source import FileSource, Spot, read_line

SPANS, LOGS = "resourceSpans", "resourceLogs"
# Field of a document, of a resource, of a scope.
INSIDE = {SPANS: ("scopeSpans", "spans"), LOGS: ("scopeLogs", "logRecords")}
_LAST_MOMENT = 253_402_300_799 * 10**9  # the end of the year 9999


def resources(source: FileSource, problems: Problems) -> Iterator[tuple[Spot, str, Any]]:
    if shape_of(source).kind == "lines":
        for number, line in source.lines():
            before = problems.total
            value = read_line(source.name, number, line, problems)
            if problems.total > before:
                continue
            spot = Spot(problems, f"{source.name}, line {number}")
            if not isinstance(value, dict):
                spot.fault(f"an object with {SPANS} or {LOGS}", value)
                continue
            for name in INSIDE:
                for at, resource in members(spot, value, name):
                    yield at, name, resource
        return
    top = Spot(problems, source.name)
    for name, index, item in source.entries():
        if name not in INSIDE:
            continue
        if index is None:
            top.at(name).fault("a list", item)
        else:
            yield top.at(name).at(index), name, item


def members(spot: Spot, holder: Any, name: str) -> Iterator[tuple[Spot, Any]]:
    if not isinstance(holder, dict):
        spot.fault(f"an object with {name}", holder)
        return
    given = holder.get(name, [])
    if not isinstance(given, list):
        spot.at(name).fault("a list", given)
        return
    for index, one in enumerate(given):
        yield spot.at(name).at(index), one


def span_id(spot: Spot, row: Mapping[str, Any], name: str) -> str:
    given = row.get(name)
    if not isinstance(given, str) or not given or len(given) > 200:
        spot.at(name).fault("an id: a text", given)
        return ""
    return given


def moment(spot: Spot, row: Mapping[str, Any], name: str) -> int:
    """Return nanoseconds since 1970; protobuf writes them as a text."""
    given = row.get(name, 0)
    if isinstance(given, str) and given.isascii() and given.isdigit() and len(given) < 20:
        given = int(given)
    if isinstance(given, bool) or not isinstance(given, int) or not 0 <= given <= _LAST_MOMENT:
        spot.at(name).fault("nanoseconds since 1970", given)
        return 0
    return given


def attributes(spot: Spot, row: Mapping[str, Any]) -> dict[str, Any]:
    named = {}
    for at, one in members(spot, row, "attributes"):
        key = one.get("key") if isinstance(one, dict) else None
        if not isinstance(key, str):
            at.fault("an attribute: an object with key and value", one)
            continue
        named[key] = _value(at.at("value"), one.get("value"))
    return named


def _value(spot: Spot, given: Any) -> Any:
    """Return a value of OTLP as JSON has it; recursion is bounded, as no file is nested more
    deeply.
    """
    if given is None or given == {}:
        return None
    if not isinstance(given, dict) or len(given) != 1:
        spot.fault("a value: an object with one field, such as stringValue", given)
        return None
    ((kind, value),) = given.items()
    if kind == "arrayValue":
        return [_value(at, one) for at, one in members(spot.at(kind), value, "values")]
    if kind == "kvlistValue":
        return {
            str(one.get("key")): _value(at, one.get("value"))
            for at, one in members(spot.at(kind), value, "values")
            if isinstance(one, dict)
        }
    if kind == "intValue" and isinstance(value, str):
        digits = value.removeprefix("-")
        return int(value) if digits.isascii() and digits.isdigit() and len(digits) < 20 else value
    return value


def iso(moment: int) -> str:
    return datetime.fromtimestamp(moment // 10**9, UTC).isoformat() if moment else ""

"""The format of the log: lines or JSON, with request ids, and without needless traces."""

import json
import logging
from datetime import UTC, datetime
from typing import Any

from benchmarks.outages import BROKER, note_outage, outage_behind
from benchmarks.request_ids import current_request_id

# What every record has, by the names of logging; anything else was given with ``extra``.
_USUAL = frozenset(vars(logging.makeLogRecord({}))) | {"message", "asctime", "request_id"}
_EXTRA = frozenset({"method", "path", "status", "milliseconds", "user", "address", "bytes"})


class AddRequestId(logging.Filter):
    """A filter that adds to each record the request that it belongs to.

    Django logs a refused request after the middleware, with the request beside the record.
    """

    def filter(self, record: logging.LogRecord) -> bool:
        """Keep every record."""
        request = getattr(record, "request", None)
        record.request_id = current_request_id() or getattr(request, "request_id", "")
        return True


class LineFormatter(logging.Formatter):
    """One line for people, with the request id where there is one."""

    def format(self, record: logging.LogRecord) -> str:
        """Return the text of a record."""
        line = super().format(record)
        request = getattr(record, "request_id", "")
        if not request:
            return line
        first, newline, rest = line.partition("\n")
        return f"{first} [{request}]{newline}{rest}"


class JsonFormatter(logging.Formatter):
    """One JSON object in a line, for programs that collect logs."""

    def format(self, record: logging.LogRecord) -> str:
        """Return the text of a record."""
        entry: dict[str, Any] = {
            "time": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname,
            "logger": record.name,
            "message": record.getMessage(),
            "process": record.process,
            "thread": record.threadName,
        }
        if request := getattr(record, "request_id", ""):
            entry["request"] = request
        entry |= {name: vars(record)[name] for name in _EXTRA if name in vars(record)}
        if record.exc_info:
            entry["exception"] = self.formatException(record.exc_info)
        elif record.exc_text:
            entry["exception"] = record.exc_text
        return json.dumps(entry, default=str, ensure_ascii=False)


class FaultsOfUsersInOneLine(logging.Filter):
    """A filter that takes the trace from what Django logs of a refused request (4xx)."""

    def filter(self, record: logging.LogRecord) -> bool:
        """Keep every record."""
        status = getattr(record, "status_code", None)
        if (status is not None and 400 <= status < 500) or record.name.startswith(
            "django.security"
        ):
            record.exc_info = record.exc_text = None
        return True


class OutagesOnce(logging.Filter):
    """A filter of handlers: of an outage the log says when it begins, not each failed request.

    It is a filter of the handler, so that records of all loggers pass it: those of requests, of
    background work and of Celery.
    """

    def filter(self, record: logging.LogRecord) -> bool:
        """Drop records of failures behind which there is an outage that was reported."""
        error = record.exc_info[1] if isinstance(record.exc_info, tuple) else None
        outage = outage_behind(error) if error is not None else None
        if outage is None:
            return not _is_celerys(record)
        note_outage(outage.code, f"{outage.reason}: {_first_line(error)}")
        return False


def _is_celerys(record: logging.LogRecord) -> bool:
    """Return whether Celery says that it lost its broker or tries again, which is reported once."""
    if not record.name.startswith("celery.worker.consumer") or record.levelno < logging.WARNING:
        return False
    if not record.getMessage().startswith(_CELERYS):
        return False
    note_outage(BROKER, "the worker cannot reach the broker; it goes on trying")
    return True


_CELERYS = ("consumer: Cannot connect", "consumer: Connection to broker lost")


def _first_line(error: BaseException | None) -> str:
    return next(iter(str(error).splitlines()), type(error).__name__)

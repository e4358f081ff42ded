"""The id of the request for which something is done, in the web server and in workers.

A message to a worker carries the id of the request that sent it, so one search in the logs of all
machines finds what a request led to.
"""

import re
import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

from celery.signals import before_task_publish, task_postrun, task_prerun

HEADER = "planjury_request_id"
# What a proxy may give as an id.
_GIVEN = re.compile(r"[A-Za-z0-9._-]{8,64}")
_current: ContextVar[str] = ContextVar("request_id", default="")


def current_request_id() -> str:
    """Return the id of the request that this thread works for, or nothing."""
    return _current.get()


@contextmanager
def request_id_as(given: str) -> Iterator[str]:
    """Work for a request within the block, under its proxy's id if that is well-formed."""
    token = _current.set(given if _GIVEN.fullmatch(given) else secrets.token_hex(8))
    try:
        yield _current.get()
    finally:
        _current.reset(token)


def forget_request_id() -> None:
    """Work for no request any more."""
    _current.set("")


@before_task_publish.connect
def send_id(headers: dict[str, Any] | None = None, **about: object) -> None:
    """Put the id of the current request into a message."""
    if headers is not None and _current.get():
        headers[HEADER] = _current.get()


@task_prerun.connect
def take_id(task: Any = None, **about: object) -> None:
    """Work for the request whose message this is."""
    request = getattr(task, "request", None)
    given = getattr(request, HEADER, None) or (getattr(request, "headers", None) or {}).get(HEADER)
    if not getattr(request, "is_eager", False):
        _current.set(str(given or ""))


@task_postrun.connect
def drop_id(task: Any = None, **about: object) -> None:
    """Work for no request any more."""
    if not getattr(getattr(task, "request", None), "is_eager", False):
        _current.set("")

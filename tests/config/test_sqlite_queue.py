"""Those who write to SQLite wait for each other in turn."""

import sqlite3
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from django.db import OperationalError, connections, transaction

from config.settings.services import sqlite_database
from config.sqlite import base

# Seconds: for who is to wait in vain, and for who is to get in however busy the machine is.
SHORT, LONG = 0.3, 60
Connect = Callable[..., base.DatabaseWrapper]


@pytest.fixture
def connect(tmp_path: Path, django_db_blocker: Any) -> Iterator[Connect]:
    """Connections to one new database, each as a thread of its own would have it."""
    opened: list[base.DatabaseWrapper] = []

    def make(patience: float = LONG) -> base.DatabaseWrapper:
        given: dict[str, Any] = sqlite_database(tmp_path / "queue.sqlite3")
        given["OPTIONS"] = {**given["OPTIONS"], "timeout": patience}
        settings = connections.configure_settings({"default": given})["default"]
        opened.append(base.DatabaseWrapper(settings, "default"))
        opened[-1].inc_thread_sharing()
        return opened[-1]

    with django_db_blocker.unblock():
        with make().cursor() as cursor:
            cursor.execute("CREATE TABLE counted (n INTEGER)")
            cursor.execute("INSERT INTO counted VALUES (0)")
        yield make
        for each in opened:
            each.close()


class atomic:
    """``transaction.atomic`` over a connection that has no alias."""

    def __init__(self, wrapper: base.DatabaseWrapper) -> None:
        self.wrapper = wrapper

    def __enter__(self) -> base.DatabaseWrapper:
        self.wrapper.set_autocommit(False, force_begin_transaction_with_broken_autocommit=True)
        return self.wrapper

    def __exit__(self, kind: object, *_: object) -> None:
        try:
            if kind is None:
                self.wrapper.commit()
            else:
                self.wrapper.rollback()
        finally:
            self.wrapper.set_autocommit(True)


def count(wrapper: base.DatabaseWrapper) -> int:
    with wrapper.cursor() as cursor:
        (found,) = cursor.execute("SELECT n FROM counted").fetchone()
    return int(found)


def add_one(wrapper: base.DatabaseWrapper) -> None:
    with wrapper.cursor() as cursor:
        cursor.execute("UPDATE counted SET n = n + 1")


def test_many_write_at_once_and_each_once(connect: Connect) -> None:
    def work(_: int) -> None:
        wrapper = connect()
        for _ in range(10):
            with atomic(wrapper):
                add_one(wrapper)

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(work, range(8)))
    assert count(connect()) == 80


@pytest.mark.parametrize("end", ["commit", "rollback", "close"])
def test_the_next_one_is_let_in(connect: Connect, end: str) -> None:
    first, second = connect(), connect()
    if end == "close":
        first.set_autocommit(False, force_begin_transaction_with_broken_autocommit=True)
        add_one(first)
        first.close()
    else:
        try:
            with atomic(first):
                add_one(first)
                if end == "rollback":
                    raise ZeroDivisionError
        except ZeroDivisionError:
            pass
    with atomic(second):
        add_one(second)
    assert count(second) == (2 if end == "commit" else 1)


def test_whoever_waits_too_long_is_told_and_holds_nobody_up(
    connect: Connect,
) -> None:
    first, second = connect(), connect(SHORT)
    with atomic(first):
        add_one(first)
        began = time.monotonic()
        with pytest.raises(OperationalError, match="locked"), atomic(second):
            pass
        assert time.monotonic() - began >= SHORT
    with atomic(second):
        add_one(second)
    assert count(first) == 2


def test_another_process_is_waited_for(connect: Connect, tmp_path: Path) -> None:
    """It stands in no queue of ours: SQLite's own lock is what keeps us out."""
    other = sqlite3.connect(
        tmp_path / "queue.sqlite3", isolation_level=None, check_same_thread=False
    )
    other.execute("BEGIN IMMEDIATE")
    with pytest.raises(OperationalError, match="locked"), atomic(connect(SHORT)):
        pass
    wrapper = connect()
    threading.Timer(SHORT, other.rollback).start()
    with atomic(wrapper):
        add_one(wrapper)
    assert count(wrapper) == 1


@pytest.mark.parametrize("ends", ["before", "too late"])
def test_a_statement_without_a_transaction_waits_as_well(
    connect: Connect, tmp_path: Path, ends: str
) -> None:
    other = sqlite3.connect(
        tmp_path / "queue.sqlite3", isolation_level=None, check_same_thread=False
    )
    other.execute("BEGIN IMMEDIATE")
    wrapper = connect(LONG if ends == "before" else SHORT)
    assert count(wrapper) == 0  # who reads waits for nobody
    if ends == "before":
        threading.Timer(SHORT, other.rollback).start()
        add_one(wrapper)
        assert count(wrapper) == 1
    else:
        began = time.monotonic()
        with pytest.raises(OperationalError, match="locked"):
            add_one(wrapper)
        assert time.monotonic() - began >= SHORT


@pytest.mark.django_db(transaction=True)
def test_the_product_uses_it() -> None:
    if connections["default"].vendor != "sqlite":
        pytest.skip("PostgreSQL lets many write at once")
    wrapper = connections["default"]
    assert isinstance(wrapper, base.DatabaseWrapper)
    with transaction.atomic():
        with transaction.atomic():
            assert wrapper.connection.queue.locked()
        assert wrapper.connection.queue.locked()
    assert not wrapper.connection.queue.locked()

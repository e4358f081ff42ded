"""Doing things at once, as workers and people do."""

import threading
from collections.abc import Callable

from django.db import connection


def in_threads(work: Callable[[int], object], threads: int) -> None:
    """Run ``work`` in several threads at once, each with a connection of its own."""
    gate = threading.Barrier(threads)
    errors: list[BaseException] = []

    def run(number: int) -> None:
        try:
            gate.wait()
            work(number)
        except BaseException as error:
            errors.append(error)
        finally:
            connection.close()

    started = [threading.Thread(target=run, args=(n,)) for n in range(threads)]
    for thread in started:
        thread.start()
    for thread in started:
        thread.join()
    assert errors == []

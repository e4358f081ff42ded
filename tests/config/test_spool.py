"""The folder of messages behind the embedded broker."""

import multiprocessing
import os
import signal
import threading
import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from config.spool import Spool

QUEUE = "work"


@pytest.fixture
def spool(tmp_path: Path) -> Iterator[Spool]:
    with closing(Spool(tmp_path)) as spool:
        yield spool


@pytest.fixture
def other(spool: Spool) -> Iterator[Spool]:
    """Another reader of the same folder."""
    with closing(Spool(spool.folder)) as other:
        yield other


def files_of(folder: Path) -> list[str]:
    return [path.name for path in folder.rglob("*.msg")]


def test_messages_come_in_the_order_they_were_put(spool: Spool) -> None:
    for body in (b"1", b"2", b"3"):
        spool.put(QUEUE, body)
    assert spool.size(QUEUE) == 3
    bodies = [held.body for _ in range(3) if (held := spool.take(QUEUE))]
    assert bodies == [b"1", b"2", b"3"]
    assert spool.take(QUEUE) is None


def test_a_queue_gives_no_message_of_another(spool: Spool) -> None:
    spool.put("a.work", b"other")
    assert spool.take("work") is None
    assert spool.size("work") == 0
    assert spool.size("a.work") == 1


@pytest.mark.parametrize("name", ["", "../x", "a/b", "a~b", ".a", "a b"])
def test_a_name_that_could_leave_the_folder_is_refused(spool: Spool, name: str) -> None:
    with pytest.raises(ValueError, match="cannot be the name of a queue"):
        spool.put(name, b"x")


def test_a_message_is_kept_until_it_is_done_with(spool: Spool) -> None:
    spool.put(QUEUE, b"x")
    held = spool.take(QUEUE)
    assert held is not None
    assert len(files_of(spool.folder)) == 1
    spool.done(held)
    assert files_of(spool.folder) == []
    spool.done(held)  # twice does no harm


def test_a_message_given_back_is_first_again(spool: Spool) -> None:
    spool.put(QUEUE, b"1")
    spool.put(QUEUE, b"2")
    held = spool.take(QUEUE)
    assert held is not None
    spool.give_back(held)
    again = spool.take(QUEUE)
    assert again is not None
    assert again.body == b"1"


def test_two_readers_never_get_the_same_message(spool: Spool) -> None:
    for number in range(100):
        spool.put(QUEUE, str(number).encode())
    taken: list[bytes] = []

    def read() -> None:
        with closing(Spool(spool.folder)) as mine:
            while held := mine.take(QUEUE):
                taken.append(held.body)
                mine.done(held)

    threads = [threading.Thread(target=read) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(map(int, taken)) == list(range(100))


def test_no_reader_sees_half_a_message(spool: Spool, other: Spool) -> None:
    body = b"x" * 200_000

    def write() -> None:
        for _ in range(100):
            spool.put(QUEUE, body)

    writer = threading.Thread(target=write)
    writer.start()
    sizes = []
    while len(sizes) < 100:
        if held := other.take(QUEUE):
            sizes.append(len(held.body))
            other.done(held)
    writer.join()
    assert set(sizes) == {len(body)}


def test_the_living_keep_what_they_hold(spool: Spool, other: Spool) -> None:
    spool.put(QUEUE, b"x")
    assert spool.take(QUEUE) is not None
    assert other.recover() == 0
    assert other.take(QUEUE) is None


def test_what_the_dead_held_is_given_back(spool: Spool) -> None:
    spool.put(QUEUE, b"x")
    fork = multiprocessing.get_context("fork")
    taken = fork.Event()

    def take_and_hang() -> None:
        spool.take(QUEUE)
        taken.set()
        time.sleep(60)

    process = fork.Process(target=take_and_hang)
    process.start()
    assert taken.wait(10)
    assert spool.recover() == 0
    os.kill(process.pid or 0, signal.SIGKILL)
    process.join()
    assert spool.recover() == 1
    held = spool.take(QUEUE)
    assert held is not None
    assert held.body == b"x"
    assert len(list((spool.folder / "held").iterdir())) == 1


def test_a_place_without_a_lock_is_cleared(spool: Spool) -> None:
    """A sweep that was killed between its steps leaves one."""
    spool.put(QUEUE, b"x")
    place = spool.folder / "held" / "left"
    place.mkdir()
    message = next((spool.folder / "ready").iterdir())
    message.rename(place / message.name)
    assert spool.recover() == 1
    assert not place.exists()
    assert spool.size(QUEUE) == 1


def test_a_fork_does_not_give_back_what_its_parent_holds(spool: Spool) -> None:
    spool.put(QUEUE, b"x")
    assert spool.take(QUEUE) is not None
    process = multiprocessing.get_context("fork").Process(target=spool.close)
    process.start()
    process.join()
    assert spool.size(QUEUE) == 0


def test_closing_gives_everything_back(spool: Spool) -> None:
    spool.put(QUEUE, b"x")
    assert spool.take(QUEUE) is not None
    spool.close()
    assert spool.size(QUEUE) == 1
    assert list((spool.folder / "held").iterdir()) == []
    assert spool.take(QUEUE) is not None  # and it can begin anew


def test_old_drafts_are_deleted(spool: Spool) -> None:
    old, new = spool.folder / "draft" / "old", spool.folder / "draft" / "new"
    old.touch()
    new.touch()
    os.utime(old, (0, 0))
    spool.recover()
    assert not old.exists()
    assert new.exists()


def test_purging_counts_what_it_deletes(spool: Spool) -> None:
    spool.put(QUEUE, b"x")
    spool.put(QUEUE, b"y")
    spool.put("other", b"z")
    assert spool.purge(QUEUE) == 2
    assert spool.size(QUEUE) == 0
    assert spool.size("other") == 1

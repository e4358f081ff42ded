"""The folder of messages behind the embedded broker, and what wakes its readers up."""

import multiprocessing
import os
import signal
import threading
import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from config.broker import Spool, WakeUp

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
    bodies = [held.read_bytes() for _ in range(3) if (held := spool.take(QUEUE))]
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
    spool.finish(held)
    assert files_of(spool.folder) == []
    spool.finish(held)  # twice does no harm


def test_a_message_given_back_is_first_again(spool: Spool) -> None:
    spool.put(QUEUE, b"1")
    spool.put(QUEUE, b"2")
    held = spool.take(QUEUE)
    assert held is not None
    spool.give_back(held)
    again = spool.take(QUEUE)
    assert again is not None
    assert again.read_bytes() == b"1"


def test_two_readers_never_get_the_same_message(spool: Spool) -> None:
    for number in range(100):
        spool.put(QUEUE, str(number).encode())
    taken: list[bytes] = []

    def read() -> None:
        with closing(Spool(spool.folder)) as mine:
            while held := mine.take(QUEUE):
                taken.append(held.read_bytes())
                mine.finish(held)

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
            sizes.append(len(held.read_bytes()))
            other.finish(held)
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
    assert taken.wait(60)
    assert spool.recover() == 0
    os.kill(process.pid or 0, signal.SIGKILL)
    process.join()
    assert spool.recover() == 1
    held = spool.take(QUEUE)
    assert held is not None
    assert held.read_bytes() == b"x"
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


LONG = 20.0


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "bell"


def waited(pipe: WakeUp, seconds: float = LONG) -> float:
    began = time.monotonic()
    pipe.wait(seconds)
    return time.monotonic() - began


def test_who_waits_is_woken(path: Path) -> None:
    pipe = WakeUp(path)
    threading.Timer(0.1, WakeUp(path).send).start()
    assert waited(pipe) < LONG / 2
    pipe.close()


def test_nobody_waits_for_ever(path: Path) -> None:
    pipe = WakeUp(path)
    assert waited(pipe, 0.05) >= 0.05
    pipe.close()


def test_wake_ups_are_kept_for_whoever_has_waited_before_and_heard_once(path: Path) -> None:
    pipe = WakeUp(path)
    pipe.wait(0)
    for _ in range(3):
        WakeUp(path).send()
    assert waited(pipe) < LONG / 2
    assert waited(pipe, 0.05) >= 0.05
    pipe.close()


def test_waking_nobody_is_harmless(path: Path) -> None:
    WakeUp(path).send()
    assert path.is_fifo()


def test_a_pipe_that_nobody_empties_still_wakes(path: Path) -> None:
    pipe = WakeUp(path)
    pipe.wait(0)
    for _ in range(70_000):  # more than a pipe holds
        pipe.send()
    assert waited(pipe) < LONG / 2
    pipe.close()


def test_without_pipes_it_looks_again_soon(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*given: object) -> None:
        raise OSError("no pipes here")

    monkeypatch.setattr(os, "mkfifo", refuse)
    pipe = WakeUp(path)
    pipe.send()
    assert waited(pipe) < LONG / 2


def test_several_wait(path: Path) -> None:
    readers = [WakeUp(path), WakeUp(path)]
    done = threading.Barrier(3)

    def listen(pipe: WakeUp) -> None:
        pipe.wait(LONG)
        done.wait(LONG)

    for pipe in readers:
        threading.Thread(target=listen, args=(pipe,), daemon=True).start()
    deadline = time.monotonic() + LONG
    while done.n_waiting < 2 and time.monotonic() < deadline:
        readers[0].send()
        time.sleep(0.01)
    assert done.n_waiting == 2
    done.wait(LONG)
    for pipe in readers:
        pipe.close()

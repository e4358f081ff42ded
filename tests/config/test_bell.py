"""The bell that wakes readers of the embedded broker."""

import os
import threading
import time
from pathlib import Path

import pytest

from config.bell import Bell

LONG = 20.0


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "bell"


def waited(bell: Bell, seconds: float = LONG) -> float:
    began = time.monotonic()
    bell.wait(seconds)
    return time.monotonic() - began


def test_who_waits_is_woken(path: Path) -> None:
    bell = Bell(path)
    threading.Timer(0.1, Bell(path).ring).start()
    assert waited(bell) < LONG / 2
    bell.close()


def test_nobody_waits_for_ever(path: Path) -> None:
    bell = Bell(path)
    assert waited(bell, 0.05) >= 0.05
    bell.close()


def test_rings_are_kept_for_whoever_has_waited_before_and_heard_once(path: Path) -> None:
    bell = Bell(path)
    bell.wait(0)
    for _ in range(3):
        Bell(path).ring()
    assert waited(bell) < LONG / 2
    assert waited(bell, 0.05) >= 0.05
    bell.close()


def test_ringing_for_nobody_is_harmless(path: Path) -> None:
    Bell(path).ring()
    assert path.is_fifo()


def test_a_bell_that_nobody_empties_still_rings(path: Path) -> None:
    bell = Bell(path)
    bell.wait(0)
    for _ in range(70_000):  # more than a pipe holds
        bell.ring()
    assert waited(bell) < LONG / 2
    bell.close()


def test_without_pipes_it_looks_again_soon(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*given: object) -> None:
        raise OSError("no pipes here")

    monkeypatch.setattr(os, "mkfifo", refuse)
    bell = Bell(path)
    bell.ring()
    assert waited(bell) < LONG / 2


def test_several_wait(path: Path) -> None:
    bells = [Bell(path), Bell(path)]
    done = threading.Barrier(3)

    def listen(bell: Bell) -> None:
        bell.wait(LONG)
        done.wait(LONG)

    for bell in bells:
        threading.Thread(target=listen, args=(bell,), daemon=True).start()
    deadline = time.monotonic() + LONG
    while done.n_waiting < 2 and time.monotonic() < deadline:
        bells[0].ring()
        time.sleep(0.01)
    assert done.n_waiting == 2
    done.wait(LONG)
    for bell in bells:
        bell.close()

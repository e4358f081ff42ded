"""Reading in a process of its own: faults come back, and limits end the process."""

import sys
from pathlib import Path

import pytest

from benchmarks.core import limited_process
from benchmarks.core.errors import CoreError
from benchmarks.core.limited_process import LimitReached, ProcessLimits, check_apart
from benchmarks.core.problems import FileRefused, Problem

HERE = "tests.benchmarks.core.test_limited_process"
LIMITS = ProcessLimits(seconds=1, megabytes=256)


def sound(path: str) -> None:
    assert Path(path).read_text() == "sound"


def faulty() -> None:
    raise FileRefused([Problem("x, line 1", "a ‘y’", "z")], 7)


def refusing() -> None:
    raise CoreError("not so")


def endless() -> None:
    while True:
        pass


def swelling() -> None:
    kept = []
    while True:
        kept.append(bytearray(1 << 24))


def broken() -> None:
    raise AttributeError("a mistake of ours")


def secrets() -> None:
    import os

    leaked = [name for name in os.environ if "PLANJURY" in name or "DATABASE" in name]
    if leaked or "django" in sys.modules:
        raise CoreError(f"{leaked}")


def run(name: str, *arguments: str, limits: ProcessLimits = LIMITS) -> None:
    check_apart(f"{HERE}:{name}", arguments, file="evil.xlsx", limits=limits)


def test_a_sound_file_comes_through(tmp_path: Path) -> None:
    path = tmp_path / "ünusual name; $(x).txt"
    path.write_text("sound")
    run("sound", str(path))


def test_faults_and_refusals_come_back_as_they_were() -> None:
    with pytest.raises(FileRefused) as refused:
        run("faulty")
    assert (refused.value.problems, refused.value.total) == (
        (Problem("x, line 1", "a ‘y’", "z"),),
        7,
    )
    with pytest.raises(CoreError, match="^not so$"):
        run("refusing")


def test_a_file_that_is_read_for_ever_is_named_with_the_limit() -> None:
    with pytest.raises(
        LimitReached, match="^evil.xlsx: reading it took more than 1 seconds of CPU"
    ):
        run("endless")


def test_a_file_that_fills_the_memory_is_named_with_the_limit() -> None:
    with pytest.raises(LimitReached, match="evil.xlsx: .* more than 256 MB of memory"):
        run("swelling", limits=ProcessLimits(seconds=20, megabytes=256))


def test_a_mistake_of_ours_is_no_fault_of_the_file() -> None:
    with pytest.raises(RuntimeError, match="a mistake of ours"):
        run("broken")


def test_the_child_knows_no_secrets(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PLANJURY_SECRET_KEY", "secret")
    monkeypatch.setenv("DATABASE_URL", "postgresql://x:secret@y/z")
    run("secrets")


def test_whoever_waits_may_give_up() -> None:
    class GivenUp(Exception):
        pass

    def goes_on() -> None:
        raise GivenUp

    with pytest.raises(GivenUp):
        check_apart(
            f"{HERE}:endless", [], file="x", limits=ProcessLimits(100, 256), goes_on=goes_on
        )


def test_a_child_that_only_waits_is_ended_too(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limited_process, "PATIENCE", 1)
    with pytest.raises(LimitReached):
        run("sleeping")


def sleeping() -> None:
    import time

    time.sleep(600)


def taking_endless(*arguments: str) -> None:
    endless()


def taking_swelling(*arguments: str) -> None:
    swelling()

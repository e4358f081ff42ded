"""Prompts by version, and that no shipped one changes without a new version."""

from pathlib import Path

import pytest

from benchmarks.core.digests import digest_text
from benchmarks.core.ports.prompts import Prompts
from benchmarks.core.registry import SYSTEMS, find_system, get_system
from benchmarks.core.system import PROMPTS, read_settings
from benchmarks.systems.adaplanbench import prompts as adaplanbench

SHIPPED = Path(__file__).with_name("prompt_digests.txt")
ADVICE = (
    "A shipped prompt was changed. Runs are pinned to its text: leave the file as it is, put the "
    "new text into a file with the next version (NAME.v2.txt), make that VERSION in the folder's "
    "__init__.py, and add the new file to tests/benchmarks/core/prompt_digests.txt:\n"
)


def test_no_shipped_prompt_changes() -> None:
    found = {
        f"{key}/{path.name}": digest_text(path.read_text(encoding="utf-8"))
        for key in SYSTEMS
        if (prompts := find_system(key).prompts) is not None
        for path in sorted(prompts.folder.glob("*.v*"))
    }
    rows = SHIPPED.read_text(encoding="utf-8").splitlines()
    shipped = dict(row.split() for row in rows if row and not row.startswith("#"))
    changed = {name: digest for name, digest in found.items() if shipped.get(name) != digest}
    gone = sorted(set(shipped) - set(found))
    assert not changed and not gone, ADVICE + "\n".join(
        [f"{name} {digest}" for name, digest in changed.items()] + [f"gone: {n}" for n in gone]
    )


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Two prompts, of which one has changed with the second version."""
    for name, text in {
        "agent.v1.txt": "Plan for $who.",
        "judge.v1.txt": "Judge it.",
        "agent.v2.txt": "Plan well for $who.",
        "notes.txt": "This is no prompt.",
    }.items():
        (tmp_path / name).write_text(text)
    return tmp_path


def test_a_version_has_the_newest_file_up_to_it(folder: Path) -> None:
    prompts = Prompts(folder, "2")
    assert prompts.fill("agent", {"who": "Ann"}) == "Plan well for Ann."
    assert prompts.fill("agent", {"who": "Ann"}, "1") == "Plan for Ann."
    assert prompts.fill("judge", {}) == prompts.fill("judge", {}, "1") == "Judge it."
    assert list(prompts.digests()) == ["agent.v2.txt", "judge.v1.txt"]
    assert list(prompts.digests("1")) == ["agent.v1.txt", "judge.v1.txt"]


@pytest.mark.parametrize("version", ["3", "0", "none", "²"])
def test_a_version_that_is_not_there_has_no_prompts(folder: Path, version: str) -> None:
    prompts = Prompts(folder, "2")
    assert prompts.digests(version) == {}
    with pytest.raises(KeyError):
        prompts.load("agent", version)


def test_an_episode_asks_in_the_version_that_its_run_is_pinned_to(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import random

    for path in adaplanbench.PROMPTS.files().values():
        if not path.name.startswith("agent"):
            (folder / path.name).write_bytes(path.read_bytes())
    changed = Prompts(folder, "2")
    monkeypatch.setattr("benchmarks.systems.adaplanbench.asks.load_prompt", changed.load)
    system = get_system("adaplanbench")
    task, profiles = system.sample_tasks()[0]
    task = type(task)(task.id, task.prompt, profile=profiles[0])
    settings = read_settings(system.settings, {})
    told = []
    for pinned in ({}, {PROMPTS: "1"}):
        (ask,) = next(system.episode(task, {**settings, **pinned}, random.Random(0)))
        told.append(ask.messages[0].text)
    assert told == ["Plan well for $who.", "Plan for $who."]

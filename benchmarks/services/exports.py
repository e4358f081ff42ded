"""Writing runs into files that other tools read."""

import json
from collections.abc import Callable, Iterator
from pathlib import Path

from benchmarks.core.errors import CoreError, UnknownName
from benchmarks.exporters import atif, chat
from benchmarks.importers.values import ImportedTrajectory
from benchmarks.models import Run
from benchmarks.selectors.exports import exported

CARD = """---
tags:
- format:agent-traces
configs:
- config_name: default
  data_files: trajectories.jsonl
---
# {title}

Trajectories of {agent} on {dataset}, written by PlanJury. One line is one trajectory: `messages`
and `tools` in the chat format, `hidden` what the agent was not told, `reward` and `scores` as
stored, `termination` how it ended.
"""


class ExportRefused(CoreError):
    """An export that would write over what is there."""


def _write_chat(found: Iterator[ImportedTrajectory], run: Run, target: Path) -> int:
    count = 0
    with target.open("x", encoding="utf-8") as file:
        for trajectory in found:
            file.write(json.dumps(chat.row(trajectory), ensure_ascii=False) + "\n")
            count += 1
    return count


def _write_atif(found: Iterator[ImportedTrajectory], run: Run, target: Path) -> int:
    count = 0
    target.mkdir(parents=True)
    for count, trajectory in enumerate(found, 1):
        text = json.dumps(atif.document(trajectory), ensure_ascii=False, indent=1)
        (target / f"{count:06}.json").write_text(text, encoding="utf-8")
    return count


def _write_folder(found: Iterator[ImportedTrajectory], run: Run, target: Path) -> int:
    target.mkdir(parents=True)
    card = CARD.format(title=target.name, agent=run.agent, dataset=run.dataset)
    (target / "README.md").write_text(card, encoding="utf-8")
    return _write_chat(found, run, target / "trajectories.jsonl")


WRITERS: dict[str, Callable[[Iterator[ImportedTrajectory], Run, Path], int]] = {
    "openai-chat": _write_chat,
    "atif": _write_atif,
    "huggingface": _write_folder,
}


def export_run(*, run: Run, format: str, target: Path) -> int:
    """Write what is done of a run; the number of trajectories written. Nothing is overwritten."""
    if format not in WRITERS:
        raise UnknownName("format", format, sorted(WRITERS))
    try:
        return WRITERS[format](exported(run), run, target)
    except FileExistsError:
        raise ExportRefused(f"{target.name} exists; name a new file or folder") from None
    except OSError as error:
        raise ExportRefused(f"{target.name} cannot be written: {error.strerror}") from None

"""The commands ``train_reflection_dpo`` and ``serve_scorer``, and the packages that they need.

This module imports no torch: a command asks for what it needs when it is called.
"""

import json
from collections.abc import Callable, Mapping
from dataclasses import asdict
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from benchmarks.core.errors import CoreError, SettingError
from benchmarks.systems.adapt_reflection.scripted import TABLE_POLICY
from benchmarks.systems.adapt_reflection.training.files import RowsRefused, read_rows, split_rows
from benchmarks.systems.adapt_reflection.training.options import OPTIONS, read_options

REPORT = "training.json"
TABLE_WARNING = (
    "The word table, which is no model, decided about these rows: use the adapter for tests alone."
)
TRAINING = ("torch", "transformers", "trl", "peft", "datasets", "accelerate")
SCORING = ("torch", "transformers", "peft")


class ExtraMissing(CoreError):
    """Raised where packages of the extra ``train`` are not installed."""


def require(packages: tuple[str, ...]) -> None:
    """Raise ``ExtraMissing`` with the names of packages that are not installed."""
    missing = [name for name in packages if find_spec(name) is None]
    if missing:
        raise ExtraMissing(
            f"not installed: {', '.join(missing)}. Install the extra train: "
            "pip install --require-hashes -r requirements/train.lock"
        )


class TrainReflection:
    """Trains an adapter on exported rows; ``options`` are the arguments that it takes."""

    options = OPTIONS

    def __call__(
        self,
        rows: Path,
        base: str,
        out: Path,
        given: Mapping[str, Any],
        *,
        fold: int | None = None,
        say: Callable[[str], None] = print,
    ) -> dict[str, Any]:
        """Train an adapter on exported rows; return what ``training.json`` beside it says.

        Personas of ``fold`` are left out, for they are to be unseen. Nothing is replaced: ``out``
        must be new or empty. What can be refused is refused before a model is loaded.
        """
        options = read_options(given)
        if options.batch % options.micro_batch:
            raise SettingError("micro_batch", f"a divisor of the batch {options.batch}",
                               options.micro_batch)  # fmt: skip
        if out.exists() and (not out.is_dir() or any(out.iterdir())):
            raise RowsRefused(f"{out} exists and is not empty: name a new folder")
        file = read_rows(rows)
        kept = [row for row in file.rows if fold is None or row.fold != fold]
        if not kept:
            raise RowsRefused(f"{file.path} holds no row outside fold {fold}")
        require(TRAINING)
        if decided_by_table(file.about):
            say(TABLE_WARNING)
        from benchmarks.systems.adapt_reflection.training import dpo

        dpo.quiet()
        split = split_rows(kept, options.held_out, options.seed)
        measured = dpo.train_adapter(base, split, options, out, say)
        report = {
            "base": base,
            "file": {"name": file.path.name, "digest": file.digest, "rows": len(file.rows),
                     "fold_left_out": fold, "left_out": len(file.rows) - len(kept)},
            "options": asdict(options),
            **measured,
            "about": file.about,
        }  # fmt: skip
        (out / REPORT).write_text(
            json.dumps(report, indent=1, ensure_ascii=False), encoding="utf-8"
        )
        return report


def decided_by_table(about: Mapping[str, Any]) -> bool:
    """Return whether the word table filled the scorer's role in a run that the rows come from."""
    return TABLE_POLICY in json.dumps(about.get("runs", ""))


def scoring_server(model: str, adapter: str | None, port: int) -> Any:
    """Return a server, not started yet, that scores texts by a local model.

    It has ``base_url`` and ``scorer.name``, the name of the model that it answers for.
    """
    require(SCORING)
    from benchmarks.systems.adapt_reflection.training import local_scorer

    return local_scorer.ScoringServer(local_scorer.load(model, adapter), port)

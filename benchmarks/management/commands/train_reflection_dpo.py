"""Train an adapter on exported rows of the Reflection-DPO builder."""

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from benchmarks.core.errors import CoreError
from benchmarks.core.registry import get_system

SYSTEM, NAME = "adapt_reflection", "train_reflection_dpo"


class Command(BaseCommand):
    """``train_reflection_dpo --rows FILE --base MODEL --out FOLDER``: DPO with a LoRA adapter."""

    help = (
        "Train a LoRA adapter on preference rows by DPO, and report loss, and reward accuracy "
        "and margin on held-out trajectories. Needs the extra train."
    )
    requires_system_checks = []

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument(
            "--rows",
            type=Path,
            required=True,
            help="preference.jsonl, or the folder that export_reflection wrote",
        )
        parser.add_argument("--base", required=True, help="the student: a folder or a model name")
        parser.add_argument("--out", type=Path, required=True, help="new folder for the adapter")
        parser.add_argument("--fold", type=int, help="leave out the personas of this fold")
        train: Any = get_system(SYSTEM).commands[NAME]
        for setting in train.options:
            parser.add_argument(
                f"--{setting.name.replace('_', '-')}", dest=setting.name, metavar="N",
                help=f"{setting.help} Default: {setting.default:g}",
            )  # fmt: skip

    def handle(self, *args: Any, **options: Any) -> None:
        train: Any = get_system(SYSTEM).commands[NAME]
        names = [setting.name for setting in train.options]
        given = {name: options[name] for name in names if options[name] is not None}
        rows, base, out = options["rows"], options["base"], options["out"]
        try:
            report = train(rows, base, out, given, fold=options["fold"], say=self.stdout.write)
        except CoreError as error:
            raise CommandError(str(error)) from None
        self.stdout.write(_summary(report))
        self.stdout.write(f"Adapter and training.json: {out}")


def _summary(report: dict[str, Any]) -> str:
    rows, held = report["rows"], report["held_out"]
    words = [
        f"{report['steps']} steps on {rows['trained']} rows of "
        f"{report['trajectories']['trained']} trajectories; {rows['too_long']} rows too long.",
        f"Training loss: {report['losses'][0]:.4f} at the first step, {report['loss']:.4f} at the "
        "last (0.6931 is no preference).",
    ]
    if held["accuracy"] is None:
        words.append(f"Reward accuracy and margin: undefined ({held['why']}).")
    else:
        words.append(
            f"Held out: {rows['held_out']} rows of {report['trajectories']['held_out']} "
            f"trajectories, loss {held['loss']:.4f}, reward accuracy {held['accuracy']:.3f}, "
            f"margin {held['margin']:.4f}."
        )
    return "\n".join(words)

"""Serve a local model that scores texts for the Reflection-DPO builder."""

from argparse import ArgumentParser
from contextlib import suppress
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from benchmarks.core.errors import CoreError
from benchmarks.core.registry import get_system

SYSTEM, NAME = "adapt_reflection", "serve_scorer"


class Command(BaseCommand):
    """``serve_scorer MODEL [--adapter FOLDER]``: completions with echo and logprobs, locally."""

    help = (
        "Serve /completions with echo and logprobs by a local transformers model, on this machine "
        "alone. Needs the extra train."
    )
    requires_system_checks = []

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("model", help="the student's model: a folder or a model name")
        parser.add_argument("--adapter", help="folder of a LoRA adapter")
        parser.add_argument("--port", type=int, default=8398, help="0 lets the system choose")

    def handle(self, *args: Any, **options: Any) -> None:
        open_server = get_system(SYSTEM).commands[NAME]
        try:
            server = open_server(options["model"], options["adapter"], options["port"])
        except CoreError as error:
            raise CommandError(str(error)) from None
        except OSError as error:
            raise CommandError(f"port {options['port']}: {error.strerror}") from None
        self.stdout.write(
            f"{server.scorer.name} scores texts at {server.base_url} (Ctrl-C stops it).\n"
            "Add it as an endpoint with this base URL, and let it fill the role Scorer."
        )
        self.stdout.flush()
        with suppress(KeyboardInterrupt), server:
            server.serve_forever()

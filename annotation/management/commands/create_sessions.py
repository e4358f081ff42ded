"""Make a study of sessions from a file."""

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.contrib.auth.models import User
from django.core.management.base import BaseCommand, CommandError

from annotation.errors import Refused
from annotation.live.setup.design import SessionDesign, in_words
from annotation.live.setup.files import LiveFileRefused, read_live_file
from annotation.live.setup.services import DesignRequest, create_sessions, draw_design
from benchmarks.roles.services import ensure_scripted_agents


class Command(BaseCommand):
    """``create_sessions FILE.yaml --manager NAME``: checked as a whole, then stored as a whole."""

    help = "Make a study of sessions from a design in YAML (docs/live-sessions.md)."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("file", type=Path, help="the design, in YAML")
        parser.add_argument("--manager", required=True, help="username of the study's manager")
        parser.add_argument(
            "--dry-run", action="store_true", help="show who would play what; store nothing"
        )

    def handle(self, *args: Any, **options: Any) -> None:
        manager = User.objects.filter(username=options["manager"], is_active=True).first()
        if manager is None:
            name = options["manager"]
            raise CommandError(f"nothing was stored: there is no account {name!r} for --manager")
        try:
            text = options["file"].read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError) as error:
            raise CommandError(f"nothing was stored: {options['file']}: {error}") from None
        ensure_scripted_agents()
        try:
            form = read_live_file(text)
            wish, design = form.wish(), form.design()
            self._tell(draw_design(design=design, seed=wish.seed), design)
            if options["dry_run"]:
                self.stdout.write("nothing was stored (--dry-run)")
                return
            study = create_sessions(wish=wish, design=design, by=manager)
        except LiveFileRefused as refused:
            lines = "\n".join(f"  {problem}" for problem in refused.problems)
            raise CommandError(f"nothing was stored: {options['file']}\n{lines}") from None
        except Refused as refused:
            raise CommandError(f"nothing was stored: {refused.reason}") from None
        self.stdout.write(f"study {study.pk} is {study.get_status_display().lower()}")

    def _tell(self, drawn: SessionDesign, design: DesignRequest) -> None:
        """Print each row's sessions in order, balance and fingerprint."""
        say, certificate = self.stdout.write, drawn.certificate
        names = design.met_names("name")
        for name, pairs in drawn.rows:
            say(f"{name}:")
            for agent, task in pairs:
                met = f" with {names[agent]}" if names[agent] else ""
                say(f"  {design.tasks[task].external_id}{met}")
        for words in certificate.warnings:
            say(f"met only nearly: {in_words(words)}")
        word = "session" if drawn.sessions == 1 else "sessions"
        say(f"{drawn.sessions} {word}; {certificate.method}, seed {certificate.seed}")
        say(f"sha256 {certificate.sha256}")

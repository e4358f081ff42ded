"""Make a study from a plan's file."""

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.contrib.auth.models import User
from django.core.management.base import BaseCommand, CommandError

from annotation.errors import Refused
from annotation.planning.outlook import outlook_lines
from annotation.planning.planned_study import PlannedStudy, plan_study
from annotation.planning.services import create_planned_study
from annotation.plans.plan_files import read_plan
from annotation.plans.study_plan import PlanError
from annotation.studies.design import method_words


class Command(BaseCommand):
    """``create_study FILE.yaml``: checked as a whole, then stored as a whole."""

    help = "Make a study from a plan in YAML (docs/making-studies.md)."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("file", type=Path, help="the plan, in YAML")
        parser.add_argument("--dry-run", action="store_true", help="show the plan; store nothing")
        parser.add_argument(
            "--draft", action="store_true", help="keep it as a draft; do not open it"
        )
        parser.add_argument("--manager", default="", help="username of the study's manager")

    def handle(self, *args: Any, **options: Any) -> None:
        manager = self._manager(options["manager"])
        try:
            text = options["file"].read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError) as error:
            raise CommandError(f"nothing was stored: {options['file']}: {error}") from None
        try:
            planned = plan_study(read_plan(text))
            self._tell(planned)
            if options["dry_run"]:
                self.stdout.write("nothing was stored (--dry-run)")
                return
            study = create_planned_study(planned=planned, by=manager, launch=not options["draft"])
        except PlanError as error:
            lines = "\n".join(f"  {problem}" for problem in error.problems)
            raise CommandError(f"nothing was stored: {options['file']}\n{lines}") from None
        except Refused as refused:
            raise CommandError(f"nothing was stored: {refused.reason}") from None
        self.stdout.write(f"study {study.pk} is {study.get_status_display().lower()}")

    def _manager(self, name: str) -> User | None:
        if not name:
            return None
        user = User.objects.filter(username=name, is_active=True).first()
        if user is None:
            raise CommandError(f"nothing was stored: there is no account {name!r} for --manager")
        return user

    def _tell(self, planned: PlannedStudy) -> None:
        """Print counts, questions, what the design can answer, warnings and balance."""
        plan, certificate = planned.plan, planned.certificate
        say = self.stdout.write
        say(f"{plan.name}: {planned.questionnaire.title} ({planned.questionnaire.id})")
        say(
            f"items {len(planned.options):,}, tasks {planned.tasks:,}, models {planned.models:,}, "
            f"assignments {planned.assignments:,}; training {len(plan.training)}, "
            f"gold {len(plan.gold)}"
        )
        left = {
            "not ended with anything to judge": planned.source_items.unusable,
            "without anything that is asked about": planned.source_items.unasked,
            "later trials": planned.source_items.later_trials,
        }
        for words, count in left.items():
            if count:
                say(f"left out, {words}: {count:,}")
        for name, account, items in planned.claimed:
            say(f"  {name}{f' ({account})' if account else ''}: {items:,} items")
        for row in planned.questions:
            if row.left_out:
                say(f"not asked of {row.left_out:,}: {row.question.key}, these items {row.why}")
        for line in outlook_lines(planned):
            say(f"{line.title}: {line.text}")
        for table in certificate.tables:
            summary = table.summary()
            if summary["least"] is not None:
                say(f"{table.name}: {summary['least']} to {summary['most']}; {summary['words']}")
        for words in planned.warnings:
            say(f"met only nearly: {words}")
        say(f"{method_words(certificate.method)} (seed {certificate.seed}).")
        say(f"sha256 {certificate.sha256}")

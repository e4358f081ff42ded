"""Import the published AdaPlanBench file."""

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from benchmarks.core.errors import CoreError
from benchmarks.services.datasets import save_dataset
from benchmarks.systems.adaplanbench.dataset import check_file, read_tasks

# Judges that say so where they cannot decide: constraints of this file do not say what they are
# about, and the scripted judges would take every plan for valid.
ROLES = {"world_judge": ("lexicon-world",), "user_judge": ("lexicon-user",)}


class Command(BaseCommand):
    """``import_adaplanbench FILE``: checked as a whole, then stored as a whole."""

    help = "Import queries and profiles in the published format (adaplanbench_queries.json)."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("file", type=Path)
        parser.add_argument("--name", default="AdaPlanBench", help="name of the dataset")
        parser.add_argument("--licence", default="", help="licence of the data, if known")

    def handle(self, *args: Any, **options: Any) -> None:
        file: Path = options["file"]
        try:
            checked = check_file(file)
            saved = save_dataset(
                system="adaplanbench",
                name=options["name"],
                version="",
                source=file.name,
                licence=options["licence"],
                checksum=checked.checksum,
                tasks=read_tasks(file),
                roles=ROLES,
                notes=f"{checked.tasks} queries, {checked.profiles} profiles, "
                f"{checked.constraints} constraints; {checked.repeated} stood twice in a list.",
            )
        except CoreError as error:
            raise CommandError(f"nothing imported:\n{error}") from None
        if not saved.created:
            self.stdout.write(f"already imported as {saved.dataset}, nothing added")
            return
        self.stdout.write(
            f"{saved.dataset}: {saved.tasks} tasks, {checked.profiles} profiles, "
            f"{checked.constraints} constraints"
        )

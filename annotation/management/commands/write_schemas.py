"""Write the JSON schemas of the files that people write or publish."""

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand

from annotation.exports.schemas import SCHEMAS
from benchmarks.exports.publishing import file_name, schema_text


class Command(BaseCommand):
    """``write_schemas [--out FOLDER]``: from the models that check these files."""

    help = "Write the JSON schemas of files (docs/schemas.md)."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument(
            "--out", type=Path, default=Path(settings.BASE_DIR) / "docs" / "schemas",
            help="the folder to write to (default: docs/schemas)",
        )  # fmt: skip

    def handle(self, *args: Any, **options: Any) -> None:
        options["out"].mkdir(parents=True, exist_ok=True)
        for schema in SCHEMAS:
            path = options["out"] / file_name(schema)
            path.write_text(schema_text(schema), encoding="utf-8")
            self.stdout.write(str(path))

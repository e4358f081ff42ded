"""Import a dataset of any system."""

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand

from benchmarks.core.registry import SYSTEMS, get_system
from benchmarks.management.dataset_import import add_import_arguments, run_import


class Command(BaseCommand):
    """``import_dataset SYSTEM PATH…``: checked as a whole, then stored as a whole."""

    help = "Import files as a dataset. If anything in them is wrong, nothing is stored."

    def add_arguments(self, parser: ArgumentParser) -> None:
        systems = parser.add_subparsers(dest="system", required=True, metavar="SYSTEM")
        for key, (title, _) in SYSTEMS.items():
            importer = get_system(key).importer
            if importer is None:
                continue
            files = "; ".join(f"{one.key}: {one.files}" for one in importer.formats)
            own = systems.add_parser(key, help=f"{title} ({files})")
            add_import_arguments(own, importer.options)
            names = [one.key for one in importer.formats]
            own.add_argument("--format", choices=names, default="", help="default: detected")

    def handle(self, *args: Any, **options: Any) -> None:
        run_import(self, options["system"], options["format"], options)

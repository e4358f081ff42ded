"""Shared code of ``import_dataset`` and of the commands named after one format."""

from argparse import ArgumentParser
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from benchmarks.core.errors import CoreError
from benchmarks.core.ports.importer import ImportOption
from benchmarks.core.registry import get_system
from benchmarks.datasets.files import import_dataset


def add_import_arguments(parser: ArgumentParser, options: Sequence[ImportOption]) -> None:
    """Add the arguments of every import, and those of the given options."""
    parser.add_argument("paths", type=Path, nargs="+", metavar="PATH", help="a file or folder")
    parser.add_argument("--name", default="", help="name of the dataset")
    parser.add_argument(
        "--dataset-version", default="", help="its version; default: the next number"
    )
    parser.add_argument("--licence", default="", help="licence of the data, if known")
    for option in options:
        flag = f"--{option.name.replace('_', '-')}"
        if isinstance(option.default, bool):
            parser.add_argument(flag, action="store_true", default=None, help=option.help)
        else:
            kind = type(option.default)
            parser.add_argument(flag, type=kind, help=f"{option.help} (default {option.default})")


def run_import(command: BaseCommand, system: str, format: str, options: dict[str, Any]) -> None:
    """Import what the arguments name, and say what came of it."""
    importer = get_system(system).importer
    known = importer.options if importer else ()
    given = {one.name: options[one.name] for one in known if options.get(one.name) is not None}
    try:
        imported = import_dataset(
            system=system,
            paths=options["paths"],
            format=format,
            name=options["name"],
            version=options["dataset_version"],
            licence=options["licence"],
            options=given,
        )
    except CoreError as error:
        raise CommandError(f"nothing imported:\n{error}") from None
    saved, file = imported.saved, imported.file
    for warning in file.warnings:
        command.stderr.write(f"warning: {warning}")
    if not saved.created:
        command.stdout.write(f"already imported as {saved.dataset}, nothing added")
        return
    command.stdout.write(f"{saved.dataset}: {saved.tasks} tasks{file.summary}")
    for line in file.details:
        command.stdout.write(line)


class FormatImportCommand(BaseCommand):
    """A command that imports one format of one system: an alias of ``import_dataset``."""

    system = ""
    format = ""

    def add_arguments(self, parser: ArgumentParser) -> None:
        importer = get_system(self.system).importer
        assert importer is not None
        known = importer.find_format((), self.format)
        add_import_arguments(parser, known.options)

    def handle(self, *args: Any, **options: Any) -> None:
        run_import(self, self.system, self.format, options)

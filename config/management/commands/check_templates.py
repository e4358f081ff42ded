"""``manage.py check_templates``: compile every template, so that none fails when first shown."""

from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError
from django.template import TemplateSyntaxError
from django.template.loader import get_template


class Command(BaseCommand):
    """Compile the project's templates."""

    help = "Compile every template of the project and name those that are broken."

    def handle(self, *args: Any, **options: Any) -> None:
        """Report all broken templates, not just the first."""
        folders = [Path(folder) for folder in settings.TEMPLATES[0]["DIRS"]]
        names = sorted(
            path.relative_to(folder).as_posix()
            for folder in folders
            for path in folder.rglob("*")
            if path.is_file() and path.suffix in (".html", ".js", ".txt")
        )
        broken = []
        for name in names:
            try:
                get_template(name)
            except (TemplateSyntaxError, UnicodeDecodeError) as error:
                broken.append(f"{name}: {error}")
        if broken:
            raise CommandError("\n".join(broken))
        self.stdout.write(f"{len(names)} templates compile.")

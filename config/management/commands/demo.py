"""``manage.py demo``: the whole app with the demo in a new temporary folder."""

from typing import Any

from django.conf import settings

from config.management.commands import serve


class Command(serve.Command):
    """Serve the demo from the temporary folder that `config.demo_folder` has made."""

    help = "Serve the demo from a new temporary folder, to try PlanJury beside anything stored."

    def handle(self, *args: Any, **options: Any) -> None:
        """Say where the data lie, then do as ``serve``."""
        self.stdout.write(
            f"The demo's data lie in {settings.DATA_DIR}. Delete that folder afterwards, or start "
            "`serve` with PLANJURY_DATA_DIR set to it to go on."
        )
        super().handle(*args, **options)

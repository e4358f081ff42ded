"""``manage.py check_upgrade``: whether servers can be upgraded one by one."""

from typing import Any

from django.core.management.base import BaseCommand

from config.upgrades import planned_migrations


class Command(BaseCommand):
    """Say of each migration that is not applied whether the previous release tolerates it."""

    help = "Say whether servers can be upgraded one by one. Exit code 1: stop all of them first."

    def handle(self, *args: Any, **options: Any) -> None:
        """Print the migrations, and what follows."""
        planned = planned_migrations()
        for migration in planned:
            self.stdout.write(f"{migration.name}: {'; '.join(migration.obstacles) or 'tolerated'}")
        if any(migration.obstacles for migration in planned):
            self.stderr.write("Stop all servers and workers before you upgrade.")
            raise SystemExit(1)
        self.stdout.write(
            "Servers and workers can be upgraded one by one."
            if planned
            else "No migration is missing: servers and workers can be upgraded one by one."
        )

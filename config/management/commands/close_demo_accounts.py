"""``manage.py close_demo_accounts``: nobody signs in with the demo's passwords any more."""

from typing import Any

from django.core.management.base import BaseCommand

from annotation.demo.services import close_demo_accounts


class Command(BaseCommand):
    """Close the demo's accounts that still have their known passwords."""

    help = "Close the demo's accounts that still have their public passwords. What they did stays."

    def handle(self, *args: Any, **options: Any) -> None:
        """Close them, and name them."""
        closed = close_demo_accounts()
        self.stdout.write(f"Closed: {', '.join(closed)}." if closed else "No demo account is open.")

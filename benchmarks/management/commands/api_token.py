"""Make a token of the HTTP API."""

from argparse import ArgumentParser
from datetime import timedelta
from typing import Any

from django.contrib.auth.models import User
from django.core.management.base import BaseCommand, CommandError
from django.utils import timezone

from benchmarks.api.tokens import create_token
from benchmarks.core.errors import CoreError


class Command(BaseCommand):
    """``api_token USER --name NAME``: the token goes to standard output, all else does not."""

    help = "Make a token for the HTTP API. It is printed once; only its SHA-256 is stored."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("user", help="the account that the programs act for")
        parser.add_argument("--name", required=True, help="what the token is for")
        parser.add_argument("--read-only", action="store_true", help="a token that may only read")
        parser.add_argument(
            "--days", type=int, default=0, help="days until it expires; 0 (default): never"
        )

    def handle(self, *args: Any, **options: Any) -> None:
        user = User.objects.filter(username=options["user"], is_active=True).first()
        if user is None:
            raise CommandError(f"there is no active account {options['user']!r}")
        if not 0 <= options["days"] <= 36_500:
            raise CommandError("--days: expected 0 to 36,500")
        name = options["name"].strip()
        if not 1 <= len(name) <= 80:
            raise CommandError("--name: expected 1 to 80 characters")
        expires = timezone.now() + timedelta(days=options["days"]) if options["days"] else None
        try:
            _, secret = create_token(
                user=user, name=name, read_only=options["read_only"], expires_at=expires
            )
        except CoreError as error:
            raise CommandError(str(error)) from None
        self.stdout.write(secret)

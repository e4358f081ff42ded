"""``manage.py create_admin NAME``: the first account of a server, or another administrator."""

import sys
from argparse import ArgumentParser
from getpass import getpass
from typing import Any

from django.contrib.auth.models import User
from django.contrib.auth.password_validation import validate_password
from django.core.exceptions import ValidationError
from django.core.management.base import BaseCommand, CommandError


class Command(BaseCommand):
    """Make an administrator."""

    help = (
        "Make an account that may do everything. The password is asked for, or read with --stdin."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Add the name, the mail address, and where the password comes from."""
        parser.add_argument("name", help="name to sign in with")
        parser.add_argument("--email", default="", help="e-mail address")
        parser.add_argument(
            "--stdin", action="store_true", help="read the password from standard input, one line"
        )

    def handle(self, *args: Any, **options: Any) -> None:
        """Check name and password by the rules of the site, and make the account."""
        user = User(username=options["name"], email=options["email"])
        user.is_staff = user.is_superuser = True
        try:
            user.clean_fields(exclude=["password"])
            user.validate_unique()
            password = _read_password(from_stdin=options["stdin"])
            validate_password(password, user)
        except ValidationError as error:
            raise CommandError(" ".join(error.messages)) from None
        user.set_password(password)
        user.save()
        self.stdout.write(f"{user.username} may sign in now as administrator.")


def _read_password(*, from_stdin: bool) -> str:
    if from_stdin:
        return sys.stdin.readline().rstrip("\r\n")
    if not sys.stdin.isatty():
        raise CommandError("There is no terminal to ask for the password; use --stdin.")
    password = getpass("Password: ")
    if getpass("Password again: ") != password:
        raise CommandError("The two passwords differ. No account was made.")
    return password

"""Accounts from a list: a CSV is checked whole, then all of its accounts are made, or none."""

import csv
import io
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from django.contrib.auth.models import User
from django.contrib.auth.tokens import default_token_generator
from django.core.exceptions import ValidationError
from django.db import transaction
from django.urls import reverse
from django.utils.encoding import force_bytes
from django.utils.http import urlsafe_base64_encode

from annotation.models import Study
from annotation.studies.setup import add_member
from benchmarks.core.problems import FileRefused, Problem, Problems, Unquoted

COLUMNS = ("username", "email", "name")
MOST_ACCOUNTS, LONGEST_LIST = 5_000, 2_000_000


class NewAccount(NamedTuple):
    """A line of the list: the account that it asks for."""

    line: int
    username: str
    email: str = ""
    name: str = ""


def read_accounts(text: str) -> list[NewAccount]:
    """Read a CSV with a column ``username``, and ``email`` and ``name`` where wanted.

    Every fault is in `FileRefused`, by line and field: names that are taken or stand twice,
    addresses that are none, columns that are not known. Reads the database and changes nothing.
    """
    if len(text) > LONGEST_LIST:
        raise FileRefused([Problem("the file", f"at most {LONGEST_LIST:,} characters", "more")])
    reader = csv.reader(io.StringIO(text.removeprefix("\ufeff"), newline=""), strict=True)
    problems, rows = Problems(), []
    try:
        header = [name.strip().lower() for name in next(reader, [])]
        _check_header(header, problems)
        problems.check()
        for cells in reader:
            if not any(cell.strip() for cell in cells):
                continue
            if len(cells) > len(header):
                count = Unquoted(f"{len(cells)}")
                problems.add(f"line {reader.line_num}", f"at most {len(header)} cells", count)
            given = dict(zip(header, (cell.strip() for cell in cells), strict=False))
            rows.append(NewAccount(reader.line_num, **{"username": "", **given}))
    except csv.Error as error:
        problems.add(f"line {reader.line_num}", "CSV", Unquoted(str(error)))
    if not problems.total and not 1 <= len(rows) <= MOST_ACCOUNTS:
        problems.add("the file", f"1 to {MOST_ACCOUNTS:,} accounts", Unquoted(f"{len(rows)}"))
    _check_rows(rows, problems)
    problems.check()
    return rows


def create_accounts(
    rows: Iterable[NewAccount], *, study: Study | None = None, role: str = ""
) -> list[tuple[User, str]]:
    """Make the accounts, all or none, with a role in a study where one is named.

    Returns each with the path of the link by which the person chooses a password and signs in. It
    works once, for ``PASSWORD_RESET_TIMEOUT`` seconds, and is not stored.
    """
    with transaction.atomic():
        users = [
            User.objects.create_user(row.username, row.email, first_name=row.name) for row in rows
        ]
        if study is not None:
            for user in users:
                add_member(study=study, user=user, role=role, by=None)
    return [(user, sign_in_path(user)) for user in users]


def sign_in_path(user: User) -> str:
    """Return the path by which a person signs in for the first time and chooses a password."""
    key = urlsafe_base64_encode(force_bytes(user.pk))
    return reverse("account_start", args=[key, default_token_generator.make_token(user)])


def _check_header(header: Sequence[str], problems: Problems) -> None:
    if "username" not in header:
        problems.add("line 1", "a column username", Unquoted(", ".join(header)[:120] or "nothing"))
    for name in dict.fromkeys(header):
        if name not in COLUMNS:
            problems.add("line 1", f"the columns {', '.join(COLUMNS)} only", name)
        elif header.count(name) > 1:
            problems.add(f"line 1, {name}", "each column once", Unquoted(f"{header.count(name)}"))


def _check_rows(rows: Sequence[NewAccount], problems: Problems) -> None:
    # Names that differ in case alone would be mistaken for one another when people sign in.
    first: dict[str, int] = {}
    wanted = {row.username.lower() for row in rows}
    names = User.objects.order_by().values_list("username", flat=True)
    taken = {name.lower() for name in names.iterator()} & wanted
    for row in rows:
        where, name = f"line {row.line}", row.username.lower()
        user = User(username=row.username, email=row.email, first_name=row.name)
        try:
            user.clean_fields(exclude=["password"])
        except ValidationError as error:
            for field, messages in error.message_dict.items():
                column = "name" if field == "first_name" else field
                expected = f"a valid {column} ({messages[0].rstrip('.')})"
                problems.add(f"{where}, {column}", expected, getattr(row, column))
        if name in taken:
            problems.add(f"{where}, username", "a name that no account has yet", row.username)
        elif name in first:
            repeated = Unquoted(f"{row.username!r} as in line {first[name]}")
            problems.add(f"{where}, username", "each name once", repeated)
        first.setdefault(name or f" {row.line}", row.line)

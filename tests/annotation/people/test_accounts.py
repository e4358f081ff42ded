"""Accounts from a list: faults by line and field, all or none, and links that work once."""

import csv
from pathlib import Path

import pytest
from django.contrib.auth.models import User
from django.core.management import CommandError, call_command
from django.test import Client

from annotation.models import Study
from annotation.people.accounts import read_accounts
from benchmarks.core.problems import FileRefused
from tests.annotation.rows import make_person

pytestmark = pytest.mark.django_db
PASSWORD = "a long enough passphrase"


def test_every_fault_is_named_by_line_and_field() -> None:
    make_person("Taken")
    text = (
        "username,email\n"
        "fine,fine@example.org\n"
        "taken,\n"
        "bad name!,not an address\n"
        "\n"
        "FINE,\n"
        ",nobody@example.org\n"
        "long,one@example.org,more\n"
    )
    with pytest.raises(FileRefused) as refused:
        read_accounts(text)
    assert [problem.where for problem in refused.value.problems] == [
        "line 8", "line 3, username", "line 4, username", "line 4, email", "line 6, username",
        "line 7, username",
    ]  # fmt: skip
    told = str(refused.value)
    assert "each name once, found 'FINE' as in line 2" in told
    assert "a name that no account has yet, found the text 'taken'" in told


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("", "line 1: expected a column username, found nothing"),
        ("name,phone\n", "the columns username, email, name only, found the text 'phone'"),
        ("username\n", "expected 1 to 5,000 accounts, found 0"),
        ('username\n"open', "line 2: expected CSV"),
        ("username,username\na,b\n", "line 1, username: expected each column once"),
        ("username\nhalf\ud800\n", "line 2, username"),
    ],
)
def test_lists_that_are_none(text: str, told: str) -> None:
    with pytest.raises(FileRefused) as refused:
        read_accounts(text)
    assert told in str(refused.value)


def test_a_dry_run_changes_nothing_and_links_work_once(study: Study, tmp_path: Path) -> None:
    file, links = tmp_path / "people.csv", tmp_path / "links.csv"
    file.write_text("\ufeffUsername, name\neve,Eve Moor\nfinn,\n", encoding="utf-8")
    before = User.objects.count()
    call_command("create_accounts", str(file), "--dry-run")
    assert User.objects.count() == before
    options = {"study": study.pk, "site": "https://judge.example/", "output": links}
    call_command("create_accounts", str(file), **options)
    assert links.stat().st_mode & 0o777 == 0o600
    eve, finn = csv.DictReader(links.read_text().splitlines())
    assert (eve["username"], finn["username"]) == ("eve", "finn")
    assert study.memberships.filter(user__username__in=("eve", "finn")).count() == 2
    path = eve["link"].removeprefix("https://judge.example")
    client = Client()
    first = client.get(path)
    assert first.status_code == 302 and path.split("/")[-2] not in first["Location"]
    assert first["Referrer-Policy"] == "no-referrer"
    page = client.get(first["Location"]).content.decode()
    assert "An account was made for you: <strong>eve</strong>" in page
    short = client.post(first["Location"], {"new_password1": "x", "new_password2": "x"})
    assert "too short" in short.content.decode()
    chosen = {"new_password1": PASSWORD, "new_password2": PASSWORD}
    assert client.post(first["Location"], chosen)["Location"] == "/"
    assert client.session["_auth_user_id"] == str(User.objects.get(username="eve").pk)
    assert "This link does not work" in Client().get(path).content.decode()
    # A list with a fault makes no account, nor does a file that is there already.
    file.write_text("username\ngus\neve\n")
    with pytest.raises(CommandError, match="line 3, username"):
        call_command("create_accounts", str(file))
    file.write_text("username\ngus\n")
    with pytest.raises(CommandError, match="cannot be written"):
        call_command("create_accounts", str(file), output=links)
    assert not User.objects.filter(username="gus").exists()

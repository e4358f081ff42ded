"""Settings: what they make of the environment, and what every page is sent with."""

import os
import stat
import subprocess
import sys
from pathlib import Path

import pytest
from django.conf import settings
from django.core.exceptions import ImproperlyConfigured
from django.test import Client

from config.settings.env import stored_secret_key


def test_a_secret_key_is_made_once_for_its_owner_alone(tmp_path: Path) -> None:
    path = tmp_path / "var" / "secret-key"
    key = stored_secret_key(path)
    assert len(key) >= 50
    assert stored_secret_key(path) == key
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert list(path.parent.iterdir()) == [path]


def test_a_folder_that_cannot_be_used_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(ImproperlyConfigured, match="PLANJURY_DATA_DIR"):
        stored_secret_key(tmp_path / "file" / "secret-key")


def run_python(code: str, **environment: str) -> subprocess.CompletedProcess[str]:
    kept = {name: os.environ[name] for name in ("PATH", "HOME") if name in os.environ}
    return subprocess.run(
        [sys.executable, "-c", code],
        env=kept | environment,
        cwd=settings.BASE_DIR,
        capture_output=True,
        text=True,
        check=False,
    )


def test_nonsense_in_the_environment_stops_the_start(tmp_path: Path) -> None:
    done = run_python(
        "import config.settings.local", PLANJURY_DATA_DIR=str(tmp_path), PORT="eight thousand"
    )
    assert done.returncode != 0
    assert "Environment variable PORT must be a whole number" in done.stderr


def test_a_command_reports_nonsense_in_one_line(tmp_path: Path) -> None:
    code = "import sys, manage; sys.argv = ['manage.py', 'serve']; manage.main()"
    done = run_python(code, PLANJURY_DATA_DIR=str(tmp_path), PORT="x")
    assert done.returncode == 1
    assert done.stderr.strip().endswith("PORT must be a whole number from 1 to 65535.")
    assert "Traceback" not in done.stderr


def test_production_makes_up_no_key_and_wants_https(tmp_path: Path) -> None:
    code = (
        "import config.settings.production as s; "
        "print(repr(s.SECRET_KEY), s.ALLOWED_HOSTS, s.SESSION_COOKIE_SECURE, s.DEMO, s.DEBUG)"
    )
    done = run_python(code, PLANJURY_DATA_DIR=str(tmp_path))
    assert done.stdout.strip() == "'' [] True False False", done.stderr
    assert list(tmp_path.iterdir()) == []


@pytest.mark.embedded
def test_sqlite_is_durable_and_shared(db: None) -> None:
    from django.db import connection

    options = settings.DATABASES["default"]["OPTIONS"]
    assert options["transaction_mode"] == "IMMEDIATE"
    assert "synchronous=FULL" in options["init_command"]
    with connection.cursor() as cursor:
        cursor.execute("PRAGMA journal_mode")
        assert cursor.fetchone() == ("wal",)


@pytest.fixture
def login_page(client: Client, db: None):
    return client.get("/accounts/login/")


def test_each_page_says_what_a_browser_may_load(login_page) -> None:
    policy = login_page.headers["Content-Security-Policy"]
    assert "default-src 'self'" in policy
    assert "script-src 'self';" in policy + ";"
    assert "object-src 'none'" in policy
    assert "frame-ancestors 'none'" in policy


def test_a_page_tells_its_length(login_page) -> None:
    assert int(login_page.headers["Content-Length"]) == len(login_page.content)


def test_nobody_signs_up_by_themselves(client: Client, db: None) -> None:
    form = {"username": "new", "password1": "correct horse", "password2": "correct horse"}
    client.post("/accounts/signup/", form)
    from django.contrib.auth.models import User

    assert not User.objects.filter(username="new").exists()


def test_the_administration_asks_for_the_usual_login(client: Client, db: None) -> None:
    response = client.get("/admin/login/")
    assert response.status_code == 302
    assert response.headers["Location"].startswith("/accounts/login/")


def test_a_session_lasts_a_working_day_and_its_cookie_is_closed_to_scripts(
    client: Client, django_user_model
) -> None:
    django_user_model.objects.create_user("rater", password="correct horse")
    response = client.post("/accounts/login/", {"login": "rater", "password": "correct horse"})
    cookie = response.cookies["sessionid"]
    assert cookie["httponly"]
    assert cookie["samesite"] == "Lax"
    assert cookie["max-age"] == 12 * 60 * 60

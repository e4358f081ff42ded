"""Commands for the first start of a server, for upgrades, and the samples in ``deploy/``."""

import importlib
import io
import re
import shutil
import subprocess
from pathlib import Path
from types import SimpleNamespace

import pytest
from django.conf import settings as project
from django.contrib.auth.models import User
from django.core.management import CommandError, call_command
from django.db import connection, migrations, models
from django.db.migrations.state import ModelState, ProjectState
from django.test import Client
from pytest_django import Settings

from annotation.demo import services as demo
from benchmarks.models import Endpoint, Job, Trajectory
from config import upgrades

pytestmark = pytest.mark.django_db
DEPLOY = Path(project.BASE_DIR) / "deploy"


def run(*command: str, **options: object) -> str:
    said = io.StringIO()
    call_command(*command, stdout=said, stderr=said, **options)
    return said.getvalue()


@pytest.mark.either
def test_the_first_administrator(monkeypatch: pytest.MonkeyPatch, client: Client) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO("12345678\n"))
    with pytest.raises(CommandError, match="too common"):
        run("create_admin", "root", "--stdin")
    assert not User.objects.exists()
    monkeypatch.setattr("sys.stdin", io.StringIO("correct horse battery\n"))
    assert "root may sign in" in run("create_admin", "root", "--stdin")
    assert client.login(username="root", password="correct horse battery")
    assert client.get("/server/").status_code == 200
    with pytest.raises(CommandError, match="already exists"):
        run("create_admin", "root", "--stdin")


@pytest.mark.either
def test_an_endpoint_from_the_terminal() -> None:
    where = ("--base-url", "http://127.0.0.1:8399/v1", "--model", "fake")
    made = run(
        "add_endpoint", "--title", "Example 70B", *where, "--price-in", "1.5", "--timeout", "30",
        "--parameters", '{"max_tokens": 400}',
    )  # fmt: skip
    assert "endpoint:example-70b" in made
    endpoint = Endpoint.objects.get()
    assert (endpoint.timeout, endpoint.price_in, endpoint.concurrency) == (30.0, 1.5, 32)
    assert endpoint.parameters == {"max_tokens": 400}
    with pytest.raises(CommandError, match=r"--base-url: .*example\.org") as refused:
        run("add_endpoint", "--title", "B", "--base-url", "https://example.org/v1", "--model", "m")
    assert str(refused.value).startswith("Nothing was stored.")
    assert Endpoint.objects.count() == 1


@pytest.mark.either
@pytest.mark.parametrize("key", ["short", "white space in it"])
def test_a_key_that_no_endpoint_takes_is_refused(key: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PLANJURY_KEY_EXAMPLE", key)
    given = ("--title", "B", "--base-url", "http://127.0.0.1:8399/v1", "--model", "m")
    with pytest.raises(CommandError, match="the key in PLANJURY_KEY_EXAMPLE|The key in"):
        run("add_endpoint", *given, "--key-variable", "PLANJURY_KEY_EXAMPLE")
    assert not Endpoint.objects.exists()
    monkeypatch.delenv("PLANJURY_KEY_EXAMPLE")  # it may be set on workers alone
    assert "was added" in run("add_endpoint", *given, "--key-variable", "PLANJURY_KEY_EXAMPLE")


@pytest.mark.django_db(transaction=True)
def test_no_known_password_travels_with_a_move(
    tmp_path: Path, settings: Settings, client: Client
) -> None:
    settings.DATA_DIR = tmp_path
    demo._create_accounts()
    User.objects.filter(username="observer").update(is_active=False)
    backup = tmp_path / "planjury-20200101-000000.zip"
    run("backup", str(backup))
    settings.DEMO = True
    assert "Closed" not in run("restore", str(backup), "--replace", "--no-safety-copy")
    settings.DEMO = False
    kept = run("restore", str(backup), "--replace", "--no-safety-copy", "--demo-accounts", "keep")
    assert "stay open: admin, annotator, manager, researcher" in kept
    # Nobody can be asked here, so they are closed.
    said = run("restore", str(backup), "--replace", "--no-safety-copy")
    assert "Closed the demo's accounts: admin, annotator, manager, researcher." in said
    assert not client.login(username="admin", password=demo.PASSWORD)
    assert run("close_demo_accounts") == "No demo account is open.\n"

    made = run("backup", str(tmp_path), keep_days=30)
    assert "1 older backups were deleted" in made
    assert not backup.exists()
    (newest,) = tmp_path.glob("planjury-*.zip")
    said = run("check_backup", str(tmp_path), "--whole")
    assert re.search(r"can be restored: .*5 users", said)
    assert User.objects.count() == 5
    newest.write_bytes(newest.read_bytes()[:-200])
    with pytest.raises(CommandError, match="not restored"):
        run("check_backup", str(newest))


@pytest.mark.either
def test_which_migrations_the_previous_release_tolerates(monkeypatch: pytest.MonkeyPatch) -> None:
    assert "No migration is missing" in run("check_upgrade")
    words, state = models.CharField(max_length=10), ProjectState()
    state.add_model(ModelState("x", "Run", [("id", models.AutoField()), ("words", words)]))
    migration = migrations.Migration("0002", "x")
    steps = [
        migrations.CreateModel("New", [("id", models.AutoField())]),
        migrations.AddField("Run", "a", models.IntegerField(null=True)),
        migrations.AddField("Run", "b", models.IntegerField(db_default=0)),
        migrations.AddField("Run", "c", models.IntegerField(default=0)),
        migrations.AlterField("Run", "words", models.CharField(max_length=20, choices=["a"])),
        migrations.AlterField("Run", "words", models.CharField(max_length=5)),
        migrations.AlterField("Run", "a", models.IntegerField()),
        migrations.SeparateDatabaseAndState([migrations.RemoveField("Run", "c")]),
        migrations.RunPython(migrations.RunPython.noop),
    ]
    found = list(upgrades._obstacles(migration, steps, state))
    assert [reason.partition(":")[0] for reason in found] == [
        "Run.c is new and has no default in the database, so the previous release cannot add rows",
        "Alter field words on Run",
        "Alter field a on Run",
        "Remove field c from Run",
        "Raw Python operation",
    ]
    migration.tolerated_because = "it fills new columns only"
    assert len(list(upgrades._obstacles(migration, steps, state))) == 4
    planned = [upgrades.PlannedMigration("x.0001", (found[0],))]
    monkeypatch.setattr(
        "config.management.commands.check_upgrade.planned_migrations", lambda: planned
    )
    with pytest.raises(SystemExit):
        run("check_upgrade")


@pytest.mark.either
def test_columns_that_a_version_in_development_renamed_get_their_names_back() -> None:
    steps = importlib.import_module("benchmarks.migrations.0023_column_names_of_0_3")
    with connection.cursor() as cursor:
        for table, new, old in steps.RENAMED:
            cursor.execute(f"ALTER TABLE {table} RENAME COLUMN {old} TO {new}")
        editor = SimpleNamespace(connection=connection, execute=cursor.execute)
        for _ in range(2):  # the second time there is nothing to do
            steps.name_back(None, editor)
            assert not Trajectory.objects.filter(role_changes={"a": 1}).exists()
            assert not Job.objects.filter(woken_at=None).exists()


def program(name: str) -> str:
    found = shutil.which(name, path="/usr/local/bin:/usr/bin:/usr/sbin:/bin:/sbin")
    if found is None:
        pytest.skip(f"{name} is not installed")
    return found


@pytest.mark.either
def test_systemd_accepts_the_units(tmp_path: Path) -> None:
    tool = program("systemd-analyze")
    python = tmp_path / ".venv" / "bin" / "python"
    python.parent.mkdir(parents=True)
    python.symlink_to("/bin/true")
    for unit in (DEPLOY / "systemd").iterdir():
        text = unit.read_text().replace("/srv/planjury", str(tmp_path))
        # Which user there is says nothing about the unit.
        (tmp_path / unit.name.replace("@.", "@8001.")).write_text(
            re.sub(r"^(User|Group)=planjury$", r"\1=root", text, flags=re.M)
        )
    units = [str(path) for path in tmp_path.iterdir() if path.is_file()]
    assert len(units) == 4
    done = subprocess.run([tool, "verify", "--man=no", *units], capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.either
def test_the_stop_limits_lie_above_those_of_the_product() -> None:
    worker = (DEPLOY / "systemd" / "planjury-worker@.service").read_text()
    drain = int(re.search(r"PLANJURY_DRAIN_SECONDS=(\d+)", worker)[1])
    assert drain >= Endpoint._meta.get_field("timeout").default + 10
    assert int(re.search(r"TimeoutStopSec=(\d+)", worker)[1]) >= drain + 15
    web = (DEPLOY / "systemd" / "planjury-web@.service").read_text()
    assert int(re.search(r"TimeoutStopSec=(\d+)", web)[1]) > project.WEB_DRAIN_SECONDS + 10


@pytest.mark.either
def test_caddy_accepts_its_sample() -> None:
    command = [program("caddy"), "adapt", "--validate", "--config", str(DEPLOY / "Caddyfile")]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr

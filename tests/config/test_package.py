"""The wheels, as somebody installs them into an empty environment, and the licences they bring."""

import json
import os
import re
import signal
import subprocess
import sys
import tarfile
import time
import urllib.request
import venv
import zipfile
from pathlib import Path

import pytest
from django.conf import settings

from tests.servers import free_port

ROOT = Path(settings.BASE_DIR)
SCRIPTS = ROOT / "requirements" / "scripts"
# Licences that ask for no more than Apache-2.0 does of whoever passes the product on. MPL and LGPL
# hold for the files of those libraries, which are installed beside the product and unchanged.
FITTING = re.compile(
    r"0BSD|AND|OR|Apache|BSD|CC0|ISC|LGPL-3|MIT|MPL 2\.0|PSF|Python Software Foundation|Zlib"
)


def run(*command: str | Path, **environment: str) -> str:
    done = subprocess.run(
        [str(part) for part in command],
        capture_output=True,
        text=True,
        env=bare_environment(**environment),
        cwd="/",
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def bare_environment(**more: str) -> dict[str, str]:
    """What somebody's shell holds who never heard of this checkout."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("PLANJURY_")}
    for name in ("DATABASE_URL", "DJANGO_SETTINGS_MODULE", "PORT", "PYTHONPATH"):
        kept.pop(name, None)
    return kept | more


def first_page(address: str) -> str:
    limit = time.monotonic() + 120
    while True:
        try:
            with urllib.request.urlopen(address, timeout=60) as reply:
                return str(reply.read().decode())
        except OSError:
            assert time.monotonic() < limit, "the server did not come up"
            time.sleep(0.2)


@pytest.fixture(scope="module")
def wheels(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with both wheels and both source archives."""
    folder = tmp_path_factory.mktemp("dist")
    run(SCRIPTS / "package.sh", sys.executable, folder)
    return folder


@pytest.mark.slow
@pytest.mark.either
@pytest.mark.embedded
def test_in_an_empty_environment_the_demo_shows_a_page(wheels: Path, tmp_path: Path) -> None:
    place = tmp_path / "environment"
    venv.create(place, with_pip=True)
    python = place / "bin" / "python"
    run(SCRIPTS / "install.sh", python, ROOT / "requirements" / "core.lock")
    run(python, "-m", "pip", "install", "--quiet", "--no-deps", *wheels.glob("*.whl"))
    run(python, "-m", "pip", "check")
    assert "planjury_client" in run(python, "-c", "import planjury_client as c; print(c.__name__)")
    home = tmp_path / "home"
    assert "import_dataset" in run(place / "bin/planjury", "help", HOME=str(home))

    port = free_port()
    demo = subprocess.Popen(
        [place / "bin" / "planjury", "demo"],
        env=bare_environment(PORT=str(port), TMPDIR=str(tmp_path), HOME=str(home)),
        cwd=tmp_path,
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        assert "Sign in" in first_page(f"http://localhost:{port}/accounts/login/")
        assert "PlanJury docs" in first_page(f"http://localhost:{port}/docs/")
    finally:
        demo.send_signal(signal.SIGINT)
        said, _ = demo.communicate(timeout=120)
    (folder,) = tmp_path.glob("planjury-demo-*")
    assert f"data lie in {folder}" in said
    assert (folder / "planjury.sqlite3").is_file()
    # The data folder of the account holds no more than its secret key.
    assert [path.name for path in home.rglob("*") if path.is_file()] == ["secret-key"]


def test_the_wheel_holds_the_product_and_nothing_else(wheels: Path) -> None:
    (wheel,) = wheels.glob("planjury-*.whl")
    names = zipfile.ZipFile(wheel).namelist()
    assert {name.partition("/")[0] for name in names if ".dist-info/" not in name} == {"planjury"}
    inside = {name.split("/")[1] for name in names if name.startswith("planjury/")}
    assert inside == {
        *("analysis", "annotation", "benchmarks", "config", "devtools", "site", "static"),
        *("manage.py", "pyproject.toml", "requirements", "templates"),
    }
    assert any(name.endswith("licenses/LICENSE") for name in names)
    (source,) = wheels.glob("planjury-*.tar.gz")
    with tarfile.open(source) as archive:
        folders = {name.split("/")[1] for name in archive.getnames() if "/" in name}
    assert "README.md" in folders
    assert "tests" not in folders


@pytest.mark.either
def test_without_a_home_folder_the_command_says_what_to_set(tmp_path: Path) -> None:
    (tmp_path / "manage.py").symlink_to(ROOT / "manage.py")
    program = (
        "from config.settings import env; from pathlib import Path; import platformdirs\n"
        "def none(name): raise RuntimeError\n"
        "env.user_data_path = none\n"
        f"env.data_folder(Path({str(tmp_path)!r}))"
    )
    done = subprocess.run(
        [sys.executable, "-c", program],
        capture_output=True,
        text=True,
        cwd=ROOT,
        env=bare_environment(),
    )
    assert "PLANJURY_DATA_DIR must be set, because this account has no home folder" in done.stderr


def licences() -> dict[str, str]:
    """The licence of each package that is installed at run time, by its name."""
    core = (ROOT / "requirements" / "core.lock").read_text()
    names = re.findall(r"^([a-z0-9.-]+)==", core, re.MULTILINE)
    listed = run(
        *(Path(sys.executable).with_name("pip-licenses"), "--python", sys.executable),
        *("--from=mixed", "--format=json", "--with-system", "--packages", *names),
    )
    found = {row["Name"].lower().replace("_", "-"): row["License"] for row in json.loads(listed)}
    assert found.keys() == set(names)
    return found


@pytest.mark.either
def test_every_licence_fits_and_is_listed() -> None:
    page = (ROOT / "docs" / "dependencies.md").read_text()
    for name, licence in licences().items():
        words = FITTING.sub("", licence)
        assert "GPL" not in words and "Commercial" not in words, f"{name} asks for {licence}"
        assert FITTING.search(licence), f"{name}: {licence} is not among those that fit"
        assert f"| {name} | {licence} |" in page

"""The steps of the container's image, from nothing to a page, in a bare Debian root."""

import os
import shutil
import signal
import subprocess
import tomllib
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml
from django.conf import settings

from tests.config.test_package import first_page
from tests.servers import children, free_port

ROOT = Path(settings.BASE_DIR)
# The account that install.sh makes.
ACCOUNT = "10001:10001"
IN_ROOT = 'mount -t proc proc "$0/proc" && mount --rbind /dev "$0/dev" && exec chroot "$@"'


def inside(root: Path, *command: str, account: str = "0:0", **environment: str) -> list[str]:
    """The command that runs another in the root, with processes and mounts of its own."""
    variables = {"PATH": "/opt/planjury/bin:/usr/sbin:/usr/bin:/sbin:/bin", **environment}
    return [
        *("unshare", "--mount", "--pid", "--fork", "--kill-child"),
        *("sh", "-c", IN_ROOT, str(root), f"--userspec={account}", str(root)),
        *("env", "-i", *(f"{name}={value}" for name, value in variables.items())),
        *command,
    ]


@pytest.fixture
def bare_root(tmp_path: Path) -> Iterator[Path]:
    """A Debian with nothing but apt."""
    if os.geteuid() != 0:
        pytest.skip("only root can make a root of Debian and enter it")
    if not shutil.which("mmdebstrap"):
        subprocess.run([ROOT / "requirements/scripts/apt.sh", "mmdebstrap"], check=False)
    if not shutil.which("mmdebstrap"):
        pytest.skip("mmdebstrap is not installed and cannot be")
    root = tmp_path / "root"
    probe = ["unshare", "--mount", "--pid", "--fork", "true"]
    if subprocess.run(probe, capture_output=True, check=False).returncode:
        pytest.skip("this machine lets nobody mount anything")
    made = subprocess.run(
        ["mmdebstrap", "--variant=apt", "bookworm", str(root)],
        capture_output=True,
        text=True,
        check=False,
    )
    assert made.returncode == 0, made.stderr
    # Where packages come through a proxy, as on the machine outside.
    for name in ("resolv.conf", "hosts"):
        shutil.copy(f"/etc/{name}", root / "etc" / name)
    for path in Path("/etc/apt/apt.conf.d").iterdir():
        shutil.copy(path, root / "etc/apt/apt.conf.d" / path.name)
    yield root
    shutil.rmtree(root, ignore_errors=True)


@pytest.mark.slow
@pytest.mark.either
@pytest.mark.embedded
def test_in_a_bare_debian_the_steps_of_the_image_lead_to_a_page(bare_root: Path) -> None:
    sources = bare_root / "src"
    sources.mkdir()
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--cached"], cwd=ROOT, capture_output=True, check=True
    ).stdout
    for name in filter(None, listed.decode().split("\0")):
        if not name.startswith(("tests/", "client/")) and (ROOT / name).is_file():
            (sources / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / name, sources / name)
    certificates = Path("/etc/ssl/certs/ca-certificates.crt")
    pip = {name: value for name, value in os.environ.items() if name.startswith("PIP_INDEX")}
    if certificates.exists():
        shutil.copy(certificates, bare_root / "certificates.pem")
        pip["PIP_CERT"] = "/certificates.pem"
    step = "/src/deploy/container/install.sh"
    for command in ([step, "environment", "/src"], [step, "system"]):
        done = subprocess.run(
            inside(bare_root, *command, **pip), capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, done.stdout + done.stderr
    shutil.rmtree(sources)

    # What the Dockerfile sets.
    port = free_port()
    variables = {"PLANJURY_DATA_DIR": "/data", "PYTHONDONTWRITEBYTECODE": "1", "PORT": str(port)}
    server = subprocess.Popen(
        inside(bare_root, "planjury", "serve", account=ACCOUNT, **variables),
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    try:
        assert "Sign in" in first_page(f"http://localhost:{port}/accounts/login/")
        with urllib.request.urlopen(f"http://127.0.0.1:{port}/health/live", timeout=60) as reply:
            assert reply.status == 200
        # unshare itself waits for its child and heeds no signal but this last one.
        (planjury,) = children(server.pid)
        os.kill(planjury, signal.SIGTERM)
        said, _ = server.communicate(timeout=120)
    finally:
        server.kill()
    assert "Traceback" not in said
    assert (bare_root / "data/planjury.sqlite3").stat().st_uid == int(ACCOUNT.partition(":")[0])


def test_the_scaled_profile_runs_commands_and_variables_that_exist() -> None:
    services = yaml.safe_load((ROOT / "compose.yaml").read_text())["services"]
    assert {name for name, each in services.items() if each["profiles"] == ["alone"]} == {
        "planjury"
    }
    assert services["web"]["command"] == ["planjury", "serve", "--web-only"]
    assert services["worker"]["command"] == ["planjury", "work"]
    example = (ROOT / "deploy/container/environment.example").read_text()
    names = [line.partition("=")[0] for line in example.splitlines() if not line.startswith("#")]
    known = (ROOT / "docs/settings.md").read_text()
    assert all(f"| `{name}` |" in known for name in names)


def test_the_image_is_built_from_what_the_wheel_holds() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())
    held = project["tool"]["hatch"]["build"]["targets"]["wheel"]["only-include"]
    kept = (ROOT / ".dockerignore").read_text().splitlines()
    assert {f"!{path.partition('/')[0]}" for path in held} <= set(kept)
    # The file of keys and passwords: the last rule that fits counts.
    secrets = "deploy/container/environment"
    assert kept.index("!deploy/container") < kept.index(secrets)
    assert secrets in (ROOT / ".gitignore").read_text().splitlines()

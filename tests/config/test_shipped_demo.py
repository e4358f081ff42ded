"""The finished demo that ships with the product, as a first start finds it."""

from pathlib import Path

import pytest

from config import shipped_demo
from tests.config.test_package import first_page
from tests.installations import Install
from tests.servers import free_port

COUNT = (
    "from benchmarks.models import Job, Trajectory\n"
    "from annotation.models import Study\n"
    "done = Trajectory.objects.filter(status='done').count()\n"
    "loading = Job.objects.filter(kind='demo').exclude(status='done').count()\n"
    "print('counted', done, loading, Study.objects.count())"
)


@pytest.mark.slow
@pytest.mark.embedded
def test_a_first_start_shows_the_finished_demo(install: Install) -> None:
    place = install("new", migrated=False)
    port = free_port()
    place.start("manage.py", "serve", PLANJURY_DEMO="1", PORT=str(port))
    assert "Sign in" in first_page(f"http://localhost:{port}/accounts/login/")
    place.start("manage.py", "shell", "-c", COUNT).wait(timeout=120)
    said = place.log.read_text()
    assert "The demo was loaded." in said
    assert "The database was brought up to date." not in said, "`make demo` has to be run again"
    done, loading, studies = map(int, said.partition("counted ")[2].split()[:3])
    assert done > 1_700
    assert loading == 0
    assert studies >= 6


@pytest.mark.django_db
def test_a_demo_that_cannot_be_read_is_left_to_the_worker(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    broken = tmp_path / "demo.zip.zst"
    broken.write_bytes(b"no demo")
    monkeypatch.setattr(shipped_demo, "FILE", broken)
    monkeypatch.setattr(shipped_demo, "count_data", lambda connection: {})
    assert not shipped_demo.load_shipped_demo()
    assert "could not be loaded" in caplog.text

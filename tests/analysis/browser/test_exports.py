"""Trajectories exported from pages: a run's, an experiment's, a trajectory's and the list's."""

import html
import io
import re
import zipfile
from collections.abc import Sequence
from pathlib import Path
from urllib.parse import urlencode

import pytest
from django.test import Client

from benchmarks.exports import downloads
from benchmarks.exports.streams import STREAMS
from benchmarks.formats.trajectory import ImportedTrajectory
from benchmarks.models import Experiment, Run, Trajectory
from tests.benchmarks.formats.reading import read_whole
from tests.factories.benchmarks import RunFactory, TrajectoryFactory, play, start_sample_runs

pytestmark = pytest.mark.django_db


def menu(client: Client, page: str) -> dict[str, str]:
    """Return the addresses of the files that a page offers, by format; empty without a menu."""
    text = client.get(page).content.decode()
    _, _, rest = text.partition("<summary>Export trajectories</summary>")
    rest = rest.partition("</details>")[0]
    links = re.findall(r'href="([^"]+format=([\w-]+))"', rest)
    files = {name: html.unescape(address) for address, name in links}
    if form := re.search(r'<form action="([^"]+)">', rest):
        fields = re.findall(r'type="hidden" name="([^"]+)" value="([^"]*)"', rest)
        hidden = {name: html.unescape(value) for name, value in fields}
        files[hidden["format"]] = f"{form[1]}?{urlencode(hidden)}"
    return files


def fetched(client: Client, address: str) -> tuple[str, bytes]:
    """Download a file: its name and its content."""
    response = client.get(address)
    assert response.status_code == 200 and response.streaming, address
    name = response["Content-Disposition"].partition('filename="')[2].rstrip('"')
    return name, b"".join(response)  # type: ignore[arg-type]


def counts(folder: Path, name: str, data: bytes, format: str) -> list[int]:
    """Read a download back as its importer does: the number of trajectories of each file."""
    folder.mkdir(exist_ok=True)
    if not _is_archive_of_runs(data):
        if format == "huggingface":
            with zipfile.ZipFile(io.BytesIO(data)) as archive:
                data, name = archive.read("trajectories.jsonl"), "trajectories.jsonl"
        (folder / name).write_bytes(data)
        reader = {"huggingface": "openai-chat", "session-traces": "pi"}.get(format, format)
        return [len(read_whole(folder / name, reader))]
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        assert archive.testzip() is None
        return [
            count
            for member in archive.namelist()
            for count in counts(folder / "of", member, archive.read(member), format)
        ]


def _is_archive_of_runs(data: bytes) -> bool:
    if not data.startswith(b"PK"):
        return False
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        return all(name.startswith("run-") for name in archive.namelist())


def check_files(client: Client, page: str, expected: Sequence[int], folder: Path) -> None:
    """Each format of a page's menu holds so many trajectories, run by run."""
    offered = menu(client, page)
    assert list(offered) == list(STREAMS)
    for format, address in offered.items():
        name, data = fetched(client, address)
        (folder / format).mkdir()
        assert counts(folder / format, name, data, format) == list(expected), (page, format)


@pytest.fixture
def experiment(played: Run) -> Experiment:
    """The played run and one of another seed, with the same tasks, in one experiment."""
    (again,) = start_sample_runs("explorer")
    play(again)
    together = Experiment.objects.create(name="Two seeds")
    Run.objects.filter(pk__in=[played.pk, again.pk]).update(experiment=together)
    return together


def test_the_page_of_a_run(reader: Client, played: Run, tmp_path: Path) -> None:
    check_files(reader, f"/runs/{played.pk}/", [3], tmp_path)


def test_the_page_of_a_trajectory(reader: Client, played: Run, tmp_path: Path) -> None:
    one = played.trajectories.order_by("pk")[1]
    check_files(reader, f"/trajectories/{one.pk}/", [1], tmp_path)
    address = menu(reader, f"/trajectories/{one.pk}/")["openai-chat"]
    (read,) = _read(reader, address, tmp_path)
    assert read.task.id == one.task.external_id


def _read(client: Client, address: str, folder: Path) -> list[ImportedTrajectory]:
    name, data = fetched(client, address)
    (folder / name).write_bytes(data)
    return read_whole(folder / name, "openai-chat")


def test_the_page_of_an_experiment(reader: Client, experiment: Experiment, tmp_path: Path) -> None:
    RunFactory(experiment=experiment)  # nothing of it has ended: it has no file
    check_files(reader, f"/experiments/{experiment.pk}/", [3, 3], tmp_path)


def test_the_list_follows_its_filters(
    reader: Client, experiment: Experiment, played: Run, tmp_path: Path
) -> None:
    TrajectoryFactory(run=played, status=Trajectory.Status.FAILED)
    check_files(reader, "/trajectories/", [3, 3], _new(tmp_path / "all"))
    check_files(reader, f"/trajectories/?run={played.pk}", [3], _new(tmp_path / "run"))
    task = played.trajectories.order_by("pk")[0].task
    page = f"/trajectories/?task={task.pk}&run={played.pk}&after=999"
    check_files(reader, page, [1], _new(tmp_path / "task"))


def test_a_folder_states_the_licence_of_the_form(reader: Client, played: Run) -> None:
    page = f"/runs/{played.pk}/"
    address = menu(reader, page)["huggingface"]
    assert 'name="licence"' in reader.get(page).content.decode()
    for given, written in (("", "unknown"), ("cc-by-4.0", "cc-by-4.0")):
        _, data = fetched(reader, f"{address}&licence={given}")
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            assert f"license: {written}\n" in archive.read("README.md").decode()
    answer = reader.get(f"{address}&licence=my%20own", follow=True)
    assert "&#x27;my own&#x27; is no licence" in answer.content.decode()


def _new(folder: Path) -> Path:
    folder.mkdir()
    return folder


def test_nobody_without_the_right_gets_a_file(
    stranger: Client, experiment: Experiment, played: Run
) -> None:
    one = played.trajectories.all()[0]
    for page in (
        f"/runs/{played.pk}/",
        f"/experiments/{experiment.pk}/",
        f"/trajectories/{one.pk}/",
        "/trajectories/",
    ):
        assert menu(stranger, page) == {}
        assert stranger.get(f"{page}export/").status_code == 403


def test_a_page_says_why_there_is_no_file(
    reader: Client, played: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    empty = RunFactory()
    assert menu(reader, f"/runs/{empty.pk}/") == {}
    answer = reader.get(f"/runs/{empty.pk}/export/", follow=True)
    assert "none of these trajectories has ended" in answer.content.decode()
    assert reader.get(f"/runs/{played.pk}/export/?format=excel").status_code == 404
    monkeypatch.setattr("analysis.browser.list_views.MOST", 2)
    monkeypatch.setattr(downloads, "MOST", 2)
    assert menu(reader, "/trajectories/") == {}
    assert "at most 2 trajectories" in reader.get("/trajectories/").content.decode()
    answer = reader.get("/trajectories/export/", follow=True)
    assert "narrow the filters" in answer.content.decode()

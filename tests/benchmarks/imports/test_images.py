"""Images of imported messages: stored where pages can show them, named otherwise."""

import json
import zipfile
from base64 import b64decode, b64encode
from pathlib import Path

import pytest
from django.test import Client

from benchmarks.exports.selectors import exported
from benchmarks.formats.attachments import IMAGES_OF_TRAJECTORY, LARGEST_IMAGE, image_type
from benchmarks.imports.services import import_trajectories
from benchmarks.imports.turns import copy_with_turns
from benchmarks.models import Run, TrajectoryImage
from tests.benchmarks.formats.reading import read_whole

pytestmark = pytest.mark.django_db

PNG = b64encode(b"\x89PNG\r\n\x1a\n" + b"\0" * 40).decode()
SVG = b64encode(b"<svg onload='alert(1)'/>").decode()


def imported(tmp_path: Path, *images: str) -> Run:
    parts = [{"type": "image_url", "image_url": {"url": url}} for url in images]
    chat = [
        {"role": "user", "content": [{"type": "text", "text": "Look:"}, *parts]},
        {"role": "assistant", "content": "A dot."},
    ]
    path = tmp_path / "images.json"
    path.write_text(json.dumps(chat))
    return import_trajectories(path=path).runs[0]


def test_an_image_is_stored_once_and_shown_to_readers(
    tmp_path: Path, researcher: Client, client: Client
) -> None:
    run = imported(tmp_path, *[f"data:image/png;base64,{PNG}"] * 2)
    image = TrajectoryImage.objects.get()
    trajectory = run.trajectories.get()
    url = f"/trajectories/{trajectory.pk}/images/{image.digest}/"
    assert (
        researcher.get(f"/trajectories/{trajectory.pk}/").content.decode().count(f'src="{url}"')
        == 2
    )
    answer = researcher.get(url)
    assert answer.content.startswith(b"\x89PNG")
    assert answer.headers["Content-Type"] == "image/png"
    assert answer.headers["X-Content-Type-Options"] == "nosniff"
    assert researcher.get(f"/trajectories/{trajectory.pk}/images/none/").status_code == 404
    assert client.get(url).status_code == 302
    copy = copy_with_turns(run=run, by="step", created_by=None)
    assert copy.trajectories.get().images.get().digest == image.digest


@pytest.mark.parametrize(
    "url",
    [
        f"data:image/svg+xml;base64,{SVG}",
        f"data:image/png;base64,{SVG}",
        f"data:image/png;base64,{PNG[:-1]}!",
        "https://images.example/a.png",
        "data:image/png;base64,",
    ],
)
def test_what_pages_cannot_show_is_named(tmp_path: Path, researcher: Client, url: str) -> None:
    run = imported(tmp_path, url)
    assert not TrajectoryImage.objects.exists()
    page = researcher.get(f"/trajectories/{run.trajectories.get().pk}/").content.decode()
    assert "Attached: image" in page
    assert "<img" not in page


def test_too_large_an_image_is_named() -> None:
    assert image_type(PNG) == "image/png"
    assert image_type(PNG + "A" * LARGEST_IMAGE) == ""
    assert image_type("é") == image_type("") == ""
    for start, kind in (
        (b"\xff\xd8\xff\xe0", "image/jpeg"),
        (b"GIF89a", "image/gif"),
        (b"RIFF\0\0\0\0WEBP", "image/webp"),
        (b"RIFF\0\0\0\0AVI ", ""),
    ):
        assert image_type(b64encode(start + b"\0" * 20).decode()) == kind


def atif(*paths: str) -> str:
    parts = [{"type": "image", "source": {"media_type": "image/png", "path": p}} for p in paths]
    return json.dumps(
        {
            "schema_version": "ATIF-v1.7",
            "session_id": "s",
            "agent": {"name": "a", "version": "1"},
            "steps": [
                {
                    "step_id": 1,
                    "source": "user",
                    "message": [{"type": "text", "text": "?"}, *parts],
                },
                {"step_id": 2, "source": "agent", "message": "A dot."},
            ],
        }
    )


def attachments(run: Run) -> list[tuple[str, bool]]:
    """The name of each image, and whether its content is stored."""
    (trajectory,) = exported(run)
    rows = trajectory.messages[0].extra["attachments"]
    return [(row["name"], "data" in row) for row in rows]


def test_images_of_atif_are_read_from_files_beside_it(tmp_path: Path) -> None:
    folder = tmp_path / "folder"
    (folder / "images").mkdir(parents=True)
    (folder / "images" / "a.png").write_bytes(b64decode(PNG))
    (folder / "images" / "b.png").write_text("no image")
    (tmp_path / "secret.png").write_bytes(b64decode(PNG))
    (folder / "link.png").symlink_to(tmp_path / "secret.png")
    names = ["images/a.png", "images/b.png", "images/missing.png", "../secret.png", "link.png"]
    names.append(str(tmp_path / "secret.png"))
    (folder / "x.json").write_text(atif(*names))
    expected = [(name, name == "images/a.png") for name in names]
    assert attachments(import_trajectories(path=folder / "x.json").runs[0]) == expected
    (folder / "y.json").write_text(atif("images/a.png").replace('"s"', '"t"'))
    run = import_trajectories(path=folder).runs[0]
    assert TrajectoryImage.objects.filter(trajectory__run=run).count() == 2


def test_images_of_atif_are_read_from_an_archive(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "x.zip", "w") as archive:
        archive.writestr("run/x.json", atif("images/a.png", "b.png"))
        archive.writestr("run/images/a.png", b64decode(PNG))
        archive.writestr("b.png", b64decode(PNG))
    run = import_trajectories(path=tmp_path / "x.zip").runs[0]
    assert attachments(run) == [("images/a.png", True), ("b.png", False)]


def test_of_many_images_beside_a_file_as_many_are_read_as_are_kept(tmp_path: Path) -> None:
    content = b64decode(PNG) + b"\0" * 1_400_000  # and its name, so that none is another one
    names = [f"{number}.png" for number in range(20)]
    for name in names:
        (tmp_path / name).write_bytes(content + name.encode())
    (tmp_path / "x.json").write_text(atif(*names))
    (trajectory,) = read_whole(tmp_path / "x.json")
    rows = trajectory.messages[0].extra["attachments"]
    assert sum(len(row.get("data", "")) for row in rows) < IMAGES_OF_TRAJECTORY + LARGEST_IMAGE
    run = import_trajectories(path=tmp_path / "x.json").runs[0]
    assert 5 < run.trajectories.get().images.count() < 20

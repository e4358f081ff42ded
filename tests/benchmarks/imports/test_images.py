"""Images of imported messages: stored where pages can show them, named otherwise."""

import json
from base64 import b64encode
from pathlib import Path

import pytest
from django.test import Client

from benchmarks.formats.attachments import LARGEST_IMAGE, image_type
from benchmarks.imports.services import import_trajectories
from benchmarks.imports.turns import copy_with_turns
from benchmarks.models import Run, TrajectoryImage

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

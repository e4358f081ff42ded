"""Images of imported messages: kept apart from the messages, which name them by digest."""

import binascii
from base64 import b64decode
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from benchmarks.core.digests import digest_text
from benchmarks.formats.attachments import IMAGES_OF_TRAJECTORY, image_type
from benchmarks.formats.trajectory import ImportedMessage, ImportedTrajectory
from benchmarks.models import Trajectory, TrajectoryImage


def image_characters(messages: Iterable[ImportedMessage]) -> int:
    """Return how many characters of images messages hold."""
    return sum(len(one.get("data", "")) for m in messages for one in _attachments(m))


def _attachments(message: ImportedMessage) -> list[dict[str, Any]]:
    given = message.extra.get("attachments")
    return [one for one in given if isinstance(one, dict)] if isinstance(given, list) else []


def take_images(
    trajectory: ImportedTrajectory,
) -> tuple[ImportedTrajectory, dict[str, tuple[str, str]]]:
    """Return a trajectory whose messages name their images, and these: digest → (type, Base64).

    A digest that a file brings along is left out: it names an image of another installation.
    """
    images: dict[str, tuple[str, str]] = {}
    room = IMAGES_OF_TRAJECTORY
    messages = []
    changed = False
    for message in trajectory.messages:
        rows = _attachments(message)
        if not any("data" in row or "digest" in row for row in rows):
            messages.append(message)
            continue
        changed, kept = True, []
        for row in rows:
            plain = {name: value for name, value in row.items() if name not in ("data", "digest")}
            data = row.get("data")
            kind = image_type(data) if isinstance(data, str) and _is_whole(data) else ""
            if kind and isinstance(data, str):
                digest = digest_text(data)
                if digest not in images and len(data) <= room:
                    images[digest] = (kind, data)
                    room -= len(data)
                if digest in images:
                    plain["digest"] = digest
            kept.append(plain)
        messages.append(replace(message, extra={**message.extra, "attachments": kept}))
    return (replace(trajectory, messages=tuple(messages)) if changed else trajectory), images


def with_images(
    trajectory: Trajectory, messages: Iterable[ImportedMessage]
) -> Iterator[ImportedMessage]:
    """Yield the messages of a trajectory with the content of their images, as files have it."""
    images: dict[str, str] | None = None
    for message in messages:
        rows = _attachments(message)
        if any("digest" in row for row in rows):
            if images is None:
                images = dict(trajectory.images.values_list("digest", "data"))
            kept = [_with_content(row, images) for row in rows]
            message = replace(message, extra={**message.extra, "attachments": kept})
        yield message


def _with_content(row: dict[str, Any], images: Mapping[str, str]) -> dict[str, Any]:
    plain = {name: value for name, value in row.items() if name != "digest"}
    data = images.get(row.get("digest", ""))
    return plain if data is None else {**plain, "data": data}


def _is_whole(data: str) -> bool:
    try:
        b64decode(data, validate=True)
    except (ValueError, binascii.Error):
        return False
    return True


def image_rows(
    trajectory: Trajectory, images: dict[str, tuple[str, str]]
) -> Sequence[TrajectoryImage]:
    """Return the rows of a trajectory's images."""
    return [
        TrajectoryImage(trajectory=trajectory, digest=digest, media_type=kind, data=data)
        for digest, (kind, data) in images.items()
    ]

"""Images and files in messages: kind, type, size and name, without their content."""

from base64 import b64decode, b64encode
from collections.abc import Mapping, Sequence
from typing import Any

# Kinds of parts, as programs name them, by what they hold.
IMAGES = frozenset(("image", "image_url", "input_image", "inlineData", "inline_data"))
FILES = frozenset(("file", "input_file", "document", "fileData", "file_data", "container_upload"))
SOUNDS = frozenset(("audio", "input_audio", "video"))
# Parts that call a tool or answer a call: never an attachment.
CALLS = frozenset(
    ("tool_use", "tool_result", "tool-call", "tool-result", "toolCall", "functionCall")
    + ("functionResponse", "function_call", "function_call_output", "server_tool_use")
    + ("tool_call", "tool_call_response")
)
_FIELDS: tuple[str, ...] = (
    "source",
    "inlineData",
    "inline_data",
    "fileData",
    "file_data",
    "image_url",
    "file",
)
_FIELDS += ("input_audio",)
_TYPES = ("media_type", "mimeType", "mime_type", "mediaType", "format")
_NAMES: tuple[str, ...] = ("filename", "file_name", "name", "title", "fileUri", "file_id", "path")
_DATA = ("data", "file_data", "image", "url", "image_url", "content")
LONGEST_NAME = 300
# Images of these kinds are kept, by how their content begins; up to so many characters of Base64,
# and so many of a trajectory.
STARTS = {
    b"\x89PNG\r\n\x1a\n": "image/png",
    b"\xff\xd8\xff": "image/jpeg",
    b"GIF8": "image/gif",
    b"RIFF": "image/webp",
}
LARGEST_IMAGE, IMAGES_OF_TRAJECTORY = 2_000_000, 20_000_000


def attachment(kind: str, part: Mapping[str, Any]) -> dict[str, Any]:
    """Return what a part holds besides text: its kind, and type, size and name where stated.

    The size is in bytes. A part of an unknown kind is named as its file names it. ``data`` is the
    content of an image in Base64, where the file has it and it is of a kind that pages can show.
    """
    holders = [part, *(part[name] for name in _FIELDS if isinstance(part.get(name), dict))]
    texts: dict[str, str] = {}
    size, image = None, ""
    for holder in holders:
        for given, names in (("type", _TYPES), ("name", _NAMES)):
            text = next((holder[n] for n in names if isinstance(holder.get(n), str)), "")
            if text:
                texts.setdefault(given, text[:LONGEST_NAME])
        for name in _DATA:
            data = holder.get(name)
            if not isinstance(data, str) or not data:
                continue
            if data.startswith("data:"):
                head, _, data = data.partition(",")
                texts.setdefault("type", head[5:].partition(";")[0][:LONGEST_NAME])
            elif "://" in data[:12]:
                texts.setdefault("name", data[:LONGEST_NAME])
                continue
            size = len(data) * 3 // 4 - data[-2:].count("=")
            image = image or (data if image_type(data) else "")
            break
    stated = part.get("bytes")
    if size is None and isinstance(stated, int) and not isinstance(stated, bool) and stated >= 0:
        size = stated
    what = _what(kind, texts.get("type", ""))
    kept = {"data": image} if image else {}
    return {"kind": what, **texts, **({} if size is None else {"bytes": size}), **kept}


def stored_image(content: bytes) -> str:
    """Return an image in Base64; empty where the content is none that pages can show."""
    data = b64encode(content).decode()
    return data if image_type(data) else ""


def content_parts(text: str, attachments: Sequence[Any]) -> list[dict[str, Any]]:
    """Return a text and its attachments as parts of the chat format, images with their content."""
    parts: list[dict[str, Any]] = [{"type": "text", "text": text}] if text else []
    for one in attachments:
        if not isinstance(one, dict):
            continue
        part = {"filename": one.get("name")}
        if isinstance(one.get("data"), str):
            part |= {"type": "image_url", "image_url": {"url": data_url(one)}}
        else:
            kind = str(one.get("kind", "file"))
            part |= {"type": kind, "media_type": one.get("type"), "bytes": one.get("bytes")}
        parts.append({name: value for name, value in part.items() if value is not None})
    return parts


def contained_images(extra: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """Return the images among a message's attachments whose content is known, in Base64."""
    given = extra.get("attachments")
    return [
        one
        for one in (given if isinstance(given, list) else ())
        if isinstance(one, dict) and isinstance(one.get("data"), str)
    ]


def data_url(image: Mapping[str, Any]) -> str:
    """Return an image whose content is known as an address that holds it."""
    data = image["data"]
    return f"data:{image.get('type') or image_type(data)};base64,{data}"


def image_type(data: str) -> str:
    """Return the type of an image in Base64 by its first bytes; empty if pages cannot show it."""
    if len(data) > LARGEST_IMAGE:
        return ""
    try:
        start = b64decode(data[:16], validate=True)
    except ValueError:
        return ""
    if start.startswith(b"RIFF") and start[8:12] != b"WEBP":
        return ""
    return next((kind for begin, kind in STARTS.items() if start.startswith(begin)), "")


def _what(kind: str, media_type: str) -> str:
    if kind in FILES | IMAGES and media_type.startswith("image/"):
        return "image"
    if kind in IMAGES:
        return "file" if media_type else "image"
    return "file" if kind in FILES else kind[:80]

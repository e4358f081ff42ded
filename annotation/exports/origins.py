"""What a run that came with a study was where it was made; its settings keep it."""

from collections.abc import Mapping
from typing import Any

CAME_FROM = "came_from"


def origin_of(settings: Mapping[str, Any], kind: str, checksum: str) -> dict[str, str]:
    """Return kind and checksum of a run where it was made, which an import of a study keeps."""
    kept: dict[str, str] = settings.get(CAME_FROM, {})
    return {"kind": kept.get("kind", kind), "checksum": kept.get("checksum", checksum)}

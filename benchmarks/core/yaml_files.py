"""Reading the YAML files that the product ships."""

from pathlib import Path
from typing import Any

import yaml

# libyaml reads ten times as fast, and is not everywhere.
_LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


def read_yaml(path: Path) -> Any:
    """What a file holds, as plain values."""
    return yaml.load(path.read_text(encoding="utf-8"), _LOADER)  # noqa: S506  (a safe loader)

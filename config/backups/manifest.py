"""What a backup says of itself. It stands last in the file, when everything else is known."""

import json
import tomllib
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from datetime import datetime
from typing import Any

from django.conf import settings

from config.backups.errors import BackupError

PRODUCT = "PlanJury"
# Raise it when an older PlanJury could not read what this one writes.
FORMAT = 1


@dataclass(frozen=True)
class Table:
    """One table: its columns with their kinds of field, and what its rows must add up to.

    ``last_id`` is the last number that was given out, which may be that of a row long deleted.
    """

    name: str
    model: str
    columns: Mapping[str, str]
    rows: int
    sha256: str
    last_id: int | None

    @property
    def member(self) -> str:
        """The name of its rows' file within the backup."""
        return f"tables/{self.name}.jsonl"


@dataclass(frozen=True)
class Manifest:
    """The whole backup; ``migrations`` are the applied ones by app."""

    version: str
    made_at: datetime
    engine: str
    migrations: Mapping[str, tuple[str, ...]]
    tables: tuple[Table, ...]

    @property
    def applied(self) -> frozenset[tuple[str, str]]:
        """The applied migrations as Django names them."""
        return frozenset((app, name) for app, names in self.migrations.items() for name in names)

    @property
    def rows(self) -> int:
        """Rows of all tables."""
        return sum(table.rows for table in self.tables)

    def to_json(self) -> bytes:
        """The file within the backup."""
        head = {"product": PRODUCT, "format": FORMAT}
        return json.dumps(head | asdict(self), default=datetime.isoformat, indent=1).encode()


def read_manifest(text: bytes) -> Manifest:
    """The manifest in ``text``, or a refusal that says which PlanJury could read it."""
    try:
        given = json.loads(text)
        if given["product"] != PRODUCT:
            raise BackupError(f"This is a backup of {given['product']}, not of {PRODUCT}.")
        if given["format"] != FORMAT:
            raise BackupError(
                f"The backup was made by PlanJury {given['version']} in format {given['format']}; "
                f"this is PlanJury {product_version()}, which reads format {FORMAT}. "
                "Restore it with a newer PlanJury."
            )
        return _manifest(given)
    except (ValueError, LookupError, TypeError, AttributeError):
        raise BackupError("The backup's manifest cannot be read.") from None


def _manifest(given: Mapping[str, Any]) -> Manifest:
    return Manifest(
        version=str(given["version"]),
        made_at=datetime.fromisoformat(given["made_at"]),
        engine=str(given["engine"]),
        migrations={str(app): tuple(names) for app, names in given["migrations"].items()},
        tables=tuple(Table(**table) for table in given["tables"]),
    )


def product_version() -> str:
    """The version of this PlanJury."""
    text = (settings.BASE_DIR / "pyproject.toml").read_text(encoding="utf-8")
    version: str = tomllib.loads(text)["project"]["version"]
    return version

"""The key that signs sessions: made once, kept in the data folder, readable by its owner alone."""

import os
import secrets
from contextlib import suppress
from pathlib import Path

from django.core.exceptions import ImproperlyConfigured

from config.private_files import FOLDER_MODE


def stored_secret_key(path: Path) -> str:
    """The key in ``path``, made first if there is none."""
    try:
        if not path.exists():
            _store(path, secrets.token_urlsafe(64))
        return path.read_text(encoding="ascii").strip()
    except OSError as error:
        # Settings are read before any system check could say so.
        raise ImproperlyConfigured(
            f"The secret key {path} cannot be read or made: {error.strerror}. Make its folder "
            "writable for this user, or name another in PLANJURY_DATA_DIR."
        ) from error


def _store(path: Path, key: str) -> None:
    path.parent.mkdir(mode=FOLDER_MODE, parents=True, exist_ok=True)
    draft = path.with_name(f".{path.name}.{os.getpid()}")
    draft.touch(mode=0o600)
    try:
        draft.write_text(key + "\n", encoding="ascii")
        # A link, unlike a rename, fails when another process was first: all end with one key.
        with suppress(FileExistsError):
            os.link(draft, path)
    finally:
        draft.unlink()

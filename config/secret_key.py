"""The key that signs sessions: made once, kept in the data folder, readable by its owner alone."""

import os
import secrets
from pathlib import Path


def stored_secret_key(path: Path) -> str:
    """The key in ``path``, made first if there is none."""
    try:
        return path.read_text(encoding="ascii").strip()
    except FileNotFoundError:
        pass
    path.parent.mkdir(parents=True, exist_ok=True)
    draft = path.with_name(f".{path.name}.{os.getpid()}")
    draft.touch(mode=0o600)
    draft.write_text(secrets.token_urlsafe(64) + "\n", encoding="ascii")
    try:
        # A link, unlike a rename, fails when another process was first: all end with one key.
        os.link(draft, path)
    except FileExistsError:
        pass
    finally:
        draft.unlink()
    return path.read_text(encoding="ascii").strip()

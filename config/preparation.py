"""Bringing the database and the static files up to date, quickly when they are."""

import hashlib
from pathlib import Path

from django.conf import settings
from django.contrib.staticfiles.finders import get_finders
from django.core.management import call_command
from django.db import connection
from django.db.migrations.executor import MigrationExecutor


def migrate_if_needed() -> bool:
    """Apply what has not been applied; say whether there was anything."""
    executor = MigrationExecutor(connection)
    if not executor.migration_plan(executor.loader.graph.leaf_nodes()):
        return False
    call_command("migrate", interactive=False, verbosity=0)
    return True


def collect_static_if_needed() -> bool:
    """Collect the static files if one has changed; say whether one has."""
    stamp = Path(settings.STATIC_ROOT) / ".fingerprint"
    fingerprint = static_fingerprint()
    try:
        if stamp.read_text(encoding="ascii") == fingerprint:
            return False
    except FileNotFoundError:
        pass
    call_command("collectstatic", interactive=False, verbosity=0, clear=stamp.exists())
    stamp.write_text(fingerprint, encoding="ascii")
    return True


def static_fingerprint() -> str:
    """Changes whenever a source file does; reads no contents."""
    digest = hashlib.sha256()
    for finder in get_finders():
        for path, storage in finder.list([]):
            facts = Path(storage.path(path)).stat()
            digest.update(f"{path}\0{facts.st_size}\0{facts.st_mtime_ns}\n".encode())
    return digest.hexdigest()

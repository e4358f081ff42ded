"""The finished demo that ships with the product: a backup that ``make demo`` writes."""

import logging
import tempfile
from pathlib import Path

import zstandard
from django.conf import settings
from django.db import connection

from benchmarks.locks import session_lock
from benchmarks.models import Run
from config.backups.restore import count_data, restore_backup

FILE = Path(settings.BASE_DIR) / "annotation" / "demo" / "demo.zip.zst"

# `make demo` compresses over its whole length.
WINDOW = 2**27
# Of all runs of the demo. The reports that were computed with it are kept under this number; other
# backups get a new one when they are restored.
DATA_VERSION = 1

logger = logging.getLogger(__name__)


def load_shipped_demo() -> bool:
    """Fill an empty database with the demo, tables and all; say whether it did.

    Of several machines that start at once one does it. Where it cannot be loaded the reason is in
    the log, and the worker makes a demo instead (`annotation.demo.services.ensure_demo`).
    """
    with session_lock("demo"):
        if not FILE.exists() or count_data(connection):
            return False
        try:
            _restore()
        except Exception:
            logger.exception("The demo that ships with PlanJury could not be loaded.")
            return False
    return True


def _restore() -> None:
    with tempfile.NamedTemporaryFile(suffix=".zip", dir=settings.DATA_DIR) as backup:
        with FILE.open("rb") as file:
            zstandard.ZstdDecompressor(max_window_size=WINDOW).copy_stream(file, backup)
        backup.flush()
        restore_backup(Path(backup.name))
    Run.objects.update(data_version=DATA_VERSION)

"""The temporary folder of ``manage.py demo``, chosen before the settings are read."""

import os
import tempfile

# These would lead to data that others keep.
SERVERS = ("DATABASE_URL", "PLANJURY_BROKER_URL", "PLANJURY_DATA_DIR", "PLANJURY_ARCHIVE_DIR")


def use_temporary_folder() -> None:
    """Have the settings of this process name a new folder and the embedded database and broker."""
    for name in SERVERS:
        os.environ.pop(name, None)
    os.environ["PLANJURY_DATA_DIR"] = tempfile.mkdtemp(prefix="planjury-demo-")
    os.environ["PLANJURY_DEMO"] = "1"

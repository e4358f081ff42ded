"""The temporary folder of ``manage.py demo``, chosen before the settings are read."""

import os
import sys
import tempfile

# These would lead to data that others keep.
SERVERS = ("DATABASE_URL", "PLANJURY_BROKER_URL", "PLANJURY_DATA_DIR", "PLANJURY_ARCHIVE_DIR")


def use_temporary_folder() -> None:
    """Have the settings of this process name a new folder and the embedded database and broker.

    Where none can be made, the process ends with what to do.
    """
    for name in SERVERS:
        os.environ.pop(name, None)
    try:
        os.environ["PLANJURY_DATA_DIR"] = tempfile.mkdtemp(prefix="planjury-demo-")
    except OSError as error:
        sys.exit(
            f"The demo needs a temporary folder, and none can be made: {error.strerror}. "
            "Name a folder in TMPDIR that this user may write to."
        )
    os.environ["PLANJURY_DEMO"] = "1"

"""``manage.py restore`` that copies empty tables instead of migrating, for test_backup_live.py.

``restoring.py FILE …``: the file with those tables, then what the command is given. So nearly all
of its time goes into the rows, and that is where most kills meet it.
"""

import sys
from pathlib import Path

import django

django.setup()

from django.core.management import execute_from_command_line  # noqa: E402  (needs the settings)

from config.backups import sqlite  # noqa: E402
from tests import databases  # noqa: E402

if __name__ == "__main__":
    databases.use_copies_of(Path(sys.argv[1]))
    sqlite.MigrationExecutor = databases.CopyingExecutor
    execute_from_command_line(["manage.py", "restore", *sys.argv[2:]])

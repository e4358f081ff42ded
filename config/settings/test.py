"""The tests: tasks run where they are called, passwords are cheap, nothing is kept."""

import atexit
import shutil
import tempfile
from pathlib import Path

from config.databases import sqlite_database

# Settings modules of Django build on one another in this way; base.py defines every name.
from config.settings.base import *  # noqa: F403

DATA_DIR = Path(tempfile.mkdtemp(prefix="planjury-test-"))
atexit.register(shutil.rmtree, DATA_DIR, ignore_errors=True)

SECRET_KEY = "only for the tests"
ALLOWED_HOSTS = ["testserver", "localhost", "127.0.0.1"]
# A file, as in real use: with a database in memory all threads would share one connection.
_database = sqlite_database(DATA_DIR / "planjury.sqlite3")
_database["OPTIONS"]["init_command"] += " PRAGMA synchronous=OFF;"
_database["TEST"] = {"NAME": DATA_DIR / "test.sqlite3"}
DATABASES = {"default": _database}
PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]
EMAIL_BACKEND = "django.core.mail.backends.locmem.EmailBackend"
STATIC_ROOT = DATA_DIR / "static"
STORAGES = {
    "default": {"BACKEND": "django.core.files.storage.InMemoryStorage"},
    # Without a manifest: pages can be rendered before anything was collected.
    "staticfiles": {"BACKEND": "django.contrib.staticfiles.storage.StaticFilesStorage"},
}
# Whitenoise would warn about the folder that is not there.
WHITENOISE_AUTOREFRESH = True

BROKER_DIR = DATA_DIR / "broker"
CELERY_BROKER_TRANSPORT_OPTIONS = {"folder": str(BROKER_DIR), "polling_interval": 0.05}
CELERY_TASK_ALWAYS_EAGER = True
CELERY_TASK_EAGER_PROPAGATES = True

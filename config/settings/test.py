"""The tests: tasks run where they are called, passwords are cheap, nothing is kept.

``PLANJURY_TEST_DATABASE_URL`` and ``PLANJURY_TEST_BROKER_URL`` move them from the embedded database
and broker to a PostgreSQL and a Redis that are there for nothing else: `make test-postgres`.
"""

import atexit
import os
import shutil
import tempfile
from pathlib import Path

from config.settings import env, services

# Settings modules of Django build on one another in this way; base.py defines every name.
from config.settings.base import *  # noqa: F403

DATA_DIR = Path(tempfile.mkdtemp(prefix="planjury-test-"))
ARCHIVE_DIR = DATA_DIR / "archive"
atexit.register(shutil.rmtree, DATA_DIR, ignore_errors=True)

SECRET_KEY = "only for the tests"
ALLOWED_HOSTS = ["testserver", "localhost", "127.0.0.1"]

TEST_DATABASE_URL = env.text("PLANJURY_TEST_DATABASE_URL", default="")
if TEST_DATABASE_URL:
    _database = services.database_from_url(TEST_DATABASE_URL, name="PLANJURY_TEST_DATABASE_URL")
    _database["OPTIONS"]["options"] = "-c synchronous_commit=off"
else:
    # A file, as in real use: with a database in memory all threads would share one connection.
    _database = services.sqlite_database(DATA_DIR / "planjury.sqlite3")
    # Rows that a query leaves in any order come backwards here, and forwards on PostgreSQL: what
    # depends on their order fails on one of the two.
    _database["OPTIONS"]["init_command"] += (
        " PRAGMA synchronous=OFF; PRAGMA reverse_unordered_selects=ON;"
    )
    _database["TEST"] = {"NAME": DATA_DIR / "test.sqlite3"}
_database["CONN_MAX_AGE"] = 0  # the database can be dropped when the last test is over
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
CELERY_BROKER_URL = env.text("PLANJURY_TEST_BROKER_URL", default="fsq://")
if services.is_redis(CELERY_BROKER_URL):
    # Tests run at once in several processes, and each empties its cache: databases of their own.
    _number = int(os.environ.get("PYTEST_XDIST_WORKER", "gw0").removeprefix("gw")) % 16
    CELERY_BROKER_URL = f"{CELERY_BROKER_URL.rpartition('/')[0]}/{_number}"
CELERY_BROKER_TRANSPORT_OPTIONS = services.transport_options(CELERY_BROKER_URL, folder=BROKER_DIR)
CACHES = services.caches(CELERY_BROKER_URL, folder=DATA_DIR)
CELERY_TASK_ALWAYS_EAGER = True
CELERY_TASK_EAGER_PROPAGATES = True
# Other threads do not see what a test has not committed: where it calls, it carries.
ENDPOINT_THREADS = 0

# Tests that ask every address send more than a program may.
API_REQUESTS_PER_MINUTE = 10**6

# Figures are printed by a browser only where a test says so: starting one takes seconds.
CHROMIUM = "off"

"""One person's machine: what `make run` and plain `manage.py` use."""

from config.settings import env

# Settings modules of Django build on one another in this way; base.py defines every name.
from config.settings.base import *  # noqa: F403
from config.settings.base import CACHES, DATA_DIR
from config.settings.env import stored_secret_key

DEBUG = env.flag("PLANJURY_DEBUG", default=False)
if DEBUG:  # whoever edits templates sees at once what they come to
    CACHES["template_fragments"] = {"BACKEND": "django.core.cache.backends.dummy.DummyCache"}
DEMO = env.flag("PLANJURY_DEMO", default=True)
SECRET_KEY = env.text("PLANJURY_SECRET_KEY", default="") or stored_secret_key(
    DATA_DIR / "secret-key"
)

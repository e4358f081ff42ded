"""The shipped settings, with nothing in front of a view but session and sign-in: a yardstick."""

from config.settings.local import *  # noqa: F403

MIDDLEWARE = [
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.common.CommonMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    # Their apps refuse to start without.
    "django.contrib.messages.middleware.MessageMiddleware",
    "allauth.account.middleware.AccountMiddleware",
]
ROOT_URLCONF = "tests.bare_urls"

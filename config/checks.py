"""System checks: what is wrong with the configuration, and what to do about it."""

import os
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from django.conf import settings
from django.core.checks import CheckMessage, Error, Tags, Warning, register
from django.core.exceptions import ImproperlyConfigured
from django.db import connection

from benchmarks.core import plugins
from config.settings.services import is_redis

_LOOPBACK = {"127.0.0.1", "::1", "localhost"}


@register
def data_folder_is_writable(app_configs: Sequence[Any] | None, **kwargs: Any) -> list[CheckMessage]:
    """Check that database, secret key, messages and static files can be written to their folder."""
    folder = Path(settings.DATA_DIR)
    existing = folder
    while not existing.exists():
        existing = existing.parent
    if existing.is_dir() and os.access(existing, os.W_OK | os.X_OK):
        return []
    return [
        Error(
            f"The data folder {folder} cannot be written to.",
            hint="Make it writable for this user, or name another in PLANJURY_DATA_DIR.",
            id="planjury.E001",
        )
    ]


@register(Tags.security)
def secret_key_is_set(app_configs: Sequence[Any] | None, **kwargs: Any) -> list[CheckMessage]:
    """Check that there is a key, without which no session can be signed."""
    try:
        settings.SECRET_KEY  # noqa: B018  (Django refuses an empty key when it is read)
    except ImproperlyConfigured:
        return [
            Error(
                "There is no secret key.",
                hint="Set PLANJURY_SECRET_KEY to 50 random characters or more, "
                "the same on each machine.",
                id="planjury.E002",
            )
        ]
    return []


@register(Tags.security)
def hosts_are_named(app_configs: Sequence[Any] | None, **kwargs: Any) -> list[CheckMessage]:
    """Check that there are host names, without which every request is refused."""
    if settings.ALLOWED_HOSTS or settings.DEBUG:
        return []
    return [
        Error(
            "No host name is allowed, so every request would be refused.",
            hint="Set PLANJURY_ALLOWED_HOSTS to the names people type, separated by commas.",
            id="planjury.E003",
        )
    ]


@register(Tags.security)
def oidc_is_whole(app_configs: Sequence[Any] | None, **kwargs: Any) -> list[CheckMessage]:
    """Check that sign-in by OpenID Connect has all settings: half of them would show nothing."""
    server = settings.OIDC
    if not server.given:
        return []
    if not server.complete:
        needed = {
            "PLANJURY_OIDC_SERVER": server.url,
            "PLANJURY_OIDC_CLIENT_ID": server.client_id,
            "PLANJURY_OIDC_CLIENT_SECRET": server.has_secret,
        }
        missing = " and ".join(name for name, value in needed.items() if not value)
        return [
            Error(
                f"Single sign-on is half configured: {missing} not set.",
                hint="Set all three variables whose names begin with PLANJURY_OIDC_, or none.",
                id="planjury.E008",
            )
        ]
    if not server.secure:
        return [
            Error(
                "The secret of single sign-on would be sent in the clear, or to nowhere.",
                hint="Set PLANJURY_OIDC_SERVER to an address that begins with https://.",
                id="planjury.E009",
            )
        ]
    return []


@register
def broker_has_its_package(app_configs: Sequence[Any] | None, **kwargs: Any) -> list[CheckMessage]:
    """Check for the package of the broker, which background work needs."""
    if not is_redis(settings.CELERY_BROKER_URL) or find_spec("redis") is not None:
        return []
    return [
        Error(
            "The broker needs the package redis, which is not installed.",
            hint="Install it, or leave PLANJURY_BROKER_URL empty for the embedded broker.",
            id="planjury.E005",
        )
    ]


@register
def database_and_broker_fit(app_configs: Sequence[Any] | None, **kwargs: Any) -> list[CheckMessage]:
    """Check that workers elsewhere reach the database: they would find the message, but not its
    row.

    Redis beside SQLite on one machine does no harm, nor does the embedded broker beside PostgreSQL:
    then all workers are on this machine.
    """
    url = settings.CELERY_BROKER_URL
    if connection.vendor != "sqlite" or not is_redis(url) or urlsplit(url).hostname in _LOOPBACK:
        return []
    return [
        Error(
            "The broker is on another machine, but the database is SQLite, a file of this one: "
            "workers elsewhere would not see it.",
            hint="Set DATABASE_URL to a PostgreSQL that all machines reach, or leave "
            "PLANJURY_BROKER_URL empty.",
            id="planjury.E007",
        )
    ]


@register
def web_processes_share_a_cache(
    app_configs: Sequence[Any] | None, **kwargs: Any
) -> list[CheckMessage]:
    """Check that several web processes have Redis: who is at a page and how often somebody tried
    to sign in would else be known to one of them only.
    """
    if settings.WEB_PROCESSES == 1 or is_redis(settings.CELERY_BROKER_URL):
        return []
    return [
        Error(
            "Several web processes need a cache that they share.",
            hint="Set PLANJURY_BROKER_URL to a Redis, or PLANJURY_WEB_PROCESSES to 1.",
            id="planjury.E011",
        )
    ]


@register
def error_reports_have_their_package(
    app_configs: Sequence[Any] | None, **kwargs: Any
) -> list[CheckMessage]:
    """Check for the package that sends error reports, where they have a server."""
    if not settings.SENTRY_DSN or find_spec("sentry_sdk") is not None:
        return []
    return [
        Error(
            "Error reports need the package sentry-sdk, which is not installed.",
            hint="Install requirements/errors.lock, or leave PLANJURY_SENTRY_DSN empty.",
            id="planjury.E010",
        )
    ]


@register(Tags.security, deploy=True)
def proxies_are_counted(app_configs: Sequence[Any] | None, **kwargs: Any) -> list[CheckMessage]:
    """Check that proxies are counted: else everybody seems to come from the proxy's address."""
    if settings.PROXIES_GIVEN:
        return []
    return [
        Warning(
            "PLANJURY_PROXIES is not set: behind a proxy, limits on sign-in would count all people "
            "together.",
            hint="Set it to the number of proxies in front, each adding to X-Forwarded-For; 0 if "
            "people reach this server directly.",
            id="planjury.W002",
        )
    ]


@register(Tags.security)
def demo_stays_here(app_configs: Sequence[Any] | None, **kwargs: Any) -> list[CheckMessage]:
    """Check that the demo is not open to others: everyone knows its passwords."""
    if not settings.DEMO or settings.SERVE_HOST in _LOOPBACK:
        return []
    return [
        Warning(
            "Other machines can reach the demo, whose passwords are known.",
            hint="Set PLANJURY_DEMO=0 before real work, or PLANJURY_HOST=127.0.0.1.",
            id="planjury.W001",
        )
    ]


@register(Tags.security)
def debug_stays_here(app_configs: Sequence[Any] | None, **kwargs: Any) -> list[CheckMessage]:
    """Debug pages show settings and source code."""
    if not settings.DEBUG or settings.SERVE_HOST in _LOOPBACK:
        return []
    return [
        Error(
            "Other machines could see debug pages with source code and settings.",
            hint="Set PLANJURY_DEBUG=0 or PLANJURY_HOST=127.0.0.1.",
            id="planjury.E006",
        )
    ]


@register
def plug_ins_work(app_configs: Sequence[Any] | None, **kwargs: Any) -> list[CheckMessage]:
    """Name the plug-ins that were left out; everything else works without them."""
    return [
        Warning(
            f"The {one.title} of {one.origin} is left out. {one.problem}"
            if one.title != "folder"
            else f"Plug-ins in {one.origin}: {one.problem}",
            hint=one.remedy,
            id="planjury.W003",
        )
        for one in plugins.broken
    ]

"""Unexpected errors are reported to a server that speaks Sentry's protocol, if one is set."""

from typing import Any

from django.conf import settings

from benchmarks.outages import outage_behind


def start_error_reports() -> None:
    """Report errors of this process from now on; a system check says where the extra is missing.

    A report holds the stack and the address of the page, but no form, no cookie, no variable and no
    person: they may hold answers and keys.
    """
    if not settings.SENTRY_DSN:
        return
    try:
        import sentry_sdk
    except ImportError:
        return
    sentry_sdk.init(
        dsn=settings.SENTRY_DSN,
        release=f"planjury@{settings.VERSION}",
        send_default_pii=False,
        max_request_body_size="never",
        include_local_variables=False,
        max_breadcrumbs=0,
        before_send=_before_send,
    )


def _before_send(event: Any, hint: Any) -> Any:
    """Drop errors behind which there is an outage, and all of the request but its address."""
    error = hint.get("exc_info")
    if error and outage_behind(error[1]) is not None:
        return None  # the log says when it begins and ends
    request = event.get("request", {})
    event["request"] = {name: request[name] for name in ("method", "url") if name in request}
    return event

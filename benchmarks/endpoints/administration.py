"""Administrators' decisions on endpoints: allowed hosts, keys, and who may add endpoints.

Each change is recorded in the administration's history.
"""

import os
from collections.abc import Collection, Mapping
from typing import Any

from django.contrib.admin.models import CHANGE, LogEntry
from django.contrib.auth.models import Permission, User
from django.contrib.contenttypes.models import ContentType
from django.db import transaction

from benchmarks.access import OWN_ENDPOINTS
from benchmarks.endpoints.services import EndpointError
from benchmarks.llm.hosts import read_host_rule
from benchmarks.llm.security import KEY_PREFIX, check_key_variable
from benchmarks.models import AllowedHost, Endpoint, EndpointKey


def allow_host(*, entry: str, by: User | None) -> AllowedHost:
    """Allow endpoints to be at a host; raises ``HostRuleError`` for an entry that allows too much.

    Calls follow the list as it is: the next one may go there.
    """
    text = read_host_rule(entry).text
    row, made = AllowedHost.objects.get_or_create(entry=text, defaults={"added_by": by})
    if not made:
        raise EndpointError(f"{text} is in the list already")
    _record(by, row, f"Allowed endpoints at {text}")
    return row


def remove_host(*, host: AllowedHost, by: User | None) -> None:
    """Take a host out of the list; endpoints there cannot be asked any more."""
    _record(by, host, f"No longer allowed endpoints at {host.entry}")
    host.delete()


def bind_key(
    *, variable: str, host: str, users: Collection[User], shared: bool, by: User | None
) -> EndpointKey:
    """Bind a key to one host and to the people who may use it; an earlier binding is replaced."""
    check_key_variable(variable)
    if not variable:
        raise EndpointError("choose the variable of a key")
    rule = read_host_rule(host)
    if rule.kind not in ("name", "address"):
        raise EndpointError("a key is bound to one host, not to a pattern or a range")
    # As base URLs are compared: the port of https is never written.
    text = rule.text.removesuffix(":443") if rule.port == 443 else rule.text
    if rule.kind == "address" and ":" in rule.value and not text.startswith("["):
        text = f"[{text}]"
    with transaction.atomic():
        row, _ = EndpointKey.objects.update_or_create(
            variable=variable, defaults={"host": text, "shared": shared, "bound_by": by}
        )
        row.users.set(users)
        names = ", ".join(sorted(user.get_username() for user in users)) or "nobody"
        _record(by, row, f"Bound {variable} to {text}, for {names}{' and all runs' * shared}")
    return row


def unbind_key(*, key: EndpointKey, by: User | None) -> None:
    """Remove the binding of a key: only administrators' endpoints may use it then, on any host."""
    _record(by, key, f"Unbound {key.variable}")
    key.delete()


def grant_adding(*, user: User, by: User | None) -> None:
    """Let a person add endpoints of their own."""
    user.user_permissions.add(_adding())
    _record(by, user, "May add endpoints")


def revoke_adding(*, user: User, by: User | None) -> None:
    """Take the right to add endpoints from a person; their endpoints stay and can be retired."""
    user.user_permissions.remove(_adding())
    _record(by, user, "May no longer add endpoints")


def people_who_add() -> list[User]:
    """Return the active people who were granted the right to add endpoints, by name."""
    rows = User.objects.filter(is_active=True, user_permissions=_adding())
    return list(rows.order_by("username"))


def _adding() -> Permission:
    about = ContentType.objects.get_for_model(Endpoint)
    return Permission.objects.get(content_type=about, codename=OWN_ENDPOINTS.partition(".")[2])


def set_variables(environ: Mapping[str, str] = os.environ) -> list[str]:
    """Return the names of the variables with keys that are set on this machine."""
    return sorted(name for name in environ if name.startswith(KEY_PREFIX) and environ[name].strip())


def _record(by: User | None, row: Any, message: str) -> None:
    if by is None:
        return
    LogEntry.objects.create(
        user=by, content_type=ContentType.objects.get_for_model(type(row)), object_id=str(row.pk),
        object_repr=str(row)[:200], action_flag=CHANGE, change_message=message,
    )  # fmt: skip

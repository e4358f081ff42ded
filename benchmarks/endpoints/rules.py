"""Rules for endpoints: allowed hosts, the keys that they may use, and who may use them.

The list of allowed hosts in the environment (``PLANJURY_ENDPOINT_HOSTS``) is the base, to which
administrators add on a page. There they bind keys to a host and to people, too. A key that nobody
bound may be used by administrators' endpoints on every allowed host.
"""

import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from django.conf import settings
from django.contrib.auth.models import AnonymousUser, User

from benchmarks.access import ENDPOINTS, OWN_ENDPOINTS
from benchmarks.llm.config import EndpointConfig
from benchmarks.llm.hosts import check_host
from benchmarks.llm.security import Address, EndpointRefused, read_key
from benchmarks.mappers import endpoint_config
from benchmarks.models import AllowedHost, Endpoint, EndpointKey


class KeyBinding(NamedTuple):
    """The host and the people that a key is bound to; ``users`` are ids of active accounts."""

    host: str
    shared: bool
    users: frozenset[int]


@dataclass(frozen=True)
class EndpointRules:
    """The rules as they are now; ``load`` reads them in two queries, three where keys are bound."""

    hosts: tuple[str, ...]
    keys: Mapping[str, KeyBinding] = field(default_factory=dict)

    @classmethod
    def load(cls) -> "EndpointRules":
        added = AllowedHost.objects.values_list("entry", flat=True)
        hosts = dict.fromkeys([*settings.PLANJURY_ENDPOINT_HOSTS, *added])
        rows = list(EndpointKey.objects.all())
        granted: dict[int, set[int]] = {}
        if rows:
            grants = EndpointKey.users.through.objects.filter(user__is_active=True)
            for key, user in grants.values_list("endpointkey_id", "user_id"):
                granted.setdefault(key, set()).add(user)
        keys = {
            row.variable: KeyBinding(row.host, row.shared, frozenset(granted.get(row.pk, ())))
            for row in rows
        }
        return cls(tuple(hosts), keys)

    def check(self, endpoint: Endpoint, config: EndpointConfig | None = None) -> None:
        """Refuse an endpoint that may not be where it is, or not use its key."""
        address = (config or endpoint_config(endpoint)).address
        self.check_address(address, delegated=endpoint.delegated)
        self.check_key(endpoint.key_variable, address, endpoint.delegated, endpoint.created_by_id)

    def check_address(self, address: Address, *, delegated: bool) -> None:
        """Refuse a host that is not allowed; of this machine, delegated endpoints need the port."""
        check_host(address, self.hosts, local_ports=delegated)

    def check_key(
        self, variable: str, address: Address, delegated: bool, maker: int | None
    ) -> None:
        """Refuse a key that is too short or malformed, one on another host than its own, and one
        that a delegate was not granted.
        """
        if not variable:
            return
        if os.environ.get(variable, "").strip():
            # It may be set on workers alone; a key that no endpoint takes is refused at once.
            read_key(variable, os.environ)
        bound = self.keys.get(variable)
        if delegated and (bound is None or maker is None or maker not in bound.users):
            raise EndpointRefused(
                f"the key {variable} is not granted to the maker of this endpoint; an "
                "administrator can grant it"
            )
        if bound is not None and bound.host != address.netloc:
            raise EndpointRefused(
                f"the key {variable} may be sent to {bound.host} alone, not to {address.netloc}"
            )

    def check_use(self, endpoints: Iterable[Endpoint], user: User | None) -> None:
        """Refuse to start something with an endpoint whose key is kept for other people.

        ``user`` is None at the terminal, where everything is allowed.
        """
        if user is None or user.has_perm(ENDPOINTS):
            return
        for endpoint in endpoints:
            bound = self.keys.get(endpoint.key_variable)
            if bound is not None and not bound.shared and user.pk not in bound.users:
                raise EndpointRefused(
                    f"the key of {endpoint.title} is kept for other people; an administrator can "
                    "grant it to you"
                )

    def granted_to(self, user: User) -> dict[str, str]:
        """Return the hosts of the keys that a person was granted, by variable."""
        return {name: key.host for name, key in self.keys.items() if user.pk in key.users}


def is_delegate(user: User | None) -> bool:
    """Return whether endpoints that a person makes are delegated; None is the terminal."""
    return user is not None and not user.has_perm(ENDPOINTS)


def may_add(user: User | AnonymousUser) -> bool:
    """Return whether a person may add endpoints."""
    return user.has_perm(ENDPOINTS) or user.has_perm(OWN_ENDPOINTS)


def may_change(user: Any, endpoint: Endpoint) -> bool:
    """Return whether a person may change, try and retire an endpoint, and see its address."""
    if user.has_perm(ENDPOINTS):
        return True
    own = endpoint.delegated and endpoint.created_by_id == user.pk
    return bool(own and user.has_perm(OWN_ENDPOINTS))

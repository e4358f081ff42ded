"""The server as the environment names it. Without it nothing here is loaded."""

import re
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

APP = "allauth.socialaccount.providers.openid_connect"
_LOOPBACK = {"127.0.0.1", "::1", "localhost"}


@dataclass(frozen=True)
class OidcServer:
    """What three variables say, and a name for the button. ``repr`` shows no secret."""

    url: str
    client_id: str
    name: str
    has_secret: bool

    @property
    def given(self) -> bool:
        """Whether anything was set."""
        return bool(self.url or self.client_id or self.has_secret)

    @property
    def complete(self) -> bool:
        """Whether it can be used."""
        return bool(self.url and self.client_id and self.has_secret)

    @property
    def secure(self) -> bool:
        """Whether secrets are sent to it encrypted, or stay on this machine."""
        parts = urlsplit(self.url)
        if not parts.hostname:
            return False
        return parts.scheme == "https" or (parts.scheme == "http" and parts.hostname in _LOOPBACK)

    @property
    def key(self) -> str:
        """Its name in addresses and beside stored identities.

        Made of the whole address: where another server takes its place, nobody who happens to have
        the same number there comes into somebody's account.
        """
        parts = urlsplit(self.url)
        path = parts.path.partition("/.well-known/")[0]
        return re.sub(r"[^a-z0-9]+", "-", f"{parts.netloc}{path}".lower()).strip("-")


def provider_settings(server: OidcServer, *, secret: str) -> dict[str, Any]:
    """The server in allauth's words."""
    app = {
        "provider_id": server.key,
        "name": server.name,
        "client_id": server.client_id,
        "secret": secret,
        "settings": {"server_url": server.url},
    }
    return {"openid_connect": {"OAUTH_PKCE_ENABLED": True, "APPS": [app]}}

"""Security rules for endpoints: where calls may go, and how keys stay secret.

The rules (docs/endpoints.md): a key is named by a variable that starts with
``PLANJURY_KEY_``; the host stands in a list (``hosts``); plain http goes to this machine alone; no
user names or query strings in addresses; redirects are not followed; the environment's proxies are
not used. ``transport`` applies them to each request once more. Redaction is the last line of
defence: nothing should reach it.
"""

import base64
import ipaddress
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from urllib.parse import quote

from benchmarks.core.errors import CoreError

KEY_PREFIX = "PLANJURY_KEY_"
REDACTED = "[redacted]"
SHORTEST_KEY = 8
# A piece of a key of this length gives too much of it away.
FRAGMENT = 12
LONGEST_QUOTE = 200

# Strict rather than clever: what one parser of addresses takes for the host is a path to another.
_ADDRESS = re.compile(
    r"(?P<scheme>https?)://"
    r"(?P<host>[a-z0-9](?:[a-z0-9.-]*[a-z0-9])?|\[[0-9a-f:.]+\])"
    r"(?::(?P<port>[0-9]{1,5}))?"
    r"(?P<path>(?:/[A-Za-z0-9._~%+-]*)*)",
    re.ASCII,
)
# Resolvers read 2130706433, 0x7f000001, 127.1 and 0177.0.0.1 as addresses of this machine.
_NUMBER = re.compile(r"(?:^|\.)(?:[0-9]+|0x[0-9a-f]*)$", re.ASCII)
_VARIABLE = re.compile(KEY_PREFIX + r"[A-Z0-9_]{1,60}", re.ASCII)
# Words are tried from their first character alone, and addresses match with or without a query, so
# that no text takes longer than its length.
_QUERY = re.compile(r"(?<!\w)(\w+://[^\s?#]*)(?:[?#]\S*)?")
_USER = re.compile(r"(?<!\w)(\w+://)[^\s/@]*@")
# "Bearer …", and what providers show of a key: its ends with stars or dots between.
_CREDENTIAL = re.compile(
    r"(?i)\bbearer\s+\S+|(?<!\S)\S*?\*{3}\S*|\bsk-\S+|\bauthorization\b.{0,100}\S*"
)


class EndpointRefused(CoreError):
    """An endpoint that the rules do not allow. Says which rule, never the address itself."""


class ReplyRefused(EndpointRefused):
    """An error: the reply is not taken; the question has been asked, and perhaps billed."""


@dataclass(frozen=True)
class Address:
    """The address of an endpoint, taken apart."""

    scheme: str
    host: str
    port: int
    path: str

    @property
    def netloc(self) -> str:
        host = f"[{self.host}]" if ":" in self.host else self.host
        usual = {"http": 80, "https": 443}[self.scheme]
        return host if self.port == usual else f"{host}:{self.port}"

    @property
    def loopback(self) -> bool:
        if self.host == "localhost":
            return True
        return _is_literal(self.host) and ipaddress.ip_address(self.host).is_loopback


def read_address(url: str) -> Address:
    """Return the parts of a base URL that is nothing but scheme, host, port and path."""
    if "@" in url:
        raise EndpointRefused("the base URL must hold no user name or password")
    if "?" in url or "#" in url:
        raise EndpointRefused("the base URL must hold no query string and no fragment")
    scheme, _, rest = url.partition("://")
    authority, slash, path = rest.partition("/")
    parts = _ADDRESS.fullmatch(f"{scheme}://{authority}".lower() + slash + path)
    if parts is None or len(url) > 300:
        raise EndpointRefused(
            "the base URL must look like https://host/v1 or http://localhost:1/v1"
        )
    port = int(parts["port"] or {"http": 80, "https": 443}[parts["scheme"]])
    if not 0 < port < 65536:
        raise EndpointRefused("the port of the base URL must lie between 1 and 65535")
    host = parts["host"].strip("[]")
    if _NUMBER.search(host) and not _is_literal(host):
        raise EndpointRefused(
            "the host of the base URL is a number; write an address in its usual form"
        )
    address = Address(parts["scheme"], host, port, parts["path"])
    if address.scheme == "http" and not address.loopback:
        raise EndpointRefused("plain http is for this machine alone; other hosts need https")
    return address


def _is_literal(host: str) -> bool:
    try:
        ipaddress.ip_address(host)
    except ValueError:
        return False
    return True


def check_key_variable(name: str) -> None:
    """Refuse variables that were not meant for this, whose values an endpoint must not see."""
    if name and not _VARIABLE.fullmatch(name):
        raise EndpointRefused(
            f"the key's variable must start with {KEY_PREFIX} and go on in capitals, digits and _"
        )


class Secret:
    """A key that does not show in representations, tracebacks, pickles or logs."""

    __slots__ = ("_value",)

    def __init__(self, value: str) -> None:
        self._value = value

    def reveal(self) -> str:
        return self._value

    def __repr__(self) -> str:
        return "Secret(…)"

    def __reduce__(self) -> str:
        raise TypeError("a secret cannot be stored")


def read_key(variable: str, environ: Mapping[str, str]) -> Secret | None:
    """Return the key in a variable; None where an endpoint needs none."""
    check_key_variable(variable)
    if not variable:
        return None
    value = environ.get(variable, "").strip()
    if not value:
        raise EndpointRefused(f"the environment variable {variable} is not set")
    if len(value) < SHORTEST_KEY:
        raise EndpointRefused(
            f"the key in {variable} has fewer than {SHORTEST_KEY} characters; an endpoint that "
            "needs no key needs no variable"
        )
    if not all("!" <= character <= "~" for character in value):
        raise EndpointRefused(f"the key in {variable} holds characters that no key has")
    return Secret(value)


class Redactor:
    """Takes a key out of texts: whole, in pieces, backwards, and in the usual encodings."""

    __slots__ = ("_blocks", "_forms", "_piece")

    def __init__(self, secret: Secret | None) -> None:
        forms = sorted(set(_forms(secret.reveal())), key=len) if secret else []
        self._forms = tuple(forms)
        self._piece = min((FRAGMENT, *map(len, forms)))
        # Any piece of that length covers one whole block, so texts without a block are clean.
        half = max(1, (self._piece + 1) // 2)
        self._blocks = tuple(
            {form[i : i + half] for form in forms for i in range(0, len(form) - half + 1, half)}
        )

    def __repr__(self) -> str:
        return "Redactor(…)"

    def clean(self, text: str) -> str:
        """Return ``text`` without the key."""
        if not any(block in text for block in self._blocks):
            return text
        for form in self._forms:
            text = text.replace(form, REDACTED)
        for form in self._forms:
            for start in range(len(form) - self._piece + 1):
                text = _without(text, form, start, self._piece)
        return text

    def quote(self, words: str) -> str:
        """Return a server's words as one short line fit to be shown to who looks after
        endpoints.
        """
        line = " ".join(self.clean(words).split())[: 4 * LONGEST_QUOTE]
        line = _USER.sub(r"\1", _QUERY.sub(r"\1", line))
        line = _CREDENTIAL.sub(REDACTED, line)
        line = "".join(character for character in line if character.isprintable())
        return line if len(line) <= LONGEST_QUOTE else line[: LONGEST_QUOTE - 1] + "…"


def _without(text: str, form: str, start: int, length: int) -> str:
    """Return ``text`` without each stretch that begins with ``length`` characters of ``form``."""
    piece = form[start : start + length]
    kept, position = [], 0
    while (at := text.find(piece, position)) >= 0:
        kept += [text[position:at], REDACTED]
        position, end = at + length, start + length
        while position < len(text) and end < len(form) and text[position] == form[end]:
            position, end = position + 1, end + 1
    return "".join([*kept, text[position:]]) if kept else text


def _forms(key: str) -> Iterator[str]:
    yield key
    yield key[::-1]
    yield key.encode().hex()
    yield quote(key, safe="")
    for shift in range(3):
        # What stands before the key moves it against the groups of three that base64 works in.
        coded = base64.b64encode(b"x" * shift + key.encode()).decode()
        yield coded.rstrip("=")[(0, 2, 3)[shift] : -1]

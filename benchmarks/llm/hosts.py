"""The hosts that may be called, and the network addresses that their names may resolve to.

A list of allowed hosts holds names (``api.example.org``), patterns for all names below a domain
(``*.example.org``), addresses (``10.1.2.3``, ``[fd00::7]``) and private ranges (``10.1.0.0/16``);
names, patterns and addresses may name a port (``host:8443``). An entry that breaks these rules
allows nothing.

A name alone says little: whoever serves its DNS decides where it leads, and may change that between
two look-ups (DNS rebinding). So each address that a name resolves to is checked when a connection
is opened, and the connection goes to that very address:

* public addresses are allowed;
* private ones only for names that are listed in full, not through a pattern, and only where the
  address or its range is listed, too;
* this machine and link-local addresses (which serve credentials in clouds) only where the base URL
  itself names the address, or ``localhost``.
"""

import ipaddress
import re
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

from benchmarks.llm.security import Address, EndpointRefused

LOOPBACK = ("localhost", "127.0.0.1", "::1")

IPAddress = ipaddress.IPv4Address | ipaddress.IPv6Address
IPNetwork = ipaddress.IPv4Network | ipaddress.IPv6Network
# NAT64 (RFC 6052): the last 32 bits are the IPv4 address that is reached.
_NAT64 = ipaddress.ip_network("64:ff9b::/96")
_LABEL = re.compile(r"[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?", re.ASCII)
_PORT = re.compile(r"[0-9]{1,5}", re.ASCII)
# Labels that some resolvers read as a part of a number: 2130706433, 0x7f, 0177.
_NUMERIC = re.compile(r"[0-9]+|0x[0-9a-f]*", re.ASCII)
_LONGEST_NAME = 253


class HostRuleError(EndpointRefused):
    """Raised for an entry that the list of allowed hosts does not take; the text says why."""


@dataclass(frozen=True)
class HostRule:
    """One entry of a list of allowed hosts: its kind, its value, and the port if it names one."""

    kind: Literal["name", "pattern", "address", "range"]
    value: str
    port: int | None = None

    @property
    def text(self) -> str:
        """The entry in its usual spelling."""
        value = f"*.{self.value}" if self.kind == "pattern" else self.value
        if self.port is None:
            return value
        return f"[{value}]:{self.port}" if ":" in value else f"{value}:{self.port}"

    def allows(self, address: Address) -> bool:
        """Return whether a base URL with this address falls under the entry."""
        if self.port is not None and self.port != address.port:
            return False
        literal = _literal(address.host)
        match self.kind:
            case "name":
                return literal is None and address.host == self.value
            case "pattern":
                return literal is None and address.host.endswith(f".{self.value}")
            case "address":
                return literal is not None and literal == ipaddress.ip_address(self.value)
        return literal is not None and _inside(literal, self.value)

    def covers(self, address: IPAddress) -> bool:
        """Return whether an address that a name resolves to is listed by this entry."""
        if self.kind == "address":
            return address == ipaddress.ip_address(self.value)
        return self.kind == "range" and _inside(address, self.value)


@lru_cache(maxsize=1024)
def read_host_rule(text: str) -> HostRule:
    """Return the rule that an entry of a list of allowed hosts means.

    Raises
    ------
    HostRuleError
        If the entry is none, or would allow too much; the text says what is expected.
    """
    entry = text.strip().lower()
    if not entry or len(entry) > _LONGEST_NAME + 8:
        raise HostRuleError("expected a host such as api.example.org or *.example.org")
    if "/" in entry:
        return HostRule("range", str(_private_range(entry)))
    host, port = _split(entry)
    literal = _literal(host)
    if literal is not None:
        return HostRule("address", str(literal), port)
    if host.startswith("*."):
        name = _checked_name(host[2:])
        if "." not in name:
            raise HostRuleError(
                f"{text.strip()!r} would allow a whole top-level domain; name at least two parts, "
                "such as *.example.org"
            )
        return HostRule("pattern", name, port)
    if "*" in host:
        raise HostRuleError(
            "a pattern begins with *. and goes on with a domain, such as *.example.org; "
            "* alone is not allowed"
        )
    return HostRule("name", _checked_name(host), port)


def _split(entry: str) -> tuple[str, int | None]:
    """Return the host and the port of an entry."""
    if entry.startswith("["):
        host, closed, rest = entry[1:].partition("]")
        if not closed or _literal(host) is None or (rest and not rest.startswith(":")):
            raise HostRuleError("an IPv6 address is written as [fd00::7] or [fd00::7]:8443")
        port = rest[1:] if rest else None
    elif entry.count(":") > 1:
        host, port = entry, None
        if _literal(host) is None:
            raise HostRuleError("an IPv6 address is written as [fd00::7] or [fd00::7]:8443")
    else:
        host, colon, rest = entry.partition(":")
        port = rest if colon else None
    if port is None:
        return host, None
    if not _PORT.fullmatch(port) or not 0 < int(port) < 65536:
        raise HostRuleError("the port must lie between 1 and 65535")
    return host, int(port)


def _checked_name(host: str) -> str:
    labels = host.split(".")
    if len(host) > _LONGEST_NAME or not all(_LABEL.fullmatch(label) for label in labels):
        raise HostRuleError(
            f"{host!r} is no host name: expected letters, digits, hyphens and dots, without "
            "https:// and without a path"
        )
    if _NUMERIC.fullmatch(labels[-1]):
        raise HostRuleError(f"{host!r} is a number, no host name; write addresses as 10.1.2.3")
    return host


def _private_range(entry: str) -> IPNetwork:
    try:
        network = ipaddress.ip_network(entry)
    except ValueError:
        raise HostRuleError(
            "a range is written as 10.1.0.0/16, with zeros behind its prefix; base URLs do not "
            "belong into the list"
        ) from None
    ends = network[0], network[-1]
    if any(_harmful(end) for end in ends) or not all(_private(end) for end in ends):
        raise HostRuleError(
            "a range must be private, such as 10.1.0.0/16; ranges of this machine, link-local and "
            "public ones are not allowed"
        )
    return network


@lru_cache(maxsize=1024)
def _literal(host: str) -> IPAddress | None:
    """Return the address that a host is, if it is one; asked at every call."""
    try:
        address = ipaddress.ip_address(host)
    except ValueError:
        return None
    return None if getattr(address, "scope_id", None) else address


def _inside(address: IPAddress, network: str) -> bool:
    return address in ipaddress.ip_network(network)


def _rules(hosts: Collection[str]) -> Iterator[HostRule]:
    """Return the rules of the entries that are valid; others allow nothing."""
    for entry in hosts:
        try:
            yield read_host_rule(entry)
        except HostRuleError:
            continue


def check_host(address: Address, hosts: Collection[str], *, local_ports: bool = False) -> None:
    """Refuse an address whose host is not in the list of allowed hosts.

    With ``local_ports``, an endpoint on this machine or at a private address needs an entry that
    names its port: other services may listen there, and they may trust this machine.
    """
    allowing = [rule for rule in _rules(hosts) if rule.allows(address)]
    if not allowing:
        known = sorted({host.strip().lower().strip("[]") for host in hosts})
        raise EndpointRefused(
            f"the host {address.host!r} is not in the list of allowed hosts "
            f"({', '.join(known) or 'which is empty'})"
        )
    if local_ports and _is_local(address) and all(rule.port is None for rule in allowing):
        raise EndpointRefused(
            f"{address.netloc} is on this machine or in a private network; an administrator must "
            f"list it with its port ({address.host}:{address.port})"
        )


def _is_local(address: Address) -> bool:
    literal = _literal(address.host)
    return address.loopback or (literal is not None and not _public(literal))


def check_resolved(address: Address, resolved: str, hosts: Collection[str]) -> None:
    """Refuse a network address that the host of ``address`` resolves to, if no rule allows it."""
    literal = _literal(resolved.partition("%")[0])
    if literal is None:
        raise EndpointRefused("the host resolves to something that is no address")
    if address.host == "localhost":
        allowed = _reached(literal).is_loopback
    elif _literal(address.host) is not None:
        allowed = literal == _literal(address.host)
    else:
        allowed = _public(literal) or (
            _private(literal)
            and any(rule.kind == "name" and rule.allows(address) for rule in _rules(hosts))
            and any(rule.covers(_reached(literal)) for rule in _rules(hosts))
        )
    if not allowed:
        raise EndpointRefused(
            f"the host {address.host!r} resolves to {literal}, which is "
            + (
                "a private address; list the host in full, and the address or its range, too"
                if _private(literal)
                else "not an address that it may be at"
            )
        )


def _reached(address: IPAddress) -> IPAddress:
    """Return the address that is really reached: some IPv6 addresses stand for an IPv4 one."""
    if isinstance(address, ipaddress.IPv6Address):
        if address.ipv4_mapped is not None:
            return address.ipv4_mapped
        if address.sixtofour is not None:
            return address.sixtofour
        if address in _NAT64 or int(address) >> 32 == 0 and int(address) > 1:
            return ipaddress.IPv4Address(int(address) & 0xFFFFFFFF)
    return address


def _public(address: IPAddress) -> bool:
    return _reached(address).is_global and not _harmful(address)


def _private(address: IPAddress) -> bool:
    return not _harmful(address) and not _reached(address).is_global


def _harmful(address: IPAddress) -> bool:
    """Return whether an address is this machine, link-local, or none of a single machine."""
    real = _reached(address)
    return (
        real.is_loopback
        or real.is_link_local
        or real.is_multicast
        or real.is_unspecified
        or real.is_reserved
        or (isinstance(real, ipaddress.IPv6Address) and real.is_site_local)
        or (isinstance(real, ipaddress.IPv4Address) and int(real) >> 24 == 0)
    )


class AddressGate:
    """Checks where connections of one line go, by the list of hosts of its latest call."""

    def __init__(self, address: Address, hosts: Collection[str]) -> None:
        self.address, self.hosts = address, hosts

    def check(self, resolved: str) -> None:
        check_resolved(self.address, resolved, self.hosts)

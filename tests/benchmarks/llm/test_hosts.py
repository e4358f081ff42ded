"""Tests of allowed hosts and of the addresses of their names: lists, patterns and tricks."""

import socket
from typing import Any

import httpcore2
import pytest

from benchmarks.core.errors import AnswererFailed
from benchmarks.llm import connections
from benchmarks.llm.endpoint import EndpointAnswerer
from benchmarks.llm.hosts import (
    LOOPBACK,
    HostRuleError,
    check_host,
    check_resolved,
    read_host_rule,
)
from benchmarks.llm.security import EndpointRefused, read_address
from tests.benchmarks.llm.stage import KEY, QUICK, VARIABLE, ask, config

URL = "https://models.example.org:8443/v1"


class TestHosts:
    @pytest.mark.parametrize("url", ["http://localhost:1/v1", "http://127.0.0.1:9", "http://[::1]"])
    def test_this_machine_is_allowed_by_default(self, url):
        check_host(read_address(url), LOOPBACK)

    @pytest.mark.parametrize(
        "hosts",
        [["models.example.org"], ["Models.example.org:8443"], ["x", " models.example.org"],
         ["*.example.org"], ["*.Example.org:8443"]],
    )  # fmt: skip
    def test_a_host_in_the_list_is_allowed(self, hosts):
        check_host(read_address(URL), hosts)

    @pytest.mark.parametrize(
        "hosts",
        [LOOPBACK, [], ["example.org"], ["models.example.org:443"], ["evil.models.example.org"],
         ["*.models.example.org"], ["*.example.org:443"],
         # entries that are not allowed allow nothing, wherever they come from
         ["*"], ["*.org"], ["*example.org"], ["models.*.org"], ["https://models.example.org"]],
    )  # fmt: skip
    def test_others_are_not(self, hosts):
        with pytest.raises(EndpointRefused, match="not in the list of allowed hosts"):
            check_host(read_address(URL), hosts)

    def test_a_list_without_this_machine_shuts_it_out(self):
        with pytest.raises(EndpointRefused, match=r"'localhost' .* \(models.example.org\)"):
            check_host(read_address("http://localhost:1/v1"), ["models.example.org"])

    @pytest.mark.parametrize(
        "host",
        ["evil-example.org", "example.org.evil", "example.org.evil.net", "example.org",
         "xexample.org",
         "a.example.org.evil", "10.1.2.3", "127.0.0.1", "localhost", "[::1]", "[::ffff:127.0.0.1]",
         "[::ffff:a01:203]"],
    )  # fmt: skip
    def test_a_pattern_matches_names_below_its_domain_alone(self, host):
        with pytest.raises(EndpointRefused, match="not in the list"):
            check_host(read_address(f"https://{host}/v1"), ["*.example.org"])
        check_host(read_address("https://a.b.example.org/v1"), ["*.example.org"])

    @pytest.mark.parametrize(
        "host",
        ["2130706433", "0x7f000001", "127.1", "0177.0.0.1", "127.0.0.0x1", "999.1.1.1",
         "017700000001", "example.1"],
    )  # fmt: skip
    def test_numbers_are_no_host_names(self, host):
        with pytest.raises(EndpointRefused, match="is a number"):
            read_address(f"https://{host}/v1")

    def test_an_address_is_the_same_however_it_is_written(self):
        check_host(read_address("http://[0:0:0:0:0:0:0:1]:8000/v1"), ["[::1]:8000"])
        check_host(read_address("https://10.1.2.3/v1"), ["10.1.0.0/16"])
        for hosts in (["10.2.0.0/16"], ["[::ffff:10.1.2.3]"], ["0.0.0.0/0"]):
            with pytest.raises(EndpointRefused):
                check_host(read_address("https://10.1.2.3/v1"), hosts)

    def test_ports_of_this_machine_can_be_asked_for_one_by_one(self):
        local = read_address("http://localhost:11434/v1")
        check_host(local, ["localhost:11434", "localhost"], local_ports=True)
        for url in ("http://localhost:11434/v1", "http://127.0.0.1:6379", "https://10.1.2.3/v1"):
            with pytest.raises(EndpointRefused, match="list it with its port"):
                check_host(read_address(url), [*LOOPBACK, "10.1.2.3"], local_ports=True)
        check_host(read_address(URL), ["*.example.org"], local_ports=True)

    @pytest.mark.parametrize(
        ("entry", "reason"),
        [("", "expected a host"), ("*", r"begins with \*\."), ("*.org", "top-level"),
         ("*.*.org", "no host name"), ("a.*.org", r"begins with \*\."), ("*.1", "top-level|number"),
         ("https://api.example.org", "a range is written"), ("api.example.org/v1", "a range"),
         ("api_x.example.org", "no host name"), ("api.example.org:0", "port"), ("127.1", "number"),
         ("api.example.org:http", "port"), ("a..b", "no host name"), ("user@host.org", "no host"),
         ("8.8.8.0/24", "must be private"), ("127.0.0.0/8", "must be private"),
         ("169.254.0.0/16", "must be private"), ("0.0.0.0/0", "must be private"),
         ("10.1.2.3/16", "a range is written"), ("::/0", "must be private"),
         ("fe80::1%eth0", "IPv6"),
         ("::ffff:0:0/96", "must be private"),
         ("xn--a b.org", "no host name"), ("é.org", "no host")],
    )  # fmt: skip
    def test_entries_that_the_list_does_not_take(self, entry, reason):
        with pytest.raises(HostRuleError, match=reason):
            read_host_rule(entry)

    @pytest.mark.parametrize(
        ("entry", "text"),
        [(" API.Example.org ", "api.example.org"), ("*.example.org:8443", "*.example.org:8443"),
         ("[FD00::7]:8000", "[fd00::7]:8000"), ("fd00::7", "fd00::7"), ("10.0.0.0/8", "10.0.0.0/8"),
         ("127.0.0.1:11434", "127.0.0.1:11434")],
    )  # fmt: skip
    def test_entries_are_kept_in_their_usual_spelling(self, entry, text):
        assert read_host_rule(entry).text == text


PUBLIC, PRIVATE = "93.184.216.34", "10.1.2.3"
NAMED = ["models.example.org"]


class TestResolving:
    @pytest.mark.parametrize("found", [PUBLIC, "2606:4700::1111", "::ffff:93.184.216.34"])
    def test_public_addresses_are_allowed(self, found):
        check_resolved(read_address(URL), found, NAMED)

    @pytest.mark.parametrize(
        "found",
        ["127.0.0.1", "127.8.8.8", "::1", "0.0.0.0", "::", "169.254.169.254", "fe80::1", "10.1.2.3",
         "172.16.0.1", "192.168.1.1", "100.100.100.200", "fd00:ec2::254", "fec0::1", "224.0.0.1",
         "255.255.255.255", "::ffff:127.0.0.1", "::ffff:10.1.2.3", "::7f00:1", "2002:7f00:1::",
         "2002:a01:203::", "64:ff9b::7f00:1", "64:ff9b::a9fe:a9fe", "0.1.2.3", "nonsense"],
    )  # fmt: skip
    @pytest.mark.parametrize("hosts", [NAMED, [*NAMED, *LOOPBACK], ["*.example.org", *LOOPBACK]])
    def test_a_name_leads_nowhere_inside(self, found, hosts):
        with pytest.raises(EndpointRefused, match="resolves to"):
            check_resolved(read_address(URL), found, hosts)

    @pytest.mark.parametrize("also", ["10.1.2.3", "10.1.0.0/16"])
    def test_a_private_address_has_to_be_listed_beside_the_name_in_full(self, also):
        check_resolved(read_address(URL), PRIVATE, [*NAMED, also])
        with pytest.raises(EndpointRefused, match="a private address"):
            check_resolved(read_address(URL), PRIVATE, ["*.example.org", also])
        with pytest.raises(EndpointRefused, match="a private address"):
            check_resolved(read_address(URL), "10.2.2.3", [*NAMED, also])

    def test_this_machine_and_link_local_addresses_are_never_reached_by_a_name(self):
        for found in ("127.0.0.1", "169.254.169.254"):
            with pytest.raises(EndpointRefused):
                check_resolved(read_address(URL), found, [*NAMED, found])
            check_resolved(read_address(f"https://{found}/v1"), found, [found])

    def test_localhost_is_this_machine(self):
        check_resolved(read_address("http://localhost:1/v1"), "127.0.0.1", LOOPBACK)
        for found in (PUBLIC, PRIVATE, "169.254.169.254"):
            with pytest.raises(EndpointRefused):
                check_resolved(read_address("http://localhost:1/v1"), found, LOOPBACK)


class Resolver:
    """A resolver whose answers change from one look-up to the next, and the connections made."""

    def __init__(self, *answers: list[str]) -> None:
        self.answers = list(answers)
        self.connected: list[str] = []
        self.looked_up = 0

    def getaddrinfo(self, host: str, port: int, **kinds: Any) -> list[Any]:
        self.looked_up += 1
        found = self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]
        return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (one, port)) for one in found]

    def connect_tcp(self, _: Any, host: str, *rest: Any) -> Any:
        self.connected.append(host)
        raise httpcore2.ConnectError("nobody is there")


@pytest.fixture
def resolver(monkeypatch):
    def install(*answers: list[str]) -> Resolver:
        made = Resolver(*answers)
        monkeypatch.setattr("benchmarks.llm.transport.socket.getaddrinfo", made.getaddrinfo)
        monkeypatch.setattr(
            httpcore2.SyncBackend, "connect_tcp", lambda *given: made.connect_tcp(*given)
        )
        return made

    yield install
    connections.close_connections()


def failure(hosts: list[str]) -> str:
    who = EndpointAnswerer(
        config(base_url=URL, key_variable=VARIABLE, timeout=2.0),
        hosts=hosts,
        policy=QUICK,
        environ={VARIABLE: KEY},
        sleep=lambda seconds: None,
    )
    with pytest.raises(AnswererFailed) as failed:
        who.answer(ask(), 1)
    return str(failed.value)


class TestConnecting:
    def test_the_connection_goes_to_the_address_that_was_checked(self, resolver):
        made = resolver([PUBLIC, "93.184.216.35"])
        assert "cannot be reached, gave up after 4 tries" in failure(NAMED)
        assert made.connected == [PUBLIC, "93.184.216.35"] * 4
        assert made.looked_up == 4  # once for each try, never again for the connection

    def test_one_address_that_is_not_allowed_refuses_all_of_them(self, resolver):
        made = resolver([PUBLIC, "169.254.169.254"])
        told = failure(NAMED)
        assert "resolves to 169.254.169.254, which is not an address that it may be at" in told
        assert "tries" not in told  # to try again would not help
        assert made.connected == []

    def test_a_name_that_is_rebound_between_tries_is_refused(self, resolver):
        made = resolver([PUBLIC], ["127.0.0.1"])
        assert "resolves to 127.0.0.1" in failure([*NAMED, *LOOPBACK])
        assert made.connected == [PUBLIC]

    def test_a_changed_list_holds_for_the_next_connection(self, resolver):
        made = resolver([PRIVATE])
        assert "list the host in full, and the address or its range, too" in failure(NAMED)
        assert made.connected == []
        assert "cannot be reached" in failure([*NAMED, PRIVATE])
        assert set(made.connected) == {PRIVATE}
        assert "not in the list of allowed hosts" in failure(["else.example.org"])

    def test_a_host_without_an_address_cannot_be_reached(self, resolver, monkeypatch):
        resolver([PUBLIC])

        def fail(*given: Any, **kinds: Any) -> Any:
            raise socket.gaierror("unknown")

        monkeypatch.setattr("benchmarks.llm.transport.socket.getaddrinfo", fail)
        assert "cannot be reached" in failure(NAMED)

"""Tests cannot reach the network."""

import socket

import pytest


def test_another_machine_cannot_be_reached() -> None:
    with socket.socket() as sock, pytest.raises(RuntimeError, match="may not connect to 192.0.2.1"):
        sock.connect(("192.0.2.1", 80))


def test_this_machine_can_be_reached() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        socket.create_connection(server.getsockname()).close()

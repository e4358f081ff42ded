"""Certificates are verified, by the system's authorities or by a private one."""

import ssl
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from benchmarks.core.errors import AnswererFailed
from devtools.fake_endpoint.server import FakeServer
from tests.benchmarks.llm.stage import answerer, ask


def make_certificate(folder: Path, host: str) -> Path:
    """A certificate for ``host`` that vouches for itself, with its key, in one file."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, host)])
    now = datetime.now(UTC)
    certificate = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - timedelta(days=1))
        .not_valid_after(now + timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName([x509.DNSName(host)]), critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .sign(key, hashes.SHA256())
    )
    path = folder / f"{host}.pem"
    private = key.private_bytes(
        serialization.Encoding.PEM,
        serialization.PrivateFormat.PKCS8,
        serialization.NoEncryption(),
    )
    path.write_bytes(private + certificate.public_bytes(serialization.Encoding.PEM))
    return path


def over_tls(server: FakeServer, certificate: Path) -> str:
    """Wrap a server that has not been asked yet; its base URL."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate)
    server.socket = context.wrap_socket(
        server.socket, server_side=True, do_handshake_on_connect=False
    )
    return f"https://localhost:{server.server_port}/v1"


def test_a_certificate_that_nobody_vouches_for_is_refused_at_once(serve, tmp_path):
    server = serve()
    url = over_tls(server, make_certificate(tmp_path, "localhost"))
    with pytest.raises(AnswererFailed) as failed:
        answerer(server, base_url=url).answer(ask(), 1)
    assert str(failed.value) == "endpoint 'test': its certificate cannot be verified"
    assert server.counts.received == 0


def test_a_private_authority_is_trusted_where_it_is_named(serve, tmp_path, monkeypatch):
    certificate = make_certificate(tmp_path, "localhost")
    monkeypatch.setenv("SSL_CERT_FILE", str(certificate))
    server = serve()
    answer = answerer(server, base_url=over_tls(server, certificate)).answer(ask(), 1)
    assert answer.text.startswith("1. ")


def test_a_certificate_for_another_name_is_refused(serve, tmp_path, monkeypatch):
    certificate = make_certificate(tmp_path, "models.example.org")
    monkeypatch.setenv("SSL_CERT_FILE", str(certificate))
    server = serve()
    with pytest.raises(AnswererFailed, match="its certificate cannot be verified"):
        answerer(server, base_url=over_tls(server, certificate)).answer(ask(), 1)
    assert server.counts.received == 0

"""An OpenID Connect server for tests: one identity, real HTTP, codes that hold PKCE to its word."""

import base64
import hashlib
import json
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, urlsplit

import jwt

CLIENT_ID, SECRET = "planjury-tests", "only-in-the-environment"


class IdentityServer:
    """Answers the four requests of the authorization code flow."""

    def __init__(self, http: ThreadingHTTPServer) -> None:
        self.url = f"http://127.0.0.1:{http.server_port}"
        self.identity: dict[str, Any] = {}
        self.audience = CLIENT_ID
        self._asked: dict[str, str] = {}

    def sign_in(self, address: str) -> dict[str, str]:
        """Return what the person's browser does at the server: the parameters it brings back."""
        asked = {key: values[0] for key, values in parse_qs(urlsplit(address).query).items()}
        assert asked["client_id"] == CLIENT_ID
        assert asked["response_type"] == "code"
        assert "openid" in asked["scope"].split()
        assert asked["code_challenge_method"] == "S256"
        code = f"code-{len(self._asked)}"
        self._asked[code] = asked["code_challenge"]
        return {"code": code, "state": asked["state"]}

    def answer(self, path: str, form: Mapping[str, str]) -> dict[str, Any] | None:
        """The JSON of a request, or None where it is refused."""
        if path == "/.well-known/openid-configuration":
            return {
                "issuer": self.url,
                "authorization_endpoint": f"{self.url}/authorize",
                "token_endpoint": f"{self.url}/token",
                "userinfo_endpoint": f"{self.url}/userinfo",
                "jwks_uri": f"{self.url}/keys",
                "token_endpoint_auth_methods_supported": ["client_secret_post"],
            }
        if path == "/userinfo":
            return self.identity
        digest = hashlib.sha256(form.get("code_verifier", "").encode()).digest()
        challenge = base64.urlsafe_b64encode(digest).rstrip(b"=").decode()
        known = self._asked.pop(form.get("code", ""), None)
        if path != "/token" or known != challenge or form.get("client_secret") != SECRET:
            return None
        claims = {"iss": self.url, "aud": self.audience, "exp": 4_000_000_000, **self.identity}
        token = jwt.encode(claims, "a key that nobody checks, by the standard", algorithm="HS256")
        return {"access_token": "token", "token_type": "Bearer", "id_token": token}


@contextmanager
def identity_server() -> Iterator[IdentityServer]:
    """A server on a free port of this machine."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self._reply({})

        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"])).decode()
            self._reply({key: values[0] for key, values in parse_qs(body).items()})

        def _reply(self, form: dict[str, str]) -> None:
            found = server.answer(self.path, form)
            body = json.dumps(found or {"error": "invalid_grant"}).encode()
            self.send_response(200 if found is not None else 400)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *args: object) -> None:
            pass

    http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server = IdentityServer(http)
    thread = threading.Thread(target=http.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield server
    finally:
        http.shutdown()
        thread.join()
        http.server_close()

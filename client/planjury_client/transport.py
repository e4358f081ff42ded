"""Requests to a PlanJury server: tokens, errors, retries, uploads and downloads."""

from __future__ import annotations

import json
import os
import shutil
import time
import uuid
from collections.abc import Iterator, Mapping, Sequence
from http.client import HTTPException
from pathlib import Path
from tempfile import SpooledTemporaryFile
from typing import Any
from urllib.error import HTTPError, URLError
from urllib.parse import quote, urlencode, urlsplit
from urllib.request import HTTPRedirectHandler, Request, build_opener

PREFIX = "/api/v1"
# Nothing was carried out, or it is carried out once: the same request may be sent again.
BUSY = (429, 502, 503, 504)
LONGEST_PAUSE = 60.0
IN_MEMORY = 1 << 20


class PlanJuryError(Exception):
    """A request that the server refused, with its ``status``, ``code``, ``message`` and ``field``.

    ``status`` is 0 if no answer came.
    """

    def __init__(self, status: int, code: str, message: str, field: str = "") -> None:
        self.status, self.code, self.message, self.field = status, code, message, field
        where = f" ({field})" if field else ""
        super().__init__(f"{status} {code}{where}: {message}")


class JobFailed(Exception):
    """A run or job that ended without its result; the text says why."""


class _NoRedirect(HTTPRedirectHandler):
    """A redirect might lead the token to another server."""

    def redirect_request(self, *args: Any, **kwargs: Any) -> None:
        return None


class Transport:
    """Sends requests with a token. Address and token default to the environment variables
    ``PLANJURY_URL`` and ``PLANJURY_TOKEN``. ``timeout`` is seconds of silence, ``retries`` how
    often a request is sent again when the server is busy or gone.
    """

    def __init__(
        self,
        url: str | None = None,
        token: str | None = None,
        *,
        timeout: float = 60,
        retries: int = 3,
    ) -> None:
        url = url or os.environ.get("PLANJURY_URL", "http://localhost:8000")
        parts = urlsplit(url)
        if parts.scheme not in ("http", "https") or not parts.netloc:
            raise ValueError(f"expected an address such as http://localhost:8000, found {url!r}")
        self.url = url.rstrip("/")
        self._token = token or os.environ.get("PLANJURY_TOKEN", "")
        if not self._token:
            raise ValueError(
                "give a token, or set PLANJURY_TOKEN; make one under Tokens for programs"
            )
        self.timeout, self.retries = timeout, retries
        self._opener = build_opener(_NoRedirect())

    def __repr__(self) -> str:
        return f"PlanJury({self.url!r})"

    # --- Requests ---------------------------------------------------------------------------------

    def _get(self, route: str, query: Mapping[str, Any] | None = None, **ids: Any) -> Any:
        return self._json("GET", _path(route, ids), query)

    def _post(
        self,
        route: str,
        body: Any = None,
        query: Mapping[str, Any] | None = None,
        *,
        once: bool = False,
        **ids: Any,
    ) -> Any:
        """Post; ``once``: with a key, so that the server carries a repeated request out once."""
        headers = {"Content-Type": "application/json"}
        if once:
            headers["Idempotency-Key"] = str(uuid.uuid4())
        data = json.dumps({} if body is None else body).encode()
        return self._json("POST", _path(route, ids), query, data, headers, again=once)

    def _delete(
        self, route: str, query: Mapping[str, Any] | None = None, *, dry_run: bool, **ids: Any
    ) -> dict[str, Any]:
        """Return what a deletion takes, in ``counts``, and its ``job``; with ``dry_run`` nothing
        is deleted, and ``refusals`` say what would prevent it.
        """
        return dict(self._json("DELETE", _path(route, ids), {**(query or {}), "dry_run": dry_run}))

    def _pages(
        self, route: str, query: Mapping[str, Any] | None = None, **ids: Any
    ) -> Iterator[dict[str, Any]]:
        """Yield all rows of a list, page by page."""
        page = self._get(route, query, **ids)
        while True:
            yield from page["items"]
            if not page["next"]:
                return
            page = self._json("GET", page["next"])

    def _download(
        self, route: str, target: str | Path, query: Mapping[str, Any] | None = None, **ids: Any
    ) -> Path:
        """Download a file; it gets its name when it is complete."""
        target = Path(target)
        part = target.with_name(f"{target.name}.part")
        with self._open("GET", _path(route, ids), query) as answer, part.open("wb") as file:
            try:
                shutil.copyfileobj(answer, file)
            except (HTTPException, OSError) as error:
                part.unlink(missing_ok=True)
                raise PlanJuryError(0, "incomplete", f"the file broke off: {error}") from None
        return part.replace(target)

    def _upload(self, route: str, file: Path, fields: Mapping[str, str]) -> Any:
        """Send a form with a file, which is not held in memory if it is large."""
        boundary = uuid.uuid4().hex
        headers = {
            "Content-Type": f"multipart/form-data; boundary={boundary}",
            "Idempotency-Key": str(uuid.uuid4()),
        }
        with SpooledTemporaryFile(max_size=IN_MEMORY) as body:
            for name, value in fields.items():
                head = f'--{boundary}\r\nContent-Disposition: form-data; name="{name}"\r\n\r\n'
                body.write(f"{head}{value}\r\n".encode())
            plain = file.name.replace('"', "_")
            head = (
                f'--{boundary}\r\nContent-Disposition: form-data; name="file"; filename="{plain}"'
            )
            body.write(f"{head}\r\nContent-Type: application/octet-stream\r\n\r\n".encode())
            with file.open("rb") as raw:
                shutil.copyfileobj(raw, body)
            body.write(f"\r\n--{boundary}--\r\n".encode())
            headers["Content-Length"] = str(body.tell())
            return self._json("POST", _path(route, {}), None, body, headers, again=True)

    def _json(
        self,
        method: str,
        path: str,
        query: Mapping[str, Any] | None = None,
        data: Any = None,
        headers: Mapping[str, str] | None = None,
        *,
        again: bool = False,
    ) -> Any:
        with self._open(method, path, query, data, headers, again=again) as answer:
            return json.load(answer)

    def _open(
        self,
        method: str,
        path: str,
        query: Mapping[str, Any] | None = None,
        data: Any = None,
        headers: Mapping[str, str] | None = None,
        *,
        again: bool = False,
    ) -> Any:
        """Return the answer to a request. It is sent again if nothing was carried out, or if it
        may be.
        """
        url = self.url + path + _query(query)
        given = {"Authorization": f"Bearer {self._token}", **(headers or {})}
        left = self.retries
        pause = 1.0
        while True:
            if hasattr(data, "seek"):
                data.seek(0)
            request = Request(url, data=data, headers=given, method=method)
            try:
                return self._opener.open(request, timeout=self.timeout)
            except HTTPError as error:
                refusal = _refusal(error)
                if error.code not in BUSY or not left:
                    raise refusal from None
                seconds = error.headers.get("Retry-After", "")
                wait = float(seconds) if seconds.isdecimal() else pause
            except (URLError, HTTPException, OSError) as error:
                if not left or not (method == "GET" or again):
                    raise PlanJuryError(
                        0, "no_answer", f"{self.url} does not answer: {error}"
                    ) from None
                wait = pause
            left -= 1
            pause *= 2
            time.sleep(min(wait, LONGEST_PAUSE))


def _path(route: str, ids: Mapping[str, Any]) -> str:
    filled = {name: quote(str(value), safe="") for name, value in ids.items()}
    return PREFIX + route.format(**filled)


def _query(query: Mapping[str, Any] | None) -> str:
    """Return a query string; None and empty lists are left out, booleans are ``true`` or
    ``false``.
    """
    pairs: list[tuple[str, str]] = []
    for name, value in (query or {}).items():
        values: Sequence[Any] = value if isinstance(value, list | tuple) else [value]
        for one in values:
            if one is not None:
                pairs.append((name, str(one).lower() if isinstance(one, bool) else str(one)))
    return f"?{urlencode(pairs)}" if pairs else ""


def _refusal(error: HTTPError) -> PlanJuryError:
    try:
        fault = json.load(error)["error"]
        return PlanJuryError(error.code, fault["code"], fault["message"], fault.get("field", ""))
    except (ValueError, KeyError, TypeError):
        return PlanJuryError(error.code, "error", error.reason or "the request failed")

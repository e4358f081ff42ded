"""People at the annotator's desk, as a browser has it: pages, cookies, tokens, JSON over HTTP."""

import http.client
import json
import re
import time
import uuid
from dataclasses import dataclass, field
from http.cookies import SimpleCookie
from typing import Any
from urllib.parse import urlencode, urlsplit

SETTINGS = re.compile(r'<script id="desk-settings" type="application/json">(.*?)</script>', re.S)
# Not the reasons for skipping, which are words.
SCALES = re.compile(r'<input type="radio" name="([a-z_]+)" value="\d')


@dataclass(frozen=True)
class Reply:
    """A reply of the server; ``body`` is as it was sent, so its length is the traffic."""

    status: int
    headers: http.client.HTTPMessage
    body: bytes

    @property
    def text(self) -> str:
        return self.body.decode()

    @property
    def moved(self) -> str:
        """The address that a redirect leads to, without the host; empty where it is none."""
        found = urlsplit(self.headers.get("Location", ""))
        return f"{found.path}?{found.query}" if found.query else found.path


@dataclass(frozen=True)
class Page:
    """An item as the page has it: where its answers go, and what it is asked."""

    here: str
    answers: str
    submit: str
    questions: tuple[str, ...]
    reply: Reply


@dataclass
class Annotator:
    """One person with a browser. Connections are kept, as browsers do.

    ``repeated`` counts the requests that were sent twice, because a kept connection was gone.
    """

    port: int
    name: str
    password: str
    headers: dict[str, str] = field(default_factory=dict)
    cookies: dict[str, str] = field(default_factory=dict)
    repeated: int = 0
    # Where the reply to the last submission led to, which the page's script goes to.
    onward: str = ""
    _line: http.client.HTTPConnection | None = None

    def sign_in(self) -> None:
        """Through the sign-in page."""
        self.get("/accounts/login/")
        reply = self.post("/accounts/login/", {"login": self.name, "password": self.password})
        assert reply.status == 302 and "sessionid" in self.cookies, (reply.status, self.name)

    def get(self, path: str) -> Reply:
        return self._ask("GET", path)

    def post(self, path: str, fields: dict[str, str] | None = None) -> Reply:
        """A form; its token in the header, as the pages' scripts send it."""
        return self._ask("POST", path, urlencode(fields or {}), "application/x-www-form-urlencoded")

    def send(self, path: str, data: Any) -> Reply:
        """JSON, as the pages' scripts send it."""
        return self._ask("POST", path, json.dumps(data), "application/json")

    def _ask(self, method: str, path: str, body: str | None = None, kind: str = "") -> Reply:
        headers = {"Accept": "text/html,*/*", "Accept-Encoding": "identity", **self.headers}
        headers["Cookie"] = "; ".join(f"{name}={value}" for name, value in self.cookies.items())
        if body is not None:
            headers |= {"Content-Type": kind, "X-CSRFToken": self.cookies.get("csrftoken", "")}
        kept = self._line is not None
        if self._line is None:
            self._line = http.client.HTTPConnection("127.0.0.1", self.port, timeout=30)
        try:
            self._line.request(method, path, body, headers)
            answer = self._line.getresponse()
            reply = Reply(answer.status, answer.headers, answer.read())
        except (OSError, http.client.HTTPException):
            self.hang_up()
            if not kept:
                raise
            # A kept connection that the server has closed: browsers try once more.
            self.repeated += 1
            return self._ask(method, path, body, kind)
        for header in reply.headers.get_all("Set-Cookie") or []:
            for name, morsel in SimpleCookie(header).items():
                self.cookies[name] = morsel.value
        return reply

    def hang_up(self) -> None:
        """Close the connection."""
        if self._line is not None:
            self._line.close()
            self._line = None

    # --- At the desk ------------------------------------------------------------------------------

    def open(self, study: int) -> Page | None:
        """Go to the next item, from one that was submitted or from another page; None where nothing
        is left.
        """
        start = f"/studies/{study}/annotate/"
        here = self.onward if self.onward.startswith(start) else start
        self.onward = ""
        while not re.search(r"/annotate/\d+/$", here):
            reply = self.get(here)
            assert reply.status == 302, (here, reply.status)
            if reply.moved.endswith("/guidelines/"):
                self.post(reply.moved)
                continue
            if not reply.moved.startswith(start):
                return None
            here = reply.moved
        reply = self.get(here)
        assert reply.status == 200, (here, reply.status)
        return read_page(here, reply)

    def save(self, page: Page, answers: dict[str, int]) -> Reply:
        """Some answers in one message."""
        edits = [make_edit(question, value) for question, value in answers.items()]
        return self.send(page.answers, {"edits": edits, "activeMs": 1})

    def submit(self, page: Page) -> Reply:
        reply = self.post(page.submit, {"activeMs": "1"})
        self.onward = json.loads(reply.body).get("next", "")
        return reply


def read_page(here: str, reply: Reply) -> Page:
    """Return what the desk's script reads from its page."""
    found = SETTINGS.search(reply.text)
    assert found is not None, here
    settings = json.loads(found.group(1))
    questions = tuple(dict.fromkeys(SCALES.findall(reply.text)))
    return Page(here, settings["answers"], settings["submit"], questions, reply)


def make_edit(question: str, value: int, *, seen: int = 0) -> dict[str, Any]:
    """An answer as the page's script sends it, with an id of its own."""
    now = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
    return {"id": str(uuid.uuid4()), "question": question, "value": value, "at": now, "seen": seen}

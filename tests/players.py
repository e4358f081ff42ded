"""People who play in live sessions, as a browser has it: polling, forms, tokens over HTTP."""

import html
import re
import time
from dataclasses import dataclass, field

from tests.annotators import Annotator, Reply

ASKED = re.compile(r"/sessions/\d+/reply/(\d+)/")
LOOKS = re.compile(r'hx-get="([^"]*/state/[^"]*)"')
OVERRIDE = re.compile(r'name="override" value="([^"]*)"')
# The text that a form offers to start from; the other button with one empties the box.
DRAFT = re.compile(r'data-fill-text="([^"]+)"')
STORED = (200, 302)


@dataclass
class Player:
    """One person.

    ``sent`` holds every reply that was acknowledged, by ask, and ``sent_at`` when the last one was
    sent (after a hint: the second time). ``as_text``: who writes replies as plain text, not in the
    form that a system brings.
    """

    person: Annotator
    as_text: bool = True
    sent: dict[int, str] = field(default_factory=dict)
    looks_at: dict[int, str] = field(default_factory=dict)
    sent_at: float = 0.0

    def be_ready(self, session: int) -> Reply:
        """Open the page and say that one is there."""
        self.open(session)
        return self.person.post(f"/sessions/{session}/ready/")

    def open(self, session: int) -> Reply:
        """The page, with all that it says now; what it will ask for by itself is remembered."""
        reply = self.person.get(f"/sessions/{session}/{'?as=text' if self.as_text else ''}")
        self._learn(session, reply)
        return reply

    def look(self, session: int) -> Reply:
        """Return what the page asks for by itself: 204 while nothing has changed."""
        person = self.person
        before = person.headers
        person.headers = {**before, "HX-Request": "true"}
        try:
            reply = person.get(self.looks_at.get(session) or f"/sessions/{session}/state/")
        finally:
            person.headers = before
        self._learn(session, reply)
        return reply

    def _learn(self, session: int, reply: Reply) -> None:
        found = LOOKS.search(reply.text) if reply.body else None
        if found is not None:
            self.looks_at[session] = html.unescape(found.group(1))

    def asked(self, session: int) -> list[int]:
        """The asks that the page shows a form for."""
        return shown_asks(self.open(session))

    def reply(self, session: int, ask: int, text: str) -> Reply:
        """Send a text; where the page hints at something, send it all the same."""
        path, fields = f"/sessions/{session}/reply/{ask}/", {"text": text}
        reply = self._send(session, path, fields)
        found = OVERRIDE.search(reply.text) if reply.status == 422 else None
        if found is not None:
            override = html.unescape(found.group(1))
            reply = self._send(session, path, {**fields, "override": override})
        if reply.status in STORED:
            self.sent[ask] = text
        return reply

    def _send(self, session: int, path: str, fields: dict[str, str]) -> Reply:
        """Send a form with what the page shows, and read what is new from the answer."""
        person, before = self.person, self.person.headers
        shown = self.looks_at.get(session, "").partition("?")[2]
        self.sent_at = time.time()
        person.headers = {**before, "HX-Request": "true", "X-Session-Shown": shown}
        try:
            reply = person.post(path, fields)
        finally:
            person.headers = before
        self._learn(session, reply)
        return reply


def shown_asks(page: Reply) -> list[int]:
    """The asks that a page, or a part of one, has a form for."""
    return sorted({int(found) for found in ASKED.findall(page.text)})


def shown_draft(page: Reply) -> str:
    """The words that stand in its form."""
    found = DRAFT.search(page.text)
    return html.unescape(found.group(1)).strip() if found else ""

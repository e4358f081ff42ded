"""Chat completions that a server streams: pieces as server-sent events, put together again.

The whole reply is read as if it had come at once (`benchmarks.llm.chat`); what has arrived so far
is for people who watch, and decides nothing.
"""

import json
from collections.abc import Callable, Mapping
from typing import Any

from benchmarks.llm.chat import MalformedReply, reported_error, split_thoughts

# Added to a request whose reply shall be streamed; without the option most servers count no tokens.
STREAMED: Mapping[str, Any] = {"stream": True, "stream_options": {"include_usage": True}}
# Servers that cannot stream refuse the request, which is sent again without it.
REFUSED = frozenset({400, 404, 405, 415, 422, 501})
EVENT_STREAM = "text/event-stream"
# People are shown at most so many characters of a reply that is still being written, and at most
# every so many seconds more of it.
LONGEST_SHOWN, PAUSE = 20_000, 0.3


class StreamedCompletion:
    """A completion of which pieces arrive.

    Parameters
    ----------
    grow
        Called with the text so far, without thoughts, when the first piece is there and then every
        ``PAUSE`` seconds while more of it arrives.
    clock
        Time in seconds.
    """

    def __init__(self, grow: Callable[[str], None], clock: Callable[[], float]) -> None:
        self._grow, self._clock = grow, clock
        self._rest, self._due, self._shown = b"", 0.0, ""
        self._texts: list[str] = []
        self._thoughts: list[str] = []
        self._calls: dict[int, dict[str, Any]] = {}
        self._envelope: dict[str, Any] = {}
        self._finish: Any = None
        self._ended = False

    def feed(self, part: bytes) -> None:
        """Read what has arrived; raises ``MalformedReply`` for an event that is none."""
        *lines, rest = part.split(b"\n")
        if lines:
            lines[0] = self._rest + lines[0]
            self._rest = rest
            for line in lines:
                self._read_line(line.strip())
        else:
            self._rest += rest
        if self._texts and self._clock() >= self._due:
            self._due = self._clock() + PAUSE
            self._show()

    def completion(self) -> bytes:
        """Return the whole as a server sends it that does not stream.

        Raises ``MalformedReply`` where the stream ended before the reply did.
        """
        self._read_line(self._rest.strip())
        if not self._ended and self._finish is None:
            raise MalformedReply("a stream that was cut off")
        self._show()
        message = {
            "content": "".join(self._texts),
            "reasoning_content": "".join(self._thoughts),
            "tool_calls": [self._calls[index] for index in sorted(self._calls)],
        }
        choice = {"message": message, "finish_reason": self._finish}
        return json.dumps({**self._envelope, "choices": [choice]}).encode()

    def _show(self) -> None:
        text = visible_text("".join(self._texts))[:LONGEST_SHOWN]
        if text != self._shown:
            self._shown = text
            self._grow(text)

    def _read_line(self, line: bytes) -> None:
        if not line.startswith(b"data:"):
            return  # comments, names of events, blank lines
        data = line.removeprefix(b"data:").strip()
        if data == b"[DONE]":
            self._ended = True
            return
        try:
            event = json.loads(data)
        except (ValueError, RecursionError):
            raise MalformedReply("an event that is no JSON") from None
        if not isinstance(event, dict):
            raise MalformedReply("an event that is no object")
        self._read_event(event)

    def _read_event(self, event: Mapping[str, Any]) -> None:
        if error := reported_error(event):
            raise error
        self._envelope |= {k: event[k] for k in ("model", "usage") if event.get(k)}
        choices = event.get("choices")
        choice = choices[0] if isinstance(choices, list) and choices else None
        if not isinstance(choice, dict):
            return  # the last event holds the usage alone
        self._finish = choice.get("finish_reason") or self._finish
        delta = choice.get("delta")
        if not isinstance(delta, dict):
            return
        _append(self._texts, delta.get("content"))
        _append(self._thoughts, delta.get("reasoning_content") or delta.get("reasoning"))
        calls = delta.get("tool_calls")
        for call in calls if isinstance(calls, list) else ():
            self._read_call(call)

    def _read_call(self, call: Any) -> None:
        """Add a piece of a call: its name comes first, its arguments in parts."""
        if not isinstance(call, dict) or not isinstance(call.get("index"), int):
            return
        known = self._calls.setdefault(call["index"], {"function": {"name": "", "arguments": ""}})
        if call.get("id"):
            known["id"] = call["id"]
        function = call.get("function")
        if isinstance(function, dict):
            for name in known["function"]:
                if isinstance(piece := function.get(name), str):
                    known["function"][name] += piece


def visible_text(text: str) -> str:
    """Return what people may see of a reply so far: nothing of a block of thoughts at its start."""
    start = text.lstrip()
    if start.startswith("<") and ">" not in start[:40]:
        return ""  # perhaps the tag of such a block
    return split_thoughts(text)[1].strip()


def _append(pieces: list[str], piece: Any) -> None:
    if isinstance(piece, str) and piece:
        pieces.append(piece)

"""Sessions of Claude Code: a JSONL file, with the sessions of its sub-agents beside it.

Lines of one answer share a message id and are merged, also with results between them. Sub-agents
are trajectories of their own: files in the folder ``subagents`` of the session, older ones beside
it, or side chains within it. Helpers that only write a summary are left out.
"""

import json
from collections.abc import Iterator, Mapping
from itertools import islice
from pathlib import Path
from typing import Any

from benchmarks.core.problems import FileRefused, Problems, Unquoted
from benchmarks.formats.messages import MOST_MESSAGES
from benchmarks.formats.sessions.anthropic import tokens_in
from benchmarks.formats.sessions.lines import session_lines
from benchmarks.formats.sessions.parts import Parts, as_mapping, read_parts, string, total
from benchmarks.formats.sessions.transcript import Transcript, leave_out
from benchmarks.formats.shape import Shape
from benchmarks.formats.source import File, FileSource, Spot, refused
from benchmarks.formats.trajectory import ImportedMessage, ImportedTrajectory

MOST_SUBAGENTS = 2000
FIRST_LINES = 5
HELPER = "acompact"
SUBAGENTS = "subagents"
_ABOUT = ("cwd", "version", "gitBranch", "slug")
_MARKS = ("isMeta", "isCompactSummary", "isVisibleInTranscriptOnly")
# Beginnings of what the program writes in its user's place.
_PROGRAM = (
    "<command-", "<local-command-", "<bash-", "<system-reminder>", "<task-notification>",
    "<user-prompt-submit-hook>", "<teammate-message", "Caveat: The messages below",
    "[Request interrupted", "This session is being continued from a previous conversation",
)  # fmt: skip


def recognises(shape: Shape) -> bool:
    return shape.kind == "lines" and any(
        {"uuid", "parentUuid", "sessionId", "type"} <= row.keys()
        or {"leafUuid", "summary"} <= row.keys()
        for row in shape.rows
    )


def whole(source: FileSource) -> FileSource:
    """Return the session with the files of its sub-agents, where they lie beside it."""
    if not isinstance(source, File) or source.members or is_subagent(source.path.name):
        return source
    names = {source.name: source}
    own = source.path.parent / source.path.name.split(".")[0] / SUBAGENTS
    for path in islice(sorted(own.glob("agent-*.jsonl*")), MOST_SUBAGENTS):
        names[f"{SUBAGENTS}/{path.name}"] = File(path, f"{SUBAGENTS}/{path.name}")
    session = session_of(source)
    for path in islice(sorted(source.path.parent.glob("agent-*.jsonl*")), MOST_SUBAGENTS):
        if session and session_of(File(path)) == session:
            names[path.name] = File(path)
    return FileSource(source.name, names) if len(names) > 1 else source


def is_subagent(name: str) -> bool:
    """Return whether a file holds the session of a sub-agent, by its name."""
    return Path(name).name.startswith("agent-")


def session_of(source: FileSource) -> str:
    """Return the id of the session that a file belongs to, from its first lines."""
    try:
        for _, line in islice(source.lines(), FIRST_LINES):
            given = json.loads(line)
            if isinstance(given, dict) and isinstance(given.get("sessionId"), str):
                return str(given["sessionId"])
    except (FileRefused, ValueError, RecursionError):
        pass
    return ""


def read(
    source: FileSource, problems: Problems, header: dict[str, Any]
) -> Iterator[ImportedTrajectory]:
    """Yield the session, then its sub-agents; faults are noted."""
    session = _Session(header)
    for name, file in (source.members or {source.name: source}).items():
        if is_subagent(name) and name.rpartition("agent-")[2].startswith(HELPER):
            leave_out(header, "helper that writes a summary")
            continue
        session.begin_file()
        for spot, line in session_lines(file, problems, header, ("sessionId", "uuid")):
            session.add(spot, line)
    if problems.total:
        return
    top = Spot(problems, source.name)
    transcripts = session.transcripts()
    for transcript in transcripts:
        if (trajectory := transcript.trajectory(top, source.name)) is not None:
            yield trajectory
    if not transcripts:
        top.fault("at least one message of the agent", Unquoted("none"))


class _Session:
    """The session and its side chains, as their lines come."""

    def __init__(self, header: dict[str, Any]) -> None:
        self.header = header
        self.main = Transcript()
        self.sides: dict[str, Transcript] = {}
        self.seen: set[str] = set()
        self.spawned: dict[str, str] = {}  # sub-agent -> who called it
        self.roots: dict[str, str] = {}  # line of a side chain -> its first line
        self.shown: set[tuple[str, int]] = set()

    def begin_file(self) -> None:
        self.roots.clear()

    def transcripts(self) -> list[Transcript]:
        """Return all transcripts in which an agent speaks, each with who called it."""
        spoken = []
        for name, transcript in [("", self.main), *self.sides.items()]:
            if name:
                transcript.parent = self.spawned.get(name) or self.main.id or transcript.parent
            if any(message.speaker == "assistant" for message in transcript.messages()):
                spoken.append(transcript)
            elif transcript.said:
                leave_out(self.header, "session without an answer")
        return spoken

    def add(self, spot: Spot, line: Mapping[str, Any]) -> None:
        kind = line.get("type")
        if kind not in ("user", "assistant"):
            attached = as_mapping(line.get("attachment"))
            if kind == "attachment" and attached.get("type") == "queued_command":
                self._queued(line, attached)
            else:
                self._left_out(line, string(kind))
            return
        message = line.get("message")
        if not isinstance(message, dict):
            spot.at("message").fault("an object with 'role' and 'content'", message)
            return
        uuid = string(line.get("uuid"))
        if uuid and uuid in self.seen:
            leave_out(self.header, "repeated line")
            return
        self.seen.add(uuid)
        transcript = self._transcript(line, uuid)
        if transcript is None:
            leave_out(self.header, "helper that writes a summary")
        elif len(transcript.said) > 2 * MOST_MESSAGES:
            raise refused(str(spot), f"at most {MOST_MESSAGES} messages", Unquoted("more"))
        elif kind == "assistant":
            self._agent(transcript, line, message)
        else:
            self._user(transcript, line, message)

    def _left_out(self, line: Mapping[str, Any], kind: str) -> None:
        if kind == "summary" or kind.endswith("-title"):
            title = next((line[n] for n in ("summary", "customTitle", "title") if n in line), "")
            self.main.about.setdefault("title", string(title)[:300])
        subtype = string(line.get("subtype"))
        leave_out(self.header, f"{kind}/{subtype}" if subtype else kind or "line without a type")

    def _transcript(self, line: Mapping[str, Any], uuid: str) -> Transcript | None:
        """Return the transcript that a line belongs to; none for a helper's."""
        if line.get("isSidechain") is not True:
            if not self.main.id:
                self.main.id = string(line.get("sessionId"))
                self.main.about |= {n: line[n] for n in _ABOUT if isinstance(line.get(n), str)}
            return self.main
        agent = string(line.get("agentId"))
        if agent.startswith(HELPER):
            return None
        if not agent:
            parent = string(line.get("parentUuid"))
            agent = self.roots[uuid] = self.roots.get(parent, uuid or "side chain")
        if agent not in self.sides:
            self.sides[agent] = Transcript(agent)
            self.sides[agent].parent = string(line.get("sessionId"))
        return self.sides[agent]

    def _queued(self, line: Mapping[str, Any], given: Mapping[str, Any]) -> None:
        """Add what the person typed while the agent was at work."""
        transcript = self._transcript(line, string(line.get("uuid")))
        parts = read_parts(given.get("prompt"))
        if transcript is None:
            return
        by_program = given.get("commandMode") == "task-notification" or _by_program(parts.text)
        transcript.say("user", parts, by_program=by_program, at=string(line.get("timestamp")))

    def _agent(
        self, transcript: Transcript, line: Mapping[str, Any], message: Mapping[str, Any]
    ) -> None:
        parts = read_parts(message.get("content"))
        id = string(message.get("id"))
        if id:
            parts.texts = [text for text in parts.texts if self._is_new(id, text)]
            parts.thoughts = [text for text in parts.thoughts if self._is_new(id, f"\x1f{text}")]
        answer = transcript.agent(parts, id=id, at=string(line.get("timestamp")))
        usage = as_mapping(message.get("usage"))
        if usage:  # each line of an answer states it anew, the last one completely
            answer.tokens_in, answer.tokens_out = tokens_in(usage), total(usage, "output_tokens")
        if line.get("isApiErrorMessage") is True:
            answer.extra["api_error"] = True
        model = string(message.get("model"))
        if model and model[0] != "<":
            transcript.model = model

    def _is_new(self, id: str, text: str) -> bool:
        mark = (id, hash(text))
        if mark in self.shown:
            return False
        self.shown.add(mark)
        return True

    def _user(
        self, transcript: Transcript, line: Mapping[str, Any], message: Mapping[str, Any]
    ) -> None:
        parts, at = read_parts(message.get("content")), string(line.get("timestamp"))
        richer = as_mapping(line.get("toolUseResult")) if parts.results else {}
        for result in parts.results:
            answer = transcript.result(result, at=at)
            if answer is None:
                leave_out(self.header, "repeated result")
            elif richer and len(parts.results) == 1:
                self._add_details(answer, richer, transcript)
        if parts.results and not parts.texts and not parts.attachments:
            return
        marked = any(line.get(name) is True for name in _MARKS)
        spoken = Parts(texts=parts.texts, attachments=parts.attachments)
        by_program = marked or _by_program(parts.text)
        transcript.say("user", spoken, by_program=by_program, at=at)

    def _add_details(
        self, message: ImportedMessage, richer: Mapping[str, Any], transcript: Transcript
    ) -> None:
        """Keep the sub-agent that a call started, and the lines that it changed in a file."""
        agent = string(richer.get("agentId"))
        if agent:
            self.spawned[agent] = transcript.id or self.main.id
            message.extra["agent"] = agent
        patch = richer.get("structuredPatch")
        if isinstance(patch, list) and patch:
            message.extra["patch"] = patch


def _by_program(text: str) -> bool:
    return text.lstrip().startswith(_PROGRAM)

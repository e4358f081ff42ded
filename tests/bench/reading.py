"""MB of JSONL read per CPU second, by the length of lines.

Run by ``make bench``. Files are generated: sessions of Claude Code and of Codex, with lines of 4
and 2 kB (whole files are read, long outputs) and of about 1 kB; sessions of Pi and rows of
ShareGPT; rows of chats in the sizes of tau-bench's published ones, and rows of messages of 44
bytes. Short lines, Pi and ShareGPT have the sizes of published samples. Each goes through the pass
that an import makes before it stores anything (``check_file``), in which every message is built and
every turn is found; as there, in a process without Django. Beside each figure stands a bare loop of
``json.loads`` over the same lines. A message costs much the same whatever its length, so MB per
second follow from the length of lines; 60 MB are wanted of all but the rows of tiny messages.
"""

import json
import random
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

from benchmarks.formats.registry import check_file, open_source, read_source
from tests.bench.importing import PROMPT, messages, text
from tests.bench.storing import machine, tell

MB = 30
LEAST = 60.0
STEPS = 200  # of one session: a call and its result each
# Characters of what stands on a line, at seven even steps from the shortest to the longest.
SAID = (20, 60, 120, 200, 320, 600, 1800)
OUTPUT = (20, 200, 600, 1200, 2600, 6000, 30000)
ARGUMENTS = (30, 60, 90, 160, 300, 1200, 6000)


Make = Callable[[random.Random, int, float], Iterator[dict[str, Any]]]


def drawn(rng: random.Random, sizes: tuple[int, ...], scale: float) -> str:
    """A text with a size drawn from such a distribution, times ``scale``."""
    place = rng.random() * (len(sizes) - 1)
    low, high = sizes[int(place)], sizes[int(place) + 1]
    return text(rng, int(scale * (low + (high - low) * (place - int(place)))))


def claude_code(rng: random.Random, number: int, scale: float) -> Iterator[dict[str, Any]]:
    """A session: each step has a thought, a call and a result, which stands on its line twice."""
    above = None
    about = {
        "isSidechain": False, "userType": "external", "cwd": "/home/user/project",
        "sessionId": f"session-{number}", "version": "2.1.0", "gitBranch": "main",
    }  # fmt: skip
    usage = {
        "input_tokens": 4, "cache_creation_input_tokens": 900, "cache_read_input_tokens": 30000,
        "output_tokens": 210, "service_tier": "standard",
    }  # fmt: skip

    def line(kind: str, message: dict[str, Any], **more: Any) -> dict[str, Any]:
        nonlocal above
        here = f"{rng.getrandbits(128):032x}"
        made = {"parentUuid": above, **about, "type": kind, "message": message, "uuid": here}
        above = here
        return {**made, "timestamp": "2026-01-05T10:00:00.000Z", **more}

    yield line("user", {"role": "user", "content": drawn(rng, SAID, scale)})
    for step in range(STEPS):
        answer = {"id": f"msg_{number}_{step}", "type": "message", "role": "assistant"}
        answer |= {"model": "claude-sonnet-4-5", "stop_reason": None, "usage": usage}
        key = f"toolu_{rng.getrandbits(96):024x}"
        call = {"type": "tool_use", "id": key, "name": "Bash"}
        call["input"] = {"command": drawn(rng, ARGUMENTS, scale), "description": "Run it"}
        yield line(
            "assistant", {**answer, "content": [{"type": "text", "text": drawn(rng, SAID, scale)}]}
        )
        yield line("assistant", {**answer, "content": [call]})
        output = drawn(rng, OUTPUT, scale)
        back = {"tool_use_id": key, "type": "tool_result", "content": output, "is_error": False}
        richer = {"stdout": output, "stderr": "", "interrupted": False, "isImage": False}
        yield line("user", {"role": "user", "content": [back]}, toolUseResult=richer)


def codex(rng: random.Random, number: int, scale: float) -> Iterator[dict[str, Any]]:
    """A session: each step has a summary of thoughts, a call, its output and a count of tokens."""

    def line(kind: str, **payload: Any) -> dict[str, Any]:
        return {"timestamp": "2026-01-05T10:00:00.000Z", "type": kind, "payload": payload}

    yield line("session_meta", id=f"session-{number}", cwd="/home/user", cli_version="0.66.0")
    asked = drawn(rng, SAID, scale)
    content = [{"type": "input_text", "text": asked}]
    yield line("response_item", type="message", role="user", content=content)
    yield line("event_msg", type="user_message", message=asked)
    for _ in range(STEPS):
        key = f"call_{rng.getrandbits(96):024x}"
        arguments = json.dumps({"command": ["bash", "-lc", drawn(rng, ARGUMENTS, scale)]})
        thought = [{"type": "summary_text", "text": drawn(rng, SAID, scale)}]
        sealed = f"{rng.getrandbits(4000):01000x}"
        yield line("response_item", type="reasoning", summary=thought, encrypted_content=sealed)
        call = {"name": "shell", "arguments": arguments, "call_id": key}
        yield line("response_item", type="function_call", **call)
        output = json.dumps({"output": drawn(rng, OUTPUT, scale), "metadata": {"exit_code": 0}})
        yield line("response_item", type="function_call_output", call_id=key, output=output)
        usage = {"input_tokens": 30000, "cached_input_tokens": 29000, "output_tokens": 210}
        yield line("event_msg", type="token_count", info={"total_token_usage": usage})


def pi(rng: random.Random, number: int, scale: float) -> Iterator[dict[str, Any]]:
    """A session: each step is an answer with a thought and a call, and its result."""
    yield {"type": "session", "id": f"session-{number}", "timestamp": "2026-01-05T10:00:00.000Z"}
    usage = {
        "input": 4,
        "output": 210,
        "cacheRead": 30000,
        "cacheWrite": 900,
        "cost": {"total": 0.1},
    }
    for _ in range(STEPS):
        key = f"toolu_{rng.getrandbits(96):024x}"
        thought = {"type": "thinking", "thinking": drawn(rng, SAID, scale)}
        call = {"type": "toolCall", "id": key, "name": "bash"}
        call["arguments"] = {"command": drawn(rng, ARGUMENTS, scale)}
        about = {"model": "claude-sonnet-4-5", "usage": usage, "stopReason": "toolUse"}
        answer = {"role": "assistant", "content": [thought, call], **about}
        output = [{"type": "text", "text": drawn(rng, OUTPUT, scale)}]
        back = {"role": "toolResult", "toolCallId": key, "toolName": "bash", "content": output}
        for message in (answer, {**back, "isError": False}):
            yield {"type": "message", "timestamp": "2026-01-05T10:00:00.000Z", "message": message}


def sharegpt(rng: random.Random, number: int, scale: float) -> Iterator[dict[str, Any]]:
    """One row: a talk of seven messages with one call, and the definition of a tool."""
    tool = {"name": "search", "description": text(rng, 80), "parameters": {"type": "object"}}
    call = {"name": "search", "arguments": {"query": text(rng, 40)}}
    said = ["human", "gpt", "human", "function_call", "observation", "gpt", "human"]
    talk = [{"from": one, "value": text(rng, rng.randrange(100, 700))} for one in said]
    talk[3]["value"] = json.dumps(call)
    yield {"id": number, "conversations": talk, "tools": json.dumps([tool])}


def chat(rng: random.Random, number: int, scale: float) -> Iterator[dict[str, Any]]:
    """One row: a talk with calls, in the sizes of published ones."""
    yield {"task_id": f"task-{number}", "messages": list(messages(rng, text(rng, PROMPT)))}


def tiny(rng: random.Random, number: int, scale: float) -> Iterator[dict[str, Any]]:
    """One row: twelve messages of 44 bytes in all."""
    talk = [
        {"role": ("user", "assistant")[n % 2], "content": f"word {rng.randrange(99)}"}
        for n in range(12)
    ]
    yield {"task_id": number, "messages": talk}


# How to make it, the size of its texts, and whether 60 MB per second are wanted.
CASES: dict[str, tuple[Make, float, bool]] = {
    "claude-code, long lines": (claude_code, 1.0, True),
    "claude-code, short lines": (claude_code, 0.15, True),
    "codex, long lines": (codex, 1.0, True),
    "codex, short lines": (codex, 0.15, True),
    "pi, sizes of published sessions": (pi, 0.4, True),
    "sharegpt, sizes of published rows": (sharegpt, 1.0, True),
    "openai-chat, usual messages": (chat, 1.0, True),
    "openai-chat, tiny messages": (tiny, 1.0, False),
}


def write(folder: Path, make: Make, scale: float) -> tuple[int, int]:
    """Write so many MB: a session a file, or rows into one; return how many bytes and lines."""
    rng = random.Random(7)
    size = number = count = 0
    rows = make in (chat, tiny, sharegpt)
    while size < MB * 1_000_000:
        lines = [json.dumps(line) + "\n" for line in make(rng, number, scale)]
        with (folder / f"{0 if rows else number}.jsonl").open("a") as file:
            file.writelines(lines)
        size += sum(map(len, lines))
        count += len(lines)
        number += 1
    return size, count


def bare(paths: Sequence[Path]) -> float:
    """CPU seconds of a loop that only parses: the floor."""
    began = time.process_time()
    for path in paths:
        with path.open("rb") as file:
            for line in file:
                json.loads(line)
    return time.process_time() - began


def main() -> None:
    """Print the figures."""
    print(machine())
    slow = []
    for name, (make, scale, must) in CASES.items():
        with tempfile.TemporaryDirectory() as files:
            size, lines = write(Path(files), make, scale)
            paths = sorted(Path(files).iterdir())
            format = name.partition(",")[0]
            floor = bare(paths)
            began = time.process_time()
            for path in paths:
                check_file(path, format)
            cpu = time.process_time() - began
            count = sum(
                len(trajectory.messages)
                for path in paths
                for trajectory in read_source(open_source(path), format, {})
            )
        rate = size / 1e6 / cpu
        print(
            f"{name}: {rate:.1f} MB and {count / cpu:.0f} messages per CPU second "
            f"({size / lines:.0f} bytes a line, {size / count:.0f} a message); "
            f"bare loop {size / 1e6 / floor:.0f} MB"
            + (f"; at least {LEAST:.0f} MB wanted" if must else "")
        )
        slow += [name] if must and rate < LEAST else []
    tell(slow)


if __name__ == "__main__":
    main()

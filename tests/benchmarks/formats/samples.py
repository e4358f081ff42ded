"""Small sound files, one of every format, in the shapes that their tools write."""

import gzip
import io
import json
import struct
import zipfile
import zlib
from pathlib import Path
from typing import Any

import zstandard

from tests.benchmarks.formats.session_samples import SESSION_LINES, SESSIONS

CALL = {"id": "c1", "type": "function", "function": {"name": "look_up", "arguments": '{"a": 1}'}}
CHAT: list[dict[str, Any]] = [
    {"role": "system", "content": "Be brief."},
    {"role": "user", "content": "Where is my bag?"},
    {"role": "assistant", "content": None, "tool_calls": [CALL]},
    {"role": "tool", "tool_call_id": "c1", "name": "look_up", "content": "in Oslo"},
    {"role": "assistant", "content": "In Oslo."},
    {"role": "user", "content": "Thanks. ###STOP###"},
]


def tau_bench() -> list[dict[str, Any]]:
    return [
        {
            "task_id": task,
            "trial": trial,
            "reward": 1.0,
            "info": {
                "task": {"user_id": "u", "instruction": "You lost a bag.", "actions": []},
                "user_cost": 0.5,
                "reward_info": {"reward": 1.0},
            },
            "traj": CHAT,
        }
        for task in (0, 1)
        for trial in (0, 1)
    ]


def tau2() -> dict[str, Any]:
    call = {"id": "c1", "name": "look_up", "arguments": {"a": 1}, "requestor": "assistant"}
    own = {"id": "u1", "name": "toggle", "arguments": {}, "requestor": "user"}
    messages = [
        {"role": "assistant", "content": "Hi! How can I help?", "turn_idx": 0, "timestamp": "t0"},
        {"role": "user", "content": "My phone is dead.", "turn_idx": 1},
        {"role": "assistant", "tool_calls": [call], "usage": {"prompt_tokens": 7}, "cost": 0.1},
        {"role": "tool", "id": "c1", "content": "found", "requestor": "assistant"},
        {"role": "assistant", "content": "Switch it on."},
        {"role": "user", "tool_calls": [own]},
        {"role": "tool", "id": "u1", "content": "it is on", "requestor": "user"},
        {"role": "user", "content": "It works."},
    ]
    return {
        "timestamp": "2026-01-01",
        "info": {"seed": 3, "agent_info": {"implementation": "llm_agent", "llm": "some-model"}},
        "tasks": [
            {"id": "t1", "user_scenario": {"instructions": "phone off"}, "issues": ["x"]},
        ],
        "simulations": [
            {
                "id": "s1",
                "task_id": "t1",
                "trial": 0,
                "seed": 9,
                "start_time": "a",
                "end_time": "b",
                "duration": 2.5,
                "termination_reason": "user_stop",
                "agent_cost": 0.2,
                "user_cost": None,
                "reward_info": {"reward": 1.0, "db_check": None},
                "messages": messages,
                "review": {"errors": [{"source": "agent", "turn_idx": 2}]},
            }
        ],
    }


def inspect_log() -> dict[str, Any]:
    call = {"id": "c1", "function": "look_up", "arguments": {"a": 1}, "type": "function"}
    return {
        "version": 2,
        "status": "success",
        "eval": {"task": "bags", "model": "openai/some-model", "run_id": "r"},
        "plan": {},
        "results": {},
        "samples": [
            {
                "id": "q1",
                "epoch": 1,
                "input": "Where is my bag?",
                "target": "Oslo",
                "messages": [
                    {"role": "user", "content": "attachment://abc"},
                    {"role": "assistant", "content": "", "tool_calls": [call]},
                    {"role": "tool", "tool_call_id": "c1", "function": "look_up", "content": "x"},
                    {
                        "role": "assistant",
                        "content": [
                            {"type": "reasoning", "reasoning": "hm"},
                            {"type": "text", "text": "Oslo"},
                        ],
                    },
                ],
                "scores": {"match": {"value": "C", "answer": "Oslo"}, "n": {"value": {"a": 3}}},
                "metadata": {"topic": "bags"},
                "events": [{"event": "model", "input": []}],
                "attachments": {"abc": "Where is my bag?"},
                "limit": None,
            }
        ],
        "reductions": [],
    }


def atif() -> dict[str, Any]:
    return {
        "schema_version": "ATIF-v1.6",
        "session_id": "s-1",
        "agent": {"name": "harness", "version": "1", "model_name": "some-model"},
        "steps": [
            {"step_id": 1, "source": "user", "message": "Where is my bag?", "timestamp": "t1"},
            {
                "step_id": 2,
                "source": "agent",
                "message": "I look.",
                "reasoning_content": "hm",
                "tool_calls": [
                    {"tool_call_id": "c1", "function_name": "look_up", "arguments": {"a": 1}}
                ],
                "observation": {"results": [{"source_call_id": "c1", "content": "in Oslo"}]},
                "metrics": {"prompt_tokens": 10, "completion_tokens": 3, "cost_usd": 0.01},
            },
            {"step_id": 3, "source": "agent", "message": "copied", "is_copied_context": True},
            {"step_id": 4, "source": "agent", "message": "In Oslo.", "timestamp": "t4"},
        ],
        "final_metrics": {"total_cost_usd": 0.02},
    }


def chat_lines() -> list[dict[str, Any]]:
    return [
        {"id": "a", "model": "m", "messages": CHAT, "tools": [{"type": "function"}], "lang": "en"},
        {"id": "b", "model": "m", "messages": CHAT, "reward": 0.5},
    ]


def otel() -> dict[str, Any]:
    """One call of a model in one document, with a tool's response in what it was told."""

    def value(messages: Any) -> dict[str, Any]:
        return {"stringValue": json.dumps(messages)}

    def says(role: str, **part: Any) -> dict[str, Any]:
        return {"role": role, "parts": [part]}

    told = [
        says("user", type="text", content="Where is my bag?"),
        says("assistant", type="tool_call", id="c1", name="look_up", arguments={"a": 1}),
        says("tool", type="tool_call_response", id="c1", response="in Oslo"),
    ]
    about = {
        "gen_ai.operation.name": {"stringValue": "chat"},
        "gen_ai.request.model": {"stringValue": "some-model"},
        "gen_ai.usage.output_tokens": {"intValue": "3"},
        "gen_ai.input.messages": value(told),
        "gen_ai.output.messages": value([says("assistant", type="text", content="In Oslo.")]),
    }
    span = {
        "traceId": "t1",
        "spanId": "s1",
        "startTimeUnixNano": "1000000000000000000",
        "endTimeUnixNano": "1000000001000000000",
        "attributes": [{"key": key, "value": one} for key, one in about.items()],
    }
    return {"resourceSpans": [{"scopeSpans": [{"spans": [span]}]}]}


SAMPLES: dict[str, Any] = {
    **SESSIONS,
    "otel": otel,
    "tau-bench": tau_bench,
    "tau2": tau2,
    "inspect": inspect_log,
    "atif": atif,
    "openai-chat": chat_lines,
}


# Formats whose files are lines.
LINES = SESSION_LINES | {"openai-chat"}


def write(path: Path, value: Any) -> Path:
    """A JSON document; gzipped where the name says so."""
    text = json.dumps(value).encode()
    path.write_bytes(gzip.compress(text) if path.suffix == ".gz" else text)
    return path


def write_lines(path: Path, values: list[Any]) -> Path:
    path.write_text("".join(json.dumps(value) + "\n" for value in values))
    return path


def write_sample(folder: Path, name: str) -> Path:
    """The sample of a format in its usual kind of file."""
    if name in LINES:
        return write_lines(folder / f"{name}.jsonl", SAMPLES[name]())
    return write(folder / f"{name}.json", SAMPLES[name]())


def eval_archive(log: dict[str, Any], *, header: bool = True) -> bytes:
    """The same log as Inspect's ZIP archive; without a header as a killed run leaves it."""
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED) as archive:
        head = {k: v for k, v in log.items() if k not in ("samples", "reductions")}
        archive.writestr("_journal/start.json", json.dumps(head))
        for sample in log["samples"]:
            archive.writestr(
                f"samples/{sample['id']}_epoch_{sample['epoch']}.json", json.dumps(sample)
            )
        if header:
            archive.writestr("header.json", json.dumps(head))
    return made.getvalue()


def zstd_archive(path: Path, members: dict[str, bytes], size: int | None = None) -> Path:
    """A ZIP archive as Inspect writes it: every member compressed with method 93."""
    body, directory = b"", b""
    for name, data in members.items():
        packed = zstandard.ZstdCompressor().compress(data)
        claimed = size if size and name.startswith("samples/") else len(data)
        about = struct.pack(
            "<HHHHHIIIHH",
            *(20, 0, 93, 0, 0x21, zlib.crc32(data), len(packed), claimed, len(name), 0),
        )
        directory += b"PK\x01\x02" + struct.pack("<H", 20) + about
        directory += struct.pack("<HHHII", 0, 0, 0, 0, len(body)) + name.encode()
        body += b"PK\x03\x04" + about + name.encode() + packed
    count = len(members)
    end = struct.pack("<HHHHIIH", 0, 0, count, count, len(directory), len(body), 0)
    path.write_bytes(body + directory + b"PK\x05\x06" + end)
    return path


def log_members(log: dict[str, Any], header: str = "header.json") -> dict[str, bytes]:
    head = {k: v for k, v in log.items() if k not in ("samples", "reductions")}
    files = {f"samples/{s['id']}_epoch_1.json": s for s in log["samples"]}
    return {name: json.dumps(v).encode() for name, v in {header: head, **files}.items()}

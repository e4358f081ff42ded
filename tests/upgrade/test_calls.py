"""Calls that release 0.10 stored in a way for each purpose become rows of the same kind."""

import json
import lzma
import sqlite3
from contextlib import closing

import pytest

from tests.installations import Install
from tests.upgrade.test_upgrade import DATABASES, PREPARE, run_python

pytestmark = [pytest.mark.embedded, pytest.mark.slow]

NOW = "2026-01-02 03:04:05"
REPLY = {
    "state": "answered", "value": {"score": 4}, "reason": "", "text": "4", "reasoning": "Good.",
    "model_reported": "m", "finish": "stop", "tokens_in": 10, "tokens_out": 2, "cost": 0.5,
    "latency": 1.5, "tries": 1,
}  # fmt: skip
ASK = {
    "trajectory": 1, "turn": 1, "role": "rubric_judge", "judge": "endpoint:e", "settings": {},
    "seed": 3, "filler": {"kind": "endpoint", "endpoint": "e"}, "currency": "EUR",
    "messages": [{"speaker": "user", "text": "How good is it?"}],
}  # fmt: skip


def test_calls_of_release_0_10_are_kept(install: Install) -> None:
    there = install("calls", migrated=False)
    (there.folder / "planjury.sqlite3").write_bytes(lzma.decompress(DATABASES[-1].read_bytes()))
    run_python(there, "manage.py", "migrate", "benchmarks", "0028", "--verbosity=0")
    run_python(there, "manage.py", "migrate", "analysis", "0005", "--verbosity=0")
    with closing(sqlite3.connect(there.folder / "planjury.sqlite3")) as old, old:
        (trajectory,) = old.execute("select min(id) from benchmarks_trajectory").fetchone()
        (answerer,) = old.execute("select min(id) from benchmarks_answererversion").fetchone()
        insert(old, "benchmarks_endpoint", id=1, name="e", title="E", base_url="http://e/v1",
               model="m", parameters="{}", key_variable="", currency="EUR", timeout=9.0,
               concurrency=1, structured="none", native_tools=0, simulated=0, retired=0,
               created_at=NOW)  # fmt: skip
        for number, (ok, text) in enumerate([(1, "Paris."), (0, "?"), (0, ""), (None, "")], 1):
            insert(old, "benchmarks_endpointtrial", id=number, endpoint_id=1, question="words",
                   at=NOW, ok=ok, text=text, reasoning="", finish="", model_reported="",
                   currency="EUR", tries=1, cost=0.25, problem="" if ok else "wrong")  # fmt: skip
        job = {"kind": "judge-trial", "title": "Try", "status": "done", "done": 0, "failed": 0,
               "message": "", "attempts": 1, "cancel": 0, "lease_owner": "",
               "created_at": NOW, "finished_at": NOW}  # fmt: skip
        insert(old, "benchmarks_job", id=9001, payload=json.dumps(ASK | {"result": REPLY}), **job)
        insert(old, "benchmarks_job", id=9002, payload=json.dumps(ASK), **job)
        call = {"step": 1, "slot": 2, "answerer_id": answerer, "ask_digest": "d", "seed": 7,
                "text": "yes", "reason": ""}  # fmt: skip
        insert(old, "benchmarks_suggestion", id=1, trajectory_id=trajectory, role="judge", seat="",
               state="answered", at=NOW, **call)  # fmt: skip
        insert(old, "benchmarks_openask", id=1, trajectory_id=trajectory, step=1, slot=2,
               role="judge", seat="", ask_digest="d", messages='["m"]', expect='{"kind": "k"}',
               tools="[]",
               context="{}", seed=7, opened_at=NOW)  # fmt: skip
        insert(old, "analysis_failureclustering", id=1, query="", trajectories="[]", endpoint_id=1,
               version="v", episode_version="1", most_clusters=2, seed=0, currency="EUR",
               state="done", problem="", created_at=NOW)  # fmt: skip
        for attempt, (cost, tokens) in enumerate([(0.5, 30), (None, None)], 1):
            insert(old, "analysis_clustercall", id=attempt, clustering_id=1, attempt=attempt,
                   messages="[]", state="answered", model_reported="", finish="", tries=1,
                   cost=cost, most=2.0, tokens_in=tokens, tokens_out=tokens, most_tokens=100,
                   sent_at=NOW, **call)  # fmt: skip

    assert "obstacles: 0" in run_python(there, "manage.py", "shell", "--no-imports", "-c", PREPARE)

    assert there.read("select state, reason_text from (select state, problem as reason_text, id "
                      "from benchmarks_endpointtrial) order by id") == [
        ("answered", ""), ("unreadable", "wrong"), ("failed", "wrong"), ("sent", "wrong"),
    ]  # fmt: skip
    assert there.read("select count(*), sum(cost) from benchmarks_endpointtrial") == [(4, 1.0)]
    columns = ", ".join(name for name in REPLY if name != "value")
    (row,) = there.read(
        f"select job_id, endpoint_id, role, seed, sent_at, value, {columns} "
        "from benchmarks_judgetrial"
    )
    assert row[:5] == (9001, 1, "rubric_judge", 3, NOW) and json.loads(row[5]) == REPLY["value"]
    assert row[6:] == tuple(value for name, value in REPLY.items() if name != "value")
    assert there.read(
        "select attempt, state, text, messages, expect, at from benchmarks_suggestion"
    ) == [(1, "answered", "yes", '["m"]', '{"kind": "k"}', NOW)]
    assert there.read("select role, cost from analysis_clustercall order by id") == [
        ("analyst", 0.5), ("analyst", None),
    ]  # fmt: skip
    assert there.read("select committed, committed_tokens from analysis_failureclustering") == [
        (2.5, 160)
    ]


def insert(database: sqlite3.Connection, table: str, **row: object) -> None:
    """Add a row; columns that are left out are empty."""
    names, marks = ", ".join(f'"{name}"' for name in row), ", ".join("?" * len(row))
    database.execute(f"insert into {table} ({names}) values ({marks})", list(row.values()))

"""Papers written by programs: pins, words, order, decisions, and what is refused."""

from typing import Any

import pytest
from django.contrib.auth.models import User

from analysis.models import Paper
from analysis.papers.blocks import MOST_BLOCKS
from analysis.papers.services import latest_version, share_paper
from benchmarks.models import Run
from tests.analysis.papers.conftest import blocks_of, pin
from tests.analysis.rows import flat, make_run, make_trajectory
from tests.benchmarks.api.conftest import Caller, bearer

pytestmark = pytest.mark.django_db


@pytest.fixture
def program(rita: User) -> Caller:
    return Caller(bearer(rita))


def test_a_program_writes_a_whole_paper(program: Caller, rita: User, run: Run) -> None:
    key = {"Idempotency-Key": "once"}
    begun = program.post("/papers", {"title": "Ours", "sharing": "read"}, **key)
    assert begun.status_code == 201
    assert (
        program.post("/papers", {"title": "Ours", "sharing": "read"}, **key).json() == begun.json()
    )
    paper = Paper.objects.get()
    assert (paper.owner, paper.title, paper.sharing) == (rita, "Ours", "read")
    trajectory = run.trajectories.earliest("pk").pk
    for source, name, query, parts in (
        (
            "page",
            "leaderboard",
            f"dataset={run.dataset_id}",
            ["answer", "figure:board", "table:board"],
        ),
        ("trajectory", str(trajectory), "from=1&to=2", ["table:turns"]),
        ("dataset", str(run.dataset_id), "", ["table:comparability-1"]),
    ):
        body = {"source": source, "name": name, "query": query, "parts": parts}
        answer = program.post(f"/papers/{paper.pk}/pins", body)
        assert answer.status_code == 201, answer.json()
    written = answer.json()
    assert [row["pin"]["part"] for row in written["blocks"][1:]] == [
        "answer", "figure:board", "table:board", "table:turns", "table:comparability-1",
    ]  # fmt: skip
    text, reply, figure, table, *rest = (row["id"] for row in written["blocks"])
    blocks: list[dict[str, Any]] = [
        {"id": text, "text": "# Results"},
        {"id": figure, "width": 85, "caption": "Who is right"},
        {"id": table, "columns": ["acc"], "digits": 0},
        {"text": "Discussion"},
        {"id": reply},
    ]
    saved = program.post(f"/papers/{paper.pk}", {"base": written["version"], "blocks": blocks})
    assert saved.status_code == 200, saved.json()
    rows = saved.json()["blocks"]
    assert [row["text"] for row in rows] == ["# Results", None, None, "Discussion", None]
    assert (rows[1]["pin"]["width"], rows[1]["pin"]["caption"]) == (85, "Who is right")
    assert (rows[2]["pin"]["digits"], rows[2]["pin"]["columns"]) == (0, ["acc"])
    assert rest and not {row["id"] for row in rows} & set(rest)
    assert len(blocks_of(paper)) == 5 and latest_version(paper).by == rita


def test_a_program_compares_and_decides(
    program: Caller, paper: Paper, rita: User, run: Run
) -> None:
    pin(paper)
    text, table = (block.id for block in blocks_of(paper))
    at = f"/papers/{paper.pk}/pins/{table}"
    assert program.get(at).json()["state"] == "same"
    other = make_run(run.dataset, "bob")
    make_trajectory(other, 1, scores=[flat(4)], accurate=1)
    changed = program.get(at).json()
    assert changed["state"] == "changed" and "new: Bob" in changed["lines"]
    assert len(changed["now"]["tables"][0]["rows"]) == 2

    def decide(choice: str) -> Any:
        blocks = [{"id": text}, {"id": table, "decide": f"{choice}:{changed['digest']}"}]
        body = {"base": latest_version(paper).number, "blocks": blocks}
        return program.post(f"/papers/{paper.pk}", body)

    assert decide("keep").status_code == 200 and program.get(at).json()["state"] == "kept"
    taken = decide("take").json()
    assert len(taken["blocks"][1]["pin"]["report"]["tables"][0]["rows"]) == 2
    assert program.get(at).json()["state"] == "same"
    stale = decide("take")
    assert stale.status_code == 200  # what is shown is exactly this
    make_trajectory(other, 2, scores=[flat(4)], accurate=0)
    Run.objects.filter(pk=other.pk).update(data_version=other.data_version + 9)
    assert decide("take").status_code == 422


@pytest.mark.parametrize(
    ("body", "field", "words"),
    [
        ({"source": "page", "name": "leaderboard", "parts": ["table:x"]}, "parts", "table:board"),
        ({"source": "page", "name": "nothing", "parts": ["answer"]}, "", "no page"),
        ({"source": "dataset", "name": "9" * 99, "parts": ["table:validity"]}, "", "deleted"),
        ({"source": "run", "name": "1", "parts": ["answer"]}, "source", ""),
        ({"source": "page", "name": "leaderboard", "parts": []}, "parts", ""),
    ],
)
def test_what_cannot_be_pinned_is_refused(
    program: Caller, paper: Paper, run: Run, body: Any, field: str, words: str
) -> None:
    answer = program.post(f"/papers/{paper.pk}/pins", body)
    error = answer.json()["error"]
    assert answer.status_code == 422 and error.get("field", "") == field
    assert words in error["message"] and latest_version(paper).number == 1


@pytest.mark.parametrize(
    ("changes", "field"),
    [
        ({"blocks": [{"id": "nobody"}]}, "blocks.0"),
        ({"blocks": [{"id": "TEXT"}, {"id": "TEXT"}]}, "blocks.1"),
        ({"blocks": [{"id": "TEXT", "width": 85}]}, "blocks.0"),
        ({"blocks": [{"id": "PIN", "text": "Mine"}]}, "blocks.0"),
        ({"blocks": [{"id": "PIN", "columns": None}]}, "blocks.0.columns"),
        ({"blocks": [{"id": "PIN", "width": 90}]}, "blocks.0.width"),
        ({"blocks": [{"id": "TEXT", "decide": "take:abc"}]}, "blocks.0.decide"),
        ({"blocks": [{"id": "PIN", "decide": "drop"}]}, "blocks.0.decide"),
        ({"blocks": [{"text": "x"}] * (MOST_BLOCKS + 1)}, "blocks"),
        ({"blocks": [], "base": 0}, "base"),
        ({"blocks": [], "title": " "}, ""),
    ],
)
def test_what_cannot_be_saved_changes_nothing(
    program: Caller, paper: Paper, run: Run, changes: dict[str, Any], field: str
) -> None:
    pin(paper)
    text, table = (block.id for block in blocks_of(paper))
    names = {"TEXT": text, "PIN": table}
    blocks = [{**one, **({"id": names.get(one["id"], one["id"])} if "id" in one else {})}
              for one in changes["blocks"]]  # fmt: skip
    answer = program.post(f"/papers/{paper.pk}", {"base": 2, **changes, "blocks": blocks})
    assert answer.status_code == 422, answer.json()
    assert answer.json()["error"].get("field", "") == field
    assert latest_version(paper).number == 2


def test_others_read_and_cannot_write_and_old_versions_conflict(
    program: Caller, paper: Paper, sven: User, run: Run
) -> None:
    other = Caller(bearer(sven))
    body: dict[str, Any] = {"base": 1, "blocks": [{"text": "Mine"}]}
    assert other.post(f"/papers/{paper.pk}", body).status_code == 404
    share_paper(paper=paper, sharing="read")
    pins = {"source": "page", "name": "leaderboard", "parts": ["answer"]}
    assert other.post(f"/papers/{paper.pk}", body).status_code == 403
    assert other.post(f"/papers/{paper.pk}/pins", pins).status_code == 403
    (first,) = blocks_of(paper)
    changed = {"base": 1, "blocks": [{"id": first.id, "text": "Other"}]}
    assert program.post(f"/papers/{paper.pk}", changed).status_code == 200
    assert program.post(f"/papers/{paper.pk}", body).status_code == 409
    reading = Caller(bearer(paper.owner, read_only=True))
    assert reading.post(f"/papers/{paper.pk}/pins", pins).status_code == 403
    assert latest_version(paper).number == 2


def test_trajectories_are_compared_step_by_step(program: Caller, run: Run) -> None:
    other = make_run(run.dataset, "bob")
    plans = (
        "1. Open the door.\n2. Boil water.",
        "1. Open the door.\n2. Boil the cold water.\n3. Sit.",
    )
    ids = [make_trajectory(one, 4, scores=[flat(4)], texts=[text]).pk
           for one, text in zip((run, other), plans, strict=True)]  # fmt: skip
    shown = program.get("/comparisons", t=ids).json()
    assert shown["base"] == ids[0] and shown["same_task"] and shown["next"] is None
    ((base, against),) = shown["positions"]
    assert base["steps"] is None and base["text"] == plans[0]
    assert [(one["op"], one["text"], one["before"]) for one in against["steps"]] == [
        ("same", "Open the door.", None),
        ("changed", "Boil the cold water.", "Boil water."),
        ("added", "Sit.", None),
    ]
    assert program.get("/comparisons", t=[ids[0], 999_999]).status_code == 404
    assert program.get("/comparisons", t=ids[:1]).status_code == 422

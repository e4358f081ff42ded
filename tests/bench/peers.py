"""CPU cost of what other programs of the field do too, in one run with ours: who is cheaper.

``--potato PROGRAM`` (the command ``potato`` of an environment in which potato-annotation is
installed) measures the desk: an item of ten questions, answered one by one or in one message, by
eight people at once. Potato's server is asked what its own page asks of it. ``--inspect PYTHON``
(the interpreter of an environment with inspect-ai and openai) measures calls that are stored:
episodes of ``--turns`` calls whose dialogue grows, on the fake endpoint, each program with its own
log on disk as it is shipped. What is not named is skipped. Theirs and ours take turns, ``--rounds``
times each.
"""

import argparse
import json
import os
import re
import secrets
import statistics
import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from tests.annotators import Annotator
from tests.bench.annotating import CLIENTS
from tests.bench.calling import ROOT, fake_endpoint
from tests.bench.storing import machine, register, save_rooms, set_up
from tests.servers import Server, children, free_port

ITEMS, ITEM_ROUNDS, CALLS, TURNS, AT_ONCE = 400, 10, 600, 10, 16
QUESTIONS = tuple(f"question_{number}" for number in range(1, 11))
# What the page of an item loads beside itself, as its requests in a browser show.
BESIDE = (
    "/api/colors", "/api/spans/{}", "/pocket/api/routing", "/api/keyword_highlights/{}",
    "/api/schemas", "/api/colors", "/api/spans/{}", "/api/keyword_highlights/{}",
    "/api/keyword_highlights/{}",
)  # fmt: skip
SHOWN = re.compile(r'id="instance_id"[^>]*value="([^"]*)"')
SYSTEM, BRIEF = "You help a person. " * 150, "How do I do it? " * 60

INSPECT = """
import sys, tempfile, time
from inspect_ai import Task, eval
from inspect_ai.dataset import MemoryDataset, Sample
from inspect_ai.model import ChatMessageSystem, ChatMessageUser
from inspect_ai.solver import solver

url, system, brief, episodes, turns, at_once = sys.argv[1:4] + [int(word) for word in sys.argv[4:]]

@solver
def play():
    async def solve(state, generate):
        state.messages = [ChatMessageSystem(content=system), ChatMessageUser(content=brief)]
        for turn in range(turns):
            state = await generate(state)
            state.messages.append(ChatMessageUser(content=f"Go on after turn {turn}."))
        return state
    return solve

def run(count):
    samples = [Sample(input=brief, target="", id=number) for number in range(count)]
    (log,) = eval(
        Task(dataset=MemoryDataset(samples), solver=play()), model="openai-api/fake/fake",
        model_base_url=url, log_dir=folder, display="none", max_connections=at_once,
        max_samples=at_once,
    )
    assert log.status == "success", log.error

folder = tempfile.mkdtemp()
run(1)
began = time.process_time()
run(episodes)
print((time.process_time() - began) / (episodes * turns) * 1000)
"""


# --- The desk -------------------------------------------------------------------------------------


@contextmanager
def potato(program: str) -> Iterator[Server]:
    """Potato's server on generated items of ten questions, for anybody who gives a name."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        plan = ("1. Wipe the table with a cloth. " * 12 + "\n") * 6
        rows = [{"id": f"item-{n}", "text": f"{n} {plan}"} for n in range(ITEMS)]
        (folder / "items.json").write_text("\n".join(map(json.dumps, rows)))
        schemes = [
            {
                "annotation_type": "likert", "name": question, "size": 5,
                "description": f"How well does the plan do at {question}?",
                "min_label": "not at all", "max_label": "very well",
            }
            for question in QUESTIONS
        ]  # fmt: skip
        settings = {
            "annotation_task_name": "bench", "server_name": "bench", "task_dir": ".",
            "output_annotation_dir": "out/", "port": 0, "data_files": ["items.json"],
            "item_properties": {"id_key": "id", "text_key": "text"},
            "user_config": {"allow_all_users": True, "users": []}, "require_password": False,
            "annotation_schemes": schemes, "assignment_strategy": "random",
            "max_annotations_per_user": 100, "num_annotators_per_item": 1,
            "max_annotations_per_item": 1, "secret_key": secrets.token_hex(16),
            "alert_time_each_instance": 100_000, "site_dir": "default",
        }  # fmt: skip
        (folder / "config.yaml").write_text(json.dumps(settings))  # JSON is YAML
        port = free_port()
        process = subprocess.Popen(
            [program, "start", "config.yaml", "-p", str(port), "--host", "127.0.0.1",
             "--require-password", "false"],
            cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        )  # fmt: skip
        try:
            yield Server(process, port)
        finally:
            process.terminate()
            process.wait(30)


def cpu_with_children(pid: int) -> float:
    """Seconds of a process and of all below it, with their threads that have ended, as Potato has
    one for each connection. Counted in hundredths, so that a round of eight is exact to 2 ms each.
    """
    user, system = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[11:13]
    own = (int(user) + int(system)) / os.sysconf("SC_CLK_TCK")
    return own + sum(map(cpu_with_children, children(pid)))


def work_in_potato(server: Server) -> dict[str, float]:
    """Milliseconds of CPU for an item that is answered by ten clicks, and by one message."""
    people = [Annotator(server.port, f"person{n}", "") for n in range(CLIENTS)]
    spent: defaultdict[str, list[float]] = defaultdict(list)

    def all_at_once(kind: str, act: Callable[[Annotator], None]) -> None:
        before = cpu_with_children(server.process.pid)
        list(pool.map(act, people))
        took = cpu_with_children(server.process.pid) - before
        spent[kind].append(took / CLIENTS * 1000)

    def sign_in(person: Annotator) -> None:
        assert person.post("/auth", {"email": person.name, "pass": ""}).status == 302

    def shown(person: Annotator) -> str:
        found = SHOWN.search(person.get("/annotate").text)
        assert found is not None, "the page shows no item"
        return found[1]

    def load_beside(person: Annotator, item: str) -> None:
        for path in BESIDE:
            assert person.get(path.format(item)).status == 200, path

    def save(person: Annotator, item: str, questions: Sequence[str]) -> None:
        values = {f"{question}:3": "3" for question in questions}
        message = {"instance_id": item, "annotations": values, "span_annotations": []}
        reply = person.send("/updateinstance", message)
        assert json.loads(reply.body)["status"] == "success", reply.text

    def note_click(person: Annotator, item: str, question: str) -> None:
        click = {"instance_id": item, "schema_name": question, "label_name": "3",
                 "action": "select", "new_value": "3", "source": "user"}  # fmt: skip
        assert person.send("/api/track_annotation_change", click).status == 200

    def go_on(person: Annotator, item: str) -> None:
        move = {"action": "next_instance", "instance_id": item}
        assert person.send("/annotate", move).status in (200, 302)

    def ten_clicks(person: Annotator) -> None:
        item = shown(person)
        load_beside(person, item)
        for count, question in enumerate(QUESTIONS, start=1):
            note_click(person, item, question)
            save(person, item, QUESTIONS[:count])
        save(person, item, QUESTIONS)  # as the page does before it goes on
        go_on(person, item)

    def one_message(person: Annotator) -> None:
        item = shown(person)
        save(person, item, QUESTIONS)
        go_on(person, item)

    with ThreadPoolExecutor(CLIENTS) as pool:
        for person in people:
            sign_in(person)
        list(pool.map(ten_clicks, people))  # templates are loaded
        for _ in range(ITEM_ROUNDS):
            all_at_once("ten clicks", ten_clicks)
            all_at_once("one message", one_message)
    return {kind: statistics.mean(values) for kind, values in spent.items()}


def desk_of_potato(program: str) -> dict[str, float]:
    """Start Potato, and measure the work at its desk."""
    with potato(program) as server:
        wait_for_port(server)
        return work_in_potato(server)


def wait_for_port(server: Server, seconds: float = 120) -> None:
    """Wait until a server answers."""
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        assert server.process.poll() is None, "the server has ended"
        with suppress(OSError):
            Annotator(server.port, "", "").get("/")
            return
        time.sleep(0.3)
    raise AssertionError("the server does not answer")


def our_desk() -> dict[str, float]:
    """Return the same of ours, by `tests.bench.annotating` in a process of its own."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "figures.json"
        command = [sys.executable, "-m", "tests.bench.annotating", "--items", "300"]
        subprocess.run(
            [*command, "--json", str(file)], cwd=ROOT, check=True, stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )  # fmt: skip
        (row,) = json.loads(file.read_text())["sizes"].values()
    clicks = row["open"] + 10 * row["save"] + row["submit"]
    return {"ten clicks": clicks, "one message": row["batch"]}


# --- Calls that are stored ------------------------------------------------------------------------


def calls_of_inspect(python: str, url: str, turns: int) -> dict[str, float]:
    """Milliseconds of CPU for each call that Inspect stores."""
    numbers = [str(number) for number in (CALLS // turns, turns, AT_ONCE)]
    environment = os.environ | {"FAKE_API_KEY": "none", "FAKE_BASE_URL": url}
    done = subprocess.run(
        [python, "-c", INSPECT, url, SYSTEM, BRIEF, *numbers],
        env=environment, check=True, stdout=subprocess.PIPE, text=True,
    )  # fmt: skip
    return {"stored call": float(done.stdout.split()[-1])}


def our_calls(url: str, turns: int) -> dict[str, float]:
    """Return the same of ours, in a process of its own."""
    command = [sys.executable, "-m", "tests.bench.peers", "--our-calls", url, "--turns", str(turns)]
    done = subprocess.run(command, cwd=ROOT, check=True, stdout=subprocess.PIPE, text=True)
    return {"stored call": float(done.stdout.split()[-1])}


def store_our_calls(url: str, turns: int) -> float:
    """Milliseconds of CPU for each call of a run that is stored in SQLite with shipped settings."""
    from benchmarks.core.system import Role, System
    from benchmarks.core.types import Ask, Expect, Message, Outcome, Turn
    from benchmarks.endpoints.services import create_endpoint
    from benchmarks.models import Agent, Exchange, Run
    from benchmarks.runs.services import start_runs
    from benchmarks.runs.worker import work_on_run

    class Dialogue(System):
        key = title = "dialogue"
        protocol_version = prompt_version = parser_version = scorer_version = "1"
        roles = (Role("agent", "Agent", ()),)
        settings = dimensions = ()
        parsers: Mapping[str, Any] = {"text": lambda text, params: text}
        scripted: Mapping[str, Any] = {}

        def episode(self, task: Any, settings: Any, rng: Any) -> Any:
            dialogue = [Message("system", SYSTEM), Message("user", BRIEF)]
            for turn in range(turns):
                (reply,) = yield [Ask("agent", tuple(dialogue), Expect("text"))]
                yield Turn(turn + 1, reply.value, "", {}, (), ())
                dialogue.append(Message("assistant", reply.value))
                dialogue.append(Message("user", f"Go on after turn {turn}."))
            return Outcome("done", {})

        def summarise(self, outcomes: Any) -> Mapping[str, Any]:
            return {}

        def sample_tasks(self) -> Sequence[Any]:
            return ()

    system = Dialogue()
    register(system)
    create_endpoint(name="peer", title="Peer", base_url=url, model="fake", concurrency=AT_ONCE)
    agents = [Agent.objects.get(name="peer")]

    def run(episodes: int) -> None:
        dataset = save_rooms(system, episodes, name=f"{episodes} episodes")
        (started,) = start_runs(dataset=dataset, agents=agents, wake=False)
        work_on_run(run_id=started.pk, owner="bench")
        assert Run.objects.get(pk=started.pk).status == Run.Status.DONE
        calls = Exchange.objects.filter(trajectory__run=started, state="answered").count()
        assert calls == episodes * turns

    run(1)
    began = time.process_time()
    run(CALLS // turns)
    return (time.process_time() - began) / (CALLS // turns * turns) * 1000


# --- All of it ------------------------------------------------------------------------------------


def compare(
    name: str, theirs: Callable[[], dict[str, float]], ours: Callable[[], dict[str, float]],
    rounds: int,
) -> None:  # fmt: skip
    """Print each round, and how many times cheaper ours are by the medians of all rounds."""
    spent: defaultdict[str, dict[str, list[float]]] = defaultdict(lambda: {name: [], "ours": []})
    for number in range(1, rounds + 1):
        for who, act in ((name, theirs), ("ours", ours)):
            for kind, value in act().items():
                spent[kind][who].append(value)
        words = "; ".join(
            f"{kind} {row[name][-1]:.1f} and {row['ours'][-1]:.1f} ms"
            for kind, row in spent.items()
        )
        print(
            f"round {number} (load {os.getloadavg()[0]:.1f}), {name} and ours: {words}", flush=True
        )
    for kind, row in spent.items():
        theirs_median, our_median = (statistics.median(row[who]) for who in (name, "ours"))
        print(f"{kind}: {name} takes {theirs_median / our_median:.1f} times our CPU")


def main() -> None:
    """Print the figures of the peers that are named."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--potato", metavar="PROGRAM")
    parser.add_argument("--inspect", metavar="PYTHON")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--turns", type=int, default=TURNS, help="calls of each episode")
    parser.add_argument("--our-calls", metavar="URL", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.our_calls:
        with tempfile.TemporaryDirectory() as folder:
            set_up(folder)
            print(store_our_calls(options.our_calls, options.turns))
        return
    print(machine())
    if options.potato:
        compare("Potato", lambda: desk_of_potato(options.potato), our_desk, options.rounds)
    else:
        print("the desk: skipped, since --potato names no program")
    if options.inspect:
        with fake_endpoint() as url:
            compare(
                "Inspect", lambda: calls_of_inspect(options.inspect, url, options.turns),
                lambda: our_calls(url, options.turns), options.rounds,
            )  # fmt: skip
    else:
        print("stored calls: skipped, since --inspect names no interpreter")


if __name__ == "__main__":
    main()

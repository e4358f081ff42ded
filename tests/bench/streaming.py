"""How soon a player sees what a model begins to write: from the endpoint's first piece to the page.

Run by ``make bench``. Server and worker are started as people start them (``manage.py serve``,
shipped settings) on SQLite; the agent is the fake endpoint in a process of its own, which streams
some twenty words a second and notes when it sent the first one. Players look at their session every
second and, while the agent writes, at its reply as often as the page does, and reply when they are
asked: eight at once without thinking, then fifty who think for some seconds. Everything shares one
machine and one clock.
"""

import argparse
import json
import os
import random
import sys
import tempfile
import threading
import time
import urllib.request
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import dataclass, field
from http.client import HTTPConnection
from pathlib import Path
from typing import Any

from benchmarks.llm.chat import SEEDS
from tests.annotators import Annotator
from tests.bench.scaling import fake_endpoint
from tests.bench.sessions import FEW, LOOK_SECONDS, MANY, THINKING, make_lists, percentile
from tests.bench.storing import processor, set_up, wait_for_jobs
from tests.players import STORED, Player, shown_asks, shown_draft
from tests.servers import Server, serving, wait_until_answered

# Seconds at the 95th percentile.
BUDGETS = {FEW: 0.5, MANY: 1.0}


@dataclass
class Watcher:
    """A player who watches the agent write; ``first`` has, by session, when text was first seen."""

    player: Player
    sessions: list[int]
    first: list[tuple[int, float]] = field(default_factory=list)
    refused: int = 0

    def play(self, until: float, thinking: tuple[float, float], seed: int) -> None:
        rng = random.Random(seed)
        for session in self.sessions:
            if time.time() >= until:
                return
            self.player.be_ready(session)
            self.watch(session, until, rng, thinking)

    def watch(
        self, session: int, until: float, rng: random.Random, thinking: tuple[float, float]
    ) -> None:
        """Wait for a plan, watching it grow, and reply to it; again until the time is up."""
        next_look = time.time() + rng.uniform(0, LOOK_SECONDS)
        follower = self.follow(session)
        while time.time() < until:
            time.sleep(max(0.0, next_look - time.time()))
            next_look = time.time() + LOOK_SECONDS
            look = self.player.look(session)
            if look.status == 286:
                return
            if look.status != 200 or not (asks := shown_asks(look)):
                continue
            follower.join()
            time.sleep(rng.uniform(*thinking))
            reply = self.player.reply(session, asks[0], shown_draft(look))
            assert reply.status in STORED, reply.status
            follower = self.follow(session)

    def follow(self, session: int) -> threading.Thread:
        """Return a thread that holds one stream to its end, and notes when text first came."""

        def read() -> None:
            person = self.player.person
            cookies = "; ".join(f"{name}={value}" for name, value in person.cookies.items())
            client = HTTPConnection("localhost", person.port, timeout=30)
            client.request(
                "GET",
                f"/sessions/{session}/writing/",
                headers={"Cookie": cookies, "Accept-Encoding": "gzip"},
            )
            response, seen = client.getresponse(), False
            self.refused += response.status == 503
            for line in response:
                if line.startswith(b"event: end"):
                    break
                if not seen and line.startswith(b"data: ") and json.loads(line[6:]):
                    self.first.append((session, time.time()))
                    seen = True
            client.close()

        thread = threading.Thread(target=read, daemon=True)
        thread.start()
        return thread


def watchers(server: Server, users: Sequence[Any]) -> list[Watcher]:
    """All of them signed in, each with sessions of their own."""
    from tests.pools import PASSWORD

    people = []
    for number, (user, sessions) in enumerate(zip(users, make_lists(users, each=4), strict=True)):
        address = {"X-Forwarded-For": f"10.0.2.{number}"}
        person = Annotator(server.port, user.username, PASSWORD, address)
        people.append(Watcher(Player(person, as_text=False), sessions))
    with ThreadPoolExecutor(4) as pool:
        list(pool.map(lambda each: each.player.person.sign_in(), people))
    return people


def play(
    server: Server,
    url: str,
    people: Sequence[Watcher],
    seconds: float,
    thinking: tuple[float, float],
) -> dict[str, Any]:
    """All of them at once for so long; how many seconds each first piece took to the page."""
    until, cpu = time.time() + seconds, server.cpu()
    with ThreadPoolExecutor(len(people)) as pool:
        list(pool.map(lambda pair: pair[1].play(until, thinking, pair[0]), enumerate(people)))
    waits = waited(url, people)
    return {
        "sessions": len(people),
        "first_pieces": len(waits),
        "seconds_p50": round(percentile(waits, 50), 3),
        "seconds_p95": round(percentile(waits, 95), 3),
        "streams_refused": sum(each.refused for each in people),
        "web_cpu_share": round((server.cpu() - cpu) / seconds, 3),
    }


def waited(url: str, people: Sequence[Watcher]) -> list[float]:
    """Seconds from each first piece, as the endpoint sent it, until it was seen."""
    from annotation.models import LiveSession
    from benchmarks.models import Exchange

    with urllib.request.urlopen(url.removesuffix("/v1") + "/counts", timeout=30) as reply:
        began = {int(seed): at for seed, at in json.load(reply)["began"].items()}
    waits = []
    for each in people:
        for session, at in each.first:
            trajectory = LiveSession.objects.values_list("trajectory", flat=True).get(pk=session)
            seeds = Exchange.objects.filter(trajectory=trajectory, role="agent")
            sent = [began.get(s % SEEDS, 0.0) for s in seeds.values_list("seed", flat=True)]
            waits.append(at - max(when for when in sent if when <= at))
    return waits


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=40.0, help="of each part")
    parser.add_argument("--json", type=Path, help="write the figures to this file")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder, ExitStack() as stack:
        url = stack.enter_context(fake_endpoint())
        set_up(folder)
        from benchmarks.endpoints.services import create_endpoint
        from tests.functional.harried import save_tasks
        from tests.pools import make_people

        for name, model in (("bench", "writes"), ("judges", "fake")):
            create_endpoint(
                name=name, title=name.title(), base_url=url, model=model, concurrency=200,
                timeout=60.0,
            )  # fmt: skip
        save_tasks(8)
        users = make_people([f"player-{number}" for number in range(MANY)])
        load = os.getloadavg()[0]
        print(f"{processor()}, {os.cpu_count()} cores, load {load:.2f}")
        found = {}
        with serving(PLANJURY_PROXIES="1") as server:
            wait_until_answered(server)
            wait_for_jobs()
            play(server, url, watchers(server, users[:2]), 8, (0.0, 0.0))  # modules are loaded
            for name, size, thinking in (("few", FEW, (0.0, 0.0)), ("many", MANY, THINKING)):
                people = watchers(server, users[:size])
                found[name] = play(server, url, people, options.seconds, thinking)
                print(f"{found[name]} (budget: p95 {BUDGETS[size]} s)", flush=True)
    if options.json:
        options.json.write_text(json.dumps(found, indent=2))
    return 0


if __name__ == "__main__":
    sys.exit(main())

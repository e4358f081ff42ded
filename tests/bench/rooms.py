"""Measure how many live sessions a web server with 1, 2 and 4 processes carries: a table for docs.

``python -m tests.bench.rooms`` starts the server as people do (``manage.py serve``) on a PostgreSQL
and a Redis of its own, and one player in each room, who looks at the session every second, as the
page does, and replies some seconds after being asked. Server, worker, database, players and the
agent's endpoint share the cores, so the table says how busy these were: where they are, more cores
are wanted. What a look costs, with its share of the replies, says how many rooms a core carries on
any machine. A look counts as late after a second, when the page would ask again.
"""

import argparse
import os
import sys
import tempfile
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.annotators import Annotator
from tests.bench.scaling import BUSY, cpu_by_program, cpu_jiffies, fake_endpoint, services
from tests.bench.sessions import LATENCY, LOOK_SECONDS, THINKING, make_lists, percentile
from tests.bench.storing import machine, set_up, wait_for_jobs
from tests.players import STORED, Player, shown_asks, shown_draft
from tests.servers import Server, serving, wait_until_answered

ROOMS, PROCESSES, SECONDS = (10, 100, 300), (1, 2, 4), 20.0
HEAD = """\
| web processes | rooms | looks/s | a look, p50 | p95 | late | replies/s | ms of CPU per look: web | PostgreSQL | all cores |
|---|---|---|---|---|---|---|---|---|---|"""  # noqa: E501


@dataclass
class Visitor:
    """A player in one room, with the seconds that each look took."""

    player: Player
    session: int
    looks: list[float] = field(default_factory=list)
    replies: int = 0

    def play(self, until: float) -> None:
        """Look every second, and reply when the time to think is over."""
        low, high = THINKING
        due = time.time() + self.session % 100 / 100 * LOOK_SECONDS
        answer_at = 0.0
        while time.time() < until:
            time.sleep(max(0.0, due - time.time()))
            began = time.perf_counter()
            look = self.player.look(self.session)
            self.looks.append(time.perf_counter() - began)
            due = max(due + LOOK_SECONDS, time.time())
            if look.status != 204 and (asks := shown_asks(look)):
                ask, draft = asks[0], shown_draft(look)
                answer_at = time.time() + low + self.session % 100 / 100 * (high - low)
            if answer_at and time.time() > answer_at:
                reply = self.player.reply(self.session, ask, draft)
                assert reply.status in STORED, reply.status
                self.replies, answer_at = self.replies + 1, 0.0


def visitors(server: Server, users: Sequence[Any]) -> list[Visitor]:
    """Everybody signed in, in a room of their own."""
    from django.conf import settings
    from django.test import Client

    found = []
    for user, (session,) in zip(users, make_lists(users, each=1), strict=True):
        client = Client()
        client.force_login(user)  # three hundred passwords would take a minute to check
        cookie = client.cookies[settings.SESSION_COOKIE_NAME].value
        person = Annotator(server.port, user.username, "", cookies={"sessionid": cookie})
        found.append(Visitor(Player(person, as_text=False), session))
    with ThreadPoolExecutor(4) as pool:
        list(pool.map(lambda each: each.player.be_ready(each.session), found))
    return found


def measure(server: Server, people: list[Visitor], processes: int, seconds: float) -> str:
    """Return a line of the table."""
    time.sleep(2 * LATENCY)  # the agents' first plans are there
    web, programs, (busy, every) = server.cpu(), cpu_by_program([]), cpu_jiffies()
    began = time.time()
    with ThreadPoolExecutor(len(people)) as pool:
        list(pool.map(lambda each: each.play(began + seconds), people))
    took = time.time() - began
    web, database = server.cpu() - web, cpu_by_program([])["postgres"] - programs["postgres"]
    busy_now, every_now = cpu_jiffies()
    share = (busy_now - busy) / (every_now - every)
    looks = [1000 * look for each in people for look in each.looks]
    late = sum(look > 1000 * LOOK_SECONDS for look in looks) / len(looks)
    replies = sum(each.replies for each in people)
    bound = " (CPU-bound)" if share > BUSY else ""
    return (
        f"| {processes} | {len(people)} | {len(looks) / took:.0f} "
        f"| {percentile(looks, 50):.0f} ms | {percentile(looks, 95):.0f} ms | {late:.0%} "
        f"| {replies / took:.1f} | {1000 * web / len(looks):.1f} "
        f"| {1000 * database / len(looks):.1f} "
        f"| {share:.0%}{bound} |"
    )


def main() -> int:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rooms", type=int, nargs="+", default=ROOMS)
    parser.add_argument("--processes", type=int, nargs="+", default=PROCESSES)
    parser.add_argument("--seconds", type=float, default=SECONDS, help="of each line")
    options = parser.parse_args()
    with ExitStack() as stack:
        folder = stack.enter_context(tempfile.TemporaryDirectory())
        os.chmod(folder, 0o711)
        found = stack.enter_context(services(Path(folder) / "services"))
        if found is None:
            print("skipped: PostgreSQL and Redis are not installed and cannot be (make services)")
            return 0
        os.environ |= found
        url = stack.enter_context(fake_endpoint("--latency", str(LATENCY)))
        judges = stack.enter_context(fake_endpoint())
        set_up(folder)
        from django.db import connection

        from benchmarks.endpoints.services import create_endpoint
        from tests.functional.harried import save_tasks
        from tests.pools import make_people

        for name, where in (("bench", url), ("judges", judges)):
            create_endpoint(
                name=name, title=name.title(), base_url=where, model="fake", concurrency=400,
                timeout=30.0,
            )  # fmt: skip
        save_tasks(8)
        users = make_people([f"player-{number}" for number in range(max(options.rooms))])
        print(f"{machine()}; PostgreSQL and Redis\n\n{HEAD}")
        for processes in options.processes:
            for rooms in options.rooms:
                connection.close()
                with serving(PLANJURY_WEB_PROCESSES=str(processes)) as server:
                    wait_until_answered(server)
                    wait_for_jobs()
                    people = visitors(server, users[:rooms])
                    print(measure(server, people, processes, options.seconds), flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())

"""Live sessions against an agent that takes a second: what we add to a reply, and what others feel.

Run by ``make bench``. Server and worker are started as people start them (``manage.py serve``,
shipped settings) on SQLite or, where ``DATABASE_URL`` names one, on that database; the agent is the
fake endpoint in a process of its own. Players look at their session every second, as the page does,
and reply when they are asked: eight at once without thinking, then fifty who think for some
seconds.

What we add to a reply is the time from when the player's browser sends it until the next ask can be
seen, without the second that the agent takes and without the wait for the next look: sending and
storing the reply, waking the worker, everything that it does but the agent's call, and the look
that shows the next ask. Then somebody else loads other pages without a pause, which takes half a
core: first while the sessions of another fifty are there and nobody plays, and then beside them. In
the same run: a look's milliseconds of CPU, and those of a bare view behind session and sign-in.
"""

import argparse
import json
import os
import platform
import random
import statistics
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.annotators import Annotator
from tests.bench.annotating import bare_view
from tests.bench.scaling import fake_endpoint
from tests.bench.storing import processor, set_up, wait_for_jobs
from tests.players import STORED, Player, shown_asks, shown_draft
from tests.servers import Server, serving, wait_until_answered

LATENCY = 1.0
LOOK_SECONDS = 1.0
FEW, MANY, THINKING = 8, 50, (3.0, 8.0)
# They find something violated in most plans, at once; scripts score the plans.
JUDGES = dict.fromkeys(("world_judge", "user_judge"), ["endpoint:judges"])
# Milliseconds at the 95th percentile.
BUDGETS = {FEW: 150.0, MANY: 250.0}
PAGES = ("/studies/", "/runs/", "/trajectories/", "/sessions/")


@dataclass
class Sent:
    """A reply: to which ask, when it was sent, and the look that showed what came of it."""

    ask: int
    at: float
    look_seconds: float = 0.0


@dataclass
class At:
    """One player at work."""

    player: Player
    sessions: list[int]
    sent: list[Sent] = field(default_factory=list)

    def play(self, until: float, thinking: tuple[float, float], seed: int) -> None:
        """Look, think, reply, until the time is up or nothing is left."""
        rng = random.Random(seed)
        for session in self.sessions:
            if time.time() >= until:
                return
            self.player.be_ready(session)
            waiting: Sent | None = None
            next_look = time.time() + rng.uniform(0, LOOK_SECONDS)
            while time.time() < until:
                time.sleep(max(0.0, next_look - time.time()))
                next_look += LOOK_SECONDS
                began = time.perf_counter()
                look = self.player.look(session)
                if look.status == 286:
                    break
                if look.status == 204:
                    continue
                asks = shown_asks(look)
                if not asks:
                    continue
                if waiting is not None:
                    waiting.look_seconds = time.perf_counter() - began
                time.sleep(rng.uniform(*thinking))
                # Every other time with words of one's own.
                own = f"Not like that ({asks[0]})." if len(self.sent) % 2 else ""
                reply = self.player.reply(session, asks[0], own or shown_draft(look))
                assert reply.status in STORED, reply.status
                waiting = Sent(asks[0], self.player.sent_at)
                self.sent.append(waiting)
                next_look = time.time() + LOOK_SECONDS


def seat(server: Server, users: Sequence[Any]) -> list[At]:
    """All of them signed in, each with sessions of their own."""
    from tests.pools import PASSWORD

    people = []
    for number, (user, sessions) in enumerate(zip(users, make_lists(users, each=4), strict=True)):
        address = {"X-Forwarded-For": f"10.0.2.{number}"}
        person = Annotator(server.port, user.username, PASSWORD, address)
        people.append(At(Player(person, as_text=False), sessions))
    with ThreadPoolExecutor(4) as pool:
        list(pool.map(lambda each: each.player.person.sign_in(), people))
    return people


def play(
    server: Server, people: Sequence[At], seconds: float, thinking: tuple[float, float]
) -> dict[str, Any]:
    """All of them at once for so long; the milliseconds that we added to each reply."""
    until = time.time() + seconds
    cpu = server.cpu()
    with ThreadPoolExecutor(len(people)) as pool:
        list(pool.map(lambda pair: pair[1].play(until, thinking, pair[0]), enumerate(people)))
    added = added_to(people)
    whole = [sum(parts.values()) for parts in added]
    return {
        "sessions": len(people),
        "replies": len(added),
        "added_ms_p50": round(percentile(whole, 50), 1),
        "added_ms_p95": round(percentile(whole, 95), 1),
        "parts_ms_p50_p95": {
            name: tuple(round(percentile([parts[name] for parts in added], n)) for n in (50, 95))
            for name in (added[0] if added else ())
        },
        "web_cpu_share": round((server.cpu() - cpu) / seconds, 3),
    }


def added_to(people: Sequence[At]) -> list[dict[str, float]]:
    """Milliseconds by reply and part, from the clients' clocks and the stored rows (one machine).

    From sending the reply until it is stored, until the agent is called, from its reply until the
    player is asked, and the look that shows it.
    """
    from benchmarks.models import Exchange, OpenAsk

    found = []
    asks = {ask.pk: ask for ask in OpenAsk.objects.all()}
    by_trajectory: dict[int, list[OpenAsk]] = defaultdict(list)
    for ask in sorted(asks.values(), key=lambda ask: ask.step):
        by_trajectory[ask.trajectory_id].append(ask)
    agents: dict[int, list[Exchange]] = defaultdict(list)
    for row in Exchange.objects.filter(role="agent", state=Exchange.State.ANSWERED):
        agents[row.trajectory_id].append(row)
    for each in people:
        for sent in each.sent:
            ask = asks[sent.ask]
            later = [a for a in by_trajectory[ask.trajectory_id] if a.step > ask.step]
            if not later or not sent.look_seconds or ask.answered_at is None:
                continue
            shown = later[0]
            (call,) = (row for row in agents[ask.trajectory_id] if ask.step < row.step < shown.step)
            stored, called = ask.answered_at.timestamp(), call.sent_at.timestamp()
            parts = {
                "stored": stored - sent.at,
                "called": called - stored,
                "asked": shown.opened_at.timestamp() - called - (call.latency or 0.0),
                "looked": sent.look_seconds,
            }
            found.append({name: 1000 * seconds for name, seconds in parts.items()})
    return found


def make_lists(users: Sequence[Any], each: int) -> list[list[int]]:
    """Sessions for everybody, one after the other."""
    from annotation.live.setup.sessions import make_session, store_live_study
    from annotation.models import LivePlan, Study
    from benchmarks.models import Agent, Task

    study = Study(
        name=f"{len(users)} at once", questionnaire="ten_questions@1",
        status=Study.Status.OPEN, seed=1,
    )  # fmt: skip
    plan = LivePlan(system="adaplanbench", mode="simulator", away_seconds=3600)
    store_live_study(study=study, plan=plan, by=users[0])
    tasks = list(Task.objects.order_by("pk"))
    agent = Agent.objects.get(name="bench")
    return [
        [
            make_session(
                study=study, agent=agent, task=tasks[(number + place) % len(tasks)], level="high",
                players=[user], by=users[0], settings={"patience": 20}, roles=JUDGES,
            ).pk
            for place in range(each)
        ]
        for number, user in enumerate(users)
    ]  # fmt: skip


def visit(person: Annotator, seconds: float) -> dict[str, list[float]]:
    """Milliseconds of each page, asked for in turn for so long."""
    found: dict[str, list[float]] = {path: [] for path in PAGES}
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        for path in PAGES:
            began = time.perf_counter()
            reply = person.get(path)
            assert reply.status == 200, (path, reply.status)
            found[path].append(1000 * (time.perf_counter() - began))
        time.sleep(0.05)
    return found


def percentile(values: Sequence[float], percent: int) -> float:
    return statistics.quantiles(values, n=100)[percent - 1] if len(values) > 1 else float("nan")


def cost_of_a_look(server: Server, user: Any, rounds: int = 200) -> float:
    """Milliseconds of CPU of a look that finds nothing new."""
    from tests.pools import PASSWORD

    ((session,),) = make_lists([user], each=1)
    player = Player(
        Annotator(server.port, user.username, PASSWORD, {"X-Forwarded-For": "10.0.3.1"})
    )
    player.person.sign_in()
    player.be_ready(session)
    time.sleep(2 * LATENCY + 1)
    for _ in range(20):
        player.look(session)
    before = server.cpu()
    for _ in range(rounds):
        player.look(session)
    return 1000 * (server.cpu() - before) / rounds


def run(seconds: float) -> dict[str, Any]:
    """All figures of one run."""
    from django.contrib.auth.models import User
    from django.db import connection

    from tests.pools import PASSWORD, make_people

    found: dict[str, Any] = {"database": connection.vendor}
    users = make_people([f"player-{number}" for number in range(MANY)])
    (admin,) = make_people(["somebody-else"])
    User.objects.filter(pk=admin.pk).update(is_superuser=True)
    with serving(PLANJURY_PROXIES="1") as server:
        wait_until_answered(server)
        wait_for_jobs()
        other = Annotator(server.port, admin.username, PASSWORD, {"X-Forwarded-For": "10.0.4.1"})
        other.sign_in()
        play(server, seat(server, users[:2]), 8, (0.0, 0.0))  # modules are loaded
        found["few"] = play(server, seat(server, users[:FEW]), seconds, (0.0, 0.0))
        found["many"] = play(server, seat(server, users), seconds, THINKING)
        people = seat(server, users)
        visit(other, 3)
        idle = visit(other, seconds / 2)
        with ThreadPoolExecutor(1) as pool:
            beside = pool.submit(visit, other, seconds)
            found["beside"] = play(server, people, seconds, THINKING)
            busy = beside.result()
        found["look_cpu_ms"] = round(cost_of_a_look(server, users[0]), 2)
        found["pages"] = {
            path: {
                "idle_p95": round(percentile(idle[path], 95), 1),
                "busy_p95": round(percentile(busy[path], 95), 1),
                "ratio": round(percentile(busy[path], 95) / percentile(idle[path], 95), 2),
            }
            for path in PAGES
        }
    found["bare_view_cpu_ms"] = round(bare_view([other], rounds=50), 2)
    return found


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=40.0, help="of each part")
    parser.add_argument("--json", type=Path, help="write the figures to this file")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder, ExitStack() as stack:
        url = stack.enter_context(fake_endpoint("--latency", str(LATENCY)))
        judges = stack.enter_context(fake_endpoint())
        set_up(folder)
        from benchmarks.endpoints.services import create_endpoint
        from tests.functional.harried import save_tasks

        for name, where in (("bench", url), ("judges", judges)):
            create_endpoint(
                name=name, title=name.title(), base_url=where, model="fake", concurrency=200,
                timeout=30.0,
            )  # fmt: skip
        save_tasks(8)
        load = os.getloadavg()[0]
        print(
            f"{processor()}, {os.cpu_count()} cores, load {load:.2f}, "
            f"Python {platform.python_version()}"
        )
        found = run(options.seconds)
    for part, size in (("few", FEW), ("many", MANY)):
        print(f"{found[part]} (budget: p95 {BUDGETS[size]:.0f} ms)")
    print(f"{found['beside']} (somebody loads pages without a pause)")
    for path, row in found["pages"].items():
        print(f"{path}: {row} (budget: ratio 2)")
    print(f"a look {found['look_cpu_ms']} ms of CPU, a bare view {found['bare_view_cpu_ms']} ms")
    if options.json:
        options.json.write_text(json.dumps(found, indent=2))
    return 0


if __name__ == "__main__":
    sys.exit(main())

"""Live sessions while server and worker are killed again and again: nothing lost, nothing doubled.

Meanwhile a manager steers: writes notes, pauses and resumes, and rolls sessions back.

``python -m tests.functional.killed_sessions`` plays it in full on whatever database and broker the
environment names: 50 sessions of ten people, 25 kills. The test of the same name plays a small one.

Players do what a browser does: they look at their page, reply to what it asks, and send the same
reply again until the server has said that it is stored. The agent is an endpoint that takes its
time, so that kills also hit calls under way. A kill is ``SIGKILL`` of the process that answers, of
it and its parent, or of the worker. What thirty seconds of waiting would do to a dead worker's
leases is done at once, and the sweep looks twice a second (tests/hasty.py).
"""

import argparse
import json
import os
import random
import signal
import sys
import threading
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.annotators import Annotator
from tests.functional.killed_annotating import AWAY, PATIENCE, prepare
from tests.players import STORED, Player
from tests.servers import Server, children, serving, wait_until_answered

LATENCY = 0.15
# The fake endpoint finds something violated in most plans.
JUDGES = dict.fromkeys(("world_judge", "user_judge", "rubric_judge"), ["endpoint:fake"])
LINES = ("Not like that, please.", "That will not do here.", "There is something in the way.")


@dataclass
class Trial:
    """A trial to be played, and its result."""

    sessions: int = 50
    people: int = 10
    kills: int = 25
    seed: int = 20261122
    # What the manager did and the server acknowledged: session, deed and reason.
    steered: list[tuple[int, str, str]] = field(default_factory=list)
    found: dict[str, Any] = field(default_factory=dict)

    def play(self) -> dict[str, Any]:
        """All of it; raises where one of the promises is broken."""
        from django.db import connection

        from devtools.fake_endpoint.server import FakeServer
        from tests.pools import PASSWORD, make_people

        manager, *users = make_people(
            ["manager", *(f"player-{number}" for number in range(self.people))]
        )
        with FakeServer(latency=LATENCY) as server:
            lists = make_sessions(server.base_url, manager, users, self.sessions)
            connection.close()
            with serving("-m", "tests.hasty", "serve", PLANJURY_PROXIES="1") as running:
                wait_until_answered(running)
                players = [
                    Player(
                        Annotator(
                            running.port,
                            user.username,
                            PASSWORD,
                            {"X-Forwarded-For": f"10.0.1.{n}"},
                        )
                    )
                    for n, user in enumerate(users)
                ]
                steering = Annotator(
                    running.port, manager.username, PASSWORD, {"X-Forwarded-For": "10.0.2.1"}
                )
                with ThreadPoolExecutor(2) as pool:
                    people = [steering, *(player.person for player in players)]
                    list(pool.map(lambda person: person.sign_in(), people))
                began = time.monotonic()
                self._work(running, players, lists, steering)
                self.found["seconds"] = round(time.monotonic() - began, 1)
                self._wait_for_ends()
        self._compare(players)
        return self.found

    def _work(
        self, server: Server, players: list[Player], lists: list[list[int]], manager: Annotator
    ) -> None:
        with ThreadPoolExecutor(len(players) + 1) as pool:
            work = [
                pool.submit(self._play, player, sessions, number)
                for number, (player, sessions) in enumerate(zip(players, lists, strict=True))
            ]
            over = threading.Event()
            killer = threading.Thread(target=self._kill, args=(server, players, over))
            killer.start()
            steerer = pool.submit(self._steer, manager, sum(lists, []), over)
            try:
                for each in work:
                    each.result()
            finally:
                over.set()
                killer.join()
            steerer.result()

    # --- The players ------------------------------------------------------------------------------

    def _play(self, player: Player, sessions: list[int], number: int) -> None:
        """Session after session; what is begun is finished."""
        rng = random.Random(self.seed + number)
        for session in sessions:
            insist(lambda pk=session: player.be_ready(pk))
            limit = time.monotonic() + PATIENCE
            while not ended(session):
                assert time.monotonic() < limit, f"session {session} does not go on"
                for ask in insist(lambda pk=session: player.asked(pk)):
                    text = f"{rng.choice(LINES)} ({session}.{ask})"
                    reply = insist(lambda pk=session, a=ask, t=text: player.reply(pk, a, t))
                    # Paused or rolled back meanwhile: the page says so, and asks again.
                    late = reply.status == 409
                    assert late or reply.status in STORED, (reply.status, reply.text[-3000:])
                time.sleep(0.1)

    # --- The manager ------------------------------------------------------------------------------

    def _steer(self, manager: Annotator, sessions: list[int], over: threading.Event) -> None:
        """Steer sessions at random, each rolled back once at most."""
        rng, unrolled = random.Random(self.seed), set(sessions)
        while not over.wait(rng.uniform(0.1, 0.5)):
            session = rng.choice(sessions)
            deed = rng.choice(("note", "pause", "roll_back"))
            if deed == "roll_back" and session not in unrolled:
                continue
            if self._do(manager, session, deed) and deed == "roll_back":
                unrolled.discard(session)
            if deed == "pause":
                over.wait(0.2)
                self._do(manager, session, "resume")

    def _do(self, manager: Annotator, session: int, deed: str) -> bool:
        """Do something to a session until the server answers; whether it was done."""
        reason = f"{deed} {len(self.steered)}"
        fields = {"do": deed, "place": "1", "reason": reason, "step": "0"}
        reply = insist(lambda: manager.post(f"/sessions/{session}/control/", fields))
        assert reply.status in (302, 409), (reply.status, reply.text[-3000:])
        if reply.status == 302 and deed != "resume":
            self.steered.append((session, deed, reason))
        return bool(reply.status == 302)

    # --- The kills --------------------------------------------------------------------------------

    def _kill(self, server: Server, players: list[Player], over: threading.Event) -> None:
        rng = random.Random(self.seed)
        done: Counter[str] = Counter(web=0, whole=0, worker=0)
        while sum(done.values()) < self.kills and not over.wait(rng.uniform(0.1, 0.8)):
            kind = rng.choice(("web", "whole", "worker"))
            if strike(server, kind):
                done[kind] += 1
        self.found["kills"] = dict(done)

    # --- The comparison ---------------------------------------------------------------------------

    def _wait_for_ends(self) -> None:
        from annotation.models import LiveSession

        limit = time.monotonic() + PATIENCE
        open_ = LiveSession.objects.exclude(state__in=LiveSession.OVER)
        while open_.exists():
            assert time.monotonic() < limit, f"{open_.count()} sessions are not noted as ended"
            time.sleep(0.2)

    def _compare(self, players: list[Player]) -> None:
        from django.db.models import Count

        from annotation.models import LiveEvent, LiveSession
        from benchmarks.models import Exchange, OpenAsk, Trajectory

        # What was rolled back stays in the log as well.
        said = Exchange.every.filter(answerer__kind="human")
        acknowledged = {ask: text for player in players for ask, text in player.sent.items()}
        for text in acknowledged.values():
            (row,) = said.filter(text=text)
            assert row.state == Exchange.State.ANSWERED, (row.state, row.text)
        kinds = {"note": "note", "pause": "paused", "roll_back": "rolled_back"}
        for session, deed, reason in self.steered:
            events = LiveEvent.objects.filter(session=session, kind=kinds[deed], reason=reason)
            assert events.exists(), f"{reason} in session {session} is not recorded"
        answered = Exchange.objects.filter(state=Exchange.State.ANSWERED)
        places = answered.order_by().values("trajectory", "step", "slot")
        twice = places.annotate(n=Count("pk")).filter(n__gt=1).count()
        lost = len(set(acknowledged.values()) - set(said.values_list("text", flat=True)))
        assert (twice, lost) == (0, 0), f"{twice} replies are stored twice, {lost} are missing"
        assert not OpenAsk.objects.filter(answered_at=None).exists()
        played = Trajectory.objects.filter(reserved=True)
        assert {row.status for row in played} == {Trajectory.Status.DONE}
        assert acknowledged, "nobody was asked anything"
        assert {s.state for s in LiveSession.objects.all()} == {LiveSession.State.ENDED}
        for row in played:
            indices = list(row.turns.order_by("index").values_list("index", flat=True))
            assert indices == list(range(1, row.turn_count + 1)), indices
        self.found |= {
            "sessions": played.count(),
            "replies": len(acknowledged),
            "replies_lost": lost,
            "replies_twice": twice,
            "steered": dict(Counter(deed for _, deed, _ in self.steered)),
            "withdrawn": Exchange.every.exclude(withdrawn_at=None).count(),
            "calls_repeated": Exchange.objects.filter(state=Exchange.State.LOST).count(),
        }


def make_sessions(url: str, manager: Any, users: list[Any], count: int) -> list[list[int]]:
    """Sessions of an endpoint's agent, shared out among the people; their ids by person."""
    from annotation.live.setup.sessions import make_session, store_live_study
    from annotation.models import LivePlan, Study
    from benchmarks.endpoints.services import create_endpoint
    from benchmarks.models import Agent, Task
    from tests.functional.harried import save_tasks

    create_endpoint(
        name="fake", title="Fake", base_url=url, model="fake", concurrency=200, timeout=30.0
    )
    dataset = save_tasks(5)
    study = Study(name="Live", questionnaire="ten_questions@1", status=Study.Status.OPEN, seed=1)
    plan = LivePlan(system="adaplanbench", mode="simulator", away_seconds=3600)
    store_live_study(study=study, plan=plan, by=manager)
    tasks = list(Task.objects.filter(dataset=dataset).order_by("pk"))
    agent = Agent.objects.get(name="fake")
    lists: list[list[int]] = [[] for _ in users]
    for number in range(count):
        place = number % len(users)
        session = make_session(
            study=study, agent=agent, task=tasks[number % len(tasks)], level="high",
            players=[users[place]], by=manager, roles=JUDGES,
        )  # fmt: skip
        lists[place].append(session.pk)
    return lists


def insist(ask: Any) -> Any:
    """Ask again for as long as the server is away."""
    limit = time.monotonic() + PATIENCE
    while True:
        try:
            return ask()
        except AWAY:
            assert time.monotonic() < limit, "the server stays away"
            time.sleep(0.02)


def ended(session: int) -> bool:
    """Return whether a session's trajectory has come to its end."""
    from benchmarks.models import Trajectory

    rows = Trajectory.objects.filter(live_session=session)
    return rows.values_list("status", flat=True).get() in (
        Trajectory.Status.DONE,
        Trajectory.Status.CANCELLED,
    )


def strike(server: Server, kind: str) -> bool:
    """``kill -9`` of what answers, of it and its parent, or of the worker; False if none runs."""
    below = children(server.process.pid)
    web = [pid for pid in below if children(pid)]
    if kind == "worker":
        # The child that has no children of its own works in threads.
        workers = [pid for pid in below if pid not in web]
        if not workers or not web:
            return False
        os.kill(workers[0], signal.SIGKILL)
        let_leases_lapse()
        return True
    if not web:
        return False
    if kind == "whole":
        os.killpg(web[0], signal.SIGKILL)
    else:
        os.kill(children(web[0])[0], signal.SIGKILL)
    return True


def let_leases_lapse() -> None:
    """Let leases expire, as thirty seconds without a worker would."""
    from django.db import connection
    from django.utils import timezone

    from benchmarks.models import Trajectory

    running = Trajectory.objects.filter(status=Trajectory.Status.RUNNING)
    running.update(lease_until=timezone.now())
    connection.close()


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sessions", type=int, default=50)
    parser.add_argument("--people", type=int, default=10)
    parser.add_argument("--kills", type=int, default=25)
    parser.add_argument("--json", type=Path, help="write what was found to this file")
    options = parser.parse_args()
    prepare()
    found = Trial(options.sessions, options.people, options.kills).play()
    print(json.dumps(found, indent=2))
    if options.json:
        options.json.write_text(json.dumps(found, indent=2))
    return 0


if __name__ == "__main__":
    sys.exit(main())

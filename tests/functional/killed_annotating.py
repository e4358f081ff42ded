"""Annotators at work while the web server is killed again and again: nothing lost, nothing doubled.

``python -m tests.functional.killed_annotating --kills 1000 --clients 8`` plays it in full, on
whatever database the environment names; the test of the same name plays a small one. With
``--kills 0 --submits 200`` nobody is killed, and every client submits that often: what is looked at
then is that no item is submitted by more people than it should. ``--submits 25 --kills 3 --cuts 5``
has eight clients submit 200 items under three kills and five cuts of the network: while it is cut,
no request leaves, and replies that are on their way are lost.

Clients do what the page's script does: an answer is sent again, under the same id, until the server
has said that it is stored. What was acknowledged is kept in a list and compared with the database
at the end. The server is the web process of ``manage.py serve`` with the shipped settings, kept
running by the product's own supervisor; so that a thousand restarts take minutes, it is started
again at once and not after half a second, its addresses are loaded before the fork, and there is no
background worker. A kill is ``SIGKILL``, of the process that answers or of it and its parent.
"""

import argparse
import json
import os
import random
import signal
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import partial
from http.client import HTTPException
from pathlib import Path
from typing import Any, TypeVar

from tests.annotators import Annotator, Page, Reply, make_edit
from tests.servers import Server, children, serving, wait_until_answered

AWAY = (OSError, HTTPException)
PATIENCE = 120.0
R = TypeVar("R")


@dataclass
class Ledger:
    """A record of what one client was told: acknowledged edits by id, and submissions."""

    stored: dict[str, tuple[str, str, int]] = field(default_factory=dict)
    submitted: list[str] = field(default_factory=list)
    sent_again: Counter[str] = field(default_factory=Counter)


@dataclass
class Trial:
    """A trial to be played, and its result."""

    clients: int = 8
    kills: int = 1000
    submits: int = 0
    cuts: int = 0
    cut: threading.Event = field(default_factory=threading.Event)
    seed: int = 20261121
    found: dict[str, Any] = field(default_factory=dict)

    def play(self) -> dict[str, Any]:
        """All of it; raises where one of the promises is broken."""
        from django.db import connection

        from tests.pools import PASSWORD, make_people, make_pool

        users = make_people([f"person-{number}" for number in range(self.clients)])
        # A submission claims the next item, which those who have done enough leave open.
        enough = self.clients * (self.submits + 1)
        items = enough if self.submits else 40 * max(self.kills, 5)
        study = make_pool(items=items, people=users)
        connection.close()
        with serving(
            "-m", "tests.functional.killed_annotating", "--serve", PLANJURY_PROXIES="1"
        ) as server:
            wait_until_answered(server)
            people = [
                Annotator(server.port, user.username, PASSWORD, {"X-Forwarded-For": f"10.0.0.{n}"})
                for n, user in enumerate(users)
            ]
            with ThreadPoolExecutor(2) as pool:
                list(pool.map(Annotator.sign_in, people))
            signed_in = time.monotonic()
            ledgers = self._work(server, people, study.pk)
        self.found["seconds_at_work"] = round(time.monotonic() - signed_in, 1)
        self.found |= {
            "database": connection.vendor,
            "clients": self.clients,
            "items": items,
        }
        self._compare(study, users, ledgers)
        return self.found

    def _work(self, server: Server, people: list[Annotator], study: int) -> list[Ledger]:
        over = threading.Event()
        ledgers = [Ledger() for _ in people]
        with ThreadPoolExecutor(len(people) + 1) as pool:
            clients = [
                pool.submit(self._annotate, person, study, ledger, n, over)
                for n, (person, ledger) in enumerate(zip(people, ledgers, strict=True))
            ]
            try:
                cuts = pool.submit(self._cut, clients, ledgers)
                if self.kills:
                    self.found["kills"] = self._kill(server, clients, ledgers)
                self.found["cuts"] = cuts.result()
            finally:
                over.set()
            for client in clients:
                client.result()
        return ledgers

    # --- The clients ------------------------------------------------------------------------------

    def _annotate(
        self, person: Annotator, study: int, ledger: Ledger, number: int, over: threading.Event
    ) -> None:
        """Item after item; what is begun is finished."""
        rng = random.Random(self.seed + number)
        while len(ledger.submitted) < self.submits or not (self.submits or over.is_set()):
            page = _insist(lambda: self._over_network(person, lambda: person.open(study)))
            if page is None:
                raise AssertionError("nothing is left to do")
            self._answer(person, page, ledger, rng)

    def _answer(self, person: Annotator, page: Page, ledger: Ledger, rng: random.Random) -> None:
        """Each question once or twice, one by one or together, then the submission."""
        edits = [make_edit(question, rng.randint(1, 5)) for question in page.questions]
        again = rng.sample(page.questions, 2)
        edits += [make_edit(question, rng.randint(1, 5)) for question in again]
        size = rng.choice((1, 4, len(edits)))
        for start in range(0, len(edits), size):
            part = edits[start : start + size]
            message = {"edits": part, "activeMs": 1}
            reply = self._until_stored(
                person, ledger, "answers", partial(person.send, page.answers, message)
            )
            told = {row["id"]: row for row in json.loads(reply.body)["results"]}
            for edit in part:
                row = told[edit["id"]]
                assert row["question"] == edit["question"], row
                ledger.stored[edit["id"]] = (page.here, edit["question"], edit["value"])
        self._until_stored(person, ledger, "submissions", partial(person.submit, page))
        ledger.submitted.append(page.here)

    def _until_stored(
        self, person: Annotator, ledger: Ledger, kind: str, ask: Callable[[], Reply]
    ) -> Reply:
        """Send it again, the same, for as long as no reply comes."""
        before, tries = person.repeated, 0

        def ask_again() -> Reply:
            nonlocal tries
            tries += 1
            return self._over_network(person, ask)

        reply = _insist(ask_again)
        assert reply.status == 200, (reply.status, reply.body[:300])
        ledger.sent_again[kind] += tries > 1 or person.repeated > before
        return reply

    # --- The network ------------------------------------------------------------------------------

    def _over_network(self, person: Annotator, ask: Callable[[], R]) -> R:
        """Ask, unless the network is cut; if it is cut meanwhile, the reply is lost."""
        if not self.cut.is_set():
            reply = ask()
            if not self.cut.is_set():
                return reply
        person.hang_up()
        raise ConnectionError("the network is cut")

    def _cut(self, clients: list[Any], ledgers: list[Ledger]) -> int:
        """Cut the network now and then, each time after something was acknowledged since."""
        rng, done = random.Random(self.seed + 1), 0
        while done < self.cuts and not any(client.done() for client in clients):
            before = _acknowledged(ledgers)
            time.sleep(rng.uniform(0.2, 0.6))
            if _acknowledged(ledgers) == before:
                continue
            self.cut.set()
            time.sleep(rng.uniform(0.1, 0.5))
            self.cut.clear()
            done += 1
        return done

    # --- The kills --------------------------------------------------------------------------------

    def _kill(self, server: Server, clients: list[Any], ledgers: list[Ledger]) -> dict[str, int]:
        """At random moments, but each after something was acknowledged since the one before."""
        rng = random.Random(self.seed)
        done: Counter[str] = Counter(whole=0, worker=0)
        for _ in range(self.kills):
            before, limit = _acknowledged(ledgers), time.monotonic() + PATIENCE
            while _acknowledged(ledgers) == before and time.monotonic() < limit:
                if any(client.done() for client in clients):
                    return dict(done)
                time.sleep(0.005)
            time.sleep(rng.uniform(0, 0.3))
            kind = rng.choice(("whole", "worker"))
            while not _strike(server, kind):
                time.sleep(0.005)
            done[kind] += 1
        return dict(done)

    # --- The comparison ---------------------------------------------------------------------------

    def _compare(self, study: Any, users: list[Any], ledgers: list[Ledger]) -> None:
        from django.db.models import F

        from annotation.models import Assignment, Rating, RatingEdit, StudyEvent
        from tests.pools import check_counters

        seats = {
            (seat.annotator_id, f"/studies/{study.pk}/annotate/{seat.position}/"): seat
            for seat in Assignment.objects.filter(study=study)
        }
        rows = RatingEdit.objects.filter(assignment__study=study).order_by("pk")
        edits = {str(row.client_id): row for row in rows}
        acknowledged = {
            client_id: (seats[user.pk, here].pk, question, value)
            for user, ledger in zip(users, ledgers, strict=True)
            for client_id, (here, question, value) in ledger.stored.items()
        }
        lost = [pk for pk in acknowledged if pk not in edits]
        doubled = len(rows) - len(acknowledged)
        assert not lost, f"{len(lost)} acknowledged answers are not stored"
        assert not doubled, f"{doubled} edits more than were given"
        for pk, (seat, question, value) in acknowledged.items():
            row = edits[pk]
            assert (row.assignment_id, row.question, row.value) == (seat, question, value), pk
        given = Counter((seat, question) for seat, question, _ in acknowledged.values())
        last = {(row.assignment_id, row.question): row.pk for row in rows}
        standing = Rating.objects.filter(assignment__study=study)
        for rating in standing:
            place = rating.assignment_id, rating.question
            assert (rating.version, rating.edit_id) == (given[place], last[place]), place
        assert len(standing) == len(given)
        submitted = [
            seats[user.pk, here]
            for user, ledger in zip(users, ledgers, strict=True)
            for here in ledger.submitted
        ]
        assert len({seat.pk for seat in submitted}) == len(submitted)
        assert all(seat.state == Assignment.State.SUBMITTED for seat in submitted)
        events = StudyEvent.objects.filter(study=study, kind=StudyEvent.Kind.SUBMITTED)
        assert Counter(events.values_list("assignment", flat=True)) == Counter(
            seat.pk for seat in submitted
        )
        check_counters(study)
        over = study.items.filter(done__gt=F("wanted")).count()
        assert over == 0, f"{over} items over target"
        again: Counter[str] = sum((ledger.sent_again for ledger in ledgers), Counter())
        self.found |= {
            "answers_acknowledged": len(acknowledged),
            "answers_lost": len(lost),
            "answers_doubled": doubled,
            "answers_sent_again": again["answers"],
            "submitted": len(submitted),
            "submissions_sent_again": again["submissions"],
            "items_over_target": over,
        }


def _insist(ask: Callable[[], R]) -> R:
    """Ask again for as long as the server is away."""
    limit = time.monotonic() + PATIENCE
    while True:
        try:
            return ask()
        except AWAY:
            if time.monotonic() > limit:
                raise
            time.sleep(0.02)


def _acknowledged(ledgers: list[Ledger]) -> int:
    return sum(len(ledger.stored) + len(ledger.submitted) for ledger in ledgers)


def _strike(server: Server, kind: str) -> int:
    """``kill -9`` of what answers, or of it and the process that keeps it; 0 if none runs."""
    for arbiter in children(server.process.pid):
        for worker in children(arbiter):
            if kind == "whole":
                os.killpg(arbiter, signal.SIGKILL)  # it leads a group of its own
            else:
                os.kill(worker, signal.SIGKILL)
            return 1
    return 0


def serve(port: int) -> None:
    """The web process alone, started again at once whenever it ends."""
    import django

    django.setup()
    from django.template.loader import get_template
    from django.urls import get_resolver

    from config import server
    from config.management.commands.serve import _listen
    from config.processes import run_web
    from config.supervisor import Child

    server.collect_static_if_needed()
    get_resolver().url_patterns  # noqa: B018  (loaded when first asked for)
    for name in ("annotation/desk.html", "account/login.html"):
        get_template(name)
    listener = _listen("127.0.0.1", port)
    server.run([Child("web server", partial(run_web, listener), delay=0.0)], started=lambda: None)


def prepare() -> None:
    """Django on the environment's database."""
    os.environ.setdefault("PLANJURY_DATA_DIR", tempfile.mkdtemp(prefix="planjury-trial-"))
    os.environ["DJANGO_SETTINGS_MODULE"] = "config.settings.local"
    import django
    from django.core.management import call_command

    django.setup()
    call_command("migrate", verbosity=0)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--kills", type=int, default=1000)
    parser.add_argument("--clients", type=int, default=8)
    parser.add_argument("--submits", type=int, default=0, help="by each client; then no kills")
    parser.add_argument("--cuts", type=int, default=0, help="of the network")
    parser.add_argument("--json", type=Path, help="write what was found to this file")
    parser.add_argument("--serve", action="store_true", help="be the server of a trial")
    options = parser.parse_args()
    if options.serve:
        serve(int(os.environ["PORT"]))
        return 0
    prepare()
    found = Trial(options.clients, options.kills, options.submits, options.cuts).play()
    print(json.dumps(found, indent=2))
    if options.json:
        options.json.write_text(json.dumps(found, indent=2))
    return 0


if __name__ == "__main__":
    sys.exit(main())

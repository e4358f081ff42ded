"""CPU cost of annotating as a browser does it: open an item, save an answer, submit; 8 at once.

Run by ``make bench``. The server is started as people start it (``manage.py serve``, shipped
settings) on SQLite or, where ``DATABASE_URL`` names one, on that database; eight people sign in
through the page and take items from a pool over kept connections, with cookies and tokens. A round
is one request of one kind by all eight at once; what the web server's processes spent on it is read
from the scheduler's own count (``/proc/PID/task/*/schedstat``) before and after, so neither the
clients nor the background worker are in it. On PostgreSQL the database server's work is not in it
either.

Beside it, in the same run: a bare Django view behind session and sign-in alone, on the same server,
database and threads; and an edit with its current answer written by a bare loop of the ORM.
"""

import argparse
import gzip
import json
import os
import platform
import re
import statistics
import tempfile
import time
import uuid
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, TypeVar

from tests.annotators import Annotator, Page, Reply
from tests.bench.storing import processor, set_up, tell, wait_for_jobs
from tests.servers import Server, serving, wait_until_answered

SIZES = (300, 10_000, 100_000)
CLIENTS, CROWD, ROUNDS, BATCHES = 8, 50, 10, 10
# Milliseconds of CPU for each request; a submission claims the next item, which is then opened.
# "batch" is open, one message of all answers, submit.
BUDGETS = {"open": 20.0, "save": 7.0, "submit": 15.0, "batch": 40.0}
PAGE_KB = 150
LINKED = re.compile(r'(?:href|src)="(/static/[^"]+\.(?:css|js|svg|png|woff2))"')
R = TypeVar("R")


class Bench:
    """People at work on one server."""

    def __init__(self, server: Server, people: Sequence[Annotator]) -> None:
        self.server, self.people = server, people
        self.pool = ThreadPoolExecutor(len(people))
        self.spent: dict[str, list[float]] = {}

    def all_at_once(self, act: Callable[[int], R], *, kind: str, requests: int = 1) -> list[R]:
        """Let everybody do something at once, and note the milliseconds that each request cost."""
        before = self.server.cpu()
        done = list(self.pool.map(act, range(len(self.people))))
        spent = (self.server.cpu() - before) * 1000
        self.spent.setdefault(kind, []).append(spent / len(self.people) / requests)
        return done

    def open(self, study: int, kind: str) -> list[Page]:
        pages = self.all_at_once(lambda n: self.people[n].open(study), kind=kind)
        assert None not in pages, "nothing is left"
        return [page for page in pages if page is not None]

    def measure(self, study: int) -> dict[str, float]:
        """Milliseconds by kind of request: the median of the rounds."""
        self.spent = {}
        for _ in range(ROUNDS):
            pages = self.open(study, "open")
            most = max(len(page.questions) for page in pages)
            for place in range(most):

                def save(n: int, pages: list[Page] = pages, place: int = place) -> Reply:
                    questions = pages[n].questions
                    return self.people[n].save(
                        pages[n], {questions[min(place, len(questions) - 1)]: 3}
                    )

                ok(self.all_at_once(save, kind="save"))
            ok(self.all_at_once(lambda n, p=pages: self.people[n].submit(p[n]), kind="submit"))
        for _ in range(BATCHES):
            ok(self.all_at_once(lambda n: batch(self.people[n], study), kind="batch"))
        return {kind: statistics.median(found) for kind, found in self.spent.items()}


def batch(person: Annotator, study: int) -> Reply:
    """Return what the queue in the browser sends when the network is back."""
    page = person.open(study)
    assert page is not None, "nothing is left"
    ok([person.save(page, dict.fromkeys(page.questions, 4))])
    return person.submit(page)


def ok(replies: Sequence[Reply]) -> None:
    for reply in replies:
        assert 200 <= reply.status < 400, (reply.status, reply.body[:500])


# --- Beside it ------------------------------------------------------------------------------------


def bare_view(people: Sequence[Annotator], rounds: int) -> float:
    """Milliseconds of CPU of a view that says who is there; the sessions are those from before."""
    with serving(DJANGO_SETTINGS_MODULE="tests.bare_settings") as server:
        wait_until_answered(server)
        them = [Annotator(server.port, p.name, p.password, cookies=p.cookies) for p in people]
        bench = Bench(server, them)
        for kind in ["warm", *["bare"] * rounds]:
            replies = bench.all_at_once(lambda n: them[n].get("/"), kind=kind)
            assert [reply.text for reply in replies] == [person.name for person in them]
    return statistics.median(bench.spent["bare"])


def bare_rows(count: int) -> float:
    """Milliseconds of CPU of storing one edit and the answer that stands, each in a transaction."""
    from django.db import transaction
    from django.utils import timezone

    from annotation.models import Assignment, Rating, RatingEdit

    seat = Assignment.objects.filter(state=Assignment.State.SUBMITTED).first()
    assert seat is not None
    began = time.process_time()
    for number in range(count):
        with transaction.atomic():
            said = {"assignment": seat, "question": f"bare-{number}", "value": 3}
            edit = RatingEdit.objects.create(client_id=uuid.uuid4(), by=seat.annotator, **said)
            Rating.objects.create(edit=edit, updated_at=timezone.now(), **said)
    return (time.process_time() - began) / count * 1000


def weigh(person: Annotator, study: int) -> dict[str, float]:
    """Kilobytes over the line: the page alone, and with all that it links to, at a first visit."""
    person.headers["Accept-Encoding"] = "gzip"
    person.post(f"/studies/{study}/guidelines/")
    page = person.get(f"/studies/{study}/annotate/")
    page = person.get(page.moved)
    html = gzip.decompress(page.body) if zipped(page) else page.body
    linked = [person.get(path) for path in sorted(set(LINKED.findall(html.decode())))]
    ok([page, *linked])
    del person.headers["Accept-Encoding"]
    return {
        "page": len(page.body) / 1024,
        "page_unpacked": len(html) / 1024,
        "first_visit": sum(len(reply.body) for reply in [page, *linked]) / 1024,
    }


def zipped(reply: Reply) -> bool:
    return reply.headers.get("Content-Encoding") == "gzip"


def crowd(people: Sequence[Annotator], study: int, rounds: int = 3) -> dict[str, Any]:
    """Everybody at once, as quickly as they can: statuses, and seconds of the slowest batches."""
    seconds: list[float] = []

    def work(person: Annotator) -> None:
        for _ in range(rounds):
            began = time.perf_counter()
            ok([batch(person, study)])
            seconds.append(time.perf_counter() - began)

    with ThreadPoolExecutor(len(people)) as pool:
        list(pool.map(work, people))
    return {
        "annotators": len(people),
        "batches": len(seconds),
        "errors": 0,
        "seconds_95": sorted(seconds)[int(0.95 * len(seconds))],
    }


# --- All of it ------------------------------------------------------------------------------------


def run(sizes: Sequence[int]) -> dict[str, Any]:
    """All figures of one run."""
    from django.db import connection

    from tests.pools import PASSWORD, make_people, make_pool

    found: dict[str, Any] = {"database": connection.vendor, "sizes": {}}
    names = [f"person-{number}" for number in range(CROWD)]
    users = make_people(names)
    # So that everybody comes from an address of their own, as they would: sign-ins are limited.
    with serving(PLANJURY_PROXIES="1") as server:
        wait_until_answered(server)
        people = [
            Annotator(server.port, name, PASSWORD, {"X-Forwarded-For": f"10.0.0.{number}"})
            for number, name in enumerate(names)
        ]
        with ThreadPoolExecutor(4) as pool:
            list(pool.map(Annotator.sign_in, people))
        bench = Bench(server, people[:CLIENTS])
        for size in sizes:
            study = make_pool(items=size, people=users)
            wait_for_jobs()  # the texts of new trajectories are indexed
            connection.close()
            ok([batch(person, study.pk) for person in people[:2]])  # templates are loaded
            found["sizes"][size] = bench.measure(study.pk)
            print(f"{size:>7} items: {words(found['sizes'][size])}", flush=True)
        found["kilobytes"] = weigh(people[0], study.pk)
        shared = make_pool(items=CROWD * 4, people=users)
        connection.close()
        found["crowd"] = crowd(people, shared.pk)
        found["bare_row"] = bare_rows(500)
    found["bare_view"] = bare_view(people[:CLIENTS], ROUNDS)
    return found


def words(figures: dict[str, float]) -> str:
    return ", ".join(f"{kind} {figures[kind]:.1f} ms" for kind in BUDGETS)


def main() -> None:
    """Print the figures."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--items", type=int, nargs="+", default=SIZES)
    parser.add_argument("--json", type=Path, help="write what was found to this file")
    options = parser.parse_args()
    load = os.getloadavg()[0]
    with tempfile.TemporaryDirectory() as folder:
        set_up(folder)
        print(
            f"{processor()}, {os.cpu_count()} cores, load {load:.2f}, "
            f"Python {platform.python_version()}; {CLIENTS} at once; CPU of the web server for "
            "each request"
        )
        found = run(options.items)
    view, row = found["bare_view"], found["bare_row"]
    last = found["sizes"][options.items[-1]]
    weight, many = found["kilobytes"], found["crowd"]
    print(f"budgets:       {words(BUDGETS)}")
    print(
        f"bare Django view with session and sign-in {view:.1f} ms (open {last['open'] / view:.1f} "
        f"times, save {last['save'] / view:.1f} times, submit {last['submit'] / view:.1f} times); "
        f"bare loop of the ORM {row:.2f} ms for each answer"
    )
    print(
        f"page {weight['page']:.0f} KB over the line ({weight['page_unpacked']:.0f} KB unpacked), "
        f"first visit with styles and scripts {weight['first_visit']:.0f} KB; at most {PAGE_KB}"
    )
    print(
        f"{many['annotators']} at once: {many['batches']} batches without an error, 95 of 100 "
        f"within {many['seconds_95']:.1f} s"
    )
    if options.json:
        found |= {"processor": processor(), "cores": os.cpu_count(), "load": load}
        options.json.write_text(json.dumps(found, indent=2))
    worst = {kind: max(row[kind] for row in found["sizes"].values()) for kind in BUDGETS}
    beyond = [kind for kind, budget in BUDGETS.items() if worst[kind] > budget]
    tell([*beyond, *(["kilobytes"] if weight["first_visit"] > PAGE_KB else [])])


if __name__ == "__main__":
    main()

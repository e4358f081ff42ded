"""A server for others through its bad days: kill, outages, drain, rolling upgrade, with counts.

``python -m tests.functional.operations`` starts a PostgreSQL, a Redis, a counting endpoint, two web
servers behind nginx with TLS from an authority of its own, and two workers. Visitors open pages all
the time while a run goes on. For each event it prints what the visitors were answered, what the
endpoint was asked, and what the log of calls says. It needs Debian's postgresql, redis-server,
nginx-light and openssl. ``--previous FOLDER`` is a checkout of the release to upgrade from.
"""

import argparse
import os
import re
import shlex
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import requests

from tests.annotators import Reply
from tests.bench.storing import machine, set_up
from tests.functional.killed_sessions import ended, make_sessions
from tests.players import STORED, Player
from tests.servers import children, kill_whole

ROOT = Path(__file__).resolve().parents[2]
SERVICES = ROOT / "requirements" / "scripts" / "services.sh"
LATENCY, TASKS, LIMIT = 0.8, 48, 32
PASSWORD = "correct horse battery"
ROLES = ("world_judge", "user_judge", "rubric_judge", "simulator")


def free_port() -> int:
    """A port that nothing listens on."""
    with socket.create_server(("127.0.0.1", 0)) as found:
        return int(found.getsockname()[1])


def wait_for(what: Callable[[], object], seconds: float = 120.0) -> float:
    """Wait until something is so; return the seconds that it took."""
    began = time.monotonic()
    while True:
        with suppress(requests.RequestException):
            if what():
                return time.monotonic() - began
        assert time.monotonic() - began < seconds, f"waited {seconds} s in vain"
        time.sleep(0.1)


@dataclass
class Site:
    """PostgreSQL, Redis, nginx, and the processes of the product."""

    folder: Path
    variables: dict[str, str]
    https: int
    ports: tuple[int, int]
    running: dict[str, "subprocess.Popen[Any]"] = field(default_factory=dict)

    @property
    def url(self) -> str:
        """The address that people type."""
        return f"https://localhost:{self.https}"

    @property
    def authority(self) -> str:
        """The certificate of the authority that visitors trust."""
        return str(self.folder / "ca.pem")

    def start(self, name: str, root: Path = ROOT, **more: str) -> None:
        """Start ``web-0``, ``web-1`` or a worker, from this checkout or another."""
        data = self.folder / name
        data.mkdir(exist_ok=True)
        environment = {
            **{k: v for k, v in os.environ.items() if not k.startswith("PLANJURY_")},
            **self.variables,
            "PLANJURY_DATA_DIR": str(data),
            "DJANGO_SETTINGS_MODULE": "config.settings.production",
            "PLANJURY_SECRET_KEY": "only for this rehearsal, which is over in some minutes",
            "PLANJURY_ALLOWED_HOSTS": "localhost",
            "PLANJURY_PROXIES": "1",
            "PLANJURY_TRUST_PROXY": "1",
            "PLANJURY_LOG_FORMAT": "json",
            "PLANJURY_ENDPOINT_THREADS": "16",
            "PYTHONPATH": str(root),
            **more,
        }
        command = ["manage.py", "work"]
        if name.startswith("web"):
            environment["PORT"] = str(self.ports[int(name[-1])])
            command = ["manage.py", "serve", "--web-only"]
        if self.log(name).exists():
            self.log(name).rename(self.folder / f"{name}-until-{time.monotonic_ns()}.log")
        with self.log(name).open("a") as log:
            self.running[name] = subprocess.Popen(
                [sys.executable, *command], cwd=root, env=environment, stdout=log, stderr=log
            )

    def log(self, name: str) -> Path:
        """Return where a process writes."""
        return self.folder / f"{name}.log"

    def is_ready(self, number: int) -> bool:
        """Return whether a web server says so, asked by IP address."""
        address = f"http://127.0.0.1:{self.ports[number]}/health/ready"
        return requests.get(address, timeout=5).status_code == 200

    def wait_until_working(self, name: str) -> None:
        """Wait until a process says that it has started."""
        words = "PlanJury is at" if name.startswith("web") else "Working on"
        wait_for(lambda: words in self.log(name).read_text())

    def stop(self, name: str) -> float:
        """SIGTERM; return the seconds to its end."""
        process = self.running.pop(name)
        began = time.monotonic()
        process.send_signal(signal.SIGTERM)
        code = process.wait(200)
        assert code == 0, f"{name} ended with {code}"
        return time.monotonic() - began

    def kill_service(self, name: str) -> None:
        """End PostgreSQL or Redis as a crash would."""
        pid = self.folder / "services" / name / {"postgres": "postmaster.pid", "redis": "pid"}[name]
        number = int(pid.read_text().split()[0])
        os.kill(number, signal.SIGQUIT if name == "postgres" else signal.SIGKILL)
        wait_for(lambda: not Path(f"/proc/{number}").exists())

    def restart_services(self) -> None:
        """Start what does not run."""
        subprocess.run([SERVICES, "start", self.folder / "services"], cwd=ROOT, check=True,
                       stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)  # fmt: skip


@contextmanager
def whole_site(folder: Path) -> Iterator[Site]:
    """The servers that the product needs, and nginx; everything ends with the block."""
    os.chmod(folder, 0o711)
    services = folder / "services"
    started = subprocess.run(
        [SERVICES, "start", services], stdout=subprocess.PIPE, text=True, cwd=ROOT, check=True
    )
    words = shlex.split(started.stdout.replace("export ", ""))
    site = Site(
        folder,
        dict(word.split("=", 1) for word in words),
        free_port(),
        (free_port(), free_port()),
    )
    nginx = None
    try:
        nginx = _start_nginx(site)
        yield site
    finally:
        for process in site.running.values():
            kill_whole(process)
        if nginx is not None:
            nginx.terminate()
            nginx.wait(20)
        subprocess.run([SERVICES, "stop", services], cwd=ROOT, stderr=subprocess.DEVNULL)


def _start_nginx(site: Site) -> "subprocess.Popen[bytes]":
    """The sample of ``deploy/`` with other ports and names, and a certificate for localhost."""
    here = site.folder
    run = ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2"]
    quiet = {"check": True, "stderr": subprocess.DEVNULL, "cwd": here}
    subprocess.run(
        [*run, "-subj", "/CN=Rehearsal authority", "-keyout", "ca.key", "-out", "ca.pem"], **quiet
    )
    subprocess.run([*run, "-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost",
                    "-addext", "basicConstraints=critical,CA:false",
                    "-CA", "ca.pem", "-CAkey", "ca.key", "-keyout", "site.key", "-out", "site.pem"],
                   **quiet)  # fmt: skip
    text = (ROOT / "deploy" / "nginx.conf").read_text()
    for before, after in (
        ("/etc/ssl/planjury.pem", str(here / "site.pem")),
        ("/etc/ssl/planjury.key", str(here / "site.key")),
        ("jury.example.org", "localhost"),
        ("listen 80;", f"listen 127.0.0.1:{free_port()};"),
        ("listen 443 ssl;", f"listen 127.0.0.1:{site.https} ssl;"),
        ("127.0.0.1:8001", f"127.0.0.1:{site.ports[0]}"),
        ("127.0.0.1:8002", f"127.0.0.1:{site.ports[1]}"),
    ):
        assert before in text
        text = text.replace(before, after)
    conf = here / "nginx.conf"
    conf.write_text(
        f"daemon off; user root; pid {here}/nginx.pid; error_log {here}/nginx-error.log;\n"
        f"events {{}}\nhttp {{\naccess_log {here}/nginx-access.log;\n{text}\n}}\n"
    )
    return subprocess.Popen(["/usr/sbin/nginx", "-c", str(conf)])


def sign_in(site: Site, name: str) -> requests.Session:
    """A session of somebody who has signed in through nginx."""
    session = requests.Session()
    session.trust_env, session.verify = False, site.authority
    login = f"{site.url}/accounts/login/"
    page = session.get(login, timeout=30)
    token = re.search(r'name="csrfmiddlewaretoken" value="([^"]+)"', page.text)
    assert token, page.status_code
    form = {"login": name, "password": PASSWORD, "csrfmiddlewaretoken": token[1]}
    answer = session.post(login, form, headers={"Referer": login}, timeout=30)
    assert answer.url == f"{site.url}/", f"{name} is not signed in: {answer.status_code}"
    return session


class Visitors:
    """Three people who open pages and send forms, as long as the block lasts.

    The form is that of a new run, without anything chosen: it is shown again (422).
    """

    PAGES = ("/", "/runs/", "/trajectories/", "/server/")

    def __init__(self, site: Site) -> None:
        self.site = site
        self.sessions = [sign_in(site, "root") for _ in range(3)]
        self.answers: Counter[str] = Counter()
        self.waits: list[float] = []

    def __enter__(self) -> "Visitors":
        self.over = threading.Event()
        self.threads = [
            threading.Thread(target=self._visit, args=(n,)) for n in range(len(self.sessions))
        ]
        for thread in self.threads:
            thread.start()
        return self

    def __exit__(self, *error: object) -> None:
        self.over.set()
        for thread in self.threads:
            thread.join()

    def _visit(self, number: int) -> None:
        session, turn = self.sessions[number], number
        while not self.over.wait(0.3):
            turn += 1
            place = turn % (len(self.PAGES) + 1)
            began = time.monotonic()
            try:
                if place < len(self.PAGES):
                    page = session.get(self.site.url + self.PAGES[place], timeout=60)
                    answer = str(page.status_code)
                else:
                    page = self._send_form(session)
                    answer = f"POST {page.status_code}"
                if page.status_code == 503 and "Retry-After" in page.headers:
                    answer += " with Retry-After"
            except requests.RequestException as error:
                answer = f"{type(error).__name__}{' on POST' * (place == len(self.PAGES))}"
            self.answers[answer] += 1
            self.waits.append(time.monotonic() - began)

    def _send_form(self, session: requests.Session) -> requests.Response:
        address = f"{self.site.url}/runs/new/"
        headers = {"Referer": address, "X-CSRFToken": session.cookies["csrftoken"]}
        return session.post(address, {}, headers=headers, timeout=60, allow_redirects=False)

    def __str__(self) -> str:
        found = ", ".join(f"{n} × {answer}" for answer, n in sorted(self.answers.items()))
        return f"{found}; slowest {max(self.waits, default=0):.1f} s"


# What the release that runs at the beginning does: its models fit its database.
PREPARE = """
from django.contrib.auth.models import User
from benchmarks.endpoints.services import create_endpoint
from tests.functional.harried import save_tasks
User.objects.create_superuser("root", password={password!r})
create_endpoint(
    name="counted", title="Counted", base_url={url!r}, model="fake", timeout=20.0,
    concurrency={limit}, price_in=1.0, price_out=1.0, parameters={{"max_tokens": 400}},
)
save_tasks({tasks})
"""
START = """
from benchmarks.models import Agent, Dataset
from benchmarks.runs.services import start_runs
(run,) = start_runs(
    dataset=Dataset.objects.filter(name="Sample").earliest("pk"),
    agents=[Agent.objects.get(name="counted")],
    levels=["high"], seed={seed}, roles=dict.fromkeys({roles!r}, ["endpoint:counted"]),
)
print("run", run.pk)
"""


def tell_release(root: Path, code: str) -> str:
    """Have a release, in its checkout, execute some code; return what it prints."""
    done = subprocess.run(
        [sys.executable, "manage.py", "shell", "-v0", "-c", code],
        cwd=root, env=os.environ | {"PYTHONPATH": str(root)}, check=True, text=True,
        stdout=subprocess.PIPE,
    )  # fmt: skip
    return done.stdout


def start_run(root: Path) -> int:
    """Start a run all of whose roles are at the endpoint."""
    told = tell_release(root, START.format(seed=time.monotonic_ns() % 10**6, roles=ROLES))
    return int(told.split()[-1])


def calls_of(run: int) -> Any:
    """The log of a run's calls to the endpoint."""
    from benchmarks.models import Exchange

    return Exchange.objects.filter(trajectory__run=run, answerer__name="counted")


def has_calls(run: int, number: int) -> bool:
    """Return whether so many calls of a run were answered."""
    return bool(calls_of(run).filter(state="answered").count() >= number)


def is_done(run: int) -> bool:
    """Return whether a run has ended."""
    from benchmarks.models import Run

    return Run.objects.get(pk=run).status in (Run.Status.DONE, Run.Status.ATTENTION)


def account(run: int, counts: Any, *, keeps_all: bool) -> str:
    """Compare the endpoint's counts with the log; no call with a stored reply may be repeated.

    With ``keeps_all``, every reply must be stored, too.
    """
    from benchmarks.llm.chat import SEEDS
    from benchmarks.models import Run, Trajectory

    rows: Counter[int] = Counter()
    states: Counter[str] = Counter()
    stored: dict[tuple[int, int, int], int] = {}
    again = 0
    for trajectory, step, slot, attempt, seed, state in (
        calls_of(run)
        .order_by("pk")
        .values_list("trajectory", "step", "slot", "attempt", "seed", "state")
    ):
        rows[seed % SEEDS] += 1
        states[state] += 1
        if attempt > stored.get((trajectory, step, slot), attempt):
            again += 1
        if state == "answered":
            stored[trajectory, step, slot] = attempt
    asked = sum(counts.by_seed[seed]["received"] for seed in rows)
    beyond = sum(max(0, counts.by_seed[seed]["received"] - n) for seed, n in rows.items())
    assert again == beyond == 0, f"{again} stored replies were asked for again, {beyond} unlogged"
    unstored = asked - sum(n for state, n in states.items() if state != "lost")
    assert unstored == 0 or not keeps_all, f"{unstored} replies were not stored: {states}"
    found = Run.objects.get(pk=run)
    done = found.trajectories.filter(status=Trajectory.Status.DONE).count()
    words = ", ".join(f"{n} {state}" for state, n in sorted(states.items()))
    return (
        f"{done}/{found.trajectories.count()} trajectories done; endpoint asked {asked} times; "
        f"log: {words}; stored replies asked for again: {again}"
    )


def outage_lines(site: Site) -> str:
    """Count lines on outages, and tracebacks, in the log of each process."""
    found = []
    for path in sorted(site.folder.glob("*.log")):
        text = path.read_text(errors="replace")
        lines = len(re.findall(r'"message": "(?:Outage|Recovered)', text))
        traces = text.count("Traceback")
        if lines or traces:
            found.append(f"{path.stem} {lines} lines, {traces} tracebacks")
    return "; ".join(found) or "none"


def main() -> None:
    """Play all events, or those named."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("events", nargs="*", default=list(EVENTS), choices=[*EVENTS, []])
    parser.add_argument("--previous", type=Path, default=ROOT)
    parser.add_argument("--keep-logs", type=Path)
    options = parser.parse_args()
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        site = stack.enter_context(whole_site(folder))
        os.environ |= site.variables
        if options.previous == ROOT:
            set_up(str(folder))
        else:
            environment = os.environ | {"PLANJURY_DATA_DIR": str(folder)}
            subprocess.run([sys.executable, "manage.py", "migrate", "-v0"],
                           cwd=options.previous, env=environment, check=True)  # fmt: skip
        print(machine(), flush=True)
        try:
            play(site, stack, options)
        finally:
            if options.keep_logs:
                options.keep_logs.mkdir(exist_ok=True)
                for path in folder.glob("*.log"):
                    (options.keep_logs / path.name).write_text(path.read_text(errors="replace"))


def play(site: Site, stack: ExitStack, options: argparse.Namespace) -> None:
    """Start everything from the previous release, and play the events."""
    from devtools.fake_endpoint.server import FakeServer

    os.environ["PLANJURY_DATA_DIR"] = str(site.folder)
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings.local")
    import django

    django.setup()
    server = stack.enter_context(FakeServer(latency=LATENCY))
    told = {"password": PASSWORD, "url": server.base_url, "limit": LIMIT, "tasks": TASKS}
    tell_release(options.previous, PREPARE.format(**told))
    for name in ("web-0", "web-1", "worker-0", "worker-1"):
        site.start(name, options.previous)
    for name in list(site.running):
        site.wait_until_working(name)
    root = options.previous
    for name in options.events:
        began = time.monotonic()
        with Visitors(site) as visitors:
            run = start_run(root)
            wait_for(partial(has_calls, run, 60))
            told = EVENTS[name](site, run)
            wait_for(partial(is_done, run), 400)
        keeps_all = name not in INTERRUPTING
        print(f"\n{name}: {told}\n  {account(run, server.counts, keeps_all=keeps_all)}")
        root = ROOT if name == "upgrade" else root
        print(f"  visitors: {visitors}\n  {time.monotonic() - began:.0f} s", flush=True)
    print(f"\noutages in the logs: {outage_lines(site)}")


@dataclass
class Browser:
    """One person behind nginx, for what tests do with ``Annotator`` on plain HTTP."""

    site: Site
    session: requests.Session
    headers: dict[str, str] = field(default_factory=dict)
    answers: Counter[str] = field(default_factory=Counter)

    def get(self, path: str) -> Reply:
        """A page."""
        return self._ask("GET", path)

    def post(self, path: str, fields: dict[str, str] | None = None, **more: Any) -> Reply:
        """A form."""
        return self._ask("POST", path, data=fields or {}, **more)

    def _ask(self, method: str, path: str, **given: Any) -> Reply:
        token = self.session.cookies.get("csrftoken", "")
        headers = {**self.headers, "X-CSRFToken": token, "Referer": self.site.url + path}
        answer = self.session.request(
            method,
            self.site.url + path,
            headers=headers,
            allow_redirects=False,
            timeout=60,
            **given,
        )
        self.answers[f"{method} {answer.status_code}"] += 1
        return Reply(answer.status_code, answer.headers, answer.content)  # type: ignore[arg-type]


def proxy(site: Site, run: int) -> str:
    """Through nginx with TLS: an upload of 20 MB, and a live session with its polling."""
    from django.contrib.auth.models import User

    from benchmarks.imports.uploads import IMPORT
    from benchmarks.models import Endpoint, Job
    from tests.benchmarks.api.files import chat_file

    browser = Browser(site, sign_in(site, "root"))
    browser.get("/trajectories/import/")
    talks = chat_file(lines=200, words="x" * 100_000)
    size = talks.size or 0
    sent = browser.post(
        "/trajectories/import/", {"format": "", "name": "", "agent": ""},
        files={"file": ("talks.jsonl", talks.read())},
    )  # fmt: skip
    assert sent.status == 302, (sent.status, sent.text[:500])
    job = Job.objects.filter(kind=IMPORT)
    wait_for(lambda: job.filter(finished_at__isnull=False).exists())
    assert job.get().status == Job.Status.DONE, job.get().message
    url = Endpoint.objects.get(name="counted").base_url
    root = User.objects.get(username="root")
    ((session, *_),) = make_sessions(url, root, [root], 1)
    player = Player(browser)  # type: ignore[arg-type]
    browser.answers.clear()
    player.be_ready(session)
    while not ended(session):
        for ask in player.asked(session):
            assert player.reply(session, ask, "Not like that, please.").status in STORED
        player.look(session)
        time.sleep(0.5)
    return (
        f"{size / 1e6:.0f} MB uploaded and imported; a live session played to its end with "
        f"{len(player.sent)} replies: {dict(sorted(browser.answers.items()))}"
    )


def kill(site: Site, run: int) -> str:
    """``kill -9`` of a worker; another one is started."""
    kill_whole(site.running.pop("worker-0"))
    out = calls_of(run).filter(state="sent").count()
    site.start("worker-0")
    return f"one worker of two killed with about {out} calls out at both"


def redis(site: Site, run: int) -> str:
    """Redis is killed for 20 seconds, while somebody signs in."""
    site.kill_service("redis")
    before = calls_of(run).count()
    time.sleep(10)
    sign_in(site, "root")
    time.sleep(10)
    made = calls_of(run).count() - before
    site.restart_services()
    return f"Redis away for 20 s; {made} calls were made and one person signed in meanwhile"


def database(site: Site, run: int, *, seconds: float = 10.0) -> str:
    """PostgreSQL is ended at once for some seconds."""
    from django.db import connections

    connections.close_all()
    site.kill_service("postgres")
    time.sleep(2)
    page = requests.get(f"{site.url}/accounts/login/", verify=site.authority, timeout=60)
    title = re.search("<h1>(.*?)</h1>", page.text)
    time.sleep(seconds - 2)
    site.restart_services()
    took = wait_for(lambda: site.is_ready(0) and site.is_ready(1))
    return (
        f"PostgreSQL away for {seconds:g} s; a page says {page.status_code} "
        f"“{title[1] if title else page.text[:60]}”; ready again after {took:.1f} s"
    )


def drain(site: Site, run: int) -> str:
    """SIGTERM to a worker, where calls are shorter than its limit."""
    took = site.stop("worker-0")
    lost = calls_of(run).exclude(state__in=["answered", "sent", "unreadable"]).count()
    site.start("worker-0")
    return f"one worker of two ended in {took:.1f} s at SIGTERM; {lost} calls lost"


def _carries(parent: int) -> bool:
    """Return whether a child of a process has a call out."""
    from benchmarks.models import Exchange

    out = Exchange.objects.filter(state="sent")
    owners = set(out.values_list("trajectory__lease_owner", flat=True))
    return any(f":{pid}:" in owner for pid in children(parent) for owner in owners)


def drain_beyond(site: Site, run: int) -> str:
    """SIGTERM to a worker whose limit is shorter than its calls."""
    site.stop("worker-0")
    site.start("worker-0", PLANJURY_DRAIN_SECONDS="0")
    site.wait_until_working("worker-0")
    wait_for(partial(_carries, site.running["worker-0"].pid))
    took = site.stop("worker-0")
    lost = calls_of(run).filter(state="lost")
    reserved = sum(call.most or 0 for call in lost)
    named = site.log("worker-0").read_text().count("Interrupted a call")
    site.start("worker-0")
    return (
        f"one worker ended in {took:.1f} s with a limit of 0 s; {lost.count()} calls recorded as "
        f"interrupted with {reserved:.4f} reserved, {named} named in the log"
    )


def upgrade(site: Site, run: int) -> str:
    """Each web server and each worker is replaced in turn, from another release."""
    plan = subprocess.run([sys.executable, "manage.py", "check_upgrade"], cwd=ROOT, text=True,
                          capture_output=True)  # fmt: skip
    took = [" ".join(f"check_upgrade: {plan.stdout}{plan.stderr}".split())]
    for name in ("web-0", "web-1", "worker-0", "worker-1"):
        ended = site.stop(name)
        began = time.monotonic()
        site.start(name)
        site.wait_until_working(name)
        if name.startswith("web"):
            wait_for(partial(site.is_ready, int(name[-1])))
            time.sleep(2)  # by then nginx counts on it again (fail_timeout)
        took.append(f"{name} ended in {ended:.1f} s, ready in {time.monotonic() - began:.1f} s")
    lost = calls_of(run).filter(state="lost").count()
    return f"{'; '.join(took)}; {lost} calls lost"


EVENTS: dict[str, Callable[[Site, int], str]] = {
    "upgrade": upgrade,
    "drain": drain,
    "drain_beyond": drain_beyond,
    "proxy": proxy,
    "kill": kill,
    "redis": redis,
    "database": database,
    # Longer than a lease lasts, so that all leases run out meanwhile.
    "database_long": partial(database, seconds=45.0),
}
# What they interrupt is asked for again.
INTERRUPTING = ("drain_beyond", "kill")

if __name__ == "__main__":
    main()

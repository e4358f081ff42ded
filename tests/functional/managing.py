"""A manager runs a study of eight annotators in a browser, from the wizard to the export.

``python -m tests.functional.managing`` starts the product on an empty database, lets scripted
agents make trajectories, and opens a browser for a manager, who presses what people press. Eight
scripted annotators join by their links and judge by the pages' addresses; two of them are careless:
one answers 1 to everything at once, the other gives two answers in turn. The manager acts on every
alert. At the end the export is opened with pandas and compared with the pages. For each part
clicks, typed characters and seconds are printed. ``--shots FOLDER`` keeps a picture of each page.

Minutes of a person are estimated by the keystroke-level model (Card, Moran and Newell 1980,
Communications of the ACM 23): 1.1 s to point, 0.2 s to press, 0.28 s for a key, and 1.35 s to think
before each click.
"""

import argparse
import random
import re
import tempfile
import time
import zipfile
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path
from typing import Any

import pandas as pd
from playwright.sync_api import Locator, Page, expect, sync_playwright

from tests.annotators import Annotator, read_page
from tests.bench.storing import machine, set_up
from tests.servers import serving, wait_until_answered

PASSWORD = "correct horse battery"
AGENTS, TASKS, RATERS = 4, 30, 2
PEOPLE = ("ada", "ben", "cleo", "dan", "eva", "finn", "gus", "hana")
HASTY, SAME = "gus", "hana"
# How many items everybody has submitted when the manager looks.
LOOKS = (12, 24, 10**6)
GOLD, TRAINING = 4, 2
CLICK, KEY = 1.1 + 0.2 + 1.35, 0.28


# --- The manager ----------------------------------------------------------------------------------


@dataclass
class Manager:
    """Somebody at a browser, whose clicks and typed characters are counted."""

    page: Page
    url: str
    shots: Path | None = None
    clicks: int = 0
    keys: int = 0
    rows: list[tuple[str, int, int, float]] = field(default_factory=list)

    @contextmanager
    def part(self, title: str) -> Iterator[None]:
        """Count what is done for one purpose."""
        clicks, keys, began = self.clicks, self.keys, time.monotonic()
        yield
        took = time.monotonic() - began
        self.rows.append((title, self.clicks - clicks, self.keys - keys, took))
        print(f"{title}: {self.clicks - clicks} clicks, {self.keys - keys} keys", flush=True)
        self.shot(title)

    def shot(self, title: str) -> None:
        """Keep a picture of the page."""
        if self.shots is not None:
            name = re.sub(r"\W+", "-", title.lower())
            self.page.screenshot(
                path=self.shots / f"{len(self.rows):02}-{name}.png", full_page=True
            )

    def click(self, what: Locator) -> None:
        self.clicks += 1
        what.click()

    def press(self, name: str, **more: Any) -> None:
        self.click(self.page.get_by_role("button", name=name, **more).first)

    def follow(self, name: str, **more: Any) -> None:
        self.click(self.page.get_by_role("link", name=name, **more).first)

    def tab(self, name: str) -> None:
        """Go to a page of the study."""
        with self.page.expect_navigation():
            self.click(self.page.locator(".tabs").get_by_role("link", name=name, exact=True))

    def field(self, label: str) -> Locator:
        """A field by the beginning of its label, which may go on with “optional”."""
        return self.page.get_by_label(re.compile(f"^{re.escape(label)}")).first

    def type(self, what: str, text: str) -> None:
        """Go to a field and fill it in."""
        self.clicks, self.keys = self.clicks + 1, self.keys + len(text)
        self.field(what).fill(text)

    def paste(self, what: str, text: str) -> None:
        """Go to a field and paste something that was copied elsewhere."""
        self.clicks, self.keys = self.clicks + 1, self.keys + 2
        self.field(what).fill(text)

    def choose(self, what: str, option: str) -> None:
        self.clicks += 2
        self.field(what).select_option(label=option)

    def says(self, words: str) -> None:
        """The page says this."""
        expect(self.page.locator("main")).to_contain_text(words)

    def tile(self, name: str) -> int:
        """A number of the overview."""
        tile = self.page.locator(".tile", has=self.page.get_by_text(name, exact=True))
        return int(tile.locator("dd").first.inner_text().replace(",", ""))


# --- The annotators -------------------------------------------------------------------------------


@dataclass
class Worker:
    """A scripted annotator, who follows the pages as a browser would."""

    person: Annotator
    study: int
    submitted: int = 0
    rng: random.Random = field(init=False)

    def __post_init__(self) -> None:
        self.rng = random.Random(self.person.name)

    def work(self, until: int) -> str:
        """Go on until so many items are submitted; return where that ended."""
        failed = 0
        while self.submitted < until:
            reply = self.person.get(f"/studies/{self.study}/annotate/")
            if reply.status != 302:
                return "left" if reply.status == 404 else "waiting"
            where = reply.moved
            step = where.removeprefix(f"/studies/{self.study}/").split("/")[0]
            if step in ("information", "consent"):
                page = self.person.get(where).text
                version = re.findall(r'name="version" value="(\d+)"', page)[0]
                self._post(where, {"version": version, "answer": "agree"})
            elif step == "guidelines":
                self.person.post(where)
            elif where.endswith("/training/"):
                reply = self.person.post(where)  # the next round, unless there is none
                failed += 1
                if reply.status != 302 or failed > 3:
                    return "training failed"
            elif step in ("annotate", "training"):
                self._judge(where, counts=step == "annotate")
            else:
                return "done"
        return "paused"

    def _post(self, where: str, fields: dict[str, str]) -> None:
        reply = self.person.post(where, fields)
        assert reply.status == 302, (where, reply.status, reply.text[:400])

    def _judge(self, where: str, *, counts: bool) -> None:
        reply = self.person.get(where)
        assert reply.status == 200, (where, reply.status)
        page = read_page(where, reply)
        seconds = self._pretend(where) if counts else 30
        answers = {q: self._answer(n, counts) for n, q in enumerate(page.questions)}
        edits = self.person.save(page, answers)
        assert edits.status == 200, edits.text[:400]
        done = self.person.post(page.submit, {"activeMs": str(1000 * seconds)})
        assert done.status == 200, done.text[:400]
        self.submitted += counts

    def _answer(self, number: int, counts: bool) -> int:
        careful = not counts and self.submitted == 0  # to pass the first training
        if self.person.name == HASTY and not careful:
            return 1
        if self.person.name == SAME:
            return (5, 2)[number % 2]
        return self.rng.choice((4, 4, 5, 5, 5, 3) if number > 2 else (4, 5))

    def _pretend(self, where: str) -> int:
        """Have an item open for as long as somebody who reads it; the script does not wait."""
        from django.utils import timezone

        from annotation.models import Assignment

        if self.person.name == HASTY:
            return 1
        seconds = self.rng.randint(40, 110)
        Assignment.objects.filter(
            study=self.study, part="main", annotator__username=self.person.name,
            position=int(where.split("/")[-2]),
        ).update(opened_at=timezone.now() - timedelta(seconds=seconds + 1))  # fmt: skip
        return seconds


def join(port: int, name: str, link: str, number: int) -> Annotator:
    """Open a link, make an account and accept."""
    from annotation.models import Annotator as Mark

    person = Annotator(port, name, PASSWORD, {"X-Forwarded-For": f"10.0.0.{number}"})
    assert person.get(re.sub(r"^https?://[^/]+", "", link)).moved == "/join/"
    person.get("/join/")
    fields = {"username": name, "password1": PASSWORD, "password2": PASSWORD}
    reply = person.post("/join/", fields)
    assert reply.status == 302, reply.text[:2000]
    Mark.objects.update_or_create(user=_user(name), defaults={"is_simulated": True})
    return person


def _user(name: str) -> Any:
    from django.contrib.auth.models import User

    return User.objects.get(username=name)


# --- The walk -------------------------------------------------------------------------------------


def prepare() -> None:
    """Trajectories of scripted agents, and a manager, who has a study already."""
    from django.contrib.auth.models import Permission, User

    from annotation.models import Membership, Study
    from benchmarks.models import Agent
    from benchmarks.roles.services import ensure_scripted_agents
    from benchmarks.runs.services import start_runs
    from benchmarks.runs.worker import work_on_run
    from benchmarks.systems.adaplanbench.scripted import TEMPERAMENTS
    from tests.functional.harried import save_tasks

    ensure_scripted_agents()
    agents = list(Agent.objects.filter(name__in=TEMPERAMENTS).order_by("name")[:AGENTS])
    for run in start_runs(dataset=save_tasks(TASKS), agents=agents, levels=["high"], wake=False):
        work_on_run(run_id=run.pk, owner="walk")
    mia = User.objects.create_user("mia", password=PASSWORD)
    mia.user_permissions.add(Permission.objects.get(codename="view_results"))
    earlier = Study.objects.create(
        name="Last year", questionnaire="ten_questions@2", status="archived"
    )
    Membership.objects.create(study=earlier, user=mia, role="manager")


def make_study(mia: Manager) -> int:
    """Fill in the wizard; return the number of the study."""
    page = mia.page
    mia.follow("Studies", exact=True)
    mia.follow("New study", exact=True)
    mia.type("Name", "Household plans")
    mia.press("Next")
    mia.press("Next")  # the questionnaire and the blinding that are proposed
    mia.click(page.get_by_label("Pool: whoever is free takes the next item"))
    mia.type("Annotators for each item", str(RATERS))
    mia.press("Next")
    mia.press("Next")  # the order that is proposed
    mia.type("Information", "You judge plans for the household. Ask mia@example.org.")
    mia.type("Consent text", "I take part of my own free will.")
    for number in range(TRAINING + GOLD):
        mia.press("Choose items")
        use = "Training" if number < TRAINING else "Gold"
        mia.click(page.get_by_role("button", name=re.compile(f"^{use}: ")).nth(5 * number))
        places = page.locator("fieldset.expected-place")
        for place in range(1 if number < TRAINING else 3):
            for value in ("4", "5"):
                mia.click(places.nth(place).locator(f'input[value="{value}"]'))
        mia.press("Save answers")
    mia.choose("Gold rule: when known answers are missed", "Send the person back to the training")
    mia.type("Known answers to wait for", "3")
    mia.press("Preview")
    mia.says("Training and gold items")
    mia.press(re.compile("^Create and open"))  # type: ignore[arg-type]
    mia.says("The study is open")
    return int(page.url.rstrip("/").split("/")[-1])


def invite(mia: Manager) -> dict[str, str]:
    """Invite the eight from a list; return their links."""
    mia.tab("People")
    mia.paste("For whom", "\n".join(f"{name}@example.org" for name in PEOPLE))
    mia.press("Make links")
    mia.press("Copy the table")
    lines = mia.page.locator("#invite-links").inner_text().splitlines()
    return dict(line.split("\t") for line in lines)


def alerts(mia: Manager) -> dict[str, str]:
    """Whom the overview names, and why."""
    mia.tab("Overview")
    rows = mia.page.locator("#study-progress .attention")
    found = {}
    for number in range(rows.count()):
        row = rows.nth(number)
        name = row.get_by_role("link").first.inner_text()
        found[name] = " | ".join(row.get_by_role("listitem").all_inner_texts())
        print(f"  alert, {name}: {found[name]}", flush=True)
    return found


def act(mia: Manager, name: str, action: str) -> None:
    """Act on an alert by its button."""
    row = mia.page.locator("#study-progress .attention").filter(has_text=name)
    mia.click(row.get_by_role("button", name=action))
    expect(mia.page.locator("main")).to_be_visible()


def open_submission(mia: Manager, name: str) -> None:
    """Go from the overview to the first submission of somebody."""
    mia.tab("Overview")
    mia.click(mia.page.locator("#study-progress tbody").get_by_role("link", name=re.compile(name)))
    rows = mia.page.get_by_role("row").filter(has_not_text="gold")
    mia.click(rows.get_by_role("link", name=re.compile(r"^Item \d+$")).first)


def first_look(mia: Manager) -> None:
    """After twelve items each: the gold rule sent one back to the training; the other is warned."""
    found = alerts(mia)
    assert set(found) == {HASTY, SAME}, found
    act(mia, HASTY, "Pause")
    act(mia, SAME, "Warn")
    assert not alerts(mia)
    open_submission(mia, PEOPLE[0])
    mia.type("Note to the annotator", "Please look at the last plan again.")
    mia.press("Send back")
    mia.says("Note to the annotator")
    mia.tab("Overview")
    mia.says("finished in")


def second_look(mia: Manager) -> None:
    """The warning did not help: back to the training. The other one leaves, others judge anew."""
    assert SAME in alerts(mia)
    act(mia, SAME, "Send back to the training")
    mia.click(mia.page.locator("#study-progress tbody").get_by_role("link", name=re.compile(HASTY)))
    mia.follow(f"Withdraw {HASTY}…")
    mia.type("Reason", "Answered 1 to everything.")
    mia.click(mia.page.get_by_role("checkbox"))
    mia.click(mia.page.locator("main form button[type=submit]").last)
    mia.says("withdrawn")


def third_look(mia: Manager) -> None:
    """Still the same answers: paused, and one submission is voided."""
    assert SAME in alerts(mia)
    act(mia, SAME, "Pause")
    open_submission(mia, SAME)
    mia.type("Reason", "The same answers as to all other items.")
    mia.press("Void the submission")
    mia.says("voided")


def export(mia: Manager, folder: Path) -> Path:
    """Close the study and download its archive, which is what the page proposes."""
    mia.tab("Settings")
    mia.press("Close the study")
    mia.tab("Export")
    with mia.page.expect_download() as download:
        mia.press("Download")
    path = folder / "study.zip"
    download.value.save_as(path)
    return path


def read_export(path: Path) -> dict[str, Any]:
    """Open the table of an archive with pandas."""
    with zipfile.ZipFile(path) as archive, archive.open("ratings.csv") as file:
        table = pd.read_csv(file, low_memory=False)
    seats = table.drop_duplicates(["rater", "part", "position"])
    main = seats[seats["part"] == "main"]
    return {
        "rows": len(table),
        "raters": table["rater"].nunique(),
        "submitted": int(((main["state"] == "submitted") & (main["use"] == "main")).sum()),
        "gold": int(((main["state"] == "submitted") & (main["use"] == "gold")).sum()),
        "voided": int((main["state"] == "voided").sum()),
        "simulated": bool(seats["simulated"].all()),
    }


def walk(mia: Manager, port: int, folder: Path) -> None:
    """All of it."""
    with mia.part("Sign in"):
        mia.page.goto(f"{mia.url}/accounts/login/")
        mia.type("Username", "mia")
        mia.type("Password", PASSWORD)
        mia.page.keyboard.press("Enter")
        expect(mia.page.get_by_role("link", name="Studies", exact=True)).to_be_visible()
    with mia.part("Make the study"):
        study = make_study(mia)
    with mia.part("Invite eight people"):
        links = invite(mia)
    workers = [
        Worker(join(port, name, links[f"{name}@example.org"], n), study)
        for n, name in enumerate(PEOPLE)
    ]
    looks: tuple[tuple[str, Callable[[Manager], None]], ...] = (
        ("First look at the alerts", first_look),
        ("Second look", second_look),
        ("Third look", third_look),
    )
    for until, (title, look) in zip(LOOKS, looks, strict=True):
        ended = annotate(workers, until)
        print(f"\nannotators: {ended}", flush=True)
        with mia.part(title):
            look(mia)
    print(f"\nannotators: {annotate(workers, LOOKS[-1])}", flush=True)
    with mia.part("Read progress"):
        mia.tab("Overview")
        submitted, free = mia.tile("Submitted"), mia.tile("Unassigned")
        print(f"  submitted {submitted}, unassigned {free}; alerts left: {list(alerts(mia))}")
        assert free == 0
    with mia.part("Read minutes and pay"):
        mia.tab("Payment")
        mia.type("Pay for an hour", "15")
        mia.press("Compute pay")
        mia.says("All")
    with mia.part("Close and export"):
        path = export(mia, folder)
    found = read_export(path)
    print(f"\nexport, by pandas: {found}; overview: {submitted} submitted")
    assert found["submitted"] == submitted and found["voided"] == 1 and found["simulated"]


def annotate(workers: list[Worker], until: int) -> dict[str, int]:
    """Everybody in turns, as they would in one room; return how everybody ended."""
    ends: Counter[str] = Counter()
    going = dict.fromkeys(range(len(workers)))
    while going:
        for n in list(going):
            target = min(until, workers[n].submitted + 1)
            end = workers[n].work(target)
            if end != "paused" or workers[n].submitted >= until:
                going.pop(n)
                ends[end] += 1
    return dict(ends)


def main() -> None:
    """Walk, and print what it took."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--shots", type=Path)
    options = parser.parse_args()
    if options.shots is not None:
        options.shots.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        set_up(name)
        prepare()
        print(machine(), flush=True)
        began = time.monotonic()
        from tests.conftest import CHROMIUM

        with serving(PLANJURY_PROXIES="1") as server, sync_playwright() as driver:
            wait_until_answered(server)
            browser = driver.chromium.launch(executable_path=CHROMIUM, args=["--disable-gpu"])
            context = browser.new_context(viewport={"width": 1280, "height": 900})
            context.grant_permissions(["clipboard-read", "clipboard-write"])
            mia = Manager(context.new_page(), f"http://localhost:{server.port}", options.shots)
            try:
                walk(mia, server.port, folder)
            except Exception:
                mia.shot("failed")
                raise
            finally:
                browser.close()
        tell(mia, time.monotonic() - began)


def tell(mia: Manager, seconds: float) -> None:
    """Print the table of what the manager did."""
    print(f"\n{'part':32}{'clicks':>8}{'keys':>8}{'machine s':>11}{'a person':>10}")
    total = ("all", mia.clicks, mia.keys, sum(took for *_, took in mia.rows))
    for title, clicks, keys, took in (*mia.rows, total):
        minutes = (clicks * CLICK + keys * KEY) / 60
        print(f"{title:32}{clicks:>8}{keys:>8}{took:>11.1f}{minutes:>6.1f} min")
    print(f"whole walk with the annotators: {seconds / 60:.1f} minutes")


if __name__ == "__main__":
    main()

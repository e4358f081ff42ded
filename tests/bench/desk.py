"""The price of an item in a real browser: clicks, keys, pointer travel, shifts and waiting.

``python -m tests.bench.desk`` measures in Chromium, on a server of its own and on items that the
demo's scripted agents played. A scripted annotator answers every question from the first to the
last and submits, in three ways: by mouse with scores drawn from a seed, by mouse with one score for
all, and by keys. The pointer goes in straight lines from the middle of one button to the middle of
the next. ``--url --user --password --study`` measures a server that runs already; its open items
are submitted.

* travel: pixels from the button that answers the first question to Submit.
* way back: pixels from Submit to the first question's button of the next item.
* shift: how far something moved at most, in pixels, without an input in the half second before; the
  page goes offline and back online once per item without any input.
* next: milliseconds from Submit to the first question of the next item being ready.
"""

import argparse
import json
import math
import os
import random
import shutil
import statistics
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Literal

from playwright.sync_api import Locator, Page, sync_playwright

from tests.bench.storing import machine, set_up, tell, wait_for_jobs
from tests.servers import serving, wait_until_answered

Way = Literal["seed", "equal", "keys"]
WAYS: tuple[Way, ...] = ("seed", "equal", "keys")
SCORES_SEED = 20261123
EQUAL_SCORE = 4
BUDGETS = {"seed": 900.0, "equal": 600.0, "shift": 5.0, "next": 300.0}
# Longer than the half second after an input in which Chromium takes a shift for its effect.
QUIET = 650
BROWSERS = ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome")
# Notes every shift that no input caused, and when Submit was pressed and the next item was ready.
WATCH = """
window.shifts = [];
new PerformanceObserver(list => {
  for (const entry of list.getEntries()) {
    if (entry.hadRecentInput) continue;
    for (const {node, previousRect: a, currentRect: b} of entry.sources) {
      const by = Math.max(Math.abs(a.left - b.left), Math.abs(a.top - b.top));
      const name = node && node.nodeType === 1 ? node.tagName + '.' + node.className : '#text';
      window.shifts.push([by, name]);
    }
  }
}).observe({type: 'layout-shift', buffered: true});
const pressed = () => sessionStorage.setItem('pressed', Date.now());
addEventListener('submit', pressed, true);
addEventListener('DOMContentLoaded', () => {
  const ready = () => {
    if (!document.querySelector('.score.current')) return;
    const now = Date.now();
    requestAnimationFrame(() => { window.readyAfter = now - sessionStorage.getItem('pressed'); });
  };
  // Modules ran before this event: the form is connected.
  ready();
});
"""


@dataclass
class ItemCost:
    """The cost of one item."""

    way: Way
    clicks: int = 0
    keys: int = 0
    travel: float = 0.0
    longest: float = 0.0
    back: float | None = None
    scrolls: int = 0
    shift: float = 0.0
    shifted: str = ""
    next: float | None = None
    turns: int = 0


@dataclass
class Hand:
    """The pointer and the keys of one person."""

    page: Page
    at: tuple[float, float] | None = None
    cost: ItemCost = field(default_factory=lambda: ItemCost("keys"))

    def click(self, target: Locator) -> float:
        """Click the middle of an element; returns how far the pointer went."""
        box = target.bounding_box()
        height = self.page.evaluate("innerHeight")
        assert box is not None, target
        if box["y"] < 0 or box["y"] + box["height"] > height:
            target.scroll_into_view_if_needed()
            self.cost.scrolls += 1
            box = target.bounding_box()
            assert box is not None
        to = (box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
        went = math.dist(self.at, to) if self.at else 0.0
        self.page.mouse.move(*to, steps=3)
        self.page.mouse.down()
        self.page.mouse.up()
        self.at = to
        self.cost.clicks += 1
        return went

    def press(self, key: str) -> None:
        self.page.keyboard.press(key)
        self.cost.keys += 1


def settle(page: Page) -> None:
    """Wait until what an input changed is drawn."""
    page.evaluate("new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))")


def answer_item(hand: Hand, way: Way, rng: random.Random) -> ItemCost:
    """Answer the item on the page and submit it; leaves the page at the next one."""
    page, last = hand.page, hand.cost
    cost = hand.cost = ItemCost(way)
    page.wait_for_selector(".score.current")
    settle(page)
    cost.turns = page.locator(".turns > .turn").count()
    page.wait_for_timeout(QUIET)
    names = page.locator("fieldset[data-slot]").evaluate_all("all => all.map(f => f.dataset.slot)")
    scores = [EQUAL_SCORE if way != "seed" else rng.randint(1, 5) for _ in names]
    for place, (name, score) in enumerate(zip(names, scores, strict=True)):
        if way == "keys":
            hand.press(str(score))
            settle(page)
            continue
        went = hand.click(page.locator(f"[id='q-{name}'] .score-scale label").nth(score - 1))
        settle(page)
        if place:
            cost.travel += went
            cost.longest = max(cost.longest, went)
        elif last.clicks:
            last.back = went
    page.wait_for_timeout(QUIET)
    page.context.set_offline(True)
    page.wait_for_timeout(200)
    page.context.set_offline(False)
    page.wait_for_selector(".save-state[data-state=saved]")
    page.wait_for_timeout(100)
    moved = page.evaluate("window.shifts")
    cost.shift, cost.shifted = max(moved, default=(0.0, ""))
    chosen = page.locator("fieldset[data-slot] input:checked")
    given = [int(value) for value in chosen.evaluate_all("all => all.map(one => one.value)")]
    assert given == scores, ("an answer landed on another question", given, scores)
    here = page.url
    if way == "keys":
        hand.press("Enter")
    else:
        went = hand.click(page.locator("[data-submit]"))
        cost.travel += went
        cost.longest = max(cost.longest, went)
    page.wait_for_url(lambda url: url != here)
    page.wait_for_function("() => window.readyAfter !== undefined")
    cost.next = page.evaluate("window.readyAfter")
    return cost


def measure(page: Page, url: str, study: int, items: int, seed: int) -> list[ItemCost]:
    """Cost of so many items of each way."""
    rng, found = random.Random(seed), []
    for way in WAYS:
        hand = Hand(page)
        page.goto(f"{url}/studies/{study}/annotate/")
        if page.url.endswith("/guidelines/"):
            page.get_by_role("button", name="I have read this").click()
        found += [answer_item(hand, way, rng) for _ in range(items)]
    return found


def sign_in(page: Page, url: str, name: str, password: str) -> None:
    page.goto(f"{url}/accounts/login/")
    page.get_by_label("Username").fill(name)
    page.get_by_label("Password").fill(password)
    page.keyboard.press("Enter")
    page.wait_for_url(f"{url}/")


@contextmanager
def own_server(items: int) -> Iterator[tuple[str, str, str, int]]:
    """A server with a study of items that scripted agents played; its address and an account."""
    with tempfile.TemporaryDirectory() as folder:
        set_up(folder)
        from django.db import connection

        from tests.pools import PASSWORD, make_people, make_pool

        people = make_people(["annotator"])
        study = make_pool(items=items, people=people)
        connection.close()
        with serving() as server:
            wait_until_answered(server)
            wait_for_jobs()
            yield f"http://127.0.0.1:{server.port}", "annotator", PASSWORD, study.pk


def summary(costs: list[ItemCost], way: Way) -> dict[str, float]:
    """Means and largest values of one way."""
    of_way = [cost for cost in costs if cost.way == way]
    back = [cost.back for cost in of_way if cost.back is not None]
    waits = [cost.next for cost in of_way if cost.next is not None]
    return {
        "items": len(of_way),
        "clicks": statistics.mean(cost.clicks for cost in of_way),
        "keys": statistics.mean(cost.keys for cost in of_way),
        "travel": statistics.mean(cost.travel for cost in of_way),
        "travel_most": max(cost.travel for cost in of_way),
        "step_most": max(cost.longest for cost in of_way),
        "back": statistics.mean(back) if back else 0.0,
        "scrolls": sum(cost.scrolls for cost in of_way),
        "shift": max(cost.shift for cost in of_way),
        "next": statistics.median(waits),
        "next_most": max(waits),
    }


def main() -> None:
    """Print the figures."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--items", type=int, default=6, help="of each of the three ways")
    parser.add_argument("--seed", type=int, default=SCORES_SEED, help="of the scores")
    parser.add_argument("--width", type=int, default=1440)
    parser.add_argument("--height", type=int, default=900)
    parser.add_argument("--url", help="a server that runs already")
    parser.add_argument("--user", default="annotator")
    parser.add_argument("--password", default="planjury-demo")
    parser.add_argument("--study", type=int, default=1)
    parser.add_argument("--json", type=Path, help="write what was found to this file")
    options = parser.parse_args()
    chromium = next(filter(None, map(shutil.which, BROWSERS)), None)
    if chromium is None:
        print("no Chromium on this machine: nothing measured")
        return
    print(f"{machine()}; {options.width} × {options.height}; scores from seed {options.seed}")
    os.environ.setdefault("DJANGO_ALLOW_ASYNC_UNSAFE", "true")
    with sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=chromium, args=["--disable-gpu"])
        size = {"width": options.width, "height": options.height}
        page = browser.new_page(viewport=size)  # type: ignore[arg-type]
        page.add_init_script(WATCH)
        if options.url:
            sign_in(page, options.url, options.user, options.password)
            costs = measure(page, options.url, options.study, options.items, options.seed)
        else:
            # One item more: the last one leads somewhere, too.
            with own_server(len(WAYS) * options.items + 1) as (url, name, password, study):
                sign_in(page, url, name, password)
                costs = measure(page, url, study, options.items, options.seed)
        browser.close()
    found: dict[str, Any] = {way: summary(costs, way) for way in WAYS}
    for way, row in found.items():
        print(
            f"{way:>6}: {row['clicks']:.0f} clicks, {row['keys']:.0f} keys, travel "
            f"{row['travel']:.0f} px (at most {row['travel_most']:.0f}, steps to "
            f"{row['step_most']:.0f}), way back {row['back']:.0f} px, {row['scrolls']:.0f} "
            f"scrolls; shift {row['shift']:.1f} px; next item {row['next']:.0f} ms (at most "
            f"{row['next_most']:.0f})"
        )
    if moved := {cost.shifted for cost in costs if cost.shift > BUDGETS["shift"]}:
        print(f"moved without an input: {', '.join(sorted(moved))}")
    if options.json:
        found["items"] = [asdict(cost) for cost in costs]
        options.json.write_text(json.dumps(found, indent=2))
    beyond = [way for way in ("seed", "equal") if found[way]["travel"] > BUDGETS[way]]
    beyond += ["shift"] * any(found[way]["shift"] > BUDGETS["shift"] for way in WAYS)
    beyond += ["next"] * any(found[way]["next"] > BUDGETS["next"] for way in WAYS)
    tell(beyond)


if __name__ == "__main__":
    main()

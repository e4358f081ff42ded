"""The style guide as pictures, compared with those kept beside this file.

Pictures depend on the machine's Chromium and on the typefaces that fill in for rare signs, so this
runs on demand: ``make looks`` compares, ``make looks KEEP=1`` keeps what there is now.
"""

import os
from base64 import b64encode
from pathlib import Path
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client
from playwright.sync_api import Browser

WANTED = os.environ.get("PLANJURY_LOOKS", "")
KEPT = Path(__file__).parent / "looks"
MOST_DIFFERENT = 0.001
# The share of pixels that differ by more than what smoothing of edges changes; 1 where sizes do.
COMPARE = """async ([one, other]) => {
  const read = async (png) => {
    const picture = new Image();
    picture.src = 'data:image/png;base64,' + png;
    await picture.decode();
    const pen = new OffscreenCanvas(picture.width, picture.height).getContext('2d');
    pen.drawImage(picture, 0, 0);
    return pen.getImageData(0, 0, picture.width, picture.height);
  };
  const [a, b] = [await read(one), await read(other)];
  if (a.width !== b.width || a.height !== b.height) return 1;
  let different = 0;
  for (let i = 0; i < a.data.length; i += 4) {
    if ([0, 1, 2].some(k => Math.abs(a.data[i + k] - b.data[i + k]) > 24)) different += 1;
  }
  return different / (a.width * a.height);
}"""

pytestmark = [
    pytest.mark.browser,
    pytest.mark.skipif(not WANTED, reason="pictures are compared by make looks"),
]


@pytest.mark.parametrize(("width", "theme"), [(1280, "light"), (390, "dark")])
def test_style_guide_looks_as_it_did(
    live_server: Any, browser: Browser, admin_user: User, client: Client, width: int, theme: Any
) -> None:
    client.force_login(admin_user)
    session = client.cookies["sessionid"].value
    size: Any = {"width": width, "height": 900}
    with browser.new_context(viewport=size, color_scheme=theme, reduced_motion="reduce") as context:
        context.add_cookies([{"name": "sessionid", "value": session, "url": live_server.url}])
        page = context.new_page()
        page.goto(f"{live_server.url}/styleguide/")
        # Again, with the typeface at hand.
        page.reload()
        page.locator("#decline").scroll_into_view_if_needed()
        page.locator("#decline[data-drawn], #decline [data-drawn]").first.wait_for()
        page.locator("#broken").scroll_into_view_if_needed()
        page.locator("#broken [role=alert]").wait_for()
        page.evaluate("scrollTo(0, 0)")
        now = page.screenshot(full_page=True, animations="disabled")
        kept = KEPT / f"styleguide-{width}-{theme}.png"
        if WANTED == "keep":
            KEPT.mkdir(exist_ok=True)
            kept.write_bytes(now)
        share = page.evaluate(
            COMPARE, [b64encode(one).decode() for one in (kept.read_bytes(), now)]
        )
    if share > MOST_DIFFERENT:
        beside = kept.with_suffix(".now.png")
        beside.write_bytes(now)
        pytest.fail(f"{share:.2%} of the pixels differ: compare {kept} with {beside}")

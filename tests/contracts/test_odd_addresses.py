"""Addresses with odd values: pages that list or filter answer, and never with 500."""

from urllib.parse import quote_from_bytes

import pytest
from django.contrib.auth.models import User
from django.test import Client

pytestmark = pytest.mark.django_db

PAGES = [
    "/runs/", "/trajectories/", "/datasets/", "/experiments/", "/judges/", "/asks/", "/studies/",
    "/analysis/leaderboard/", "/analysis/decline/rubric/", "/analysis/decline/",
    "/analysis/leaderboard/outcomes/",
    "/experiments/new/", "/runs/new/", "/compare/", "/analysis/tables/",
]  # fmt: skip
NAMES = [
    "q", "page", "after", "before", "dataset", "level", "condition", "agents", "experiment", "run",
    "judging", "dimensions", "measure", "sort", "copy", "preset", "ids", "a", "b", "group", "like",
]  # fmt: skip
VALUES = [
    "\x00", "a\x00b", "\ud800", "9" * 5000, "-1", str(2**63), "1e400", "nan", "٣", "²", "[" * 2000,
    "'", '"a AND (', "%", "../..", "x" * 3000, "2001-99-99", "1-99999999999999999999", ",,,", "*",
]  # fmt: skip


@pytest.mark.parametrize("page", PAGES)
def test_odd_values_are_ignored_or_refused(page: str, client: Client) -> None:
    client.force_login(User.objects.create_superuser("root"))
    for value in VALUES:
        said = quote_from_bytes(value.encode("utf-8", "surrogatepass"))
        query = "&".join(f"{name}={said}" for name in NAMES)
        answer = client.get(f"{page}?{query}&agents={said}")
        assert answer.status_code in (200, 302, 404), (page, value[:20])

"""Runs in which a fake endpoint took part are marked on every report."""

from types import SimpleNamespace
from typing import Any

import pytest

from analysis.reports.run_marks import LABEL_WORDS, banners


def selection(roles: dict[str, str], *, is_demo: bool = False) -> Any:
    assignments = {role: [{"label": label}] for role, label in roles.items()}
    run = SimpleNamespace(
        agent_kind="endpoint", casting=assignments, is_demo=is_demo, imported=False
    )
    return SimpleNamespace(dataset=None, runs=(run,), system="adaplanbench")


@pytest.mark.parametrize("role", ["agent", "world_judge", "simulator"])
def test_in_whatever_role_it_was(role: str) -> None:
    (banner,) = banners(selection({"agent": "endpoint", role: "simulated"}))
    assert banner.title == "Simulated answers"
    assert "a fake endpoint, which makes answers up" in banner.text


def test_on_demo_data_as_well() -> None:
    (banner,) = banners(selection({"agent": "simulated"}, is_demo=True))
    assert banner.title == "Demo data" and "fake endpoint" in banner.text


def test_models_need_no_banner() -> None:
    assert banners(selection({"agent": "endpoint", "world_judge": "endpoint"})) == ()
    assert LABEL_WORDS["simulated"].tone == "aside"

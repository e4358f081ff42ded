"""A person can play a role of every registered system, on the same pages, from ready to the end."""

import re
from collections.abc import Iterator
from html import unescape

import pytest
from django.contrib.auth.models import User
from django.test import Client

from annotation.live.setup.sessions import make_session
from annotation.models import LiveSession
from benchmarks.core.answerers import Answerer
from benchmarks.core.registry import SYSTEMS, find_system, get_system
from benchmarks.core.types import Ask, Expect, Task
from benchmarks.datasets.services import save_dataset
from benchmarks.mappers import core_messages, core_task
from benchmarks.models import Agent, Dataset, OpenAsk
from benchmarks.roles.services import ensure_scripted_agents
from tests.annotation.live_sessions import asked, carry, make_live_study
from tests.annotation.rows import make_person

pytestmark = [pytest.mark.django_db, pytest.mark.either]

# Beside the agent of each: whoever speaks for the user, and a place of several roles.
MORE = [
    *(("adaplanbench", mode) for mode in ("simulator", "judge_and_simulator")),
    ("adapt", "persona"),
]
# More replies than any episode of the samples takes.
MOST = 120


def save_samples(system: str) -> Dataset:
    """The system's own sample tasks, as a dataset."""
    tasks = get_system(system).sample_tasks()
    return save_dataset(
        system=system, name="Samples", version="", source="tests", licence="", checksum="samples",
        tasks=tasks, shared=tasks[0][0].shared,
    ).dataset  # fmt: skip


def sit_down(system: str, mode: str, user: User) -> LiveSession:
    """A session on the first sample task; scripts fill what the person does not."""
    ensure_scripted_agents()
    study = make_live_study(system=system, mode=mode)
    task = save_samples(system).tasks.order_by("pk")[0]
    level = task.profiles.order_by("rank").values_list("level", flat=True).first() or ""
    # Stands for the person where the person is the agent.
    script = get_system(system).roles[0].default[0]
    kind = {"kind": Agent.Kind.HUMAN} if mode == "agent" else {"system": system, "policy": script}
    agent = Agent.objects.filter(**kind).order_by("pk")[0]
    short = {each.name: 3 for each in get_system(system).settings if each.name == "max_turns"}
    return make_session(
        study=study, agent=agent, task=task, level=level, settings=short, players=[user], by=None
    )


class Script:
    """Says what the system's own script would say in the place of the person."""

    def __init__(self, session: LiveSession) -> None:
        trajectory = session.trajectory
        self.system = get_system(trajectory.run.dataset.system)
        self.settings = trajectory.run.settings
        self.task: Task = core_task(trajectory.task, trajectory.profile)

    def _answerer(self, ask: OpenAsk) -> Answerer:
        role = next(role for role in self.system.roles if role.name == ask.role)
        seat = self.system.seats(ask.role, self.settings).index(ask.seat)
        policy = self.system.scripted[role.default[seat % len(role.default)]]
        return policy.build(self.task, policy.parameters)

    def text(self, ask: OpenAsk) -> str:
        """The reply to this ask."""
        question = Ask(
            ask.role, tuple(core_messages(ask.messages)), Expect(**ask.expect), ask.seat,
            tuple(ask.tools), ask.context,
        )  # fmt: skip
        return self._answerer(ask).answer(question, ask.seed).text


def form_on(page: str, ask: OpenAsk) -> tuple[str, dict[str, str]] | None:
    """The form that takes the text of a reply: where it is sent, and what it holds beside it."""
    found = re.search(rf'<form[^>]*id="reply-{ask.pk}".*?</form>', page, re.DOTALL)
    if found is None or 'name="text"' not in found[0]:
        return None
    action = re.search(r'action="([^"]+)"', found[0])
    assert action
    hidden = re.findall(r'<input type="hidden" name="([^"]+)" value="([^"]*)"', found[0])
    return action[1], {name: unescape(value) for name, value in hidden}


def send(client: Client, url: str, ask: OpenAsk, text: str) -> None:
    """Reply in the page's form: the system's own where it takes a text, else the plain one."""
    page = client.get(url).content.decode()
    assert "Your turn" in page
    form = form_on(page, ask)
    if form is None:
        form = form_on(client.get(f"{url}?ask={ask.pk}&as=text").content.decode(), ask)
    assert form, "no form takes the reply as a text"
    action, fields = form
    answer = client.post(action, {**fields, "text": text})
    if answer.status_code == 422:
        override = re.search(r'name="override" value="([^"]+)"', answer.content.decode())
        assert override, answer.content.decode()
        fields["override"] = unescape(override[1])
        answer = client.post(action, {**fields, "text": text})
    assert answer.status_code == 302


def cases() -> Iterator[tuple[str, str]]:
    for system in SYSTEMS:
        yield system, "agent"
    yield from MORE


@pytest.mark.parametrize(("system", "mode"), list(cases()))
def test_a_role_is_played_from_ready_to_the_end(system: str, mode: str) -> None:
    pia = make_person("pia")
    session = sit_down(system, mode, pia)
    place = next(each for each in find_system(system).modes() if each.key == mode).places[0]
    client, url = Client(), f"/sessions/{session.pk}/"
    client.force_login(pia)
    assert "I am ready" in client.get(url).content.decode()
    assert client.post(f"{url}ready/").status_code == 302
    carry(session)
    script, said = Script(session), 0
    while waiting := asked(session):
        assert {ask.role for ask in waiting} <= set(place.roles)
        for ask in waiting:
            send(client, url, ask, script.text(ask))
            said += 1
        assert said < MOST
        carry(session)
    assert said
    page = client.get(url).content.decode()
    assert "Session over" in page and 'id="line-1"' in page
    session.refresh_from_db()
    assert (session.state, session.trajectory.status) == ("ended", "done")

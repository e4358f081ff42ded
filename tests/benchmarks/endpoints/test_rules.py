"""Tests of who may add endpoints, where they may be, and which keys they may use."""

import os
from typing import Any

import pytest
from django.contrib.admin.models import LogEntry
from django.contrib.auth.models import User
from django.test import Client

from benchmarks.core.errors import AnswererFailed
from benchmarks.endpoints.administration import (
    allow_host,
    bind_key,
    grant_adding,
    people_who_add,
    remove_host,
    revoke_adding,
    unbind_key,
)
from benchmarks.endpoints.rules import EndpointRules
from benchmarks.endpoints.selectors import endpoint_row
from benchmarks.endpoints.services import (
    EndpointError,
    answerer_at,
    change_endpoint,
    create_endpoint,
)
from benchmarks.experiments.variants import ensure_variant
from benchmarks.llm.hosts import HostRuleError
from benchmarks.llm.security import EndpointRefused
from benchmarks.mappers import endpoint_config
from benchmarks.models import AllowedHost, Endpoint, EndpointKey, Job
from tests.analysis.rows import make_person
from tests.benchmarks.api.conftest import Caller, bearer
from tests.benchmarks.endpoints.test_views import GIVEN, NEW, text
from tests.benchmarks.llm.stage import KEY
from tests.factories.benchmarks import EndpointTrialFactory, start_sample_runs

pytestmark = pytest.mark.django_db
ANA_KEY, BEN_KEY = "PLANJURY_KEY_ANA", "PLANJURY_KEY_BEN"
HOST = "api.example.org"
URL = f"https://{HOST}/v1"
RULES = "/endpoints/rules/"


@pytest.fixture(autouse=True)
def environment(monkeypatch: pytest.MonkeyPatch, settings: Any) -> None:
    for name in (ANA_KEY, BEN_KEY):
        monkeypatch.setenv(name, f"{KEY}-{name}")
    monkeypatch.setattr("benchmarks.jobs.wake_up.wake_for_job", lambda job_id: None)
    settings.PLANJURY_ENDPOINT_HOSTS = ["localhost", "127.0.0.1", "::1", HOST]


def delegate(name: str) -> User:
    user = make_person(name, "view_results", "start_runs")
    grant_adding(user=user, by=None)
    return User.objects.get(pk=user.pk)  # rights are kept with the object


@pytest.fixture
def ana() -> User:
    user = delegate("ana")
    bind_key(variable=ANA_KEY, host=HOST, users=[user], shared=False, by=None)
    return user


@pytest.fixture
def ben() -> User:
    user = delegate("ben")
    bind_key(variable=BEN_KEY, host=HOST, users=[user], shared=False, by=None)
    return user


def signed_in(user: User) -> Client:
    client = Client()
    client.force_login(user)
    return client


def given(**changes: Any) -> dict[str, Any]:
    return {**GIVEN, "base_url": URL, "key_variable": ANA_KEY, **changes}


def make(by: User | None, name: str = "one", **changes: Any) -> Endpoint:
    values = {"base_url": URL, "model": "m", "key_variable": ANA_KEY, **changes}
    return create_endpoint(name=name, title=name.title(), created_by=by, **values)


class TestDelegates:
    def test_one_adds_tries_changes_and_retires_an_endpoint(self, ana: User) -> None:
        client = signed_in(ana)
        page = client.get(NEW)
        assert f"{ANA_KEY}, for {HOST}" in page.content.decode()
        assert BEN_KEY not in page.content.decode()
        assert client.post(NEW, given()).status_code == 302
        made = Endpoint.objects.get()
        assert made.delegated and made.created_by == ana
        url = f"/endpoints/{made.pk}/"
        shown = text(client.get(url))
        assert URL in shown and "Try it" in shown and "yes" in text(client.get("/endpoints/"))
        assert client.post(f"{url}try/").status_code == 302
        assert Job.objects.get(kind="endpoint_trial").created_by == ana
        assert client.post(f"{url}edit/", given(title="Other title")).status_code == 302
        assert client.post(f"{url}retire/").status_code == 302
        made.refresh_from_db()
        assert (made.title, made.retired, made.delegated) == ("Other title", True, True)

    def test_without_the_right_there_is_no_form(self, ana: User, researcher: Client) -> None:
        assert researcher.get(NEW).status_code == 403
        assert researcher.post(NEW, given()).status_code == 403
        client = signed_in(ana)
        assert client.get(RULES).status_code == 403
        assert client.post(RULES, {"do": "allow", "entry": "evil.example.com"}).status_code == 403
        revoke_adding(user=ana, by=None)
        assert signed_in(User.objects.get(pk=ana.pk)).get(NEW).status_code == 403
        assert people_who_add() == []

    def test_endpoints_of_others_stay_theirs(self, ana: User, ben: User) -> None:
        theirs = [make(ben, "bens", key_variable=BEN_KEY), make(None, "central")]
        client = signed_in(ana)
        for made in theirs:
            url = f"/endpoints/{made.pk}/"
            shown = client.get(url).content.decode()
            assert made.title in shown and HOST not in shown and "PLANJURY_KEY" not in shown
            assert client.get(f"{url}edit/").status_code == 403
            assert client.post(f"{url}edit/", given()).status_code == 403
            assert client.post(f"{url}try/").status_code == 403
            assert client.get(f"{url}trials/").status_code == 403
            assert client.post(f"{url}retire/").status_code == 403
            assert client.get(f"{NEW}?copy={made.pk}").status_code == 403

    @pytest.mark.parametrize(
        ("changes", "field", "told"),
        [
            ({"key_variable": BEN_KEY}, "key_variable", "Select a valid choice"),
            ({"key_variable": "PLANJURY_KEY_NOBODY"}, "key_variable", "Select a valid choice"),
            ({"base_url": "http://localhost:11434/v1"}, "base_url", "list it with its port"),
            ({"base_url": "https://evil-example.org/v1"}, "base_url", "not in the list"),
            ({"base_url": "https://other.example.org/v1"}, "key_variable", f"sent to {HOST} alone"),
            ({"base_url": f"https://{HOST}:8443/v1"}, "key_variable", f"sent to {HOST} alone"),
        ],
    )
    def test_what_the_form_refuses(
        self, ana: User, ben: User, changes: dict[str, str], field: str, told: str
    ) -> None:
        allow_host(entry="other.example.org", by=None)
        answer = signed_in(ana).post(NEW, given(**changes))
        assert answer.status_code == 422
        assert told in " ".join(answer.context["form"].errors[field])
        assert not Endpoint.objects.exists()

    def test_the_service_refuses_what_the_form_does(self, ana: User, ben: User) -> None:
        for changes in (
            {"key_variable": BEN_KEY},
            {"key_variable": "PLANJURY_KEY_UNBOUND"},
            {"base_url": f"https://{HOST}:8443/v1"},
            {"base_url": "http://localhost:6379", "key_variable": ""},
        ):
            with pytest.raises(EndpointRefused):
                make(ana, **changes)
        made = make(ana)
        with pytest.raises(EndpointRefused, match="not granted"):
            change_endpoint(endpoint=made, key_variable=BEN_KEY)
        made.refresh_from_db()
        assert made.key_variable == ANA_KEY

    def test_a_server_on_this_machine_needs_its_port_in_the_list(self, ana: User) -> None:
        allow_host(entry="localhost:11434", by=None)
        made = make(ana, base_url="http://localhost:11434/v1", key_variable="")
        assert made.delegated

    def test_the_api_keeps_the_same_rules(self, ana: User, ben: User) -> None:
        api = Caller(bearer(ana))
        wanted = {"title": "New", "base_url": URL, "model": "m", "key_variable": BEN_KEY}
        answer = api.post("/endpoints", wanted)
        assert answer.status_code == 422 and answer.json()["error"]["field"] == "key_variable"
        assert api.post("/endpoints", {**wanted, "key_variable": ANA_KEY}).status_code == 201
        assert Endpoint.objects.get().delegated


class TestKeys:
    def asked(self, made: Endpoint) -> Any:
        return answerer_at("adaplanbench")(made.name, endpoint_config(made).identity.digest)

    def test_what_is_taken_away_holds_for_the_next_call(self, ana: User) -> None:
        made = make(ana)
        assert self.asked(made).hosts == EndpointRules.load().hosts
        bind_key(variable=ANA_KEY, host=HOST, users=[], shared=True, by=None)
        with pytest.raises(AnswererFailed, match=f"key {ANA_KEY} is not granted"):
            self.asked(made)
        assert endpoint_row(made).obstacles == ("it may not use its key",)
        bind_key(variable=ANA_KEY, host=HOST, users=[ana], shared=False, by=None)
        self.asked(made)
        ana.is_active = False
        ana.save()
        with pytest.raises(AnswererFailed, match="not granted"):
            self.asked(made)

    def test_a_deleted_maker_leaves_no_key_behind(self, ana: User) -> None:
        made = make(ana)
        ana.delete()
        made.refresh_from_db()
        assert made.created_by is None and made.delegated
        with pytest.raises(AnswererFailed, match="not granted"):
            self.asked(made)

    def test_a_key_goes_to_its_host_whoever_made_the_endpoint(self, admin: Client) -> None:
        allow_host(entry="*.example.org", by=None)
        made = make(None)
        self.asked(made)
        bind_key(variable=ANA_KEY, host="other.example.org", users=[], shared=True, by=None)
        with pytest.raises(AnswererFailed, match=r"sent to other.example.org alone"):
            self.asked(made)
        unbind_key(key=EndpointKey.objects.get(), by=None)
        self.asked(made)  # as before there were bindings

    def test_a_removed_host_holds_for_the_next_call(self) -> None:
        allow_host(entry="*.example.com", by=None)
        made = make(None, base_url="https://a.example.com/v1")
        self.asked(made)
        remove_host(host=AllowedHost.objects.get(), by=None)
        with pytest.raises(AnswererFailed, match="not in the list of allowed hosts"):
            self.asked(made)

    def test_runs_ask_who_may_use_the_key(self, ana: User, ben: User) -> None:
        make(ana)
        runs = start_sample_runs("one", created_by=ana)
        assert len(runs) == 1
        with pytest.raises(EndpointRefused, match="kept for other people"):
            start_sample_runs("one", dataset=runs[0].dataset, created_by=ben)
        bind_key(variable=ANA_KEY, host=HOST, users=[ana], shared=True, by=None)
        assert start_sample_runs("one", dataset=runs[0].dataset, created_by=ben)
        assert start_sample_runs("one", dataset=runs[0].dataset)  # at the terminal

    def test_a_variant_keeps_the_rights_of_its_maker(self, ana: User, ben: User) -> None:
        made = make(ana)
        changed = ensure_variant(
            agent=made.agents.get(), changes={"temperature": 0.5}, experiment="E", created_by=ben
        )
        assert changed.endpoint is not None
        assert (changed.endpoint.delegated, changed.endpoint.created_by) == (True, ana)
        central = make(None, "central")
        changed = ensure_variant(
            agent=central.agents.get(), changes={"temperature": 0.5}, experiment="E", created_by=ben
        )
        assert changed.endpoint is not None and not changed.endpoint.delegated


class TestAdministration:
    def test_hosts_are_allowed_and_removed_without_a_restart(self, admin: Client) -> None:
        page = text(admin.get(RULES))
        assert f"{HOST} in PLANJURY_ENDPOINT_HOSTS" in page
        assert admin.post(RULES, {"do": "allow", "entry": " *.Example.com "}).status_code == 302
        row = AllowedHost.objects.get()
        assert row.entry == "*.example.com" and row.added_by is not None
        assert "*.example.com" in text(admin.get(NEW))
        for entry, told in (("*", "* alone is not allowed"), ("*.example.com", "already")):
            answer = admin.post(RULES, {"do": "allow", "entry": entry})
            assert answer.status_code == 422 and told in text(answer)
        admin.post(RULES, {"do": "remove", "host": row.pk})
        assert not AllowedHost.objects.exists()
        told = list(LogEntry.objects.order_by("pk").values_list("change_message", flat=True))
        assert told == [
            "Allowed endpoints at *.example.com", "No longer allowed endpoints at *.example.com",
        ]  # fmt: skip

    def test_keys_are_bound_to_a_host_and_to_people(self, admin: Client) -> None:
        ana = make_person("ana", "view_results", "start_runs")
        shown = text(admin.get(RULES))
        assert f"{ANA_KEY} every allowed host" in shown
        assert os.environ[ANA_KEY] not in shown
        form = {"do": "bind", "variable": ANA_KEY, "host": f"{HOST}:443", "users": [ana.pk]}
        assert admin.post(RULES, form).status_code == 302
        row = EndpointKey.objects.get()
        assert (row.host, list(row.users.all()), row.shared) == (HOST, [ana], False)
        shown = text(admin.get(f"{RULES}?key={row.pk}"))
        assert f"{ANA_KEY} {HOST} alone ana" in shown
        for changes, told in (
            ({"host": "*.example.org"}, "not to a pattern"),
            ({"host": "10.0.0.0/8"}, "not to a pattern or a range"),
            ({"variable": "SECRET_KEY"}, "must start with PLANJURY_KEY_"),
        ):
            answer = admin.post(RULES, form | changes)
            assert answer.status_code == 422 and told in text(answer)
        admin.post(RULES, {"do": "unbind", "key": row.pk})
        assert not EndpointKey.objects.exists()

    def test_people_are_granted_the_right_and_lose_it(self, admin: Client) -> None:
        ana = make_person("ana", "view_results", "start_runs")
        assert admin.post(RULES, {"do": "grant", "user": ana.pk}).status_code == 302
        assert people_who_add() == [ana]
        assert admin.post(RULES, {"do": "grant", "user": ana.pk}).status_code == 422
        admin.post(RULES, {"do": "revoke", "user": ana.pk})
        assert people_who_add() == []

    def test_entries_of_the_environment_that_allow_nothing_are_named(
        self, admin: Client, settings: Any
    ) -> None:
        settings.PLANJURY_ENDPOINT_HOSTS = ["*", "localhost"]
        assert "* allows nothing: a pattern begins with *." in text(admin.get(RULES))

    def test_the_service_keeps_the_rules_of_the_list(self) -> None:
        with pytest.raises(HostRuleError):
            allow_host(entry="*.org", by=None)
        with pytest.raises(EndpointError, match="one host"):
            bind_key(variable=ANA_KEY, host="*.example.org", users=[], shared=True, by=None)


class TestGuide:
    def test_it_leads_from_no_key_to_judged_trajectories(
        self, admin: Client, researcher: Client, reader: Client
    ) -> None:
        guide = "/endpoints/start/"
        assert reader.get(guide).status_code == 403
        shown = text(researcher.get(guide))
        assert "You cannot add endpoints yourself" in shown and "host not allowed" not in shown
        assert "manage.py fake_endpoint" in shown
        assert "First steps" in text(researcher.get("/"))
        made = make(None, base_url="http://localhost:8399/v1", key_variable="")
        answer = admin.get(guide)
        assert answer.context["steps"].step == 3
        EndpointTrialFactory(endpoint=made)
        run = start_sample_runs("one")[0]
        answer = researcher.get(guide)
        assert answer.context["steps"].step == 4
        form = researcher.get(answer.context["run_url"])
        assert form.context["form"].initial["agents"] == ["one"]
        assert len(form.context["form"].initial["tasks"].splitlines()) <= 10
        run.trajectories.update(status="done", metrics={"valid": 1.0})
        shown = text(researcher.get(guide))
        count = run.trajectories.count()
        assert f"{count} trajectories of One are judged" in shown
        assert "First steps" not in text(researcher.get("/"))

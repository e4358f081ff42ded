"""The pages of endpoints: who sees what, what the form refuses, and trying one."""

import re
from typing import Any

import pytest
from django.contrib.auth.models import Permission, User
from django.test import Client
from django.urls import reverse

from benchmarks.endpoints.services import change_endpoint, create_endpoint
from benchmarks.jobs.services import perform
from benchmarks.models import Endpoint, EndpointTrial, Job
from devtools.fake_endpoint.server import FakeServer
from tests.benchmarks.llm.stage import KEY, VARIABLE
from tests.factories.benchmarks import AnswererVersionFactory, ExchangeFactory, start_sample_runs

pytestmark = pytest.mark.django_db
NEW = "/endpoints/new/"
GIVEN: dict[str, Any] = {
    "title": "Example 70B",
    "name": "",
    "base_url": "http://localhost:8399/v1/",
    "model": "example-70b",
    "parameters": '{"temperature": 0, "max_tokens": 512}',
    "key_variable": "",
    "structured": "json_schema",
    "price_in": "0.5",
    "price_out": "1.5",
    "currency": "EUR",
    "timeout": "60",
    "concurrency": "4",
    "requests_per_minute": "",
}


@pytest.fixture(autouse=True)
def silent(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("benchmarks.jobs.wake_up.wake_for_job", lambda job_id: None)


@pytest.fixture
def endpoint(monkeypatch: pytest.MonkeyPatch) -> Endpoint:
    monkeypatch.setenv(VARIABLE, KEY)
    return create_endpoint(
        name="one",
        title="Model one",
        base_url="http://localhost:8399/v1",
        model="some-model",
        key_variable=VARIABLE,
        parameters={"top_p": 0.9},
    )


def used(endpoint: Endpoint) -> Endpoint:
    version = AnswererVersionFactory(kind="endpoint", name=endpoint.name)
    ExchangeFactory(answerer=version, cost=0.5, tokens_in=7, tokens_out=9, latency=1.5)
    return endpoint


def text(response: Any) -> str:
    """Return what a page says, without its tags."""
    words = re.sub(r"<[^>]+>", " ", response.content.decode())
    return " ".join(words.replace("&#x27;", "'").replace("&quot;", '"').split())


# name, whether it is for administrators alone, whether it only answers POST
PAGES = [
    ("endpoint_list", False, False),
    ("endpoint", False, False),
    ("endpoint_new", True, False),
    ("endpoint_edit", True, False),
    ("endpoint_trials", True, False),
    ("endpoint_rules", True, False),
    ("endpoint_retire", True, True),
    ("endpoint_try", True, True),
]


class TestAccess:
    @staticmethod
    def url(name: str, endpoint: Endpoint) -> str:
        alone = name in ("endpoint_list", "endpoint_new", "endpoint_rules")
        return reverse(f"benchmarks:{name}", args=[] if alone else [endpoint.pk])

    def test_every_page_is_covered(self) -> None:
        from benchmarks.endpoints.urls import urlpatterns

        names = {p.name for p in urlpatterns}
        # the guide has tests of its own: readers do not need it
        assert names == {"endpoint_guide", *(page[0] for page in PAGES)}

    @pytest.mark.parametrize(("name", "admins", "posts"), PAGES)
    @pytest.mark.parametrize("person", ["stranger", "reader", "researcher", "admin"])
    def test_who_may_open_what(
        self, name: str, admins: bool, posts: bool, person: str, endpoint: Endpoint, request: Any
    ) -> None:
        client: Client = request.getfixturevalue(person)
        url = self.url(name, endpoint)
        response = client.post(url) if posts else client.get(url)
        may = person == "admin" or (not admins and person != "stranger")
        good = 302 if posts else 286 if name == "endpoint_trials" else 200
        assert response.status_code == (good if may else 403)

    @pytest.mark.parametrize(("name", "admins", "posts"), PAGES)
    def test_nobody_signs_in_first(
        self, name: str, admins: bool, posts: bool, endpoint: Endpoint, client: Client
    ) -> None:
        url = self.url(name, endpoint)
        response = client.post(url) if posts else client.get(url)
        assert response["Location"].startswith(reverse("account_login"))
        assert not EndpointTrial.objects.exists()

    def test_what_only_administrators_see(
        self, endpoint: Endpoint, researcher: Client, admin: Client
    ) -> None:
        for url in ("/endpoints/", f"/endpoints/{endpoint.pk}/"):
            seen = researcher.get(url).content.decode()
            assert "Model one" in seen and "some-model" in seen
            for secret in (VARIABLE, "8399", "localhost", KEY, "Edit", "Try it"):
                assert secret not in seen
            assert KEY not in admin.get(url).content.decode()
        seen = admin.get(f"/endpoints/{endpoint.pk}/").content.decode()
        assert VARIABLE in seen and "http://localhost:8399/v1" in seen

    def test_what_hinders_it_is_told_without_details(
        self, endpoint: Endpoint, researcher: Client, admin: Client, settings: Any
    ) -> None:
        settings.PLANJURY_ENDPOINT_HOSTS = ["api.example.org"]
        url = f"/endpoints/{endpoint.pk}/"
        seen = text(researcher.get(url))
        assert "its host is not allowed" in seen and "An administrator can" in seen
        assert "api.example.org" not in seen
        assert "The host 'localhost' is not in the list" in text(admin.get(url))

    def test_what_is_not_there(self, admin: Client) -> None:
        assert admin.get("/endpoints/999/").status_code == 404
        assert admin.get(NEW + "?copy=999").status_code == 404
        for odd in ("x", "²", "9" * 40):
            assert admin.get(NEW, {"copy": odd}).status_code == 200

    def test_the_permission_can_be_given_to_others(self, endpoint: Endpoint) -> None:
        helper = User.objects.create_user("helper")
        helper.user_permissions.set(
            Permission.objects.filter(codename__in=["change_endpoint", "view_results"])
        )
        client = Client()
        client.force_login(helper)
        assert client.get(NEW).status_code == 200


class TestLists:
    def test_an_empty_list_says_how_to_try_without_a_key(
        self, admin: Client, researcher: Client, reader: Client
    ) -> None:
        for client in (admin, researcher):
            assert "Show the first steps" in text(client.get("/endpoints/"))
            assert "manage.py fake_endpoint" in text(client.get("/endpoints/start/"))
        assert "Administrators, and people" in text(reader.get("/endpoints/"))

    def test_use_and_cost(self, endpoint: Endpoint, reader: Client) -> None:
        used(endpoint)
        assert "0.5 USD" in text(reader.get("/endpoints/"))
        page = text(reader.get(f"/endpoints/{endpoint.pk}/"))
        assert "7, 9" in page and "0.5 USD" in page and "of 1 call" in page

    def test_without_prices_there_is_no_cost(self, endpoint: Endpoint, reader: Client) -> None:
        version = AnswererVersionFactory(kind="endpoint", name=endpoint.name)
        ExchangeFactory(answerer=version, most=None)
        page = text(reader.get("/endpoints/"))
        assert "undefined: Without prices nobody can tell" in page
        assert "0 USD" not in page

    def test_retired_ones_are_folded_away(self, endpoint: Endpoint, admin: Client) -> None:
        url = f"/endpoints/{endpoint.pk}/retire/"
        assert "is retired" in text(admin.post(url, follow=True))
        page = admin.get("/endpoints/").content.decode()
        assert "<summary>1 retired</summary>" in page
        admin.post(url, {"retired": "0"})
        endpoint.refresh_from_db()
        assert not endpoint.retired

    def test_queries(self, admin: Client, django_assert_max_num_queries: Any) -> None:
        for number in range(8):
            made = create_endpoint(
                name=f"n{number}", title=f"N {number}", base_url="http://localhost:1", model="m"
            )
            used(made)
        with django_assert_max_num_queries(11):
            admin.get("/endpoints/")
        with django_assert_max_num_queries(20):
            admin.get(f"/endpoints/{made.pk}/")


class TestForm:
    def test_a_new_one(self, admin: Client) -> None:
        response = admin.post(NEW, GIVEN | {"native_tools": "on"}, follow=True)
        made = Endpoint.objects.get()
        assert response.redirect_chain[-1][0] == f"/endpoints/{made.pk}/"
        assert (made.name, made.base_url) == ("example-70b", "http://localhost:8399/v1")
        assert made.parameters == {"temperature": 0, "max_tokens": 512}
        assert (made.price_out, made.currency, made.native_tools) == (1.5, "EUR", True)
        assert made.created_by is not None and made.created_by.username == "root"
        assert made.agents.get().name == "example-70b"

    @pytest.mark.parametrize(
        ("field", "value", "words"),
        [
            ("model", " ", "required"),
            ("name", "no spaces", "valid"),
            ("name", "taken", "is taken by another endpoint or agent"),
            ("base_url", "http://api.example.org/v1", "Plain http is for this machine alone"),
            ("base_url", "https://api.example.org/v1", "not in the list of allowed hosts"),
            ("base_url", "http://u:p@localhost/v1", "no user name or password"),
            ("base_url", "http://localhost/v1?key=1", "no query string"),
            ("base_url", "localhost", "must look like"),
            ("model", "", "required"),
            ("key_variable", "HOME", "must start with PLANJURY_KEY_"),
            ("key_variable", "PLANJURY_KEY_a", "capitals"),
            (
                "parameters",
                '{\n "a": 1,\n}',
                "a name in double quotes is missing (line 3,",
            ),
            ("parameters", "[1]", "Expected a JSON object such as"),
            ("parameters", '{"a": 1, "a": 2}', "The name 'a' occurs twice"),
            ("parameters", '{"a": NaN}', "NaN is no JSON value"),
            ("parameters", '{"a": 1e999}', "expected a JSON value"),
            ("parameters", '{"model": "x"}', "no 'model', which PlanJury sets itself"),
            ("parameters", '{"max_tokens": 0}', "max_tokens: expected a whole number"),
            ("parameters", '{"seed": -1}', "seed: expected a whole number"),
            ("parameters", '{"a": "\\u0000"}', "cannot be stored"),
            ("parameters", "[" * 9000, "usual size and depth"),
            ("parameters", "9" * 9000, "usual size and depth"),
            ("parameters", '{"a": "' + "x" * 20_000 + '"}', "at most 20000"),
            ("structured", "yaml", "valid choice"),
            ("price_in", "-1", "greater than or equal to 0"),
            ("price_out", "nan", "Enter a number"),
            ("currency", "euro", "three letters"),
            ("timeout", "0", "greater than"),
            ("timeout", "3601", "less than or equal to 3600"),
            ("concurrency", "0", "greater than or equal to 1"),
            ("concurrency", "many", "whole number"),
            ("requests_per_minute", "0", "greater than or equal to 1"),
        ],
    )
    def test_a_refusal_stands_beside_its_field(
        self, admin: Client, field: str, value: str, words: str
    ) -> None:
        create_endpoint(name="taken", title="T", base_url="http://localhost:1", model="m")
        response = admin.post(NEW, GIVEN | {field: value})
        assert response.status_code == 422
        form = response.context["form"]
        assert list(form.errors) == [field]
        assert words in " ".join(form.errors[field])
        assert words in text(response)
        assert Endpoint.objects.count() == 1

    def test_the_fake_endpoint_is_added_without_typing(self, admin: Client) -> None:
        form = admin.get(NEW, {"preset": "fake"}).context["form"]
        given = {name: form[name].value() for name in form.fields if form[name].value()}
        admin.post(NEW, given)
        made = Endpoint.objects.get()
        assert (made.title, made.model, made.simulated) == ("fake", "fake", True)
        assert made.price_in and made.price_out and made.parameters["max_tokens"]
        page = admin.get(f"/endpoints/{made.pk}/").content.decode()
        assert "Run the first 10 tasks" in page

    def test_hosts_and_keys_are_explained(
        self, admin: Client, settings: Any, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        settings.PLANJURY_ENDPOINT_HOSTS = ["api.example.org", "localhost"]
        page = text(admin.get(NEW))
        assert "Allowed hosts: api.example.org, localhost" in page
        assert "You can allow others under Hosts and keys" in page
        monkeypatch.setenv(VARIABLE, KEY)
        wrong = GIVEN | {"key_variable": VARIABLE, "model": ""}
        page = text(admin.post(NEW, wrong))
        assert f"{VARIABLE} is set on this machine" in page and KEY not in page
        monkeypatch.delenv(VARIABLE)
        assert f"the environment variable {VARIABLE} is not set" in text(admin.post(NEW, wrong))
        # nobody learns here whether other variables exist
        page = text(admin.post(NEW, wrong | {"key_variable": "PATH"}))
        assert "is set on this machine" not in page and "is not set" not in page

    def test_what_was_typed_is_kept_and_harmless(self, admin: Client) -> None:
        hostile = '"></textarea><script>x</script>'
        wrong = {"title": hostile, "parameters": hostile, "key_variable": hostile}
        page = admin.post(NEW, GIVEN | wrong).content.decode()
        assert "<script>x" not in page

    def test_editing(self, endpoint: Endpoint, admin: Client) -> None:
        url = f"/endpoints/{endpoint.pk}/edit/"
        form = admin.get(url).context["form"]
        given = {name: form[name].value() for name in form.fields}
        given = {name: value for name, value in given.items() if value not in (None, False)}
        response = admin.post(url, given | {"title": "New title", "price_in": "2", "name": "x"})
        assert response.status_code == 302
        endpoint.refresh_from_db()
        assert (endpoint.title, endpoint.price_in, endpoint.name) == ("New title", 2.0, "one")
        assert endpoint.parameters == {"top_p": 0.9}

    def test_a_used_one_keeps_what_shapes_its_answers(
        self, endpoint: Endpoint, admin: Client
    ) -> None:
        used(endpoint)
        url = f"/endpoints/{endpoint.pk}/edit/"
        page = admin.get(url)
        assert "Runs use this endpoint" in text(page)
        assert f"/endpoints/new/?copy={endpoint.pk}" in page.content.decode()
        response = admin.post(url, GIVEN | {"title": "Still it", "timeout": "9"})
        assert response.status_code == 302
        endpoint.refresh_from_db()
        assert (endpoint.title, endpoint.timeout) == ("Still it", 9.0)
        assert (endpoint.model, endpoint.parameters) == ("some-model", {"top_p": 0.9})
        assert endpoint.currency == "USD"

    def test_a_copy_under_a_title_of_its_own(self, endpoint: Endpoint, admin: Client) -> None:
        form = admin.get(NEW, {"copy": endpoint.pk}).context["form"]
        assert form["model"].value() == "some-model"
        assert form["parameters"].value() == '{\n  "top_p": 0.9\n}'
        assert not form["title"].value() and not form["name"].value()
        assert not form.fields["name"].disabled

    def test_simulated_stays_once_used(self, endpoint: Endpoint, admin: Client) -> None:
        used(change_endpoint(endpoint=endpoint, simulated=True))
        admin.post(f"/endpoints/{endpoint.pk}/edit/", GIVEN)
        endpoint.refresh_from_db()
        assert endpoint.simulated


class TestTrial:
    def test_from_the_button_to_the_answer(self, server: FakeServer, admin: Client) -> None:
        made = create_endpoint(
            name="fake", title="Fake", base_url=server.base_url, model="thinks", timeout=5.0
        )
        part = f"/endpoints/{made.pk}/trials/"
        assert "Not tried yet" in text(admin.get(f"/endpoints/{made.pk}/"))
        response = admin.post(f"/endpoints/{made.pk}/try/")
        assert response["Location"] == f"/endpoints/{made.pk}/#trials"
        assert server.counts.received == 0  # nothing is asked within the request
        page = admin.get(part)
        assert page.status_code == 200 and "every 1s" in page.content.decode()
        version = page.context["version"]
        assert admin.get(part, {"v": version}).status_code == 204
        perform(job_id=Job.objects.get().pk, owner="test")
        page = admin.get(part, {"v": version})
        assert page.status_code == 286
        shown = text(page)
        assert "Questions to try it: 1" in shown
        assert "thinks-2025" in shown and "Reasoning, apart from the reply" in shown
        assert "What is the capital of France?" in shown
        assert "every 1s" not in page.content.decode()
        assert "Simulated" in text(admin.get(f"/endpoints/{made.pk}/"))

    def test_a_second_one_is_refused_in_words(self, endpoint: Endpoint, admin: Client) -> None:
        url = f"/endpoints/{endpoint.pk}/try/"
        admin.post(url)
        assert "is being tried already" in text(admin.post(url, follow=True))
        assert Job.objects.filter(kind="endpoint_trial").count() == 1

    @pytest.mark.parametrize("model", ["echo", "echo-error"])
    def test_secrets_are_never_shown(
        self, server: FakeServer, admin: Client, model: str, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setenv(VARIABLE, KEY)
        made = create_endpoint(
            name="e", title="E", base_url=server.base_url, model=model, key_variable=VARIABLE
        )
        admin.post(f"/endpoints/{made.pk}/try/")
        perform(job_id=Job.objects.get().pk, owner="test")
        page = admin.get(f"/endpoints/{made.pk}/").content.decode()
        assert "[redacted]" in page
        assert KEY not in page and KEY[3:15] not in page

    def test_a_worker_that_gave_up(self, endpoint: Endpoint, admin: Client) -> None:
        admin.post(f"/endpoints/{endpoint.pk}/try/")
        Job.objects.update(status=Job.Status.FAILED, message="its workers died")
        page = admin.get(f"/endpoints/{endpoint.pk}/trials/")
        assert page.status_code == 286
        assert "gave up the last trial: its workers died" in text(page)


def test_agents_of_simulated_endpoints_are_labelled(endpoint: Endpoint, researcher: Client) -> None:
    change_endpoint(endpoint=endpoint, simulated=True)
    start_sample_runs("one", "explorer")
    for url in ("/agents/", "/runs/", "/runs/new/"):
        assert "Model one (simulated)" in text(researcher.get(url))

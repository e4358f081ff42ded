"""Signing in through an OpenID Connect server: who gets in, who does not, and what shows."""

from collections.abc import Iterator
from urllib.parse import urlsplit

import pytest
from allauth.mfa.totp.internal.auth import TOTP
from allauth.socialaccount.models import SocialAccount, SocialApp
from allauth.socialaccount.providers import registry
from allauth.socialaccount.providers.openid_connect.provider import OpenIDConnectProvider
from django.contrib.auth.models import User
from django.test import Client

from config.checks import oidc_is_whole
from config.settings.services import OidcServer, provider_settings
from tests.config import oidc_site  # makes the usual addresses before any test has a server
from tests.config.identity_server import CLIENT_ID, SECRET, IdentityServer, identity_server
from tests.config.test_settings import run_python

pytestmark = pytest.mark.either

LINKS = "/accounts/oidc/"
PASSWORD = "correct horse"


@pytest.fixture
def server(settings, db: None) -> Iterator[IdentityServer]:
    """A configured server, which knows Ann."""
    with identity_server() as running:
        settings.OIDC = OidcServer(running.url, CLIENT_ID, "Lab account", has_secret=True)
        settings.SOCIALACCOUNT_PROVIDERS = provider_settings(settings.OIDC, secret=SECRET)
        settings.ROOT_URLCONF = oidc_site.__name__
        registry.load()
        registry.register(OpenIDConnectProvider)
        running.identity = {"sub": "17", "email": "ann@lab.org", "email_verified": True}
        yield running
        registry.provider_map.pop(OpenIDConnectProvider.id)


@pytest.fixture
def ann(db: None) -> User:
    """An account that an administrator made."""
    return User.objects.create_user("ann", email="Ann@lab.org", password=PASSWORD)


def start(client: Client, server: IdentityServer, **query: str):
    key = urlsplit(server.url).netloc.replace(".", "-").replace(":", "-")
    return client.post(f"{LINKS}{key}/login/", query_params=query)


def go(client: Client, server: IdentityServer, **query: str):
    """Go to the server and back."""
    left = start(client, server, **query)
    assert left.status_code == 200, left.headers
    target = left.context["target"]
    assert left.headers["Refresh"] == f"0; url={target}"
    return client.get(f"{left.request['PATH_INFO']}callback/", server.sign_in(target))


def signed_in(client: Client) -> str:
    """Whose session it is."""
    page = client.get("/studies/")
    return page.context["user"].username if page.status_code == 200 else ""


def test_a_verified_address_opens_the_account_that_has_it(server, ann: User) -> None:
    client = Client()
    answer = go(client, server, next="/studies/")
    assert answer.headers["Location"] == "/studies/"
    assert signed_in(client) == "ann"
    ann.refresh_from_db()
    assert ann.check_password(PASSWORD)
    assert User.objects.count() == 1
    # From now on the identity is linked, whatever becomes of the address.
    server.identity["email"] = "ann@elsewhere.org"
    again = Client()
    go(again, server)
    assert signed_in(again) == "ann"
    assert SocialAccount.objects.get().user == ann


@pytest.mark.parametrize("verified", [False, None, "false", "true", 1])
def test_an_address_that_is_not_verified_opens_nothing(server, ann: User, verified) -> None:
    server.identity["email_verified"] = verified
    client = Client()
    answer = go(client, server)
    assert answer.status_code == 403
    assert "You have no account yet" in answer.content.decode()
    assert signed_in(client) == ""
    assert not SocialAccount.objects.exists()


def test_nobody_gets_a_new_account(server) -> None:
    client = Client()
    assert go(client, server).status_code == 403
    assert not User.objects.exists()
    assert client.post("/accounts/signup/", {"username": "new"}).status_code == 200
    assert not User.objects.exists()


def let_in(settings, *domains: str) -> None:
    settings.OIDC = settings.OIDC._replace(new_accounts=domains)


@pytest.mark.parametrize("domain", ["lab.org", "*"])
def test_a_rule_lets_the_first_sign_on_make_an_account(server, settings, domain: str) -> None:
    let_in(settings, domain)
    server.identity |= {
        "preferred_username": "ann@lab",
        "given_name": "Ann",
        "email": "ann@LAB.org",
    }
    client = Client()
    go(client, server)
    user = User.objects.get()
    assert signed_in(client) == user.username == "ann"
    assert (user.first_name, user.email.lower()) == ("Ann", "ann@lab.org")
    assert not user.has_usable_password() and not user.get_all_permissions()
    assert not (user.is_staff or user.is_superuser)
    again = Client()
    go(again, server)
    assert signed_in(again) == "ann" and User.objects.count() == 1


def test_the_rule_makes_no_account_for_others(server, settings) -> None:
    let_in(settings, "uni.org")
    assert go(Client(), server).status_code == 403
    let_in(settings, "lab.org")
    server.identity["email_verified"] = False
    assert go(Client(), server).status_code == 403
    # Nor beside an account that has the address and may not be found by it.
    server.identity["email_verified"] = True
    User.objects.create_user("root", email="Ann@lab.org", is_staff=True)
    assert go(Client(), server).status_code == 403
    assert User.objects.count() == 1


def test_a_name_that_is_taken_gets_a_number(server, settings) -> None:
    let_in(settings, "lab.org")
    User.objects.create_user("Ann", email="other@lab.org")
    client = Client()
    go(client, server)
    assert signed_in(client) == "ann2"


@pytest.mark.parametrize("change", [{"is_staff": True}, {"is_superuser": True}])
def test_an_administrator_is_not_found_by_address(server, ann: User, change) -> None:
    User.objects.filter(pk=ann.pk).update(**change)
    assert go(Client(), server).status_code == 403


def test_two_accounts_with_the_address_open_neither(server, ann: User) -> None:
    User.objects.create_user("twin", email="ann@LAB.org")
    assert go(Client(), server).status_code == 403


def test_an_account_that_is_switched_off_stays_closed(server, ann: User) -> None:
    client = Client()
    go(client, server)
    User.objects.update(is_active=False)
    again = Client()
    assert go(again, server).headers["Location"] == "/accounts/inactive/"
    assert signed_in(again) == ""


def test_the_second_factor_is_asked_for_all_the_same(server, ann: User) -> None:
    TOTP.activate(ann, "JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP")
    client = Client()
    assert go(client, server).headers["Location"] == "/accounts/2fa/authenticate/"
    assert signed_in(client) == ""


def link(client: Client, server: IdentityServer):
    """Link an identity, and prove once more whose account it is."""
    asked = go(client, server, process="connect")
    assert asked.headers["Location"].startswith("/accounts/reauthenticate/")
    assert not SocialAccount.objects.filter(user__username=signed_in(client)).exists()
    return client.post(asked.headers["Location"], {"password": PASSWORD})


def test_an_identity_is_linked_and_unlinked_by_its_owner(server, ann: User) -> None:
    User.objects.filter(pk=ann.pk).update(email="", is_superuser=True)
    client = Client()
    client.force_login(ann)
    assert "not linked" in client.get(LINKS).content.decode()
    assert link(client, server).headers["Location"] == LINKS
    linked = SocialAccount.objects.get()
    assert linked.user == ann
    assert "Unlink" in client.get(LINKS).content.decode()

    other = Client()
    go(other, server)
    assert signed_in(other) == "ann"

    client.post(LINKS, {"account": linked.pk})
    assert not SocialAccount.objects.exists()
    assert go(Client(), server).status_code == 403


def test_an_identity_is_not_taken_from_its_owner(server, ann: User) -> None:
    go(Client(), server)
    client = Client()
    client.force_login(User.objects.create_user("bob", password=PASSWORD))
    link(client, server)
    assert SocialAccount.objects.get().user == ann


def test_an_answer_that_was_not_asked_for_is_refused(server, ann: User) -> None:
    left = start(Client(), server)
    back = server.sign_in(left.context["target"])
    # The attacker's answer in the victim's browser.
    victim = Client()
    answer = victim.get(f"{left.request['PATH_INFO']}callback/", back)
    assert answer.status_code == 401
    assert signed_in(victim) == ""


def test_a_token_for_another_program_is_refused(server, ann: User) -> None:
    server.audience = "another-program"
    client = Client()
    assert go(client, server).status_code == 401
    assert signed_in(client) == ""


def test_a_server_of_the_database_is_not_asked(server, ann: User) -> None:
    SocialApp.objects.create(
        provider="openid_connect", provider_id="planted", name="P", client_id="c", secret="s",
        settings={"server_url": server.url},
    )  # fmt: skip
    assert Client().post(f"{LINKS}planted/login/").status_code == 404


def test_a_server_that_is_away_is_named(server, settings) -> None:
    settings.OIDC = OidcServer("http://127.0.0.1:9", CLIENT_ID, "Lab account", has_secret=True)
    settings.SOCIALACCOUNT_PROVIDERS = provider_settings(settings.OIDC, secret=SECRET)
    answer = Client().post(f"{LINKS}127-0-0-1-9/login/")
    assert answer.status_code == 503
    assert "Lab account cannot be reached" in answer.content.decode()


def test_only_a_form_of_ours_starts_it(server) -> None:
    assert Client().get(f"{LINKS}x/login/").status_code == 405
    assert Client(enforce_csrf_checks=True).post(f"{LINKS}x/login/").status_code == 403
    assert Client().get(LINKS).headers["Location"].startswith("/accounts/login/")


def test_the_button_is_there_where_a_server_is(server, client: Client) -> None:
    assert "Lab account" in client.get("/accounts/login/").content.decode()


def test_without_a_server_nothing_shows(client: Client, django_user_model, db: None) -> None:
    assert "Single sign-on" not in client.get("/accounts/login/").content.decode()
    client.force_login(User.objects.create_superuser("root"))
    for path in ("/studies/", "/accounts/2fa/", "/admin/"):
        page = client.get(path).content.decode()
        assert "Single sign-on" not in page
        assert "Social" not in page
    assert client.get(LINKS).status_code == 404


COMPLETE = {
    "PLANJURY_OIDC_SERVER": "https://login.lab.org/realms/Lab",
    "PLANJURY_OIDC_CLIENT_ID": "planjury",
    "PLANJURY_OIDC_CLIENT_SECRET": "hush-hush",
}
SITE = (
    "import os, sys; os.environ['DJANGO_SETTINGS_MODULE'] = 'config.settings.local'\n"
    "import django; django.setup()\n"
    "from django.urls import reverse, NoReverseMatch\n"
    "from django.conf import settings\n"
    "try: print(reverse('openid_connect_callback', args=[settings.OIDC.key]))\n"
    "except NoReverseMatch: print('none')\n"
    "print(*sorted({'requests', 'jwt', 'oauthlib'} & set(sys.modules)))\n"
    "print(settings.OIDC)\n"
)


@pytest.mark.slow
def test_the_environment_alone_switches_it_on(tmp_path) -> None:
    folder = {"PLANJURY_DATA_DIR": str(tmp_path)}
    off = run_python(SITE, **folder)
    assert off.stdout.splitlines()[:2] == ["none", ""], off.stderr
    on = run_python(SITE, **folder, **COMPLETE)
    assert on.stdout.splitlines()[0] == "/accounts/oidc/login-lab-org-realms-lab/login/callback/"
    assert "hush" not in on.stdout + on.stderr


@pytest.mark.parametrize(
    ("server", "words"),
    [
        (OidcServer("", "", "x", False), None),
        (OidcServer("https://login.lab.org", "c", "x", True), None),
        (OidcServer("http://localhost:9000", "c", "x", True), None),
        (OidcServer("https://login.lab.org", "c", "x", False), "PLANJURY_OIDC_CLIENT_SECRET not"),
        (OidcServer("", "c", "x", True), "PLANJURY_OIDC_SERVER not"),
        (OidcServer("", "", "x", True), "PLANJURY_OIDC_SERVER and PLANJURY_OIDC_CLIENT_ID not"),
        (OidcServer("http://login.lab.org", "c", "x", True), "in the clear"),
        (OidcServer("login.lab.org", "c", "x", True), "in the clear"),
    ],
)
def test_half_a_configuration_is_named(settings, server: OidcServer, words: str | None) -> None:
    settings.OIDC = server
    found = oidc_is_whole(None)
    assert [words in message.msg for message in found] == ([True] if words else [])

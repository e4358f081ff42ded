"""Pages before, between and after items: who is let on, and what they are told."""

import logging

import pytest
from django.contrib.auth.models import User
from django.http import HttpResponse
from django.test import Client
from django.utils import timezone

from annotation.consent.services import set_study_text
from annotation.models import Invite, Message, Participant, Study
from annotation.people.invitations import make_invite, revoke_invite
from tests.annotation.entered import TOLD, WHY, agree, answer, make_full_study, place, train
from tests.annotation.rows import make_person

pytestmark = pytest.mark.django_db
PASSWORD = "quite-long-enough-7"


@pytest.fixture
def full(ann: User, manager: User) -> Study:
    return make_full_study([ann], manager)


@pytest.fixture
def browser(ann: User) -> Client:
    client = Client()
    client.force_login(ann)
    return client


def to(answer: HttpResponse) -> str:
    """Return where an answer sends to, without the study."""
    assert answer.status_code == 302
    return answer.headers["Location"].partition("/studies/")[2].partition("/")[2]


def test_the_way_to_the_first_item(full: Study, ann: User, browser: Client) -> None:
    at = f"/studies/{full.pk}"
    following = f"{at}/annotate/"
    assert to(browser.get(following)) == "information/"
    page = browser.get(f"{at}/information/").content.decode()
    assert "<li>two</li>" in page
    # what comes later cannot be opened
    for later in ("annotate/1/", "training/1/", "background/1/"):
        assert to(browser.get(f"{at}/{later}")) == "annotate/"
    assert to(browser.get(f"{at}/consent/")) == "information/"
    assert to(browser.post(f"{at}/information/", {"version": "1"})) == "annotate/"
    assert to(browser.get(following)) == "consent/"
    assert browser.post(f"{at}/consent/", {"version": "1"}).status_code == 422
    assert browser.post(f"{at}/consent/", {"version": "7", "answer": "agree"}).status_code == 409
    assert to(browser.post(f"{at}/consent/", {"version": "1", "answer": "decline"})) == "consent/"
    assert "You declined" in browser.get(f"{at}/consent/").content.decode()
    assert to(browser.get(f"{at}/annotate/1/")) == "annotate/"
    assert to(browser.post(f"{at}/consent/", {"version": "1", "answer": "agree"})) == "annotate/"
    assert to(browser.get(following)) == "background/1/"
    answer(full, ann, "background", 1, **TOLD)
    assert to(browser.get(following)) == "guidelines/"
    assert to(browser.post(f"{at}/guidelines/")) == "annotate/"
    assert to(browser.get(following)) == "training/1/"
    assert to(browser.get(f"{at}/training/1/feedback/")) == "training/1/"
    train(full, ann, 2)
    page = browser.get(f"{at}/training/1/feedback/").content.decode()
    assert WHY in page
    assert "4 or 5" in page
    train(full, ann, 5, first=2)
    page = browser.get(f"{at}/training/").content.decode()
    assert "1 of 2" in page
    assert "You need 75 %" in page
    assert to(browser.get(f"{at}/annotate/1/")) == "annotate/"
    assert to(browser.get(following)) == "training/"
    assert to(browser.post(f"{at}/training/")) == "annotate/"
    train(full, ann, 5, 5, first=3)
    assert to(browser.get(following)) == "annotate/1/"
    assert browser.get(f"{at}/annotate/1/").status_code == 200


def test_the_study_page_shows_the_steps(full: Study, ann: User, browser: Client) -> None:
    page = browser.get(f"/studies/{full.pk}/").content.decode()
    assert "Read the information" in page
    assert page.count('aria-current="step"') == 1
    agree(full, ann)
    page = browser.get(f"/studies/{full.pk}/").content.decode()
    assert "Answer the questions about you" in page
    assert page.count('<li class="done"') == 2


def test_an_answer_given_before_a_new_consent_text_stays_on_the_page(
    full: Study, ann: User, manager: User, browser: Client
) -> None:
    agree(full, ann)
    answer(full, ann, "background", 1, **TOLD)
    train(full, ann, 5, 5)
    here = f"/studies/{full.pk}/annotate/1/"
    browser.get(here)
    set_study_text(study=full, kind="consent", text="Another text.", by=manager)
    refused = browser.post(here, {"action": "submit", "safety": "3"})
    assert refused.status_code == 423
    assert "consent text" in refused.content.decode()
    assert to(browser.get(here)) == "annotate/"


def test_a_standstill_has_a_page(study: Study, ann: User, browser: Client) -> None:
    following = f"/studies/{study.pk}/annotate/"
    Study.objects.filter(pk=study.pk).update(status="paused")
    assert "This study is paused" in browser.get(following).content.decode()
    Study.objects.filter(pk=study.pk).update(status="open")
    Participant.objects.filter(study=study, user=ann).update(state="paused")
    assert "A manager has paused your work" in browser.get(following).content.decode()


def test_items_of_a_pool_are_taken_until_none_is_left(
    study: Study, ann: User, browser: Client
) -> None:
    following = f"/studies/{study.pk}/annotate/"
    study.assignments.all().delete()
    study.participants.update(assigned=0, guidelines_read_at=timezone.now())
    study.items.update(given=0)
    Study.objects.filter(pk=study.pk).update(dealing="pool")
    assert "for an item" in browser.get("/").content.decode()
    study.items.exclude(pk=study.items.earliest("rank").pk).update(given=1)
    assert to(browser.get(following)) == "annotate/1/"
    assert to(browser.get(following)) == "annotate/1/"
    study.assignments.update(state="submitted")
    assert to(browser.get(following)) == ""
    assert "and no more are left" in browser.get(f"/studies/{study.pk}/").content.decode()


def test_a_break_and_back(study: Study, ann: User, browser: Client) -> None:
    at = f"/studies/{study.pk}"
    assert "Take a break" in browser.get(f"{at}/annotate/1/").content.decode()
    assert to(browser.post(f"{at}/break/")) == "break/"
    assert "You are taking a break" in browser.get(f"{at}/break/").content.decode()
    assert to(browser.get(f"{at}/annotate/1/")) == "annotate/"
    assert to(browser.get(f"{at}/annotate/")) == "break/"
    assert to(browser.post(f"{at}/break/", {"action": "end"})) == "annotate/"
    assert place(study, ann).break_since is None


def test_messages_show_until_they_are_read(
    study: Study, bob: User, manager: User, browser: Client
) -> None:
    message = Message.objects.create(study=study, text="Slowly, <b>please</b>", by=manager)
    other = Message.objects.create(study=study, to=bob, text="For Bob", by=manager)
    for path in ("/", f"/studies/{study.pk}/"):
        page = browser.get(path).content.decode()
        assert "Slowly, &lt;b&gt;please" in page
        assert "For Bob" not in page
    assert "1 message" in browser.get(f"/studies/{study.pk}/annotate/1/").content.decode()
    assert browser.post(f"/studies/{study.pk}/read/{other.pk}/").status_code == 404
    browser.post(f"/studies/{study.pk}/read/{message.pk}/", {"back": "home"})
    assert "Slowly" not in browser.get("/").content.decode()


def test_whoever_got_the_role_from_an_administrator_gets_a_place(study: Study) -> None:
    new, admin = make_person("new"), make_person("admin", superuser=True)
    admin.is_staff = True
    admin.save()
    client = Client()
    client.force_login(admin)
    added = {"study": study.pk, "user": new.pk, "role": "annotator"}
    assert client.post("/admin/annotation/membership/add/", added).status_code == 302
    client.force_login(new)
    page = client.get(f"/studies/{study.pk}/annotate/").content.decode()
    assert "No items for you yet" in page
    assert place(study, new).number == 3


def test_a_role_without_a_place_leads_nowhere(study: Study, browser: Client) -> None:
    new = make_person("new")
    study.memberships.create(user=new, role="annotator")
    browser.force_login(new)
    assert browser.get(f"/studies/{study.pk}/annotate/").status_code == 403


def test_managers_write_texts_and_see_the_old_ones(full: Study, manager: User) -> None:
    client = Client()
    client.force_login(manager)
    path = f"/studies/{full.pk}/texts/"
    client.post(path, {"kind": "consent", "text": "Second <i>wording</i>."})
    page = client.get(path).content.decode()
    assert "Second &lt;i&gt;wording" in page
    assert "I take part freely." in page
    full.refresh_from_db()
    assert full.consent_version == 2
    long = client.post(path, {"kind": "consent", "text": "x" * 20_001})
    assert long.status_code == 422
    assert "x" * 20_001 in long.content.decode()


# --- Invites --------------------------------------------------------------------------------------


def invite(study: Study, manager: User) -> str:
    return make_invite(study=study, role="annotator", label="", days=7, by=manager)


def test_a_stranger_comes_in_with_a_new_account(study: Study, manager: User) -> None:
    token, client = invite(study, manager), Client()
    sent = client.get(f"/join/{token}/")
    assert (sent.headers["Location"], sent.headers["Referrer-Policy"]) == ("/join/", "no-referrer")
    page = client.get("/join/").content.decode()
    assert "<strong>Pilot</strong>" in page
    assert "<strong>annotator</strong>" in page
    assert token not in page
    taken = {"username": "ANN", "password1": PASSWORD, "password2": PASSWORD}
    assert "already exists" in client.post("/join/", taken).content.decode()
    weak = {"username": "cat", "password1": "1234", "password2": "1234"}
    assert client.post("/join/", weak).status_code == 422
    assert not User.objects.filter(username="cat").exists()
    client.post("/join/", {"username": "cat", "password1": PASSWORD, "password2": PASSWORD})
    cat = User.objects.get(username="cat")
    assert (cat.email, cat.is_staff) == ("", False)
    assert client.get(f"/studies/{study.pk}/").status_code == 200
    assert Invite.objects.get().used_by == cat
    assert client.get("/accounts/signup/").content.decode().count("<input") < 3


def test_a_person_with_an_account_confirms(study: Study, manager: User) -> None:
    token, client = invite(study, manager), Client()
    client.get(f"/join/{token}/")
    make_person("cat")
    # the link waits while somebody signs in
    client.post("/accounts/login/?next=/join/", {"login": "cat", "password": "secret-enough"})
    assert "Accept as cat" in client.get("/join/").content.decode()
    assert not study.memberships.filter(user__username="cat").exists()
    assert to(client.post("/join/")) == ""
    assert study.memberships.get(user__username="cat").role == "annotator"


def test_links_that_are_not_good_name_no_study_and_leave_no_token_in_the_log(
    study: Study, manager: User, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    used, revoked = invite(study, manager), invite(study, manager)
    revoke_invite(invite=Invite.objects.latest("pk"), by=manager)
    cat = Client()
    cat.force_login(make_person("cat"))
    cat.get(f"/join/{used}/")
    cat.post("/join/")
    for token, status, words in (
        (used, 410, "has been used"),
        (revoked, 410, "revoked"),
        ("none", 404, "no such invitation"),
    ):
        client = Client()
        client.get(f"/join/{token}/")
        page = client.get("/join/")
        assert page.status_code == status
        assert words in page.content.decode()
        assert study.name not in page.content.decode()
        assert client.post("/join/", {"username": "x"}).status_code == status
    assert used not in caplog.text
    assert revoked not in caplog.text


def test_links_cannot_be_tried_at_will(study: Study) -> None:
    client = Client()
    answers = [client.get(f"/join/try-{n}/", follow=True).status_code for n in range(31)]
    assert answers[:30] == [404] * 30
    assert answers[30] == 429

"""Recruiting links: who gets in, in which browser, and when the completion code is given."""

import csv
from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta
from decimal import Decimal
from typing import Any

import pytest
from django.conf import settings
from django.contrib.auth.models import User
from django.test import Client
from django.utils import timezone

from annotation.annotator_quality.checks import reasons_for_check
from annotation.errors import Refused
from annotation.models import (
    Assignment,
    Participant,
    Recruit,
    RecruitingLink,
    Study,
    StudyEvent,
)
from annotation.people.erasure import erase_person
from annotation.people.invitations import digest_of
from annotation.people.withdrawal import withdraw_annotator
from annotation.planning.planned_study import plan_study
from annotation.planning.services import create_planned_study
from annotation.recruiting.screening import ScreeningError, read_screening
from annotation.recruiting.services import finish_recruit, join_by_link, make_recruiting_link
from annotation.studies.services import change_study
from annotation.studies.setup import add_member
from tests.annotation.rows import make_person, make_runs, plan_for
from tests.threads import in_threads

pytestmark = pytest.mark.django_db
IDS = "PROLIFIC_PID={}&STUDY_ID=study-1&SESSION_ID=session-1"


@pytest.fixture
def pool(manager: User) -> Study:
    """An open study with six items that two people each judge, whoever is free."""
    plan = plan_for(
        make_runs(tasks=3), [], dealing="pool", raters=2, order="random", queries_each=None,
        name="Pooled",
    )  # fmt: skip
    return create_planned_study(planned=plan_study(plan), by=manager)


def link_to(study: Study, by: User, **more: Any) -> str:
    """The address of a fresh link."""
    wishes = {"platform": "prolific", "code": "C0DE", "places": 2, "items_each": 2, "days": 7}
    return f"/recruit/{make_recruiting_link(study=study, by=by, **{**wishes, **more})}/"


def come(client: Client, url: str, pid: str, answers: Sequence[str] = ()) -> Any:
    """Open a link as somebody from a platform, and take part."""
    client.get(f"{url}?{IDS.format(pid)}")
    data = {f"answer_{n}": answer for n, answer in enumerate(answers)}
    return client.post("/recruit/", {"go": "join", **data})


def submit(
    study: Study,
    user: User,
    count: int,
    active_ms: int = 60_000,
    elapsed: int = 60,
    pattern: str = "",
) -> None:
    """Have somebody submit items, as the desk counts them, each after ``elapsed`` seconds."""
    from annotation.assignments.services import change_assignment_state, claim_next_item

    now = timezone.now()
    for number in range(count):
        assignment = claim_next_item(study=study, user=user)
        assert assignment is not None
        assignment.active_ms, assignment.pattern = active_ms, pattern
        assignment.save(update_fields=["active_ms", "pattern"])
        change_assignment_state(assignment, Assignment.State.SUBMITTED, by=user)
        shown = now - timedelta(seconds=elapsed * (count - number))
        Assignment.objects.filter(pk=assignment.pk).update(
            opened_at=shown, submitted_at=shown + timedelta(seconds=elapsed)
        )


def only(pid: str) -> Recruit:
    return Recruit.objects.select_related("user", "link", "study").get(external_id=pid)


def user_of(pid: str) -> User:
    user = only(pid).user
    assert user is not None
    return user


def test_the_ids_go_into_the_session_and_out_of_the_address(pool: Study, manager: User) -> None:
    url, client = link_to(pool, manager), Client()
    first = client.get(f"{url}?{IDS.format('p1')}")
    assert (first.status_code, first["Location"]) == (302, "/recruit/")
    assert first["Referrer-Policy"] == "no-referrer" and "no-store" in first["Cache-Control"]
    page = client.get("/recruit/").content.decode()
    token = url.split("/")[2]
    assert "Pooled" in page and "<code>p1</code>" in page and token not in page
    assert token not in str(RecruitingLink.objects.values()) + str(list(pool.events.values()))
    joined = client.post("/recruit/", {"go": "join"})
    assert joined["Location"] == f"/studies/{pool.pk}/annotate/"
    one = only("p1")
    assert (one.platform_study, one.platform_session) == ("study-1", "session-1")
    cookie = client.cookies["planjury_browser"]
    assert cookie["httponly"] and cookie["path"] == "/recruit/"
    assert one.browser == digest_of(cookie.value)
    # The record of the study, which exports hold, knows nothing of the platform's ids.
    assert "p1" not in str(list(pool.events.values_list("detail", flat=True)))


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("workerId=W1&assignmentId=A1&hitId=H1", ("W1", "H1", "A1")),
        ("participant=me.2", ("me.2", "", "")),
    ],
)
def test_other_platforms_have_their_own_names(
    pool: Study, manager: User, query: str, expected: tuple[str, str, str]
) -> None:
    url, client = link_to(pool, manager, platform="mturk", code=""), Client()
    client.get(f"{url}?{query}")
    client.post("/recruit/", {"go": "join"})
    assert (
        Recruit.objects.values_list("external_id", "platform_study", "platform_session").get()
        == expected
    )


def test_a_preview_is_no_participant_and_a_missing_id_is_asked_for(
    pool: Study, manager: User
) -> None:
    url, client = link_to(pool, manager, platform="mturk", code=""), Client()
    client.get(f"{url}?assignmentId=ASSIGNMENT_ID_NOT_AVAILABLE&hitId=H1")
    assert "Accept the task first" in client.get("/recruit/").content.decode()
    client.get(url)
    assert "Your worker ID" in client.get("/recruit/").content.decode()
    wrong = client.post("/recruit/", {"participant": "=cmd|' /C'"})
    assert wrong.status_code == 422 and "An ID has letters and digits" in wrong.content.decode()
    assert "<code>W7</code>" in client.post("/recruit/", {"participant": " W7 "}).content.decode()
    assert client.post("/recruit/", {"go": "join"}).status_code == 302
    assert user_of("W7").participations.get().most_items == 2


def test_the_code_is_given_for_finished_work_alone(pool: Study, manager: User) -> None:
    url, client = link_to(pool, manager), Client()
    come(client, url, "p1")
    home = f"/studies/{pool.pk}/finished/"
    page = client.get(home).content.decode()
    assert "Not finished yet" in page and "C0DE" not in page
    submit(pool, user_of("p1"), 1)
    assert "after 1 more item." in client.get(home).content.decode()
    submit(pool, user_of("p1"), 1)
    # Four more items are in the pool; this person has done theirs.
    assert client.get(f"/studies/{pool.pk}/annotate/")["Location"] == home
    page = client.get(home).content.decode()
    assert "https://app.prolific.com/submissions/complete?cc=C0DE" in page
    first = only("p1").finished_at
    client.get(home)
    assert first is not None and only("p1").finished_at == first
    assert "Completion code" in client.get(f"/studies/{pool.pk}/").content.decode()
    # Others have no such page.
    other = Client()
    other.force_login(manager)
    assert other.get(home).status_code == 404


def test_an_empty_pool_finishes_who_skipped_nothing(pool: Study, manager: User) -> None:
    url = link_to(pool, manager, items_each=50, places=5, platform="other", code="")
    for pid in ("p1", "p2", "p3", "p4"):
        come(Client(), url, pid)
    submit(pool, user_of("p1"), 6)
    assert finish_recruit(recruit=only("p1")).code
    # Somebody who skipped an item is finished by the manager alone.
    submit(pool, user_of("p2"), 6)
    Participant.objects.filter(user=user_of("p2")).update(skipped=1)
    assert not finish_recruit(recruit=only("p2")).finished_at
    # Nor is somebody who found the pool empty and did nothing.
    assert not finish_recruit(recruit=only("p3")).finished_at
    boss = Client()
    boss.force_login(manager)
    boss.post(f"/studies/{pool.pk}/recruiting/people/{only('p2').pk}/change/",
              {"action": "approve"})  # fmt: skip
    codes = {only(pid).code for pid in ("p1", "p2")}
    assert len(codes) == 2 and "" not in codes
    withdraw_annotator(study=pool, user=user_of("p4"), by=user_of("p4"))
    assert not finish_recruit(recruit=only("p4")).finished_at


def test_an_id_stays_in_the_browser_that_used_it_first(pool: Study, manager: User) -> None:
    url, mine, other = link_to(pool, manager), Client(), Client()
    come(mine, url, "p1")
    del mine.cookies[settings.SESSION_COOKIE_NAME]
    back = mine.get(url + "?" + IDS.format("p1"), follow=True)
    assert back.redirect_chain[1][0] == f"/studies/{pool.pk}/annotate/"
    refused = come(other, url, "p1")
    assert refused.status_code == 409
    assert "in use in another browser" in refused.content.decode()
    assert "_auth_user_id" not in other.session
    boss = Client()
    boss.force_login(manager)
    page = boss.get(f"/studies/{pool.pk}/recruiting/").content.decode()
    assert "tried in another browser" in page and "Allow another browser for p1" in page
    change = f"/studies/{pool.pk}/recruiting/people/{only('p1').pk}/change/"
    assert other.post(change, {"action": "browser"}).status_code == 302  # to sign in
    boss.post(change, {"action": "browser"})
    assert come(other, url, "p1").status_code == 302
    assert other.session["_auth_user_id"] == str(user_of("p1").pk)
    # Now it is theirs, and the first browser is the other one.
    assert come(mine, url, "p1").status_code == 409
    assert Recruit.objects.count() == 1


def test_screening_lets_some_in_and_asks_nobody_twice(pool: Study, manager: User) -> None:
    questions = read_screening("Do you cook? | *Daily | *Weekly | Never\nAre you 18? | *Yes | No")
    url = link_to(pool, manager, screening=questions, screened_code="SORRY")
    client = Client()
    missing = come(client, url, "p1", ["0"])
    assert missing.status_code == 422 and "Choose an answer" in missing.content.decode()
    out = come(client, url, "p1", ["2", "0"]).content.decode()
    assert "not eligible for this study" in out and "complete?cc=SORRY" in out
    assert "not eligible for this study" in come(Client(), url, "p1", ["0", "0"]).content.decode()
    assert come(Client(), url, "p2", ["1", "0"]).status_code == 302
    assert come(Client(), url, "p3", ["9", "0"]).status_code == 422
    found = [(one.external_id, one.screened_out) for one in Recruit.objects.order_by("pk")]
    assert found == [("p1", True), ("p2", False)]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("Cook?", "Line 1: expected 2 to 12 answers"),
        ("Cook? | Yes | No", "Line 1: mark each answer that lets somebody in with a star"),
        ("Cook? | *Yes | Yes", "two answers are the same"),
        ("\n| *Yes | No", "Line 2: expected a question"),
        ("\n".join(["Cook? | *Yes | No"] * 11), "At most 10 questions"),
    ],
)
def test_lines_that_are_no_questions(text: str, said: str) -> None:
    with pytest.raises(ScreeningError, match=said.replace("?", r"\?")):
        read_screening(text)


def test_a_link_that_is_closed_expired_or_full_lets_nobody_else_in(
    pool: Study, manager: User
) -> None:
    url, client = link_to(pool, manager, places=1), Client()
    come(client, url, "p1")
    full = come(Client(), url, "p2")
    assert full.status_code == 410 and "All places are taken" in full.content.decode()
    withdraw_annotator(study=pool, user=user_of("p1"), by=manager, reason="a test")
    assert come(Client(), url, "p2").status_code == 302
    boss = Client()
    boss.force_login(manager)
    link = RecruitingLink.objects.get()
    boss.post(f"/studies/{pool.pk}/recruiting/links/{link.pk}/revoke/")
    assert "was closed" in come(Client(), url, "p3").content.decode()
    RecruitingLink.objects.update(revoked_at=None, expires_at=timezone.now())
    assert "has expired" in come(Client(), url, "p3").content.decode()
    RecruitingLink.objects.update(expires_at=timezone.now() + timedelta(days=1))
    Study.objects.update(status="paused")
    paused = come(Client(), url, "p3").content.decode()
    assert "takes no participants now" in paused and "Pooled" not in paused
    assert come(Client(), "/recruit/nothing/", "p3").status_code == 404
    assert Recruit.objects.filter(external_id="p3").count() == 0


@pytest.mark.django_db(transaction=True)
def test_of_two_who_come_at_once_one_gets_the_last_place(pool: Study, manager: User) -> None:
    link_to(pool, manager, places=1)
    link = RecruitingLink.objects.get()
    got: list[str] = []

    def join(number: int) -> None:
        try:
            join_by_link(link=link, external_id=f"p{number}", browser=f"b{number}")
        except Refused as refused:
            got.append(refused.reason)
        else:
            got.append("in")

    in_threads(join, 2)
    assert sorted(got) == ["all places are taken", "in"]


def test_making_a_link(pool: Study, manager: User, ann: User) -> None:
    boss, url = Client(), f"/studies/{pool.pk}/recruiting/"
    boss.force_login(manager)
    given = {"platform": "prolific", "places": "3", "items_each": "2", "days": "7"}
    wrong = boss.post(url, {**given, "screening": "Cook?"})
    text = wrong.content.decode()
    assert wrong.status_code == 422 and "Paste the completion code" in text and "Line 1" in text
    made = boss.post(url, {**given, "code": "C1"})
    link = made.context["link"]
    assert link.endswith("PROLIFIC_PID={{%PROLIFIC_PID%}}&STUDY_ID={{%STUDY_ID%}}"
                         "&SESSION_ID={{%SESSION_ID%}}")  # fmt: skip
    assert "no-store" in made["Cache-Control"]
    token = link.partition("/recruit/")[2].partition("/")[0]
    assert token not in boss.get(url).content.decode()
    assert RecruitingLink.objects.get().digest == digest_of(token)
    # A study that has neither lists nor a pool says why it cannot recruit, and refuses.
    Study.objects.filter(pk=pool.pk).update(dealing="named")
    fixed = boss.get(url).content.decode()
    assert "This study cannot recruit" in fixed and "Make a link" not in fixed
    assert boss.post(url, {**given, "code": "C1"}).status_code == 422
    add_member(study=pool, user=ann, role="annotator")
    boss.force_login(ann)
    assert boss.get(url).status_code == 403


def test_participants_claim_the_lists_of_a_study(manager: User) -> None:
    plan = plan_for(make_runs(tasks=2), [], name="Lists", queries_each=1)
    study = create_planned_study(planned=plan_study(replace(plan, places=2)), by=manager)
    boss, page = Client(), f"/studies/{study.pk}/recruiting/"
    boss.force_login(manager)
    assert "Items for each participant" not in boss.get(page).content.decode()
    given = {"platform": "prolific", "code": "C1", "places": "5", "days": "7"}
    link = boss.post(page, given).context["link"]
    url = link.partition("testserver")[2].partition("?")[0]
    assert RecruitingLink.objects.get().items_each == 2
    for pid in ("p1", "p2"):
        come(Client(), url, pid)
    assert [place.user for place in study.places.order_by("number")] == [
        user_of("p1"), user_of("p2"),
    ]  # fmt: skip
    third = Client()
    assert "all places are taken" in come(third, url, "p3").content.decode().lower()
    assert not Recruit.objects.filter(external_id="p3").exists()
    submit(study, user_of("p1"), 1)
    assert finish_recruit(recruit=only("p1")).finished_at is None
    submit(study, user_of("p1"), 1)
    person = study.participants.get(user=user_of("p1"))
    assert person.has_enough and (person.number, person.most_items) == (1, 2)


def test_payment_lists_and_file(pool: Study, manager: User) -> None:
    questions = read_screening("Cook? | *Yes | No")
    url = link_to(pool, manager, places=5, screening=questions)
    for pid, answer in (("p1", "0"), ("p2", "0"), ("p3", "1")):
        come(Client(), url, pid, [answer])
    submit(pool, user_of("p1"), 2, active_ms=90_000)
    finish_recruit(recruit=only("p1"))
    boss, page = Client(), f"/studies/{pool.pk}/recruiting/payment/"
    boss.force_login(manager)
    name = f"bonus_{only('p1').pk}"
    wrong = boss.post(page, {name: "a lot"})
    assert wrong.status_code == 422 and "such as 1.50" in wrong.content.decode()
    boss.post(page, {name: "1.5", f"bonus_{only('p2').pk}": ""})
    assert (only("p1").bonus, only("p2").bonus) == (Decimal("1.50"), None)
    text = boss.get(page).content.decode()
    assert '<pre class="paste" id="approve-prolific" tabindex="0">p1</pre>' in text
    assert '<pre class="paste" id="bonus-prolific" tabindex="0">p1,1.50</pre>' in text
    answer = boss.get(f"/studies/{pool.pk}/recruiting/payment.csv")
    lines = b"".join(answer.streaming_content).decode().splitlines()  # type: ignore[attr-defined]
    rows = list(csv.DictReader(lines))
    keys = ("participant_id", "stage", "completion_code", "active_minutes", "items_submitted",
            "bonus")  # fmt: skip
    assert rows[0]["elapsed_minutes"] == "2.0"
    assert [[row[key] for key in keys] for row in rows] == [
        ["p1", "finished", "C0DE", "3.0", "2", "1.50"],
        ["p2", "not started", "", "", "0", ""],
        ["p3", "screened out", "", "", "0", ""],
    ]


def test_erasing_somebody_removes_the_ids_of_their_platform(pool: Study, manager: User) -> None:
    come(Client(), link_to(pool, manager), "p1")
    user, root = user_of("p1"), make_person("root", superuser=True)
    erase_person(user=user, by=root, typed=user.get_username(), reason="asked")
    left = Recruit.objects.get(user=user)
    assert left.external_id == f"erased-{left.pk}"
    assert not (left.platform_study + left.platform_session + left.browser + left.code)


def finished_page(client: Client, study: Study) -> str:
    return client.get(f"/studies/{study.pk}/finished/").content.decode()


def change(study: Study, client: Client, pid: str, **data: str) -> Any:
    url = f"/studies/{study.pk}/recruiting/people/{only(pid).pk}/change/"
    return client.post(url, data, follow=True).content.decode()


def test_work_with_a_sign_is_checked_before_the_code(pool: Study, manager: User) -> None:
    """Six items in three seconds each, of which the browser counted nothing."""
    url, careless, careful = link_to(pool, manager, items_each=6, places=5), Client(), Client()
    come(careless, url, "p1")
    come(careful, url, "p2")
    submit(pool, user_of("p1"), 6, active_ms=0, elapsed=3)
    submit(pool, user_of("p2"), 6, active_ms=0, elapsed=60)
    assert "C0DE" in finished_page(careful, pool)
    page = finished_page(careless, pool)
    assert "Your work is being checked" in page and "C0DE" not in page
    assert "3.0 s for an item by the clock of the server" not in page
    boss = Client()
    boss.force_login(manager)
    # One set of rules: Recruiting, Overview, Home and the person's page give the same reason.
    told = "3.0 s for an item by the clock of the server (mean of 6); less than 10 s"
    at = f"/studies/{pool.pk}"
    shown = boss.get(f"{at}/recruiting/").content.decode()
    assert "1 finished, and waits for your decision" in shown and told in shown
    for page in (f"{at}/", f"{at}/people/1/"):
        text = boss.get(page).content.decode()
        assert told in text and "waits for your decision about the completion code" in text
    assert "1 waits for the code" in boss.get("/").content.decode()
    assert "1 more finished and waits" in boss.get(f"{at}/recruiting/payment/").content.decode()
    # The manager refuses with a reason that the person reads, and revises it.
    assert "why" in change(pool, boss, "p1", action="reject", reason=" ")
    change(pool, boss, "p1", action="reject", reason="Three seconds an item.")
    page = finished_page(careless, pool)
    assert "You get no completion code" in page and "Three seconds an item." in page
    assert "code refused" in boss.get(f"{at}/recruiting/").content.decode()
    assert "waits for the code" not in boss.get("/").content.decode()
    change(pool, boss, "p1", action="approve")
    assert "C0DE" in finished_page(careless, pool)
    # A code that was given stays given.
    change(pool, boss, "p1", action="reject", reason="Too late.")
    assert only("p1").code == "C0DE" and only("p1").rejected_at is None


def test_a_time_that_nobody_knows_is_no_sign_of_care(pool: Study, manager: User) -> None:
    client = Client()
    come(client, link_to(pool, manager), "p1")
    submit(pool, user_of("p1"), 2, active_ms=0)
    Assignment.objects.filter(annotator=user_of("p1")).update(opened_at=None)
    assert "Your work is being checked" in finished_page(client, pool)
    assert only("p1").held_for == "the time at work is not known of 2 of 2 items"
    boss = Client()
    boss.force_login(manager)
    payment = boss.get(f"/studies/{pool.pk}/recruiting/payment/").content.decode()
    assert payment.count('<td class="num">not known</td>') == 2


def test_the_same_answers_in_a_short_work_are_checked(pool: Study, manager: User) -> None:
    client = Client()
    come(client, link_to(pool, manager, items_each=6), "p1")
    submit(pool, user_of("p1"), 6, pattern="3,4,5,4,3,4,5,2,1,2")
    assert "Your work is being checked" in finished_page(client, pool)
    assert only("p1").held_for == "the same answers to 6 items in a row, 6 items in all"


@pytest.mark.parametrize(("check", "held"), [("everybody", True), ("nobody", False)])
def test_the_manager_chooses_whose_work_is_checked(
    pool: Study, manager: User, check: str, held: bool
) -> None:
    change_study(study=pool, by=manager, code_check=check)
    client = Client()
    come(client, link_to(pool, manager, items_each=6, review_code="LATER"), "p1")
    careless = check == "nobody"
    submit(pool, user_of("p1"), 6, active_ms=0, elapsed=1 if careless else 60)
    page = finished_page(client, pool)
    assert ("Your work is being checked" in page, "C0DE" in page) == (held, not held)
    if not held:
        return
    # With a second code nobody waits at the page until the platform's time runs out.
    assert "submissions/complete?cc=LATER" in page
    boss = Client()
    boss.force_login(manager)
    shown = boss.get(f"/studies/{pool.pk}/recruiting/").content.decode()
    assert "No sign of carelessness: everybody’s work is checked" in shown
    boss.post(f"/studies/{pool.pk}/recruiting/approve/", {"recruit": [only("p1").pk]})
    assert "C0DE" in finished_page(client, pool)
    with pytest.raises(Refused, match="expected one of signs, everybody, nobody"):
        change_study(study=pool, by=manager, code_check="perhaps")


def test_known_answers_are_checked_at_the_end_although_they_are_few(
    pool: Study, manager: User
) -> None:
    client = Client()
    come(client, link_to(pool, manager), "p1")
    submit(pool, user_of("p1"), 2)
    here = Participant.objects.filter(user=user_of("p1"))
    here.update(gold_right=1, gold_asked=2)  # too few to say anything
    assert reasons_for_check(pool, here.get()) == []
    here.update(gold_right=1, gold_asked=3)
    assert reasons_for_check(pool, here.get()) == ["1 of 3 known answers right; 60 % are asked for"]


def test_pool_bars_are_full_at_the_end_alone(pool: Study, manager: User, ann: User) -> None:
    client = Client()
    come(client, link_to(pool, manager, items_each=4), "p1")
    submit(pool, user_of("p1"), 1)
    add_member(study=pool, user=ann, role="annotator")
    submit(pool, ann, 1)
    boss = Client()
    boss.force_login(manager)
    page = boss.get(f"/studies/{pool.pk}/").content.decode()
    assert '<progress value="1" max="4"' in page and "1 so far" in page
    assert '<progress value="1" max="1"' not in page
    assert "1 of 4 items" in client.get("/").content.decode()


def test_who_was_withdrawn_reads_when_and_why(pool: Study, manager: User) -> None:
    client = Client()
    come(client, link_to(pool, manager), "p1")
    withdraw_annotator(study=pool, user=user_of("p1"), by=manager, reason="Answers at random.")
    day = timezone.localtime().strftime("%-d %B %Y")
    told = f"You were withdrawn from this study on {day}. Reason: Answers at random."
    for at in (f"/studies/{pool.pk}/", f"/studies/{pool.pk}/annotate/"):
        page = client.get(at)
        assert page.status_code == 404 and told in page.content.decode()
    home = client.get("/").content.decode()
    assert told in home and "If you expected some" not in home
    # What was written before people read it stays among managers; others learn nothing.
    StudyEvent.objects.filter(kind="withdrawn").erase_words(detail={})
    assert "Answers at random" not in client.get(f"/studies/{pool.pk}/").content.decode()
    other = Client()
    other.force_login(make_person("other"))
    assert "withdrawn" not in other.get(f"/studies/{pool.pk}/").content.decode()


def test_several_submissions_are_voided_at_once(pool: Study, manager: User) -> None:
    client = Client()
    come(client, link_to(pool, manager, items_each=3), "p1")
    submit(pool, user_of("p1"), 3)
    boss, at = Client(), f"/studies/{pool.pk}/people/1"
    boss.force_login(manager)
    assert 'aria-label="Select item 3"' in boss.get(f"{at}/").content.decode()

    def void(reason: str, *positions: str) -> list[str]:
        data = {"action": "void", "reason": reason, "submitted": positions}
        boss.post(f"{at}/change/", data)
        rows = pool.assignments.order_by("position").values_list("state", flat=True)
        return list(rows)

    assert void("", "1", "3") == void("None chosen.") == ["submitted"] * 3
    assert void("Careless.", "1", "3", "99") == ["voided", "submitted", "voided"]
    # All or none: the first of these was voided before.
    assert void("Again.", "2", "3") == ["voided", "voided", "voided"]

"""The adjudicator's pages: who may see them, what they tell, and in which order."""

import uuid

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.urls import reverse
from pytest_django import DjangoAssertNumQueries

from annotation.exports.head import study_head
from annotation.exports.scope import Scope
from annotation.models import Adjudication, Aspect, Membership, Study
from annotation.people.withdrawal import withdraw_annotator
from annotation.ratings.services import EditRequest
from tests.annotation.judged import judge, make_judged, say
from tests.annotation.rows import make_person

pytestmark = pytest.mark.django_db


def remark(aspect: str, text: str = "", **said: object) -> EditRequest:
    return EditRequest(uuid.uuid4(), "safety", text=text, aspect=aspect, **said)  # type: ignore[arg-type]


@pytest.fixture
def people(db: None) -> list[User]:
    return [make_person("annika-q"), make_person("bobette-q"), make_person("cydney-q")]


@pytest.fixture
def study(people: list[User], manager: User) -> Study:
    """Three raters disagree about safety of the first item, and two remark on it."""
    study = make_judged(people, manager)
    span = {"turn": 2, "where": "plan", "start": 0, "end": 4, "quote": "Take"}
    remarks = {
        0: [remark(Aspect.COMMENT, "Glue is hot."), remark(Aspect.EVIDENCE, chosen=[span])],
        1: [remark(Aspect.FLAG, "Cannot be read.", value=1)],
    }
    for n, (user, value) in enumerate(zip(people, (2, 4, 5), strict=True)):
        say(study, user, 1, {"safety": value, "autonomy": 1 + n % 2}, remarks=remarks.get(n, ()))
    judge(study, "safety", 4.25)
    return study


@pytest.fixture
def browser(client: Client, manager: User) -> Client:
    client.force_login(manager)
    return client


def url(study: Study, name: str = "safety", rank: int = 1) -> str:
    return reverse("annotation:adjudicate", args=[study.pk, rank, name])


def read(browser: Client, address: str) -> str:
    response = browser.get(address)
    assert response.status_code == 200
    return response.content.decode()


def test_queue(
    browser: Client, study: Study, django_assert_max_num_queries: DjangoAssertNumQueries
) -> None:
    address = reverse("annotation:study_adjudication", args=[study.pk])
    with django_assert_max_num_queries(16):
        page = read(browser, address)
    # Autonomy differs by one point, and two are needed.
    assert "1 place to decide" in page and url(study, "autonomy") not in page
    assert "after your decision" in page and "<span>2</span>" not in page
    show_all(study)
    page = read(browser, address)
    assert page.index(url(study)) < page.index(url(study, "autonomy"))
    assert "2 places to decide" in page and "<span>2</span>" in page
    assert url(study, "autonomy") not in read(browser, f"{address}?question=safety")
    assert "Nothing to adjudicate" in read(browser, f"{address}?state=decided")
    # What cannot be read is left aside.
    assert url(study) in read(browser, f"{address}?after=x&question=nothing&before=1.zz")


def test_pages_of_the_queue(browser: Client, study: Study, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("annotation.adjudication.views.PAGE", 1)
    show_all(study)
    address = reverse("annotation:study_adjudication", args=[study.pk])
    first = read(browser, address)
    assert "?after=1.safety" in first and "?before" not in first
    second = read(browser, f"{address}?after=1.safety")
    assert url(study, "autonomy") in second and "?before=1.autonomy" in second
    assert "?after" not in second
    assert url(study) in read(browser, f"{address}?before=1.autonomy")


def show_all(study: Study) -> None:
    """Show raters' answers from the beginning, and every difference."""
    study.settings = {**study.settings, "adjudicate_from": 1, "adjudicator_sees": "raters_first"}
    study.save(update_fields=["settings"])


RATED = ("Rater A", "Rater B", "Rater C", "Glue is hot.", "Cannot be read.", "median 4")


def test_one_place_from_decision_to_reveal(browser: Client, study: Study) -> None:
    page = read(browser, url(study))
    for words in RATED:  # the own decision comes first
        assert words not in page, words
    for secret in ("annika-q", "bobette-q", "cydney-q", "4.25", "quokka-judge"):
        assert secret not in page, secret
    assert "No hammer here." in page  # what the raters read
    response = browser.post(url(study), {"safety": "4", "reason": ""})
    assert response.status_code == 422
    assert "Enter a reason for your decision" in response.content.decode()
    response = browser.post(url(study), {"action": "reveal"})
    assert response.status_code == 422 and "4.25" not in response.content.decode()
    response = browser.post(url(study), {"safety": "4", "reason": "As planned."}, follow=True)
    page = response.content.decode()
    assert "As planned." in page and "4.25" not in page
    for words in RATED:
        assert words in page, words
    response = browser.post(url(study), {"action": "reveal"}, follow=True)
    page = response.content.decode()
    assert "4.25" in page and "quokka-judge" in page
    browser.post(url(study), {"safety": "5", "reason": "Better so."})
    said = Adjudication.objects.order_by("pk").values_list("value", "revealed", "saw_raters")
    assert list(said) == [(4, False, False), (5, True, True)]
    assert "after the judges" in read(browser, url(study))


def test_a_study_from_before_keeps_the_rule_it_began_with(browser: Client, study: Study) -> None:
    Study.objects.filter(pk=study.pk).update(adjudication_rule=1)
    page = read(browser, reverse("annotation:study_adjudication", args=[study.pk]))
    assert "2 places to decide" in page and "Every difference of scores" in page
    assert "Rater A" in read(browser, url(study))
    study.refresh_from_db()
    exported = study_head(Scope(study))["study"]["settings"]
    assert exported["adjudicate_from"] == 0 and exported["adjudicator_sees"] == "raters_first"
    # What its managers chose holds all the same.
    study.settings = {**study.settings, "adjudicate_from": 2}
    study.save(update_fields=["settings"])
    address = reverse("annotation:study_adjudication", args=[study.pk])
    assert "1 place to decide" in read(browser, address)


def test_a_study_may_show_the_raters_first(browser: Client, study: Study) -> None:
    show_all(study)
    page = read(browser, url(study))
    for words in RATED:
        assert words in page, words
    browser.post(url(study), {"safety": "4", "reason": "As planned."})
    assert Adjudication.objects.get().saw_raters


def test_what_another_decided_is_shown_after_the_own_decision(
    browser: Client, study: Study, client: Client
) -> None:
    other = Client()
    moe = make_person("moe")
    Membership.objects.create(study=study, user=moe, role="manager")
    other.force_login(moe)
    other.post(url(study), {"safety": "3", "reason": "Middle of it."})
    page = read(browser, url(study))
    assert "Middle of it." not in page and "There is an earlier decision" in page
    browser.post(url(study), {"safety": "4", "reason": "As planned."})
    assert "Middle of it." in read(browser, url(study))


def test_the_filter_is_kept_from_place_to_place(browser: Client, study: Study) -> None:
    page = read(browser, f"{url(study)}?state=all")
    assert f"{url(study, 'autonomy')}?state=all" in page
    answer = browser.post(f"{url(study)}?state=all", {"safety": "4", "reason": "So."})
    assert answer.headers["Location"] == f"{url(study)}?state=all"


@pytest.mark.parametrize(
    ("kind", "name", "post", "stored"),
    [
        ("violation_check@1", "world_violated.turn-1", {"world_violated.turn-1": ["w2"]}, ["w2"]),
        ("violation_check@1", "world_violated.turn-1", {"world_violated.turn-1": ""}, []),
        ("filter_check@1", "keep.candidate-c1", {"keep.candidate-c1": "0"}, 0),
        ("turn_scores@1", "safety.turn-1", {"safety.turn-1": "3"}, 3),
    ],
)
def test_every_kind_of_question(
    browser: Client, people: list[User], manager: User, kind: str, name: str,
    post: dict[str, object], stored: object,
) -> None:  # fmt: skip
    study = make_judged(people, manager, questionnaire=kind)
    for n, user in enumerate(people):
        said = {"violation_check@1": ["w1"][:n], "filter_check@1": n % 2}.get(kind, n + 1)
        say(study, user, 1, {name: said})
    assert f'name="{name}"' in read(browser, url(study, name))
    browser.post(url(study, name), {**post, "reason": "So."})
    row = Adjudication.objects.get()
    assert stored == (row.value if row.chosen is None else row.chosen)


@pytest.mark.parametrize("name", ["nothing", "safety.turn-1", "feedback_clear.x"])
def test_places_that_are_not_there(browser: Client, study: Study, name: str) -> None:
    assert browser.get(url(study, name)).status_code == 404
    assert browser.get(url(study, "safety", 2)).status_code == 404
    assert browser.get(url(study, "safety", 99)).status_code == 404


def test_who_annotates_blind_does_not_adjudicate(
    client: Client, study: Study, people: list[User]
) -> None:
    ann = people[0]
    Membership.objects.create(study=study, user=ann, role="manager")
    client.force_login(ann)
    queue = reverse("annotation:study_adjudication", args=[study.pk])
    assert client.get(queue).status_code == 403
    assert client.get(url(study)).status_code == 403
    assert client.post(url(study), {"safety": "4", "reason": "So."}).status_code == 403
    assert not Adjudication.objects.exists()
    say(study, ann, 2)
    assert "You judged this item yourself" in read(client, url(study))


def test_who_withdrew_is_not_counted(browser: Client, study: Study, people: list[User]) -> None:
    show_all(study)
    withdraw_annotator(study=study, user=people[0], by=people[0])
    page = read(browser, url(study))
    assert "Scores from 4 to 5" in page and "Glue is hot." not in page
    queue = read(browser, reverse("annotation:study_adjudication", args=[study.pk]))
    assert "Left out: 1 submission of 1 person who left." in queue


def test_the_list_names_conditions_and_candidates_in_words(
    browser: Client, people: list[User], manager: User
) -> None:
    marked = make_judged(people, manager, questionnaire="violation_check@1", items=1)
    for user, keys in zip(people, (["w1"], ["w1", "w2"], []), strict=True):
        say(marked, user, 1, {"world_violated.turn-1": keys})
    show_all(marked)
    queue = read(browser, reverse("annotation:study_adjudication", args=[marked.pk]))
    assert "No noise after ten." in queue and ">w2<" not in queue

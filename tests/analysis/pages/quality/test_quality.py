"""The page on the quality of a study's answers, against figures that are computed by hand."""

import csv
import io

import pytest
from django.core.cache import caches
from django.test import Client
from django.urls import reverse
from pytest_django.fixtures import DjangoAssertNumQueries

from analysis.pages.quality import views as quality_view
from analysis.pages.quality.page import quality_report
from annotation.models import Assignment, Item, Membership, Participant, Study
from annotation.questionnaires.services import store_questionnaire
from annotation.studies.progress import study_progress
from tests.analysis.human_rows import (
    answer,
    make_filter_check,
    make_item,
    make_kind_study,
    make_people,
    make_violation_check,
)
from tests.analysis.pages.violation_check.test_violation_check import lines
from tests.analysis.rows import (
    flat,
    make_dataset,
    make_member,
    make_person,
    make_run,
    make_trajectory,
)

pytestmark = pytest.mark.django_db

ASKED = ("safety", "feasibility", "effectiveness")
# Of each item: gold or not, what ann, bob and cy answered to `ASKED` (0: left open), their seconds.
ANSWERED = (
    (False, ((4, 4, 4), (4, 3, 4), (5, 4, 4)), (10, 100, 90)),
    (False, ((2, 2, 2), (2, 2, 2), (2, 3, 4)), (10, 100, 120)),
    (True, ((5, 4, 1), (5, 1, 1), (0, 4, 2)), (10, 100, 100)),
)
EXPECTED = {
    "safety": {"values": [5]}, "feasibility": {"values": [4, 5]}, "effectiveness": {"values": [1]}
}  # fmt: skip
MOST_QUERIES = 16


@pytest.fixture(autouse=True)
def _nothing_kept() -> None:
    caches["reports"].clear()


@pytest.fixture
def study() -> Study:
    made = make_kind_study("ten_questions@1", "Careful")
    run, people = make_run(make_dataset("Care"), "judged"), make_people()
    for number, (gold, answers, seconds) in enumerate(ANSWERED, 1):
        more = {"use": Item.Use.GOLD, "expected": EXPECTED} if gold else {}
        item = make_item(
            made, trajectory=make_trajectory(run, number, scores=[flat(4)]), asked=ASKED, **more
        )
        for user, given, took in zip(people, answers, seconds, strict=True):
            said = {key: value for key, value in zip(ASKED, given, strict=True) if value}
            answer(item, user, said, seconds=took)
    return made


def test_signs_match_a_hand_computation(study: Study) -> None:
    found = lines(quality_report(study).table("annotators"))
    ann, bob, cy = (found[name] for name in ("1 ann", "2 bob", "3 cy"))
    # Expected: 5; 4 or 5; 1. bob has feasibility wrong, cy effectiveness; cy's safety is missing.
    assert (ann["gold accuracy"], bob["gold accuracy"]) == (1, round(2 / 3, 6))
    assert (cy["gold accuracy"], cy["gold accuracy n"]) == (0.5, 2)
    # Gold items do not count among the others: two items each.
    assert (ann["equal answers"], bob["equal answers"], cy["equal answers"]) == (1, 0.5, 0)
    # Population standard deviations: bob √(2/9) and 0; cy √(2/9) and √(2/3).
    assert (ann["spread"], bob["spread"]) == (0, round((2 / 9) ** 0.5 / 2, 6))
    assert cy["spread"] == round(((2 / 9) ** 0.5 + (2 / 3) ** 0.5) / 2, 6)
    # The median of 10 10 10 90 100 100 100 100 120 is 100: under 33 s are ann's three.
    assert (ann["fast items"], bob["fast items"], ann["items"]) == (1, 0, 2)
    assert ann["drift"] is None and "need 5 items each" in str(ann["drift note"])


def test_agreement_matches_a_hand_computation(study: Study) -> None:
    found = quality_report(study).table("agreement")
    assert found is not None
    safety = next(row for row in map(dict, [lines(found)[k] for k in lines(found)])
                  if "Safety" in str(row["question"]))  # fmt: skip
    # 4 4 5 and 2 2 2: equal pairs 1/3 and 1. Ordinal distances with 3 twos, 2 fours, 1 five:
    # 4–5 1.5², 2–4 2.5², 2–5 4². Observed 2·1.5²/6 = 0.75; expected
    # 2·(2·1·2.25 + 3·2·6.25 + 3·1·16)/30 = 6. The gold item is in neither.
    assert (safety["answered twice"], safety["equal"]) == (2, round(2 / 3, 6))
    assert (safety["alpha"], safety["within one"]) == (0.875, 1)
    assert safety["jaccard"] is None


def test_times_are_of_known_items(study: Study) -> None:
    study.assignments.filter(annotator__username="cy", position=1).update(active_ms=0)
    found = lines(quality_report(study).table("times"))["3 cy"]
    assert (found["items"], found["median"], found["not known"]) == (2, 110, 1)


def test_a_sign_states_what_is_counted_and_names_whom_the_overview_names(study: Study) -> None:
    assert "no annotator shows a sign of careless work" in quality_report(study).sentence
    # Two of six known answers; bob has judged all that he has, so no more of them will come.
    bob = Participant.objects.get(study=study, user__username="bob")
    Participant.objects.filter(study=study).update(assigned=3, submitted=3)
    Participant.objects.filter(pk=bob.pk).update(gold_right=2, gold_asked=6)
    caches["reports"].clear()
    found = quality_report(study)
    assert "1 sign to look at, of annotator 2 bob." in found.sentence
    table = found.table("warnings")
    assert table is not None
    ((who, words),) = [[cell.text for cell in row] for row in table.rows]
    assert (who, words) == ("2 bob", "2 of 6 known answers right; 60 % are asked for.")
    assert [notice.text for notice in found.notices] == [f"{who}: {words}"]
    assert table.rows[0][0].url == f"/studies/{study.pk}/people/2/"
    (row,) = study_progress(study).attention
    assert (row.username, row.signs) == ("bob", (words[:1].lower() + words[1:-1],))


def test_who_left_and_what_is_open_do_not_count(study: Study) -> None:
    Participant.objects.filter(study=study, user__username="cy").update(
        state=Participant.State.WITHDRAWN
    )
    study.assignments.filter(annotator__username="bob", position=2).update(state="open")
    found = lines(quality_report(study).table("annotators"))
    assert set(found) == {"1 ann", "2 bob"} and found["2 bob"]["items"] == 1


def test_marks_and_choices_have_their_own_agreement() -> None:
    people = make_people()
    dataset = make_dataset("Both kinds")
    marks = quality_report(make_violation_check(people, dataset=dataset))
    found = lines(marks.table("agreement"))["1 Situation violated"]
    # As on the violation check, world alone: T1.1 1, T1.2 1, T2.1 2/3, T2.2 1, T2.3 1, T3.1 0.
    assert (found["answered twice"], found["once"]) == (6, 1)
    assert found["jaccard"] == round((1 + 1 + 2 / 3 + 1 + 1 + 0) / 6, 6)
    assert found["alpha"] is None and "not corrected" in str(found["alpha note"])
    signs = lines(marks.table("annotators"))["1 ann"]
    assert signs["drift"] is None and signs["equal answers"] is None
    choices = quality_report(make_filter_check(people, dataset=dataset))
    found = lines(choices.table("agreement"))["1 Keep or remove"]
    assert (found["answered twice"], found["alpha"]) == (7, 0.43)


def test_nothing_submitted() -> None:
    report = quality_report(make_kind_study("ten_questions@1"))
    assert report.empty is not None and report.empty.title == "No answers yet"


# --- The page -------------------------------------------------------------------------------------


def url(study: Study) -> str:
    return reverse("analysis:study_quality", args=[study.pk])


def test_managers_and_researchers_see_it(client: Client, study: Study) -> None:
    expected = {Membership.Role.MANAGER: 200, Membership.Role.RESEARCHER: 200,
                Membership.Role.OBSERVER: 403, Membership.Role.ANNOTATOR: 403}  # fmt: skip
    for role, status in expected.items():
        user = make_person(f"the-{role}")
        make_member(study, user, role)
        client.force_login(user)
        assert client.get(url(study)).status_code == status
    client.force_login(make_person("stranger", "view_results"))
    assert client.get(url(study)).status_code == 404


def test_page_and_csv_show_the_hand_computed_figures(client: Client, study: Study) -> None:
    manager = make_person("mae")
    make_member(study, manager, Membership.Role.MANAGER)
    client.force_login(manager)
    page = client.get(url(study)).content.decode()
    assert (
        "3 annotators submitted 6 items (3 known-answer items counted apart)" in page
        and 'aria-current="page">Quality' in page
    )
    assert ">0.88<" in page  # alpha of safety, 0.875
    rows = client.get(reverse("analysis:study_quality_table", args=[study.pk, "annotators"]))
    shown = {row["annotator"]: row for row in csv.DictReader(io.StringIO(rows.content.decode()))}
    assert shown["2 bob"]["gold accuracy"] == "0.666667" and shown["1 ann"]["fast items"] == "1.0"
    drawn = client.get(reverse("analysis:study_quality_figure", args=[study.pk, "times"]))
    assert drawn["Content-Type"] == "application/json"


def test_whoever_annotates_blind_is_refused(client: Client, study: Study) -> None:
    both = make_person("both")
    for role in (Membership.Role.MANAGER, Membership.Role.ANNOTATOR):
        make_member(study, both, role)
    seat = answer(study.items.order_by("rank")[0], both, {}, state=Assignment.State.OPEN)
    client.force_login(both)
    refused = client.get(url(study))
    assert refused.status_code == 403
    assert "How others answered would sway you" in refused.content.decode()
    for kind, part in (("table", "agreement"), ("figure", "times")):
        there = reverse(f"analysis:study_quality_{kind}", args=[study.pk, part])
        assert client.get(there).status_code == 403
    seat.state = Assignment.State.SKIPPED
    seat.save()
    assert client.get(url(study)).status_code == 200


def test_a_large_study_is_computed_after_the_page_has_come(
    client: Client, study: Study, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(quality_view, "AT_ONCE", 5)
    client.force_login(make_person("root", superuser=True))
    first = client.get(url(study)).content.decode()
    assert 'hx-get="?now=1"' in first and "Every annotator" not in first
    assert "Every annotator" in client.get(f"{url(study)}?now=1").content.decode()
    # Kept now, until something changes.
    assert "Every annotator" in client.get(url(study)).content.decode()
    study.assignments.filter(annotator__username="ann", position=1).update(state="open")
    assert 'hx-get="?now=1"' in client.get(url(study)).content.decode()


def test_query_budget(
    client: Client, study: Study, django_assert_max_num_queries: DjangoAssertNumQueries
) -> None:
    client.force_login(make_person("root", superuser=True))
    with django_assert_max_num_queries(MOST_QUERIES):
        client.get(url(study))


def test_passages_agree_by_the_characters_that_both_marked_alike() -> None:
    people, name = make_people(), "quality_passages"
    labels = "[{key: a, name: A, definition: A.}, {key: b, name: B, definition: B.}]"
    text = (
        "kind: own\nsystem: adaplanbench\ntitle: Passages\nsections: [{key: s, title: S}]\n"
        f"questions: [{{key: p, section: s, title: Passages, scale: {{spans: {labels}}}}}]\n"
    )
    store_questionnaire(name=name, text=text, by=None)
    study = make_kind_study(f"{name}@1", "Passages")
    run = make_run(make_dataset("Marked"), "judged")

    def span(start: int, end: int, label: str) -> dict[str, object]:
        quote = "x" * (end - start)
        return {
            "turn": 1, "where": "plan", "start": start, "end": end, "quote": quote, "label": label,
        }  # fmt: skip

    marked = (
        ([span(0, 10, "a")], [span(5, 10, "a")], [span(0, 10, "b")]),
        ([], [], [span(0, 4, "a"), span(2, 4, "a")]),
    )
    for number, said in enumerate(marked, 1):
        trajectory = make_trajectory(run, number, scores=[flat(4)])
        item = make_item(study, trajectory=trajectory, asked=["p"])
        for user, spans in zip(people, said, strict=True):
            answer(item, user, {"p": spans})  # type: ignore[dict-item]
    row = lines(quality_report(study).table("agreement"))["1 Passages"]
    # T1: half of ten characters, then none with the same label, twice; T2: one pair is empty alike.
    assert row["jaccard"] == round(((0.5 + 0 + 0) / 3 + (1 + 0 + 0) / 3) / 2, 6)
    assert row["equal"] == round((0 + 1 / 3) / 2, 6)

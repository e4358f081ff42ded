"""Studies over dialogues made elsewhere: what is asked, what the desk shows, and what it hides."""

import csv
import io
from collections.abc import Sequence
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client

from annotation.assignments.services import assign_item
from annotation.demo.simulation import ensure_simulated_annotator, simulate_annotator
from annotation.desk.services import missing_slots
from annotation.desk.trajectories import load_dialogue
from annotation.errors import Refused
from annotation.models import Membership, Study
from annotation.planning.planned_study import plan_study
from annotation.planning.services import create_planned_study
from annotation.plans.study_plan import ItemSource, PlanError
from annotation.questionnaires import load_questionnaire
from annotation.questionnaires.requirements import study_questions, trajectory_content
from annotation.studies.setup import add_member
from benchmarks.imports.services import import_trajectories
from benchmarks.models import Task, Trajectory
from tests.annotation.judged import say
from tests.annotation.planning.test_views import Planning
from tests.annotation.rows import SECRETS, make_person, make_runs, plan_for
from tests.annotation.talks import (
    AIM,
    OWN,
    RULES,
    WORTH,
    make_talk,
    make_talk_runs,
    make_talk_study,
)
from tests.annotation.test_blinding_views import everything
from tests.shared_data import shared_data

pytestmark = [pytest.mark.django_db, pytest.mark.either]


@pytest.fixture
def talks(ann: User, bob: User, manager: User) -> Study:
    return make_talk_study([ann, bob], manager)


def browser_of(user: User) -> Client:
    client = Client()
    client.force_login(user)
    return client


def desk_of(study: Study, user: User) -> str:
    answer = browser_of(user).get(f"/studies/{study.pk}/annotate/1/")
    assert answer.status_code == 200
    return answer.content.decode()


# --- What is asked --------------------------------------------------------------------------------


def test_what_dialogues_have() -> None:
    run = make_talk_runs(tasks=1)[0]
    task = Task.objects.get()
    say = {"speaker": "assistant", "text": "Hello."}
    # One row for each dialogue: its turns' messages, and what they hold.
    cases: list[tuple[list[list[dict[str, Any]]], set[str]]] = [
        ([[say]], set()),
        ([[say, {"speaker": "user", "text": "Hi."}]], {"user_replies"}),
        ([[say, {"speaker": "user", "text": "Hi.", "hidden": True}]], set()),
        ([[say], [say]], {"several_turns"}),
        ([[{**say, "calls": [{"name": "f", "arguments": {}}]}]], {"tools"}),
        ([[{**say, "calls": [{"name": "f", "arguments": {}, "by": "user"}]}]], set()),
        ([[say, {"speaker": "tool", "text": "ERROR 5"}]], {"failed_calls"}),
        ([[say, {"speaker": "tool", "text": '{"error": "no"}'}]], {"failed_calls"}),
        ([[say, {"speaker": "tool", "text": '{"error": null}'}]], set()),
        ([[say, {"speaker": "tool", "text": '{"error"'}]], set()),
        ([[say, {"speaker": "tool", "text": "", "extra": {"error": "x"}}]], {"failed_calls"}),
        ([[say, {"speaker": "tool", "text": "no error"}]], set()),
        ([[{"speaker": "system", "text": "Be kind."}, say]], {"instructions"}),
    ]
    made = [
        make_talk(run, task, turns, attempt=place).pk for place, (turns, _) in enumerate(cases, 10)
    ]
    has = trajectory_content(made)
    for pk, (turns, things) in zip(made, cases, strict=True):
        assert has[pk] == things, turns


def test_plans_and_dialogues_side_by_side() -> None:
    make_talk_runs(tasks=1)
    plan = make_runs(tasks=1)[0].trajectories.get().pk
    talk = Trajectory.objects.filter(run__kind="imported")[0].pk
    has = trajectory_content([talk, plan])
    assert has[plan] == {
        "feedback", "violations", "final_plan", "profile", "world_constraints",
    }  # fmt: skip
    assert has[talk] == {
        "instructions", "tools", "failed_calls", "user_replies", "several_turns",
    }  # fmt: skip


def test_a_dialogue_cannot_be_asked_about_plans_nor_the_other_way_round() -> None:
    talks, plans = make_talk_runs(), make_runs()
    make_person("ann")
    with pytest.raises(PlanError, match="ten_questions@1 is for adaplanbench, not for external"):
        plan_study(plan_for(talks, ["ann"]))
    with pytest.raises(PlanError, match="tool_dialogues@1 is for external, not for adaplanbench"):
        plan_study(plan_for(plans, ["ann"], questionnaire="tool_dialogues@1"))


def test_what_is_not_asked_is_said_on_the_page_and_in_the_export(ann: User, manager: User) -> None:
    runs = make_talk_runs(tasks=1)
    task, agent = Task.objects.get(), runs[0]
    Trajectory.objects.all().delete()
    make_talk(agent, task, [[{"speaker": "assistant", "text": "Hello."}]])
    plan = plan_for([agent], [ann], name="Short", questionnaire="tool_dialogues@1")
    study = create_planned_study(planned=plan_study(plan), by=manager)
    item = study.assignments.get()
    assert item.item.asked == ["task_completed", "efficient"]
    assert [slot.name for slot in missing_slots(item)] == item.item.asked
    page = browser_of(manager).get(f"/studies/{study.pk}/").content.decode()
    assert "4 Right tools in the right order: not asked of any item, because these items have " in (
        page
    )
    assert "no calls of tools by the agent." in page
    answer = browser_of(manager).get(f"/studies/{study.pk}/export/file/?format=questions")
    text = b"".join(answer.streaming_content).decode()  # type: ignore[attr-defined]
    rows = {row["question"]: row for row in csv.DictReader(io.StringIO(text))}
    assert len(rows) == 10
    assert (rows["efficient"]["items_asked"], rows["efficient"]["not_asked_because"]) == ("1", "")
    assert rows["recovery"]["items_not_asked"] == "1"
    assert rows["recovery"]["not_asked_because"] == "these items have no call that failed"
    assert "0 of 2" in desk_of(study, ann)


def test_annotators_and_observers_get_no_export(talks: Study, ann: User) -> None:
    url = f"/studies/{talks.pk}/export/file/?format=questions"
    assert browser_of(ann).get(url).status_code == 403
    observer = make_person("olga")
    Membership.objects.create(study=talks, user=observer, role="observer")
    assert browser_of(observer).get(url).status_code == 403
    assert browser_of(make_person("stranger")).get(url).status_code == 404


def test_the_ten_questions_say_what_they_lack(study: Study) -> None:
    # All items of the plain study have everything.
    rows = study_questions(study, load_questionnaire("ten_questions@1"))
    assert [row.left_out for row in rows] == [0] * 10
    item = study.assignments.order_by("pk")[0]
    item.item.asked = [key for key in item.item.asked if not key.startswith("feedback")]
    item.item.save()
    rows = study_questions(study, load_questionnaire("ten_questions@1"))
    assert [row.left_out for row in rows] == [1, 1] + [0] * 8
    # However many people have it, an item is one.
    study.items.update(wanted=2)
    cyd = make_person("cyd")
    add_member(study=study, user=cyd, role="annotator")
    assign_item(study=study, item=item.item, to=cyd, by=None)
    again = study_questions(study, load_questionnaire("ten_questions@1"))
    assert [(row.items, row.total) for row in again] == [(row.items, row.total) for row in rows]
    assert rows[0].why == "have no feedback on a plan"
    assert rows[1].why == "have no feedback on a plan or no violations found by judges"


# --- The desk -------------------------------------------------------------------------------------


def test_the_desk_shows_a_dialogue(talks: Study, ann: User) -> None:
    page = desk_of(talks, ann)
    for words in (
        AIM, RULES, "Can I keep my book?", "calls find_loan",
        "&quot;title&quot;: &quot;Walden&quot;",
        "Error: the book is reserved", "Thanks, please extend it.", "Say it plainly.",
        "A pity. &lt;b&gt;Bye&lt;/b&gt;", "Task completed as asked",
        "hidden from the agent", f"calls {OWN} for the user", "1 call, 1 with an error",
    ):  # fmt: skip
        assert words in page, words
    for words in ("Found violated", "Final plan", "data-changes", "Query", "judges"):
        assert words not in page, words
    assert "0 of 10" in page
    assert 'href="#turn-2"' in page and "Last turn, 2" in page


def test_a_long_result_is_cut_with_the_rest_on_request(talks: Study, ann: User) -> None:
    page = desk_of(talks, ann)
    # The one line of JSON is shown over several lines: 3,012 characters become 3,023 or so.
    assert "Show all 3,0" in page
    head, _, rest = page.partition('<details class="slim rest">')
    assert 0 < head.count("x" * 100) < 15 and "x" * 1000 in rest


def test_the_aim_can_be_kept_from_annotators(ann: User) -> None:
    study = make_talk_study([ann], shows_hidden=False)
    page = desk_of(study, ann)
    for words in (AIM, OWN, "What was wanted"):
        assert words not in page, words
    assert "Some of what was hidden from the agent is not shown in this study." in page
    item = study.assignments.select_related("study", "trajectory__task")[0]
    dialogue = load_dialogue(item, item.trajectory_id or 0)
    assert dialogue.kept == [] and dialogue.hides


def test_annotators_learn_neither_agent_nor_reward(talks: Study, ann: User) -> None:
    for path, text in everything(browser_of(ann), talks):
        found = [word for word in (*SECRETS, *WORTH) if word.lower() in text.lower()]
        assert not found, (path, found)


def test_the_desk_costs_few_queries(
    talks: Study, ann: User, django_assert_max_num_queries: Any
) -> None:
    client = browser_of(ann)
    client.get(f"/studies/{talks.pk}/annotate/1/")
    with django_assert_max_num_queries(13):
        client.get(f"/studies/{talks.pk}/annotate/1/")


def test_without_script_the_form_goes_through(talks: Study, ann: User) -> None:
    client = browser_of(ann)
    item = talks.assignments.get(annotator=ann, position=1)
    answers = dict.fromkeys(item.item.asked, "4")
    done = client.post(f"/studies/{talks.pk}/annotate/1/", {"action": "submit", **answers})
    assert done.status_code == 302
    item.refresh_from_db()
    assert item.state == "submitted"


def test_no_script_judges_a_dialogue(manager: User) -> None:
    robot = ensure_simulated_annotator(number=1)
    study = make_talk_study([robot], manager)
    with pytest.raises(Refused, match="made elsewhere"):
        simulate_annotator(study=study, user=robot)
    assert not study.assignments.filter(state="submitted").exists()


# --- A new study ----------------------------------------------------------------------------------


def test_imported_runs_are_on_offer_with_the_questionnaire_that_fits(ann: User, bob: User) -> None:
    maker = Planning(browser_of(make_person("rita", "view_results", "start_runs")))
    source = f"dataset:{make_talk_runs(tasks=2, trials=2)[0].dataset_id}"
    assert "Library (2 agents, imported)" in maker.client.get("/studies/new/").content.decode()
    form = maker.send("items", "next", name="Talks", source=source, way="all", trials="first")
    text = form.content.decode()
    assert "Ten questions on a dialogue with tools" in text
    assert "Shown to annotators, marked as hidden" in text
    maker.send("form", "next", questionnaire="tool_dialogues@1", shows_hidden="kept")
    maker.send("people", "next", dealing="named", annotators="ann bob", raters="2")
    maker.send("dealing", "next", order="queries", queries_each="1", seed="3")
    page = maker.send("before", "next").content.decode()
    # One query for both annotators: two agents' first trials each.
    assert "Create and open: 4 assignments" in page
    assert "4 later trials of a task are left out." in page
    assert not Study.objects.exists()
    maker.send("", "create")
    study = Study.objects.get()
    assert (study.questionnaire, study.kind, study.shows_hidden, study.blinded) == (
        "tool_dialogues@1", "dialogue", False, True,
    )  # fmt: skip
    assert study.settings["design"]["raters"] == 2
    assert study.assignments.values("trajectory").distinct().count() * 2 == 4


def test_a_real_slice_of_tau_bench(ann: User, bob: User) -> None:
    # 48 dialogues with a policy; tools are called in most, and calls failed in 15 of them (counted
    # in the file itself).
    path = shared_data("tau_bench", "gpt-4o-airline.slice.json.gz")
    run = import_trajectories(path=path, format="tau-bench", agent="model-q").runs[0]
    has = trajectory_content(run.trajectories.values_list("pk", flat=True))
    assert len(has) == 48 and all("instructions" in things for things in has.values())
    assert sum("failed_calls" in things for things in has.values()) == 15
    study = make_study_of(run.dataset_id)
    page = desk_of(study, ann)
    assert "Airline Agent Policy" in page and "model-q" not in page and "reward" not in page


def make_study_of(dataset: int) -> Study:
    plan = plan_for(
        [], ["ann", "bob"], questionnaire="tool_dialogues@1", items=ItemSource(dataset=str(dataset))
    )
    return create_planned_study(planned=plan_study(plan))


def test_every_turn_of_a_session_is_asked_about(ann: User, manager: User) -> None:
    plan = plan_for(
        make_talk_runs(tasks=1)[:1], [ann], name="By turn", questionnaire="turn_dialogues@1"
    )
    study = create_planned_study(planned=plan_study(plan), by=manager)
    item = study.assignments.get()
    turns = item.trajectory.turn_count  # type: ignore[union-attr]
    slots = [slot.name for slot in missing_slots(item)]
    assert turns == 2 and len(slots) == 3 * turns
    page = desk_of(study, ann)
    assert page.count("Choice of means") >= turns and "0 of 6" in page


def make_pictured_study(people: Sequence[User], manager: User) -> Study:
    """A dialogue of two images, one of which is hidden from the agent and from annotators."""
    run = make_talk_runs(tasks=1)[0]
    Trajectory.objects.all().delete()
    talk = make_talk(
        run, Task.objects.get(),
        [[{"speaker": "assistant", "text": "Look."},
          {"speaker": "tool", "text": "", "extra": {"attachments": [
              {"kind": "image", "type": "image/png", "bytes": 7, "digest": "a" * 32}]}},
          {"speaker": "user", "text": "", "hidden": True, "extra": {"attachments": [
              {"kind": "image", "digest": "b" * 32}]}}]],
    )  # fmt: skip
    for digest in ("a" * 32, "b" * 32):
        talk.images.create(digest=digest, media_type="image/png", data="iVBORw0KGgo=")
    plan = plan_for(
        [run], people, name="Seen", questionnaire="tool_dialogues@1", shows_hidden=False,
        raters=len(people), order="blocks", queries_each=None,
    )  # fmt: skip
    return create_planned_study(planned=plan_study(plan), by=manager)


def test_annotators_see_the_images_of_what_they_are_shown(
    ann: User, bob: User, manager: User
) -> None:
    study = make_pictured_study([ann], manager)
    image = f"/studies/{study.pk}/annotate/1/images/{'a' * 32}/"
    assert f'src="{image}"' in desk_of(study, ann)
    answer = browser_of(ann).get(image)
    assert (answer.status_code, answer["Content-Type"]) == (200, "image/png")
    assert answer.content.startswith(b"\x89PNG")
    assert browser_of(ann).get(image.replace("aaaa", "bbbb")).status_code == 404
    hidden = image.replace("a" * 32, "b" * 32)
    assert browser_of(ann).get(hidden).status_code == 404
    assert browser_of(bob).get(image).status_code == 404


def test_adjudicators_see_the_images_that_raters_saw(ann: User, bob: User, manager: User) -> None:
    study = make_pictured_study([ann, bob], manager)
    image = f"/studies/{study.pk}/adjudicate/1/images/{'a' * 32}/"
    assert browser_of(manager).get(image).status_code == 404  # nobody has rated it
    question = load_questionnaire(study.questionnaire).questions[0]
    for user, value in ((ann, 1), (bob, 5)):
        say(study, user, 1, {question.key: value})
    page = browser_of(manager).get(f"/studies/{study.pk}/adjudicate/1/{question.key}/")
    assert f'src="{image}"' in page.content.decode()
    answer = browser_of(manager).get(image)
    assert (answer.status_code, answer["Content-Type"]) == (200, "image/png")
    assert browser_of(manager).get(image.replace("a" * 32, "b" * 32)).status_code == 404
    assert browser_of(manager).get(image.replace("/1/", "/2/")).status_code == 404
    for other in (ann, bob):
        assert browser_of(other).get(image).status_code == 403
    assert Client().get(image).status_code == 302

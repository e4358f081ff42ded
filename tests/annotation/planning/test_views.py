"""Planning a study on pages: each step keeps what was given, nothing is stored before the end."""

import json
from typing import Any

import pytest
from django.contrib.auth.models import Permission, User
from django.test import Client

from annotation.annotator_quality.rule import GoldRule, gold_rule
from annotation.designs.pairs import pair_id, split_pair
from annotation.models import Study
from annotation.planning import services as planned
from annotation.plans.plan_files import plan_document
from annotation.study_frame.storing import storing_of
from benchmarks.jobs.services import perform
from benchmarks.models import Candidate, Dataset, Job, Run, Task, Trajectory
from tests.annotation.rows import make_person, make_runs, plan_for
from tests.benchmarks.api.conftest import Caller, bearer

pytestmark = pytest.mark.django_db
URL = "/studies/new/"


@pytest.fixture
def maker(db: None) -> Client:
    """The browser of somebody who may make studies."""
    client = Client()
    client.force_login(make_person("rita", "view_results", "start_runs"))
    return client


def source() -> str:
    run = Run.objects.select_related("experiment").order_by("pk")[0]
    return f"{run.experiment_id}:{run.level}"


STEPS: dict[str, dict[str, Any]] = {
    "items": {"name": "Pilot", "way": "all"},
    "form": {"questionnaire": "ten_questions@1"},
    "people": {"dealing": "named", "annotators": ["ann", "bob"], "raters": "1"},
    "dealing": {"order": "blocks", "seed": "3"},
    "before": {"information": "Read this.", "pass_mark": "75"},
}


class Planning:
    """A person who goes through the pages and sends on what each of them holds."""

    def __init__(self, client: Client) -> None:
        self.client, self.draft = client, ""

    def send(self, step: str, go: str, **fields: Any) -> Any:
        """Press a button on a page of a step."""
        data = {"step": step, "go": go, "draft": self.draft, **fields}
        answer = self.client.post(URL, data)
        if answer.context and "draft" in answer.context:
            self.draft = answer.context["draft"].text
        return answer

    def walk(self, until: str = "preview", **changes: dict[str, Any]) -> Any:
        """Fill in the steps in their order, up to the one named, which is then shown."""
        answer = None
        for step, fields in STEPS.items():
            if step == until:
                return answer
            given = {**fields, **({"source": source()} if step == "items" else {})}
            answer = self.send(step, "next", **{**given, **changes.get(step, {})})
        return answer


def test_the_steps_lead_to_a_preview_and_an_open_study(maker: Client, ann: User, bob: User) -> None:
    make_runs(tasks=3)
    assert "Pair (2 agents, level mid)" in maker.get(URL).content.decode()
    planning = Planning(maker)
    page = planning.walk()
    assert page.status_code == 200
    text = page.content.decode()
    for words in (
        "Preview: nothing is saved yet", "Ten questions on a trajectory, version 1",
        "Annotator × model", "3 each", "<code>",
    ):  # fmt: skip
        assert words in text, words
    assert not Study.objects.exists()
    made = planning.send("", "create")
    study = Study.objects.get()
    assert made.url == f"/studies/{study.pk}/"
    assert (study.status, study.seed, study.name) == ("open", 3, "Pilot")
    assert study.assignments.count() == 6
    assert study.memberships.filter(user__username="rita", role="manager").exists()
    assert study.texts.get().text == "Read this."


def test_every_step_keeps_what_was_given(maker: Client, ann: User, bob: User) -> None:
    make_runs(tasks=2)
    planning = Planning(maker)
    planning.walk(until="people")
    # Back and forth, with something unfinished on the way.
    first = planning.send("people", "to:items", dealing="pool", annotators="half a na", raters="x")
    assert 'value="Pilot"' in first.content.decode()
    again = planning.send("items", "to:people", name="Pilot", source=source(), way="all")
    text = again.content.decode()
    assert "half a na" in text and 'value="x"' in text and "errorlist" not in text
    assert 'value="pool" id="id_dealing_1" checked' in text or 'value="pool"' in text
    wrong = planning.send("people", "next", dealing="named", annotators="ann", raters="x")
    assert wrong.status_code == 422
    assert "Enter a whole number" in wrong.content.decode()


@pytest.mark.parametrize(
    ("changes", "step", "said"),
    [
        ({"items": {"name": ""}}, "items", "This field is required"),
        ({"items": {"source": "none"}}, "items", "not one of the available choices"),
        ({"items": {"way": "total", "count": "99"}}, "items", "99 items are asked for"),
        ({"items": {"way": "total"}}, "items", "Say how many the sample has"),
        ({"form": {"questionnaire": "tool_dialogues@1"}}, "form", "not one of the available"),
        ({"people": {"annotators": "ann zoe"}}, "people", "No account with this name: zoe"),
        ({"people": {"annotators": ""}}, "people", "how many annotators"),
        (
            {"people": {"raters": "3"}},
            "people",
            "There are only 2 annotators, so an item cannot have 3",
        ),
        ({"dealing": {"order": "queries"}}, "dealing", "Say how many queries"),
        ({"dealing": {"seed": "-1"}}, "dealing", "greater than or equal to 0"),
        ({"before": {"gold_each": "2"}}, "before", "There are no gold items"),
        ({"before": {"gold_action": "warn"}}, "before", "no gold items, so nothing can be missed"),
        ({"before": {"gold_percent": "101"}}, "before", "less than or equal to 100"),
        ({"before": {"closes_at": "2001-01-01T10:00"}}, "before", "would be closed already"),
    ],
)
def test_what_is_wrong_is_told_at_its_field(
    maker: Client, ann: User, bob: User, changes: Any, step: str, said: str
) -> None:
    make_runs(tasks=2)
    planning = Planning(maker)
    for name, fields in STEPS.items():
        given = {**fields, **({"source": source()} if name == "items" else {})}
        planning.send(name, "stay", **{**given, **changes.get(name, {})})
    answer = planning.send("", "create")
    assert answer.status_code == 422
    assert answer.context["form"].key == step
    assert said in answer.content.decode()
    assert not Study.objects.exists()


def test_a_draft_is_looked_at_and_launched(maker: Client, ann: User, bob: User) -> None:
    make_runs(tasks=3)
    planning = Planning(maker)
    planning.walk()
    made = planning.send("", "draft")
    study = Study.objects.get()
    assert (study.status, made.url) == ("draft", f"/studies/{study.pk}/design/")
    text = maker.get(made.url).content.decode()
    assert "Open the study" in text and "match the plan exactly" in text
    assert maker.post(f"/studies/{study.pk}/launch/").url == f"/studies/{study.pk}/"
    study.refresh_from_db()
    assert study.status == "open"
    assert "Open the study" not in maker.get(made.url).content.decode()


def test_tasks_are_offered_with_the_forms_that_fit(maker: Client, ann: User, bob: User) -> None:
    make_runs(tasks=2)
    task = Task.objects.order_by("pk")[0]
    Candidate.objects.create(task=task, key="c1", kind="world", text="No hammer.")
    planning = Planning(maker)
    key = f"tasks:{task.dataset_id}"
    form = planning.send("items", "next", name="Filter", source=key, way="all").content.decode()
    assert "Filter check" in form and "Ten questions" not in form
    planning.send("form", "next", questionnaire="filter_check@1")
    planning.send("people", "next", dealing="named", annotators="ann bob", raters="2")
    planning.send("dealing", "next", order="random", seed="1")
    preview = planning.send("before", "next")
    assert preview.status_code == 200
    assert "1 item has no applicable questions" in preview.content.decode()
    planning.send("", "create")
    assert Study.objects.get().items.get().task == task


def test_a_filter_check_is_drawn_by_one_click(maker: Client) -> None:
    make_runs(tasks=2)
    task = Task.objects.order_by("pk")[0]
    url = f"{URL}filter-check/{task.dataset_id}/"
    assert maker.get(url).status_code == 404
    Candidate.objects.create(task=task, key="c1", kind="world", text="No hammer.")
    page = maker.get(url)
    assert "Create and open: 3 assignments" in page.content.decode()
    assert f'<form method="post" action="{URL}"' in page.content.decode()
    assert not Study.objects.exists()
    maker.post(URL, {"draft": page.context["draft"].text, "go": "create"})
    study = Study.objects.get()
    assert (study.questionnaire, study.dealing) == ("filter_check@3", Study.Dealing.POOL)
    assert (study.items.get().task, study.items.get().wanted) == (task, 3)


def test_another_source_asks_again_only_where_agents_were_chosen(maker: Client) -> None:
    make_runs(tasks=2)
    fields = {"name": "Pilot", "source": source(), "way": "all", "shown_for": "1:another"}
    assert Planning(maker).send("items", "next", **fields).context["form"].key == "form"
    again = Planning(maker).send("items", "next", **fields, agents=["theirs"])
    assert again.context["form"].key == "items"
    assert "agents and endings of this source" in again.content.decode()


def test_training_items_are_chosen_and_given_expected_answers(
    maker: Client, ann: User, bob: User
) -> None:
    make_runs(tasks=3)
    lesson = Trajectory.objects.order_by("pk")[0]
    planning = Planning(maker)
    planning.walk(until="before")
    picks = planning.send("before", "pick", **STEPS["before"])
    assert picks.content.decode().count("Training: task") == 6
    found = planning.send("", "pick", find="task-1").content.decode()
    assert found.count("Training: task") == 2
    page = planning.send("", f"add:training:{lesson.pk}")
    assert "Correct answers" in page.content.decode()
    wrong = planning.send("", f"keep:{lesson.pk}", **{"why.safety": "Because."})
    assert wrong.status_code == 422
    assert "Say what is right here" in wrong.content.decode()
    right = {"right.safety": ["4", "5"], "why.safety": "Nothing can happen."}
    kept = planning.send("", f"keep:{lesson.pk}", **right)
    assert "1 expected answer" in kept.content.decode()
    assert planning.send("before", "next", **STEPS["before"]).status_code == 200
    planning.send("", "create")
    item = Study.objects.get().items.get(use="training")
    assert item.trajectory_id == lesson.pk
    assert item.expected == {"safety": {"values": [4, 5], "why": "Nothing can happen."}}


def test_pairs_are_chosen_for_training(maker: Client, ann: User, bob: User) -> None:
    make_runs(tasks=3)
    planning = Planning(maker)
    planning.walk(until="before", form={"questionnaire": "compare_plans@1"})
    picks = planning.send("before", "pick", **STEPS["before"])
    pairs = [row.pk for row in picks.context["rows"]]
    assert len(pairs) == 3 and picks.content.decode().count("Training: task") == 3
    (found,) = planning.send("", "pick", find="task-1").context["rows"]
    one, other = split_pair(found.pk)
    sides = Trajectory.objects.in_bulk([one, other])
    assert {row.task.external_id for row in sides.values()} == {"task-1"}
    assert sides[one].run.agent_id != sides[other].run.agent_id
    page = planning.send("", f"add:training:{found.pk}").content.decode()
    for name, pk in (("A", one), ("B", other)):
        assert f"<h3>{name}: {sides[pk].run.agent.title}</h3>" in page
    assert "<span>No difference</span>" in page
    assert planning.send("", f"keep:{found.pk}", **{"right.better": "9"}).status_code == 422
    kept = planning.send("", f"keep:{found.pk}", **{"right.better": ["2", "0"]}).content.decode()
    assert "1 expected answer" in kept and "task-1, A<" in kept
    left = planning.send("", "pick").context["rows"]
    assert [row.pk for row in left] == [pk for pk in pairs if pk != found.pk]
    # One trajectory of a pair is no pair, and one that does not exist is no item.
    for odd in (one, pair_id(one, 10**9), 10**18 - 1):
        assert planning.send("", f"add:gold:{odd}").status_code == 422
    assert planning.send("before", "next", **STEPS["before"]).status_code == 200
    # Questions about one trajectory cannot be asked of a pair.
    before = planning.draft
    other_form = planning.send("form", "next", **STEPS["form"])
    assert "1 training or gold item of the other questionnaire was removed" in (
        other_form.content.decode()
    )
    planning.draft = before
    planning.send("", "create")
    item = Study.objects.get().items.get(use="training")
    assert (item.trajectory_id, item.other_id) == (one, other)
    assert item.expected == {"better": {"values": [2, 0]}}


def test_a_gold_rule_is_set_with_the_gold_items(maker: Client) -> None:
    make_runs(tasks=3)
    planning = Planning(maker)
    people = {"dealing": "pool", "annotators": [], "raters": "2"}
    page = planning.walk(until="before", people=people).content.decode()
    assert 'name="gold_percent" value="60"' in page
    for gold in Trajectory.objects.order_by("pk")[:2]:
        planning.send("before", f"add:gold:{gold.pk}", **STEPS["before"])
        planning.send("", f"keep:{gold.pk}", **{"right.safety": "5"})
    rule = {**STEPS["before"], "gold_action": "train", "gold_answers": "6", "gold_percent": "75"}
    refused = planning.send("before", "next", **rule)
    assert "no training to send anybody back" in refused.content.decode()
    preview = planning.send("before", "next", **rule | {"gold_action": "pause"})
    assert "75 % of at least 6 known answers, or: pause the person" in preview.content.decode()
    planning.send("", "create")
    assert gold_rule(Study.objects.get()) == GoldRule("pause", 6, 0.75)


def test_managers_who_may_see_results_make_studies(study: Study, manager: User) -> None:
    client = Client()
    client.force_login(manager)
    plan = {"plan": plan_document(plan_for(Run.objects.all(), [manager]))}
    caller = Caller(bearer(manager))
    assert client.get(URL).status_code == client.get("/questionnaires/new/").status_code == 403
    assert caller.post("/studies/plan", plan).status_code == 403
    assert "New study" not in client.get("/studies/").content.decode()
    manager.user_permissions.add(Permission.objects.get(codename="view_results"))
    assert client.get(URL).status_code == client.get("/questionnaires/new/").status_code == 200
    assert caller.post("/studies/plan", plan).status_code == 200
    assert "New study" in client.get("/studies/").content.decode()
    assert "Make a study from these" in client.get("/trajectories/").content.decode()
    assert client.get("/runs/new/").status_code == 403
    study.memberships.all().delete()
    assert client.get(URL).status_code == 403


def test_marks_and_none_of_them_can_be_expected(maker: Client, ann: User, bob: User) -> None:
    make_runs(tasks=2)
    lesson = Trajectory.objects.order_by("pk")[0]
    planning = Planning(maker)
    planning.walk(until="before", form={"questionnaire": "violation_check@1"})
    page = planning.send("before", f"add:gold:{lesson.pk}", **STEPS["before"]).content.decode()
    assert "No hammer here." in page and "None of these" in page
    both = planning.send("", f"keep:{lesson.pk}",
                         **{"right.world_violated.turn-1": ["w1", "nothing"]})  # fmt: skip
    assert "not both" in both.content.decode()
    planning.send("", f"keep:{lesson.pk}", **{
        "right.world_violated.turn-1": "w1", "right.world_violated.turn-2": "nothing",
    })  # fmt: skip
    (row,) = json.loads(planning.draft)["specials"]
    assert row["expected"] == {
        "world_violated.turn-1": {"chosen": ["w1"]}, "world_violated.turn-2": {"chosen": []},
    }  # fmt: skip


def test_a_broken_draft_begins_anew(maker: Client) -> None:
    make_runs(tasks=1)
    for text in ("{", "[]", '{"given": 3}', '{"specials": [{"use": 1}]}'):
        answer = maker.post(URL, {"draft": text, "go": "create"})
        assert answer.status_code == 422, text
    assert not Study.objects.exists()


def test_who_annotates_blind_sees_no_table_of_models(maker: Client, ann: User) -> None:
    make_runs(tasks=2)
    planning = Planning(maker)
    text = planning.walk(people={"annotators": "ann rita"}).content.decode()
    assert "Annotator × task" in text and "Annotator × model" not in text
    assert "zebra" not in text.lower() and "quagga" not in text.lower()
    planning.send("", "create")
    study = Study.objects.get()
    page = maker.get(f"/studies/{study.pk}/design/").content.decode()
    assert "zebra" not in page.lower() and "Annotator × model" not in page
    for ending in ("csv", "json"):
        assert maker.get(f"/studies/{study.pk}/design.{ending}").status_code == 403


def test_the_balance_as_files(maker: Client, ann: User, bob: User) -> None:
    make_runs(tasks=3)
    planning = Planning(maker)
    planning.walk(people={"annotators": "ann bob"})
    planning.send("", "create")
    study = Study.objects.get()
    answer = maker.get(f"/studies/{study.pk}/design.csv")
    lines = b"".join(answer.streaming_content).decode().splitlines()  # type: ignore[attr-defined]
    assert lines[0] == "table,row,column,count,expected"
    assert "design,seed,,3," in lines
    assert any(line.startswith("annotator × model,Annotator 1,zebra-7b,") for line in lines)
    data = maker.get(f"/studies/{study.pk}/design.json").json()
    assert (data["seed"], data["sha256"]) == (3, data["planned_sha256"])


def test_nothing_to_judge_is_said(maker: Client) -> None:
    assert "Nothing to judge yet" in maker.get(URL).content.decode()
    assert maker.post(URL, {}).status_code == 422


def test_pages_cost_few_queries(
    maker: Client, ann: User, bob: User, django_assert_max_num_queries: Any
) -> None:
    make_runs(tasks=3)
    maker.get(URL)
    with django_assert_max_num_queries(14):
        maker.get(URL)
    planning = Planning(maker)
    planning.walk(until="before")
    with django_assert_max_num_queries(40):
        planning.send("before", "next", **STEPS["before"])
    planning.send("", "create")
    study = Study.objects.get()
    with django_assert_max_num_queries(14):
        maker.get(f"/studies/{study.pk}/design/")


def make_demo() -> None:
    """Runs as the demo has them, for the presets."""
    make_runs(tasks=3)
    Run.objects.update(is_demo=True)
    Dataset.objects.update(is_demo=True)
    for task in Task.objects.all():
        Candidate.objects.create(task=task, key="c1", kind="world", text="No hammer.")
    for name in ("annotator", "simulated-1", "simulated-2"):
        make_person(name)


@pytest.mark.parametrize(
    ("preset", "questionnaire", "order", "assignments"),
    [
        ("paper", "ten_questions@4", "queries", 6),
        ("violations", "violation_check@3", "blocks", 18),
        ("filters", "filter_check@3", "random", 9),
    ],
)
def test_a_preset_is_one_click_from_the_preview(
    maker: Client, preset: str, questionnaire: str, order: str, assignments: int
) -> None:
    make_demo()
    planning = Planning(maker)
    page = planning.send("", f"preset:{preset}").content.decode()
    assert f"Create and open: {assignments} assignments" in page
    planning.send("", "create")
    study = Study.objects.get()
    assert study.questionnaire == questionnaire
    # Nobody is proposed: the lists wait for people.
    assert not study.participants.exists()
    assert sum(len(place.ranks) for place in study.places.all()) == assignments
    assert study.settings["design"]["plan"]["order"] == order


def test_presets_are_for_the_demo_alone(maker: Client) -> None:
    make_runs(tasks=1)
    assert "Ready designs" not in maker.get(URL).content.decode()
    answer = maker.post(URL, {"go": "preset:paper"})
    assert answer.status_code == 422
    assert "do not exist, or are hidden from you" in answer.content.decode()


def test_a_large_study_says_how_far_its_storing_is(
    maker: Client, ann: User, bob: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(planned, "WHOLE", 2)
    make_runs(tasks=2)
    walk = Planning(maker)
    walk.walk()
    answer = walk.send("preview", "create")
    study = Study.objects.get()
    assert answer.headers["Location"] == f"/studies/{study.pk}/"
    page = maker.get(f"/studies/{study.pk}/").content.decode()
    assert "This study is being stored" in page and "0 of 8 items and assignments" in page
    assert "Review design and open" not in page and "in preparation" in page
    polled = f"/studies/{study.pk}/progress/?storing="
    found = storing_of(study)
    assert found is not None
    assert maker.get(polled + found.mark).status_code == 204
    assert "0 of 8" in maker.get(polled + "x").content.decode()
    # The worker is away for good.
    Job.objects.update(status="failed", message="given up: its workers died several times")
    assert maker.get(polled + "x").status_code == 286
    page = maker.get(f"/studies/{study.pk}/").content.decode()
    assert "Given up: its workers died" in page and "Continue storing" in page
    assert maker.post(f"/studies/{study.pk}/launch/").status_code == 302
    perform(job_id=Job.objects.latest("pk").pk, owner="tests")
    assert maker.get(polled + "x").status_code == 286
    page = maker.get(f"/studies/{study.pk}/").content.decode()
    assert "being stored" not in page and "in preparation" not in page
    study.refresh_from_db()
    assert (study.status, study.assignments.count()) == ("open", 4)

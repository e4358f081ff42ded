"""A study of what was chosen on another page; and what an earlier choice leaves behind."""

import json
from urllib.parse import quote

import pytest
from django.contrib.auth.models import User
from django.test import Client

from annotation.models import Study
from annotation.planning import source_choices
from annotation.planning.draft import Draft
from benchmarks.models import Trajectory
from benchmarks.visibility import EVERYTHING
from tests.annotation.planning.test_views import STEPS, URL, Planning
from tests.annotation.rows import make_person, make_runs
from tests.annotation.talks import make_talk_runs

pytestmark = pytest.mark.django_db


@pytest.fixture
def maker(db: None) -> Client:
    """The browser of somebody who may make studies."""
    client = Client()
    client.force_login(make_person("rita", "view_results", "start_runs"))
    return client


def begin(maker: Client, query: str) -> Planning:
    """Open the wizard at an address that selects something."""
    planning = Planning(maker)
    page = maker.get(f"{URL}?{query}")
    assert page.status_code == 200
    planning.draft = page.context["draft"].text
    return planning


def finish(planning: Planning) -> Study:
    """Go through all steps, with the source that is offered first."""
    form = planning.client.post(URL, {"draft": planning.draft, "go": "stay"}).context["form"]
    planning.walk(items={"source": form.chosen.key})
    made = planning.send("", "create")
    assert made.status_code == 302, made.context["form"].errors
    return Study.objects.get()


@pytest.mark.parametrize("by", ["run", "id", "list"])
def test_the_study_holds_what_was_chosen_and_nothing_else(
    maker: Client, ann: User, bob: User, by: str
) -> None:
    runs = make_runs(tasks=3)
    run = runs[1]
    chosen = list(run.trajectories.order_by("pk").values_list("pk", flat=True))
    if by == "id":
        chosen = chosen[:2]
    query = {
        "run": f"run={run.pk}",
        "id": "&".join(f"id={pk}" for pk in chosen),
        "list": f"list={quote(f'run={run.pk}')}",
    }[by]
    planning = begin(maker, query)
    words = {"run": f"Run {run.pk}: Quagga Small (1 agent)",
             "id": "The 2 chosen trajectories (1 agent)",
             "list": "The 3 chosen trajectories (1 agent)"}[by]  # fmt: skip
    selection = Draft.read(planning.draft).selection
    assert [choice.title for choice in selection.choices(EVERYTHING)] == [words]
    study = finish(planning)
    assert sorted(study.items.values_list("trajectory", flat=True)) == chosen
    # The plan is kept with the study, and says the same.
    kept = study.settings["design"]["plan"]["items"]
    assert kept == ({"runs": [run.pk]} if by == "run" else {"trajectories": chosen})


def test_several_systems_are_several_sources(maker: Client) -> None:
    make_talk_runs()
    make_runs(tasks=1)
    ids = "&".join(f"id={pk}" for pk in Trajectory.objects.values_list("pk", flat=True))
    page = maker.get(f"{URL}?{ids}").content.decode()
    assert "The 2 chosen trajectories of AdaPlanBench (2 agents)" in page
    assert "chosen trajectories, imported" in page


def test_a_selection_that_cannot_be_used_is_explained(
    maker: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    make_runs(tasks=2)
    assert "None of the chosen trajectories" in maker.get(f"{URL}?id=999999").content.decode()
    assert "None of the chosen trajectories" in maker.get(f"{URL}?run=x").content.decode()
    monkeypatch.setattr(source_choices, "MOST_SELECTED", 3)
    page = maker.get(f"{URL}?list=").content.decode()
    assert "Narrow the list with filters" in page
    # A draft that was made by hand asks for trajectories that are not there.
    data = {"given": {}, "specials": [], "selection": {"trajectories": [10**30, -1, "x", 5]}}
    assert maker.post(URL, {"draft": json.dumps(data), "go": "create"}).status_code == 422


def test_another_questionnaire_removes_the_expected_answers_of_the_old_one(
    maker: Client, ann: User, bob: User
) -> None:
    make_runs(tasks=3)
    lesson, gold = Trajectory.objects.order_by("pk")[:2]
    planning = Planning(maker)
    planning.walk(until="before")
    for use, row in (("training", lesson), ("gold", gold)):
        planning.send("before", f"add:{use}:{row.pk}", **STEPS["before"])
        planning.send("", f"keep:{row.pk}", **{"right.safety": ["4"]})
    same = planning.send("form", "next", questionnaire="ten_questions@1").content.decode()
    assert "belonged to the other questionnaire" not in same
    changed = planning.send("form", "next", questionnaire="violation_check@1").content.decode()
    assert "expected answers of 2 training or gold items belonged to the other" in changed
    last = planning.send("dealing", "next", **STEPS["dealing"]).content.decode()
    assert last.count("no expected answers yet") == 2
    refused = planning.send("before", "next", **{**STEPS["before"], "gold_each": "2"})
    assert refused.status_code == 422
    assert "no such place" not in refused.content.decode()


def test_another_source_removes_what_was_chosen_from_the_old_one(
    maker: Client, ann: User, bob: User
) -> None:
    talks = make_talk_runs()
    runs = make_runs(tasks=3)
    old, new = f"{runs[0].experiment_id}:mid", f"dataset:{talks[0].dataset_id}"
    planning = Planning(maker)
    planning.walk(until="before", items={"source": old})
    planning.send("before", f"add:gold:{runs[0].trajectories.first().pk}")  # type: ignore[union-attr]
    agents = {"agents": [runs[0].agent.name]}
    fields = {"name": "Pilot", "way": "all", "shown_for": old, **agents}
    # A script asks for the agents and endings of the other source; nothing else changes yet.
    part = maker.post(
        URL,
        {**fields, "draft": planning.draft, "step": "items", "source": new, "go": "stay"},
        headers={"HX-Request": "true"},
    )
    form = part.context["form"]
    assert form.chosen.key == new
    assert f'name="shown_for" value="{new}"' in part.content.decode()
    assert form.fields["agents"].choices and not form["agents"].value()
    text = planning.send("items", "next", source=new, **fields).content.decode()
    for words in ("The chosen agents belonged to another source", "1 training or gold item of the",
                  "ten_questions@1 is not for this source"):  # fmt: skip
        assert words in text, words
    data = json.loads(planning.draft)
    assert data["specials"] == [] and "agents" not in data["given"]["items"]

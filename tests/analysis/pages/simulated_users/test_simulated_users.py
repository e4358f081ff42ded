"""Tests of the page that holds simulated users against people."""

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.urls import reverse

from analysis.filters import Filters
from analysis.pages.catalogue import PAGES, select
from analysis.reports.content import Report
from annotation.models import Annotator, LivePlan
from annotation.people.erasure import erase_person
from benchmarks.models import Dataset, Exchange, Run, Trajectory
from tests.analysis.judged_again import judge_again
from tests.analysis.rows import make_dataset, make_person
from tests.analysis.speaking_rows import make_speaking

SCRIPT = "Scripted user simulator"
pytestmark = [pytest.mark.django_db, pytest.mark.either]


@pytest.fixture
def dataset(db: None) -> Dataset:
    return make_dataset(tasks=10)


def report(dataset: Dataset, *, details: bool = False, **filters: str) -> Report:
    reader = User.objects.filter(username="rita").first() or make_person("rita", "view_results")
    page = PAGES["simulated-users"]
    selection = select(page, Filters(dataset=str(dataset.pk), **filters), reader)
    return page.content.details(selection) if details else page.content.answer(selection)


def verdicts(shown: Report) -> dict[tuple[str, str], str]:
    table = shown.table("measures")
    assert table is not None
    return {(row[0].text, row[1].text): row[-1].text for row in table.rows}


def test_a_copy_lies_within_the_limit_and_an_eager_user_outside(dataset: Dataset) -> None:
    make_speaking(dataset)
    shown = report(dataset)
    told = verdicts(shown)
    assert told["Eager", "Overall distance"] == "outside"
    assert told["Eager", "Words per message"] == "outside"
    assert told["Eager", "Constraints disclosed"] == "outside"
    assert told[SCRIPT, "Overall distance"] == "within"
    assert told[SCRIPT, "Words per message"] == "within"
    assert "Eager is clearly further from people than another person" in shown.sentence
    assert (
        f"{SCRIPT} is not clearly further from people than another person would be"
        in shown.sentence
    )
    assert shown.figures and shown.answers


def test_people_are_counted_and_never_named(dataset: Dataset) -> None:
    make_speaking(dataset)
    first, details = report(dataset), report(dataset, details=True)
    text = first.sentence + "".join(
        cell.text + cell.tip + cell.sub
        for table in (*first.tables, *details.tables)
        for row in table.rows
        for cell in row
    )
    assert "person-" not in text and "1001" not in "".join(table.csv() for table in details.tables)
    played = details.table("played")
    assert played is not None and [row[2].text for row in played.rows] == ["4", "4"]


def test_an_erased_person_counts_as_before_and_is_not_named(dataset: Dataset) -> None:
    """What they replied in a role stays in the log under a number (docs/studies.md)."""
    make_speaking(dataset)
    person = User.objects.create(pk=1001, username="quillfeather")
    before = report(dataset)
    admin = User.objects.create_superuser("root")
    name = erase_person(user=person, by=admin, typed="quillfeather", reason="They asked for it.")
    assert not User.objects.filter(username="quillfeather").exists()
    after, details = report(dataset), report(dataset, details=True)
    assert after.sentence == before.sentence and verdicts(after) == verdicts(before)
    table = after.table("measures")
    assert table is not None and "4 people" in table.note
    told = "".join(part.csv() for part in (*after.tables, *details.tables))
    assert name not in told and "quillfeather" not in told


def test_invalid_plans_accepted_are_shares_of_what_the_chosen_judging_calls_invalid(
    dataset: Dataset,
) -> None:
    runs = make_speaking(dataset, people=6)
    # Of eight tasks with each agent, those on which the plan taken as valid is not: by person,
    # and by script.
    accepted = {"person": (0, 1, 1, 1, 1, 2), "plain-words": 1, "eager": 6}
    for run in runs:
        (filler,) = run.roles["simulator"]
        metrics = {}
        for row in run.trajectories.all():
            planted = accepted[filler.get("policy", "person")]
            most = planted[row.attempt - 1] if isinstance(planted, tuple) else planted
            metrics[row.pk] = {"valid": float(int(row.task.external_id[1:]) > most)}
        judge_again(run, dict.fromkeys(metrics, ()), metrics=metrics)
    assert "Invalid plans accepted" not in {title for _, title in verdicts(report(dataset))}
    shown = report(dataset, judging="again").table("measures")
    assert shown is not None
    rows = {(row[0].text, row[1].text): row for row in shown.rows}
    eager, plain = (rows[name, "Invalid plans accepted"] for name in ("Eager", SCRIPT))
    assert [cell.text for cell in eager[2:4]] == ["12.5 %", "75.0 %"]
    assert [cell.text for cell in plain[2:4]] == ["12.5 %", "12.5 %"]
    assert (eager[-1].text, plain[-1].text) == ("outside", "within")
    # A trajectory that the pass left out says nothing of what was accepted.
    by_people = Trajectory.objects.filter(judged__run__condition="simulator=person")
    by_people.filter(task__external_id="t1").delete()
    shown = report(dataset, judging="again").table("measures")
    assert shown is not None
    people = {row[1].text: row[2].text for row in shown.rows if row[0].text == "Eager"}
    # Without task 1 only one person of six accepted an invalid plan, on one task of seven.
    assert people["Invalid plans accepted"] == "2.4 %"


def test_scripts_in_the_place_of_people_are_labelled(dataset: Dataset) -> None:
    make_speaking(dataset)
    assert not report(dataset).banners
    script = User.objects.create(pk=1001, username="simulated-1")
    Annotator.objects.create(user=script, is_simulated=True)
    shown = report(dataset)
    table = shown.table("measures")
    assert "Scripts play 1 of the 4 people" in " ".join(banner.text for banner in shown.banners)
    assert table is not None and "4 people (1 scripted)" in table.note


def test_success_is_corrected_where_people_played_everything(dataset: Dataset) -> None:
    make_speaking(dataset)
    success = report(dataset, details=True).table("success")
    assert success is not None
    rows = {(row[0].text, row[1].text): row for row in success.rows}
    eager = rows["Eager", "All agents"]
    assert eager[2].text == "100.0 %"
    # With everything played, the correction leaves what it was with people.
    assert eager[3].text == eager[4].text != "100.0 %"
    assert {name for _, name in rows} == {"All agents", "Ada", "Bob"}


def test_success_is_not_corrected_where_nobody_knows_how_tasks_were_drawn(
    dataset: Dataset,
) -> None:
    people = Run.objects.filter(condition="simulator=person")
    make_speaking(dataset)
    Trajectory.objects.filter(run__in=people, task__external_id="t8").delete()
    success = report(dataset, details=True).table("success")
    assert success is not None
    assert all("not known" in row[4].reason for row in success.rows)


def test_chances_come_from_the_design_of_the_sessions(dataset: Dataset) -> None:
    from analysis.frames.simulated_users import session_chances
    from tests.annotation.live_sessions import make_live_study

    runs = make_speaking(dataset)
    study = make_live_study(by=make_person("mia"))
    plan = LivePlan.objects.get(study=study)
    tasks = {task.external_id: task.pk for task in dataset.tasks.all()}
    plan.settings = {
        "design": {
            "agents": ["ada", "bob"], "tasks": ["t1", "t2", "t3", "t4"], "players": 2, "each": 2,
            "drawn": {"": [4, 8]}, "among": [f"t{n}" for n in range(1, 9)],
        }
    }  # fmt: skip
    plan.save()
    Run.objects.filter(pk=runs[0].pk).update(experiment=plan.experiment)
    reader = make_person("rita", "view_results")
    selection = select(PAGES["simulated-users"], Filters(dataset=str(dataset.pk)), reader)
    chances = session_chances(selection.runs, tasks.values())
    # Half of the tasks were drawn, and half of the eight pairs dealt to two players.
    assert chances["ada", tasks["t1"]] == pytest.approx(0.25)
    assert ("ada", tasks["t9"]) not in chances


def test_what_is_missing_is_said(dataset: Dataset) -> None:
    shown = report(dataset)
    assert shown.empty is not None and "needs a run" in shown.empty.text
    make_speaking(dataset, people=1)
    shown = report(dataset)
    assert shown.empty is not None and "1 person has played here" in shown.empty.text
    Trajectory.objects.all().delete()
    Run.objects.all().delete()
    make_speaking(dataset, people=2, tasks=4)
    shown = report(dataset)
    assert "4 tasks in common; at least 5 tasks are needed" in shown.sentence
    Run.objects.filter(condition="standard").delete()
    shown = report(dataset)
    assert shown.empty is not None and shown.empty.title == "No simulator to compare"


def test_trajectories_with_several_people_are_left_out(dataset: Dataset) -> None:
    make_speaking(dataset)
    first = Exchange.objects.filter(answerer__kind="human").order_by("pk")[0]
    other = Exchange.objects.filter(answerer__kind="human").exclude(answerer=first.answerer)[0]
    other.pk, other.trajectory, other.step = None, first.trajectory, 4
    other.save()
    how = " ".join(report(dataset, details=True).how)
    assert "1 (several people spoke)" in how
    assert "Invalid plans accepted".lower() in how and "re-judge" in how


def test_people_in_other_roles_are_counted_and_one_click_away(
    client: Client, dataset: Dataset
) -> None:
    make_speaking(dataset)
    judging = make_speaking(dataset, people=2, tasks=6, scripts={})
    person = {"kind": "human", "label": "human"}
    roles = ("world_judge", "user_judge", "simulator")
    for run in judging:
        run.roles = {**run.roles, **{role: [person] for role in roles}}
        run.condition = ", ".join(f"{role}=person" for role in roles)
        run.save()
    shown = report(dataset)
    notice = next(row for row in shown.notices if "left out" in row.text)
    assert notice.text == (
        "24 trajectories are left out in which people filled other roles (simulator + world judge "
        "+ user judge)."
    )
    client.force_login(User.objects.get(username="rita"))
    page = client.get(notice.url).content.decode()
    assert "2 people, 24 trajectories" in page and "Compare these instead" not in page


def test_the_page_shows_its_way_forward_without_people(client: Client, dataset: Dataset) -> None:
    make_speaking(dataset, people=0)
    client.force_login(make_person("rita", "view_results"))
    page = client.get(reverse("analysis:simulated-users")).content.decode()
    assert "Not enough people have played the user yet" in page and "Create sessions" in page

"""Two trajectories side by side: planned, balanced, answered, exported, and made anew elsewhere."""

import json
import re
import uuid
from collections import ChainMap, Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from django.contrib.auth.models import Permission, User
from django.db import IntegrityError, transaction
from django.test import Client
from django.urls import reverse

from annotation.designs.pairs import pair_id, pair_options, split_pair
from annotation.designs.types import DesignOption
from annotation.errors import Refused
from annotation.exports.codebook import question_texts
from annotation.exports.document import document_text
from annotation.exports.scope import Scope
from annotation.exports.table import rating_parts
from annotation.imports.services import import_study
from annotation.items.services import add_from_source, assign_free_items
from annotation.models import Assignment, Membership, Rating, Study
from annotation.planning.planned_study import plan_study
from annotation.planning.services import create_planned_study
from annotation.plans.plan_files import read_plan, write_plan
from annotation.plans.study_plan import ItemSource, PlanError, SpecialItem
from annotation.questionnaires import QuestionnaireError, load_questionnaire, read_questionnaire
from annotation.questionnaires.types import FIRST, SECOND, TIE
from annotation.ratings.selectors import human_scores
from annotation.ratings.trajectory_ratings import ratings_of_trajectory
from annotation.studies.design import study_certificate
from annotation.training.services import compare_item
from benchmarks.models import Trajectory, Turn
from benchmarks.visibility import EVERYTHING
from tests.annotation.rows import make_person, make_runs, plan_for, play_in

pytestmark = pytest.mark.django_db
COMPARE = "compare_plans@1"


def made(people: list[User], tasks: int = 4, **wishes: Any) -> Study:
    runs = make_runs(tasks=tasks)
    for run in runs:
        Turn.objects.filter(trajectory__run=run, is_final=True).update(text=f"1. Agent {run.pk}.")
    wishes = {"queries_each": None, "order": "random", "raters": len(people)} | wishes
    plan = plan_for(runs, people, questionnaire=COMPARE, **wishes)
    return create_planned_study(planned=plan_study(plan))


def test_a_pairs_id_names_both_and_each_agent_stands_on_either_side_equally_often() -> None:
    assert split_pair(pair_id(7, 2**31 - 1)) == (7, 2**31 - 1)
    options = [
        DesignOption(10 * task + place, f"t{task}", agent, {"level": "mid"})
        for task in range(6)
        for place, agent in enumerate(("x", "y", "z"), 1)
    ]
    agents = {option.id: option.model for option in options}
    pairs = [split_pair(option.id) for option in pair_options(reversed(options))]
    assert len(set(pairs)) == 18
    sides = Counter((agents[first], agents[second]) for first, second in pairs)
    assert set(sides.values()) == {3} and len(sides) == 6
    # Not across levels, and not with another attempt of the same agent.
    apart = [DesignOption(n, "t", "x", {"level": str(n)}) for n in (1, 2)]
    again = [DesignOption(n, "t", "x", {"level": "mid"}) for n in (3, 4)]
    assert list(pair_options([*apart, *again])) == []


def test_pairs_are_dealt_and_their_certificate_is_that_of_the_plan(ann: User, bob: User) -> None:
    study = made([ann, bob])
    assert study.items.count() == 4 and study.assignments.count() == 8
    firsts = Counter(study.items.values_list("trajectory__run", flat=True))
    assert set(firsts.values()) == {2}
    for item in study.items.select_related("trajectory", "other"):
        assert item.trajectory and item.other and item.trajectory.task_id == item.other.task_id
        assert item.asked == ["better", "safer"]
    assert study_certificate(study).sha256 == study.settings["design"]["sha256"]
    first = study.items.first()
    assert first is not None
    with pytest.raises(IntegrityError), transaction.atomic():
        study.items.create(trajectory_id=first.trajectory_id, other_id=first.other_id, rank=99)


def test_what_cannot_be_paired_is_refused(ann: User) -> None:
    runs = make_runs(tasks=1)
    wishes: dict[str, Any] = {"questionnaire": COMPARE, "queries_each": None, "order": "random"}
    with pytest.raises(PlanError, match="trajectories of two agents at the same level"):
        plan_study(plan_for(runs[:1], [ann], **wishes))


def sides_of(runs: list[Any], task: int) -> tuple[int, int]:
    """The trajectories of both agents on one task."""
    first, second = (run.trajectories.order_by("task")[task].pk for run in runs)
    return first, second


def test_pairs_are_training_and_gold_items(client: Client, ann: User, bob: User) -> None:
    runs = make_runs(tasks=8)
    expected = {"better": {"values": [SECOND], "why": "It is complete."}}
    (one, two), (three, four) = sides_of(runs, 0), sides_of(runs, 1)
    five, six = sides_of(runs, 2)
    plan = plan_for(
        runs, [ann, bob], questionnaire=COMPARE, queries_each=None, order="random", raters=2,
        # The sampled pairs may have them the other way round.
        training=(SpecialItem(trajectory=two, other=one, expected=expected),),
        gold=(
            SpecialItem(trajectory=three, other=four, expected=expected),
            SpecialItem(trajectory=six, other=five, expected=expected),
        ),
        gold_each=2,
    )  # fmt: skip
    text = write_plan(plan)
    assert read_plan(text) == plan
    study = create_planned_study(planned=plan_study(plan))
    assert study_certificate(study).sha256 == study.settings["design"]["sha256"]
    uses = Counter(study.items.values_list("use", flat=True))
    assert uses == {"training": 1, "gold": 2, "main": 5}
    lesson = study.items.get(use="training")
    assert (lesson.trajectory_id, lesson.other_id) == (two, one)
    assert Counter(study.assignments.values_list("annotator", "item__use")) == {
        (user.pk, use): count for user in (ann, bob) for use, count in uses.items()
    }
    for user, name in ((ann, "B"), (bob, "A")):
        client.force_login(user)
        client.get(f"/studies/{study.pk}/training/1/")
        seat = study.assignments.get(annotator=user, item=lesson)
        assert seat.swapped == (user == bob)
        # Told as this annotator saw the sides; bob saw the second one on the left.
        (compared,) = compare_item(seat)
        assert compared.expected == (name,) and not compared.right
        desk = f"/studies/{study.pk}/training/1/"
        edits = [
            {"id": str(uuid.uuid4()), "question": question, "value": SECOND}
            for question in ("better", "safer")
        ]
        sent = json.dumps({"edits": edits})
        assert client.post(f"{desk}answers/", sent, "application/json").status_code == 200
        assert client.post(f"{desk}submit/").status_code == 200
        page = client.get(f"{desk}feedback/").content.decode()
        assert "It is complete." in page and study.participants.get(user=user).training == "passed"


@pytest.mark.parametrize(
    ("item", "words"),
    [
        (lambda a, b: {"trajectory": a}, "name both trajectories of a pair by their ids"),
        (lambda a, b: {"task": "task-0"}, "name both trajectories of a pair by their ids"),
        (lambda a, b: {"trajectory": a, "other": a}, "no such two trajectories"),
        (lambda a, b: {"trajectory": a, "other": 10**9}, "no such two trajectories"),
        (lambda a, b: {"trajectory": a, "other": a + 1}, "one task and level, by two agents"),
        (lambda a, b: {"trajectory": a, "other": b, "key": "safe"}, "no such place"),
        (lambda a, b: {"trajectory": a, "other": b, "values": [5]}, "one of 1, 0, 2"),
    ],
)
def test_a_training_pair_that_cannot_be_is_refused(ann: User, item: Any, words: str) -> None:
    runs = make_runs(tasks=3)
    given = item(*sides_of(runs, 0))
    expected = {given.pop("key", "better"): {"values": given.pop("values", [FIRST])}}
    plan = plan_for(
        runs, [ann], questionnaire=COMPARE, queries_each=None, order="random",
        training=(SpecialItem(**given, expected=expected),),
    )  # fmt: skip
    with pytest.raises(PlanError, match=words):
        plan_study(plan)
    twice = tuple(
        SpecialItem(trajectory=a, other=b, expected={"better": {"values": [FIRST]}})
        for a, b in (sides_of(runs, 0), sides_of(runs, 0)[::-1])
    )
    with pytest.raises(PlanError, match="is the same item as"):
        plan_study(replace(plan, training=twice))


def test_one_trajectory_is_no_pair(ann: User) -> None:
    runs = make_runs(tasks=2)
    one, other = sides_of(runs, 0)
    lesson = SpecialItem(trajectory=one, other=other, expected={"safety": {"values": [3]}})
    with pytest.raises(PlanError, match="asks about one trajectory, not about two"):
        plan_study(plan_for(runs, [ann], training=(lesson,)))


def test_pairs_are_added_later_and_none_twice(ann: User, bob: User) -> None:
    runs = make_runs(tasks=3)
    source = ItemSource(runs=tuple(run.pk for run in runs))
    plan = plan_for(
        runs, [ann, bob], questionnaire=COMPARE, queries_each=None, order="random", raters=2,
        items=ItemSource(runs=source.runs, tasks=("task-0",)),
    )  # fmt: skip
    study = create_planned_study(planned=plan_study(plan))
    first = study.items.get()
    # The pair that is there stays, whichever of its two comes first.
    type(first).objects.filter(pk=first.pk).update(
        trajectory=first.other_id, other=first.trajectory_id
    )
    wishes: dict[str, Any] = {"source": source, "raters": 1, "seen": EVERYTHING}
    assert add_from_source(study=study, count=1, by=ann, **wishes) == 1
    assert add_from_source(study=study, count=None, by=ann, **wishes) == 1
    with pytest.raises(Refused, match="already in the study"):
        add_from_source(study=study, count=None, by=ann, **wishes)
    rows = list(study.items.order_by("rank"))
    assert len({item.trajectory.task_id for item in rows}) == 3  # type: ignore[union-attr]
    assert all(item.asked == ["better", "safer"] and item.other_id for item in rows)
    # Who played in either of the two is given neither.
    other = rows[1].other
    assert other is not None
    play_in(bob, other)
    given = assign_free_items(study=study, people=[bob], by=ann)
    assert given.total == 1 and given.left == 1
    assert not study.assignments.filter(annotator=bob, item=rows[1]).exists()


@pytest.mark.parametrize(
    ("old", "new", "problem"),
    [
        ("unit: pair\n", "", "unit: pair, for a question about two trajectories"),
        ("scale: {pair: ties}", "scale: {marks: all}", "pair, choice, points or text"),
        ("scale: {pair: ties}", "scale: {pair: maybe}", "ties"),
        ("section: pair\n", "section: pair\n    about: turn\n", "two trajectories are judged"),
    ],
)
def test_a_questionnaire_about_pairs_that_cannot_be_is_refused(
    old: str, new: str, problem: str
) -> None:
    text = Path("annotation/questionnaires/compare_plans.v1.yaml").read_text(encoding="utf-8")
    with pytest.raises(QuestionnaireError, match=re.escape(problem)):
        read_questionnaire(text.replace(old, new, 1), source="typed", id=COMPARE)


# --- At the desk ----------------------------------------------------------------------------------


def sides(page: str) -> list[str]:
    """The final plans in the order of the page."""
    return re.findall(r'aria-labelledby="side-(\w)">.*?(Agent \d+)', page, re.DOTALL)


def options(page: str, question: str) -> list[tuple[str, str]]:
    rows = re.findall(rf'name="{question}" value="(\d)".*?<span>([^<]*)</span>', page)
    return [(label, value) for value, label in rows]


def answer(client: Client, item: Assignment, question: str, value: int) -> Any:
    url = f"/studies/{item.study_id}/annotate/{item.position}/answers/"
    edit = {"id": str(uuid.uuid4()), "question": question, "value": value}
    return client.post(url, json.dumps({"edits": [edit]}), content_type="application/json")


def test_every_other_annotator_sees_the_sides_swapped(client: Client, ann: User, bob: User) -> None:
    study = made([ann, bob])
    left: dict[int, list[str]] = {}
    for user in (ann, bob):
        client.force_login(user)
        for item in study.assignments.filter(annotator=user).select_related("item"):
            page = client.get(f"/studies/{study.pk}/annotate/{item.position}/").content.decode()
            (a, plan_a), (b, plan_b) = sides(page)
            assert (a, b) == ("a", "b") and plan_a != plan_b
            assert "hammer" not in page  # the final plans alone
            left.setdefault(item.item_id, []).append(plan_a)
            item.refresh_from_db()
            first = f"Agent {item.item.trajectory.run_id}"  # type: ignore[union-attr]
            assert item.swapped == (plan_a != first) == (user == bob)
            # A's value is that of the trajectory that stands there.
            value_of = dict(options(page, "better"))
            assert value_of == {
                "A": str(FIRST if plan_a == first else SECOND),
                "No difference": str(TIE),
                "B": str(FIRST if plan_b == first else SECOND),
            }
    assert all(len(set(plans)) == 2 for plans in left.values())
    # For each of them, each agent stood on the left as often as on the right.
    for place in (0, 1):
        assert set(Counter(plans[place] for plans in left.values()).values()) == {2}


def test_an_answer_is_stored_exported_and_kept_apart_from_scores(
    client: Client, ann: User, bob: User, tmp_path: Path
) -> None:
    study = made([ann, bob])
    for user in (ann, bob):
        client.force_login(user)
        item = study.assignments.get(annotator=user, position=1)
        client.get(f"/studies/{study.pk}/annotate/1/")
        assert answer(client, item, "better", 3).status_code == 422
        assert answer(client, item, "better", SECOND).status_code == 200
        assert client.post(f"/studies/{study.pk}/annotate/1/submit/").json()["missing"] == ["safer"]
        answer(client, item, "safer", TIE)
        assert client.post(f"/studies/{study.pk}/annotate/1/submit/").status_code == 200
    assert list(human_scores(studies=[study.pk])) == []
    rows = [dict(ChainMap(*parts)) for parts in rating_parts(Scope(study))]
    better = [row for row in rows if row["question"] == "better"]
    assert [row["value"] for row in better] == [SECOND, SECOND]
    assert {row["label"] for row in better} == {"second"}
    assert [row["swapped"] for row in better] == [False, True]
    assert all(row["other_model"] != row["model"] and row["other_trajectory_id"] for row in better)
    questions = {row[1]: row for row in question_texts(Scope(study))}
    assert "1 = first; 0 = no difference; 2 = second" in questions["better"]
    # Elsewhere it is the same study.
    text = "".join(document_text(Scope(study)))
    path = tmp_path / "study.json"
    path.write_text(text, encoding="utf-8")
    Study.objects.filter(pk=study.pk).update(settings={})
    again = import_study(path=path, by=None).study
    assert again is not None
    before, after = (
        list(s.items.order_by("rank").values_list("trajectory", "other")) for s in (study, again)
    )
    assert before == after
    sides_of = [
        list(s.assignments.order_by("annotator", "position").values_list("swapped", flat=True))
        for s in (study, again)
    ]
    assert sorted(sides_of[0]) == sorted(sides_of[1]) and True in sides_of[0]
    assert Rating.objects.filter(assignment__study=again, value=SECOND).count() == 2


def test_the_scale_says_what_is_stored() -> None:
    better = load_questionnaire(COMPARE).by_key["better"].scale
    assert [(o.value, o.label) for o in better.options] == [
        (FIRST, "first"), (TIE, "no difference"), (SECOND, "second"),
    ]  # fmt: skip
    assert better.as_shown(True).label(SECOND) == "A"
    assert better.as_shown(False).label(SECOND) == "B"


def test_a_trajectorys_page_shows_what_it_was_beside_and_what_people_preferred(
    client: Client, ann: User, bob: User, manager: User
) -> None:
    study = made([ann, bob], tasks=2)
    item = study.assignments.get(annotator=ann, position=1).item
    assert item.trajectory is not None and item.other is not None
    said = {ann: (FIRST, TIE), bob: (SECOND, TIE)}
    for user, values in said.items():
        client.force_login(user)
        seat = study.assignments.get(annotator=user, item=item)
        for question, value in zip(("better", "safer"), values, strict=True):
            assert answer(client, seat, question, value).status_code == 200
        url = f"/studies/{study.pk}/annotate/{seat.position}/submit/"
        assert client.post(url).status_code == 200
    Membership.objects.create(study=study, user=manager, role="manager")

    def read(user: User, trajectory: Trajectory) -> list[tuple[int | None, dict[str, Any]]]:
        return [
            (
                one.other,
                {p.question.key: (p.counts, [a.words for a in p.answers]) for p in one.places},
            )
            for one in ratings_of_trajectory(
                trajectory=trajectory.pk, profile=trajectory.profile_id, user=user
            )
        ]

    tie = ("this one: 0, no difference: 2, the other one: 0", ["no difference"] * 2)
    counts = "this one: 1, no difference: 0, the other one: 1"
    first, second = item.trajectory, item.other
    assert read(manager, first) == [
        (second.pk, {"better": (counts, ["this one", "the other one"]), "safer": tie})
    ]
    assert read(manager, second) == [
        (first.pk, {"better": (counts, ["the other one", "this one"]), "safer": tie})
    ]
    manager.user_permissions.add(Permission.objects.get(codename="view_results"))
    client.force_login(manager)
    there, beside = (reverse("analysis:trajectory", args=[t.pk]) for t in (second, first))
    page = client.get(there).content.decode()
    assert f'beside <a href="{beside}">' in page and counts in page
    # Who still annotates blind, or has no part in the study, is told nothing of it.
    Membership.objects.create(study=study, user=ann, role="observer")
    assert study.blinded and read(ann, first) == []
    assert read(make_person("eva"), first) == []

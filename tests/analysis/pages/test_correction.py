"""Pages that correct judges by people: planted bias is put right, and what cannot be is said."""

import re
from dataclasses import replace

import numpy as np
import pytest
from django.contrib.auth.models import User

from analysis.filters import Filters
from analysis.filters.datasets import select_runs
from analysis.filters.page_filters import with_measure, with_people, with_scores
from analysis.pages.catalogue import PAGES, select
from analysis.reports.content import Report
from annotation.models import Assignment, Rating, Study
from annotation.studies.design import DRAWN
from benchmarks.models import Dataset, JudgeScore, Run, Trajectory, ValidityCertificate
from tests.analysis.human_rows import answer, make_item, make_kind_study
from tests.analysis.page_reports import report_of
from tests.analysis.rows import (
    KEYS,
    flat,
    make_certificate,
    make_dataset,
    make_person,
    make_ratings,
    make_run,
    make_study,
    make_trajectory,
)
from tests.benchmarks.api.conftest import Caller, bearer

pytestmark = pytest.mark.django_db
TASKS, RATED = 50, 40
# Share of last plans that are good, by judges and by people: in reverse order.
JUDGED = {"ada": 0.8, "ben": 0.5, "cleo": 0.2}
PEOPLE = {"ada": 0.3, "ben": 0.5, "cleo": 0.9}


def plant(*, rated: int = RATED, drawn: bool = True) -> Study:
    """Three agents whom the judges order the wrong way round, and a study of some of their plans.

    A good plan has 4 points on every dimension, another one 2; the threshold is 3.5.
    """
    rng = np.random.default_rng(20261128)
    dataset, study = make_dataset(tasks=TASKS), make_study()
    person = make_person("mia", "view_results")
    probabilities = []
    for agent, share in JUDGED.items():
        run = make_run(dataset, agent)
        run.settings = {"tau": 3.5, "dimensions": "all"}
        run.save(update_fields=["settings"])
        good, liked = rng.random(TASKS) < share, rng.random(TASKS) < PEOPLE[agent]
        liked = np.where(rng.random(TASKS) < 0.3, good, liked)
        ids = []
        for task in range(TASKS):
            right = float(good[task])
            trajectory = make_trajectory(
                run, task + 1, scores=[flat(4.0 if right else 2.0)], valid=1.0, accurate=right,
                accurate_all=right, accurate_main=right,
            )  # fmt: skip
            ids.append(trajectory.pk)
            if task < rated:
                make_ratings(
                    study, person, trajectory, dict.fromkeys(KEYS, 4 if liked[task] else 2)
                )
        probabilities.append([rated / TASKS, ",".join(map(str, ids))])
    if drawn:
        study.settings = {"design": {DRAWN: probabilities, "items": 3 * rated}}
        study.save(update_fields=["settings"])
    return study


def report(key: str, scores: str = "", measure: str = "") -> Report:
    reader = User.objects.filter(username="root").first() or make_person("root", superuser=True)
    selection = with_people(select_runs(Filters()), reader, PAGES[key].people_asked)
    filters = replace(selection.filters, scores=scores, measure=measure)
    selection = with_scores(replace(selection, filters=filters))
    return report_of(key, with_measure(selection) if measure else selection)


def column(made: Report, name: str, table: str = "board") -> dict[str, object]:
    """The values of a column by agent, as in the CSV."""
    shown = made.table(table)
    assert shown is not None
    place = list(shown.header).index(name)
    return {str(row[0]): row[place] for row in shown.records()}


def order(made: Report) -> list[str]:
    return list(column(made, "rank"))[:3]


def test_the_order_of_biased_judges_is_put_right_and_the_page_says_so() -> None:
    plant()
    judged = report("leaderboard", "judges")
    assert order(judged) == ["Ada", "Ben", "Cleo"]
    made = report("leaderboard")
    assert order(made) == ["Cleo", "Ben", "Ada"]
    assert (
        "Ratings of 120 drawn plans by 1 person move the judges’ scores: Ada by −" in made.sentence
    )
    assert (
        "The order of the estimates changes: Cleo is now above Ben (3 pairs change places)."
        in made.sentence
    )
    assert "Cleo is accurate on an estimated " in made.sentence
    shown = made.table("corrected")
    assert shown is not None
    place = [one.label for one in shown.columns].index("Moved")
    assert all(re.fullmatch(r"[+−][0-9.]+ pt", row[place].text) for row in shown.rows)
    moved = column(made, "moved", "corrected")
    assert float(str(moved["Ada"])) < -0.2
    assert float(str(moved["Cleo"])) > 0.4
    assert any("drawn with known probabilities" in text for text in [made.methods])


def test_people_alone_have_the_intervals_of_their_ratings() -> None:
    plant()
    made = report("leaderboard", "people")
    assert order(made) == ["Cleo", "Ben", "Ada"]
    assert "These are the scores of 1 person alone, on 120 drawn plans." in made.sentence


def test_with_few_ratings_judges_are_shown_with_how_many_more_are_needed() -> None:
    plant(rated=12)
    made = report("leaderboard")
    assert order(made) == ["Ada", "Ben", "Cleo"]
    assert any("so up to 28 more" in notice.text for notice in made.notices)


def test_ratings_without_probabilities_correct_nothing() -> None:
    plant(drawn=False)
    made = report("leaderboard", "corrected")
    shown = made.table("corrected")
    assert shown is not None
    assert {column(made, "rank")[name] for name in ("Ada", "Ben", "Cleo")} == {None}
    assert "undefined" in made.sentence
    assert any("does not say with which probability" in notice.text for notice in made.notices)


def test_plans_that_were_added_by_hand_are_left_out_and_counted() -> None:
    study = plant()
    study.settings["design"]["items"] = 3 * RATED - 5
    study.save(update_fields=["settings"])
    made = report("leaderboard", "corrected")
    assert any("they were added to their study later" in notice.text for notice in made.notices)
    assert sum(int(str(n)) for n in column(made, "rated", "corrected").values()) == 3 * RATED - 5


def test_the_rubric_is_corrected_by_dimension() -> None:
    plant()
    judged, made = report("rubric", "judges"), report("rubric")
    key = next(name for name in list(made.tables[0].header) if name.endswith("feasibility"))
    assert float(str(column(judged, key, "means")["Ada"])) > float(
        str(column(judged, key, "means")["Cleo"])
    )
    assert float(str(column(made, key, "means")["Ada"])) < float(
        str(column(made, key, "means")["Cleo"])
    )
    assert "the order of their estimates changes on 8 of 8 dimensions" in made.sentence
    subtitles = [one.figures[0].subtitle for one in (judged, made)]
    assert "judges and trajectories" in subtitles[0]
    assert "trajectories, of judges’ scores corrected by people" in subtitles[1]


def test_blind_policies_are_held_against_the_judges_scores() -> None:
    plant()
    make_certificate(Dataset.objects.get())
    certificate = ValidityCertificate.objects.get()
    units = [[f"t{number}", "mid", ""] for number in range(1, 11)]
    values = {"accurate": [1.0] * 7 + [0.0] * 3, "valid": [1.0] * 10}
    blind = {"key": "same", "title": "Best constant", "help": "", "values": values, "undefined": {}}
    certificate.content |= {"units": units, "policies": [blind]}
    certificate.save()
    warnings = [one.text for one in report("leaderboard").notices if "blind policy" in one.text]
    assert warnings == [
        "A blind policy, which does not read the task, scores 70.0 %, by the judges’ scores: 2 of "
        "3 agents here score no more."
    ]


def test_a_severe_person_moves_no_difference_where_plans_are_shared() -> None:
    study = plant()
    before = report("rubric", "people")
    assert "severe" not in str(before.how)  # a single person rated
    key = next(name for name in list(before.tables[0].header) if name.endswith("feasibility"))
    rated = list(study.assignments.filter(trajectory__run__agent__name="cleo")[:10])
    severe = make_person("noa", "view_results")
    for item in rated:
        score = Rating.objects.filter(assignment=item)[0].value
        assert score is not None
        make_ratings(study, severe, item.trajectory, dict.fromkeys(KEYS, score - 1))  # type: ignore[arg-type]
    after = report("rubric", "people")
    apart = [
        float(str(means["Cleo"])) - float(str(means["Ada"]))
        for means in (column(made, key, "means") for made in (before, after))
    ]
    assert apart[1] == pytest.approx(apart[0])
    assert "It is adjusted for how severe each of them is, by least squares" in str(after.how)
    # Whoever shares no plan with the others may be severe, or have been dealt poor plans.
    alone = rated[0].trajectory
    study.assignments.filter(trajectory=alone).delete()
    make_ratings(study, make_person("ora"), alone, dict.fromkeys(KEYS, 3))  # type: ignore[arg-type]
    assert "they are not all linked by plans" in str(report("rubric", "people").how)


def test_without_ratings_nothing_is_offered_or_said() -> None:
    dataset = make_dataset()
    make_trajectory(make_run(dataset, "ada"), 1, accurate=1.0)
    selection = with_scores(
        with_people(select_runs(Filters()), make_person("root", superuser=True))
    )
    assert "scores" not in selection.options
    assert "judges" not in report_of("leaderboard", selection).sentence


def test_pairs_are_compared_by_corrected_means() -> None:
    plant()
    made = report("compare-models", measure="accurate")
    assert "Cleo and Ben do not differ clearly: Cleo is " in made.sentence
    assert "move the judges’ scores" in made.sentence
    shown = made.table("pairs")
    assert shown is not None
    assert "wins" not in shown.header
    by_dimension = report("compare-models", "corrected", measure="feasibility")
    assert "move the judges’ scores" in by_dimension.sentence
    judged = report("compare-models", "judges", measure="accurate").sentence
    assert "Ada and Ben do not differ clearly: Ada is 20.0 points higher" in judged
    assert "move" not in report("compare-models", "corrected", measure="turns").sentence


def test_the_api_returns_all_three_of_the_switch() -> None:
    plant()
    caller = Caller(bearer(make_person("rita", superuser=True)))
    firsts = {}
    for scores in ("judges", "people", "corrected"):
        body = caller.get("/analysis/leaderboard", scores=scores).json()
        board = next(table for table in body["tables"] if table["name"] == "board")
        firsts[scores] = board["rows"][0][0]
    assert firsts == {"judges": "Ada", "people": "Cleo", "corrected": "Cleo"}


def keep_ratings(agent: str, most: int) -> None:
    """Keep an agent's ratings of its first tasks alone."""
    rated = Assignment.objects.filter(trajectory__run__agent__name=agent).order_by("pk")
    Rating.objects.filter(assignment__in=list(rated)[most:]).delete()
    Assignment.objects.filter(pk__in=[row.pk for row in list(rated)[most:]]).delete()


@pytest.mark.parametrize(
    ("rated", "reason"),
    [
        (0, "people rated none of them"),
        (1, "people rated one of them only"),
        (3, "what people rated belongs to 3 tasks only"),
    ],
)
def test_an_agent_with_too_few_ratings_is_undefined_with_its_reason(
    rated: int, reason: str
) -> None:
    plant()
    keep_ratings("ben", rated)
    made = report("leaderboard", "corrected")
    assert column(made, "corrected", "corrected")["Ben"] is None
    assert str(column(made, "corrected note", "corrected")["Ben"]).startswith(reason)
    assert column(made, "rank")["Ben"] is None
    assert order(made)[:2] == ["Cleo", "Ada"]


def test_ratings_of_one_task_alone_correct_nothing_and_say_so() -> None:
    study = plant()
    keep_ratings("ben", 1)
    again = make_trajectory(
        Run.objects.get(agent__name="ben"), 1, attempt=2, scores=[flat(4)], valid=1.0,
        accurate=1.0, accurate_all=1.0, accurate_main=1.0,
    )  # fmt: skip
    make_ratings(study, make_person("zoe"), again, dict.fromkeys(KEYS, 2))
    design = study.settings["design"]
    design[DRAWN].append([RATED / TASKS, str(again.pk)])
    design["items"] += 1
    study.save(update_fields=["settings"])
    made = report("leaderboard", "corrected")
    assert column(made, "rated", "corrected")["Ben"] == 2
    assert column(made, "corrected", "corrected")["Ben"] is None
    reason = "all that people rated belongs to one task"
    assert str(column(made, "corrected note", "corrected")["Ben"]).startswith(reason)
    pairs = report("compare-models", "corrected", measure="accurate").table("pairs")
    assert pairs is not None
    with_ben = [row for row in map(str, pairs.records()) if "Ben" in row]
    assert len(with_ben) == 2
    assert all(f"the corrected mean of Ben is undefined: {reason}" in row for row in with_ben)


def test_people_who_disagree_everywhere_are_shown_as_that() -> None:
    study = plant(rated=0)
    people = [make_person(name, "view_results") for name in ("ana", "bo", "cy")]
    rows = list(Trajectory.objects.filter(task__external_id__in=[f"t{n}" for n in range(1, 31)]))
    for person, value in zip(people, (1, 3, 5), strict=True):
        for trajectory in rows:
            make_ratings(study, person, trajectory, dict.fromkeys(KEYS, value))
    reader = make_person("root", superuser=True)
    made = report_of("judges", select(PAGES["judges"], Filters(study=str(study.pk)), reader))
    shown = made.table("people-agree")
    assert shown is not None
    for name, group, equals, *_, note in (row[:7] for row in shown.records()):
        if group == "Further apart":
            assert equals is not None, name
        else:
            assert (equals, note) == (None, "no item is so")
    assert any("People agree little with each other" in notice.text for notice in made.notices)


@pytest.mark.parametrize("probability", [0.0, 1.5, -0.2])
def test_impossible_probabilities_correct_nothing(probability: float) -> None:
    study = plant()
    rows = study.settings["design"][DRAWN]
    study.settings["design"][DRAWN] = [[probability, ids] for _, ids in rows]
    study.save(update_fields=["settings"])
    made = report("leaderboard", "corrected")
    assert set(column(made, "corrected", "corrected").values()) <= {None}
    assert {column(made, "rank")[name] for name in ("Ada", "Ben", "Cleo")} == {None}


def test_a_judge_who_scores_everything_alike_corrects_nothing() -> None:
    plant()
    JudgeScore.objects.update(value=3)
    made = report("rubric", "corrected")
    key = next(name for name in list(made.tables[0].header) if name.endswith("feasibility"))
    assert column(made, key, "means")["Ada"] is None
    people = report("rubric", "people")
    assert float(str(column(people, key, "means")["Ada"])) > 1


def plant_turns(*, last_only: bool = False) -> None:
    """Two agents of 50 tasks and four turns, 40 of each rated; judges rise, people see Ada fall."""
    rng, dataset = np.random.default_rng(20261129), make_dataset("Turns", tasks=TASKS)
    study, person = make_kind_study("turn_scores@1", "Turns"), make_person("mia", "view_results")
    probabilities: list[list[object]] = []
    for agent, change in (("ada", -0.6), ("ben", 0.0)):
        run, ids = make_run(dataset, agent), []
        for task in range(TASKS):
            worth = 3.5 + rng.normal(0, 0.4) + change * np.arange(4) + rng.normal(0, 0.3, 4)
            seen = np.clip(np.round(worth + 0.4 * np.arange(4)), 1, 5)
            rated = np.clip(np.round(worth + rng.normal(0, 0.3, 4)), 1, 5)
            trajectory = make_trajectory(
                run, task + 1, scores=[{"feasibility": [int(one)] * 3} for one in seen]
            )
            ids.append(trajectory.pk)
            if task < RATED:
                turns = [4] if last_only else [1, 2, 3, 4]
                item = make_item(
                    study, trajectory=trajectory, asked=("feasibility",),
                    subjects={"turn": list(map(str, turns))},
                )  # fmt: skip
                answer(
                    item, person,
                    {f"feasibility.turn-{turn}": int(rated[turn - 1]) for turn in turns},
                )  # fmt: skip
        probabilities.append([RATED / TASKS, ",".join(map(str, ids))])
    study.settings = {**study.settings, "design": {DRAWN: probabilities, "items": 2 * RATED}}
    study.save(update_fields=["settings"])


def test_changes_per_turn_are_corrected_and_the_page_says_so() -> None:
    plant_turns()
    made = report("decline")
    assert "after correction for 2 agents Ada declines, −" in made.sentence
    assert "Ratings of 80 drawn trajectories by 1 person move the judges’ scores: Ada by −" in (
        made.sentence
    )
    parts = {name: column(made, name, "corrected") for name in ("judges", "corrected", "people")}
    for name, truth in (("Ada", -0.6), ("Ben", 0.0)):
        assert float(str(parts["judges"][name])) == pytest.approx(truth + 0.4, abs=0.15)
        assert float(str(parts["corrected"][name])) == pytest.approx(truth, abs=0.15)
    assert set(column(made, "rated", "corrected").values()) == {RATED}
    assert "computed" in report("decline", "judges").sentence
    people = report("decline", "people")
    assert "in people’s scores" in people.sentence
    assert any("read the judges’ scores corrected by people" in n.text for n in people.notices)


@pytest.mark.parametrize(
    ("turn_by_turn", "words"),
    [(False, "saw all turns while they scored each"), (True, "saw the turns one after the other")],
)
def test_decline_says_how_annotators_saw_the_turns(turn_by_turn: bool, words: str) -> None:
    plant_turns()
    Study.objects.update(turn_by_turn=turn_by_turn)
    assert any(words in said for said in report("decline").how)


def test_studies_of_last_plans_offer_no_choice_on_decline() -> None:
    plant()
    assert "People" not in report("decline").sentence
    assert not any("rated" in notice.text for notice in report("decline").notices)


def test_ratings_of_last_plans_alone_correct_no_change_per_turn() -> None:
    plant_turns(last_only=True)
    said = [notice.text for notice in report("decline").notices]
    assert any("rated 0 drawn trajectories on two turns or more of each agent" in t for t in said)
    made = report("decline", "corrected")
    assert "Undefined for 2 agents: people rated several turns in 0 tasks only" in made.sentence
    assert set(column(made, "corrected", "corrected").values()) == {None}

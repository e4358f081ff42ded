"""Spread between judges, worked out by hand."""

import pytest
from django.contrib.auth.models import User

from analysis.filters import Filters
from analysis.filters.datasets import select_runs
from analysis.filters.page_filters import with_people
from analysis.pages.catalogue import PAGES
from analysis.reports.content import Report
from benchmarks.models import Run
from tests.analysis.page_reports import report_of
from tests.analysis.rows import (
    flat,
    make_dataset,
    make_member,
    make_person,
    make_ratings,
    make_run,
    make_scores,
    make_study,
    make_trajectory,
)

pytestmark = pytest.mark.django_db


def report(**words: str) -> Report:
    return report_of("dispersion", select_runs(Filters(**words)))


def spread(made: Report, dimension: str) -> dict[str, object]:
    table = made.table("spread")
    assert table is not None
    (found,) = [record for record in table.records() if record[0] == dimension]
    return dict(zip(table.header, found, strict=True))


def test_nothing_yet() -> None:
    assert report().empty is not None


def test_mean_over_agents_of_the_population_sd() -> None:
    dataset = make_dataset()
    # Judges' means on safety: ada 3, 4, 5 (SD sqrt(2/3) = 0.816497), bob 4, 4, 4 (SD 0), the
    # same on both tasks: no noise.
    for name, safety in (("ada", (3, 4, 5)), ("bob", (4, 4, 4))):
        run = make_run(dataset, name)
        for task in (1, 2):
            make_trajectory(run, task, scores=[{**flat(4), "safety": safety}])
    made = report()
    found = spread(made, "Safety")
    assert found["mean sd"] == pytest.approx(0.816497 / 2, abs=1e-6)
    assert (found["ada"], found["bob"]) == (0.816497, 0)
    assert made.sentence.startswith(
        "The standard deviation (SD) between the mean scores of the 3 judges is at most 0.41"
    )
    assert "on 2 tasks noise alone would show 0.00, and 0.58 are left beyond it." in made.sentence
    # √((2/3 + 0)/2) = 0.577350
    assert (found["noise"], found["beyond noise"]) == (0, 0.57735)
    assert (
        "Beyond noise, it is 0.30 or more on 1 of 8 dimensions (safety); the paper's SDs, noise "
        "included, are all below 0.30." in made.sentence
    )
    # Over both agents and eight dimensions: even is 1 lower once in 16 cells, −0.0625.
    assert made.sentence.endswith(
        "Over all dimensions, judges' means lie between 0.06 points below (even) and 0.06 above "
        "(mild) the mean of all judges."
    )


def test_below_the_published_bound() -> None:
    run = make_run(make_dataset(), "ada")
    make_trajectory(run, 1, scores=[flat(4)])
    # One task says nothing about noise, so nothing is held against the paper.
    assert "0.30" not in report().sentence and "how much of it is noise" in report().sentence
    make_trajectory(run, 2, scores=[flat(4)])
    assert "Beyond noise, it is below 0.30 on all 8 dimensions" in report().sentence


def test_judges_that_differ_by_noise_alone_are_not_said_to_differ() -> None:
    run = make_run(make_dataset(), "ada")
    # Each judge is one above the others on one of three tasks: means 4/3 apart in no direction…
    for task, safety in ((1, (5, 1, 1)), (2, (1, 5, 1)), (3, (1, 1, 4))):
        make_trajectory(run, task, scores=[{**flat(4), "safety": safety}])
    made = report()
    found, figure = spread(made, "Safety"), made.figure("spread")
    assert figure is not None and '"noise alone"' in figure.json
    # … whose small SD is far below what such noise shows on three tasks.
    assert 0 < float(str(found["mean sd"])) < float(str(found["noise"]))
    assert found["beyond noise"] == 0
    assert "Beyond noise, it is below 0.30 on all 8 dimensions" in report().sentence


def test_a_missing_judge_is_a_warning_and_no_zero() -> None:
    scores = {**flat(4), "safety": (4, 5, None), "autonomy": (None, None, None)}
    make_trajectory(make_run(make_dataset(), "ada"), 1, scores=[scores])
    made = report()
    assert spread(made, "Safety")["mean sd"] is None
    assert spread(made, "Autonomy")["mean sd note"] == "no judge scored it"
    said = " ".join(notice.text for notice in made.notices)
    assert "No judge scored autonomy" in said and "Mild scored nothing for Ada on Safety" in said
    assert "autonomy a judge's scores are missing." in made.sentence
    assert made.figure("spread") is not None


def test_final_turns_or_all() -> None:
    scores = [{**flat(4), "safety": (1, 3, 5)}, flat(4)]
    make_trajectory(make_run(make_dataset(), "ada"), 1, scores=scores)
    assert spread(report(), "Safety")["mean sd"] == 0
    # All turns: means 2.5, 3.5, 4.5.
    assert spread(report(turns="all"), "Safety")["mean sd"] == pytest.approx(0.816497, abs=1e-6)


def lines(made: Report, name: str) -> list[dict[str, object]]:
    table = made.table(name)
    assert table is not None
    return [dict(zip(table.header, record, strict=True)) for record in table.records()]


def later(user: User | None = None, **words: str) -> Report:
    selection = select_runs(Filters(**words))
    seen = selection if user is None else with_people(selection, user)
    return PAGES["dispersion"].content.deferred_report(seen)


def test_without_each_judge_by_means() -> None:
    dataset = make_dataset()
    # Means on safety: ada 3, 4, 5 and bob 5, 4, 3 by even, strict, mild.
    for name, safety in (("ada", (3, 4, 5)), ("bob", (5, 4, 3))):
        make_trajectory(make_run(dataset, name), 1, scores=[{**flat(4), "safety": safety}])
    (row,) = [row for row in lines(report(), "without") if row["dimension"] == "Safety"]
    # Without strict 3 and 5 are left: SD 1; without even 4 and 5 (ada), 4 and 3 (bob): SD 0.5.
    assert (row["without strict"], row["without even"]) == (1, 0.5)
    # By all judges both agents have 4: there is no order to agree with.
    assert row["order without even"] is None


def test_a_panel_that_shrank_leads_to_the_trajectories() -> None:
    run = make_run(make_dataset(), "ada")
    make_trajectory(run, 1, scores=[{**flat(4), "safety": (4, 5, None), "autonomy": (None, 4, 4)}])
    make_trajectory(run, 2, scores=[flat(4)])
    made = report()
    (row,) = lines(made, "unread")
    assert (row["turns"], row["of"]) == (1, 2)
    assert row["judges"] == "even: 1; mild: 1"
    table = made.table("unread")
    assert table is not None
    assert table.rows[0][1].url == f"/trajectories/?run={run.pk}&unscored=yes"
    assert any(
        "could not be read on 1 of 2 turns of 1 run" in notice.text for notice in made.notices
    )
    complete = {row["dimension"]: row for row in lines(later(), "items")}["Safety"]
    assert (complete["items"], complete["complete"]) == (2, 1)


def test_single_turns_show_what_means_hide() -> None:
    run = make_run(make_dataset(), "ada")
    # Even and mild change places: equal means, SD 1 on each turn (strict in the middle: sqrt(2/3)).
    for task, safety in ((1, (3, 4, 5)), (2, (5, 4, 3))):
        make_trajectory(run, task, scores=[{**flat(4), "safety": safety}])
    assert spread(report(), "Safety")["mean sd"] == 0
    made = later()
    found = {row["dimension"]: row for row in lines(made, "items")}
    assert found["Safety"]["sd"] == pytest.approx(0.816497, abs=1e-6)
    assert "most on safety: 0.82" in made.sentence
    judges = {(row["dimension"], row["judge"]): row for row in lines(made, "judges")}
    # Strict against the mean of the other two: 0 on both; without it 3 and 5 are left, SD 1.
    strict = judges["Safety", "strict"]
    assert (strict["severity"], strict["sd without"]) == (0, 1)
    assert strict["verdicts"] is None  # the runs say no threshold


def test_verdicts_that_turn_at_the_threshold_of_the_runs() -> None:
    run = make_run(make_dataset(), "ada")
    Run.objects.update(settings={"tau": 3.5})
    # Means 11/3 (pass); without mild 3 (fail). Then 4 everywhere: nothing turns.
    make_trajectory(run, 1, scores=[{**flat(4), "safety": (3, 3, 5)}])
    make_trajectory(run, 2, scores=[flat(4)])
    made = later()
    judges = {(row["dimension"], row["judge"]): row for row in lines(made, "judges")}
    assert judges["Safety", "mild"]["verdicts"] == 0.5
    assert judges["Safety", "even"]["verdicts"] == 0
    assert "at τ = 3.5 at most 50.0 % of verdicts turn without one of them (mild, safety)" in (
        made.sentence
    )
    assert made.figure("flips") is not None


def test_bias_is_against_the_people_that_the_reader_may_see() -> None:
    dataset = make_dataset(is_demo=True)
    run = make_run(dataset, "ada")
    trajectory = make_trajectory(run, 1, scores=[{**flat(4), "safety": (3, 4, 5)}])
    make_trajectory(run, 2, scores=[flat(4)])
    study, rita = make_study(is_demo=True), make_person("rita", "view_results")
    make_ratings(study, make_person("ann"), trajectory, {"safety": 2})
    make_ratings(study, make_person("bea"), trajectory, {"safety": 3}, simulated=True)
    nobody = {(r["dimension"], r["judge"]): r for r in lines(later(rita), "judges")}
    assert nobody["Safety", "mild"]["bias"] is None  # she does not oversee the study
    make_member(study, rita)
    made = later(rita)
    judges = {(row["dimension"], row["judge"]): row for row in lines(made, "judges")}
    # People's mean is 2.5: even 0.5 above, strict 1.5, mild 2.5; one plan was scored by people.
    found = [judges["Safety", judge]["bias"] for judge in ("even", "strict", "mild")]
    assert found == [0.5, 1.5, 2.5] and judges["Safety", "mild"]["bias n"] == 1
    assert "1 of 2 annotators" in made.banners[0].text


def test_runs_of_other_judges_are_left_out_and_said() -> None:
    dataset = make_dataset()
    for name in ("ada", "bob"):
        make_trajectory(make_run(dataset, name), 1, scores=[flat(4)])
    odd = make_run(dataset, "cid")
    turn = make_trajectory(odd, 1, texts=["1. Do it."]).turns.get()
    make_scores(turn, odd, {"safety": (1, 5)}, judges=("harsh", "kind"))
    made = later()
    assert {row["judge"] for row in lines(made, "judges")} == {"even", "strict", "mild"}
    assert "Cid (harsh and kind)" in made.notices[-1].text

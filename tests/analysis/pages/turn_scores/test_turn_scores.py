"""Scores of turns against figures that are computed by hand, and never mixed with others."""

import numpy as np
import pandas
import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.urls import reverse

from analysis.filters import Filters
from analysis.frames.ratings import rating_frame
from analysis.pages.catalogue import PAGES, select
from analysis.pages.decline.pooled_fits import ALL, limits_of, pooled_rows
from analysis.pages.turn_scores.sides import COLUMNS, JUDGES, PEOPLE, fit_sides
from analysis.reports.content import Report
from annotation.models import StoredQuestionnaire, Study
from tests.analysis.human_rows import (
    answer,
    make_item,
    make_kind_study,
    make_people,
    make_turn_scores,
)
from tests.analysis.page_reports import report_of
from tests.analysis.pages.violation_check.test_violation_check import lines
from tests.analysis.rows import (
    flat,
    make_dataset,
    make_member,
    make_person,
    make_run,
    make_trajectory,
)

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("no_stored_reports")]

PAGE = PAGES["turn-scores"]
BOTH = """
id: both_asked
version: 1
kind: both
system: adaplanbench
title: The last plan and every turn
instructions: [Score.]
sections:
  - {key: plan, title: Plans}
questions:
  - {key: safety, dimension: safety, section: plan, about: final, needs: [final_plan]}
  - key: turn_safety
    section: plan
    about: turn
    title: Safety by turn
    needs: [final_plan]
    definition: Is this plan safe?
    anchors: {1: "No.", 3: "Partly.", 5: "Yes."}
    examples: {1: "Burn it.", 3: "Cut it.", 5: "Glue it."}
"""


@pytest.fixture
def reader() -> User:
    return make_person("rita", "view_results")


@pytest.fixture
def study(reader: User) -> Study:
    made = make_turn_scores(make_people())
    make_member(made, reader)
    return made


def later(reader: User) -> Report:
    """Return what a job computes."""
    return PAGE.content.deferred_report(select(PAGE, Filters(), reader))


def report(reader: User, **words: str) -> Report:
    """The page's report, once its slopes are fitted."""
    later(reader)
    return report_of("turn-scores", select(PAGE, Filters(**words), reader))  # type: ignore[arg-type]


def test_means_by_turn_match_a_hand_computation(reader: User, study: Study) -> None:
    table = report(reader).table("points")
    assert table is not None
    rows = {(r[1], r[2]): r for r in table.records() if r[0] == "Feasibility"}
    # People: (4 + 5)/2 on turn 1, (2 + 4)/2 on turn 2; judges: (4 + 14/3)/2 and (3 + 4)/2.
    assert [rows["People", turn][5] for turn in (1, 2)] == [4.5, 3]
    assert [rows["Judges", turn][5] for turn in (1, 2)] == [round(13 / 3, 6), 3.5]
    assert {row[3] for row in rows.values()} == {2}


def test_changes_and_agreement_match_a_hand_computation(
    reader: User, study: Study, client: Client
) -> None:
    found = report(reader)
    # People fall by 2 and by 1, judges by 1 and by 2/3.
    slopes = lines(found.table("slopes"))["Feasibility"]
    assert slopes["people"] == pytest.approx(-1.5)
    assert slopes["judges"] == pytest.approx(-5 / 6, abs=1e-6)
    assert lines(found.table("within"))["Feasibility"]["people"] == -1.5
    # |person − judges' mean|: T1.1 0 1 1, T1.2 1 0 2, T2.1 1/3 three times, T2.2 0 three times.
    # Judges − person: 0 −1 1, 1 0 2, −1/3 three times, 0: 2 over 12 answers.
    agreement = lines(found.table("agreement"))["Feasibility"]
    assert (agreement["n"], agreement["equal"]) == (12, round(5 / 12, 6))
    assert agreement["within one"] == round(11 / 12, 6) and agreement["bias"] == round(2 / 12, 6)
    turns = found.table("turns")
    assert turns is not None
    by_turn = {row[0]: row for row in turns.records() if row[1] == "Feasibility"}
    # On turn 1 one of six is equal, on turn 2 four of six.
    assert (by_turn[1][4], by_turn[2][4]) == (round(1 / 6, 6), round(4 / 6, 6))
    client.force_login(reader)
    page = (
        client.get(reverse("analysis:turn-scores"))
        .content.decode()
        .replace("&#x27;", "'")
        .replace("\u00a0", " ")
    )
    assert "score on 91.7 % of 12 answers and equal on 41.7 %" in page
    assert "change by −1.50" in page


def test_people_among_each_other(reader: User, study: Study) -> None:
    found = lines(report(reader).table("people"))["Feasibility"]
    # Pairs: T1.1 4 5 3, T1.2 2 3 1: none of three equal, two of three within one; T2: all equal.
    assert (found["turns"], found["equal"]) == (4, 0.5)
    assert found["within one"] == round((2 / 3 + 2 / 3 + 2) / 4, 6)


def test_other_pages_lead_here(reader: User, study: Study) -> None:
    for key in ("agreement", "ratings"):
        found = report_of(key, select(PAGE, Filters(), reader))
        assert found.empty is not None and not found.figures
        assert found.empty.action_url == f"/analysis/decline/turn-scores/?study={study.pk}"


def test_scores_of_turns_and_of_last_plans_are_never_mixed(reader: User) -> None:
    StoredQuestionnaire.objects.create(name="both_asked", version=1, text=BOTH)
    both = make_kind_study("both_asked@1")
    make_member(both, reader)
    run = make_run(make_dataset("Both"), "both")
    (ann,) = make_people("ann")
    trajectory = make_trajectory(run, 1, scores=[flat(1), flat(5)])
    item = make_item(
        both, trajectory=trajectory, asked=("safety", "turn_safety"), subjects={"turn": ["1", "2"]}
    )
    answer(item, ann, {"safety": 5, "turn_safety.turn-1": 1, "turn_safety.turn-2": 2})
    selection = select(PAGES["ratings"], Filters(), reader)
    whole = rating_frame(both, selection.runs)
    assert whole[["question", "human"]].values.tolist() == [["safety", 5]]
    turns = rating_frame(both, selection.runs, turns=True)
    assert turns[["turn", "human"]].values.tolist() == [[1, 1], [2, 2]]
    # The judges give the last plan 5 and the first 1: only the last is held against the person's 5.
    agreement = lines(report_of("agreement", selection).table("agreement"))["Safety"]
    assert (agreement["n"], agreement["equal"]) == (1, 1)
    rows = lines(report_of("ratings", selection).table("questions"))
    assert [row["mean"] for row in rows.values()] == [5]


def test_no_study_and_no_scores(reader: User) -> None:
    assert report(reader).empty is not None
    made = make_turn_scores([])
    make_member(made, reader)
    assert report(reader).empty is not None


def test_slopes_of_both_sides_are_fitted(reader: User, study: Study) -> None:
    selection = select(PAGE, Filters(), reader)
    before = report_of("turn-scores", selection)
    assert before.waits and "is not computed yet" in before.sentence
    assert before.figure("slopes") is None and before.table("points") is not None
    made = later(reader)
    table = made.table("slope-models")
    assert table is not None
    rows = {(record[0], record[1]): record for record in table.records()}
    # People fall by 2 and by 1, judges by 1 and by 2/3, over two turns: every fit is the mean.
    assert rows["People", "Feasibility"][2] == pytest.approx(-1.5)
    assert rows["Judges", "Feasibility"][2] == pytest.approx(-5 / 6, abs=1e-6)
    assert made.figure("slope-models") is not None
    after = report_of("turn-scores", selection)
    assert not after.waits and after.figure("slopes") is not None
    assert (
        "change by −1.50 points" in after.sentence and "judges' by −0.83 points" in after.sentence
    )


def test_the_answer_is_the_difference_of_slopes(reader: User, study: Study) -> None:
    made = report(reader)
    # Judges minus people: T1 −1 + 2, T2 −2/3 + 1.
    table = lines(made.table("slopes"))["Feasibility"]
    assert table["difference"] == pytest.approx(2 / 3, abs=1e-6)
    assert table["difference n"] == 2 and isinstance(table["p"], float) and table["p"] > 0.05
    assert made.sentence.startswith("Per turn, judges' scores change by +0.67 (95 % interval −")
    assert "points relative to people's: no clear difference (p = 0." in made.sentence
    figure = made.figure("slopes")
    assert figure is not None and "Judges minus people" in figure.json


def test_a_clear_difference_is_marked_and_a_degenerate_fit_said() -> None:
    rng = np.random.default_rng(3)
    rows = [
        (side, ALL, trajectory, turn, 4 - fall * turn + more, trajectory, "1")
        for trajectory in range(24)
        # Judges' noise has the same mean in every trajectory: their levels cannot vary.
        for turn, noise in enumerate(rng.permutation([0.3, -0.3, 0.1, -0.1]), 1)
        for side, fall, more in ((PEOPLE, 0.1, 0.0), (JUDGES, 0.3, noise))
    ]
    fits = fit_sides(pandas.DataFrame(rows, columns=list(COLUMNS)))
    (overall,), _ = pooled_rows(fits.differences, {})
    assert overall.fit.slope.value == pytest.approx(-0.2, abs=0.06) and overall.verdict
    assert "Degenerate fit: the variance of trajectories' levels" in limits_of(overall.fit)

"""Judges beside themselves, beside another judging and beside people, counted by hand."""

import pytest
from django.contrib.auth.models import User

from analysis.filters import Filters
from analysis.filters.datasets import select_runs
from analysis.filters.judgings import with_beside
from analysis.filters.page_filters import with_people
from analysis.filters.selection import Selection
from analysis.frames.judgings import JudgeSeat, matches
from analysis.frames.outcomes import outcome_frame
from analysis.pages.catalogue import PAGES
from analysis.pages.refinement.page import refinement_chains
from analysis.reports.content import Report
from benchmarks.models import Run, Task, Trajectory
from tests.analysis.judged_again import judge_again
from tests.analysis.page_reports import report_of
from tests.analysis.rows import (
    flat,
    make_dataset,
    make_member,
    make_person,
    make_ratings,
    make_run,
    make_study,
    make_trajectory,
)

pytestmark = [pytest.mark.django_db, pytest.mark.either]


def choose(user: User | None = None, **words: str) -> Selection:
    selection = with_beside(select_runs(Filters(**words)))
    return selection if user is None else with_people(selection, user)


def later(selection: Selection) -> Report:
    return PAGES["judgings"].content.deferred_report(selection)


def rows(made: Report, name: str) -> list[dict[str, object]]:
    table = made.table(name)
    assert table is not None
    return [dict(zip(table.header, record, strict=True)) for record in table.records()]


@pytest.fixture
def run(db: None) -> Run:
    """Two tasks, whose last plans all judges gave 4 and 3; τ lies between."""
    run = make_run(make_dataset(), "ada")
    run.settings = {"tau": 3.5, "dimensions": "all", "quorum": "all"}
    run.save()
    for task, score in ((1, 4), (2, 3)):
        make_trajectory(run, task, scores=[flat(score)])
    return run


def ids(run: Run) -> list[int]:
    return list(run.trajectories.order_by("pk").values_list("pk", flat=True))


def test_one_judging_and_one_reply_say_nothing_yet(run: Run) -> None:
    made = report_of("judgings", choose())
    assert "judged once" in made.sentence and "nothing shows yet" in made.sentence
    (first, *_) = rows(made, "consistency")
    assert first["equal"] is None and "asked once" in str(first["equal note"])
    assert (first["unreadable"], first["unreadable n"]) == (0, 16)
    assert made.table("change") is None and not made.figures
    assert report_of("judgings", Selection(Filters())).empty is not None


def test_a_second_judging_beside_the_first(run: Run) -> None:
    first, second = ids(run)
    # Even says 4 and 5 of the first plan, 4 twice of the second; strict 2 and 4; mild as before.
    judge_again(run, {
        first: [(4, 5), (2, 2), (4, 4)],
        second: [(4, 4), (4, 4), (3, None)],
    }, replicates=2, anchors="descending")  # fmt: skip
    made = report_of("judgings", choose())
    own = {(row["judge"], row["judging"]): row for row in rows(made, "consistency")}
    even, mild = own["even", "again"], own["mild", "again"]
    # One pair of 1 and one of 0 on each of eight dimensions; SD = sqrt((0.5 + 0)/2).
    assert (even["equal"], even["within one"]) == (0.5, 1)
    assert even["sd"] == pytest.approx(0.5) and even["equal n"] == 16
    assert (mild["unreadable"], mild["unreadable n"]) == (0.25, 32)
    change = {row["judge"]: row for row in rows(made, "change")}
    # Even: means 4.5 and 4 beside 4 and 3, first replies 4 and 4; strict 2 and 4; mild lacks a
    # reply about the second, so its mean, but not the first reply.
    assert change["even"]["difference"] == 0.75 and change["even"]["higher"] == 8
    assert (change["even"]["changed"], change["even"]["kappa"]) == (0.5, 0)
    assert (change["strict"]["difference"], change["strict"]["size"]) == (-0.5, 1.5)
    assert (change["mild"]["difference n"], change["mild"]["changed n"]) == (8, 16)
    assert "no scores of the scale" in str(change["all judges"]["kappa note"])
    # All judges: (4.5 + 2 + 4)/3 − 4, on the first plan alone.
    assert change["all judges"]["difference"] == pytest.approx(-0.5)
    # The first plan's mean is 3.5 still (5 of 6 scores count alike); the second lacks one.
    (agent,) = rows(made, "verdicts")
    assert (agent["turned"], agent["turned n"], agent["pass now"]) == (0, 1, 0)
    assert made.sentence.startswith(
        "Judged again as “again”, the judges' mean is 3.50 instead of 4.00 ("
    )
    assert "−0.50" in made.sentence and change["all judges"]["second judging"] == 3.5
    assert "judges give the same score in 50.0 %" in made.sentence
    how = " ".join(made.how)
    assert "anchors: descending" in how and "replicates: 2" in how
    assert [figure.name for figure in made.figures] == ["scores", "equal", "change"]


def test_verdicts_that_turn_lead_to_their_trajectories(run: Run) -> None:
    first, second = ids(run)
    judge_again(run, {first: [(3,)] * 3, second: [(5,)] * 3})
    made = report_of("judgings", choose())
    (agent,) = rows(made, "verdicts")
    assert (agent["turned"], agent["pass now"], agent["fail now"]) == (1, 1, 1)
    assert agent["change"] == 0
    table, turned = made.table("verdicts"), made.table("turned")
    assert table is not None and turned is not None
    assert table.rows[0][5].url == f"/trajectories/?ids={second}"
    assert [row[0].url for row in turned.rows] == [f"/trajectories/{pk}/" for pk in (first, second)]
    assert [row[2].text for row in turned.rows] == ["fails now", "passes now"]
    assert "The verdict changes on 2 of 2 trajectories" in made.sentence


def test_metrics_follow_from_the_judging_that_counts(run: Run) -> None:
    first, second = ids(run)
    judge_again(run, {first: [(3,)] * 3}, metrics={first: {"accurate": 0.0}})
    other = make_run(run.dataset, "bob")
    make_trajectory(other, 1, scores=[flat(4)])
    usual = outcome_frame(choose().runs, ["accurate"])
    assert usual["accurate"].tolist() == [1, 1, 1]
    selection = choose(judging="again")
    frame = outcome_frame(selection.runs, ["accurate"])
    assert frame["accurate"].tolist()[:1] == [0] and frame["accurate"].isna().tolist() == [
        False,
        True,
    ]
    assert frame["why accurate"].tolist()[1] == "the judging “again” did not include it"
    assert selection.left_out == (f"Bob: run {other.pk} has no judging again",)
    made = report_of("leaderboard", selection)
    assert any("those of the judging “again”" in notice.text for notice in made.notices)
    assert "Judging: again; judges: rubric" in " ".join(made.how)
    # What would be chosen by the primary judging's verdicts is not linked to.
    assert all(
        "accurate" not in cell.url for table in made.tables for row in table.rows for cell in row
    )
    # Beside it now stands the primary one.
    assert selection.filters.beside == "live"
    assert choose(judging="again", beside="x").filters.beside == "live"
    assert refinement_chains(selection.runs, 6).left_out


def test_who_is_held_against_whom() -> None:
    even, strict, other = (
        JudgeSeat("even", "1", "1"),
        JudgeSeat("strict", "1", "2"),
        JudgeSeat("o", "1", "3"),
    )
    newer, moved, harsh = (
        JudgeSeat("even", "2", "2"),
        JudgeSeat("strict", "1", "1"),
        JudgeSeat("h", "1", "3"),
    )
    names = {even: "even", strict: "strict", other: "o"}
    found = {
        match.label: (match.first, match.second) for match in matches(names, [newer, moved, harsh])
    }
    assert found == {
        "even: 1 → 2": (even, newer),
        "strict": (strict, moved),
        "o → h (seat 3)": (other, harsh),
    }
    assert matches({even: "even"}, []) == []


def test_maps_and_panels_beside_people() -> None:
    dataset = make_dataset(tasks=0, is_demo=True)
    Task.objects.bulk_create(
        Task(dataset=dataset, external_id=f"t{n}", prompt=f"Task {n}") for n in range(30)
    )
    run, study, rita = make_run(dataset, "ada"), make_study(is_demo=True), make_person("rita")
    make_member(study, rita)
    ann = make_person("ann")
    for n in range(30):
        people = 1 + n % 3
        # Even says what people say, strict one more, mild always 4.
        scores = {"safety": (people, people + 1, 4)}
        item = make_trajectory(run, n, scores=[scores])
        make_ratings(study, ann, item, {"safety": people}, simulated=True)
    made = later(choose(rita, mapped="monotone"))
    mapped = {row["judge"]: row for row in rows(made, "mapped")}
    assert (mapped["strict"]["bias"], mapped["strict"]["error"]) == (1, 1)
    assert mapped["strict"]["error, mapped"] == pytest.approx(0, abs=1e-6)
    assert mapped["strict"]["change"] == pytest.approx(-1)
    assert mapped["mild"]["worth"] == pytest.approx(0, abs=1e-6)
    maps = {row["judge"]: row for row in rows(made, "maps")}
    assert maps["strict"]["at 3"] == pytest.approx(2)
    panels = {row["panel"]: row for row in rows(made, "panels")}
    assert len(panels) == 7 and panels["even"]["held out"] == 0
    assert panels["even, strict"]["held out"] == 0.5 and panels["even"]["cost"] is None
    without = {row["without"]: row["held out"] for row in rows(made, "without-one")}
    assert without["mild"] == 0.5
    assert "the panel of even lies 0.00 points from people" in made.sentence
    assert {figure.name for figure in made.figures} == {"mapped", "panels"}
    assert "1 of 1 annotator" in made.banners[0].text
    assert "closest map that never falls" in " ".join(made.how)
    # Who may not read the study has judges alone.
    alone = later(choose())
    assert alone.table("mapped") is None and "Nobody scored" in alone.sentence
    assert rows(alone, "panels")[0]["held out"] is None


def test_by_dimension_later(run: Run) -> None:
    first, second = ids(run)
    judge_again(run, {pk: [(4, 4), (3, 4)] for pk in (first, second)}, judges=("even", "new"),
                dimensions=("safety", "feasibility"))  # fmt: skip
    made = later(choose())
    own = {(row["dimension"], row["judge"]): row for row in rows(made, "own")}
    assert len(own) == 4 and own["Safety", "new"]["equal"] == 0
    changes = {(row["dimension"], row["judge"]): row for row in rows(made, "changes")}
    assert changes["Safety", "even"]["difference"] == 0.5
    assert changes["Safety", "strict → new (seat 2)"]["difference"] == 0
    # A judge of the later judging is one more to choose among.
    (notice,) = [n.text for n in made.notices if "No panel" in n.text]
    assert "only 0 tasks" in notice
    assert Trajectory.objects.filter(judged=first).count() == 1

"""Scores over turns, worked out by hand."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

from analysis.filters import Filters
from analysis.filters.datasets import select_runs
from analysis.pages.catalogue import PAGES
from analysis.pages.decline import pooled_fits, slope_fits
from analysis.pages.decline.pooled_fits import fit_pooled
from analysis.pages.decline.services import KIND
from analysis.pages.decline.slope_fits import fit_runs
from analysis.pages.reports import deferred_request, make_report, report_key, write_deferred
from analysis.reports.content import Report
from benchmarks.jobs import wake_up
from benchmarks.jobs.services import perform
from benchmarks.models import AnswererVersion, Job, JudgeScore, Run, Task, Trajectory, Turn
from tests.analysis.page_reports import report_of
from tests.analysis.rows import flat, make_dataset, make_run, make_trajectory
from tests.analysis.stats.trends.simulate_slopes import made_scores
from tests.factories.benchmarks import play, save_sample_dataset, start_sample_runs
from tests.shared_data import shared_rows

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("no_stored_reports")]


def report(**words: object) -> Report:
    """The page's report, once its slopes are fitted."""
    selection = select_runs(Filters(**words))  # type: ignore[arg-type]
    if selection.family:
        fit_runs(selection.system, selection.family)
        fit_pooled(selection.system, selection.family)
    return report_of("decline", selection)


def points(made: Report, dimension: str = "Safety") -> list[tuple[object, ...]]:
    """Position, running, scored and mean of a dimension's curve."""
    table = made.table("points")
    assert table is not None
    return [tuple(r[2:6]) for r in table.records() if r[1] == dimension]


def make_falling(run: Run) -> None:
    """Turns score 5, 4, 3; then 5, 4; then 5."""
    make_trajectory(run, 1, scores=[flat(5), flat(4), flat(3)])
    make_trajectory(run, 2, scores=[flat(5), flat(4)])
    make_trajectory(run, 3, scores=[flat(5)])


def test_nothing_yet() -> None:
    assert report().empty is not None


def test_by_turn_with_those_still_running() -> None:
    make_falling(make_run(make_dataset(), "ada"))
    made = report()
    assert points(made) == [(1, 3, 3, 5), (2, 2, 2, 4), (3, 1, 1, 3)]
    assert not any(notice.text.startswith("Few tasks") for notice in made.notices)
    assert "1 of 3 reaches turn 3" in made.notices[0].text
    assert "does not matter" not in str(made.tables) + str(made.notices)


def test_from_the_end() -> None:
    make_falling(make_run(make_dataset(), "ada"))
    made = report(align="end")
    # Last turns: 3, 4, 5; one before: 4 and 5; two before: 5.
    assert points(made) == [(0, 3, 3, 4), (-1, 2, 2, 4.5), (-2, 1, 1, 5)]
    assert "Only 1 of 3 trajectories are 3 turns long" in made.notices[0].text


def slopes_of(made: Report) -> dict[tuple[object, str], dict[str, object]]:
    """Return what the table of pairs says of each agent and dimension."""
    table = made.table("pairs")
    assert table is not None
    found = {}
    for record in table.records():
        row = dict(zip(table.header, record, strict=True))
        titles = [name.removesuffix(" verdict") for name in row if name.endswith(" verdict")]
        for title in titles:
            found[row["agent"], title] = {
                part: row[f"{title} {part}" if part else title]
                for part in ("", "low", "high", "n", "note", "p", "verdict")
            }
    return found


def test_all_at_the_same_rate_has_a_slope_without_interval() -> None:
    make_falling(make_run(make_dataset(), "ada"))
    made = report(dimensions=("safety",))
    found = slopes_of(made)["Ada", "safety"]
    # Both trajectories with two turns or more fall by one point a turn exactly.
    assert (found[""], found["low"], found["n"]) == (-1, None, 3)
    assert "parallel" in str(found["note"]) and found["p"] is None and found["verdict"] == ""
    assert made.sentence.startswith("Whether plans get worse is not known: every trajectory")


def make_two_turns(run: Run, falls: Sequence[float]) -> None:
    """Trajectories of two turns whose safety falls so much; nothing else moves."""
    make_turns(run, "safety", [(5, 5 - fall) for fall in falls])


def test_sentence_counts_what_is_clear_after_correction() -> None:
    run = make_run(make_dataset(), "ada")
    make_two_turns(run, [2, 1] * 6)
    made = report(dimensions=("safety",))
    # Slopes −2 and −1, six each: mean −1.5, and a standard error of 0.5/√11 or a little less.
    assert made.sentence.startswith(
        "Over all dimensions scores change by −1.50 (95 % interval −1.8"
    )
    assert "points per turn: they decline (p < 0.001, n = 12 trajectories)." in made.sentence
    found = slopes_of(made)["Ada", "safety"]
    assert found["verdict"] == "declines" and isinstance(found["p"], float) and found["p"] < 0.001
    for name in ("slopes", "pairs"):
        table = made.table(name)
        assert table is not None
        assert [badge.text for badge in table.rows[0][1].badges] == ["declines"]
    assert any("every estimate of the change per turn is wrong" in n.text for n in made.notices)


def noisy_paths(slope: float, seed: int) -> list[list[float]]:
    rng = np.random.default_rng(seed)
    return [[float(3 + slope * t + rng.normal(0, 0.5)) for t in range(4)] for _ in range(20)]


def test_filters_change_neither_the_family_nor_what_is_clear() -> None:
    dataset = make_dataset()
    # One agent falls a little: clear alone (p about 0.02), not among six (Holm: × 6).
    for name, slope in (("ada", -0.15), *((f"other{n}", 0.0) for n in range(5))):
        make_turns(make_run(dataset, name), "safety", noisy_paths(slope, 7))
    everything = report()
    p = slopes_of(everything)["Ada", "safety"]["p"]
    assert isinstance(p, float) and 0.05 < p < 0.3
    alone = report(agents=("ada",), dimensions=("safety",))
    assert slopes_of(alone) == {
        key: value for key, value in slopes_of(everything).items() if key == ("Ada", "safety")
    }
    low, high = (slopes_of(alone)["Ada", "safety"][end] for end in ("low", "high"))
    assert isinstance(low, float) and isinstance(high, float) and low < high < 0
    assert slopes_of(alone)["Ada", "safety"]["verdict"] == ""
    # The page leads with all agents, whichever are shown.
    assert alone.sentence == everything.sentence
    assert "no clear change" in alone.sentence and alone.sentence.endswith(
        "Of 6 agent–dimension pairs fitted one by one none clearly declines or rises."
    )
    details = later(agents=("ada",), dimensions=("safety",))
    assert slope_rows(details)["Ada", "Safety"]["p"] == p


def test_the_answer_pools_what_no_pair_can_show() -> None:
    """Five agents fall by 0.1 a turn; each alone has too few turns to show it."""
    dataset = make_dataset()
    rng = np.random.default_rng(2)
    for agent in range(5):
        paths = [
            [float(4 - 0.1 * turn + noise) for turn, noise in enumerate(rng.normal(0, 0.9, 4))]
            for _ in range(14)
        ]
        run = make_run(dataset, f"agent{agent}")
        make_turns(run, "safety effectiveness", paths)
    made = report()
    assert "pairs fitted one by one none clearly declines or rises" in made.sentence
    assert "of 2 dimensions 2 decline and" in made.sentence and "safety (−0.1" in made.sentence
    table, agents = made.table("slopes"), made.table("agents")
    assert table is not None and agents is not None
    rows = {row[0]: dict(zip(table.header, row, strict=True)) for row in table.records()}
    safety = rows["Safety"]
    assert safety["p"] is not None and isinstance(safety["p"], float) and safety["p"] <= 0.05
    # Agents lie nearer to the mean than their own fits do.
    own = [slopes_of(made)[f"Agent{n}", "safety"][""] for n in range(5)]
    shrunken = [dict(zip(agents.header, row, strict=True))["safety"] for row in agents.records()]
    assert len(shrunken) == 5
    assert float(np.ptp(shrunken)) < float(np.ptp(own))  # type: ignore[arg-type]


def test_two_agents_and_variances_of_0_are_said() -> None:
    dataset = make_dataset()
    for name in ("ada", "bob"):
        make_turns(make_run(dataset, name), "safety", noisy_paths(-0.2, 3))
    made = report()
    assert "Two agents are too few to estimate how much agents differ" in made.sentence
    assert made.table("agents") is None
    make_turns(make_run(dataset, "cyd"), "safety", noisy_paths(-0.2, 3))
    assert "Degenerate fit: the variance of agents' levels and agents' slopes" in report().sentence


def test_the_page_waits_for_its_slopes_and_is_not_kept() -> None:
    make_two_turns(make_run(make_dataset(), "ada"), [2, 1] * 6)
    page, selection = PAGES["decline"], select_runs(Filters())
    key = report_key(page, selection)
    made = make_report(page, selection, key)
    assert made.waits and made.table("slopes") is None and made.table("points") is not None
    # Means by turn are there at once, and take the place of what waits.
    (figure,) = page.content.answer(selection).figures
    assert figure.title == "Safety: mean score by turn"
    assert "is not computed yet" in made.sentence
    wanted = deferred_request(page, selection)
    assert wanted is not None
    write_deferred(page, selection, wanted)
    made = make_report(page, selection, key)
    assert not made.waits and "they decline" in made.sentence and made.table("slopes") is not None


def test_the_answer_follows_the_table_where_the_last_score_ends_trajectories() -> None:
    """True slope 0: the within slope is fooled, and the page leads with what is not."""
    ids, _, scores = made_scores("the last score", 100, (1,))
    paths: dict[int, list[float]] = {}
    for trajectory, score in zip(ids, scores, strict=True):
        paths.setdefault(trajectory, []).append(score)
    make_turns(make_run(make_dataset(), "ada"), "safety", list(paths.values()))
    made = report(dimensions=("safety",))
    assert "no clear change" in made.sentence
    row = slope_rows(later(dimensions=("safety",)))["Ada", "Safety"]
    low = row["within low"]
    assert isinstance(low, float) and low > 0


def test_each_chosen_dimension_has_a_figure_with_a_panel_per_agent() -> None:
    dataset = make_dataset()
    for name in ("ada", "bob"):
        make_falling(make_run(dataset, name))
    made = report()
    curves = [figure for figure in made.figures if figure.name.startswith("curves")]
    titles = ("Feasibility", "Physical plausibility", "Effectiveness", "Safety")
    assert [figure.title for figure in curves] == [f"{t}: mean score by turn" for t in titles]
    assert "Ada" in curves[0].json and "Bob" in curves[0].json
    # Under each turn the number of trajectories that have it.
    assert "1<br>3" in curves[0].json and "3<br>1" in curves[0].json
    assert report(dimensions=("autonomy",)).figure("curves-2") is None
    for name in ("slopes", "pairs"):
        slopes = made.figure(name)
        assert slopes is not None and all(title in slopes.json for title in titles)


def slope_rows(made: Report) -> dict[tuple[object, object], dict[str, object]]:
    table = made.table("slope-models")
    assert table is not None
    rows = [dict(zip(table.header, record, strict=True)) for record in table.records()]
    return {(row["agent"], row["dimension"]): row for row in rows}


def make_turns(run: Run, dimension: str, paths: Sequence[Sequence[float]]) -> None:
    """Trajectories, each on a task of its own, with one judge's score of every turn, in bulk.

    Several dimensions, with spaces between them, get the same scores.
    """
    tasks = Task.objects.bulk_create(
        Task(dataset=run.dataset, external_id=f"made-{run.pk}-{n}", prompt="Mend it.")
        for n in range(len(paths))
    )
    trajectories = Trajectory.objects.bulk_create(
        Trajectory(run=run, task=task, status="done", turn_count=len(path))
        for task, path in zip(tasks, paths, strict=True)
    )
    turns = Turn.objects.bulk_create(
        Turn(trajectory=trajectory, index=i, text="Do it.", is_final=i == len(path))
        for trajectory, path in zip(trajectories, paths, strict=True)
        for i in range(1, len(path) + 1)
    )
    judge, _ = AnswererVersion.objects.get_or_create(
        digest="even", defaults={"kind": "scripted", "name": "even", "version": "1"}
    )
    scores = [score for path in paths for score in path]
    JudgeScore.objects.bulk_create(
        JudgeScore(
            judging=run.primary_judging, turn=turn, judge=judge, seat="1", dimension=key,
            value=value, trajectory=turn.trajectory, run=run, agent=run.agent, level=run.level,
            condition=run.condition, turn_index=turn.index, is_final=turn.is_final,
        )
        for key in dimension.split()
        for turn, value in zip(turns, scores, strict=True)
    )  # fmt: skip


def later(**words: object) -> Report:
    selection = select_runs(Filters(**words))  # type: ignore[arg-type]
    return PAGES["decline"].content.deferred_report(selection)


def test_survivors_fool_one_line_and_neither_gee_nor_the_mixed_model() -> None:
    """Made data: true slope −0.08, a low score ends a trajectory (shared data, R's values)."""
    paths: dict[str, list[float]] = {}
    for row in shared_rows("agreement", "synthetic_turns.csv.gz"):
        paths.setdefault(row["item"], []).append(float(row["score"]))
    make_turns(make_run(make_dataset(), "ada"), "safety", list(paths.values()))
    made = later(dimensions=("safety",))
    row = slope_rows(made)["Ada", "Safety"]
    low, high = row["one line low"], row["one line high"]
    assert isinstance(low, float) and isinstance(high, float)
    assert not low <= -0.08 <= high  # the line through all scores misses the truth
    for fit in ("mixed model", "gee"):
        assert row[fit] == pytest.approx(-0.08, abs=0.01)
        low, high = row[f"{fit} low"], row[f"{fit} high"]
        assert isinstance(low, float) and isinstance(high, float) and low <= -0.08 <= high < 0
    assert row["mixed model n"] == 120 and row["p"] == 0
    assert report(dimensions=("safety",)).sentence.startswith(
        "Over all dimensions scores change by −0.09 (95 % interval −0.09 to −0.08) points per turn"
    )
    assert made.sentence.startswith("Four estimates of the change per turn, side by side; one line")
    assert "is off by +0.0" in made.sentence and "upwards" in made.sentence
    assert "Trajectories that last began better" in made.notices[0].text


def test_slopes_fall_back_and_say_why() -> None:
    run = make_run(make_dataset(tasks=12), "ada")
    for task in range(1, 13):
        fall = 2 if task % 2 else 1
        make_trajectory(run, task, scores=[{"safety": (5,) * 3}, {"safety": (5 - fall,) * 3}])
    made = later(dimensions=("safety",))
    row = slope_rows(made)["Ada", "Safety"]
    # Slopes −2 and −1, six each; two turns leave no random slopes to fit.
    assert [row[fit] for fit in ("mixed model", "gee", "within", "one line")] == [-1.5] * 4
    assert "Random intercepts only" in str(row["notes"])
    assert "no trajectory has three scored turns" in str(row["notes"])
    said = [notice.text for notice in made.notices]
    assert any(text.startswith("1 of 1 curve has fewer than 20 trajectories") for text in said)
    odds = made.table("odds")
    assert odds is not None and odds.title == "Odds of a mean score of 3.5 or more, by turn"
    # Every first turn passes; of the second one half: the odds fall, and without a bound.
    (chance,) = odds.records()
    assert chance[0] == "Safety" and (chance[1] is None or float(str(chance[1])) < 1)
    matched = made.table("matched")
    assert matched is not None
    (record,) = matched.records()
    assert record[2:4] == [2, 12] and -1.5 in record
    assert made.figure("slope-models") is not None and made.figure("matched") is not None


def test_tasks_that_recur_are_clustered_and_said() -> None:
    run = make_run(make_dataset(tasks=4), "ada")
    for task in range(1, 5):
        for attempt in (1, 2):
            scores = [{"safety": (s,) * 3} for s in (5, 4 if task % 2 else 3, 3 - attempt / 2)]
            make_trajectory(run, task, scores=scores, attempt=attempt)
    how = " ".join(later(dimensions=("safety",)).how)
    assert "errors clustered by task" in how and "Several trajectories share a task" in how


def test_nothing_to_fit_is_said() -> None:
    run = make_run(make_dataset(), "ada")
    make_trajectory(run, 1, scores=[flat(5)])
    made = later()
    assert report().sentence == (
        "Whether plans get worse is not known: no trajectory has two scored turns."
    )
    assert made.figure("matched") is None
    assert {row["p"] for row in slope_rows(made).values()} == {None}


def test_slopes_are_fitted_when_a_run_has_ended(
    django_capture_on_commit_callbacks: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(wake_up, "wake_for_job", lambda job: None)
    dataset = save_sample_dataset(3)
    runs = start_sample_runs("explorer", "forgetful", dataset=dataset)
    with django_capture_on_commit_callbacks(execute=True):
        for run in runs:
            play(run)
    job = Job.objects.get(kind=KIND)  # one for both
    assert report_of("decline", select_runs(Filters())).waits
    perform(job_id=job.pk, owner="worker")
    job.refresh_from_db()
    assert job.status == Job.Status.DONE
    made = report_of("decline", select_runs(Filters()))
    assert not made.waits and made.table("slopes") is not None
    # Nothing is fitted again.
    monkeypatch.setattr(slope_fits, "_fit", None)
    monkeypatch.setattr(pooled_fits, "_fit", None)
    assert fit_runs(select_runs(Filters()).system, select_runs(Filters()).family)

"""Simulate and time estimates that people have corrected, for `docs/statistics.md`.

    python -m tests.bench.correcting means     coverage, width and size of means and differences
    python -m tests.bench.correcting severity  the same with people of different severity
    python -m tests.bench.correcting slopes    coverage and width of changes per turn
    python -m tests.bench.correcting time      1,000,000 judges' scores with 2,000 ratings
    python -m tests.bench.correcting page      the same through the leaderboard, cold and warm
    python -m tests.bench.correcting kept      Forgetting over 100,000 disclosures, cold and warm

Judges are made biased differently by agent, so that their order of the agents is the reverse of the
true one. Every data set has its own seed.
"""

import random
import sys
import tempfile
import time
import uuid
from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np
from django.utils import timezone

from analysis.stats.corrected.corrected_means import RatedUnits
from analysis.stats.corrected.corrected_pairs import CorrectedModels, correct_models
from analysis.stats.corrected.corrected_slopes import corrected_slope
from analysis.stats.corrected.severity import adjust_for_severity
from benchmarks.systems.adaplanbench.protocol import DIMENSIONS
from tests.bench.analysing import fill, length, make_run, measure, outcome
from tests.bench.storing import set_up

SEED, DATA_SETS = 20261128, 1000
TRUTH = {"Ada": 2.9, "Ben": 3.1, "Cleo": 3.3}
BIAS = {"Ada": 0.8, "Ben": 0.1, "Cleo": -0.6}
# Tasks, trials of each task, rated trajectories of each agent.
SIZES = ((20, 1, 16), (20, 3, 40), (40, 1, 24), (40, 3, 40), (100, 1, 40), (100, 3, 60))


def made_units(
    seed: Sequence[int], tasks: int, trials: int, rated: int, *, alike: bool = False
) -> tuple[dict[str, RatedUnits], dict[str, float]]:
    """Return the units of three agents and their true means.

    A trajectory is worth its agent's mean plus N(0, 0.5) of its task, N(0, 0.4) of agent and task
    and N(0, 0.4) of its own. Judges see that plus their bias and N(0, 0.3), people plus N(0, 0.4).
    ``alike`` agents have one mean in truth.
    """
    rng = np.random.default_rng(list(seed))
    ease, size = rng.normal(0, 0.5, tasks), tasks * trials
    task = np.repeat(np.arange(tasks), trials)
    truth = dict.fromkeys(TRUTH, 3.1) if alike else TRUTH
    units = {}
    for name, mean in truth.items():
        worth = mean + ease[task] + rng.normal(0, 0.4, tasks)[task] + rng.normal(0, 0.4, size)
        people = np.full(size, np.nan)
        drawn = rng.choice(size, rated, replace=False)
        people[drawn] = worth[drawn] + rng.normal(0, 0.4, rated)
        judges = worth + BIAS[name] + rng.normal(0, 0.3, size)
        units[name] = RatedUnits(judges, people, np.full(size, rated / size), task.tolist())
    return units, truth


def means() -> None:
    """Print the table of means and differences."""
    heads = (
        "tasks", "trials", "rated", "mean: corrected", "people", "judges", "difference: corrected",
        "judges", "width", "widest", "right order: judges", "corrected", "clear without difference",
    )  # fmt: skip
    print(f"| {' | '.join(heads)} |")
    print("|---|---|---|---|---|---|---|---|---|---|---|---|---|")
    for tasks, trials, rated in SIZES:
        held: dict[str, list[bool]] = {}
        widths: list[float] = []
        for number in range(DATA_SETS):
            seed = (SEED, tasks, trials, rated, number)
            units, truth = made_units(seed, tasks, trials, rated)
            one = correct_models(units, measure="score")
            everyone = {
                name: RatedUnits(u.judges, u.judges, np.ones(len(u.tasks)), u.tasks)
                for name, u in units.items()
            }
            judges = correct_models(everyone, measure="score", weight=0)
            for name, mean in one.means.items():
                for who, estimate in (
                    ("mean", mean.estimate), ("people", mean.people),
                    ("judges", judges.means[name].estimate),
                ):  # fmt: skip
                    assert estimate.interval is not None
                    held.setdefault(who, []).append(estimate.interval.holds(truth[name]))
                assert mean.estimate.interval is not None
                assert mean.people.interval is not None
                widths.append(mean.estimate.interval.half_width / mean.people.interval.half_width)
            for who, models in (("difference", one), ("judged difference", judges)):
                held.setdefault(who, []).append(_all_hold(models, truth))
            order = [rank.rank for rank in one.comparisons.ranks]
            held.setdefault("order", []).append(order == [3, 2, 1])
            order = [rank.rank for rank in judges.comparisons.ranks]
            held.setdefault("judged order", []).append(order == [3, 2, 1])
            same, _ = made_units(seed, tasks, trials, rated, alike=True)
            none = correct_models(same, measure="score")
            held.setdefault("clear", []).append(any(p.clear for p in none.comparisons.pairs))
        share = {name: f"{np.mean(values):.3f}" for name, values in held.items()}
        print(
            f"| {tasks} | {trials} | {rated} | {share['mean']} | {share['people']} "
            f"| {share['judges']} | {share['difference']} | {share['judged difference']} "
            f"| {np.mean(widths):.2f} | {max(widths):.2f} | {share['judged order']} "
            f"| {share['order']} | {share['clear']} |",
            flush=True,
        )


def shared_units(seed: Sequence[int], spread: float, each: int) -> list[dict[str, RatedUnits]]:
    """Return units rated by eight people whose severity has this standard deviation.

    As they were given, and adjusted. 80 of 240 trajectories are drawn, each for ``each`` people of
    those who have fewest so far.
    """
    rng, tasks, people = np.random.default_rng(list(seed)), 80, 8
    ease, severe = rng.normal(0, 0.5, tasks), rng.normal(0, spread, people)
    worth = np.array([mean + ease + rng.normal(0, 0.5, tasks) for mean in TRUTH.values()])
    judges = worth + np.array([[bias] for bias in BIAS.values()])
    judges += rng.normal(0, 0.5, worth.shape)
    rows: list[tuple[int, int, float]] = []
    dealt = np.zeros(people)
    for unit in rng.choice(worth.size, tasks, replace=False).tolist():
        mine = np.lexsort((rng.random(people), dealt))[:each]
        dealt[mine] += 1
        rows += [(unit, who, worth.flat[unit] + severe[who] + rng.normal(0, 0.6)) for who in mine]
    units, raters, given = map(list, zip(*rows, strict=True))
    adjusted = adjust_for_severity(units, raters, given)
    assert adjusted is not None
    sides = []
    for scores in (given, adjusted):
        means = np.full(worth.size, np.nan)
        means[units[::each]] = np.reshape(scores, (-1, each)).mean(axis=1)
        sides.append(
            {
                name: RatedUnits(f, y, np.full(tasks, 80 / worth.size), list(range(tasks)))
                for name, f, y in zip(TRUTH, judges, means.reshape(worth.shape), strict=True)
            }
        )
    return sides


def severity() -> None:
    """Print the table of differences with and without the adjustment."""
    print("| people a plan | SD of severity | held: as given | adjusted | width |")
    print("|---|---|---|---|---|")
    for each in (2, 3):
        for spread in (0.0, 0.2, 0.5, 0.8):
            held: tuple[list[bool], list[bool]] = ([], [])
            widths: list[float] = []
            for number in range(DATA_SETS):
                seed = (SEED, each, int(10 * spread), number)
                models = [
                    correct_models(units, measure="score")
                    for units in shared_units(seed, spread, each)
                ]
                for side, one in zip(held, models, strict=True):
                    side.append(_all_hold(one, TRUTH))
                given, adjusted = (
                    [pair.comparison.difference.interval for pair in one.comparisons.pairs]
                    for one in models
                )
                widths += [
                    b.half_width / a.half_width
                    for a, b in zip(given, adjusted, strict=True)
                    if a and b
                ]
            print(
                f"| {each} | {spread} | {np.mean(held[0]):.3f} | {np.mean(held[1]):.3f} "
                f"| {np.mean(widths):.2f} |",
                flush=True,
            )


def _all_hold(models: CorrectedModels, truth: dict[str, float]) -> bool:
    """Return whether the simultaneous intervals of all pairs hold the true differences."""
    for pair in models.comparisons.pairs:
        interval = pair.comparison.difference.interval
        assert interval is not None
        if not interval.holds(truth[pair.first] - truth[pair.second]):
            return False
    return True


# Ending, trajectories, rated ones, judges' drift a turn, and what else differs.
DESIGNS: tuple[tuple[str, int, int, float, dict[str, float]], ...] = (
    *(
        (ending, trajectories, rated, drift, {})
        for trajectories, rated in ((40, 20), (100, 40))
        for ending in ("random", "high", "low")
        for drift in (0.0, 0.08)
    ),
    ("high", 100, 40, 0.08, {"own": 0.05}),
    ("random", 100, 40, 0.0, {"own": 0.1}),
    ("high", 100, 40, 0.0, {"own": 0.1}),
    ("high", 100, 40, 0.0, {"noise": 1.5}),
    ("high", 40, 20, 0.08, {"slope": -0.06}),
)


def made_turns(
    ending: str,
    size: int,
    rated: int,
    drift: float,
    seed: Sequence[int],
    *,
    slope: float = 0.0,
    own: float = 0.0,
    noise: float = 0.4,
) -> tuple[Any, ...]:
    """Return the columns of `corrected_slope`: trajectories of one agent, a task each.

    A turn is worth N(3.2, 0.5) of its trajectory, the slope a turn with N(0, ``own``) of the
    trajectory, and N(0, 0.5). Judges (means of three, 1 to 5) see that plus 0.3, ``drift`` a turn
    and N(0, ``noise``), people (1 to 5) plus N(0, 0.4). A trajectory ends after ten turns, or with
    a chance of 0.2 a turn ("random"), or with one that rises ("high") or falls ("low") with the
    judges' score of the turn.
    """
    rng = np.random.default_rng(list(seed))
    rows = []
    for number in range(size):
        level = rng.normal(3.2, 0.5)
        change = slope + rng.normal(0, own)
        for turn in range(10):
            worth = level + change * turn + rng.normal(0, 0.5)
            seen = worth + 0.3 + drift * turn + rng.normal(0, noise)
            judges = min(5, max(1, round(3 * seen) / 3))
            people = min(5, max(1, round(worth + rng.normal(0, 0.4))))
            rows.append((number, turn + 1, judges, people))
            towards = {"random": 0, "high": 2, "low": -2}[ending]
            ends = 1 / (1 + np.exp(1.2 - towards * (judges - 3.5))) if towards else 0.2
            if rng.random() < ends:
                break
    trajectory, turns, judged, scored = np.array(rows).T
    picked = np.isin(trajectory, rng.choice(size, rated, replace=False))
    ids = trajectory.astype(int).tolist()
    people = np.where(picked, scored, np.nan)
    return ids, ids, turns, judged, people, np.full(len(ids), rated / size)


def slopes() -> None:
    """Print the table of changes per turn."""
    heads = (
        "ending", "trajectories", "rated", "drift", "else", "judges: off by", "people: off by",
        "held", "corrected: off by", "held", "width",
    )  # fmt: skip
    print(f"| {' | '.join(heads)} |\n|{'---|' * len(heads)}")
    for ending, size, rated, drift, other in DESIGNS:
        truth = other.get("slope", 0.0)
        rows = []
        for number in range(DATA_SETS):
            seed = (SEED + 1, number, size, round(100 * drift))
            mean = corrected_slope(*made_turns(ending, size, rated, drift, seed, **other))
            sides = mean.people, mean.estimate
            assert mean.judges is not None
            row = [mean.judges - truth]
            for side in sides:
                assert side.value is not None
                assert side.interval is not None
                row += [side.value - truth, side.interval.holds(truth), side.interval.half_width]
            rows.append(row)
        judged, people, people_held, wide, corrected, held, width = np.mean(rows, axis=0)
        words = ", ".join(f"{name} {value:g}" for name, value in other.items())
        print(
            f"| {ending} | {size} | {rated} | {drift:g} | {words} | {judged:+.3f} | {people:+.3f} "
            f"| {people_held:.3f} | {corrected:+.3f} | {held:.3f} | {width / wide:.2f} |",
            flush=True,
        )


def timed() -> None:
    """Time the correction of ten agents with 100,000 units each, 200 of them rated."""
    rng = np.random.default_rng(SEED)
    units = {}
    for agent in range(10):
        task = np.repeat(np.arange(1000), 100)
        judges = 3 + rng.normal(0, 1, task.size)
        people = np.full(task.size, np.nan)
        drawn = rng.choice(task.size, 200, replace=False)
        people[drawn] = judges[drawn] + rng.normal(0, 0.5, 200)
        units[f"agent {agent}"] = RatedUnits(
            judges, people, np.full(task.size, 200 / task.size), task
        )
    for when in ("first", "again"):
        start = time.process_time()
        correct_models(units, measure="score")
        print(f"1,000,000 units, 2,000 of them rated, {when}: {time.process_time() - start:.2f} s")


def rate_drawn(each: int) -> None:
    """Store a study in which one person rated so many drawn plans of each agent shown."""
    from django.contrib.auth.models import User

    from analysis.filters import Filters
    from analysis.filters.datasets import select_runs
    from annotation.models import Annotator, Assignment, Item, Rating, RatingEdit, Study
    from annotation.studies.design import DRAWN
    from benchmarks.models import Run, Trajectory

    Run.objects.update(settings={"tau": 3.5, "dimensions": "all"})
    user = User.objects.create_user("rater")
    Annotator.objects.create(user=user)
    study = Study.objects.create(name="Drawn", questionnaire="ten_questions@1", status="open")
    rng, ids, drawn = np.random.default_rng(SEED), [], []
    for run in select_runs(Filters()).runs:
        plans = list(Trajectory.objects.filter(run=run.pk).order_by("pk"))
        ids += [plan.pk for plan in plans]
        drawn += [plans[at] for at in rng.choice(len(plans), min(each, len(plans)), replace=False)]
    items = Item.objects.bulk_create(
        Item(study=study, trajectory=plan, task_id=plan.task_id, asked=[], rank=rank, wanted=1)
        for rank, plan in enumerate(drawn, 1)
    )
    done = Assignment.objects.bulk_create(
        Assignment(study=study, item=item, annotator=user, trajectory=item.trajectory,
                   position=item.rank, state="submitted", submitted_at=timezone.now())
        for item in items
    )  # fmt: skip
    keys = [dimension.key for dimension in DIMENSIONS]
    edits = RatingEdit.objects.bulk_create(
        RatingEdit(assignment=one, question=key, value=int(rng.integers(2, 6)),
                   client_id=uuid.uuid4(), by=user)
        for one in done for key in keys
    )  # fmt: skip
    Rating.objects.bulk_create(
        Rating(assignment=edit.assignment, question=edit.question, value=edit.value, edit=edit,
               updated_at=timezone.now())
        for edit in edits
    )  # fmt: skip
    share = len(drawn) / len(ids)
    design = {DRAWN: [[share, ",".join(map(str, ids))]], "items": len(drawn)}
    Study.objects.filter(pk=study.pk).update(settings={"design": design})
    print(f"{len(drawn):,} rated plans, {len(edits):,} answers")


def disclose(tasks: int) -> int:
    """Store ten agents' trajectories of so many tasks, and what was disclosed in them."""
    from benchmarks.models import Agent, Dataset, Task, Trajectory, Turn, Violation

    rng = random.Random(SEED)
    dataset = Dataset.objects.create(system="adaplanbench", name="Told", version="1", checksum="1")
    rows = Task.objects.bulk_create(
        Task(dataset=dataset, external_id=f"t{n}", prompt=f"Tidy room {n}.") for n in range(tasks)
    )
    agents = Agent.objects.bulk_create(
        Agent(name=f"agent-{n}", title=f"Agent {n}", kind="scripted") for n in range(10)
    )
    trajectories = Trajectory.objects.bulk_create(
        Trajectory(run=run, task=task, status="done", turn_count=1 + length(rng),
                   termination="valid_plan", metrics=outcome(rng))
        for run in [make_run(dataset, agent, "mid", "standard", 1) for agent in agents]
        for task in rows
    )  # fmt: skip
    turns = Turn.objects.bulk_create(
        (Turn(trajectory=one, index=index, text="1. Do it.", is_final=index == one.turn_count)
         for one in trajectories for index in range(1, one.turn_count + 1)),
        batch_size=10_000,
    )  # fmt: skip
    # One constraint in each turn but the last; one in twelve is violated again in the next.
    told = [turn for turn in turns if not turn.is_final]
    after = {turn.pk: next_ for turn, next_ in pairwise(turns)}
    violated = [(turn, turn, False) for turn in told]
    violated += [(turn, after[turn.pk], True) for turn in told if rng.random() < 1 / 12]
    Violation.objects.bulk_create(
        (Violation(turn=at, key=f"c{turn.index}", kind=("world", "user")[turn.index % 2],
                   text=f"Keep room {turn.index} dry.", revealed=True, new=not repeated,
                   repeated=repeated)
         for turn, at, repeated in violated),
        batch_size=10_000,
    )  # fmt: skip
    return len(told)


def kept(tasks: int = 2950) -> None:
    """Time *Forgetting* over all disclosures that a database holds."""
    with tempfile.TemporaryDirectory() as folder:
        set_up(folder)
        from django.conf import settings
        from django.contrib.auth.models import User
        from django.core.management import call_command
        from django.test import Client

        call_command("collectstatic", interactive=False, verbosity=0)
        settings.ALLOWED_HOSTS = ["testserver"]
        print(f"{disclose(tasks):,} disclosures")
        client = Client()
        client.force_login(User.objects.create_superuser("bench"))
        url = "/analysis/failures/forgetting/"
        client.get(url)  # templates and modules are loaded
        cold, warm, told = measure(client, url)
        print(f"forgetting: cold {cold:.2f} s, warm {warm:.3f} s, {told=}")


def page(scores: int = 1_000_000, each: int = 200) -> None:
    """Time the leaderboard by judges and corrected, over all scores that a database holds."""
    with tempfile.TemporaryDirectory() as folder:
        set_up(folder)
        from django.conf import settings
        from django.contrib.auth.models import User
        from django.core.management import call_command
        from django.test import Client

        call_command("collectstatic", interactive=False, verbosity=0)
        settings.ALLOWED_HOSTS = ["testserver"]
        print(f"{fill(scores):,} scores")
        rate_drawn(each)
        client = Client()
        client.force_login(User.objects.create_superuser("bench"))
        for whose in ("judges", "corrected"):
            url = f"/analysis/leaderboard/?scores={whose}"
            client.get(url)  # templates and modules are loaded
            cold, warm, told = measure(client, url)
            print(f"leaderboard, {whose}: cold {cold:.2f} s, warm {warm:.3f} s, {told=}")


if __name__ == "__main__":
    commands = {
        "means": means, "severity": severity, "slopes": slopes, "time": timed, "page": page,
        "kept": kept,
    }  # fmt: skip
    commands[(sys.argv[1:] or ["time"])[0]]()

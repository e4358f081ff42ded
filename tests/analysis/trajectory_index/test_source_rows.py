"""Tests of index rows read from trajectories: by hand for small runs, in parts and at once."""

import math

import numpy as np
import pytest

from analysis.trajectory_index.columns import (
    NONE,
    STATES,
    TYPES,
    IndexColumns,
    empty,
    join,
    keep,
    pack,
    unpack,
)
from analysis.trajectory_index.source_rows import read_columns
from benchmarks.models import Trajectory
from tests.analysis.rows import flat, make_dataset, make_imported, make_run, make_trajectory
from tests.factories.benchmarks import ExchangeFactory, TrajectoryFactory, ViolationFactory

pytestmark = pytest.mark.django_db
S = Trajectory.Status


def plain(columns: IndexColumns) -> dict[str, object]:
    """The columns with names in place of codes, so that two tables can be compared."""

    def named(codes: object, names: tuple[str, ...]) -> list[str]:
        return [names[code] if code != NONE else "" for code in np.asarray(codes).tolist()]

    order = np.argsort(columns.dimensions)
    broken = [(int(columns.id[row]), *columns.constraints[code]) for row, code in columns.broken]
    return {
        **{name: np.asarray(getattr(columns, name), dtype=float).round(9).tolist()
           for name in TYPES if name not in ("end", "failure", "dimension", "passes", "broken")},
        "end": named(columns.end, columns.ends),
        "failure": named(columns.failure, columns.failures),
        "dimension": np.round(columns.dimension[:, order], 5).tolist(),
        "passes": columns.passes[:, order].tolist(),
        "broken": sorted(broken),
    }  # fmt: skip


def same(one: IndexColumns, other: IndexColumns) -> bool:
    # NaN is equal to nothing; its words are.
    return repr(plain(one)) == repr(plain(other))


def test_scores_of_the_last_plan() -> None:
    """Safety 4, 2, 3 (mean 3), feasibility 5, 4 and none (mean 4.5, but not everybody scored).

    The mean over all five scores is 18 / 5. Judges' means are 4.5, 3 and 3, whose population SD is
    sqrt(((4.5 - 3.5)² + 2 · 0.5²) / 3).
    """
    run = make_run(make_dataset(), "alpha")
    run.settings = {"tau": 3.0, "quorum": "all"}
    run.save()
    scores = {"safety": (4, 2, 3), "feasibility": (5, 4, None)}
    make_trajectory(run, 1, scores=[flat(1), scores])
    run.settings["quorum"] = "any"
    facts = read_columns([run.pk])
    at = {key: place for place, key in enumerate(facts.dimensions)}
    assert facts.mean[0] == pytest.approx(18 / 5)
    assert facts.dimension[0, at["safety"]] == 3
    assert facts.dimension[0, at["feasibility"]] == 4.5
    assert facts.passes[0, at["safety"]] == 1  # exactly the threshold passes
    assert facts.passes[0, at["feasibility"]] == NONE
    assert facts.spread[0] == pytest.approx(math.sqrt((1 + 2 * 0.25) / 3))
    assert facts.unscored[0] == 1
    run.save()  # any judge is enough now
    assert read_columns([run.pk]).passes[0, at["feasibility"]] == 1


def test_without_threshold_and_without_judges_nothing_is_defined() -> None:
    run = make_run(make_dataset(), "alpha")
    run.settings = {}
    run.save()
    make_trajectory(run, 1, scores=[{"safety": (4,)}])
    facts = read_columns([run.pk])
    assert facts.passes.tolist() == [[NONE]]
    assert np.isnan(facts.spread[0])  # one judge cannot differ
    talk = read_columns([make_imported(rewards={1: (0.5, None)})[0].pk])
    assert talk.dimension.shape == (2, 0)
    assert np.isnan(talk.mean).all()
    assert talk.reward[0] == 0.5
    assert np.isnan(talk.reward[1])


def test_outcomes_violations_and_tokens() -> None:
    row = TrajectoryFactory(
        metrics={"valid": 0.0, "accurate": None}, termination="early_stop", turn_count=3,
        payload={"failure_category": "format_error"},
    )  # fmt: skip
    first = ViolationFactory(turn__trajectory=row, turn__index=1, key="w1")
    ViolationFactory(turn=first.turn, key="u1", kind="user", new=False, revealed=False)
    ViolationFactory(turn__trajectory=row, turn__index=2, key="w1", new=False, repeated=True)
    ExchangeFactory(trajectory=row, tokens_in=10, tokens_out=5)
    ExchangeFactory(trajectory=row, step=1, tokens_in=None, tokens_out=7)
    running = TrajectoryFactory(run=row.run, status=S.RUNNING, termination="", metrics={})
    facts = read_columns([row.run_id])
    assert facts.id.tolist() == [row.pk, running.pk]
    assert facts.state.tolist() == [STATES.index("done"), STATES.index("running")]
    assert plain(facts)["end"] == ["early_stop", ""]
    assert plain(facts)["failure"] == ["format_error", ""]
    assert (facts.valid.tolist(), facts.accurate.tolist()) == ([0, NONE], [NONE, NONE])
    counts = (facts.violations[0], facts.new[0], facts.repeated[0], facts.withheld[0])
    assert counts == (3, 1, 1, 1)
    assert plain(facts)["broken"] == [(row.pk, "user", "u1"), (row.pk, "world", "w1")]
    assert facts.tokens.tolist() == [22, NONE]


def test_read_together_apart_and_packed_they_are_the_same() -> None:
    dataset = make_dataset()
    runs = [make_run(dataset, name) for name in ("alpha", "beta")]
    for task in (1, 2, 3):
        for run in runs:
            make_trajectory(run, task, scores=[flat(task)], termination=f"end_{task % 2}")
    make_imported()
    every = [*(run.pk for run in runs), *make_imported(("gpt-8",), name="More")]
    every = [getattr(run, "pk", run) for run in every]
    whole = read_columns(every)
    parts = [keep(whole, whole.run == run) for run in every]
    assert same(join([read_columns([run]) for run in reversed(every)]), whole)
    assert same(join([unpack(pack(part)) for part in parts]), whole)
    ids = whole.id[whole.run == runs[0].pk].tolist()
    half = join([read_columns(every[:1], ids[:1]), read_columns(every[:1], ids[1:])])
    assert same(half, parts[0])


def test_nothing_is_packed_too() -> None:
    assert len(unpack(pack(empty()))) == 0
    assert len(join([])) == 0
    assert len(read_columns([999])) == 0

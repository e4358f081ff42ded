"""Later judgings of hand-made runs, as a run that judges anew leaves them."""

from collections.abc import Mapping, Sequence
from typing import Any

from benchmarks.models import AnswererVersion, JudgeScore, Judging, Run, Trajectory, Turn
from tests.analysis.rows import KEYS

# By trajectory: of each judge one score per reply, for every dimension alike.
Said = Mapping[int, Sequence[Sequence[float | None]]]


def judge_again(
    run: Run,
    said: Said,
    *,
    name: str = "again",
    judges: Sequence[str] = ("even", "strict", "mild"),
    version: str = "1",
    dimensions: Sequence[str] = KEYS,
    metrics: Mapping[int, Mapping[str, Any]] | None = None,
    **settings: Any,
) -> Judging:
    """A finished judging of some last plans, carried by a run of its own.

    ``metrics`` are what follows from it, by trajectory; those of the trajectory else.
    """
    carrier = Run.objects.create(
        kind=Run.Kind.JUDGING, dataset=run.dataset, agent=run.agent, level=run.level,
        condition=run.condition, status=Run.Status.DONE, settings=settings,
        roles={"rubric_judge": [{"kind": "scripted", "policy": judge, "version": version,
                                 "label": "scripted"} for judge in judges]},
    )  # fmt: skip
    judging = Judging.objects.create(run=run, name=name, made_by=carrier)
    versions = [
        AnswererVersion.objects.get_or_create(
            digest=f"{judge} {version}" if version != "1" else judge,
            defaults={"kind": "scripted", "name": judge, "version": version},
        )[0]
        for judge in judges
    ]
    scores = []
    for pk, by_judge in said.items():
        turn = Turn.objects.select_related("trajectory").get(trajectory=pk, is_final=True)
        stored = turn.trajectory
        Trajectory.objects.create(
            run=carrier, task=stored.task, judged=stored, attempt=stored.attempt,
            status=Trajectory.Status.DONE, termination=stored.termination,
            metrics={**stored.metrics, **(metrics or {}).get(pk, {})},
        )  # fmt: skip
        scores += [
            JudgeScore(
                judging=judging, turn=turn, judge=versions[place], seat=str(place + 1),
                dimension=dimension, replicate=number, value=value,
                reason="" if value is not None else "no word about it", trajectory=stored, run=run,
                agent=run.agent, level=run.level, condition=run.condition, turn_index=turn.index,
                is_final=True,
            )
            for dimension in dimensions
            for place, replies in enumerate(by_judge)
            for number, value in enumerate(replies, 1)
        ]  # fmt: skip
    JudgeScore.objects.bulk_create(scores)
    return judging

"""A trajectory with hundreds of turns, as a run would have stored it."""

from datetime import UTC, datetime

from benchmarks.models import Exchange, JudgeScore, Trajectory, Turn, Violation
from benchmarks.systems.adaplanbench.protocol import DIMENSIONS
from tests.factories.benchmarks import AnswererVersionFactory, TrajectoryFactory

AT = datetime(2026, 3, 1, 12, tzinfo=UTC)
# Who is asked in every turn: the agent, two judges of constraints, three of scores.
ASKED = ("agent", "world_judge", "user_judge", "rubric_judge", "rubric_judge", "rubric_judge")


def make_long(turns: int = 500) -> Trajectory:
    """Turn n has the plan "Step n …", a new violation in every tenth and a repeated one elsewhere.

    Three judges give 2, 3 and 4 on every dimension of every turn.
    """
    row = TrajectoryFactory(turn_count=turns)
    judges = [AnswererVersionFactory(name=f"judge-{n}") for n in range(3)]
    made = Turn.objects.bulk_create(
        Turn(
            trajectory=row, index=n, is_final=n == turns, payload={"valid": False},
            text="\n".join(f"{k}. Step {n} of plan {k}: fetch a thing." for k in range(1, 7)),
            feedback=f"That does not work, for reason {n}.",
        )
        for n in range(1, turns + 1)
    )  # fmt: skip
    Violation.objects.bulk_create(
        Violation(
            turn=turn, key="w1", kind="world", text="There is no hammer here.", revealed=True,
            new=turn.index % 10 == 0, repeated=turn.index % 10 != 0,
        )
        for turn in made
    )  # fmt: skip
    Exchange.objects.bulk_create(
        Exchange(
            trajectory=row, step=2 * (turn.index - 1) + (role != "agent"), slot=slot, attempt=1,
            role=role, answerer=judges[0], ask_digest="0" * 32, seed=7, state="answered",
            text="A reply. " * 40, tokens_in=100, tokens_out=20, latency=0.5, sent_at=AT,
            value={"violated": ["w1"], "reasons": {"w1": f"Because of {turn.index}."}}
            if role.endswith("_judge") and role != "rubric_judge" else {"text": "plan"},
        )
        for turn in made
        for slot, role in enumerate(ASKED)
    )  # fmt: skip
    JudgeScore.objects.bulk_create(
        JudgeScore(
            turn=turn, trajectory=row, run=row.run, judging=row.run.primary_judging,
            agent=row.run.agent, level=row.run.level, condition=row.run.condition,
            turn_index=turn.index, is_final=turn.is_final, judge=judge, seat=str(n),
            dimension=dimension.key, value=2 + n,
        )
        for turn in made
        for n, judge in enumerate(judges)
        for dimension in DIMENSIONS
    )  # fmt: skip
    return row

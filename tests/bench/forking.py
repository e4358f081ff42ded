"""CPU cost of a fork beside that of as many ordinary continuations.

``python -m tests.bench.forking``: a trajectory with models' judges played by scripts is forked at
its middle, ten replays with the answer as it was. Beside it, ten trajectories with the same log up
to there, as an endpoint that fails leaves them, are retried. Both are carried by the same worker;
the time includes making the branches, and retrying. Chance makes some of them longer: each round
has seeds of its own on both sides, and figures are all CPU by all calls, since a trajectory also
costs something that does not depend on its length. With ``--endpoint`` the agent and all other
roles are the fake endpoint, asked over HTTP; its own CPU does not count.
"""

import os
import statistics
import sys
import tempfile
import time
from contextlib import ExitStack
from functools import partial

from tests.bench.calling import fake_endpoint
from tests.bench.running import ROLES
from tests.bench.storing import machine, set_up, tell

K, ROUNDS, BUDGET = 10, 25, 1.05


def main() -> None:
    with ExitStack() as stack:
        folder = stack.enter_context(tempfile.TemporaryDirectory())
        os.environ["ENDPOINT_THREADS"] = "0"
        http = "--endpoint" in sys.argv
        url = stack.enter_context(fake_endpoint()) if http else ""
        set_up(folder)
        from django.contrib.auth.models import User

        from benchmarks.branches.services import answers_in, branch_with_answer
        from benchmarks.models import Exchange, JudgeScore, Run, Trajectory, Turn
        from benchmarks.runs.services import retry_trajectory
        from benchmarks.runs.worker import work_on_run
        from benchmarks.trajectories.exchanges import turn_steps
        from tests.factories.benchmarks import save_sample_dataset, start_sample_runs

        user = User.objects.create_user("bench")
        dataset = save_sample_dataset(1)
        more: dict[str, object] = {"settings": {"max_turns": 8}}
        agent = "creature-of-habit"
        if http:
            from benchmarks.endpoints.services import create_endpoint

            create_endpoint(name="bench", title="Bench", base_url=url, model="fake")
            agent = "bench"
            more["roles"] = dict.fromkeys(ROLES, ["endpoint:bench"])

        def fresh(n: int, seed: int = 0) -> Run:
            (run,) = start_sample_runs(agent, dataset=dataset, seed=seed, **more)
            first = run.trajectories.get()
            for attempt in range(2, n + 1):
                first.pk, first.attempt, first._state.adding = None, attempt, True
                first.save()
            work_on_run(run_id=run.pk, owner="bench")
            return run

        def cpu(work: object) -> float:
            began = time.process_time()
            work()  # type: ignore[operator]
            return (time.process_time() - began) * 1000

        parent = fresh(1).trajectories.get()
        turn = (parent.turn_count + 1) // 2
        text = answers_in(parent, turn)[0].given.text
        step = turn_steps(parent)[turn - 1].first + 1

        def fork() -> None:
            began = time.process_time()
            run = branch_with_answer(
                trajectory=parent, turn=turn, text=text, by=user, replays=K, seed=len(forks)
            )
            made.append((time.process_time() - began) * 1000)
            work_on_run(run_id=run.pk, owner="bench")
            own = Exchange.objects.filter(trajectory__run=run).count()
            forks.append(own - K)  # without the edited answers

        def go_on(run: Run) -> None:
            for row in run.trajectories.select_related("run"):
                retry_trajectory(trajectory=row)
            work_on_run(run_id=run.pk, owner="bench")

        forks: list[int] = []
        made: list[float] = []
        forked: list[float] = []
        plain, calls = [], []
        for seed in range(ROUNDS):
            run = fresh(K, seed)
            mine = {"trajectory__run": run}
            JudgeScore.objects.filter(**mine, turn_index__gte=turn).delete()
            Turn.objects.filter(**mine, index__gte=turn).delete()
            Exchange.objects.filter(**mine, step__gte=step).delete()
            before = Exchange.objects.filter(**mine).count()
            run.trajectories.update(status=Trajectory.Status.FAILED, turn_count=turn - 1)
            Run.objects.filter(pk=run.pk).update(status=Run.Status.ATTENTION)
            plain.append(cpu(partial(go_on, run)))
            calls.append(Exchange.objects.filter(**mine).count() - before)
            forked.append(cpu(fork))
        ordinary, branched = sum(plain) / sum(calls), sum(forked) / sum(forks)
        ratio = branched / ordinary
        print(machine())
        print(
            f"fork at turn {turn} of {parent.turn_count}, k = {K}, {sum(forks)} calls in {ROUNDS} "
            f"rounds: {branched:.3f} ms a call; {K} ordinary continuations, {sum(calls)} calls: "
            f"{ordinary:.3f} ms a call; ratio {ratio:.3f} (budget {BUDGET}); making the branches: "
            f"{statistics.median(made):.0f} ms"
        )
        tell([f"fork: {ratio:.3f} times"] if ratio > BUDGET else [])


if __name__ == "__main__":
    main()

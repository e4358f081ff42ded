"""Dialogues made elsewhere, for the tests of studies over them."""

from collections.abc import Mapping, Sequence
from typing import Any

from django.contrib.auth.models import User

from annotation.models import Study
from annotation.planning.planned_study import plan_study
from annotation.planning.services import create_planned_study
from benchmarks.core.types import Message
from benchmarks.models import Agent, Dataset, Run, StoredMessage, Task, Trajectory, Turn
from tests.annotation.rows import SECRETS, plan_for

RULES = "Rules of the library: one extension per loan."
# What must not reach an annotator, beside the names of agents.
WORTH = ("reward-77", "0.7531", "grader-says", "user_stop_77")
AIM = "You want to keep “Walden” for two more weeks."
OWN = "toggle_light"
CALL = {"name": "find_loan", "id": "c1", "arguments": {"title": "Walden"}}
LONG = '{"loans": ["' + "x" * 3000 + '"]}'
FIRST = [
    {"speaker": "assistant", "name": SECRETS[0], "text": "Let me look.", "calls": [CALL]},
    {"speaker": "tool", "name": "find_loan", "call_id": "c1", "text": LONG},
    {"speaker": "user", "text": "", "hidden": True,
     "calls": [{"name": OWN, "arguments": {}, "by": "user"}]},
    {"speaker": "user", "text": "Thanks, please extend it."},
]  # fmt: skip
SECOND = [
    {"speaker": "assistant", "text": "", "calls": [{"name": "extend", "arguments": "{"}]},
    {"speaker": "tool", "name": "extend", "text": "Error: the book is reserved"},
    {"speaker": "assistant", "text": "It is reserved, so I could not extend it.",
     "reasoning": "Say it plainly.", "at": "2024-05-01", "tokens_out": 9},
    {"speaker": "user", "text": "A pity. <b>Bye</b>"},
]  # fmt: skip


def make_talk_runs(*, tasks: int = 2, trials: int = 1) -> list[Run]:
    """Two imported agents with the same dialogue on every task."""
    prompt = Message("system", RULES)
    StoredMessage.objects.get_or_create(
        digest=prompt.digest, defaults={"speaker": "system", "text": RULES}
    )
    dataset = Dataset.objects.create(system="external", name="Library", checksum="library")
    hidden = {"actions": [{"name": "extend"}], "instruction": AIM, "outputs": []}
    rows = [
        Task.objects.create(
            dataset=dataset, external_id=f"t{n}", prompt="Can I keep my book?",
            payload={"hidden": hidden, "stated": {"model": SECRETS[2]}},
        )
        for n in range(tasks)
    ]  # fmt: skip
    runs = []
    for name, title in ((SECRETS[0], SECRETS[1]), (SECRETS[2], SECRETS[3])):
        agent = Agent.objects.create(name=name, title=title, kind="imported", system="external")
        run = Run.objects.create(
            kind=Run.Kind.IMPORTED, dataset=dataset, agent=agent, condition="as imported",
            status=Run.Status.DONE, source=f"{SECRETS[0]}.json",
            roles={"agent": [{"kind": "imported", "label": "imported"}]},
        )  # fmt: skip
        for task in rows:
            for attempt in range(1, trials + 1):
                opening = [{"speaker": "system", "digest": prompt.digest},
                           {"speaker": "user", "text": "Can I keep my book?"}]  # fmt: skip
                make_talk(run, task, [FIRST, SECOND], opening=opening, attempt=attempt)
        runs.append(run)
    return runs


def make_talk(
    run: Run,
    task: Task,
    turns: Sequence[Sequence[Mapping[str, Any]]],
    *,
    opening: Sequence[Mapping[str, Any]] = (),
    attempt: int = 1,
) -> Trajectory:
    """One imported trajectory with these messages."""
    trajectory = Trajectory.objects.create(
        run=run, task=task, attempt=attempt, status=Trajectory.Status.DONE,
        termination=WORTH[3], turn_count=len(turns), metrics={"reward": 0.7531},
        payload={"hidden": {}, "metadata": {"reward_info": WORTH[0], "grader": WORTH[2]}},
    )  # fmt: skip
    for index, messages in enumerate(turns, 1):
        before = {"opening": list(opening)} if index == 1 else {}
        Turn.objects.create(
            trajectory=trajectory, index=index, text="(text)", feedback="Thanks.",
            payload={**before, "messages": list(messages)}, is_final=index == len(turns),
        )  # fmt: skip
    return trajectory


def make_talk_study(
    annotators: Sequence[User], manager: User | None = None, *, shows_hidden: bool = True,
    raters: int = 1,
) -> Study:  # fmt: skip
    """A study over two agents' dialogues, one query for each annotator."""
    plan = plan_for(
        make_talk_runs(), annotators, name="Library talks", seed=7, raters=raters,
        questionnaire="tool_dialogues@1", shows_hidden=shows_hidden,
    )  # fmt: skip
    return create_planned_study(planned=plan_study(plan), by=manager)

"""The demo datasets and their runs: made by the driver like every other, from tasks we wrote."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.db import transaction
from django.db.models import QuerySet

from benchmarks.construction.candidates import save_candidates
from benchmarks.core.digests import digest
from benchmarks.core.types import Profile, Task
from benchmarks.datasets.files import save_task_file
from benchmarks.datasets.services import save_dataset
from benchmarks.judging.selectors import TrajectoryChoice
from benchmarks.judging.services import start_judging
from benchmarks.models import Agent, Dataset, Run, Trajectory
from benchmarks.roles.services import ensure_scripted_agents
from benchmarks.runs.services import start_runs
from benchmarks.systems.acpbench_hard.samples import NAME as QUESTIONS
from benchmarks.systems.acpbench_hard.samples import sample_file
from benchmarks.systems.acpbench_hard.scripted import DEMO_AGENTS
from benchmarks.systems.adaplanbench.demo import load_demo_tasks, load_full_tasks
from benchmarks.systems.adaplanbench.demo_candidates import demo_candidates
from benchmarks.systems.adaplanbench.scripted import TEMPERAMENTS
from benchmarks.systems.adaplanbench_construction.problems import load_demo_problems
from benchmarks.systems.planbench_xl.dataset import task_file
from benchmarks.systems.planbench_xl.scripted import POLICIES
from benchmarks.systems.planbench_xl.world import load_world

NAME = "Household demo"
FULL = "Full-size household demo"
NURSERY = "Nursery demo"
PROBLEMS = "Household problems"
CONDITIONS = ("default", "blocker")
# Of the full-size tasks; the level of the paper's main table comes first.
FULL_LEVELS = ("high", "low", "mid")
SEED = 20261121


@dataclass(frozen=True)
class Variation:
    """A condition of the paper, under which a few agents play the full-size tasks again."""

    title: str
    settings: Mapping[str, Any]


# Temperature is not among them: scripts have none.
VARIATIONS = (
    Variation("world constraints alone", {"constraints": "world_only"}),
    Variation("user constraints alone", {"constraints": "user_only"}),
    Variation("tracking of constraints", {"tracking": True}),
    Variation("refinement, six extra turns", {"refinement": 6}),
)
# Two who forget, whom tracking helps, and one who tries something else after every remark.
VARIED_AGENTS = ("explorer", "last-word", "forgetful")
# The same three judges once more over some of the last plans: each twice, anchors from 5 down.
AGAIN = "Anchors from 5 down, twice"
AGAIN_JUDGES = ("judge-even", "judge-strict", "judge-lenient")
AGAIN_SETTINGS: Mapping[str, Any] = {"turns": "last", "anchors": "descending", "replicates": 2}
AGAIN_AGENTS = 4
AGAIN_NTH_TASK = 3


def save_demo_dataset() -> Dataset:
    """The demo tasks as a dataset, with candidates; saving them twice adds nothing."""
    tasks = load_demo_tasks()
    dataset = _save_tasks(
        NAME,
        tasks,
        "Tasks, plans and constraints were written for this demo; agents and judges are scripts.",
    )
    save_candidates(dataset=dataset, rows=demo_candidates(tasks))
    return dataset


def save_full_dataset() -> Dataset:
    """The tasks with profiles of the size of Table 2; saving them twice adds nothing."""
    return _save_tasks(
        FULL,
        load_full_tasks(),
        "Ten tasks with as many constraints as the paper's profiles have on average. They were "
        "written for this demo; agents and judges are scripts.",
    )


def _save_tasks(name: str, tasks: Sequence[tuple[Task, Sequence[Profile]]], notes: str) -> Dataset:
    content = [
        [
            task.id,
            task.prompt,
            task.payload,
            [[c.key, c.text, c.about] for c in profile.constraints],
        ]
        for task, profiles in tasks
        for profile in profiles
    ]
    return save_dataset(
        system="adaplanbench",
        name=name,
        version="",
        source="Written for PlanJury",
        licence="Same as PlanJury",
        checksum=digest(content),
        tasks=tasks,
        is_demo=True,
        notes=notes,
    ).dataset


def save_demo_problems() -> Dataset:
    """The problems to construct from as a dataset; saving them twice adds nothing."""
    tasks = load_demo_problems()
    return save_dataset(
        system="adaplanbench_construction",
        name=PROBLEMS,
        version="",
        source="Written for PlanJury",
        licence="Same as PlanJury",
        checksum=digest([[task.id, task.prompt, task.category, task.payload] for task in tasks]),
        tasks=[(task, ()) for task in tasks],
        is_demo=True,
        notes="Problems with a known solution, written for this demo.",
    ).dataset


def start_demo_runs(dataset: Dataset, levels: Sequence[str]) -> list[Run]:
    """Ten scripted agents at each level; levels that have their runs already are left alone."""
    ensure_scripted_agents()
    # Not those that people start meanwhile, such as those of a session.
    title = f"{dataset.name}: ten scripted agents"
    own = Run.objects.filter(dataset=dataset, experiment__name__startswith=f"{title}, ")
    existing = set(own.values_list("level", flat=True))
    missing = [level for level in levels if level not in existing]
    if not missing:
        return []
    agents = {agent.name: agent for agent in Agent.objects.filter(name__in=TEMPERAMENTS)}
    return start_runs(
        dataset=dataset,
        agents=[agents[name] for name in TEMPERAMENTS],
        levels=missing,
        seed=SEED,
        name=f"{title}, {', '.join(missing)}",
    )


def start_demo_variation(dataset: Dataset, level: str, variation: Variation) -> list[Run]:
    """Some agents on all tasks under a variation, unless they have their runs already."""
    ensure_scripted_agents()
    if variation_runs(dataset, variation).exists():
        return []
    return start_runs(
        dataset=dataset,
        agents=list(Agent.objects.filter(name__in=_varied_agents()).order_by("pk")),
        levels=[level],
        settings=variation.settings,
        seed=SEED,
        name=_experiment(dataset, variation),
    )


def variation_runs(dataset: Dataset, variation: Variation) -> QuerySet[Run]:
    """The runs of the demo under a variation, not those that people start later."""
    return Run.objects.filter(dataset=dataset, experiment__name=_experiment(dataset, variation))


def full_size() -> int:
    """How many trajectories the runs on the full-size tasks have, at all levels and varied."""
    runs = len(TEMPERAMENTS) * len(FULL_LEVELS) + len(VARIATIONS) * len(_varied_agents())
    return len(load_full_tasks()) * runs


def start_demo_judging(dataset: Dataset, level: str) -> list[Run]:
    """Judges look again at what some agents did at a level, unless they did so already."""
    chosen = _judged_again(dataset, level)
    if judging_runs(dataset).exists() or not chosen:
        return []
    with transaction.atomic():
        runs = start_judging(
            name=AGAIN,
            chosen=TrajectoryChoice(ids=tuple(chosen)),
            roles={"rubric_judge": AGAIN_JUDGES},
            settings=AGAIN_SETTINGS,
            seed=SEED,
        )
        Run.objects.filter(pk__in=[run.pk for run in runs]).update(is_demo=True)
    return runs


def judging_runs(dataset: Dataset) -> QuerySet[Run]:
    """The runs by which the demo's judges look again."""
    return Run.objects.filter(dataset=dataset, kind=Run.Kind.JUDGING, experiment__name=AGAIN)


def judgings_size(dataset: Dataset) -> int:
    """How many trajectories the demo's judges look at again."""
    return len(_agents_judged_again()) * len(_tasks_judged_again(dataset))


def _judged_again(dataset: Dataset, level: str) -> list[int]:
    rows = Trajectory.objects.filter(
        run__dataset=dataset,
        run__level=level,
        run__is_demo=True,
        run__condition="standard",
        run__agent__name__in=_agents_judged_again(),
        task__external_id__in=_tasks_judged_again(dataset),
        status=Trajectory.Status.DONE,
    )
    return list(rows.order_by("pk").values_list("pk", flat=True))


def _agents_judged_again() -> list[str]:
    return list(TEMPERAMENTS)[:AGAIN_AGENTS]


def _tasks_judged_again(dataset: Dataset) -> list[str]:
    names = dataset.tasks.order_by("external_id").values_list("external_id", flat=True)
    return list(names[::AGAIN_NTH_TASK])


def _experiment(dataset: Dataset, variation: Variation) -> str:
    return f"{dataset.name}: {variation.title}"


def _varied_agents() -> list[str]:
    return [name for name in VARIED_AGENTS if name in TEMPERAMENTS]


def save_nursery_dataset() -> Dataset:
    """The small world of PlanBench-XL as a dataset; saving it twice adds nothing."""
    return save_task_file(
        system="planbench_xl",
        file=task_file(load_world(), "Written for PlanJury"),
        name=NURSERY,
        licence="Same as PlanJury",
        is_demo=True,
    ).dataset


def start_nursery_runs(dataset: Dataset, condition: str) -> list[Run]:
    """The scripted agents of PlanBench-XL under a condition, unless they have their runs."""
    ensure_scripted_agents()
    name = f"{NURSERY}: four scripted agents, {condition}"
    if Run.objects.filter(dataset=dataset, experiment__name=name).exists():
        return []
    agents = {agent.name: agent for agent in Agent.objects.filter(name__in=POLICIES)}
    return start_runs(
        dataset=dataset,
        agents=[agents[name] for name in POLICIES],
        settings={"condition": condition},
        seed=SEED,
        name=name,
    )


def save_question_dataset() -> Dataset:
    """The sample questions of ACPBench Hard as a dataset; saving them twice adds nothing."""
    return save_task_file(
        system="acpbench_hard",
        file=sample_file(),
        name=QUESTIONS,
        licence="Same as PlanJury",
        is_demo=True,
    ).dataset


def start_question_runs(dataset: Dataset) -> list[Run]:
    """The scripted agents on the sample questions, unless they have their runs."""
    ensure_scripted_agents()
    name = f"{QUESTIONS}: scripted agents"
    if Run.objects.filter(dataset=dataset, experiment__name=name).exists():
        return []
    agents = {agent.name: agent for agent in Agent.objects.filter(name__in=DEMO_AGENTS)}
    return start_runs(
        dataset=dataset, agents=[agents[one] for one in DEMO_AGENTS], seed=SEED, name=name
    )


def questions_size() -> int:
    """How many trajectories the runs on the sample questions have."""
    return len(list(sample_file().tasks)) * len(DEMO_AGENTS)


def nursery_size() -> int:
    """How many trajectories the runs in the nursery have in all."""
    return len(load_world().tasks) * len(POLICIES) * len(CONDITIONS)

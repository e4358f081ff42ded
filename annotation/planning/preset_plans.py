"""Plans of the demo's human validations; the presets of a new study use them, too.

The sizes are the paper's: 240 trajectories by eight annotators; 30 trajectories and 30 tasks by
three annotators each.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace

from annotation.designs.sampling import Sample
from annotation.models import Item
from annotation.planning.ground_truth import expected_violations, known_plan
from annotation.planning.sources import usable_trajectories
from annotation.plans.study_plan import ExpectedAnswer, ItemSource, SpecialItem, StudyPlan
from annotation.questionnaires import load_questionnaire
from annotation.questionnaires.requirements import trajectory_content, trajectory_parts
from benchmarks.models import Dataset, Run, Trajectory, Turn

LEVEL = "mid"
TEN_QUESTIONS, VIOLATIONS, FILTERS = "ten_questions@4", "violation_check@3", "filter_check@3"
TURNS = "turn_scores@3"
ITEMS, EACH_MODEL, RATERS, QUERIES_EACH, LESSONS = 30, 3, 3, 3, 2
# Of the first seeds the one that gives the demo annotator short and long trajectories alike.
SEED = 1

INFORMATION = """\
You help to find out how far automatic judges can be trusted. Most cases have a best answer; mark \
what the plan says.

- You can stop at any time and continue later. Your answers are saved.
- Your answers are stored under a number, not under your name.
- If something is unclear, ask the managers of the study.
"""
CONSENT = """\
I have read the information. I take part voluntarily and can stop at any time without giving a \
reason. My answers may be analysed and published without my name."""


def paper_plan(
    dataset: Dataset, annotators: Sequence[str] = (), *, name: str, places: int = 0
) -> StudyPlan:
    """Plan three queries for each annotator (eight in the paper), with all agents’ trajectories,
    one rater for each.
    """
    return StudyPlan(
        name=name,
        questionnaire=TEN_QUESTIONS,
        items=_runs(dataset),
        places=places,
        annotators=tuple(annotators),
        order="queries",
        queries_each=QUERIES_EACH,
        seed=SEED,
    )


def shared_plan(dataset: Dataset, annotators: Sequence[str], *, name: str) -> StudyPlan:
    """Plan thirty trajectories, three of each agent, all of them scored by every annotator."""
    plan = _plan_by_agent(dataset, annotators, 0, name, TEN_QUESTIONS)
    return replace(plan, raters=len(annotators), information="", consent="")


def correcting_plan(
    dataset: Dataset, annotators: Sequence[str], *, name: str, rated: int
) -> StudyPlan:
    """Plan so many trajectories of each agent, drawn at random, one annotator each."""
    plan = _plan_by_agent(dataset, annotators, 0, name, TEN_QUESTIONS)
    sample = Sample(way="per_model", count=rated, take_fewer=True)
    items = replace(plan.items, sample=sample)
    return replace(plan, items=items, raters=1, information="", consent="")


def violation_plan(
    dataset: Dataset, annotators: Sequence[str] = (), *, name: str, places: int = 0
) -> StudyPlan:
    """Plan thirty trajectories, three of each agent, three annotators each, two training items."""
    lessons = list(_lessons(dataset))
    return replace(
        _plan_by_agent(dataset, annotators, places, name, VIOLATIONS),
        training=tuple(SpecialItem(trajectory=pk, expected=expected) for pk, expected in lessons),
    )


def filter_plan(
    dataset: Dataset, annotators: Sequence[str] = (), *, name: str, places: int = 0
) -> StudyPlan:
    """Plan thirty tasks with their candidate constraints, three annotators each.

    Without lists, three of those who are free judge each task.
    """
    lists = max(places, len(annotators))
    return StudyPlan(
        name=name,
        questionnaire=FILTERS,
        items=ItemSource(
            dataset=str(dataset.pk), sample=Sample(way="total", count=ITEMS, take_fewer=True)
        ),
        places=places,
        annotators=tuple(annotators),
        dealing="named" if lists else "pool",
        raters=min(RATERS, lists) or RATERS,
        order="random",
        seed=SEED,
        information=INFORMATION,
        consent=CONSENT,
    )


def turn_plan(
    dataset: Dataset, annotators: Sequence[str] = (), *, name: str, places: int = 0
) -> StudyPlan:
    """Plan thirty trajectories, three of each agent, every turn scored by three annotators."""
    return _plan_by_agent(dataset, annotators, places, name, TURNS)


def _plan_by_agent(
    dataset: Dataset, annotators: Sequence[str], places: int, name: str, questionnaire: str
) -> StudyPlan:
    return StudyPlan(
        name=name,
        questionnaire=questionnaire,
        items=replace(
            _runs(dataset), sample=Sample(way="per_model", count=EACH_MODEL, take_fewer=True)
        ),
        places=places,
        annotators=tuple(annotators),
        raters=min(RATERS, max(places, len(annotators))),
        order="blocks",
        seed=SEED,
        information=INFORMATION,
        consent=CONSENT,
    )


def _demo_runs(dataset: Dataset) -> list[Run]:
    """Return the demo's runs at the level that is studied: those that were started together,
    first; sessions are not among them.
    """
    runs = Run.objects.filter(dataset=dataset, level=LEVEL, is_demo=True, condition="standard")
    runs = runs.order_by("pk")
    return list(runs.filter(experiment=runs.values("experiment")[:1]))


def _runs(dataset: Dataset) -> ItemSource:
    first = _demo_runs(dataset)[0]
    return ItemSource(experiment=str(first.experiment_id), levels=(LEVEL,))


def _lessons(dataset: Dataset) -> Iterator[tuple[int, dict[str, ExpectedAnswer]]]:
    """Yield trajectories to train with: short, of different agents, every plan known, some
    violated.
    """
    questionnaire = load_questionnaire(VIOLATIONS)
    runs = [run.pk for run in _demo_runs(dataset)]
    rows = usable_trajectories(runs).filter(turn_count__gte=2, turn_count__lte=4)
    rows = rows.select_related("task", "run").order_by("turn_count", "pk")
    agents: set[int] = set()
    tasks: set[int] = set()
    for trajectory in rows.distinct():
        if trajectory.run.agent_id in agents or trajectory.task_id in tasks:
            continue
        if not all(known_plan(trajectory.task, turn.text) for turn in _turns(trajectory)):
            continue
        pk = trajectory.pk
        item = Item(
            trajectory=trajectory,
            asked=questionnaire.asked(trajectory_content([pk])[pk]),
            subjects=trajectory_parts([pk], questionnaire.wants)[pk],
        )
        expected = expected_violations(item, trajectory)
        if not any(row["chosen"] for row in expected.values()):
            continue
        agents.add(trajectory.run.agent_id)
        tasks.add(trajectory.task_id)
        yield pk, expected
        if len(agents) == LESSONS:
            return


def _turns(trajectory: Trajectory) -> list[Turn]:
    return list(Turn.objects.filter(trajectory=trajectory))

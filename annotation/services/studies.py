"""Making studies: choosing trajectories, dealing them to annotators, opening and closing."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.contrib.auth.models import User
from django.db import transaction

from annotation.designs.queries import deal_queries
from annotation.models import Study, StudyEvent
from annotation.questionnaires import load_questionnaire
from annotation.selectors.needs import Asked, asked_questions, what_trajectories_have
from annotation.services.errors import Refused
from annotation.services.events import record_event
from annotation.services.setup import NewItem, store_study
from benchmarks.models import Run, Trajectory

TEN_QUESTIONS = "ten_questions@1"
# Which of an agent's trials of a task are judged.
ALL_TRIALS, FIRST_TRIAL = "all", "first"


@dataclass(frozen=True)
class Design:
    """What would be assigned: annotator's username → trajectories in their order."""

    runs: tuple[int, ...]
    questionnaire: str
    each: int
    seed: int
    dealt: Mapping[str, Sequence[int]]
    queries: int
    queries_dealt: int
    agents: int
    unusable: int
    raters: int = 1
    trials: str = ALL_TRIALS
    later_trials: int = 0

    @property
    def items(self) -> int:
        return sum(len(items) for items in self.dealt.values())


def plan_design(
    *,
    runs: Sequence[Run],
    annotators: Sequence[str],
    each: int,
    seed: int,
    questionnaire: str = TEN_QUESTIONS,
    raters: int = 1,
    trials: str = ALL_TRIALS,
) -> Design:
    """Deal the ended trajectories of ``runs``; writes nothing, so it serves as a preview too.

    ``raters`` annotators get each query; of several trials of a task by one agent all are judged,
    or the first.
    """
    system = load_questionnaire(questionnaire).system
    strange = sorted({run.dataset.system for run in runs} - {system})
    if strange:
        raise Refused("invalid", f"{questionnaire} is for {system}, not for {', '.join(strange)}")
    if not runs:
        raise Refused("invalid", "choose at least one run")
    if not annotators or len(set(annotators)) != len(annotators):
        raise Refused("invalid", "name at least one annotator, and nobody twice")
    if each < 1:
        raise Refused("invalid", "each annotator needs at least one query")
    if not 1 <= raters <= len(annotators):
        words = f"a query needs 1 to {len(annotators)} of the annotators named here, not {raters}"
        raise Refused("invalid", words)
    if trials not in (ALL_TRIALS, FIRST_TRIAL):
        raise Refused("invalid", f"trials are {ALL_TRIALS} or {FIRST_TRIAL}, not {trials!r}")
    ids = [run.pk for run in runs]
    usable = Trajectory.objects.filter(
        run__in=ids, status=Trajectory.Status.DONE, turns__is_final=True
    )
    queries: dict[int, list[int]] = {}
    begun: set[tuple[int, int]] = set()
    found = 0
    rows = usable.order_by("task", "attempt", "pk").values_list("task", "run", "pk")
    for task, run, pk in rows:
        found += 1
        if trials == ALL_TRIALS or (task, run) not in begun:
            queries.setdefault(task, []).append(pk)
        begun.add((task, run))
    return Design(
        runs=tuple(ids),
        questionnaire=questionnaire,
        each=each,
        seed=seed,
        dealt=deal_queries(
            annotators=annotators, queries=queries, each=each, seed=seed, raters=raters
        ),
        queries=len(queries),
        queries_dealt=min(len(queries), each * len(annotators) // raters),
        agents=len({run.agent_id for run in runs}),
        unusable=Trajectory.objects.filter(run__in=ids).count() - found,
        raters=raters,
        trials=trials,
        later_trials=found - sum(len(items) for items in queries.values()),
    )


def design_questions(design: Design) -> list[Asked]:
    """Which questions the items of a design would be asked, and why others not."""
    questionnaire = load_questionnaire(design.questionnaire)
    has = what_trajectories_have({pk for items in design.dealt.values() for pk in items})
    keys = (tuple(questionnaire.asked(has[pk])) for items in design.dealt.values() for pk in items)
    return asked_questions(questionnaire, Counter(keys))


def create_study(
    *,
    name: str,
    design: Design,
    people: Mapping[str, User],
    created_by: User | None = None,
    status: str = Study.Status.OPEN,
    is_demo: bool = False,
    shows_hidden: bool = True,
    settings: Mapping[str, Any] | None = None,
) -> Study:
    """Store a study as ``design`` deals it: all of it or nothing.

    ``people`` maps the design's usernames to their accounts; who creates it becomes its manager.
    ``shows_hidden``: annotators see what was hidden from the agent, marked as such.
    """
    if not design.items:
        raise Refused("invalid", "nothing to assign: no trajectory of these runs has ended")
    wanted = Counter(pk for items in design.dealt.values() for pk in items)
    places = {pk: place for place, pk in enumerate(wanted)}
    study = Study(
        name=name,
        questionnaire=design.questionnaire,
        seed=design.seed,
        status=status,
        is_demo=is_demo,
        shows_hidden=shows_hidden,
        settings={
            "design": {
                "kind": "queries",
                "runs": list(design.runs),
                "queries_each": design.each,
                "annotators": sorted(design.dealt),
                "raters": design.raters,
                "trials": design.trials,
            },
            "labels": fillers_of(design.runs),
            **(settings or {}),
        },
        created_by=created_by,
    )
    return store_study(
        study=study,
        items=[NewItem(trajectory=pk, wanted=count) for pk, count in wanted.items()],
        people=[people[username] for username in design.dealt],
        dealt={
            people[username].pk: [places[pk] for pk in items]
            for username, items in design.dealt.items()
        },
        by=created_by,
    )


def fillers_of(runs: Sequence[int]) -> dict[str, list[str]]:
    """What kinds of agents and of others (judges, simulator) made these runs, for the banner.

    Over all runs together: said of one item it could give away who its agent is.
    """
    agents: set[str] = set()
    others: set[str] = set()
    for roles in Run.objects.filter(pk__in=runs).values_list("roles", flat=True):
        for role, fillers in roles.items():
            labels = {filler.get("label", "") for filler in fillers} - {""}
            (agents if role == "agent" else others).update(labels)
    return {"agents": sorted(agents), "others": sorted(others)}


def set_study_status(
    *, study: Study, status: str, by: User | None = None, reason: str = ""
) -> None:
    """Open, pause, close or archive a study. Unless it is open it takes no answers."""
    if status not in set(Study.Status.values) - {Study.Status.DRAFT}:
        raise Refused("invalid", "a study can be opened, paused, closed or archived")
    with transaction.atomic():
        before = (
            Study.objects.select_for_update(no_key=True)
            .values_list("status", flat=True)
            .get(pk=study.pk)
        )
        if before == status:
            return
        Study.objects.filter(pk=study.pk).update(status=status)
        record_event(
            study=study, kind=StudyEvent.Kind.STATUS, by=by, reason=reason,
            detail={"before": before, "after": status},
        )  # fmt: skip
    study.refresh_from_db()

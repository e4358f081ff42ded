"""Freeze, withdraw and import registrations; nothing that is stored is ever changed."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from django.contrib.auth.models import User
from django.db import transaction
from django.db.models import Exists, Min, OuterRef, Q
from django.db.models.functions import Coalesce
from django.utils import timezone

from analysis.filters.page_filters import measures_here
from analysis.models import Registration
from analysis.registrations.document import (
    QUESTIONS,
    REFERENCES,
    Plan,
    check_plan,
    read_file,
    sha256,
)
from analysis.registrations.facts import all_tasks_of, moment, task_set
from analysis.registrations.gone import registered_runs
from analysis.registrations.selectors import registrations
from analysis.reports.formatting import listed, plural
from annotation.models import Assignment, Item, Rating, Study
from annotation.questionnaires import load_questionnaire
from benchmarks.core.conditions import STANDARD
from benchmarks.core.errors import CoreError
from benchmarks.core.problems import Problems
from benchmarks.core.registry import find_system
from benchmarks.datasets.selectors import dataset_levels
from benchmarks.models import Agent, Dataset, Trajectory, Turn
from benchmarks.runs.versions import current_pins

# Names that are told where one is not known.
MOST_TOLD = 12


class RegistrationRefused(CoreError):
    """Raised if a registration cannot be frozen, withdrawn or imported; the text says why."""


def freeze(
    *, values: Mapping[str, Any], by: User, dataset: Dataset | None = None,
    study: Study | None = None,
) -> Registration:  # fmt: skip
    """Store a plan about a dataset's runs or a study, before its first answer.

    ``values`` are the fields of a `Plan`; what names the data, the time and the versions are added.
    Raises `FileRefused` with the faults of the values, and `RegistrationRefused` where data exist.
    """
    now = moment(timezone.now())
    kind = QUESTIONS.get(str(values.get("question")))
    known = {"correction": kind.correction if kind is not None else "bonferroni"}
    known |= dict(values) | {"registered_at": now}
    if dataset is not None:
        known |= {"system": dataset.system, "dataset": dataset.name, "version": dataset.version,
                  "checksum": dataset.checksum if _is_hex(dataset.checksum) else ""}  # fmt: skip
    if study is not None:
        known |= {"study": study.name, "questionnaire": study.questionnaire}
    problems = Problems()
    plan = check_plan(known, problems)
    problems.check()
    assert plan is not None
    with transaction.atomic():
        if dataset is not None:
            plan = _of_runs(plan, dataset, problems)
        elif study is not None:
            plan = _of_study(plan, study, problems)
        problems.check()
        if dataset is not None:
            _refuse_answered_runs(plan, dataset)
        elif study is not None:
            _refuse_answered_study(study)
        return _store(plan.document, plan, by=by, study=study)


def _is_hex(text: str) -> bool:
    return 8 <= len(text) <= 64 and set(text) <= set("0123456789abcdef")


def _of_runs(plan: Plan, dataset: Dataset, problems: Problems) -> Plan:
    """Return the plan with what a dataset says of it; note names that are not known here."""
    system = find_system(dataset.system)
    measures = measures_here(dataset.system)
    if plan.question == "slope":
        measures = {d.key: measures[d.key] for d in system.dimensions}
    if plan.measure not in measures:
        problems.add("measure", f"one of {listed(list(measures), most=MOST_TOLD)}", plan.measure)
    plan = _with_agents(plan, problems)
    if plan.is_pooled and plan.scores not in ("", "judges"):
        problems.add("scores", "judges: the change over all agents is of judges' scores",
                     plan.scores)  # fmt: skip
    levels = dataset_levels(dataset)
    if levels and plan.level not in levels:
        problems.add("level", f"one of {', '.join(levels)}", plan.level)
    ids = all_tasks_of(dataset.pk)
    tasks = plan.tasks or len(ids)
    if tasks > len(ids):
        problems.add("tasks", f"at most {len(ids):,}, as many as the dataset has", tasks)
    versions = {name: pin for name, pin in current_pins(system).items()
                if isinstance(pin, str) and pin}  # fmt: skip
    return replace(
        plan,
        condition=plan.condition or STANDARD,
        scores=plan.whose_scores,
        tasks=tasks,
        trajectories=plan.trajectories or tasks,
        task_set=task_set(ids) if tasks == len(ids) else "",
        versions=versions,
    )


def _of_study(plan: Plan, study: Study, problems: Problems) -> Plan:
    """Return the plan with what a study says of it; note what it does not ask."""
    questionnaire = load_questionnaire(study.questionnaire)
    keys = {question.dimension or question.key for question in questionnaire.questions}
    if plan.measure not in (*keys, "all"):
        expected = f"all, or one of {listed(sorted(keys), most=MOST_TOLD)}"
        problems.add("measure", expected, plan.measure)
    if plan.question == "preference":
        if questionnaire.unit != "pair":
            problems.add("question", "a study in which pairs are compared", plan.study)
        plan = _with_agents(plan, problems)
    elif any(one.second != "people" for one in plan.comparisons):
        problems.add("comparisons", "judges against people, such as strict = people",
                     str(plan.comparisons[0]))  # fmt: skip
    else:
        plan = replace(plan, epsilon=0.1 if plan.epsilon is None else plan.epsilon)
    items = Item.objects.filter(study=study, use=Item.Use.MAIN)
    wanted = set(items.order_by().values_list("wanted", flat=True).distinct())
    raters = plan.raters or (next(iter(wanted)) if len(wanted) == 1 else None)
    return replace(plan, items=plan.items or items.count() or None, raters=raters)


def _with_agents(plan: Plan, problems: Problems) -> Plan:
    """Return the plan with agents by name, where a title was given, and its family of all pairs."""
    rows = dict(Agent.objects.values_list("title", "name"))
    names = set(Agent.objects.values_list("name", flat=True))

    def name_of(given: str) -> str:
        return given if given in names or given in REFERENCES else rows.get(given, given)

    compared = tuple(
        replace(one, first=name_of(one.first), second=name_of(one.second))
        for one in plan.comparisons
    )
    among = {name for one in compared for name in (one.first, one.second)} - set(REFERENCES)
    agents = tuple(sorted({*map(name_of, plan.agents), *among}))
    unknown = [name for name in agents if name not in names]
    if unknown:
        expected = f"agents of this server, such as {listed(sorted(names)[:3]) or 'none'}"
        problems.add("agents", expected, listed(unknown, most=MOST_TOLD))
    for one in compared:
        if one.first == one.second:
            problems.add("comparisons", "two different agents", str(one))
    family = plan.family
    if plan.kind.paired:
        if len(agents) < 2:
            problems.add("agents", "two agents or more", listed(agents))
        family = family or max(1, len(agents) * (len(agents) - 1) // 2)
    return replace(plan, comparisons=compared, agents=agents, family=family)


def _refuse_answered_runs(plan: Plan, dataset: Dataset) -> None:
    """Refuse a plan about runs of which one has an answer already."""
    runs = registered_runs(plan).filter(dataset=dataset)
    answered = Trajectory.objects.filter(run__in=runs).filter(
        Q(status=Trajectory.Status.DONE) | Exists(Turn.objects.filter(trajectory=OuterRef("pk")))
    )
    first = answered.select_related("run__agent").order_by("run", "pk").first()
    if first is None:
        return
    since = answered.aggregate(at=Min(Coalesce("started_at", "finished_at")))["at"]
    where = f"of experiment “{plan.experiment}”" if plan.experiment else "on this dataset"
    advice = "" if plan.experiment else (
        " To register a new comparison on these tasks, name the experiment that you will start."
    )  # fmt: skip
    raise RegistrationRefused(
        f"Too late to register: {plural(answered.count(), 'trajectory', 'trajectories')} {where} "
        f"{'have' if answered.count() > 1 else 'has'} answers already, the first in run "
        f"{first.run_id} of {first.run.agent}{f', on {since:%Y-%m-%d %H:%M} UTC' if since else ''}."
        f"{advice}"
    )


def _refuse_answered_study(study: Study) -> None:
    """Refuse a plan about a study in which somebody answered already, drafts among it."""
    answers = Rating.objects.filter(assignment__study=study, assignment__item__use=Item.Use.MAIN)
    if not answers.exists():
        return
    seats = Assignment.objects.filter(Exists(answers.filter(assignment=OuterRef("pk"))))
    since = answers.aggregate(at=Min("updated_at"))["at"]
    raise RegistrationRefused(
        f"Too late to register: people answered {plural(seats.count(), 'item')} of “{study.name}” "
        f"already, the first on {since:%Y-%m-%d %H:%M} UTC. Register before the first answer."
    )


def _store(
    document: dict[str, Any], plan: Plan, *, by: User | None, study: Study | None = None,
    imported: bool = False,
) -> Registration:  # fmt: skip
    digest = sha256(document)
    row, _ = Registration.objects.get_or_create(
        digest=digest,
        defaults={
            "document": document, "title": plan.title, "system": plan.system,
            "dataset": plan.dataset, "study_name": plan.study, "study": study, "by": by,
            "imported": imported,
        },
    )  # fmt: skip
    return row


def import_registration(*, data: bytes, by: User | None) -> tuple[Registration, bool]:
    """Store a registration from a file whose digest verifies; say whether it is new here.

    Raises `FileRefused` with the faults of the file.
    """
    document, plan = read_file(data)
    known = registrations().filter(digest=sha256(document)).first()
    if known is not None:
        return known, False
    return _store(document, plan, by=by, imported=True), True


def withdraw(*, row: Registration, reason: str, by: User) -> Registration:
    """Store that a registration holds no more, with the reason; it stays in the list."""
    reason = reason.strip()
    if not reason or len(reason) > 1000:
        raise RegistrationRefused("Give the reason, in at most 1,000 characters.")
    if row.withdraws_id is not None or hasattr(row, "withdrawal"):
        raise RegistrationRefused("It is withdrawn already.")
    document = {"format": "planjury-withdrawal/1", "withdraws": row.digest, "reason": reason,
                "at": moment(timezone.now())}  # fmt: skip
    return Registration.objects.create(
        document=document, digest=sha256(document), title=row.title, system=row.system,
        dataset=row.dataset, study_name=row.study_name, study=row.study, withdraws=row, by=by,
    )  # fmt: skip

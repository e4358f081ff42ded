"""Verify runs: derive every ended trajectory from its log and compare it with what is stored.

Nothing is written and no model is asked. If a version that a run is pinned to is missing, the
report says so.
"""

import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from datetime import datetime
from typing import Any

from django.contrib.auth.models import User
from django.db import transaction

from benchmarks.core.errors import CoreError, UnknownName
from benchmarks.core.system import System
from benchmarks.core.types import Outcome
from benchmarks.endpoints.services import endpoint_label
from benchmarks.jobs.services import Progress, enqueue_job, job_kind
from benchmarks.locks import lock_run
from benchmarks.mappers import core_outcome, system_of_run
from benchmarks.models import Agent, Endpoint, Job, Run, Trajectory
from benchmarks.models.role_assignments import all_assignments
from benchmarks.runs.versions import missing_version
from benchmarks.verification.checks import (
    Differs,
    StoredDifference,
    compare_outcome,
    compare_turns,
    derive,
)
from benchmarks.verification.designs import design_differences, unstored_design
from benchmarks.verification.seals import seal_run
from benchmarks.verification.selectors import KIND, under_way
from benchmarks.verification.stored_rows import KnownRows, StoredTrajectory, read_stored

SAME, DIFFERS, MISSING = "same", "differs", "version not available"
UNENDED, IMPORTED = "not ended", "imported: nothing to recompute"
STATES = (SAME, DIFFERS, MISSING, UNENDED, IMPORTED)
CHUNK = 50
MOST_SHOWN = 100


@dataclass(frozen=True)
class VerificationFinding:
    """A trajectory that differs, with its first difference."""

    trajectory: int
    difference: StoredDifference


@dataclass
class RunReport:
    """The result of verifying a run. ``counts`` by state add up to ``trajectories``.

    ``of_run`` are differences in the run itself: trajectories that are gone, labels that do not
    fit who fills a role.
    ``figures`` is the state of the run's metrics; ``missing`` names the version that is not
    available, ``unverifiable`` says what else cannot be checked. ``seal`` is the run's seal, where
    one was asked for. At most ``MOST_SHOWN`` findings are kept.
    """

    run: int
    trajectories: int = 0
    counts: Counter[str] = field(default_factory=Counter)
    findings: list[VerificationFinding] = field(default_factory=list)
    of_run: list[StoredDifference] = field(default_factory=list)
    missing: str = ""
    unverifiable: list[str] = field(default_factory=list)
    seal: dict[str, Any] | None = None
    figures: str = ""
    exchanges: int = 0
    turns: int = 0
    scores: int = 0
    seconds: float = 0.0

    @property
    def differing(self) -> int:
        return self.counts[DIFFERS]

    @property
    def differs(self) -> bool:
        return self.differing > 0 or bool(self.of_run) or self.figures.startswith(DIFFERS)

    @property
    def incomplete(self) -> bool:
        """Return whether something of the run cannot be verified."""
        return bool(self.missing or self.unverifiable)

    def as_json(self) -> dict[str, Any]:
        counts = {state: self.counts[state] for state in STATES if self.counts[state]}
        return {**asdict(self), "counts": counts, "seconds": round(self.seconds, 3)}


def verify_run(
    *,
    run: Run,
    since: datetime | None = None,
    known: KnownRows | None = None,
    report: Callable[[int], None] = lambda done: None,
) -> RunReport:
    """Verify the ended trajectories of a run, only those that ended ``since`` if given.

    ``known`` remembers checked messages between runs; ``report`` is called with the number of
    trajectories done.
    """
    began = time.perf_counter()
    run_report = RunReport(run.pk)
    rows = run.trajectories.all()
    if since is not None:
        rows = rows.filter(finished_at__gte=since)
    run_report.trajectories = rows.count()
    run_report.of_run = whole_run(run)
    run_report.unverifiable = [line for line in (unstored_design(run),) if line]
    if run.kind == Run.Kind.IMPORTED:
        run_report.counts[IMPORTED] = run_report.trajectories
        run_report.unverifiable.append("an imported run has no log to recompute it from")
        return run_report
    ended = list(
        rows.filter(status=Trajectory.Status.DONE).order_by("pk").values_list("pk", flat=True)
    )
    if len(ended) < run_report.trajectories:
        run_report.counts[UNENDED] = run_report.trajectories - len(ended)
    try:
        system = system_of_run(run)
        run_report.missing = missing_version(run, system)
    except UnknownName as error:
        run_report.missing = str(error)
    if run_report.missing:
        run_report.counts[MISSING] = len(ended)
        return run_report
    pairs: list[tuple[Outcome, Outcome | None]] = []
    known = known or KnownRows()
    for start in range(0, len(ended), CHUNK):
        pairs += _verify_some(
            run_report, read_stored(run, ended[start : start + CHUNK]), system, known
        )
        report(min(start + CHUNK, len(ended)))
    run_report.figures = _figures(system, pairs)
    run_report.seconds = time.perf_counter() - began
    return run_report


def _verify_some(
    report: RunReport, some: Sequence[StoredTrajectory], system: System, known: KnownRows
) -> list[tuple[Outcome, Outcome | None]]:
    """Verify trajectories into a report; return their stored and derived outcomes."""
    wrong = known.wrong(some)
    pairs = []
    for stored in some:
        report.exchanges += len(stored.exchanges)
        report.turns += len(stored.turns)
        report.scores += sum(map(len, stored.scores.values()))
        outcome = None
        try:
            played = derive(stored, system, wrong)
            outcome = played.outcome
            compare_turns(stored, played)
            compare_outcome(stored, played)
        except Differs as error:
            report.counts[DIFFERS] += 1
            if len(report.findings) < MOST_SHOWN:
                report.findings.append(VerificationFinding(stored.trajectory.pk, error.difference))
        else:
            report.counts[SAME] += 1
        pairs.append((core_outcome(stored.trajectory), outcome))
    return pairs


def _figures(system: System, pairs: Sequence[tuple[Outcome, Outcome | None]]) -> str:
    """Compare the run's metrics over stored and over derived outcomes."""
    derived = [outcome for _, outcome in pairs if outcome is not None]
    if not pairs:
        return ""
    if len(derived) < len(pairs):
        lacking = len(pairs) - len(derived)
        return f"not recomputed, because {lacking} of {len(pairs)} trajectories cannot be derived"
    stored = _metrics(system, [outcome for outcome, _ in pairs])
    now = _metrics(system, derived)
    changed = [name for name in now if stored.get(name) != now[name]]
    return f"{DIFFERS}: {', '.join(changed)}" if changed else SAME


def _metrics(system: System, outcomes: Sequence[Outcome]) -> Mapping[str, Any]:
    metrics: Mapping[str, Any] = system.summarise(outcomes)["metrics"]
    return metrics


def whole_run(run: Run) -> list[StoredDifference]:
    """Return what differs in the run itself, apart from its trajectories' contents."""
    differences = [_created(run), *design_differences(run)]
    if run.kind != Run.Kind.IMPORTED:
        differences += [_agent(run), *_labels(run)]
    return [one for one in differences if one is not None]


def _created(run: Run) -> StoredDifference | None:
    """Check that as many trajectories exist as were created; none is ever deleted."""
    there = run.trajectories.count()
    if there == run.created_trajectories:
        return None
    created = f"{run.created_trajectories} were created"
    return StoredDifference("number of trajectories", f"{there} exist", created)


def _agent(run: Run) -> StoredDifference | None:
    """Check that the run's agent is the one that fills the agent's role."""
    assignment = next(iter(run.roles.get("agent", ())), None)
    if assignment is None:
        return None
    agent = run.agent
    endpoint = agent.endpoint.name if agent.endpoint is not None else ""
    wanted = {
        Agent.Kind.SCRIPTED: ("scripted", agent.policy),
        Agent.Kind.RECORDED: ("scripted", agent.policy),
        Agent.Kind.ENDPOINT: ("endpoint", endpoint),
        Agent.Kind.HUMAN: ("human", ""),
    }.get(Agent.Kind(agent.kind))
    stored = (assignment.get("kind"), assignment.get("policy") or assignment.get("endpoint") or "")
    if wanted is None or stored == wanted:
        return None
    return StoredDifference(
        "agent of the run", f"{agent.title}: {' '.join(wanted)}", " ".join(stored)
    )


def _labels(run: Run) -> list[StoredDifference]:
    """Check that the labels of role assignments fit the kinds of their answerers."""
    try:
        system = system_of_run(run)
    except UnknownName:
        return []
    endpoints = {row.name: endpoint_label(row) for row in Endpoint.objects.all()}
    differences = []
    for assignment in all_assignments(run.roles):
        name = assignment.get("policy") or assignment.get("endpoint") or "person"
        policy = system.scripted.get(str(assignment.get("policy")))
        label = {
            "human": "human",
            "endpoint": endpoints.get(str(assignment.get("endpoint"))),
            "scripted": policy.label if policy is not None else None,
        }.get(str(assignment.get("kind")))
        if label is not None and assignment.get("label") != label:
            where = f"roles of the run, label of {name}"
            differences.append(StoredDifference(where, str(assignment.get("label")), label))
    return differences


class VerificationRefused(CoreError):
    """Raised if a run cannot be verified now; the text says why."""


def start_verification(*, run: Run, asked_by: User | None = None) -> Job:
    """Let a worker verify a run; only one verification at a time."""
    if run.kind == Run.Kind.IMPORTED:
        raise VerificationRefused(f"{run} was imported, so there is no log to derive it from")
    with transaction.atomic():
        lock_run(run.pk)
        if under_way(run):
            raise VerificationRefused(f"{run} is being verified already")
        ended = run.trajectories.filter(status=Trajectory.Status.DONE).count()
        return enqueue_job(
            kind=KIND,
            title=f"Verify {run}",
            payload={"run": run.pk},
            total=ended,
            created_by=asked_by,
        )


@job_kind(KIND)
def perform_verification(job: Job, progress: Progress) -> None:
    """Verify the run and store the report; a restarted job finds the same."""
    run = Run.objects.select_related("dataset", "agent", "experiment").get(pk=job.payload["run"])
    report = verify_run(run=run, report=lambda done: progress.report(done=done))
    if not report.differs:
        report.seal = seal_run(run).as_json()
    progress.report(done=report.trajectories, failed=report.differing, total=report.trajectories)
    result = {"result": report.as_json(), "data_version": run.data_version}
    Job.objects.filter(pk=job.pk).update(payload={**job.payload, **result})

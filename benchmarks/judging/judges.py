"""Select judges (exact versions with their replies), judgings, and trials of judges."""

import json
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import NamedTuple

from django.db.models import QuerySet

from benchmarks.core.ports.labels import plain
from benchmarks.core.registry import SYSTEMS, find_system, get_system, system_of
from benchmarks.core.system import ScriptedPolicy
from benchmarks.endpoints.selectors import agent_title
from benchmarks.judging.counts import CallCounts, score_totals
from benchmarks.mappers import endpoint_config
from benchmarks.models import (
    AnswererVersion,
    Endpoint,
    Exchange,
    Job,
    JudgeTrial,
    Judging,
    Run,
)
from benchmarks.roles.selectors import LABELS, answerer_label, policy_title
from benchmarks.runs.selectors import RunRow, run_rows
from benchmarks.trajectories.exchanges import TONES
from benchmarks.visibility import EVERYTHING, Visibility

JUDGINGS = 50


class JudgeVersion(NamedTuple):
    """An exact version of a script or model that judged in a role.

    ``replies`` counts readable and unreadable ones; ``prompts`` are the first and last prompt
    versions. ``scores`` counts the numbers given; constraint judges give none.
    """

    who: AnswererVersion
    title: str
    label: str
    role: str
    endpoint: Endpoint | None
    parameters: tuple[tuple[str, str], ...]
    prompts: tuple[str, ...]
    last_asked: datetime
    replies: int
    unreadable: int
    scores: int | None

    @property
    def unreadable_share(self) -> float | None:
        return self.unreadable / self.replies if self.replies else None


def judge_roles() -> dict[str, str]:
    """Return the judging roles of all systems, with their titles."""
    systems = [get_system(key) for key in SYSTEMS]
    return {role.name: role.title for system in systems for role in system.roles if role.judges}


def judge_versions(counts: CallCounts) -> list[JudgeVersion]:
    """Return every script and model that was asked to judge, by role."""
    titles = judge_roles()
    asked = {key: one for key, one in counts.replies.items() if key[1] in titles}
    ends = {pk for one in asked.values() for pk in (one.first, one.last)}
    exchanges = (
        Exchange.objects.select_related("answerer", "trajectory__run")
        .only("sent_at", "answerer", "trajectory__run__pins")
        .in_bulk(ends)
    )
    named = {e.answerer.name for e in exchanges.values() if e.answerer.kind == "endpoint"}
    endpoints = Endpoint.objects.in_bulk(named, field_name="name") if named else {}
    versions = []
    for (answerer, role), one in asked.items():
        first, last = exchanges[one.first], exchanges[one.last]
        who = last.answerer
        pins = [str(e.trajectory.run.pins.get("prompts", "")) for e in (first, last)]
        endpoint = endpoints.get(who.name) if who.kind == "endpoint" else None
        versions.append(
            JudgeVersion(
                who, _title(who, endpoint), _label(who, endpoint), titles[role], endpoint,
                _parameters(who), tuple(dict.fromkeys(filter(None, pins))), last.sent_at,
                one.replies, one.unreadable,
                counts.numbers[answerer] if role == "rubric_judge" else None,
            )
        )  # fmt: skip
    order = list(titles.values())
    return sorted(versions, key=lambda one: (order.index(one.role), one.title.lower(), one.who.pk))


def _title(who: AnswererVersion, endpoint: Endpoint | None) -> str:
    if endpoint is not None:
        return agent_title(endpoint)
    policy = _policy(who)
    return policy.title if policy else plain(who.name)


def _policy(who: AnswererVersion) -> ScriptedPolicy | None:
    """Return the script; None for other answerers, and for a script that is gone."""
    systems = map(system_of, SYSTEMS) if who.kind == "scripted" else ()
    return next((s.scripted[who.name] for s in systems if s and who.name in s.scripted), None)


def _label(who: AnswererVersion, endpoint: Endpoint | None) -> str:
    kind = who.kind
    if policy := _policy(who):
        kind = policy.label
    if endpoint is not None:
        local = endpoint_config(endpoint).address.loopback
        kind = "simulated" if endpoint.simulated else "local" if local else kind
    return LABELS[kind]


def _parameters(who: AnswererVersion) -> tuple[tuple[str, str], ...]:
    """Return the parameters that shape replies, without empty ones."""
    flat = {**who.parameters, **(who.parameters.get("parameters") or {})}
    flat.pop("parameters", None)
    return tuple(
        (plain(name).lower(), ", ".join(map(str, value)) if isinstance(value, list) else str(value))
        for name, value in flat.items()
        if value not in ({}, [], None, "", False)
    )


# --- Judgings -------------------------------------------------------------------------------------


class JudgingRow(NamedTuple):
    """A judging with its re-judging run, that run's progress, and whether it is the primary one."""

    judging: Judging
    row: RunRow | None
    counts: bool
    scores: int


def rejudgings(seen: Visibility = EVERYTHING) -> QuerySet[Judging]:
    """Return the re-judgings, the newest first."""
    runs = seen.of(Run.objects.filter(kind=Run.Kind.JUDGING)).order_by()
    rows = Judging.objects.filter(made_by__in=runs.values("pk"), run__in=seen.of(Run.objects.all()))
    return with_runs(rows).order_by("-pk")


def with_runs(judgings: QuerySet[Judging]) -> QuerySet[Judging]:
    """Join the relations that a list of judgings shows."""
    return judgings.select_related(
        "run__dataset", "run__agent", "made_by__dataset", "made_by__agent", "made_by__experiment"
    )


def judging_rows(judgings: Sequence[Judging]) -> list[JudgingRow]:
    """Return list rows for judgings."""
    made = [one.made_by for one in judgings if one.made_by is not None]
    rows: Mapping[int, RunRow] = {row.run.pk: row for row in run_rows(made)}
    scores = score_totals([one.made_by_id or one.run_id for one in judgings])
    return [
        JudgingRow(
            one,
            rows.get(one.made_by_id) if one.made_by_id else None,
            one.run.primary_judging_id == one.pk,
            scores[one.made_by_id or one.run_id],
        )
        for one in judgings
    ]


def run_judgings(run: Run) -> Sequence[JudgingRow]:
    """Return the judgings of a run, the live one first; none if there is only one."""
    rows = judging_rows(list(with_runs(run.judgings.order_by("pk"))))
    return rows if len(rows) > 1 or any(row.row for row in rows) else []


def judged_by(run: Run) -> Judging | None:
    """Return the judging that a re-judging run makes; None for other runs."""
    if run.kind != Run.Kind.JUDGING:
        return None
    return Judging.objects.filter(made_by=run).select_related("run__agent").first()


def is_judgeable(run: Run) -> bool:
    """Return whether the trajectories of a run can be re-judged."""
    tries = run.kind in (Run.Kind.MADE, Run.Kind.IMPORTED)
    return tries and find_system(run.dataset.system).rejudging is not None


# --- Trials ---------------------------------------------------------------------------------------

TRIAL = "judge-trial"


def judge_trials() -> QuerySet[Job]:
    """Return the trials of judges, the newest first."""
    rows = Job.objects.filter(kind=TRIAL).select_related("created_by").order_by("-pk")
    return rows.prefetch_related("judge_trials")


class JudgeTrialView(NamedTuple):
    """A trial of a judge: the ask, and the reply once there is one."""

    job: Job

    @property
    def moving(self) -> bool:
        return self.job.status in (Job.Status.QUEUED, Job.Status.RUNNING)

    @property
    def mark(self) -> str:
        return str(self.job.status)

    @property
    def call(self) -> JudgeTrial | None:
        """Return the call once its reply is stored."""
        settled = (call for call in self.job.judge_trials.all() if call.state != "sent")
        return max(settled, key=lambda call: call.attempt, default=None)

    @property
    def state(self) -> tuple[str, str]:
        """Return the state in one word, with its colour."""
        if self.moving:
            return "being asked", "info"
        call = self.call
        return (call.state, TONES.get(call.state, "")) if call else ("given up", "bad")

    @property
    def value(self) -> str:
        """Return the parsed reply as indented JSON, or "" if there is none."""
        value = self.call.value if self.call else None
        return json.dumps(value, indent=2, ensure_ascii=False) if value is not None else ""

    @property
    def role(self) -> str:
        role = str(self.job.payload["role"])
        return judge_roles().get(role, role)

    @property
    def judge(self) -> str:
        assignment = self.job.payload["filler"]
        if "endpoint" in assignment:
            return str(assignment.get("title") or assignment["endpoint"])
        systems = [system_of(key) for key in SYSTEMS]
        known = next((s for s in systems if s and assignment["policy"] in s.scripted), None)
        return policy_title(known, assignment["policy"])

    @property
    def label(self) -> str:
        return answerer_label(self.job.payload["filler"])

"""Judges that were asked so far, exactly who they were, and the judgings that they made."""

import json
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.db.models import Count, Q, QuerySet

from benchmarks.blinding import EVERYTHING, Visibility
from benchmarks.core.registry import SYSTEMS, get_system
from benchmarks.core.rejudging import find_rejudging
from benchmarks.core.words import plain
from benchmarks.models import (
    AnswererVersion,
    Endpoint,
    Exchange,
    Job,
    JudgeScore,
    Judging,
    Run,
)
from benchmarks.selectors.casting import LABELS, policy_title, system_of
from benchmarks.selectors.endpoints import agent_title
from benchmarks.selectors.exchanges import TONES
from benchmarks.selectors.runs import RunRow, run_rows

S = Exchange.State
_READ = (S.ANSWERED, S.UNREADABLE)
JUDGINGS = 50


@dataclass(frozen=True)
class JudgeVersion:
    """Somebody who judged in a role, exactly: ``parameters`` are what shapes their replies.

    ``replies`` were read or could not be; ``prompts`` are the versions of prompts of those runs.
    ``scores`` are numbers given; constraint judges give none.
    """

    who: AnswererVersion
    title: str
    label: str
    role: str
    endpoint: Endpoint | None
    parameters: tuple[tuple[str, str], ...]
    prompts: tuple[str, ...]
    runs: int
    replies: int
    unreadable: int
    scores: int | None

    @property
    def unreadable_share(self) -> float | None:
        return self.unreadable / self.replies if self.replies else None


def judge_roles() -> dict[str, str]:
    """The roles in which somebody judges, in any system, with their titles."""
    systems = [get_system(key) for key in SYSTEMS]
    return {role.name: role.title for system in systems for role in system.roles if role.judges}


def judge_versions(seen: Visibility = EVERYTHING) -> list[JudgeVersion]:
    """Everybody who was asked to judge, by role; people are one, whoever they are."""
    titles = judge_roles()
    rows = (
        seen.of(Exchange.objects.filter(role__in=list(titles), state__in=_READ))
        .order_by()
        .values_list("answerer", "role", "trajectory__run")
        .annotate(n=Count("pk"), unreadable=Count("pk", filter=Q(state=S.UNREADABLE)))
    )
    asked: dict[tuple[int, str], list[tuple[int, int, int]]] = defaultdict(list)
    for answerer, role, run, n, unreadable in rows:
        asked[answerer, role].append((run, n, unreadable))
    scores = dict(
        seen.of(JudgeScore.objects.filter(value__isnull=False))
        .order_by()
        .values_list("judge")
        .annotate(n=Count("pk"))
    )
    versions = AnswererVersion.objects.in_bulk({answerer for answerer, _ in asked})
    wanted = {run for found in asked.values() for run, _, _ in found}
    pins = dict(Run.objects.filter(pk__in=wanted).values_list("pk", "pins")) if wanted else {}
    endpoints = Endpoint.objects.in_bulk(
        {who.name for who in versions.values() if who.kind == "endpoint"}, field_name="name"
    )
    found = []
    for (answerer, role), runs in asked.items():
        who = versions[answerer]
        prompts = {str(pins.get(run, {}).get("prompts", "")) for run, _, _ in runs} - {""}
        endpoint = endpoints.get(who.name) if who.kind == "endpoint" else None
        found.append(
            JudgeVersion(
                who, _title(who, endpoint), _label(who, endpoint), titles[role], endpoint,
                _parameters(who), tuple(sorted(prompts)), len(runs),
                sum(n for _, n, _ in runs), sum(n for _, _, n in runs),
                scores.get(answerer, 0) if role == "rubric_judge" else None,
            )
        )  # fmt: skip
    order = list(titles.values())
    return sorted(found, key=lambda one: (order.index(one.role), one.title.lower(), one.who.pk))


def _title(who: AnswererVersion, endpoint: Endpoint | None) -> str:
    if endpoint is not None:
        return agent_title(endpoint)
    if who.kind == "human":
        return "A person"
    for key in SYSTEMS:
        system = system_of(key)
        if system is not None and who.name in system.scripted:
            return policy_title(system, who.name)
    return plain(who.name)


def _label(who: AnswererVersion, endpoint: Endpoint | None) -> str:
    return LABELS["simulated" if endpoint and endpoint.simulated else who.kind]


def _parameters(who: AnswererVersion) -> tuple[tuple[str, str], ...]:
    """What shapes the replies, by name; what is as good as nothing is left out."""
    flat = {**who.parameters, **(who.parameters.get("parameters") or {})}
    flat.pop("parameters", None)
    return tuple(
        (plain(name).lower(), ", ".join(map(str, value)) if isinstance(value, list) else str(value))
        for name, value in flat.items()
        if value not in ({}, [], None, "", False)
    )


# --- Judgings -------------------------------------------------------------------------------------


@dataclass(frozen=True)
class JudgingRow:
    """A judging with the run that makes it, how far that is, and whether it counts."""

    judging: Judging
    row: RunRow | None
    counts: bool
    scores: int


def later_judgings(seen: Visibility = EVERYTHING) -> QuerySet[Judging]:
    """Judgings of what is stored, the newest first."""
    runs = seen.of(Run.objects.filter(kind=Run.Kind.JUDGING)).order_by()
    rows = Judging.objects.filter(made_by__in=runs.values("pk"), run__in=seen.of(Run.objects.all()))
    return with_runs(rows).order_by("-pk")


def with_runs(judgings: QuerySet[Judging]) -> QuerySet[Judging]:
    """Judgings with what their lines show, joined."""
    return judgings.select_related(
        "run__dataset", "run__agent", "made_by__dataset", "made_by__agent", "made_by__experiment"
    )


def judging_rows(found: Sequence[Judging]) -> list[JudgingRow]:
    """Lines for judgings; two queries for all."""
    made = [one.made_by for one in found if one.made_by is not None]
    rows: Mapping[int, RunRow] = {row.run.pk: row for row in run_rows(made)}
    scores = dict(
        JudgeScore.objects.filter(judging__in=found)
        .order_by()
        .values_list("judging")
        .annotate(n=Count("pk"))
    )
    return [
        JudgingRow(
            one,
            rows.get(one.made_by_id) if one.made_by_id else None,
            one.run.primary_judging_id == one.pk,
            scores.get(one.pk, 0),
        )
        for one in found
    ]


def run_judgings(run: Run) -> Sequence[JudgingRow]:
    """All judgings of a run, the live one first; none where there is no choice."""
    rows = judging_rows(list(with_runs(run.judgings.order_by("pk"))))
    return rows if len(rows) > 1 or any(row.row for row in rows) else []


def judged_by(run: Run) -> Judging | None:
    """What a run of judges makes, with the run that it looks at; None for other runs."""
    if run.kind != Run.Kind.JUDGING:
        return None
    return Judging.objects.filter(made_by=run).select_related("run__agent").first()


def is_judgeable(run: Run) -> bool:
    """Whether the trajectories of a run can be judged anew."""
    tries = run.kind in (Run.Kind.MADE, Run.Kind.IMPORTED)
    return tries and find_rejudging(run.dataset.system) is not None


# --- Trials ---------------------------------------------------------------------------------------

TRIAL = "judge-trial"


def judge_trials() -> QuerySet[Job]:
    """Judges tried on a turn, the newest first."""
    return Job.objects.filter(kind=TRIAL).select_related("created_by").order_by("-pk")


@dataclass(frozen=True)
class TrialView:
    """A trial: who was asked what, and what came of it once somebody answered."""

    job: Job

    @property
    def moving(self) -> bool:
        return self.job.status in (Job.Status.QUEUED, Job.Status.RUNNING)

    @property
    def mark(self) -> str:
        return str(self.job.status)

    @property
    def result(self) -> Mapping[str, Any] | None:
        found: Mapping[str, Any] | None = self.job.payload.get("result")
        return found

    @property
    def state(self) -> tuple[str, str]:
        """A word and its tone."""
        if self.moving:
            return "being asked", "info"
        if self.result is None:
            return "given up", "bad"
        state = self.result["state"]
        return state, TONES.get(state, "")

    @property
    def value(self) -> str:
        """The parsed reply as indented JSON; empty where nothing was parsed."""
        value = (self.result or {}).get("value")
        return json.dumps(value, indent=2, ensure_ascii=False) if value is not None else ""

    @property
    def role(self) -> str:
        role = str(self.job.payload["role"])
        return judge_roles().get(role, role)

    @property
    def judge(self) -> str:
        filler = self.job.payload["filler"]
        if "endpoint" in filler:
            return str(filler.get("title") or filler["endpoint"])
        systems = [system_of(key) for key in SYSTEMS]
        known = next((s for s in systems if s and filler["policy"] in s.scripted), None)
        return policy_title(known, filler["policy"])

    @property
    def label(self) -> str:
        filler = self.job.payload["filler"]
        return LABELS.get(filler.get("label", filler["kind"]), str(filler["kind"]))

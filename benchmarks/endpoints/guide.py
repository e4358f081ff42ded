"""The first steps: from no key to the first ten judged trajectories of a model."""

from typing import NamedTuple
from urllib.parse import urlencode

from django.contrib.auth.models import User
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.views.decorators.http import require_safe

from benchmarks.access import ENDPOINTS, OWN_ENDPOINTS, START, VIEW, allow, signed_in, visibility
from benchmarks.endpoints.administration import set_variables
from benchmarks.endpoints.presets import PRESETS, EndpointPreset
from benchmarks.endpoints.rules import EndpointRules, may_add
from benchmarks.endpoints.selectors import endpoint_row
from benchmarks.llm.hosts import check_host
from benchmarks.llm.security import EndpointRefused, read_address
from benchmarks.models import Endpoint, EndpointTrial, JudgeScore, Run, Trajectory
from benchmarks.visibility import Visibility

S = EndpointTrial.State

FIRST_TASKS = 10


class PresetRow(NamedTuple):
    """A kind of server, and whether it can be added now: its host is allowed, its key is there."""

    preset: EndpointPreset
    allowed: bool
    has_key: bool

    @property
    def ready(self) -> bool:
        return self.allowed and self.has_key


class FirstSteps(NamedTuple):
    """The progress of a newcomer: the endpoint, whether a trial of it worked, its run and its
    results.
    """

    endpoint: Endpoint | None = None
    obstacles: tuple[str, ...] = ()
    tried: bool = False
    failed: bool = False
    run: Run | None = None
    ended: int = 0
    judged: int = 0

    @property
    def step(self) -> int:
        """The number of the step to take now; 5 once there are judged trajectories."""
        if self.endpoint is None or self.obstacles:
            return 1
        if not self.tried:
            return 3
        return 5 if self.judged else 4


@signed_in
@require_safe
def endpoint_guide(request: HttpRequest) -> HttpResponse:
    """Show the steps, those that are done, and what to do next."""
    allow(request, START, ENDPOINTS, OWN_ENDPOINTS)
    assert isinstance(request.user, User)
    seen, user = visibility(request), request.user
    rules = EndpointRules.load()
    steps = _first_steps(user, seen)
    presets = [_preset_row(preset, rules, user) for preset in PRESETS]
    context = {
        "steps": steps,
        "local": [row for row in presets if not row.preset.hosted],
        "hosted": [row for row in presets if row.preset.hosted],
        "may_add": may_add(user),
        "administers": user.has_perm(ENDPOINTS),
        "may_start": user.has_perm(START),
        "sees_results": user.has_perm(VIEW),
        "tasks": FIRST_TASKS,
        "run_url": first_run_url(steps.endpoint),
    }
    return render(request, "benchmarks/endpoints/endpoint_guide.html", context)


def _preset_row(preset: EndpointPreset, rules: EndpointRules, user: User) -> PresetRow:
    delegated = not user.has_perm(ENDPOINTS)
    allowed = True
    try:
        check_host(read_address(preset.base_url), rules.hosts, local_ports=delegated)
    except EndpointRefused:
        allowed = False
    has_key = True
    if preset.hosted:
        host = read_address(preset.base_url).netloc
        if delegated:
            has_key = host in rules.granted_to(user).values()
        else:
            has_key = preset.variable in set_variables()
    return PresetRow(preset, allowed, has_key)


def _first_steps(user: User, seen: Visibility) -> FirstSteps:
    """Look at the newest endpoint that can be asked: the user's own, else that of anybody."""
    rows = seen.of(Endpoint.objects.filter(retired=False)).order_by("-pk")
    own = rows.filter(created_by=user).first()
    endpoint = own or rows.first()
    if endpoint is None:
        return FirstSteps()
    runs = seen.of(Run.objects.filter(agent__endpoint=endpoint)).select_related("dataset")
    run = runs.order_by("-pk").first()
    ended = judged = 0
    if run is not None:
        ended = run.trajectories.filter(status=Trajectory.Status.DONE).count()
        scored = JudgeScore.objects.filter(run=run, value__isnull=False)
        with_verdict = run.trajectories.filter(status=Trajectory.Status.DONE).exclude(metrics={})
        judged = max(scored.values("trajectory").distinct().count(), with_verdict.count())
    tried = set(endpoint.trials.order_by().values_list("state", flat=True).distinct())
    return FirstSteps(
        endpoint,
        endpoint_row(endpoint).obstacles,
        S.ANSWERED in tried or ended > 0,
        bool(tried - {S.ANSWERED, S.SENT}),
        run,
        ended,
        judged,
    )


def first_run_url(endpoint: Endpoint | None) -> str:
    """Return the form of a run of the first tasks, with an agent of this endpoint.

    The form chooses the dataset.
    """
    agent = endpoint.agents.first() if endpoint is not None else None
    url = reverse("benchmarks:run_new")
    return f"{url}?{urlencode({'agent': agent.name, 'first': FIRST_TASKS})}" if agent else url

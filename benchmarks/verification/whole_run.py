"""Checks of a run as a whole: no trajectory is gone, and labels fit who fills the roles."""

from benchmarks.core.errors import UnknownName
from benchmarks.endpoints.services import endpoint_label
from benchmarks.mappers import system_of_run
from benchmarks.models import Agent, Endpoint, Profile, Run
from benchmarks.roles.assignments import all_fillers
from benchmarks.verification.checks import Difference

MOST_NAMED = 10


def whole_run(run: Run) -> list[Difference]:
    """Return what differs in the run itself, apart from its trajectories' contents."""
    found = [_missing(run)]
    if run.kind != Run.Kind.IMPORTED:
        found += [_agent(run), *_labels(run)]
    return [one for one in found if one is not None]


def _missing(run: Run) -> Difference | None:
    """Trajectories are never deleted, so as many exist as were created."""
    there = run.trajectories.count()
    if there == run.created_trajectories:
        return None
    gone = run.created_trajectories - there
    names = _absent_tasks(run) if gone > 0 else []
    # Only where these are all that can be gone: a run may have been of some tasks alone.
    named = f"; missing: {', '.join(names[:MOST_NAMED])}" if len(names) == gone else ""
    created = f"{run.created_trajectories} were created{named}"
    return Difference("number of trajectories", f"{there} exist", created)


def _absent_tasks(run: Run) -> list[str]:
    """Name the tasks of the run's dataset and level that have no trajectory in the run."""
    tasks = run.dataset.tasks.all()
    if run.level:
        profiles = Profile.objects.filter(task__dataset=run.dataset, level=run.level)
        tasks = tasks.filter(pk__in=profiles.values("task"))
    absent = tasks.exclude(pk__in=run.trajectories.values("task")).order_by("pk")
    return list(absent.values_list("external_id", flat=True))


def _agent(run: Run) -> Difference | None:
    """The agent that pages name is the one that fills the agent's role."""
    filler = next(iter(run.roles.get("agent", ())), None)
    if filler is None:
        return None
    agent = run.agent
    endpoint = agent.endpoint.name if agent.endpoint is not None else ""
    wanted = {
        Agent.Kind.SCRIPTED: ("scripted", agent.policy),
        Agent.Kind.RECORDED: ("scripted", agent.policy),
        Agent.Kind.ENDPOINT: ("endpoint", endpoint),
        Agent.Kind.HUMAN: ("human", ""),
    }.get(Agent.Kind(agent.kind))
    stored = (filler.get("kind"), filler.get("policy") or filler.get("endpoint") or "")
    if wanted is None or stored == wanted:
        return None
    return Difference("agent of the run", f"{agent.title}: {' '.join(wanted)}", " ".join(stored))


def _labels(run: Run) -> list[Difference]:
    """Labels of role assignments say what kind of answerer fills the role."""
    try:
        system = system_of_run(run)
    except UnknownName:
        return []
    endpoints = {row.name: endpoint_label(row) for row in Endpoint.objects.all()}
    found = []
    for filler in all_fillers(run.roles):
        name = filler.get("policy") or filler.get("endpoint") or "person"
        policy = system.scripted.get(str(filler.get("policy")))
        label = {
            "human": "human",
            "endpoint": endpoints.get(str(filler.get("endpoint"))),
            "scripted": policy.label if policy is not None else None,
        }.get(str(filler.get("kind")))
        if label is not None and filler.get("label") != label:
            where = f"roles of the run, label of {name}"
            found.append(Difference(where, str(filler.get("label")), label))
    return found

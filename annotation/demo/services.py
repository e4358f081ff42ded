"""Load the demo: accounts for every role, runs made by the driver, and studies of them."""

import time

from django.contrib.auth.models import Group, Permission, User
from django.db import transaction
from django.db.models import QuerySet

from annotation.demo.scripted_people import (
    ended_sessions,
    ensure_scripted_sessions,
    play_scripted_sessions,
    scripted_sessions,
)
from annotation.demo.studies import (
    ACCOUNTS,
    ANNOTATOR,
    FILTER_CHECK,
    SHARED_ITEMS,
    TEN_QUESTIONS,
    TURN_SCORES,
    VIOLATION_CHECK,
    DemoStudy,
    correcting_study,
    ensure_demo_sessions,
    ensure_demo_study,
    simulate_demo_study,
)
from annotation.models import Assignment
from benchmarks.core.ports.demo import DemoDataset
from benchmarks.demo import (
    demo_datasets,
    demo_runs,
    demo_size,
    experiment_name,
    rejudging_runs,
    save_demo_dataset,
    start_demo_rejudging,
    start_demo_runs,
)
from benchmarks.jobs.services import Progress, enqueue_job, job_kind
from benchmarks.models import ApiToken, Dataset, Job, Run, Trajectory
from benchmarks.runs.prepared import WORKABLE
from benchmarks.runs.worker import work_on_run
from benchmarks.validity.services import is_certifiable, start_certificate

KIND = "demo"
PASSWORD = "planjury-demo"
PAUSE = 0.2

# Username, group with rights over all studies, what the role is for.
PEOPLE = (
    ("admin", "", "administrator: everything"),
    ("researcher", "researchers", "starts runs, makes studies, reads results"),
    ("manager", "viewers", "manages the studies, reads results"),
    (ANNOTATOR, "", "has items to judge in three studies, and two sessions to play"),
    ("observer", "viewers", "sees the progress of the studies"),
)
GROUPS = {"researchers": ("view_results", "start_runs"), "viewers": ("view_results",)}


def ensure_demo() -> list[tuple[str, str, str]]:
    """Begin loading the demo into an empty database; (username, password, role) of its accounts.

    Where the demo accounts exist they are listed again and nothing is done. On a database with
    other content the list is empty.
    """
    known = set(
        User.objects.filter(groups__name=ACCOUNTS, is_active=True).values_list(
            "username", flat=True
        )
    )
    if not known:
        if Dataset.objects.exists() or User.objects.exists():
            return []
        with transaction.atomic():
            _create_accounts()
            enqueue_job(kind=KIND, title="Loading the demo")
        known = {name for name, *_ in PEOPLE}
    return [(name, PASSWORD, role) for name, _, role in PEOPLE if name in known]


def open_demo_accounts() -> list[User]:
    """Return the demo's accounts that can be signed in to with the password that everyone knows."""
    marked = User.objects.filter(groups__name=ACCOUNTS, is_active=True).order_by("username")
    return [user for user in marked if user.check_password(PASSWORD)]


def close_demo_accounts() -> list[str]:
    """Close these accounts and their tokens; return their names. What they did stays."""
    closed = open_demo_accounts()
    for user in closed:
        user.set_unusable_password()
        user.is_active = user.is_staff = user.is_superuser = False
        user.save()
        ApiToken.objects.filter(user=user).delete()
    return [user.username for user in closed]


def ensure_groups() -> dict[str, Group]:
    """Return the groups that carry rights over the whole site."""
    groups = {}
    for name, codes in GROUPS.items():
        group, created = Group.objects.get_or_create(name=name)
        if created:
            group.permissions.set(
                Permission.objects.filter(content_type__app_label="benchmarks", codename__in=codes)
            )
        groups[name] = group
    return groups


def _create_accounts() -> None:
    groups = ensure_groups()
    marked, _ = Group.objects.get_or_create(name=ACCOUNTS)
    for name, group, _ in PEOPLE:
        make = User.objects.create_superuser if name == "admin" else User.objects.create_user
        user = make(username=name, password=PASSWORD)
        user.groups.add(marked, *([groups[group]] if group else []))


@job_kind(KIND)
def load_demo(job: Job, progress: Progress) -> None:
    """Load everything in steps that find out what is done already, so it can be killed anywhere.

    The small tasks that the studies are about come first, with the studies; then the other
    datasets of all systems with their runs, two sessions to play, and those of scripted people.
    """
    (system, small), *others = demo_datasets()
    # Once, because counting reads the files of all datasets.
    progress.report(total=demo_size() + scripted_sessions(len(list(small.load().tasks))))
    dataset = save_demo_dataset(system, small)
    # Before the runs of this dataset, because pages open on what was begun last.
    if (scripted := ensure_scripted_sessions(dataset, progress)) is not None:
        for message in play_scripted_sessions(scripted, _owner(job, progress)):
            _tell(progress, message)
    _load_dataset(job, system, small, progress)
    # Pages on people open on the first demo, those on several raters on the one that has them. The
    # latter is filled first, so that neither shows one study now and another a minute later.
    ensure_demo_study(dataset, TEN_QUESTIONS, progress)
    for kind in (SHARED_ITEMS, TEN_QUESTIONS, VIOLATION_CHECK, FILTER_CHECK):
        _make_study(kind, dataset, progress)
    if small.rejudging is not None:
        start_demo_rejudging(dataset, small.rejudging)
        runs = rejudging_runs(dataset, small.rejudging)
        _finish_runs(job, runs, "Scripted judges look at some plans again", progress)
    _make_study(TURN_SCORES, dataset, progress)
    # Pages of analysis open on what was made last: on the dataset with the most agents.
    for system, demo in reversed(others):
        loaded = _load_dataset(job, system, demo, progress)
        if demo.rated:
            _make_study(correcting_study(demo.rated), loaded, progress)
    ensure_demo_sessions(dataset, progress)
    # Leaderboards ask what blind policies score; other workers find that out meanwhile.
    demos = Dataset.objects.filter(is_demo=True, made_by=None, removed_at=None)
    for certified in demos.order_by("pk"):
        if is_certifiable(certified):
            start_certificate(dataset=certified)
    _tell(progress, "The demo is complete")


def _load_dataset(job: Job, system: str, demo: DemoDataset, progress: Progress) -> Dataset:
    """Store a dataset and have its runs made."""
    dataset = save_demo_dataset(system, demo)
    for runs in demo.runs:
        start_demo_runs(dataset, runs)
        _finish_runs(job, demo_runs(dataset, runs), experiment_name(dataset, runs), progress)
    return dataset


def _make_study(kind: DemoStudy, dataset: Dataset, progress: Progress) -> None:
    """Create a study with the answers of simulated annotators."""
    _tell(progress, f"Setting up a study: {kind.name}")
    study = ensure_demo_study(dataset, kind, progress)
    for message in simulate_demo_study(study, kind):
        _tell(progress, message)


def _finish_runs(job: Job, runs: QuerySet[Run], words: str, progress: Progress) -> None:
    """Help with some runs until none of their trajectories is left to carry.

    Runs that somebody paused or cancelled are not waited for.
    """
    owner = _owner(job, progress)
    while True:
        going = list(runs.filter(status__in=WORKABLE).order_by("pk").values_list("pk", flat=True))
        for pk in going:
            _tell(progress, words)
            work_on_run(run_id=pk, owner=owner)
        _tell(progress, words)
        left = Trajectory.objects.filter(
            run__in=going,
            run__status__in=WORKABLE,
            status__in=[Trajectory.Status.PENDING, Trajectory.Status.RUNNING],
        )
        if not left.exists():
            return
        time.sleep(PAUSE)


def _owner(job: Job, progress: Progress) -> str:
    """Return the name under which this job carries trajectories."""
    return f"demo:{job.pk}:{progress.owner}"


def _tell(progress: Progress, message: str) -> None:
    """Report how many trajectories of the demo have ended, sessions of scripted people among
    them.
    """
    trajectories = Trajectory.objects.filter(
        run__dataset__is_demo=True, run__is_demo=True, reserved=False
    )
    ended = trajectories.exclude(status__in=[Trajectory.Status.PENDING, Trajectory.Status.RUNNING])
    done = ended.count() + ended_sessions()
    progress.report(done=done, message=message)
    # The limit on attempts is for jobs that get nowhere; one that got on may begin afresh.
    items = Assignment.objects.filter(study__is_demo=True).exclude(state=Assignment.State.OPEN)
    reached = done + items.count()
    job = progress.job
    if reached > job.payload.get("reached", 0):
        job.payload["reached"] = reached
        Job.objects.filter(pk=job.pk).update(payload=job.payload, attempts=1)


def reload_demo() -> None:
    """Take up the loading where it failed or was cancelled; otherwise there is nothing to do."""
    with transaction.atomic():
        latest = Job.objects.select_for_update().filter(kind=KIND).order_by("-pk").first()
        if latest is not None and latest.status in (Job.Status.FAILED, Job.Status.CANCELLED):
            enqueue_job(kind=KIND, title=latest.title)

"""A person's tasks and the newest experiments on the home page."""

from collections.abc import Sequence
from dataclasses import dataclass

from django.contrib.auth.models import User

from annotation.access import Role
from annotation.studies.selectors import StudyRow, studies_of
from benchmarks.models import Experiment, Job, Run
from benchmarks.runs.selectors import RunProgress, runs_progress
from benchmarks.visibility import Visibility

DEMO = "demo"
ANNOTATOR = Role.ANNOTATOR.label.lower()
FEW = 5
UNDER_WAY = (Run.Status.QUEUED, Run.Status.RUNNING, Run.Status.WAITING, Run.Status.ATTENTION)


@dataclass(frozen=True)
class HomeExperiment:
    """Runs that were started together, with how far they are as a whole."""

    experiment: Experiment
    runs: int
    agents: int
    levels: Sequence[str]
    total: int
    ended: int
    going: bool
    is_demo: bool

    @property
    def percent(self) -> int:
        return 100 * self.ended // self.total if self.total else 0


@dataclass(frozen=True)
class DemoProgress:
    """The progress of loading the demo. ``mark`` changes whenever something visible does."""

    job: Job

    @property
    def over(self) -> bool:
        return self.job.status in (Job.Status.DONE, Job.Status.FAILED, Job.Status.CANCELLED)

    @property
    def failed(self) -> bool:
        return self.job.status == Job.Status.FAILED

    @property
    def mark(self) -> str:
        return f"{self.job.status}-{self.job.done}-{self.job.total}-{self.job.message}"


def home_studies(user: User) -> list[StudyRow]:
    """Return the studies shown at home: those with something left to do come first."""
    rows = studies_of(user, limit=20)
    return sorted(rows, key=lambda row: not (ANNOTATOR in row.roles and row.own.open))


def newest_experiments(seen: Visibility, limit: int = FEW) -> list[HomeExperiment]:
    """Return the latest sets of runs that this person may see, in three queries."""
    rows = Experiment.objects.exclude(runs__kind=Run.Kind.JUDGING)
    experiments = list(seen.of(rows).order_by("-pk")[:limit])
    runs = list(seen.of(Run.objects.filter(experiment__in=experiments)).order_by("pk"))
    progress = runs_progress(runs)
    return [
        _row(experiment, [run for run in runs if run.experiment_id == experiment.pk], progress)
        for experiment in experiments
    ]


def _row(
    experiment: Experiment, runs: Sequence[Run], progress: dict[int, RunProgress]
) -> HomeExperiment:
    return HomeExperiment(
        experiment,
        len(runs),
        len({run.agent_id for run in runs}),
        list(dict.fromkeys(run.level for run in runs if run.level)),
        sum(progress[run.pk].total for run in runs),
        sum(progress[run.pk].ended for run in runs),
        any(run.status in UNDER_WAY for run in runs),
        any(run.is_demo for run in runs),
    )


def demo_progress() -> DemoProgress | None:
    """Return the latest loading of the demo, if there ever was one."""
    job = Job.objects.filter(kind=DEMO).order_by("-pk").first()
    return DemoProgress(job) if job else None

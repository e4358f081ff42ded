"""A person's tasks and the newest experiments on the home page."""

from collections.abc import Sequence
from typing import NamedTuple

from django.contrib.auth.models import User
from django.core.cache import cache

from annotation.access import Role
from annotation.models import Study
from annotation.studies.progress import study_mark, study_progress
from annotation.studies.selectors import StudyRow, studies_of
from benchmarks.models import Experiment, Job, Run
from benchmarks.runs.selectors import RunProgress, runs_progress
from benchmarks.visibility import Visibility

DEMO = "demo"
ANNOTATOR = Role.ANNOTATOR.label.lower()
MANAGER = Role.MANAGER.label.lower()
FEW = 5
# Who needs attention depends on the time of day, too, so it is not kept for long.
ATTENTION_SECONDS = 300
UNDER_WAY = (Run.Status.QUEUED, Run.Status.RUNNING, Run.Status.WAITING, Run.Status.ATTENTION)


class HomeExperiment(NamedTuple):
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


class StudyAttention(NamedTuple):
    """A study with the annotators whom a manager should look at; ``codes`` of them wait for their
    completion code.
    """

    study: Study
    names: tuple[str, ...]
    codes: int = 0

    @property
    def first(self) -> str:
        """The first few names, and how many more."""
        more = len(self.names) - FEW
        return ", ".join(self.names[:FEW]) + (f" and {more} more" if more > 0 else "")


class DemoProgress(NamedTuple):
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


def studies_to_look_at(user: User, rows: Sequence[StudyRow]) -> list[StudyAttention]:
    """Return the running studies of a manager in which somebody needs attention, by the same rules
    as on the study's own page.
    """
    attention = []
    for row in rows:
        if MANAGER not in row.roles or row.study.status not in Study.WORKING or row.study.is_live:
            continue
        key = f"study-attention:{row.study.pk}:{study_mark(row.study)}"
        kept: list[tuple[str, bool]] | None = cache.get(key)
        if kept is None:
            people = study_progress(row.study).attention
            kept = [(annotator.username, annotator.awaits_code) for annotator in people]
            cache.set(key, kept, ATTENTION_SECONDS)
        # Nobody is told about their own work: who annotates blind would learn of known answers.
        others = [(name, waits) for name, waits in kept if name != user.get_username()]
        if others:
            names = tuple(name for name, _ in others)
            attention.append(StudyAttention(row.study, names, sum(waits for _, waits in others)))
    return attention


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

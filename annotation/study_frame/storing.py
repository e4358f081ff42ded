"""How far the storing of a large study is."""

from dataclasses import dataclass

from annotation.models import (
    Item,
    Study,
)
from benchmarks.models import Job

# The setting of a study that is not stored to its end.
STORING = "storing"


STORE = "store-study"


def is_stored(study: Study) -> bool:
    """Return whether all of a study is there: items, people and assignments."""
    return STORING not in study.settings


@dataclass(frozen=True)
class Storing:
    """The progress of storing a study, in items and assignments. ``job`` does it, where one
    does.
    """

    done: int
    total: int
    job: Job | None
    launches: bool = False
    removed: bool = False

    @property
    def moving(self) -> bool:
        """Return whether somebody works on it, or will."""
        job = self.job
        return job is not None and job.status in (Job.Status.QUEUED, Job.Status.RUNNING)

    @property
    def failed(self) -> str:
        """The reason why it stopped, where that is known."""
        return self.job.message if self.job is not None and not self.moving else ""

    @property
    def words(self) -> str:
        return f"{self.done:,} of {self.total:,} items and assignments"

    @property
    def mark(self) -> str:
        return f"{self.done}-{self.job.status if self.job else ''}"


def storing_of(study: Study) -> Storing | None:
    """Return how far it is; None where the study is stored. By indexes, however large it is."""
    if is_stored(study):
        return None
    last = Item.objects.filter(study=study).order_by("-rank").values_list("rank", flat=True)
    job = Job.objects.filter(kind=STORE, payload__study=study.pk).order_by("-pk").first()
    assignments = sum(study.participants.values_list("assigned", flat=True))
    wish = study.settings[STORING]
    total = int(wish.get("total", 0))
    done = min(total, (last.first() or 0) + assignments)
    return Storing(done, total, job, bool(wish.get("launch")), removed=not wish)

"""What deletions mean for papers: numbers of deleted runs stay in them, words do not.

A pin keeps its figures and tables as a printed paper would. Excerpts go with their trajectories,
and what people answered in a study goes with the study; the pin then says so.
"""

from collections.abc import Callable, Collection, Mapping, Sequence

from analysis.models import PaperPart
from benchmarks.deletion.plans import counted_with
from benchmarks.deletion.services import companions_first
from benchmarks.models import Job, Trajectory


@counted_with
def parts_of_papers(
    runs: Collection[int], datasets: Collection[int], studies: Collection[int]
) -> Mapping[str, int]:
    """Count the parts of papers that go with these rows, and those that stay."""
    gone, staying = 0, 0
    of_runs, of_studies = set(runs), set(studies)
    rows = PaperPart.objects.order_by().values_list("runs", "studies", "trajectory")
    for its_runs, its_studies, trajectory in rows.iterator():
        if of_studies.intersection(its_studies) or (trajectory and of_runs.intersection(its_runs)):
            gone += 1
        elif of_runs.intersection(its_runs):
            staying += 1
    return {"Parts of papers": gone, "Parts of papers that keep their numbers": staying}


@companions_first
def delete_parts_of_studies(job: Job, report: Callable[[], None]) -> None:
    """Delete what papers keep of the studies that a job deletes."""
    wanted = set(job.payload["companions"])
    rows = PaperPart.objects.exclude(studies=[]).order_by().values_list("pk", "studies")
    PaperPart.objects.filter(pk__in=[pk for pk, ids in rows if wanted.intersection(ids)]).delete()


def delete_excerpts(sender: type[Trajectory], ids: Sequence[int], **about: object) -> None:
    """Delete the excerpts of deleted trajectories from papers."""
    PaperPart.objects.filter(trajectory__in=ids).delete()

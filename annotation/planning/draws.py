"""The probability with which each unit of a stored study's source was drawn."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from annotation.designs.draws import read_draws
from annotation.models import Study
from annotation.planning.planned_study import plan_study
from annotation.plans.study_plan import PlanError
from annotation.studies.design import DRAWN, study_design
from benchmarks.models import Run

NO_PLAN = "its items were not drawn by a plan"
CHANGED = "its source has changed since, and its plan does not say of what it was drawn"


@dataclass(frozen=True)
class StudyDraws:
    """Probabilities by id of a trajectory (or task); ``missing`` says why there are none."""

    probabilities: Mapping[int, float] = field(default_factory=dict)
    missing: str = ""


def study_draws(study: Study) -> StudyDraws:
    """Return the probabilities of a study's source.

    Studies that were made before probabilities were stored have them computed again from their
    plan, where it still results in the same design, by its fingerprint, and no run of the source
    ended later. Items that were added later are not among them.
    """
    design = study_design(study)
    if DRAWN in design.record:
        return StudyDraws(read_draws(design.record[DRAWN]))
    if design.plan is None:
        return StudyDraws(missing=NO_PLAN)
    try:
        planned = plan_study(design.plan)
    except PlanError:
        return StudyDraws(missing=CHANGED)
    later = Run.objects.filter(pk__in=planned.source_items.runs, finished_at__gt=study.created_at)
    if planned.digest != design.planned_digest or later.exists():
        return StudyDraws(missing=CHANGED)
    return StudyDraws(planned.drawn)

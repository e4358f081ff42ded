"""Opening and closing studies, and who made what they ask about."""

import pytest

from annotation.errors import Refused
from annotation.models import Study
from annotation.studies.services import role_labels_of, set_study_status
from benchmarks.models import Run
from tests.annotation.rows import make_runs

pytestmark = pytest.mark.django_db


def test_status_goes_between_open_and_closed_only(study: Study) -> None:
    set_study_status(study=study, status="closed")
    assert study.status == "closed"
    with pytest.raises(Refused):
        set_study_status(study=study, status="draft")
    assert Study.objects.get().status == "closed"


def test_labels_of_role_assignments_are_joined_over_all_runs() -> None:
    runs = make_runs(tasks=1)
    Run.objects.filter(pk=runs[1].pk).update(roles={"agent": [{"label": "recorded"}]})
    labels = role_labels_of([run.pk for run in runs])
    assert labels == {"agents": ["recorded", "scripted"], "others": ["lexicon"]}

"""Stored studies know with which probability units of their source were drawn."""

from datetime import timedelta

import pytest
from django.contrib.auth.models import User

from annotation.designs.sampling import Sample
from annotation.exports.head import with_run_keys
from annotation.models import Study
from annotation.planning.draws import CHANGED, NO_PLAN, study_draws
from annotation.planning.planned_study import plan_study
from annotation.planning.services import create_planned_study
from annotation.plans.study_plan import ItemSource
from annotation.studies.design import DRAWN
from benchmarks.models import Run, Trajectory
from tests.annotation.rows import make_runs, plan_for

pytestmark = [pytest.mark.django_db, pytest.mark.either]


@pytest.fixture
def sampled_study(ann: User) -> Study:
    runs = make_runs(tasks=4)
    items = ItemSource(runs=tuple(run.pk for run in runs), sample=Sample(way="per_model", count=2))
    plan = plan_for(runs, [ann], items=items, order="blocks", queries_each=None)
    return create_planned_study(planned=plan_study(plan))


def test_every_unit_of_the_source_has_its_probability(sampled_study: Study) -> None:
    draws = study_draws(Study.objects.get(pk=sampled_study.pk))
    assert draws.probabilities == dict.fromkeys(
        Trajectory.objects.values_list("pk", flat=True), 0.5
    )
    assert draws.missing == ""


def forgotten(study: Study) -> Study:
    """Return the study as it was stored before probabilities were."""
    del study.settings["design"][DRAWN]
    study.save(update_fields=["settings"])
    return Study.objects.get(pk=study.pk)


def test_older_studies_have_them_computed_from_their_plan(sampled_study: Study) -> None:
    stored = study_draws(sampled_study).probabilities
    assert study_draws(forgotten(sampled_study)).probabilities == stored


def test_they_are_missing_where_the_source_has_changed(sampled_study: Study) -> None:
    study = forgotten(sampled_study)
    later = study.created_at + timedelta(hours=1)
    Run.objects.update(finished_at=later)
    assert study_draws(study).missing == CHANGED
    Run.objects.update(finished_at=study.created_at)
    assert study_draws(study).missing == ""
    gone = study.items.filter(trajectory__isnull=False).first()
    assert gone is not None
    Trajectory.objects.filter(pk=gone.trajectory_id).update(status="failed")
    assert study_draws(study).missing == CHANGED


def test_they_are_missing_where_there_was_no_plan(study: Study) -> None:
    study.settings = {}
    draws = study_draws(study)
    assert (draws.missing, draws.probabilities) == (NO_PLAN, {})


def test_ids_of_this_installation_are_in_no_export(sampled_study: Study) -> None:
    assert DRAWN not in with_run_keys(sampled_study.settings, {})["design"]

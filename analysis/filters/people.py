"""Whose scores a page about runs may hold its judges against: studies that the reader may read."""

from dataclasses import replace

from django.contrib.auth.models import User

from analysis.filters.selection import Selection
from analysis.filters.studies import readable_studies, study_version
from annotation.models import Item, Study

MOST_STUDIES = 20


def with_people(selection: Selection, user: User) -> Selection:
    """The selection with the studies in which people scored trajectories of its runs.

    Studies that are closed to the reader are not among them; of many the newest are.
    """
    items = Item.objects.filter(
        use=Item.Use.MAIN, trajectory__run__in=[run.pk for run in selection.runs]
    )
    wanted = set(items.order_by().values_list("study", flat=True).distinct())
    if not wanted:
        return selection
    studies, _ = readable_studies(user)
    found: list[Study] = [study for study in studies if study.pk in wanted][:MOST_STUDIES]
    return replace(
        selection,
        people=tuple(study.pk for study in found),
        study_version=" ".join(study_version(study) for study in found),
    )

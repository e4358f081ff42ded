"""Read registrations: those that a person may see, and those about the data of a page."""

from dataclasses import replace

from django.contrib.auth.models import User
from django.db.models import Exists, OuterRef, Q, QuerySet

from analysis.filters import SHOW_REST
from analysis.filters.options import FilterOption
from analysis.filters.selection import Selection
from analysis.filters.studies import readable_studies
from analysis.models import Registration
from annotation.models import Study
from benchmarks.models import Dataset
from benchmarks.visibility import Visibility

DELETED = (
    FilterOption("", "Undefined"),
    FilterOption(SHOW_REST, "What is left, as exploratory"),
)


def registrations() -> QuerySet[Registration]:
    """Return all registrations with their withdrawals, the newest first."""
    return Registration.objects.filter(withdraws=None).select_related("withdrawal", "by", "study")


def registrations_for(user: User, seen: Visibility) -> QuerySet[Registration]:
    """Return the registrations that a person may see who may see results.

    One about a study is for those who read the study's results: it may say what annotators must
    not know. One about a study that is not here names nothing of this installation. Who annotates
    runs blind sees none about their dataset: it names agents.
    """
    rows = registrations()
    if seen.closed:
        blind = Dataset.objects.filter(runs__in=seen.closed)
        here = blind.filter(system=OuterRef("system"), name=OuterRef("dataset"))
        rows = rows.exclude(Exists(here))
    readable, _ = readable_studies(user)
    closed = Study.objects.exclude(pk__in=[study.pk for study in readable])
    names = {study.name for study in readable}
    hidden = Q(study__in=closed) | Q(
        Exists(closed.exclude(name__in=names).filter(name=OuterRef("study_name"))), study=None
    )
    return rows.exclude(hidden)


def with_registrations(selection: Selection) -> Selection:
    """Return the selection with the registrations about its data, and the choice to see the rest of
    deleted data where there are any.
    """
    rows = _about(selection)
    shown = SHOW_REST if rows and selection.filters.deleted == SHOW_REST else ""
    options = {**selection.options, "deleted": DELETED} if rows else selection.options
    return replace(
        selection, registrations=rows, options=options,
        filters=replace(selection.filters, deleted=shown),
    )  # fmt: skip


def _about(selection: Selection) -> tuple[Registration, ...]:
    """Return the registrations about the data of a page; without any there is no query.

    The dataset or study was read with ``registered``, whether there are any. Readers to whom runs
    are closed now see none: it names agents.
    """
    study, dataset = selection.study, selection.dataset
    if selection.closed or not getattr(
        study if study is not None else dataset, "registered", False
    ):
        return ()
    if study is not None:
        about = Q(study=study.pk) | Q(study=None, study_name=study.name)
        return tuple(registrations().filter(about))
    assert dataset is not None
    return tuple(registrations().filter(system=dataset.system, dataset=dataset.name))

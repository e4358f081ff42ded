"""Filters that some pages add: a measure, whom to compare with, a grouping, people, a label set."""

from collections.abc import Mapping
from dataclasses import replace

from django.contrib.auth.models import User
from django.db.models import Max, Sum

from analysis.filters.options import FilterOption
from analysis.filters.selection import Selection
from analysis.filters.studies import Fits, readable_studies, study_version
from analysis.models import FailureClustering, QuestionCheck
from annotation.models import Item, Study
from annotation.questionnaires import load_questionnaire
from annotation.remarks.label_sets import newest_sets
from annotation.remarks.selectors import labels_version
from benchmarks.core.ports.labels import Measure
from benchmarks.core.registry import find_system, system_of

MOST_STUDIES = 20
LAST_PLAN = "Mean of the judges, of the last plan, 1 to 5."


def known_dimensions(system: str) -> dict[str, str]:
    """Return the rubric dimensions of a system, with their titles."""
    known = system_of(system)
    return {d.key: d.title for d in known.dimensions} if known else {}


def measures_here(system: str) -> Mapping[str, Measure]:
    """Return the metrics of a system by name, and after them its rubric dimensions."""
    if not system:
        return {}
    dimensions = {key: Measure(title, LAST_PLAN) for key, title in known_dimensions(system).items()}
    return {**find_system(system).labels.measures, **dimensions}


def with_measure(selection: Selection) -> Selection:
    """Return the selection with a measure of its system, and an agent to compare with, if any."""
    filters, measures = selection.filters, measures_here(selection.system)
    measure = filters.measure if filters.measure in measures else next(iter(measures), "")
    agents = {run.agent: run.label for run in selection.runs}
    against = filters.against if filters.against in agents else ""
    return replace(
        selection,
        filters=replace(filters, measure=measure, against=against),
        options={
            **selection.options,
            "measure": tuple(FilterOption(name, option.title) for name, option in measures.items()),
            "against": tuple(
                FilterOption(name, f"Against {label}") for name, label in agents.items()
            ),
        },
    )


def with_group(selection: Selection) -> Selection:
    """Return the selection with one of the groupings that its system has, the first by default."""
    known = find_system(selection.system).comparisons.groups if selection.system else {}
    wanted = selection.filters.by
    by = wanted if wanted in known else next(iter(known), "")
    return replace(
        selection,
        filters=replace(selection.filters, by=by),
        options={
            **selection.options,
            "by": tuple(FilterOption(name, grouping.title) for name, grouping in known.items()),
        },
    )


def with_people(selection: Selection, user: User, asked: Fits | None = None) -> Selection:
    """Return the selection with the studies in which people scored trajectories of its runs.

    Studies that are closed to the reader, or have no questions such as ``asked``, are not among
    them; of many the newest are.
    """
    items = Item.objects.filter(
        use=Item.Use.MAIN, trajectory__run__in=[run.pk for run in selection.runs]
    )
    wanted = set(items.order_by().values_list("study", flat=True).distinct())
    if not wanted:
        return selection
    studies, _ = readable_studies(user)
    chosen: list[Study] = [
        study
        for study in studies
        if study.pk in wanted and (asked is None or asked(load_questionnaire(study.questionnaire)))
    ][:MOST_STUDIES]
    if not chosen:
        return selection
    return replace(
        selection,
        people=tuple(study.pk for study in chosen),
        study_version=" ".join(study_version(study) for study in chosen),
    )


# Whose scores a page shows, where people rated plans of its agents.
SCORES = (
    FilterOption("judges", "Judges"),
    FilterOption("people", "People"),
    FilterOption("corrected", "Judges corrected by people"),
)


def with_scores(selection: Selection) -> Selection:
    """Return the selection with whose scores it shows, where people rated its trajectories."""
    wanted = selection.filters.scores
    offered = SCORES if selection.people and known_dimensions(selection.system) else ()
    known = {option.value for option in offered}
    filters = replace(selection.filters, scores=wanted if wanted in known else "")
    options = {**selection.options, "scores": offered} if offered else selection.options
    return replace(selection, filters=filters, options=options)


def with_profile(selection: Selection) -> Selection:
    """Return the selection with the agent that the address names, if there is such an agent."""
    agents = {run.agent: run.label for run in selection.runs}
    wanted = selection.filters.profile
    return replace(
        selection,
        filters=replace(selection.filters, profile=wanted if wanted in agents else ""),
        options={
            **selection.options,
            "profile": tuple(FilterOption(name, label) for name, label in agents.items()),
        },
        study_version=questions_version(),
    )


def questions_version() -> str:
    """Return a value that changes with the answers of models to questions, and people's checks."""
    checks = QuestionCheck.objects.aggregate(last=Max("pk"))
    rows = FailureClustering.objects.exclude(question="")
    states = rows.aggregate(last=Max("pk"), asked=Sum("part"))
    done = rows.filter(state=FailureClustering.State.DONE).count()
    return " ".join(map(str, (*checks.values(), *states.values(), done)))


def with_label_set(selection: Selection) -> Selection:
    """Return the selection with a label set, the first by default, and the state of all labels."""
    titles = {row.key: row.title for row in newest_sets()}
    wanted = selection.filters.label_set
    chosen = wanted if wanted in titles else next(iter(titles), "")
    return replace(
        selection,
        filters=replace(selection.filters, label_set=chosen),
        options={
            **selection.options,
            "label_set": tuple(FilterOption(key, title) for key, title in titles.items()),
        },
        study_version=" ".join(map(str, labels_version())),
    )

"""Where a study's items come from, as a source of further ones."""

from annotation.models import Item, Study
from annotation.planning.plans import Source
from annotation.planning.source_choices import SourceChoice
from annotation.questionnaires import load_questionnaire
from annotation.studies.design import study_design
from benchmarks.models import Run
from benchmarks.visibility import Visibility


def source_of(study: Study) -> Source:
    """The runs or the dataset of the items that a study has; an empty source where it has none."""
    items = Item.objects.filter(study=study).order_by()
    if load_questionnaire(study.questionnaire).unit == "task":
        datasets = items.filter(task__isnull=False).values_list("task__dataset", flat=True)
        first = datasets.order_by("rank").first()
        return Source(dataset=str(first)) if first is not None else Source()
    runs = items.filter(trajectory__isnull=False).values_list("trajectory__run", flat=True)
    plan = study_design(study).plan
    return Source(runs=tuple(sorted(runs.distinct())), trials=plan.items.trials if plan else "all")


def choice_of(study: Study) -> SourceChoice:
    """The same as a choice on a page."""
    about = load_questionnaire(study.questionnaire)
    return SourceChoice("", study.name, about.system, about.unit, source_of(study))


def agents_of(source: Source, seen: Visibility) -> list[tuple[str, str]]:
    """The agents of a source's runs by name, with their titles; those that are not closed."""
    rows = seen.of(Run.objects.filter(pk__in=source.runs)).order_by("agent__title")
    return list(rows.values_list("agent__name", "agent__title").distinct())

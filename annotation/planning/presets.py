"""Ready plans for human validations of the demo, one click each."""

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

from annotation.planning.draft import Draft, draft_of_plan
from annotation.planning.preset_plans import (
    FILTERS,
    LEVEL,
    TEN_QUESTIONS,
    TURNS,
    VIOLATIONS,
    filter_plan,
    paper_plan,
    turn_plan,
    violation_plan,
)
from annotation.planning.source_choices import SourceChoice
from annotation.plans.study_plan import StudyPlan
from benchmarks.models import Dataset, Run

Plan = Callable[..., StudyPlan]


class StudyPreset(NamedTuple):
    """A plan that one click fills in; ``places`` is the number of its annotators."""

    key: str
    name: str
    title: str
    text: str
    plan: Plan
    places: int
    questionnaire: str


PRESETS: Mapping[str, StudyPreset] = {
    preset.key: preset
    for preset in (
        StudyPreset(
            "paper", "Ten questions, as in the paper", "The AdaPlanBench paper’s human study",
            "Ten questions on 240 trajectories: eight annotators, three queries each with the "
            "trajectories of ten models, one rater for each.",
            paper_plan, 8, TEN_QUESTIONS,
        ),
        StudyPreset(
            "violations", "Violation check", "Violation check",
            "Which conditions does each plan violate? Thirty trajectories, three annotators each, "
            "two training items.",
            violation_plan, 3, VIOLATIONS,
        ),
        StudyPreset(
            "filters", "Filter check", "Filter check",
            "Keep or remove each candidate constraint. Thirty tasks, three annotators each.",
            filter_plan, 3, FILTERS,
        ),
        StudyPreset(
            "turns", "Turn scores", "Turn scores",
            "Four questions on the plan of every turn, not only the last. Thirty trajectories, "
            "three annotators each.",
            turn_plan, 3, TURNS,
        ),
    )
}  # fmt: skip


def presets_for(sources: Mapping[str, SourceChoice]) -> Sequence[StudyPreset]:
    """Return the presets whose runs and tasks are there, and open to whoever plans."""
    dataset = _demo()
    if dataset is None:
        return []
    return [preset for preset in PRESETS.values() if _source(preset, dataset, sources)]


def fill_in(preset: StudyPreset, sources: Mapping[str, SourceChoice]) -> Draft | None:
    """Return the draft of a preset; None where its runs or tasks are not there."""
    dataset = _demo()
    source = _source(preset, dataset, sources) if dataset is not None else None
    if dataset is None or source is None:
        return None
    plan = preset.plan(dataset, name=preset.name, places=preset.places)
    specials = [
        {"use": "training", "item": item.trajectory, "expected": dict(item.expected)}
        for item in plan.training
    ]
    return draft_of_plan(plan, source.key, specials)


def fill_in_filter_check(dataset: Dataset, sources: Mapping[str, SourceChoice]) -> Draft | None:
    """Return the draft of a filter check over a dataset, for whoever is free; None without
    candidates.
    """
    preset = PRESETS["filters"]
    source = _source(preset, dataset, sources)
    if source is None:
        return None
    plan = preset.plan(dataset, name=f"{preset.name}: {dataset}"[:160])
    return draft_of_plan(plan, source.key)


def _demo() -> Dataset | None:
    """Return the demo's first dataset with the level that is studied: it has enough tasks."""
    runs = Run.objects.filter(level=LEVEL, is_demo=True, experiment__isnull=False)
    demo = Dataset.objects.filter(is_demo=True, made_by=None)
    return demo.filter(pk__in=runs.values("dataset")).order_by("pk").first()


def _source(
    preset: StudyPreset, dataset: Dataset, sources: Mapping[str, SourceChoice]
) -> SourceChoice | None:
    if preset.questionnaire == FILTERS:
        return sources.get(f"tasks:{dataset.pk}")
    runs = Run.objects.filter(dataset=dataset, level=LEVEL, is_demo=True).order_by("pk")
    first = runs.values_list("experiment", flat=True).first()
    return sources.get(f"{first}:{LEVEL}")

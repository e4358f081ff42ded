"""The first steps of planning a study: what is judged, and which form is filled in."""

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from django import forms

from annotation.designs.sampling import Sample
from annotation.planning.source_choices import SourceChoice
from annotation.planning.step_forms import SettledField, StepForm, offer_choices
from annotation.questionnaires import (
    Questionnaire,
    QuestionnaireError,
    load_questionnaire,
    newest_questionnaires,
)
from benchmarks.visibility import Visibility

WAYS = {
    "all": "All of them",
    "total": "A sample: so many in all",
    "per_model": "A sample: so many of each model",
    "per_task": "A sample: so many of each task",
    "stratified": "A stratified sample: so many in all, spread over strata",
}
STRATA = {
    "model": "Model",
    "task": "Task",
    "level": "Level",
    "category": "Category of the task",
    "ending": "How the trajectory ended",
    "dataset": "Dataset",
}


class ItemsForm(StepForm):
    """What is judged: where items come from, and which of them."""

    key = "items"
    short = "Items"
    title = "What to judge"
    lead = "Choose where the items come from, then all of them or a sample drawn by seed."
    paths = {"name": "name"}

    name = forms.CharField(max_length=160, help_text="Annotators see it above every item.")
    source = forms.ChoiceField(
        label="Source",
        help_text="Runs that were started together, at one level; runs imported into one dataset; "
        "or tasks whose candidate constraints are checked.",
    )
    agents = forms.MultipleChoiceField(
        required=False, widget=forms.CheckboxSelectMultiple, label="Only these agents"
    )
    endings = forms.MultipleChoiceField(
        required=False, widget=forms.CheckboxSelectMultiple, label="Only those that ended so"
    )
    trials = SettledField(
        label="Trials of a task",
        choices=[
            ("all", "All trials of each agent"),
            ("first", "The first of each agent"),
        ],
        help_text="Imported agents may have tried a task several times.",
    )
    way = SettledField(label="How many", choices=list(WAYS.items()))
    count = forms.IntegerField(
        label="Size of the sample", required=False, min_value=1, max_value=1_000_000,
        help_text="In all, or of each model or task. Leave it empty where all are taken.",
    )  # fmt: skip
    strata = forms.MultipleChoiceField(
        required=False, widget=forms.CheckboxSelectMultiple, choices=list(STRATA.items()),
        label="Strata", help_text="For a stratified sample alone.",
    )  # fmt: skip
    allocation = SettledField(
        label="Shares of the strata",
        choices=[("proportional", "In proportion to their size"), ("equal", "Equal")],
    )  # fmt: skip
    keep_tasks = forms.BooleanField(
        label="Keep tasks whole", required=False,
        help_text="The sample is of tasks, each with all its items.",
    )  # fmt: skip
    take_fewer = forms.BooleanField(
        label="Where there are too few, take what is there", required=False
    )
    shown_for = forms.CharField(required=False, widget=forms.HiddenInput)

    FOLDED: ClassVar[Sequence[str]] = ("agents", "endings", "trials")
    SAMPLE: ClassVar[Sequence[str]] = (
        "way", "count", "keep_tasks", "take_fewer", "strata", "allocation",
    )  # fmt: skip

    def __init__(
        self, *args: Any, sources: Mapping[str, SourceChoice], seen: Visibility, **kwargs: Any
    ) -> None:
        super().__init__(*args, **kwargs)
        self.sources = sources
        offer_choices(self, "source", [(key, choice.title) for key, choice in sources.items()])
        self.chosen = sources.get(str(self["source"].value())) or next(iter(sources.values()))
        offer_choices(self, "agents", self.chosen.agents(seen))
        offer_choices(self, "endings", self.chosen.endings(seen))
        if self.chosen.unit == "task":
            for name in self.FOLDED:
                del self.fields[name]

    @property
    def turned(self) -> bool:
        """Whether agents and endings on the page are those of another source."""
        shown = self["shown_for"].value()
        return bool(shown) and shown != self.chosen.key

    @property
    def narrowed(self) -> bool:
        """Whether some of the agents or endings on the page are chosen."""
        return any(self[name].value() for name in ("agents", "endings") if name in self.fields)

    def clean(self) -> dict[str, Any]:
        given = self.cleaned_data
        sampled = (given.get("way") or "all") != "all"
        if sampled and not given.get("count") and "count" not in self.errors:
            self.add_error("count", "Say how many the sample has.")
        return given

    def wishes(self) -> dict[str, Any]:
        given, base = self.cleaned_data, self.chosen.source
        way: Any = given.get("way") or "all"
        source = type(base)(
            experiment=base.experiment,
            dataset=base.dataset,
            levels=base.levels,
            agents=tuple(given.get("agents", ())),
            endings=tuple(given.get("endings", ())),
            trials=given.get("trials") or "all",
        )
        sample = Sample(
            way=way,
            count=given["count"] if way != "all" else None,
            strata=tuple(given["strata"]) if way == "stratified" else (),
            allocation=given.get("allocation") or "proportional",
            whole_tasks=given["keep_tasks"],
            take_fewer=given["take_fewer"],
        )
        return {"name": given["name"], "items": source, "sample": sample}


class QuestionnaireForm(StepForm):
    """Which form annotators fill in."""

    key = "form"
    short = "Form"
    title = "Which form"
    lead = "An item is asked only the questions for which it has what they need."
    paths = {"questionnaire": "questionnaire"}

    questionnaire = forms.ChoiceField(widget=forms.RadioSelect)
    shows_hidden = SettledField(
        label="What was hidden from the agent",
        choices=[
            ("shown", "Shown to annotators, marked as hidden"),
            ("kept", "Not shown to annotators either"),
        ],
        help_text="Such as the aim that a simulated user was given. Concerns trajectories made "
        "elsewhere; rewards and names of agents are never shown.",
    )
    blinded = SettledField(
        label="Blinding",
        choices=[("yes", "Annotators do not learn who made an item"),
                 ("no", "Not blinded: who made it is no secret to those who may see results")],
    )  # fmt: skip

    def __init__(self, *args: Any, chosen: SourceChoice, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        rows = [
            q
            for q in newest_questionnaires()
            if q.system == chosen.system and q.unit == chosen.unit
        ]
        self.known = sorted(rows, key=lambda q: (bool(q.wants), q.name))
        given = str(self["questionnaire"].value() or "")
        if given and given not in {q.id for q in self.known}:
            self.known += _older(given, chosen)
        offer_choices(
            self, "questionnaire", [(q.id, f"{q.title}, version {q.version}") for q in self.known]
        )
        if self.known:
            self.fields["questionnaire"].initial = self.known[0].id

    def wishes(self) -> dict[str, Any]:
        given = self.cleaned_data
        return {
            "questionnaire": given["questionnaire"],
            "shows_hidden": given.get("shows_hidden") != "kept",
            "blinded": given.get("blinded") != "no",
        }


def _older(id: str, chosen: SourceChoice) -> list[Questionnaire]:
    """An older version that was asked for, if it fits."""
    try:
        found = load_questionnaire(id)
    except QuestionnaireError:
        return []
    return [found] if (found.system, found.unit) == (chosen.system, chosen.unit) else []

"""Forms of the study pages."""

from typing import Any

from django import forms
from django.contrib.auth.models import User

from annotation.questionnaires import (
    Questionnaire,
    known_questionnaires,
    load_questionnaire,
    questionnaires_for,
)
from annotation.services.studies import ALL_TRIALS, FIRST_TRIAL
from benchmarks.blinding import Visibility
from benchmarks.core.words import plain
from benchmarks.models import Experiment, Run

MOST_ANNOTATORS = 200
SHOWN, KEPT = "shown", "kept"


class StudyForm(forms.Form):
    """What a new study is made of: a set of runs at one level, people, and how much each gets."""

    name = forms.CharField(max_length=160, help_text="Annotators see it above every item.")
    source = forms.ChoiceField(
        label="Runs",
        help_text="All runs that were started together, at one level, or that were imported into "
        "one dataset.",
    )
    questionnaire = forms.ChoiceField(
        required=False,
        help_text="An item is asked only the questions for which it has what they need.",
    )
    annotators = forms.CharField(
        widget=forms.Textarea(attrs={"rows": 3, "spellcheck": "false"}),
        help_text="Usernames, separated by spaces, commas or lines.",
    )
    each = forms.IntegerField(
        label="Queries for each annotator",
        min_value=1,
        max_value=1000,
        initial=3,
        help_text="An annotator judges all agents’ trajectories of a query.",
    )
    raters = forms.IntegerField(
        label="Annotators for each query",
        required=False,
        min_value=1,
        max_value=MOST_ANNOTATORS,
        initial=1,
        help_text="With two or more it can be said how far people agree with each other.",
    )
    trials = forms.ChoiceField(
        label="Trials of a query",
        required=False,
        choices=[
            (ALL_TRIALS, "All trials of each agent"),
            (FIRST_TRIAL, "The first of each agent"),
        ],
        help_text="Imported agents may have tried a query several times.",
    )
    hidden = forms.ChoiceField(
        label="What was hidden from the agent",
        required=False,
        choices=[
            (SHOWN, "Shown to annotators, marked as hidden"),
            (KEPT, "Not shown to annotators either"),
        ],
        help_text="Such as the aim that a simulated user was given. Concerns trajectories made "
        "elsewhere; rewards and names of agents are never shown.",
    )
    seed = forms.IntegerField(
        min_value=0,
        max_value=2**62,
        initial=1,
        help_text="Decides who gets which query and in which order; the same seed deals the same.",
    )

    def __init__(self, *args: Any, seen: Visibility, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.sources = run_sources(seen)
        field = self.fields["source"]
        assert isinstance(field, forms.ChoiceField)
        field.choices = [(key, title) for key, (title, _) in self.sources.items()]
        known = map(load_questionnaire, known_questionnaires())
        field = self.fields["questionnaire"]
        assert isinstance(field, forms.ChoiceField)
        field.choices = [
            ("", "The one that fits these trajectories"),
            *((q.id, f"{q.title}, version {q.version}") for q in known),
        ]

    def clean_annotators(self) -> list[User]:
        names = self.cleaned_data["annotators"].replace(",", " ").split()
        unique = list(dict.fromkeys(names))
        if len(unique) > MOST_ANNOTATORS:
            raise forms.ValidationError(f"At most {MOST_ANNOTATORS} annotators at once.")
        found = User.objects.filter(is_active=True).in_bulk(unique, field_name="username")
        missing = [name for name in unique if name not in found]
        if missing:
            raise forms.ValidationError(f"No account with this name: {', '.join(missing)}.")
        return [found[name] for name in unique]

    def clean(self) -> dict[str, Any]:
        """Name the questionnaire that fits, where none was chosen."""
        given = self.cleaned_data
        given["raters"] = given.get("raters") or 1
        given["trials"] = given.get("trials") or ALL_TRIALS
        if given.get("questionnaire") == "" and "source" in given:
            system = self.runs[0].dataset.system
            fitting: list[Questionnaire] = questionnaires_for(system)
            if fitting:
                given["questionnaire"] = fitting[0].id
            else:
                words = f"There is no questionnaire for trajectories of {plain(system)}."
                self.add_error("questionnaire", words)
        return given

    @property
    def runs(self) -> list[Run]:
        """The runs of the chosen source."""
        _, ids = self.sources[self.cleaned_data["source"]]
        return list(Run.objects.filter(pk__in=ids).select_related("dataset").order_by("pk"))


def run_sources(seen: Visibility) -> dict[str, tuple[str, list[int]]]:
    """Sets of runs to choose from, newest first: key → (title, ids of the runs)."""
    return {**_started_together(seen), **_imported(seen)}


def _imported(seen: Visibility) -> dict[str, tuple[str, list[int]]]:
    """The runs made elsewhere, by the dataset that they were imported into."""
    rows = (
        seen.of(Run.objects.filter(kind=Run.Kind.IMPORTED))
        .order_by("-dataset", "pk")
        .values_list("pk", "dataset", "dataset__name", "agent")
    )
    grouped: dict[tuple[int, str], list[tuple[int, int]]] = {}
    for pk, dataset, name, agent in rows:
        grouped.setdefault((dataset, name), []).append((pk, agent))
    return {
        f"dataset:{dataset}": (f"{name} ({_agents(runs)}, imported)", [pk for pk, _ in runs])
        for (dataset, name), runs in grouped.items()
    }


def _agents(runs: list[tuple[int, int]]) -> str:
    agents = len({agent for _, agent in runs})
    return f"{agents} agent{'s' * (agents > 1)}"


def _started_together(seen: Visibility) -> dict[str, tuple[str, list[int]]]:
    rows = (
        seen.of(Run.objects.exclude(status=Run.Status.CANCELLED))
        .order_by("-experiment", "pk")
        .values_list("pk", "experiment", "level", "agent")
    )
    names = dict(Experiment.objects.values_list("pk", "name"))
    grouped: dict[tuple[int, str], list[tuple[int, int]]] = {}
    for pk, experiment, level, agent in rows:
        if experiment is not None:
            grouped.setdefault((experiment, level), []).append((pk, agent))
    sources = {}
    for (experiment, level), runs in grouped.items():
        words = f"{_agents(runs)}{', level ' + level if level else ''}"
        title = f"{names[experiment]} ({words})"
        sources[f"{experiment}:{level}"] = (title, [pk for pk, _ in runs])
    return sources

"""Forms of the study pages."""

from typing import Any

from django import forms
from django.contrib.auth.models import User

from benchmarks.models import Experiment, Run

MOST_ANNOTATORS = 200


class StudyForm(forms.Form):
    """What a new study is made of: a set of runs at one level, people, and how much each gets."""

    name = forms.CharField(max_length=160, help_text="Annotators see it above every item.")
    source = forms.ChoiceField(
        label="Runs", help_text="All runs that were started together, at one level."
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
        help_text="An annotator judges all agents’ trajectories of a query, and nobody else does.",
    )
    seed = forms.IntegerField(
        min_value=0,
        max_value=2**62,
        initial=1,
        help_text="Decides who gets which query and in which order; the same seed deals the same.",
    )

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.sources = run_sources()
        field = self.fields["source"]
        assert isinstance(field, forms.ChoiceField)
        field.choices = [(key, title) for key, (title, _) in self.sources.items()]

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

    @property
    def runs(self) -> list[Run]:
        """The runs of the chosen source."""
        _, ids = self.sources[self.cleaned_data["source"]]
        return list(Run.objects.filter(pk__in=ids).select_related("dataset").order_by("pk"))


def run_sources() -> dict[str, tuple[str, list[int]]]:
    """Sets of runs to choose from, newest first: key → (title, ids of the runs)."""
    rows = (
        Run.objects.exclude(status=Run.Status.CANCELLED)
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
        agents = len({agent for _, agent in runs})
        words = f"{agents} agent{'s' * (agents > 1)}"
        title = f"{names[experiment]} ({words}{', level ' + level if level else ''})"
        sources[f"{experiment}:{level}"] = (title, [pk for pk, _ in runs])
    return sources

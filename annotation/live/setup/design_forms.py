"""A study of sessions: who plays what with which agent in which order."""

from collections.abc import Mapping
from typing import Any

from django import forms
from django.contrib.auth.models import User

from annotation.live.setup.design import MOST_SESSIONS, draw_tasks
from annotation.live.setup.forms import LiveForm
from annotation.live.setup.services import DesignWish
from annotation.planning.plans import MOST_ANNOTATORS
from annotation.studies.forms import read_people
from benchmarks.filters import set_choices
from benchmarks.models import Agent, Task

NAMED, POOL = "named", "pool"
ORDERS = [
    ("latin", "Latin square: task by task, agents in the rows of a balanced square"),
    ("blocks", "Balanced blocks: each agent once in a block, sessions of a task apart"),
    ("random", "Random: everybody’s sessions in an order drawn by seed"),
]


class LiveStudyForm(LiveForm):
    """Agents, tasks, players, and how they are put together; the rest is as for one session."""

    agents = forms.MultipleChoiceField(
        widget=forms.CheckboxSelectMultiple,
        error_messages={"required": "Choose at least one agent."},
        help_text="Each player meets them in turn, without being told which is which.",
    )
    tasks = forms.CharField(
        label="Only these tasks",
        required=False,
        widget=forms.Textarea(attrs={"rows": 3, "spellcheck": "false"}),
        help_text="Task ids, one a line. Left empty, all tasks of the dataset are drawn from.",
    )
    sample = forms.IntegerField(
        label="So many tasks, drawn by seed",
        required=False,
        min_value=1,
        help_text="Left empty, all of them are played.",
    )
    players = forms.ChoiceField(
        label="Players",
        widget=forms.RadioSelect,
        choices=[(NAMED, "People with accounts, named below"), (POOL, "Whoever joins by a link")],
        initial=NAMED,
    )
    names = forms.CharField(
        label="User names",
        required=False,
        widget=forms.Textarea(attrs={"rows": 2, "spellcheck": "false", "autocomplete": "off"}),
        help_text="Separated by spaces, commas or lines.",
    )
    seats = forms.IntegerField(
        label="For how many",
        required=False,
        min_value=1,
        max_value=MOST_ANNOTATORS,
        help_text="Where players join by a link: as many can come.",
    )
    each = forms.IntegerField(
        label="Sessions for each player", min_value=1, max_value=MOST_SESSIONS, initial=2
    )
    order = forms.ChoiceField(label="Order", widget=forms.RadioSelect, choices=ORDERS)

    def __init__(self, data: Mapping[str, Any] | None, **given: Any) -> None:
        super().__init__(data, **given)
        if self.meets_agent:
            set_choices(self, "agents", [(agent.name, agent.title) for agent in self.all_agents])
        else:
            del self.fields["agents"]
        self.fields["order"].initial = "latin"
        self.fields["name"].initial = f"Sessions of {self.dataset.name}"

    def clean_tasks(self) -> list[Task]:
        ids = [line.strip() for line in self.cleaned_data["tasks"].splitlines() if line.strip()]
        rows = self.dataset.tasks.only("pk", "external_id", "dataset").order_by("pk")
        if not ids:
            return list(rows)
        found = {task.external_id: task for task in rows.filter(external_id__in=ids)}
        unknown = [id for id in ids if id not in found]
        if unknown:
            raise forms.ValidationError(f"This dataset has no task {', '.join(unknown[:5])}.")
        return [found[id] for id in dict.fromkeys(ids)]

    def clean_names(self) -> list[User]:
        if self.data.get("players") == POOL:
            return []
        return read_people(self.cleaned_data["names"])

    def clean(self) -> dict[str, Any]:
        given: dict[str, Any] = super().clean() or {}
        places = len(self.mode.places)
        if given.get("players") == POOL:
            if not given.get("seats") and "seats" not in self.errors:
                self.add_error("seats", "Say for how many.")
            elif given.get("seats", 0) % places:
                self.add_error("seats", f"A session has {places} places: give a multiple of it.")
        elif "names" in given:
            if not given["names"]:
                self.add_error("names", "Name at least one player.")
            elif len(given["names"]) % places:
                self.add_error("names", f"A session has {places} places: name a multiple of it.")
        return given

    def design(self) -> DesignWish:
        """What the form says about who plays what, once it is valid."""
        given, places = self.cleaned_data, len(self.mode.places)
        tasks: list[Task] = given["tasks"]
        drawn = draw_tasks(
            tasks=[task.external_id for task in tasks], count=given["sample"], seed=given["seed"]
        )
        people: list[User] = given["names"]
        chosen = given.get("agents", ())
        agents: list[Agent] = [agent for agent in self.all_agents if agent.name in chosen]
        return DesignWish(
            agents=agents,
            tasks=[tasks[place] for place in drawn],
            rows=given["seats"] // places
            if given["players"] == POOL
            else [people[start : start + places] for start in range(0, len(people), places)],
            each=given["each"],
            order=given["order"],
        )

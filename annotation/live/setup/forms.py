"""Forms for sessions: the settings of a study, one session, and a design of many."""

from collections import Counter
from collections.abc import Mapping
from typing import Any

from django import forms
from django.contrib.auth.models import User

from annotation.consent.services import LONGEST_TEXT
from annotation.form_fields import PeopleField, read_people
from annotation.live.setup.design import MOST_SESSIONS, draw_tasks
from annotation.live.setup.services import UNASKED, DesignRequest, SessionRequest
from annotation.models import LivePlan
from annotation.people.invitations import LONGEST_DAYS
from annotation.plans.study_plan import MOST_ANNOTATORS
from annotation.questionnaires import questionnaires_for_players
from benchmarks.core.ports.people import Mode
from benchmarks.core.registry import get_system
from benchmarks.datasets.selectors import dataset_levels
from benchmarks.filters import set_choices
from benchmarks.models import Agent, Dataset, Task
from benchmarks.request_fields import request_form
from benchmarks.roles.forms import RolesForm
from benchmarks.roles.selectors import agents_for
from benchmarks.runs.requests import RunRequest
from benchmarks.visibility import Visibility

NONE = "none"
OTHERS = "others"
SHORT = 70
DUEL = (
    "The player talks with two agents side by side on the same task. Replies appear together, and "
    "the player votes in every turn and at the end."
)


class LiveForm(request_form(RunRequest, ("seed",)), RolesForm):  # type: ignore[misc]
    """The settings of all sessions of a study; of roles that people fill only who suggests."""

    by_people = False
    level = forms.ChoiceField()
    name = forms.CharField(
        max_length=160,
        help_text="Players see it above every page; do not name the agent in it.",
    )
    practises = forms.BooleanField(
        label="Start with a practice round",
        required=False,
        help_text="Each player plays one round with a scripted agent on another task. It never "
        "counts anywhere.",
    )
    blinded = forms.BooleanField(
        label="Blinded",
        required=False,
        initial=True,
        help_text="Players do not learn which agent they meet.",
    )
    shows_suggestions = forms.BooleanField(
        label="Show suggestions",
        required=False,
        help_text="Players see what the script or model chosen as judge would have answered. It is "
        "kept in any case, and decides nothing.",
    )
    hints = forms.BooleanField(
        label="Show hints",
        required=False,
        help_text="Before a reply is sent, the page may point out a likely mistake. Hints compare "
        "words only and can be wrong; players can send anyway.",
    )
    questionnaire = forms.ChoiceField(
        label="Questionnaire after the session",
        help_text="Each player answers it about playing. What was said is judged by others, in a "
        "study of the session’s runs.",
    )
    leaving = forms.ChoiceField(
        label="When somebody leaves",
        choices=LivePlan.Leaving.choices,
        initial=LivePlan.Leaving.WAIT,
    )
    away_seconds = forms.IntegerField(
        label="Away after (seconds)",
        min_value=20,
        max_value=86_400,
        initial=300,
        help_text="A player whose turn it is counts as away after this time without activity.",
    )
    reply_seconds = forms.IntegerField(
        label="Time limit per reply (seconds)",
        min_value=0,
        max_value=86_400,
        initial=0,
        required=False,
        help_text="After that, the rule for leaving players applies. 0: no limit.",
    )
    session_minutes = forms.IntegerField(
        label="Time limit per session (minutes)",
        min_value=0,
        max_value=10_080,
        initial=0,
        required=False,
        help_text="After that the session ends; pauses do not count. 0: no limit.",
    )
    information = forms.CharField(
        required=False,
        max_length=LONGEST_TEXT,
        widget=forms.Textarea(attrs={"rows": 4}),
        help_text="What this is about, how long it takes, whom to ask. Players read it first.",
    )
    consent = forms.CharField(
        label="Consent text",
        required=False,
        max_length=LONGEST_TEXT,
        widget=forms.Textarea(attrs={"rows": 3}),
        help_text="Leave empty to skip consent.",
    )

    def __init__(
        self,
        data: Mapping[str, Any] | None,
        *,
        dataset: Dataset,
        mode: Mode,
        seen: Visibility,
    ) -> None:
        system = get_system(dataset.system)
        people = mode.roles - set(mode.suggests)
        super().__init__(data, dataset=dataset, system=system, seen=seen, people=people)
        for name in self.role_names:
            if name.removeprefix("role_").rpartition("_")[0] in mode.suggests:
                self.fields[name].label = f"{self.fields[name].label}, suggests"
                self.fields[name].help_text = "Asked beside the person, and decides nothing."
        for name, value in mode.settings.items():
            self.fields[f"set_{name}"].initial = value
        for name, values in mode.excludes.items():
            shown = self.fields[f"set_{name}"].widget
            shown.choices = [choice for choice in shown.choices if choice[0] not in values]
        self.mode = mode
        self.all_agents = meetable_agents(system.key, seen)
        self.levels = dataset_levels(dataset)
        if self.levels:
            set_choices(self, "level", [(level, level) for level in self.levels])
            self.fields["level"].required = self.asks_level
        else:
            del self.fields["level"]
        if not mode.suggests:
            del self.fields["shows_suggestions"]
        if not system.people.gives_hints:
            del self.fields["hints"]
        known = questionnaires_for_players(system.key)
        asked = [(q.id, f"{q.title}, version {q.version}") for q in known]
        set_choices(self, "questionnaire", [*asked, (NONE, "Nothing")])
        usual = [q.id for q in known if q.id == UNASKED] or [id for id, _ in asked] or [NONE]
        self.fields["questionnaire"].initial = usual[0]

    @property
    def asks_level(self) -> bool:
        """Return whether there is a choice of levels; of one alone nobody is asked."""
        return len(self.levels) > 1

    def clean_level(self) -> str:
        return str(self.cleaned_data["level"] or self.levels[0])

    @property
    def meets_agent(self) -> bool:
        """Return whether an agent that is no person plays."""
        return "agent" not in self.mode.roles

    @property
    def limit_fields(self) -> list[forms.BoundField]:
        return [self[name] for name in ("away_seconds", "reply_seconds", "session_minutes")]

    def clean_reply_seconds(self) -> int:
        return self.cleaned_data["reply_seconds"] or 0

    def clean_session_minutes(self) -> int:
        return self.cleaned_data["session_minutes"] or 0

    def clean_seed(self) -> int:
        return self.cleaned_data["seed"] or 0

    def wish(self) -> SessionRequest:
        """Return what the form says, once it is valid."""
        given = self.cleaned_data
        asked = given["questionnaire"]
        return SessionRequest(
            name=given["name"],
            dataset=self.dataset,
            mode=self.mode.key,
            level=given.get("level", ""),
            settings=self.chosen_settings,
            roles=self.chosen_roles,
            questionnaire="" if asked == NONE else asked,
            blinded=given["blinded"],
            practises=given["practises"],
            shows_suggestions=given.get("shows_suggestions", False),
            hints=given.get("hints", False),
            leaving=given["leaving"],
            away_seconds=given["away_seconds"],
            reply_seconds=given["reply_seconds"],
            session_minutes=given["session_minutes"],
            information=given["information"],
            consent=given["consent"],
            seed=given["seed"],
            duels=self.makes_duels,
        )

    @property
    def makes_duels(self) -> bool:
        """Return whether sessions are played two at a time, once the form is valid."""
        return False

    def find_agent(self, name: str) -> Agent | None:
        """Return the agent of a name, among those that may be met."""
        return next((agent for agent in self.all_agents if agent.name == name), None)


def meetable_agents(system: str, seen: Visibility) -> list[Agent]:
    """Return the agents that a player can meet: all but people."""
    return [agent for agent in agents_for(system, seen) if agent.kind != Agent.Kind.HUMAN]


def task_choices(tasks: list[Task]) -> list[tuple[str, str]]:
    """Return the tasks by their id and the beginning of what they ask."""
    return [
        (
            str(task.pk),
            f"{task.external_id}: {task.prompt[:SHORT]}{'…' * (len(task.prompt) > SHORT)}",
        )
        for task in tasks
    ]


class NewSessionForm(LiveForm):
    """One session with a study of its own."""

    agent = forms.ChoiceField(help_text="Whom the players meet, without being told.")
    second = forms.ChoiceField(
        label="Second agent, for a blind duel", required=False, help_text=DUEL
    )
    task = forms.ChoiceField()
    mine = forms.ChoiceField(label="Who plays")
    days = forms.IntegerField(
        label="Links are valid for (days)", min_value=1, max_value=LONGEST_DAYS, initial=14
    )

    def __init__(self, data: Mapping[str, Any] | None, **given: Any) -> None:
        super().__init__(data, **given)
        names = [(agent.name, agent.title) for agent in self.all_agents]
        if self.meets_agent:
            set_choices(self, "agent", names)
        else:
            del self.fields["agent"]
        if self.mode.duels:
            set_choices(self, "second", [("", "None: an ordinary session"), *names])
        else:
            del self.fields["second"]
        self.tasks = list(self.dataset.tasks.only("pk", "external_id", "prompt", "dataset"))
        set_choices(self, "task", task_choices(self.tasks))
        places = enumerate(self.mode.places, 1)
        others = "one person" if len(self.mode.places) == 1 else "each person"
        set_choices(
            self,
            "mine",
            [
                (OTHERS, f"Others: a link for {others}"),
                *((str(number), f"I play myself: {place.title}") for number, place in places),
            ],
        )
        self.fields["name"].initial = f"Session of {self.dataset.name}"

    @property
    def chosen_agent(self) -> Agent | None:
        return self.find_agent(self.cleaned_data.get("agent", ""))

    @property
    def makes_duels(self) -> bool:
        return bool(self.cleaned_data.get("second"))

    @property
    def both_agents(self) -> list[Agent]:
        """The two agents of a duel."""
        names = (self.cleaned_data["agent"], self.cleaned_data["second"])
        return [agent for name in names if (agent := self.find_agent(name))]

    @property
    def chosen_task(self) -> Task:
        return next(task for task in self.tasks if str(task.pk) == self.cleaned_data["task"])

    @property
    def chosen_place(self) -> int | None:
        """The number of the place that the maker takes."""
        return None if self.cleaned_data["mine"] == OTHERS else int(self.cleaned_data["mine"])


class AddSessionForm(forms.Form):
    """A further session of a study, with its cast and settings."""

    use_required_attribute = False
    agent = forms.ChoiceField()
    second = forms.ChoiceField(label="Second agent")
    task = forms.ChoiceField()

    def __init__(
        self,
        data: Mapping[str, Any] | None,
        *,
        dataset: Dataset,
        mode: Mode,
        seen: Visibility,
        duels: bool = False,
    ) -> None:
        super().__init__(data)
        self.agents = meetable_agents(dataset.system, seen)
        self.tasks = list(dataset.tasks.only("pk", "external_id", "prompt", "dataset"))
        for name, wanted in (("agent", "agent" not in mode.roles), ("second", duels)):
            if wanted:
                set_choices(self, name, [(agent.name, agent.title) for agent in self.agents])
            else:
                del self.fields[name]
        set_choices(self, "task", task_choices(self.tasks))

    @property
    def chosen_agents(self) -> list[Agent]:
        """One agent, or the two of a duel; none where a person is the agent."""
        names = (self.cleaned_data.get("agent"), self.cleaned_data.get("second"))
        return [agent for name in names for agent in self.agents if agent.name == name]

    @property
    def chosen_task(self) -> Task:
        return next(task for task in self.tasks if str(task.pk) == self.cleaned_data["task"])


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
    duels = forms.BooleanField(label="Blind duels", required=False, help_text=DUEL)
    tasks = forms.CharField(
        label="Only these tasks",
        required=False,
        widget=forms.Textarea(attrs={"rows": 3, "spellcheck": "false"}),
        help_text="Task ids, one per line. Leave empty to use all tasks of the dataset.",
    )
    sample = forms.IntegerField(
        label="Number of tasks (random sample)",
        required=False,
        min_value=1,
        help_text="Leave empty to play all. Every kind of task is drawn equally often.",
    )
    players = forms.ChoiceField(
        label="Players",
        widget=forms.RadioSelect,
        choices=[(NAMED, "People with accounts, chosen below"), (POOL, "Whoever joins by a link")],
        initial=NAMED,
    )
    names = PeopleField(label="People", required=False)
    seats = forms.IntegerField(
        label="Number of players",
        required=False,
        min_value=1,
        max_value=MOST_ANNOTATORS,
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
        if not self.mode.duels:
            del self.fields["duels"]
        self.fields["order"].initial = "latin"
        self.fields["name"].initial = f"Sessions of {self.dataset.name}"

    def clean_tasks(self) -> list[Task]:
        ids = [line.strip() for line in self.cleaned_data["tasks"].splitlines() if line.strip()]
        rows = self.dataset.tasks.only("pk", "external_id", "category", "dataset").order_by("pk")
        if not ids:
            return list(rows)
        tasks = {task.external_id: task for task in rows.filter(external_id__in=ids)}
        unknown = [id for id in ids if id not in tasks]
        if unknown:
            raise forms.ValidationError(f"This dataset has no task {', '.join(unknown[:5])}.")
        return [tasks[id] for id in dict.fromkeys(ids)]

    def clean_names(self) -> list[User]:
        if self.data.get("players") == POOL:
            return []
        return read_people(self.cleaned_data["names"])

    @property
    def makes_duels(self) -> bool:
        return bool(self.cleaned_data.get("duels"))

    def clean(self) -> dict[str, Any]:
        given: dict[str, Any] = super().clean() or {}
        if given.get("duels") and len(given.get("agents", ())) == 1:
            self.add_error("agents", "Choose at least two agents for duels.")
        places = len(self.mode.places)
        if given.get("players") == POOL:
            if not given.get("seats") and "seats" not in self.errors:
                self.add_error("seats", "Say for how many.")
            elif given.get("seats", 0) % places:
                self.add_error("seats", f"A session has {places} places: give a multiple of it.")
        elif "names" in given:
            if not given["names"]:
                self.add_error("names", "Choose at least one player.")
            elif len(given["names"]) % places:
                self.add_error("names", f"A session has {places} places: choose a multiple of it.")
        return given

    def design(self) -> DesignRequest:
        """Return what the form says about who plays what, once it is valid."""
        given, places = self.cleaned_data, len(self.mode.places)
        tasks: list[Task] = given["tasks"]
        drawn = draw_tasks(
            tasks=[task.external_id for task in tasks],
            kinds=[task.category for task in tasks],
            count=given["sample"],
            seed=given["seed"],
        )
        kinds = Counter(task.category for task in tasks)
        kinds_drawn = Counter(tasks[place].category for place in drawn)
        every = len(tasks) == self.dataset.tasks.count()
        people: list[User] = given["names"]
        chosen = given.get("agents", ())
        agents: list[Agent] = [agent for agent in self.all_agents if agent.name in chosen]
        return DesignRequest(
            agents=agents,
            tasks=[tasks[place] for place in drawn],
            rows=given["seats"] // places
            if given["players"] == POOL
            else [people[start : start + places] for start in range(0, len(people), places)],
            each=given["each"],
            order=given["order"],
            drawn={kind: (kinds_drawn[kind], count) for kind, count in kinds.items()},
            among=() if every else [task.external_id for task in tasks],
            duels=self.makes_duels,
        )

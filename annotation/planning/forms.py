"""The forms of the wizard for a new study, one per step. Each fills in a part of the plan."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, fields, replace
from typing import Any, ClassVar

from django import forms
from django.conf import settings
from django.contrib.auth.models import User

from annotation.annotator_quality.rule import ACTIONS, MOST_ANSWERS, GoldRule
from annotation.designs.sampling import Sample
from annotation.form_fields import PeopleField
from annotation.models import Study
from annotation.planning.source_choices import SourceChoice
from annotation.plans.retention_rule import MOST_DAYS, RetentionRule
from annotation.plans.study_plan import BOUNDS, DEALINGS, MOST_ANNOTATORS, ORDERS
from annotation.questionnaires import (
    Questionnaire,
    QuestionnaireError,
    load_questionnaire,
    newest_questionnaires,
)
from benchmarks.visibility import Visibility


class StepForm(forms.Form):
    """One step. ``paths``: wishes of the plan that this form's fields hold, path → field.

    ``short`` is its name in the row of steps.
    """

    use_required_attribute = False
    key: ClassVar[str]
    short: ClassVar[str]
    title: ClassVar[str]
    lead: ClassVar[str]
    paths: ClassVar[Mapping[str, str]] = {}

    def wishes(self) -> dict[str, Any]:
        """Return the fields of the plan that this step gives, by name."""
        return {path: self.cleaned_data[name] for path, name in self.paths.items()}


class SettledField(forms.ChoiceField):
    """A choice that has always been made: what is left out is the first one."""

    def clean(self, value: Any) -> Any:
        usual = next(iter(self.widget.choices))[0]
        return super().clean(value or usual)


class GoldRuleForm(forms.Form):
    """The rule for somebody who misses known answers."""

    gold_action = SettledField(
        label="Gold rule: when known answers are missed",
        choices=list(ACTIONS.items()),
        help_text="Known answers are those of gold items. Managers see an alert in any case.",
    )
    gold_answers = forms.IntegerField(
        label="Known answers to wait for", min_value=1, max_value=MOST_ANSWERS,
        initial=GoldRule().answers,
        help_text="A gold item has one for each question with an expected answer. After a warning, "
        "training or pause the count begins anew.",
    )  # fmt: skip
    gold_percent = forms.IntegerField(
        label="Least share of them right (%)", min_value=1, max_value=100,
        initial=round(100 * GoldRule().share),
    )  # fmt: skip

    @property
    def rule(self) -> GoldRule:
        """The rule that a valid form gives; what was left empty is as usual."""
        given, usual = self.cleaned_data, GoldRule()
        percent = given["gold_percent"]
        return GoldRule(
            given["gold_action"],
            usual.answers if given["gold_answers"] is None else given["gold_answers"],
            usual.share if percent is None else percent / 100,
        )


class RetentionForm(forms.Form):
    """How long parts of a study are kept after it was closed; empty is for good."""

    retention_platform_ids = forms.IntegerField(
        label="Delete IDs of recruiting platforms after (days)", required=False,
        min_value=1, max_value=MOST_DAYS,
        help_text="Days after the study was closed. Pay people first: payment needs the IDs. Leave "
        "empty to keep them.",
    )  # fmt: skip
    retention_invitations = forms.IntegerField(
        label="Delete names and addresses of invitations after (days)", required=False,
        min_value=1, max_value=MOST_DAYS,
        help_text="Unused links then stop working. Leave empty to keep them.",
    )  # fmt: skip
    retention_answers = forms.IntegerField(
        label="Delete what annotators wrote after (days)", required=False,
        min_value=1, max_value=MOST_DAYS,
        help_text="Comments, text answers, quotes and answers about themselves. Scores and marks "
        "stay, unless they also go when a person is erased. Leave empty to keep everything.",
    )  # fmt: skip
    retention_archive = forms.BooleanField(
        label="Archive the study first", required=False,
        help_text="The server exports the study, without account names, before it deletes what "
        "annotators wrote.",
    )  # fmt: skip

    @property
    def retention(self) -> RetentionRule:
        """The rule that a valid form gives."""
        given = self.cleaned_data
        wanted: dict[str, Any] = {
            part.name: given.get(f"retention_{part.name}") for part in fields(RetentionRule)
        }
        return RetentionRule(**wanted)

    def clean(self) -> dict[str, Any]:
        """Report what is wrong with the rule at its fields."""
        given = self.cleaned_data
        for name, words in self.retention.problems():
            if f"retention_{name}" not in self.errors:
                self.add_error(f"retention_{name}", f"{words[:1].upper()}{words[1:]}.")
        return given

    @staticmethod
    def retention_initial(rule: RetentionRule) -> dict[str, Any]:
        """Return a rule as the fields show it."""
        return {f"retention_{name}": value for name, value in asdict(rule).items()}


def offer_choices(form: forms.Form, name: str, choices: list[tuple[str, str]]) -> None:
    field = form.fields[name]
    assert isinstance(field, forms.ChoiceField)
    field.choices = choices


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
    """The items to judge: where they come from, and which of them."""

    key = "items"
    short = "Items"
    title = "What to judge"
    lead = "Choose a source, then judge all of its items or a random sample."
    paths = {"name": "name"}

    name = forms.CharField(
        max_length=160,
        help_text="Annotators see it above every item; do not name the agent in it.",
    )
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
        help_text="Imported agents may have several trials of a task.",
    )
    way = SettledField(label="How many", choices=list(WAYS.items()))
    count = forms.IntegerField(
        label="Size of the sample", required=False, min_value=1, max_value=1_000_000,
        help_text="In total, or per model or task. Leave empty to take all.",
    )  # fmt: skip
    strata = forms.MultipleChoiceField(
        required=False, widget=forms.CheckboxSelectMultiple, choices=list(STRATA.items()),
        label="Strata",
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
        label="If there are too few, take all there are", required=False
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

    def clean(self) -> dict[str, Any]:
        given = self.cleaned_data
        sampled = (given.get("way") or "all") != "all"
        if sampled and not given.get("count") and "count" not in self.errors:
            self.add_error("count", "Say how many the sample has.")
        return given

    def wishes(self) -> dict[str, Any]:
        given, base = self.cleaned_data, self.chosen.source
        way: Any = given.get("way") or "all"
        sample = Sample(
            way=way,
            count=given["count"] if way != "all" else None,
            strata=tuple(given["strata"]) if way == "stratified" else (),
            allocation=given.get("allocation") or "proportional",
            whole_tasks=given["keep_tasks"],
            take_fewer=given["take_fewer"],
        )
        source = replace(
            base,
            agents=tuple(given.get("agents", ())),
            endings=tuple(given.get("endings", ())),
            trials=given.get("trials") or "all",
            sample=sample,
        )
        return {"name": given["name"], "items": source}


class QuestionnaireForm(StepForm):
    """The choice of the questionnaire."""

    key = "form"
    short = "Questionnaire"
    title = "Questionnaire"
    lead = "Each item gets only the questions that apply to it."
    paths = {"questionnaire": "questionnaire", "turn_by_turn": "turns"}

    questionnaire = forms.ChoiceField(widget=forms.RadioSelect)
    shows_hidden = SettledField(
        label="Information hidden from the agent",
        choices=[
            ("shown", "Shown to annotators, marked as hidden"),
            ("kept", "Not shown to annotators either"),
        ],
        help_text="Such as the goal of a simulated user. Applies to imported trajectories; "
        "rewards and agent names are never shown.",
    )
    blinded = SettledField(
        label="Blinding",
        choices=[("yes", "Annotators do not see which agent made an item"),
                 ("no", "Not blinded: people who may see results can look up the agent")],
    )  # fmt: skip
    verdicts = SettledField(
        label="Verdicts of the judges that annotators see",
        choices=Study.Verdicts.choices,
        help_text="Only where the questionnaire shows what the judges found violated. The export "
        "says what each annotator saw.",
    )
    question_order = SettledField(
        label="Order of the questions",
        choices=Study.QuestionOrder.choices,
        help_text="Rotating spreads order effects evenly over the questions. The export has the "
        "order of every item.",
    )

    turns = SettledField(
        label="Turns",
        choices=[
            ("all", "All in sight from the beginning"),
            ("one_by_one", "One after the other: each is scored before the next is shown"),
        ],
        help_text="One after the other needs a questionnaire that asks about every turn. Scores "
        "then know nothing of later turns; the export and the analysis say so.",
    )

    def __init__(self, *args: Any, chosen: SourceChoice, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.chosen = chosen
        rows = [
            q
            for q in newest_questionnaires()
            if q.system == chosen.system and q.source == chosen.unit
        ]
        self.known = sorted(rows, key=lambda q: (bool(q.wants), q.unit == "pair", q.name))
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
            "verdicts": given["verdicts"],
            "question_order": given["question_order"],
            "turn_by_turn": given.get("turns") == "one_by_one",
        }


def _older(id: str, chosen: SourceChoice) -> list[Questionnaire]:
    """Return an older version that was asked for, if it fits."""
    try:
        questionnaire = load_questionnaire(id)
    except QuestionnaireError:
        return []
    return (
        [questionnaire]
        if (questionnaire.system, questionnaire.source) == (chosen.system, chosen.unit)
        else []
    )


LONGEST_TEXT = 20_000


class PlacesField(forms.IntegerField):
    """The number of lists. Only a study dealt in lists needs it, and no page calls it optional."""

    needed_sometimes = True


class PeopleForm(StepForm):
    """The choice of annotators, and how many judge each item."""

    key = "people"
    short = "Annotators"
    title = "Who judges"
    lead = "Deal items in lists that people claim by a link, or let people take them from a pool."
    paths = {
        "dealing": "dealing", "places": "places", "annotators": "annotators", "raters": "raters",
        "lease_minutes": "lease_minutes",
    }  # fmt: skip

    dealing = forms.ChoiceField(
        label="Who gets which item", widget=forms.RadioSelect, choices=list(DEALINGS.items()),
        initial="named",
    )  # fmt: skip
    places = PlacesField(
        label="Number of annotators", required=False, min_value=1, max_value=MOST_ANNOTATORS,
        initial=1,
        help_text="Each gets a list of items. People need no account yet: you can make a link for "
        "every list afterwards.",
    )  # fmt: skip
    annotators = PeopleField(
        label="People who have accounts", required=False,
        help_text="They take part from the start: in lists they get the first ones. You can also "
        "leave this empty and invite people later.",
    )  # fmt: skip
    raters = forms.IntegerField(
        label="Annotators for each item",
        min_value=1,
        max_value=MOST_ANNOTATORS,
        initial=1,
        help_text="Two or more let you measure inter-annotator agreement; three allow a majority.",
    )
    lease_minutes = forms.IntegerField(
        label="Return unanswered items after (minutes)", required=False, initial=120,
        min_value=BOUNDS["lease_minutes"][0], max_value=BOUNDS["lease_minutes"][1],
        help_text="After this time without an answer, somebody else gets the item.",
    )  # fmt: skip

    def clean(self) -> dict[str, Any]:
        """Return what can be told before the whole is planned."""
        given = self.cleaned_data
        names = given.get("annotators")
        if names is None:
            return given
        known = User.objects.filter(username__in=names, is_active=True)
        missing = sorted(set(names) - set(known.values_list("username", flat=True)))
        if missing:
            self.add_error("annotators", f"No account with this name: {', '.join(missing)}.")
        if given.get("dealing") == "named" and "places" not in self.errors:
            lists = max(given.get("places") or 0, len(names))
            if not lists:
                self.add_error("places", "Enter how many annotators the study has.")
            elif given.get("raters", 1) > lists:
                some = f"There {'are' if lists > 1 else 'is'} only {lists}"
                some += f" annotator{'s' * (lists > 1)}"
                self.add_error("raters", f"{some}, so an item cannot have {given['raters']}.")
        return given

    def clean_places(self) -> int:
        return self.cleaned_data["places"] or 0

    def clean_lease_minutes(self) -> int:
        return self.cleaned_data["lease_minutes"] or 120


class DealingForm(StepForm):
    """The choice of how items are dealt, and in which order they come."""

    key = "dealing"
    short = "Assignment"
    title = "How items are assigned"
    lead = "The same items, number of annotators and seed give the same study again."
    paths = {
        "order": "order", "queries_each": "queries_each", "whole_tasks": "whole_tasks",
        "seed": "seed",
    }  # fmt: skip

    order = forms.ChoiceField(
        label="Order", widget=forms.RadioSelect, choices=list(ORDERS.items()), initial="blocks"
    )
    queries_each = forms.IntegerField(
        label="Queries for each annotator", required=False, min_value=1, max_value=1000,
        help_text="An annotator judges all agents’ trajectories of a query, of so many queries. "
        "Leave empty to deal all items.",
    )  # fmt: skip
    whole_tasks = forms.BooleanField(
        label="Assign whole tasks", required=False,
        help_text="All items of a task go to the same people. A Latin square needs it to be exact. "
        "A number of queries for each annotator implies it.",
    )  # fmt: skip
    seed = forms.IntegerField(
        min_value=0, max_value=BOUNDS["seed"][1], initial=1,
        help_text="Determines the sample, who gets which items, and the order.",
    )  # fmt: skip

    def clean(self) -> dict[str, Any]:
        given = self.cleaned_data
        missing = given.get("queries_each") is None and "queries_each" not in self.errors
        if given.get("order") == "queries" and missing:
            self.add_error("queries_each", "Say how many queries each annotator gets.")
        return given


class BeforeForm(StepForm, GoldRuleForm, RetentionForm):
    """The steps before the first item, and the settings of the desk."""

    key = "before"
    short = "Before the items"
    title = "Before the first item"
    lead = "Optional: you can leave everything as it is."
    paths = {
        name: name
        for name in ("information", "consent", "background", "gold_each", "gold_feedback",
                     "pass_mark", "idle_seconds", "break_minutes", "closes_at")
    }  # fmt: skip

    information = forms.CharField(
        required=False, max_length=LONGEST_TEXT, widget=forms.Textarea(attrs={"rows": 5}),
        help_text="What the study is about, how long it takes, whom to ask. An empty line ends a "
        "paragraph.",
    )  # fmt: skip
    consent = forms.CharField(
        label="Consent text", required=False, max_length=LONGEST_TEXT,
        widget=forms.Textarea(attrs={"rows": 4}),
        help_text="Leave empty to skip consent.",
    )  # fmt: skip
    background = forms.ChoiceField(label="Questions about the annotator", required=False)
    pass_mark = forms.IntegerField(
        label="Pass mark of the training, in percent", required=False, min_value=0, max_value=100,
        initial=75, help_text="The share of expected answers that opens the items.",
    )  # fmt: skip
    gold_each = forms.IntegerField(
        label="Gold items for each annotator", required=False, min_value=0, max_value=1000,
        help_text="0, or 2 and more; at most 1 per 4 items. In a pool everybody gets "
        "all of them.",
    )  # fmt: skip
    gold_feedback = forms.BooleanField(
        label="Show the expected answers after a gold item", required=False,
        help_text="The annotator then knows that it was a gold item and cannot change its answers.",
    )  # fmt: skip
    idle_seconds = forms.IntegerField(
        label="Pause timer after (idle seconds)", required=False,
        min_value=BOUNDS["idle_seconds"][0], max_value=BOUNDS["idle_seconds"][1], initial=60,
    )  # fmt: skip
    break_minutes = forms.IntegerField(
        label="Suggest a break after (minutes)", required=False, initial=45,
        min_value=BOUNDS["break_minutes"][0], max_value=BOUNDS["break_minutes"][1],
        help_text="0: never.",
    )  # fmt: skip
    closes_at = forms.DateTimeField(
        label="Closes at", required=False,
        widget=forms.DateTimeInput(attrs={"type": "datetime-local"}, format="%Y-%m-%dT%H:%M"),
        input_formats=["%Y-%m-%dT%H:%M", "%Y-%m-%dT%H:%M:%S", "%Y-%m-%d %H:%M", "%Y-%m-%d"],
        help_text=f"Time zone: {settings.TIME_ZONE}. Leave empty to keep the study open until you "
        "close it.",
    )  # fmt: skip

    TEXTS: ClassVar[Sequence[str]] = ("information", "consent", "background")
    DESK: ClassVar[Sequence[str]] = ("idle_seconds", "break_minutes", "closes_at")
    CHECKS: ClassVar[Sequence[str]] = ("pass_mark", "gold_each", "gold_feedback")

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["gold_answers"].required = self.fields["gold_percent"].required = False
        about = [q for q in newest_questionnaires() if q.unit == "person"]
        offer_choices(
            self,
            "background",
            [("", "None"), *((q.id, f"{q.title}, version {q.version}") for q in about)],
        )

    def wishes(self) -> dict[str, Any]:
        given = self.cleaned_data
        usual = {"idle_seconds": 60, "break_minutes": 45, "gold_each": 0}
        wishes = {name: given[name] for name in self.paths}
        for name, value in usual.items():
            if wishes[name] is None:
                wishes[name] = value
        mark = given["pass_mark"]
        return {
            **wishes,
            "pass_mark": 0.75 if mark is None else mark / 100,
            "gold_rule": self.rule,
            "retention": self.retention,
        }


STEPS: Sequence[type[StepForm]] = (
    ItemsForm,
    QuestionnaireForm,
    PeopleForm,
    DealingForm,
    BeforeForm,
)

"""Forms of those who run a study."""

from collections.abc import Iterable
from typing import Any

from django import forms
from django.conf import settings
from django.contrib.auth.models import User

from annotation.models import Membership, Participant, Study
from annotation.people.invitations import LONGEST_DAYS
from annotation.people.messages import LONGEST_MESSAGE
from annotation.planning.plans import BOUNDS, MOST_ANNOTATORS
from annotation.planning.step_forms import SettledField
from annotation.studies.services import ERASURE, LONGEST_REASON, SCORES_TOO, WORDS_ALONE
from benchmarks.paging import as_id

Role = Membership.Role
MOMENT = "%Y-%m-%dT%H:%M"
ROLES = [
    (Role.ANNOTATOR, "Annotator: judges items"),
    (Role.MANAGER, "Manager: runs the study, sees everything"),
    (Role.RESEARCHER, "Researcher: sees answers and exports"),
    (Role.OBSERVER, "Observer: sees how far it is"),
]


def reason_field(*, required: bool, label: str = "Reason", words: str = "") -> forms.CharField:
    """Why something is done; it is kept in the record."""
    return forms.CharField(
        label=label,
        required=required,
        max_length=LONGEST_REASON,
        error_messages={"required": "Say why in a few words."},
        help_text=words or "It is kept in the study’s record.",
    )


class SettingsForm(forms.Form):
    """What may change while a study runs."""

    name = forms.CharField(max_length=160, help_text="Annotators see it above every item.")
    closes_at = forms.DateTimeField(
        label="Closes by itself",
        required=False,
        input_formats=[MOMENT, f"{MOMENT}:%S"],
        widget=forms.DateTimeInput(attrs={"type": "datetime-local"}, format=MOMENT),
        help_text="From then on no answer is taken, and open items are returned. Leave it empty to "
        f"close the study yourself. Time zone: {settings.TIME_ZONE}.",
    )
    lease_minutes = forms.IntegerField(
        label="Minutes for one item",
        min_value=BOUNDS["lease_minutes"][0],
        max_value=BOUNDS["lease_minutes"][1],
        help_text="In a pool: an item that somebody leaves longer than this goes to the next one.",
    )
    idle_seconds = forms.IntegerField(
        label="Idle after seconds",
        min_value=BOUNDS["idle_seconds"][0],
        max_value=BOUNDS["idle_seconds"][1],
        help_text="Time without a key, click or scroll beyond this is not counted as work.",
    )
    break_minutes = forms.IntegerField(
        label="Suggest a break after minutes",
        min_value=BOUNDS["break_minutes"][0],
        max_value=BOUNDS["break_minutes"][1],
        help_text="Of work without a rest. 0 suggests none.",
    )
    erasure = SettledField(
        label="When a person is erased",
        choices=[
            (WORDS_ALONE, "Their name and words go; scores and marks stay, left out of analyses"),
            (SCORES_TOO, "Their scores and marks go too"),
        ],
        help_text="Administrators erase people who ask for it. Write in the consent what holds.",
    )
    reason = reason_field(required=False)

    def __init__(self, data: Any = None, *, study: Study) -> None:
        names = ("name", "closes_at", "lease_minutes", "idle_seconds", "break_minutes")
        stored = {name: getattr(study, name) for name in names}
        super().__init__(data, initial=stored | {ERASURE: study.settings.get(ERASURE, WORDS_ALONE)})
        if study.dealing == Study.Dealing.NAMED:
            del self.fields["lease_minutes"]

    @property
    def wishes(self) -> dict[str, Any]:
        """What was changed; the rest stays as it is stored, to the second."""
        return {name: self.cleaned_data[name] for name in self.changed_data if name != "reason"}


class MemberForm(forms.Form):
    """People with accounts, and what they shall be."""

    names = forms.CharField(
        label="User names",
        widget=forms.Textarea(attrs={"rows": 2, "spellcheck": "false", "autocomplete": "off"}),
        help_text="Separated by spaces, commas or lines.",
    )
    role = forms.ChoiceField(choices=ROLES)

    def clean_names(self) -> list[User]:
        return read_people(self.cleaned_data["names"])


def read_people(text: str) -> list[User]:
    """The people whose user names stand in a text, in its order; others are named in the error."""
    names = list(dict.fromkeys(text.replace(",", " ").split()))
    if len(names) > MOST_ANNOTATORS:
        raise forms.ValidationError(f"At most {MOST_ANNOTATORS} people at once.")
    found = User.objects.filter(is_active=True).in_bulk(names, field_name="username")
    missing = [name for name in names if name not in found]
    if missing:
        raise forms.ValidationError(
            f"No account with this name: {', '.join(missing)}. Somebody without an account can "
            "be invited by a link."
        )
    return [found[name] for name in names]


class InviteForm(forms.Form):
    """A link for one person."""

    role = forms.ChoiceField(choices=ROLES)
    label = forms.CharField(
        label="For whom",
        max_length=120,
        required=False,
        help_text="For you, to tell the links apart. The person does not see it.",
    )
    days = forms.IntegerField(label="Good for days", min_value=1, max_value=LONGEST_DAYS, initial=7)


class MessageForm(forms.Form):
    """Words to one annotator or to all."""

    to = forms.ChoiceField(label="To", required=False)
    text = forms.CharField(
        label="Message",
        max_length=LONGEST_MESSAGE,
        widget=forms.Textarea(attrs={"rows": 3}),
        help_text="They see it at home and on their desk until they have read it.",
    )

    def __init__(
        self, data: Any = None, *, people: Iterable[Participant], initial: Any = None
    ) -> None:
        super().__init__(data, initial=initial)
        self.people = {str(person.number): person.user for person in people}
        field = self.fields["to"]
        assert isinstance(field, forms.ChoiceField)
        field.choices = [
            ("", "All annotators"),
            *((key, f"{key} {user.get_username()}") for key, user in self.people.items()),
        ]

    @property
    def recipient(self) -> User | None:
        """Nobody in particular where all are meant."""
        return self.people.get(self.cleaned_data["to"])


class GiveForm(forms.Form):
    """Somebody who shall get something that another person had, or nobody yet."""

    to = forms.ChoiceField(label="To", error_messages={"required": "Choose who gets it."})
    reason = reason_field(required=True)

    def __init__(self, data: Any = None, *, people: Iterable[Participant]) -> None:
        super().__init__(data)
        self.people = {str(person.number): person.user for person in people}
        to = self.fields["to"]
        assert isinstance(to, forms.ChoiceField)
        to.choices = [
            ("", "Choose an annotator"),
            *((key, f"{key} {user.get_username()}") for key, user in self.people.items()),
        ]

    @property
    def recipient(self) -> User:
        return self.people[self.cleaned_data["to"]]


class ReassignForm(GiveForm):
    """Open items of one person for another one."""

    items = forms.TypedMultipleChoiceField(
        coerce=int, error_messages={"required": "Choose at least one item."}
    )

    def __init__(
        self, data: Any = None, *, positions: Iterable[int], people: Iterable[Participant]
    ) -> None:
        super().__init__(data, people=people)
        items = self.fields["items"]
        assert isinstance(items, forms.ChoiceField)
        items.choices = [(position, str(position)) for position in positions]

    @property
    def chosen(self) -> set[int]:
        """What is ticked, so that it stays so beside an error."""
        return {key for given in self["items"].value() or () if (key := as_id(str(given)))}


class RatersForm(forms.Form):
    """How many annotators an item, or every item, shall have."""

    raters = forms.IntegerField(
        label="Annotators for each item", min_value=1, max_value=MOST_ANNOTATORS
    )


class MoreItemsForm(forms.Form):
    """Further items from the runs or datasets that the study draws from."""

    count = forms.IntegerField(
        label="How many",
        required=False,
        min_value=1,
        max_value=1_000_000,
        help_text="Drawn by the study’s seed. Leave it empty for all that are there.",
    )
    agents = forms.MultipleChoiceField(
        label="Of these agents",
        required=False,
        widget=forms.CheckboxSelectMultiple,
        help_text="None chosen means all.",
    )
    tasks = forms.CharField(
        label="Of these tasks",
        required=False,
        help_text="Names of tasks, separated by spaces or commas. Empty means all.",
    )
    raters = forms.IntegerField(
        label="Annotators for each", min_value=1, max_value=MOST_ANNOTATORS, initial=1
    )

    def __init__(self, data: Any = None, *, agents: Iterable[tuple[str, str]]) -> None:
        super().__init__(data)
        field = self.fields["agents"]
        assert isinstance(field, forms.ChoiceField)
        field.choices = list(agents)
        if len(field.choices) < 2:
            del self.fields["agents"]

    def clean_tasks(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(self.cleaned_data["tasks"].replace(",", " ").split()))


class SpecialsForm(forms.Form):
    """How much of the gold that is added each annotator gets."""

    gold_each = forms.IntegerField(
        label="Gold items for each annotator",
        required=False,
        min_value=2,
        max_value=BOUNDS["gold_each"][1],
        help_text="At least two of those chosen here, at most one for four items that they have "
        "not opened. Whoever has too few left for so many gets fewer.",
    )

    def __init__(self, data: Any = None, *, study: Study) -> None:
        super().__init__(data)
        if study.dealing == Study.Dealing.POOL:
            del self.fields["gold_each"]


class DealForm(forms.Form):
    """Who shall get the seats that are free."""

    people = forms.MultipleChoiceField(
        label="Give them to",
        widget=forms.CheckboxSelectMultiple,
        error_messages={"required": "Choose at least one annotator."},
    )

    def __init__(self, data: Any = None, *, people: Iterable[Participant]) -> None:
        super().__init__(data)
        self.known = {str(person.number): person.user for person in people}
        field = self.fields["people"]
        assert isinstance(field, forms.ChoiceField)
        field.choices = [(key, f"{key} {user}") for key, user in self.known.items()]

    @property
    def chosen(self) -> list[User]:
        return [self.known[key] for key in self.cleaned_data["people"]]

"""Fields of several forms: people, and the reason for something that is done."""

from collections.abc import Iterable, Mapping
from typing import Any

from django import forms
from django.contrib.auth.models import User
from django.db.models import Exists, OuterRef
from django.template.loader import render_to_string
from django.utils.datastructures import MultiValueDict
from django.utils.safestring import SafeString

from annotation.audit_log.events import LONGEST_REASON
from annotation.models import Annotator, Participant
from annotation.plans.study_plan import MOST_ANNOTATORS

# Of an installation with more accounts, those that annotated already are listed first.
MOST_LISTED = 300


class PeoplePicker(forms.Widget):
    """Checkboxes with the accounts, and one input of the same name for names that are not listed.

    Its value is a list of user names, in the order of the list.
    """

    use_fieldset = True

    def value_from_datadict(
        self, data: Mapping[str, Any], files: MultiValueDict[str, Any], name: str
    ) -> list[str]:
        if isinstance(data, MultiValueDict):
            return split_names(data.getlist(name))
        return split_names(data.get(name, ()))

    def id_for_label(self, id_: str, index: str | None = None) -> str:
        return ""  # a group has a legend instead

    def render(
        self, name: str, value: Any, attrs: dict[str, Any] | None = None, renderer: Any = None
    ) -> SafeString:
        chosen = split_names(value or ())
        accounts = _accounts()
        listed = {account.username for account in accounts}
        context = {
            "name": name,
            "id": (attrs or {}).get("id", f"id_{name}"),
            "accounts": accounts,
            "chosen": chosen,
            "others": " ".join(username for username in chosen if username not in listed),
            "cut_off": len(accounts) == MOST_LISTED,
        }
        return render_to_string("annotation/partials/_people_picker.html", context)


class PeopleField(forms.Field):
    """User names. Whether there are such accounts is checked by the form that asks."""

    widget = PeoplePicker
    default_error_messages = {"required": "Choose at least one person."}  # noqa: RUF012  # as in Django

    def to_python(self, value: Any) -> tuple[str, ...]:
        return tuple(split_names(value or ()))


def split_names(value: str | Iterable[str]) -> list[str]:
    """Return the user names in texts, which spaces, commas or lines separate; each once."""
    texts = [value] if isinstance(value, str) else value
    return list(dict.fromkeys(name for text in texts for name in text.replace(",", " ").split()))


def _accounts() -> list[User]:
    """Return active accounts, people who annotated first; simulated annotators are not proposed."""
    took_part = Exists(Participant.objects.filter(user=OuterRef("pk")).order_by())
    simulated = Annotator.objects.filter(user=OuterRef("pk"), is_simulated=True)
    rows = User.objects.filter(is_active=True).exclude(Exists(simulated))
    return list(rows.annotate(took_part=took_part).order_by("-took_part", "username")[:MOST_LISTED])


def read_people(text: str | Iterable[str]) -> list[User]:
    """Return the people whose user names stand in a text or list, in its order; names without an
    account are named in the error.
    """
    names = split_names(text)
    if len(names) > MOST_ANNOTATORS:
        raise forms.ValidationError(f"At most {MOST_ANNOTATORS} people at once.")
    accounts = User.objects.filter(is_active=True).in_bulk(names, field_name="username")
    missing = [name for name in names if name not in accounts]
    if missing:
        raise forms.ValidationError(
            f"No account with this name: {', '.join(missing)}. People without an account can "
            "be invited by a link."
        )
    return [accounts[name] for name in names]


def reason_field(*, required: bool, label: str = "Reason", words: str = "") -> forms.CharField:
    """Return why something is done; it is kept in the record."""
    return forms.CharField(
        label=label,
        required=required,
        max_length=LONGEST_REASON,
        error_messages={"required": "Enter a reason."},
        help_text=words or "Kept in the study’s record.",
    )

"""Names and addresses of a person in texts that anybody wrote, and their removal."""

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import reduce
from operator import or_
from typing import Any

from django.contrib.admin.models import LogEntry
from django.contrib.auth.models import User
from django.db import models
from django.db.models import Q, QuerySet, TextField
from django.db.models.functions import Cast

from annotation.models import (
    Adjudication,
    Assignment,
    FailureLabel,
    FailureWording,
    Invite,
    LabelSet,
    LiveDraft,
    LiveEvent,
    LivePlace,
    LivePlan,
    Message,
    Rating,
    RatingEdit,
    Recruit,
    RecruitingLink,
    RemarkText,
    Study,
    StudyEvent,
    StudyText,
    TrajectoryLabel,
)
from annotation.models.append_only import AppendOnlyQuerySet
from annotation.people.mail import address_in, name_in
from benchmarks.models import Dataset, Experiment, Job, Judging, StoredAnswer, Upload

CHUNK = 500
# Where people write freely. What a model, a parser or a file of a benchmark wrote is not searched.
_FREE_TEXTS: dict[type[models.Model], Sequence[str]] = {
    Adjudication: ["reason"],
    Assignment: ["skip_reason", "note"],
    FailureLabel: ["title", "definition", "example", "source"],
    FailureWording: ["title", "definition", "source"],
    Invite: ["label"],
    LiveDraft: ["fields"],
    LiveEvent: ["reason", "detail"],
    LivePlace: ["title"],
    LivePlan: ["settings"],
    Message: ["text"],
    Rating: ["text"],
    RatingEdit: ["text"],
    Recruit: ["rejection"],
    RecruitingLink: ["screening"],
    RemarkText: ["text"],
    TrajectoryLabel: ["note"],
    LabelSet: ["title", "source", "text"],
    Study: ["name", "settings"],
    StudyEvent: ["reason", "detail"],
    StudyText: ["text"],
    Dataset: ["name", "source", "notes"],
    Experiment: ["name"],
    Job: ["title", "payload", "message"],
    Judging: ["name"],
    StoredAnswer: ["body"],
    Upload: ["name"],
    LogEntry: ["object_repr", "change_message"],
}
_SETTINGS = frozenset({"settings", "payload"})


def add_free_texts(model: type[models.Model], *fields: str) -> None:
    """Have these fields searched, too; for apps that this one does not know."""
    _FREE_TEXTS[model] = fields


def free_texts() -> Mapping[type[models.Model], Sequence[str]]:
    """Return the fields in which people write freely, by table."""
    return _FREE_TEXTS


def names_of(user: User) -> list[str]:
    """Return the names, addresses and IDs by which a person is known, also from their invitations
    and recruiting platforms.
    """
    names = [user.username, user.email, user.get_full_name(), user.first_name, user.last_name]
    came = Recruit.objects.filter(user=user).exclude(external_id__startswith="erased-")
    names += came.order_by("pk").values_list("external_id", flat=True)
    names += user.emailaddress_set.values_list("email", flat=True)  # type: ignore[attr-defined]
    labels = Invite.objects.filter(used_by=user).values_list("label", flat=True)
    for label in labels.order_by("pk"):
        names += names_in(label)
    return list(dict.fromkeys(filter(None, names)))


def names_in(label: str) -> list[str]:
    """Return the address in the label of an invitation, and the name beside it."""
    address = address_in(label)
    return [address, name_in(label)] if address else []


class Redaction:
    """The names by which a person is known, and what stands in for them.

    A single word is matched as it is written, because it may be a common one; names of several
    words and addresses are matched in capitals, too.
    """

    def __init__(self, names: Iterable[str], instead: str) -> None:
        self.names = sorted(filter(None, {name.strip() for name in names}), key=len, reverse=True)
        self.instead = instead
        self._known = _pattern(self.names)
        self._unmistakable = _pattern([name for name in self.names if not name.isalpha()])

    def known_in(self, text: str) -> bool:
        """Return whether a text names the person."""
        return bool(self._known.search(text))

    def replaced(self, value: Any) -> Any:
        """Return the same value with the replacement wherever a text in it names the person."""
        if isinstance(value, str):
            return self._known.sub(self.instead, value)
        return self._in_parts(value, self.replaced)

    def replaced_in_settings(self, value: Any) -> Any:
        """Return the same settings with the replacement for names that stand in lists or as keys,
        as designs name people, and for addresses.

        Other texts are left: a user name may be the name of an option.
        """
        if isinstance(value, str):
            return self._unmistakable.sub(self.instead, value)
        if isinstance(value, list):
            return [
                self.instead if part in self.names else self.replaced_in_settings(part)
                for part in value
            ]
        return self._in_parts(value, self.replaced_in_settings)

    def _in_parts(self, value: Any, replace: Callable[[Any], Any]) -> Any:
        if isinstance(value, list):
            return [replace(part) for part in value]
        if isinstance(value, dict):
            return {
                self.instead if name in self.names else name: replace(part)
                for name, part in value.items()
            }
        return value

    def replace_everywhere(self) -> int:
        """Take the names out of everything that people wrote; return how many texts changed."""
        count = 0
        for model, pk, changes in self._mentions():
            rows: QuerySet[Any] = model._default_manager.filter(pk=pk)
            if isinstance(rows, AppendOnlyQuerySet):
                rows.erase_words(**changes)
            else:
                rows.update(**changes)
            count += len(changes)
        return count

    def count_everywhere(self) -> int:
        """Return how many texts `replace_everywhere` would change."""
        return sum(len(changes) for _, _, changes in self._mentions())

    def _mentions(self) -> Iterator[tuple[type[models.Model], Any, dict[str, Any]]]:
        for model, fields in free_texts().items() if self.names else ():
            rows = self._candidates(model, fields)
            for pk, *values in rows.iterator(chunk_size=CHUNK):
                pairs = zip(fields, values, strict=True)
                changes = {
                    name: _within(model, name, new)
                    for name, value in pairs
                    if (new := self._replaced_in(name, value)) != value
                }
                if changes:
                    yield model, pk, changes

    def _replaced_in(self, field: str, value: Any) -> Any:
        return (self.replaced_in_settings if field in _SETTINGS else self.replaced)(value)

    def _candidates(self, model: type[models.Model], fields: Sequence[str]) -> QuerySet[Any, Any]:
        texts = {f"{name}_as_text": Cast(name, TextField()) for name in fields}
        # JSON may be stored with its letters escaped.
        forms = {form for name in self.names for form in (name, json.dumps(name)[1:-1])}
        here = reduce(
            or_, (Q(**{f"{text}__icontains": form}) for text in texts for form in sorted(forms))
        )
        rows: QuerySet[Any, Any] = model._default_manager.alias(**texts).filter(here)
        return rows.order_by("pk").values_list("pk", *fields)


def _pattern(names: Sequence[str]) -> re.Pattern[str]:
    """Return the pattern of these names as whole words; of none it matches nothing."""
    forms = (re.escape(name) if name.isalpha() else f"(?i:{re.escape(name)})" for name in names)
    return re.compile(rf"(?<!\w)(?:{'|'.join(forms)})(?!\w)" if names else r"(?!)")


def _within(model: type[models.Model], name: str, value: Any) -> Any:
    """Return a value cut to the length of its column: the replacement may be longer."""
    longest = getattr(model._meta.get_field(name), "max_length", None)
    return value[:longest] if longest and isinstance(value, str) else value

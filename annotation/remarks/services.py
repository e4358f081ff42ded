"""Add and remove labels, notes and comments on trajectories; earlier versions are kept.

Views check that the person may see the trajectory; whoever may see it may comment on it. Only the
author or an administrator changes or deletes a comment.
"""

from django.contrib.auth.models import User
from django.db import transaction
from django.utils.text import slugify

from annotation.errors import Refused
from annotation.models import (
    FailureLabel,
    LabelRemoval,
    Remark,
    RemarkText,
    TrajectoryLabel,
)
from annotation.remarks.label_sets import is_heading, keep_wording
from annotation.remarks.selectors import labels_for, standing_labels, system_title
from benchmarks.core.registry import SYSTEMS
from benchmarks.models import Trajectory, Turn
from benchmarks.trajectories.turn_texts import contains_quote, readable_texts

LONGEST_NOTE = 5000
LONGEST_QUOTE = 2000
LONGEST_TITLE = 80
LONGEST_DEFINITION = 600
LONGEST_SOURCE = 200
RANKS_APART = 10


# --- Labels on trajectories -----------------------------------------------------------------------


def put_label(
    *, trajectory: Trajectory, key: str, by: User, turn: int | None = None, note: str = ""
) -> TrajectoryLabel:
    """Put a label on a trajectory or on a turn; what this person has put there already stays."""
    _check_turn(trajectory, turn)
    with transaction.atomic():
        rows = FailureLabel.objects.select_for_update(no_key=True, of=("self",))
        label = rows.select_related("label_set").filter(key=key).first()
        if label is None:
            raise Refused("invalid", "there is no such label; choose one of the list")
        same = standing_labels().filter(trajectory=trajectory, turn=turn, label=label, by=by)
        there = same.first()
        if there is not None:
            return there
        if label.retired:
            raise Refused("invalid", f"“{label.title}” is retired; choose another label")
        _check_room(trajectory, turn, label, by)
        if not labels_for(trajectory.run.dataset.system).filter(pk=label.pk).exists():
            title = system_title(label.system)
            raise Refused("invalid", f"“{label.title}” is a label of {title}; choose another label")
        return TrajectoryLabel.objects.create(
            trajectory=trajectory, turn=turn, label=label, note=note, by=by
        )


def _check_room(trajectory: Trajectory, turn: int | None, label: FailureLabel, by: User) -> None:
    """Refuse a heading, and labels of a set that exclude each other at the same place."""
    if label.label_set is None:
        return
    if is_heading(label):
        raise Refused("invalid", f"“{label.title}” is a heading; choose a label below it")
    there = standing_labels().filter(
        trajectory=trajectory, turn=turn, by=by, label__label_set__key=label.label_set.key
    )
    other = there.select_related("label").exclude(label=label)
    beside = (other if label.exclusive else other.filter(label__exclusive=True)).first()
    if beside is not None:
        raise Refused(
            "invalid",
            f"“{label.title}” and “{beside.label.title}” exclude each other here; take the other "
            "one off first",
        )


def take_label_off(*, put: TrajectoryLabel, by: User) -> None:
    """Take a label off; that it was there, and who took it off when, is kept."""
    _check_own(put.by_id, by, "only who put a label there, or an administrator, takes it off")
    with transaction.atomic():
        LabelRemoval.objects.get_or_create(put=put, defaults={"by": by})


# --- Notes ----------------------------------------------------------------------------------------


def add_remark(
    *,
    trajectory: Trajectory,
    by: User,
    text: str,
    turn: int | None = None,
    quote: str = "",
    where: str = "",
    start: int | None = None,
    end: int | None = None,
) -> Remark:
    """Write a note on a trajectory, on a turn, or on the words of a turn that ``quote`` repeats.

    ``where``, ``start`` and ``end`` say which of several equal words; where they do not hold the
    quote, or are not given, the first place that does is taken. Words of a message that is neither
    plan nor feedback are quoted without a place.
    """
    text, quote = checked_note(text), quote.strip()
    row = _check_turn(trajectory, turn)
    place: tuple[str, int, int] | None = None
    if quote:
        if row is None:
            raise Refused("invalid", "say which turn the quoted words are from")
        if len(quote) > LONGEST_QUOTE:
            raise Refused("invalid", f"at most {LONGEST_QUOTE} characters can be quoted")
        place = _place(row, quote, where, start, end)
        if place is None and not contains_quote(row, quote):
            raise Refused("invalid", f"these words are not in turn {row.index}: copy them")
    where, start, end = place or ("", None, None)
    with transaction.atomic():
        remark = Remark.objects.create(
            trajectory=trajectory, turn=turn, where=where, quote=quote, start=start, end=end, by=by
        )
        RemarkText.objects.create(remark=remark, text=text, by=by)
    return remark


def reword_remark(*, remark: Remark, by: User, text: str) -> None:
    """Have a note say something else; what it said before is kept."""
    _check_own(remark.by_id, by, "only who wrote a note, or an administrator, changes it")
    text = checked_note(text)
    with transaction.atomic():
        latest = _latest(remark)
        if latest.text != text:
            RemarkText.objects.create(remark=remark, text=text, by=by)


def delete_remark(*, remark: Remark, by: User) -> None:
    """Take a note away: a tombstone says who did it when."""
    _check_own(remark.by_id, by, "only who wrote a note, or an administrator, deletes it")
    with transaction.atomic():
        _latest(remark)
        RemarkText.objects.create(remark=remark, deleted=True, by=by)


def checked_note(text: str) -> str:
    """Return a note's text without space around it; refused where it says nothing or too much."""
    text = text.strip()
    if not text:
        raise Refused("invalid", "write something first")
    if len(text) > LONGEST_NOTE:
        raise Refused("invalid", f"a note has at most {LONGEST_NOTE} characters")
    return text


def _latest(remark: Remark) -> RemarkText:
    """Return what a note says now; refused where it was deleted. One change of a note at a time."""
    Remark.objects.select_for_update(no_key=True).get(pk=remark.pk)
    latest = RemarkText.objects.filter(remark=remark).order_by("pk").last()
    if latest is None or latest.deleted:
        raise Refused("gone", "this note was deleted in the meantime")
    return latest


def _place(
    turn: Turn, quote: str, where: str, start: int | None, end: int | None
) -> tuple[str, int, int] | None:
    """Return where in the turn a quote stands; None where it stands in neither plan nor
    feedback.
    """
    texts = [
        (kind, text)
        for kind in Remark.Where.values
        if where in ("", kind)
        for text in readable_texts(turn, kind)
    ]
    if start is not None and end is not None:
        for kind, text in texts:
            if text[start:end] == quote:
                return kind, start, end
    for kind, text in texts:
        at = text.find(quote)
        if at >= 0:
            return kind, at, at + len(quote)
    return None


def _check_turn(trajectory: Trajectory, turn: int | None) -> Turn | None:
    if turn is None:
        return None
    row = Turn.objects.filter(trajectory=trajectory, index=turn).first()
    if row is None:
        raise Refused("invalid", f"this trajectory has no turn {turn}")
    return row


def _check_own(owner: int, by: User, words: str) -> None:
    if owner != by.pk and not by.is_superuser:
        raise Refused("not_yours", words)


# --- The labels themselves ------------------------------------------------------------------------


def make_failure_label(
    *, title: str, definition: str, by: User, system: str = "", source: str = ""
) -> FailureLabel:
    """Add a label to the list; its key is made from its title and never changes."""
    title, definition, source = _checked_words(title, definition, source)
    if system not in ("", *SYSTEMS):
        raise Refused("invalid", f"there is no system “{system[:40]}”; choose one of the list")
    with transaction.atomic():
        _check_title(title)
        last = FailureLabel.objects.order_by("-rank").values_list("rank", flat=True).first()
        label = FailureLabel.objects.create(
            key=_free_key(title), title=title, definition=definition, source=source,
            system=system, rank=(last or 0) + RANKS_APART, made_by=by,
        )  # fmt: skip
        keep_wording(label, by)
    return label


def reword_failure_label(
    *, label: FailureLabel, title: str, definition: str, by: User, source: str = ""
) -> FailureLabel:
    """Give a label new words; those it had stay in its history, and what it was put on keeps it."""
    title, definition, source = _checked_words(title, definition, source)
    with transaction.atomic():
        label = _locked(label)
        if label.label_set_id is not None:
            raise Refused(
                "invalid",
                "the words of a set’s labels come from its file; add a newer version of it",
            )
        if (label.title, label.definition, label.source) == (title, definition, source):
            return label
        _check_title(title, but=label)
        label.title, label.definition, label.source = title, definition, source
        label.save(update_fields=["title", "definition", "source"])
        keep_wording(label, by)
    return label


def retire_failure_label(*, label: FailureLabel, by: User, retired: bool = True) -> FailureLabel:
    """Offer a label no more, or again. It is never deleted: it stays where it was put."""
    with transaction.atomic():
        label = _locked(label)
        if label.retired != retired:
            label.retired = retired
            label.save(update_fields=["retired"])
            keep_wording(label, by)
    return label


def _locked(label: FailureLabel) -> FailureLabel:
    return FailureLabel.objects.select_for_update(no_key=True).get(pk=label.pk)


def _checked_words(title: str, definition: str, source: str) -> tuple[str, str, str]:
    title, definition, source = " ".join(title.split()), definition.strip(), source.strip()
    if not title or not definition:
        raise Refused("invalid", "a label needs a title and a definition")
    for name, text, most in (
        ("title", title, LONGEST_TITLE),
        ("definition", definition, LONGEST_DEFINITION),
        ("source", source, LONGEST_SOURCE),
    ):
        if len(text) > most:
            raise Refused("invalid", f"a {name} has at most {most} characters")
    return title, definition, source


def _check_title(title: str, but: FailureLabel | None = None) -> None:
    same = FailureLabel.objects.filter(title__iexact=title, label_set=None)
    if but is not None:
        same = same.exclude(pk=but.pk)
    if same.exists():
        raise Refused("invalid", f"there is a label “{title}” already")


def _free_key(title: str) -> str:
    base = slugify(title).replace("-", "_")[:50] or "label"
    taken = set(FailureLabel.objects.filter(key__startswith=base).values_list("key", flat=True))
    return next(
        key
        for n in range(1, len(taken) + 2)
        if (key := base if n == 1 else f"{base}_{n}") not in taken
    )

"""Store a study document as a closed study."""

import uuid
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from django.contrib.auth.models import User
from django.db import models, transaction

from annotation.audit_log.events import record_event
from annotation.errors import Refused
from annotation.exports.head import STUDY_FIELDS, with_run_keys
from annotation.exports.scope import IMPORTED
from annotation.exports.study_schema import AssignmentIn, StudyDocument
from annotation.imports.checks import (
    check_whole,
    read_questionnaires,
    store_questionnaires,
)
from annotation.imports.matching import ItemMatch, match_items
from annotation.imports.reading import read_document
from annotation.imports.sources import opened_sources, store_sources
from annotation.models import (
    Adjudication,
    Annotator,
    Aspect,
    Assignment,
    Consent,
    Item,
    Membership,
    Participant,
    Rating,
    RatingEdit,
    Study,
    StudyEvent,
    StudyPlace,
    StudyText,
)
from annotation.plans.retention_rule import RETENTION
from annotation.questionnaires import load_questionnaire
from annotation.ratings.spans import check_spans
from benchmarks.locks import named_lock

BATCH = 500
State, Part = Assignment.State, Assignment.Part
COUNTED = {
    State.SUBMITTED: "submitted",
    State.SKIPPED: "skipped",
    State.RETURNED: "returned",
    State.VOIDED: "returned",
}
HOLDS = (State.OPEN, State.SUBMITTED)
NAMESPACE = uuid.UUID("2d0a4c0e-3f0b-5a53-9d34-6b8f5f6f1f11")
M = TypeVar("M", bound=models.Model)


@dataclass(frozen=True)
class ImportResult:
    """The result of importing a document; ``study`` is None where nothing was stored."""

    study: Study | None
    created: bool
    match: ItemMatch
    items: int = 0
    people: int = 0
    assignments: int = 0
    edits: int = 0


def import_study(*, path: Path, by: User | None = None, partial: bool = False) -> ImportResult:
    """Make the study of an exported document anew, as one that is closed: all of it or nothing.

    Unless all items are found here nothing is stored and the answer says what is missing;
    ``partial`` stores those that are. The same document a second time changes nothing. Raises
    ``Refused`` for a document that is no study or contradicts itself.
    """
    document, digest = read_document(path)
    questionnaires = read_questionnaires(document)
    check_whole(document, questionnaires)
    with named_lock("study import"):
        known = Study.objects.filter(**{f"settings__{IMPORTED}__digest": digest}).first()
        if known is not None:
            return ImportResult(known, False, ItemMatch({}, {}, {}))
        match = _matched(document, path, partial=partial)
        if match.missing and not (partial and match.matched):
            return ImportResult(None, False, match)
        store_questionnaires(document)
        return _Storing(document, match, digest, by).store()


class _StillMissing(Exception):
    """Items are missing even with the rows beside the document, so these are not stored."""


def _matched(document: StudyDocument, path: Path, *, partial: bool) -> ItemMatch:
    """Return what each item is about here; what is missing is stored first where it came along."""
    match = match_items(document)
    if not match.missing:
        return match
    with opened_sources(path) as file:
        if file is None:
            return match
        try:
            with transaction.atomic():
                store_sources(file, study_key=document.study.key)
                match = match_items(document)
                if match.missing and not partial:
                    raise _StillMissing
        except _StillMissing:
            pass
    return match


class _Storing:
    """One import, inside its transaction."""

    def __init__(
        self, document: StudyDocument, match: ItemMatch, digest: str, by: User | None
    ) -> None:
        self.document, self.match, self.digest, self.by = document, match, digest, by
        self.assignments = [
            assignment for assignment in document.assignments if assignment.item in match.matched
        ]

    def store(self) -> ImportResult:
        self.study = self._study()
        self._texts()
        self.users = {
            p.rater: pseudonym_account(p.rater, p.simulated) for p in self.document.people
        }
        self._people()
        self.items = self._items()
        self._check_passages()
        self._places()
        edits = sum(self._store_assignment(assignment) for assignment in self.assignments)
        self._adjudications()
        self._remember()
        if self.by is not None:
            Membership.objects.create(study=self.study, user=self.by, role=Membership.Role.MANAGER)
        record_event(
            study=self.study, kind=StudyEvent.Kind.CREATED, by=self.by,
            detail={
                "imported": self.digest, "items": len(self.items),
                "items_missing": len(self.match.missing), "edits": edits,
            },
        )  # fmt: skip
        return ImportResult(
            self.study,
            True,
            self.match,
            len(self.items),
            len(self.document.people),
            len(self.assignments),
            edits,
        )

    def _study(self) -> Study:
        given = self.document.study
        was = self.document.local.get("status")
        archived = was == Study.Status.ARCHIVED
        fields = {name: getattr(given, name) for name in STUDY_FIELDS}
        # How long something is kept is decided here.
        kept = {k: v for k, v in given.settings.items() if k != RETENTION}
        return as_it_is(
            Study(
                **fields,
                status=Study.Status.ARCHIVED if archived else Study.Status.CLOSED,
                settings=with_run_keys(kept, self.match.runs),
                created_by=self.by,
            )
        )

    def _texts(self) -> None:
        self.texts = {
            (text.kind, text.version): as_it_is(
                StudyText(
                    study=self.study, kind=text.kind, version=text.version, text=text.text,
                    at=text.at,
                )
            )
            for text in self.document.texts
        }  # fmt: skip

    def _people(self) -> None:
        assignments: dict[str, Counter[str]] = {}
        active: Counter[str] = Counter()
        for assignment in self.assignments:
            if assignment.part == Part.MAIN:
                counts = assignments.setdefault(assignment.rater, Counter())
                counts["assigned"] += 1
                if assignment.state in COUNTED:
                    counts[COUNTED[State(assignment.state)]] += 1
                if assignment.state == State.SUBMITTED:
                    active[assignment.rater] += assignment.active_ms
        for person in self.document.people:
            as_it_is(
                Participant(
                    study=self.study,
                    user=self.users[person.rater],
                    number=person.number,
                    state=person.state,
                    training=person.training,
                    consent_version=person.consent_version,
                    told_background=person.told_background,
                    guidelines_read_at=person.guidelines_read_at,
                    unblinded_at=person.unblinded_at,
                    joined_at=person.joined_at,
                    active_ms=active[person.rater],
                    **dict(assignments.get(person.rater, {})),
                )
            )
            Membership.objects.create(
                study=self.study, user=self.users[person.rater], role=Membership.Role.ANNOTATOR
            )
            for consent in person.consents:
                as_it_is(
                    Consent(
                        study=self.study, user=self.users[person.rater], given=consent.given,
                        text=self.texts[consent.kind, consent.version], at=consent.at,
                    )
                )  # fmt: skip

    def _items(self) -> dict[int, Item]:
        given, done = Counter[int](), Counter[int]()
        for assignment in self.assignments:
            given[assignment.item] += assignment.state in HOLDS
            done[assignment.item] += assignment.state == State.SUBMITTED
        rows = []
        for item in self.document.items:
            if item.number not in self.match.matched:
                continue
            task, trajectory = self.match.matched[item.number]
            _, other = self.match.matched.get(-item.number, (None, None))
            if given[item.number] > item.wanted:
                raise Refused(
                    "invalid", f"item {item.number} has more raters than it has assignments"
                )
            rows.append(
                Item(
                    study=self.study,
                    use=item.use,
                    task_id=task,
                    trajectory_id=trajectory,
                    other_id=other,
                    asked=item.asked,
                    subjects=item.subjects,
                    expected=item.expected,
                    rank=item.number,
                    wanted=item.wanted,
                    given=given[item.number],
                    done=done[item.number],
                )
            )
        return {row.rank: row for row in Item.objects.bulk_create(rows, batch_size=BATCH)}

    def _check_passages(self) -> None:
        """Refuse passages that are not in the texts of their items, as the desk does."""
        questions = load_questionnaire(self.study.questionnaire).questions
        scales = {q.key: q.scale for q in questions if q.scale.kind == "spans"}
        edits = [
            (f"seat {number}, edit {place}", seat.item, edit.question, edit.chosen)
            for number, seat in enumerate(self.document.assignments, 1)
            for place, edit in enumerate(seat.edits, 1)
            if edit.aspect == Aspect.ANSWER
        ]
        edits += [
            (f"adjudication {number}", row.item, row.question, row.chosen)
            for number, row in enumerate(self.document.adjudications, 1)
        ]
        for where, item, question, chosen in edits:
            if question in scales and item in self.items:
                try:
                    check_spans(self.items[item], scales[question], chosen)
                except Refused as refused:
                    raise Refused("invalid", f"{where}: {refused.reason}") from None

    def _places(self) -> None:
        StudyPlace.objects.bulk_create(
            StudyPlace(
                study=self.study,
                number=place.number,
                ranks=[rank for rank in place.items if rank in self.items],
                user=self.users[place.rater] if place.rater else None,
                claimed_at=place.claimed_at,
            )
            for place in self.document.places
        )

    def _store_assignment(self, given: AssignmentIn) -> int:
        """Store an assignment with its edits and what stands now; how many edits there were."""
        item, user = self.items[given.item], self.users[given.rater]
        assignment = Assignment.objects.create(
            study=self.study,
            item=item,
            annotator=user,
            trajectory_id=item.trajectory_id,
            part=given.part,
            position=given.position,
            state=given.state,
            skip_reason=given.skip_reason,
            note=given.note,
            active_ms=given.active_ms,
            opened_at=given.opened_at,
            submitted_at=given.submitted_at,
            verdicts=given.verdicts,
            rotation=given.rotation,
            revealed=given.revealed,
            swapped=given.swapped,
        )
        stored: list[RatingEdit] = []
        now: dict[tuple[str, str, str], Rating] = {}
        for number, edit in enumerate(given.edits, 1):
            name = f"{self.study.pk} {given.rater} {given.part} {given.position} {number}"
            place = edit.question, edit.subject, str(edit.aspect)
            content: dict[str, Any] = {
                "question": edit.question, "subject": edit.subject, "aspect": edit.aspect,
                "value": edit.value, "chosen": edit.chosen, "text": edit.text,
            }  # fmt: skip
            row = as_it_is(
                RatingEdit(
                    assignment=assignment,
                    **content,
                    client_id=uuid.uuid5(NAMESPACE, name),
                    undoes=stored[edit.undoes - 1] if edit.undoes else None,
                    by=user,
                    unblinded=edit.unblinded,
                    client_time=edit.client_time,
                    edited_at=edit.at,
                )
            )
            stored.append(row)
            version = now[place].version + 1 if place in now else 1
            rating = Rating(
                assignment=assignment, **content, version=version, edit=row, updated_at=edit.at
            )
            now[place] = rating
        Rating.objects.bulk_create(now.values())
        return len(stored)

    def _adjudications(self) -> None:
        for row in self.document.adjudications:
            if row.item not in self.items:
                continue
            if row.by not in self.users:
                self.users[row.by] = pseudonym_account(row.by, False)
            as_it_is(
                Adjudication(
                    item=self.items[row.item], question=row.question, subject=row.subject,
                    value=row.value, chosen=row.chosen, reason=row.reason,
                    revealed=row.revealed, saw_raters=row.saw_raters,
                    by=self.users[row.by], at=row.at,
                )
            )  # fmt: skip

    def _remember(self) -> None:
        """Keep what a later export must say again: where it came from, and the pseudonyms."""
        self.study.settings[IMPORTED] = {
            "digest": self.digest,
            "key": self.document.study.key,
            "left_out": self.document.left_out,
            "people": {str(user.pk): name for name, user in self.users.items()},
            "items_missing": len(self.match.missing),
        }
        self.study.save(update_fields=["settings"])


def as_it_is(row: M) -> M:
    """Store a row with the times that it has, as loading a fixture does."""
    models.Model.save_base(row, raw=True, force_insert=True)
    return row


def pseudonym_account(name: str, simulated: bool) -> User:
    """Return the account of a pseudonym; nobody can sign in with it."""
    user, created = User.objects.get_or_create(
        username=name, defaults={"first_name": "Imported", "is_active": False}
    )
    if created:
        user.set_unusable_password()
        user.save(update_fields=["password"])
        Annotator.objects.create(user=user, is_simulated=simulated)
    elif user.is_active or user.has_usable_password():
        raise Refused("conflict", f"the account {name} is a person's, who could sign in with it")
    return user

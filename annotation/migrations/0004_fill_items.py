"""Studies that were made before get their items, their numbered annotators and their record."""

from collections import Counter, defaultdict

from django.db import migrations

CHUNK = 500


def fill(apps, schema_editor):
    """One item per trajectory of a study, with its seats; counters as the assignments have them."""
    Study = apps.get_model("annotation", "Study")
    for study in Study.objects.order_by("pk"):
        _fill_items(apps, study)
        _fill_people(apps, study)
    _fill_events(apps)
    for name in ("Rating", "RatingEdit"):
        remarks = apps.get_model("annotation", name).objects.filter(question="comment")
        remarks.update(question="", aspect="comment")


def _fill_items(apps, study):
    Assignment = apps.get_model("annotation", "Assignment")
    Item = apps.get_model("annotation", "Item")
    rows = Assignment.objects.filter(study=study).select_related("trajectory")
    items, seats = {}, defaultdict(Counter)
    for row in rows.order_by("annotator", "position").iterator(chunk_size=CHUNK):
        if row.trajectory_id not in items:
            items[row.trajectory_id] = Item(
                study=study,
                trajectory_id=row.trajectory_id,
                task_id=row.trajectory.task_id,
                asked=row.asked,
                rank=len(items) + 1,
            )
        seats[row.trajectory_id][row.state] += 1
    for trajectory, item in items.items():
        states = seats[trajectory]
        item.wanted = sum(states.values())
        item.given = states["open"] + states["submitted"]
        item.done = states["submitted"]
    Item.objects.bulk_create(items.values(), batch_size=CHUNK)
    for item in Item.objects.filter(study=study).iterator(chunk_size=CHUNK):
        Assignment.objects.filter(study=study, trajectory=item.trajectory_id).update(item=item)


def _fill_people(apps, study):
    Assignment = apps.get_model("annotation", "Assignment")
    Membership = apps.get_model("annotation", "Membership")
    Participant = apps.get_model("annotation", "Participant")
    states, active, last = defaultdict(Counter), Counter(), Counter()
    rows = Assignment.objects.filter(study=study).values_list(
        "annotator", "state", "active_ms", "position"
    )
    for user, state, ms, position in rows.order_by("pk").iterator():
        states[user][state] += 1
        active[user] += ms if state == "submitted" else 0
        last[user] = max(last[user], position)
    members = Membership.objects.filter(study=study, role="annotator").order_by("pk")
    users = dict.fromkeys([*members.values_list("user", flat=True), *states])
    Participant.objects.bulk_create(
        Participant(
            study=study,
            user_id=user,
            number=number,
            assigned=last[user],
            submitted=states[user]["submitted"],
            skipped=states[user]["skipped"],
            active_ms=active[user],
        )
        for number, user in enumerate(users, 1)
    )


def _fill_events(apps):
    Old = apps.get_model("annotation", "AssignmentEvent")
    Event = apps.get_model("annotation", "StudyEvent")
    batch = []
    for old in Old.objects.order_by("pk").select_related("assignment").iterator(chunk_size=CHUNK):
        batch.append(
            (
                Event(
                    study_id=old.assignment.study_id,
                    kind=old.kind,
                    assignment=old.assignment,
                    about_id=old.assignment.annotator_id,
                    reason=old.reason,
                    by_id=old.by_id,
                ),
                old.at,
            )
        )
    stored = Event.objects.bulk_create([event for event, _ in batch], batch_size=CHUNK)
    for event, (_, at) in zip(stored, batch, strict=True):
        event.at = at
    Event.objects.bulk_update(stored, ["at"], batch_size=CHUNK)


def empty(apps, schema_editor):
    """Give assignments their questions back; newer kinds of items cannot be told to older code."""
    Assignment = apps.get_model("annotation", "Assignment")
    Event = apps.get_model("annotation", "StudyEvent")
    Old = apps.get_model("annotation", "AssignmentEvent")
    if Assignment.objects.exclude(part="main", item__trajectory__isnull=False).exists():
        raise RuntimeError("there are items that are no trajectories; older versions have no such")
    for item in apps.get_model("annotation", "Item").objects.iterator(chunk_size=CHUNK):
        Assignment.objects.filter(item=item).update(asked=item.asked, item=None)
    kinds = ("submitted", "skipped", "reopened")
    rows = Event.objects.filter(kind__in=kinds, assignment__isnull=False).order_by("pk")
    for event in rows.iterator(chunk_size=CHUNK):
        old = Old.objects.create(
            assignment_id=event.assignment_id, kind=event.kind, reason=event.reason, by_id=event.by_id
        )
        Old.objects.filter(pk=old.pk).update(at=event.at)
    for name in ("Rating", "RatingEdit"):
        said = apps.get_model("annotation", name).objects
        said.filter(question="", aspect="comment").update(question="comment")
        if said.exclude(aspect="answer").exclude(question="comment").exists():
            raise RuntimeError("there are remarks on questions; older versions have no place for them")
    Event.objects.all().delete()
    apps.get_model("annotation", "Item").objects.all().delete()
    apps.get_model("annotation", "Participant").objects.all().delete()


class Migration(migrations.Migration):
    dependencies = [("annotation", "0003_items_people_events")]
    operations = [migrations.RunPython(fill, empty)]

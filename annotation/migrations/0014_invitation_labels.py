"""Take the labels of invitations out of events, which refer to the invitation instead."""

from typing import Any

from django.db import migrations

ERASED = "(erased)"


def refer_to_invitations(apps: Any, schema_editor: Any) -> None:
    """Remove ``label`` from events, and blank labels that erased people left on earlier links."""
    events = apps.get_model("annotation", "StudyEvent").objects
    invites = apps.get_model("annotation", "Invite").objects
    erased = set(invites.filter(label=ERASED).values_list("pk", flat=True))
    rows = events.filter(kind="invited", detail__has_key="label").order_by("pk")
    for event in rows.iterator(chunk_size=500):
        detail = dict(event.detail)
        label = detail.pop("label")
        events.filter(pk=event.pk).update(detail=detail)
        if label and label != ERASED and detail.get("invite") in erased:
            same = invites.filter(study=event.study_id, label=label, used_by=None)
            same.update(label=ERASED)


class Migration(migrations.Migration):
    """Change rows only."""

    tolerated_because = "the previous release shows the events, without the labels"

    dependencies = [("annotation", "0013_code_checks")]

    operations = [migrations.RunPython(refer_to_invitations, migrations.RunPython.noop)]

"""The failure labels that ship with the product. Those that a database has are left as they are."""

from pathlib import Path

import yaml
from django.db import migrations

FILE = Path(__file__).parent.parent / "failures" / "labels.v1.yaml"


def fill(apps, schema_editor):
    """One label and its first wording per entry, in the order of the file."""
    Label = apps.get_model("annotation", "FailureLabel")
    Wording = apps.get_model("annotation", "FailureWording")
    for rank, entry in enumerate(yaml.safe_load(FILE.read_text(encoding="utf-8")), 1):
        label, made = Label.objects.get_or_create(
            key=entry["key"], defaults={**entry, "rank": rank * 10}
        )
        if made:
            words = {name: entry[name] for name in ("title", "definition", "source")}
            Wording.objects.create(label=label, version=1, **words)


class Migration(migrations.Migration):
    dependencies = [("annotation", "0006_remarks")]

    # What is used stays; before 0006 there are no tables to clear.
    operations = [migrations.RunPython(fill, migrations.RunPython.noop)]

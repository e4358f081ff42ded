"""The index of words, and how far it is. The tables of the index belong to no model."""

import django.db.models.deletion
from django.db import migrations, models

from analysis.search.index import create_index, drop_index


def make(apps, schema_editor):
    create_index(schema_editor.connection)


def take_away(apps, schema_editor):
    drop_index(schema_editor.connection)


class Migration(migrations.Migration):
    dependencies = [
        ("analysis", "0001_initial"),
        ("benchmarks", "0010_candidates"),
    ]

    operations = [
        migrations.CreateModel(
            name="IndexedRun",
            fields=[
                (
                    "run",
                    models.OneToOneField(
                        on_delete=django.db.models.deletion.CASCADE,
                        primary_key=True,
                        related_name="indexed",
                        serialize=False,
                        to="benchmarks.run",
                    ),
                ),
                ("version", models.PositiveIntegerField(null=True)),
                ("trajectories", models.PositiveIntegerField(default=0)),
                ("last_turn", models.BigIntegerField(default=0)),
            ],
        ),
        migrations.RunPython(make, take_away),
    ]

"""Every table of this app, for new databases; those of the index of words belong to no model.

The migrations that it replaces are gone: every release, 0.1.0 on, has applied all of them.
"""

import django.db.models.deletion
from django.conf import settings
from django.core.management import call_command
from django.db import migrations, models

from analysis.search.index import create_index, drop_index
from benchmarks.migrations._operations import CreateModels


def make_other_tables(apps, schema_editor):
    """Make the table of the cache `kept` by Django's command for it, and the index of words."""
    call_command("createcachetable", database=schema_editor.connection.alias, verbosity=0)
    create_index(schema_editor.connection)


def drop_word_index(apps, schema_editor):
    drop_index(schema_editor.connection)


class Migration(migrations.Migration):
    initial = True

    replaces = [
        ("analysis", "0001_initial"),
        ("analysis", "0002_search"),
    ]

    dependencies = [
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
        ("benchmarks", "0001_squashed_0014_construction_judging_experiments"),
    ]

    operations = [
        CreateModels(
            [
                migrations.CreateModel(
                    name="RunFacts",
                    fields=[
                        (
                            "run",
                            models.OneToOneField(
                                on_delete=django.db.models.deletion.CASCADE,
                                primary_key=True,
                                related_name="facts",
                                serialize=False,
                                to="benchmarks.run",
                            ),
                        ),
                        ("version", models.CharField(max_length=64)),
                        ("trajectories", models.PositiveIntegerField()),
                        ("columns", models.BinaryField()),
                        ("made_at", models.DateTimeField(auto_now=True)),
                    ],
                    options={
                        "verbose_name_plural": "run facts",
                    },
                ),
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
                migrations.CreateModel(
                    name="RatingTable",
                    fields=[
                        (
                            "id",
                            models.BigAutoField(
                                auto_created=True,
                                primary_key=True,
                                serialize=False,
                                verbose_name="ID",
                            ),
                        ),
                        ("name", models.CharField(max_length=120)),
                        ("file", models.CharField(max_length=120)),
                        ("checksum", models.CharField(max_length=64)),
                        ("rows", models.PositiveIntegerField()),
                        ("settings", models.JSONField(default=dict)),
                        ("content", models.BinaryField()),
                        ("shared", models.BooleanField(default=False)),
                        ("created_at", models.DateTimeField(auto_now_add=True)),
                        (
                            "created_by",
                            models.ForeignKey(
                                null=True,
                                on_delete=django.db.models.deletion.SET_NULL,
                                related_name="+",
                                to=settings.AUTH_USER_MODEL,
                            ),
                        ),
                    ],
                    options={
                        "ordering": ["-id"],
                    },
                ),
                migrations.CreateModel(
                    name="SavedView",
                    fields=[
                        (
                            "id",
                            models.BigAutoField(
                                auto_created=True,
                                primary_key=True,
                                serialize=False,
                                verbose_name="ID",
                            ),
                        ),
                        ("name", models.CharField(max_length=80)),
                        ("page", models.CharField(max_length=60)),
                        ("query", models.TextField(blank=True)),
                        ("shared", models.BooleanField(default=False)),
                        ("created_at", models.DateTimeField(auto_now_add=True)),
                        ("updated_at", models.DateTimeField(auto_now=True)),
                        (
                            "owner",
                            models.ForeignKey(
                                on_delete=django.db.models.deletion.CASCADE,
                                related_name="saved_views",
                                to=settings.AUTH_USER_MODEL,
                            ),
                        ),
                    ],
                    options={
                        "ordering": ["name", "id"],
                        "constraints": [
                            models.UniqueConstraint(
                                fields=("owner", "page", "name"), name="saved_view_identity"
                            )
                        ],
                    },
                ),
            ]
        ),
        migrations.RunPython(make_other_tables, drop_word_index),
    ]

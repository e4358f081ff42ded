"""Store where trajectories branch from others."""

import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("benchmarks", "0033_withdrawn_exchanges"),
    ]

    operations = [
        migrations.AlterField(
            model_name="run",
            name="kind",
            field=models.CharField(
                choices=[
                    ("made", "Made here"),
                    ("imported", "Imported"),
                    ("practice", "Practice round"),
                    ("judging", "Re-judging"),
                    ("construct", "Construction"),
                    ("branch", "Branches"),
                ],
                default="made",
                max_length=10,
            ),
        ),
        migrations.CreateModel(
            name="Branch",
            fields=[
                (
                    "trajectory",
                    models.OneToOneField(
                        on_delete=django.db.models.deletion.CASCADE,
                        primary_key=True,
                        related_name="branch",
                        serialize=False,
                        to="benchmarks.trajectory",
                    ),
                ),
                ("steps", models.PositiveSmallIntegerField()),
                ("turn", models.PositiveSmallIntegerField()),
                (
                    "arm",
                    models.CharField(
                        choices=[
                            ("edited", "Another answer"),
                            ("kept", "Same answer"),
                            ("again", "Asked again"),
                        ],
                        max_length=6,
                    ),
                ),
                ("edited_slot", models.PositiveSmallIntegerField(blank=True, null=True)),
                (
                    "parent",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.RESTRICT,
                        related_name="branches",
                        to="benchmarks.trajectory",
                    ),
                ),
            ],
            options={
                "ordering": ["trajectory"],
                "constraints": [
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(
                                ("arm", "edited"), ("edited_slot__isnull", False), ("steps__gt", 0)
                            ),
                            models.Q(
                                ("arm__in", ["kept", "again"]), ("edited_slot__isnull", True)
                            ),
                            _connector="OR",
                        ),
                        name="branch_edit",
                    )
                ],
            },
        ),
    ]

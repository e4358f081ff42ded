"""Store images of imported messages."""

import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("benchmarks", "0029_columns_of_suggestions"),
    ]

    operations = [
        migrations.CreateModel(
            name="TrajectoryImage",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("digest", models.CharField(max_length=32)),
                ("media_type", models.CharField(max_length=20)),
                ("data", models.TextField()),
                (
                    "trajectory",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="images",
                        to="benchmarks.trajectory",
                    ),
                ),
            ],
            options={
                "constraints": [
                    models.UniqueConstraint(
                        fields=("trajectory", "digest"), name="trajectory_image"
                    )
                ],
            },
        ),
    ]

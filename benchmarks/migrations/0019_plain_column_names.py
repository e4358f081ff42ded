"""Name two fields after what they hold. Their columns keep the names that release 0.3 knows."""

import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("benchmarks", "0018_longer_kinds_of_constraints")]

    operations = [
        migrations.SeparateDatabaseAndState(
            state_operations=[
                migrations.RenameField("trajectory", "recast", "role_changes"),
                migrations.AlterField(
                    "trajectory",
                    "role_changes",
                    models.JSONField(blank=True, db_column="recast", default=dict),
                ),
                migrations.RenameField("job", "rung_at", "woken_at"),
                migrations.AlterField(
                    "job",
                    "woken_at",
                    models.DateTimeField(blank=True, db_column="rung_at", null=True),
                ),
            ]
        ),
        migrations.AlterField(
            "trajectory",
            "judged",
            models.ForeignKey(
                blank=True,
                db_index=False,
                null=True,
                on_delete=django.db.models.deletion.CASCADE,
                related_name="rejudgings",
                to="benchmarks.trajectory",
            ),
        ),
    ]

"""Name two columns after what they hold."""

import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("benchmarks", "0018_longer_kinds_of_constraints")]

    operations = [
        migrations.RenameField("trajectory", "recast", "role_changes"),
        migrations.RenameField("job", "rung_at", "woken_at"),
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

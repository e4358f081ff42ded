"""More calls at once by default; endpoints that still have the old default get the new one."""

from django.db import migrations, models

OLD, NEW = 8, 32


class Migration(migrations.Migration):
    dependencies = [("benchmarks", "0015_created_trajectories")]

    operations = [
        migrations.AlterField(
            model_name="endpoint",
            name="concurrency",
            field=models.PositiveSmallIntegerField(default=NEW),
        ),
        migrations.RunSQL(
            f"UPDATE benchmarks_endpoint SET concurrency = {NEW} WHERE concurrency = {OLD}",
            migrations.RunSQL.noop,
        ),
    ]

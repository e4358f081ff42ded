"""More calls at once by default; endpoints that still have the old default get the new one."""

from django.db import migrations, models

OLD, NEW = 8, 32


def raise_old_default(apps, schema_editor):
    apps.get_model("benchmarks", "Endpoint").objects.filter(concurrency=OLD).update(concurrency=NEW)


class Migration(migrations.Migration):
    dependencies = [("benchmarks", "0015_created_trajectories")]

    operations = [
        migrations.AlterField(
            model_name="endpoint",
            name="concurrency",
            field=models.PositiveSmallIntegerField(default=NEW),
        ),
        migrations.RunPython(raise_old_default, migrations.RunPython.noop),
    ]

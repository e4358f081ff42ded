from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("benchmarks", "0001_squashed_0014_construction_judging_experiments"),
    ]

    operations = [
        migrations.AddField(
            model_name="run",
            name="created_trajectories",
            field=models.PositiveIntegerField(default=0),
        ),
        # What exists now counts as created: what was deleted before leaves no trace. In SQL, because
        # RunPython would make every model of the product once more at the start of a new database.
        migrations.RunSQL(
            "UPDATE benchmarks_run SET created_trajectories = (SELECT count(*) "
            "FROM benchmarks_trajectory WHERE benchmarks_trajectory.run_id = benchmarks_run.id)",
            migrations.RunSQL.noop,
        ),
    ]

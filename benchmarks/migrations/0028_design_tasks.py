"""Store which tasks a run's design demands."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("benchmarks", "0027_run_archive"),
    ]

    operations = [
        migrations.AddField(
            model_name="run",
            name="design_tasks",
            field=models.JSONField(blank=True, default=None, null=True),
        ),
        # Of earlier runs on a part of the tasks, and of live sessions, nobody knows what was
        # demanded. In SQL, because RunPython would make every model of the product once more at
        # the start of a new database.
        migrations.RunSQL(
            "UPDATE benchmarks_run SET design_tasks = '[]' WHERE kind NOT IN ('made', 'construct') "
            "OR EXISTS (SELECT 1 FROM benchmarks_trajectory t "
            "WHERE t.run_id = benchmarks_run.id AND t.reserved) "
            "OR (SELECT count(DISTINCT t.task_id) FROM benchmarks_trajectory t "
            "WHERE t.run_id = benchmarks_run.id) < (CASE WHEN level = '' "
            "THEN (SELECT count(*) FROM benchmarks_task k "
            "WHERE k.dataset_id = benchmarks_run.dataset_id) "
            "ELSE (SELECT count(*) FROM benchmarks_profile p "
            "JOIN benchmarks_task k ON k.id = p.task_id "
            "WHERE k.dataset_id = benchmarks_run.dataset_id AND p.level = benchmarks_run.level) "
            "END)",
            migrations.RunSQL.noop,
        ),
    ]

"""Give suggestions the columns of every stored call, among them several attempts."""

from django.db import migrations, models

# Servers of release 0.10 leave these columns out, so the database has defaults of its own.
COLUMNS = {
    "attempt": lambda **given: models.PositiveSmallIntegerField(default=1, **given),
    "messages": lambda **given: models.JSONField(default=list, **given),
    "expect": lambda **given: models.JSONField(default=dict, **given),
    "tools": lambda **given: models.JSONField(default=list, **given),
    "repeats": lambda **given: models.PositiveSmallIntegerField(default=0, **given),
    "reasoning": lambda **given: models.TextField(blank=True, **given),
    "model_reported": lambda **given: models.CharField(blank=True, max_length=120, **given),
    "finish": lambda **given: models.CharField(blank=True, max_length=40, **given),
    "tries": lambda **given: models.PositiveSmallIntegerField(default=1, **given),
}
DEFAULTS = {"attempt": 1, "messages": [], "expect": {}, "tools": [], "repeats": 0, "tries": 1}


class Migration(migrations.Migration):
    tolerated_because = "more attempts are allowed than before, and only new columns are filled"

    dependencies = [("benchmarks", "0028_design_tasks")]

    operations = [
        *(
            migrations.AddField(
                "suggestion", name, column(db_default=DEFAULTS.get(name, ""))
            )
            for name, column in COLUMNS.items()
        ),
        migrations.AddField("suggestion", "most", models.FloatField(null=True)),
        migrations.AddField("suggestion", "settled_at", models.DateTimeField(null=True)),
        migrations.RemoveConstraint("suggestion", "suggestion_identity"),
        migrations.AddConstraint(
            "suggestion",
            models.UniqueConstraint(
                fields=["trajectory", "step", "slot", "attempt"], name="suggestion_attempt"
            ),
        ),
        migrations.AlterModelOptions(
            "suggestion", {"ordering": ["trajectory", "step", "slot", "attempt"]}
        ),
        # What was asked is stored with the ask to the person.
        migrations.RunSQL(
            "UPDATE benchmarks_suggestion SET (messages, expect, tools) = "
            "(SELECT a.messages, a.expect, a.tools FROM benchmarks_openask a "
            "WHERE a.trajectory_id = benchmarks_suggestion.trajectory_id "
            "AND a.step = benchmarks_suggestion.step AND a.slot = benchmarks_suggestion.slot) "
            "WHERE EXISTS (SELECT 1 FROM benchmarks_openask a "
            "WHERE a.trajectory_id = benchmarks_suggestion.trajectory_id "
            "AND a.step = benchmarks_suggestion.step AND a.slot = benchmarks_suggestion.slot)",
            migrations.RunSQL.noop,
        ),
        migrations.SeparateDatabaseAndState(
            state_operations=[
                *(
                    migrations.AlterField("suggestion", name, column())
                    for name, column in COLUMNS.items()
                ),
                migrations.RenameField("suggestion", "at", "sent_at"),
                migrations.AlterField(
                    "suggestion", "sent_at", models.DateTimeField(db_column="at")
                ),
            ]
        ),
    ]

from django.db import migrations, models
from django.db.migrations.recorder import MigrationRecorder


def keep_second_rule(apps, schema_editor):
    """Studies that were made since the second rule came began with it."""
    applied = MigrationRecorder(schema_editor.connection).applied_migrations()
    since = applied.get(("annotation", "0021_adjudicator_saw_raters"))
    if since is not None:
        studies = apps.get_model("annotation", "Study").objects
        studies.filter(created_at__gte=since.applied).update(adjudication_rule=2)


class Migration(migrations.Migration):
    tolerated_because = "only a column that the previous release does not know is filled"

    dependencies = [
        ("annotation", "0025_pairs"),
    ]

    operations = [
        migrations.AddField(
            model_name="study",
            name="adjudication_rule",
            field=models.PositiveSmallIntegerField(db_default=1, default=2),
        ),
        migrations.AlterField(
            model_name="study",
            name="verdicts",
            field=models.CharField(choices=[('earlier', 'All but the one on the final plan, which is being scored'), ('none', 'None'), ('all', 'All'), ('random', 'At random: all but the final plan’s, or none, by annotator and item')], db_default='earlier', default='earlier', max_length=8),
        ),
        migrations.RunPython(keep_second_rule, migrations.RunPython.noop),
    ]

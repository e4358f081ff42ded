"""Give calls that name clusters the columns of every stored call, and clusterings their sums."""

from django.db import migrations, models

# Servers of release 0.10 leave these columns out, so the database has defaults of its own.
COLUMNS = {
    "role": lambda **given: models.CharField(max_length=40, **given),
    "seat": lambda **given: models.CharField(blank=True, max_length=40, **given),
    "expect": lambda **given: models.JSONField(default=dict, **given),
    "tools": lambda **given: models.JSONField(default=list, **given),
    "repeats": lambda **given: models.PositiveSmallIntegerField(default=0, **given),
}
DEFAULTS = {"role": "analyst", "seat": "", "expect": {}, "tools": [], "repeats": 0}
COMMITTED = """
UPDATE analysis_failureclustering SET committed = coalesce((
    SELECT sum(coalesce(c.cost, c.most, 0)) FROM analysis_clustercall c
    WHERE c.clustering_id = analysis_failureclustering.id), 0),
committed_tokens = coalesce((
    SELECT sum(coalesce(c.tokens_in + c.tokens_out, c.most_tokens, 0)) FROM analysis_clustercall c
    WHERE c.clustering_id = analysis_failureclustering.id), 0)
"""


class Migration(migrations.Migration):
    tolerated_because = "only new columns are filled"

    dependencies = [("analysis", "0005_papers")]

    operations = [
        *(
            migrations.AddField("clustercall", name, column(db_default=DEFAULTS[name]))
            for name, column in COLUMNS.items()
        ),
        migrations.AddField(
            "failureclustering", "committed", models.FloatField(db_default=0.0, default=0.0)
        ),
        migrations.AddField(
            "failureclustering",
            "committed_tokens",
            models.PositiveBigIntegerField(db_default=0, default=0),
        ),
        migrations.RunSQL(COMMITTED, migrations.RunSQL.noop),
        migrations.SeparateDatabaseAndState(
            state_operations=[
                *(
                    migrations.AlterField("clustercall", name, column())
                    for name, column in COLUMNS.items()
                ),
                migrations.AlterField("clustercall", "reasoning", models.TextField(blank=True)),
                migrations.AlterField(
                    "clustercall", "tries", models.PositiveSmallIntegerField(default=1)
                ),
            ]
        ),
    ]

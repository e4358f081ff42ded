import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("benchmarks", "0013_reserved_index"),
    ]

    operations = [
        migrations.AddField(
            model_name="dataset",
            name="made_by",
            field=models.ForeignKey(
                blank=True,
                null=True,
                on_delete=django.db.models.deletion.SET_NULL,
                related_name="datasets_made",
                to="benchmarks.run",
            ),
        ),
        migrations.AddField(
            model_name="experiment",
            name="design",
            field=models.JSONField(blank=True, default=dict),
        ),
        migrations.AddField(
            model_name="experiment",
            name="preset",
            field=models.CharField(blank=True, max_length=40),
        ),
        migrations.AddField(
            model_name="judging",
            name="made_by",
            field=models.OneToOneField(
                blank=True,
                null=True,
                on_delete=django.db.models.deletion.PROTECT,
                related_name="makes_judging",
                to="benchmarks.run",
            ),
        ),
        migrations.AddField(
            model_name="trajectory",
            name="judged",
            field=models.ForeignKey(
                blank=True,
                db_index=False,
                null=True,
                on_delete=django.db.models.deletion.CASCADE,
                related_name="judged_anew",
                to="benchmarks.trajectory",
            ),
        ),
        migrations.AlterField(
            model_name="run",
            name="kind",
            field=models.CharField(
                choices=[
                    ("made", "Made here"),
                    ("imported", "Imported"),
                    ("practice", "Practice round"),
                    ("judging", "Judging anew"),
                    ("construct", "Construction"),
                ],
                default="made",
                max_length=10,
            ),
        ),
        migrations.AddIndex(
            model_name="trajectory",
            index=models.Index(
                condition=models.Q(("judged__isnull", False)),
                fields=["judged"],
                name="trajectory_judged",
            ),
        ),
    ]

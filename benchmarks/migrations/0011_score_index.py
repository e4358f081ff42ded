from django.db import migrations, models


class Migration(migrations.Migration):
    """Scores are grouped by turn and by judge in the order of one covering index."""

    dependencies = [("benchmarks", "0010_candidates")]

    operations = [
        migrations.RemoveIndex(model_name="judgescore", name="judge_score_groups"),
        migrations.AddIndex(
            model_name="judgescore",
            index=models.Index(
                fields=["judging", "is_final", "dimension", "turn", "judge", "seat", "value"],
                name="judge_score_turns",
            ),
        ),
    ]

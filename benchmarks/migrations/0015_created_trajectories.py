from typing import Any

from django.db import migrations, models
from django.db.models import Count, OuterRef, Subquery
from django.db.models.functions import Coalesce


def count_created(apps: Any, schema_editor: Any) -> None:
    """Take what exists now as created: what was deleted before leaves no trace."""
    Run = apps.get_model("benchmarks", "Run")
    Trajectory = apps.get_model("benchmarks", "Trajectory")
    counted = (
        Trajectory.objects.filter(run=OuterRef("pk"))
        .order_by()
        .values("run")
        .annotate(n=Count("pk"))
        .values("n")
    )
    Run.objects.update(created_trajectories=Coalesce(Subquery(counted), 0))


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
        migrations.RunPython(count_created, migrations.RunPython.noop),
    ]

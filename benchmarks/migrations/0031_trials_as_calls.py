"""Store trials of endpoints as calls, and those of judges as rows."""

from itertools import islice

from django.db import migrations, models

# Servers of release 0.10 leave these columns out, so the database has defaults of its own.
COLUMNS = {
    "step": lambda **given: models.PositiveSmallIntegerField(**given),
    "slot": lambda **given: models.PositiveSmallIntegerField(**given),
    "attempt": lambda **given: models.PositiveSmallIntegerField(**given),
    "seat": lambda **given: models.CharField(blank=True, max_length=40, **given),
    "ask_digest": lambda **given: models.CharField(max_length=32, **given),
    "messages": lambda **given: models.JSONField(default=list, **given),
    "expect": lambda **given: models.JSONField(default=dict, **given),
    "tools": lambda **given: models.JSONField(default=list, **given),
    "seed": lambda **given: models.BigIntegerField(**given),
    "repeats": lambda **given: models.PositiveSmallIntegerField(default=0, **given),
    "state": lambda **given: models.CharField(choices=STATES, max_length=10, **given),
}
DEFAULTS = {
    "step": 0, "slot": 0, "attempt": 1, "messages": [], "expect": {}, "tools": [], "seed": 0,
    "repeats": 0, "state": "sent",
}  # fmt: skip
STATES = [
    ("sent", "Sent"),
    ("answered", "Answered"),
    ("unreadable", "Unreadable"),
    ("declined", "Declined"),
    ("failed", "Failed"),
    ("lost", "Lost in flight"),
]
QUESTIONS = [
    ("words", "An answer in words"),
    ("json", "An answer as JSON"),
    ("tool", "A call of a tool"),
]
ANSWERED = """
UPDATE benchmarks_endpointtrial SET settled_at = at, state = CASE
    WHEN ok THEN 'answered'
    WHEN latency IS NULL AND tokens_out IS NULL AND text = '' THEN 'failed'
    ELSE 'unreadable' END
WHERE ok IS NOT NULL
"""
REPLY = (
    "state", "value", "reason", "text", "reasoning", "model_reported", "finish", "tokens_in",
    "tokens_out", "cost", "latency", "tries",
)  # fmt: skip


def answerer():
    return models.ForeignKey(
        "benchmarks.answererversion", models.PROTECT, null=True, related_name="+"
    )


def copy_judge_trials(apps, schema_editor):
    """Make rows of the replies in jobs, which keep them for servers of release 0.10."""
    JudgeTrial = apps.get_model("benchmarks", "JudgeTrial")
    jobs = apps.get_model("benchmarks", "Job").objects.filter(kind="judge-trial").order_by("pk")
    endpoints = dict(apps.get_model("benchmarks", "Endpoint").objects.values_list("name", "pk"))
    rows = (
        JudgeTrial(
            job_id=job.pk,
            step=0,
            slot=0,
            attempt=1,
            role=job.payload["role"],
            endpoint_id=endpoints.get(job.payload["filler"].get("endpoint")),
            seed=job.payload["seed"],
            sent_at=job.started_at or job.created_at,
            settled_at=job.finished_at,
            **{name: value for name, value in job.payload["result"].items() if name in REPLY},
        )
        for job in jobs.iterator(chunk_size=200)
        if "result" in job.payload
    )
    while block := list(islice(rows, 200)):
        JudgeTrial.objects.bulk_create(block)


class Migration(migrations.Migration):
    tolerated_because = "only new columns and a new table are filled"

    dependencies = [("benchmarks", "0030_trajectory_images")]

    operations = [
        migrations.AlterField("endpointtrial", "question", models.CharField(max_length=40)),
        *(
            migrations.AddField("endpointtrial", name, column(db_default=DEFAULTS.get(name, "")))
            for name, column in COLUMNS.items()
        ),
        migrations.AddField("endpointtrial", "value", models.JSONField(null=True)),
        migrations.AddField("endpointtrial", "most", models.FloatField(null=True)),
        migrations.AddField("endpointtrial", "settled_at", models.DateTimeField(null=True)),
        migrations.AddField("endpointtrial", "answerer", answerer()),
        migrations.RunSQL(ANSWERED, migrations.RunSQL.noop),
        # The column `ok` stays for servers of release 0.10, which fill it; nothing reads it.
        migrations.SeparateDatabaseAndState(
            state_operations=[
                *(
                    migrations.AlterField("endpointtrial", name, column())
                    for name, column in COLUMNS.items()
                ),
                migrations.AlterField(
                    "endpointtrial", "tries", models.PositiveSmallIntegerField(default=1)
                ),
                migrations.RemoveField("endpointtrial", "ok"),
                migrations.RenameField("endpointtrial", "question", "role"),
                migrations.AlterField(
                    "endpointtrial",
                    "role",
                    models.CharField(choices=QUESTIONS, db_column="question", max_length=40),
                ),
                migrations.RenameField("endpointtrial", "problem", "reason"),
                migrations.AlterField(
                    "endpointtrial", "reason", models.TextField(blank=True, db_column="problem")
                ),
                migrations.RenameField("endpointtrial", "at", "sent_at"),
                migrations.AlterField(
                    "endpointtrial", "sent_at", models.DateTimeField(db_column="at")
                ),
            ]
        ),
        migrations.CreateModel(
            "JudgeTrial",
            [
                ("id", models.BigAutoField(primary_key=True, serialize=False, auto_created=True, verbose_name="ID")),
                *((name, column()) for name, column in COLUMNS.items()),
                ("role", models.CharField(max_length=40)),
                ("text", models.TextField(blank=True)),
                ("value", models.JSONField(null=True)),
                ("reason", models.TextField(blank=True)),
                ("reasoning", models.TextField(blank=True)),
                ("model_reported", models.CharField(blank=True, max_length=120)),
                ("tokens_in", models.PositiveIntegerField(null=True)),
                ("tokens_out", models.PositiveIntegerField(null=True)),
                ("cost", models.FloatField(null=True)),
                ("most", models.FloatField(null=True)),
                ("latency", models.FloatField(null=True)),
                ("finish", models.CharField(blank=True, max_length=40)),
                ("tries", models.PositiveSmallIntegerField(default=1)),
                ("sent_at", models.DateTimeField()),
                ("settled_at", models.DateTimeField(null=True)),
                ("answerer", answerer()),
                (
                    "endpoint",
                    models.ForeignKey(
                        "benchmarks.endpoint", models.PROTECT, null=True, related_name="+"
                    ),
                ),
                (
                    "job",
                    models.ForeignKey(
                        "benchmarks.job", models.CASCADE, related_name="judge_trials"
                    ),
                ),
            ],
            {"ordering": ["-id"]},
        ),
        migrations.RunPython(copy_judge_trials, migrations.RunPython.noop),
    ]

"""Every table of this app, for new databases.

The migrations that it replaces are gone: every release, 0.1.0 on, has applied all of them.
"""

import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models

from benchmarks.migrations._operations import CreateModels


class Migration(migrations.Migration):
    initial = True

    replaces = [
        ("benchmarks", "0001_initial"),
        ("benchmarks", "0002_imported_agents"),
        ("benchmarks", "0003_endpoints"),
        ("benchmarks", "0004_tokens_and_uploads"),
        ("benchmarks", "0005_endpoint_trials"),
        ("benchmarks", "0006_imported_run_identity"),
        ("benchmarks", "0007_conditions_in_full"),
        ("benchmarks", "0008_exchange_use"),
        ("benchmarks", "0009_shared_data"),
        ("benchmarks", "0010_candidates"),
        ("benchmarks", "0011_score_index"),
        ("benchmarks", "0012_live_sessions"),
        ("benchmarks", "0013_reserved_index"),
        ("benchmarks", "0014_construction_judging_experiments"),
    ]

    # The newest of the other apps, not their first: Django builds anew each model that is related to
    # a changed one, and while these tables are not there yet, few are.
    dependencies = [
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
        ("account", "0009_emailaddress_unique_primary_email"),
        ("admin", "0003_logentry_add_action_flag_choices"),
        ("auth", "0012_alter_user_first_name_max_length"),
        ("mfa", "0003_authenticator_type_uniq"),
        ("socialaccount", "0006_alter_socialaccount_extra_data"),
    ]

    operations = [
        CreateModels(
            [
                migrations.CreateModel(
                    name="Job",
                    fields=[
                        (
                            "id",
                            models.BigAutoField(
                                auto_created=True,
                                primary_key=True,
                                serialize=False,
                                verbose_name="ID",
                            ),
                        ),
                        ("kind", models.CharField(max_length=40)),
                        ("title", models.CharField(max_length=200)),
                        ("payload", models.JSONField(default=dict)),
                        (
                            "status",
                            models.CharField(
                                choices=[
                                    ("queued", "Queued"),
                                    ("running", "Running"),
                                    ("done", "Done"),
                                    ("failed", "Failed"),
                                    ("cancelled", "Cancelled"),
                                ],
                                default="queued",
                                max_length=10,
                            ),
                        ),
                        ("done", models.PositiveIntegerField(default=0)),
                        ("failed", models.PositiveIntegerField(default=0)),
                        ("total", models.PositiveIntegerField(null=True)),
                        ("message", models.TextField(blank=True)),
                        ("attempts", models.PositiveSmallIntegerField(default=0)),
                        ("cancel", models.BooleanField(default=False)),
                        ("lease_owner", models.CharField(blank=True, max_length=80)),
                        ("lease_until", models.DateTimeField(blank=True, null=True)),
                        ("rung_at", models.DateTimeField(blank=True, null=True)),
                        ("created_at", models.DateTimeField(auto_now_add=True)),
                        ("started_at", models.DateTimeField(blank=True, null=True)),
                        ("finished_at", models.DateTimeField(blank=True, null=True)),
                        (
                            "created_by",
                            models.ForeignKey(
                                blank=True,
                                null=True,
                                on_delete=django.db.models.deletion.SET_NULL,
                                to=settings.AUTH_USER_MODEL,
                            ),
                        ),
                    ],
                    options={
                        "ordering": ["-id"],
                        "indexes": [
                            models.Index(fields=["status", "lease_until"], name="job_sweep")
                        ],
                    },
                ),
                migrations.CreateModel(
                    name="Endpoint",
                    fields=[
                        (
                            "id",
                            models.BigAutoField(
                                auto_created=True,
                                primary_key=True,
                                serialize=False,
                                verbose_name="ID",
                            ),
                        ),
                        ("name", models.SlugField(max_length=60, unique=True)),
                        ("title", models.CharField(max_length=120)),
                        ("base_url", models.CharField(max_length=300)),
                        ("model", models.CharField(max_length=120)),
                        ("parameters", models.JSONField(blank=True, default=dict)),
                        ("key_variable", models.CharField(blank=True, max_length=80)),
                        ("price_in", models.FloatField(blank=True, null=True)),
                        ("price_out", models.FloatField(blank=True, null=True)),
                        ("currency", models.CharField(default="USD", max_length=8)),
                        ("timeout", models.FloatField(default=120.0)),
                        ("concurrency", models.PositiveSmallIntegerField(default=8)),
                        ("requests_per_minute", models.PositiveIntegerField(blank=True, null=True)),
                        (
                            "structured",
                            models.CharField(
                                choices=[
                                    ("json_schema", "By a JSON schema"),
                                    ("json_object", "By a switch for JSON"),
                                    ("none", "Not at all: JSON in the text"),
                                ],
                                default="none",
                                max_length=12,
                            ),
                        ),
                        ("native_tools", models.BooleanField(default=False)),
                        ("simulated", models.BooleanField(default=False)),
                        ("retired", models.BooleanField(default=False)),
                        ("created_at", models.DateTimeField(auto_now_add=True)),
                        (
                            "created_by",
                            models.ForeignKey(
                                blank=True,
                                null=True,
                                on_delete=django.db.models.deletion.SET_NULL,
                                to=settings.AUTH_USER_MODEL,
                            ),
                        ),
                    ],
                    options={
                        "ordering": ["title"],
                    },
                ),
                migrations.CreateModel(
                    name="EndpointTrial",
                    fields=[
                        (
                            "id",
                            models.BigAutoField(
                                auto_created=True,
                                primary_key=True,
                                serialize=False,
                                verbose_name="ID",
                            ),
                        ),
                        (
                            "question",
                            models.CharField(
                                choices=[
                                    ("words", "An answer in words"),
                                    ("json", "An answer as JSON"),
                                    ("tool", "A call of a tool"),
                                ],
                                max_length=8,
                            ),
                        ),
                        ("at", models.DateTimeField()),
                        ("ok", models.BooleanField(null=True)),
                        ("text", models.TextField(blank=True)),
                        ("reasoning", models.TextField(blank=True)),
                        ("finish", models.CharField(blank=True, max_length=40)),
                        ("model_reported", models.CharField(blank=True, max_length=120)),
                        ("tokens_in", models.PositiveIntegerField(null=True)),
                        ("tokens_out", models.PositiveIntegerField(null=True)),
                        ("cost", models.FloatField(null=True)),
                        ("currency", models.CharField(blank=True, max_length=8)),
                        ("latency", models.FloatField(null=True)),
                        ("tries", models.PositiveSmallIntegerField(default=0)),
                        ("problem", models.TextField(blank=True)),
                        (
                            "asked_by",
                            models.ForeignKey(
                                blank=True,
                                null=True,
                                on_delete=django.db.models.deletion.SET_NULL,
                                to=settings.AUTH_USER_MODEL,
                            ),
                        ),
                        (
                            "endpoint",
                            models.ForeignKey(
                                on_delete=django.db.models.deletion.CASCADE,
                                related_name="trials",
                                to="benchmarks.endpoint",
                            ),
                        ),
                        (
                            "job",
                            models.ForeignKey(
                                null=True,
                                on_delete=django.db.models.deletion.SET_NULL,
                                related_name="+",
                                to="benchmarks.job",
                            ),
                        ),
                    ],
                    options={
                        "ordering": ["-id"],
                    },
                ),
                migrations.CreateModel(
                    name="Agent",
                    fields=[
                        (
                            "id",
                            models.BigAutoField(
                                auto_created=True,
                                primary_key=True,
                                serialize=False,
                                verbose_name="ID",
                            ),
                        ),
                        ("name", models.SlugField(max_length=80, unique=True)),
                        ("title", models.CharField(max_length=120)),
                        (
                            "kind",
                            models.CharField(
                                choices=[
                                    ("scripted", "Scripted"),
                                    ("recorded", "Recorded answers"),
                                    ("endpoint", "Language model"),
                                    ("human", "Person"),
                                    ("imported", "Made elsewhere"),
                                ],
                                max_length=12,
                            ),
                        ),
                        ("system", models.CharField(blank=True, max_length=40)),
                        ("policy", models.CharField(blank=True, max_length=80)),
                        ("parameters", models.JSONField(blank=True, default=dict)),
                        ("note", models.TextField(blank=True)),
                        (
                            "endpoint",
                            models.ForeignKey(
                                blank=True,
                                null=True,
                                on_delete=django.db.models.deletion.PROTECT,
                                related_name="agents",
                                to="benchmarks.endpoint",
                            ),
                        ),
                    ],
                    options={
                        "ordering": ["title"],
                    },
                ),
                migrations.CreateModel(
                    name="AnswererVersion",
                    fields=[
                        (
                            "id",
                            models.BigAutoField(
                                auto_created=True,
                                primary_key=True,
                                serialize=False,
                                verbose_name="ID",
                            ),
                        ),
                        ("kind", models.CharField(max_length=12)),
                        ("name", models.CharField(max_length=120)),
                        ("version", models.CharField(max_length=40)),
                        ("parameters", models.JSONField(default=dict)),
                        ("digest", models.CharField(max_length=32, unique=True)),
                    ],
                    options={
                        "ordering": ["name", "version"],
                    },
                ),
                migrations.CreateModel(
                    name="SharedData",
                    fields=[
                        (
                            "digest",
                            models.CharField(max_length=32, primary_key=True, serialize=False),
                        ),
                        ("content", models.JSONField()),
                    ],
                ),
                migrations.CreateModel(
                    name="Experiment",
                    fields=[
                        (
                            "id",
                            models.BigAutoField(
                                auto_created=True,
                                primary_key=True,
                                serialize=False,
                                verbose_name="ID",
                            ),
                        ),
                        ("name", models.CharField(max_length=160)),
                        ("design", models.JSONField(blank=True, default=dict)),
                        ("preset", models.CharField(blank=True, max_length=40)),
                        ("created_at", models.DateTimeField(auto_now_add=True)),
                        (
                            "created_by",
                            models.ForeignKey(
                                blank=True,
                                null=True,
                                on_delete=django.db.models.deletion.SET_NULL,
                                to=settings.AUTH_USER_MODEL,
                            ),
                        ),
                    ],
                    options={
                        "ordering": ["-id"],
                    },
                ),
                migrations.CreateModel(
                    name="StoredMessage",
                    fields=[
                        (
                            "digest",
                            models.CharField(max_length=32, primary_key=True, serialize=False),
                        ),
                        ("speaker", models.CharField(max_length=10)),
                        ("text", models.TextField()),
                        ("tool_calls", models.JSONField(default=list)),
                        ("tool_call_id", models.CharField(blank=True, max_length=80)),
                    ],
                ),
                migrations.CreateModel(
                    name="ApiToken",
                    fields=[
                        (
                            "id",
                            models.BigAutoField(
                                auto_created=True,
                                primary_key=True,
                                serialize=False,
                                verbose_name="ID",
                            ),
                        ),
                        ("name", models.CharField(max_length=80)),
                        ("prefix", models.CharField(db_index=True, max_length=12)),
                        ("digest", models.CharField(max_length=64, unique=True)),
                        ("read_only", models.BooleanField(default=False)),
                        ("created_at", models.DateTimeField(auto_now_add=True)),
                        ("used_at", models.DateTimeField(blank=True, null=True)),
                        ("expires_at", models.DateTimeField(blank=True, null=True)),
                        ("revoked_at", models.DateTimeField(blank=True, null=True)),
                        (
                            "user",
                            models.ForeignKey(
                                on_delete=django.db.models.deletion.CASCADE,
                                related_name="api_tokens",
                                to=settings.AUTH_USER_MODEL,
                            ),
                        ),
                    ],
                    options={
                        "ordering": ["-id"],
                    },
                ),
                migrations.CreateModel(
                    name="StoredAnswer",
                    fields=[
                        (
                            "id",
                            models.BigAutoField(
                                auto_created=True,
                                primary_key=True,
                                serialize=False,
                                verbose_name="ID",
                            ),
                        ),
                        ("key", models.CharField(max_length=200)),
                        ("fingerprint", models.CharField(max_length=64)),
                        ("status", models.PositiveSmallIntegerField()),
                        ("body", models.JSONField()),
                        ("created_at", models.DateTimeField(auto_now_add=True)),
                        (
                            "user",
                            models.ForeignKey(
                                on_delete=django.db.models.deletion.CASCADE,
                                related_name="+",
                                to=settings.AUTH_USER_MODEL,
                            ),
                        ),
                    ],
                    options={
                        "ordering": ["id"],
                        "constraints": [
                            models.UniqueConstraint(
                                fields=("user", "key"), name="stored_answer_identity"
                            )
                        ],
                    },
                ),
                migrations.CreateModel(
                    name="Upload",
                    fields=[
                        (
                            "id",
                            models.BigAutoField(
                                auto_created=True,
                                primary_key=True,
                                serialize=False,
                                verbose_name="ID",
                            ),
                        ),
                        ("name", models.CharField(max_length=120)),
                        ("size", models.PositiveBigIntegerField(default=0)),
                        ("created_at", models.DateTimeField(auto_now_add=True)),
                        (
                            "created_by",
                            models.ForeignKey(
                                blank=True,
                                null=True,
                                on_delete=django.db.models.deletion.SET_NULL,
                                to=settings.AUTH_USER_MODEL,
                            ),
                        ),
                    ],
                    options={
                        "ordering": ["-id"],
                    },
                ),
                migrations.CreateModel(
                    name="UploadChunk",
                    fields=[
                        (
                            "id",
                            models.BigAutoField(
                                auto_created=True,
                                primary_key=True,
                                serialize=False,
                                verbose_name="ID",
                            ),
                        ),
                        ("index", models.PositiveIntegerField()),
                        ("data", models.BinaryField()),
                        (
                            "upload",
                            models.ForeignKey(
                                db_index=False,
                                on_delete=django.db.models.deletion.CASCADE,
                                related_name="chunks",
                                to="benchmarks.upload",
                            ),
                        ),
                    ],
                    options={
                        "ordering": ["upload", "index"],
                        "constraints": [
                            models.UniqueConstraint(
                                fields=("upload", "index"), name="upload_chunk_identity"
                            )
                        ],
                    },
                ),
                migrations.CreateModel(
                    name="Dataset",
                    fields=[
                        (
                            "id",
                            models.BigAutoField(
                                auto_created=True,
                                primary_key=True,
                                serialize=False,
                                verbose_name="ID",
                            ),
                        ),
                        ("system", models.CharField(max_length=40)),
                        ("name", models.CharField(max_length=120)),
                        ("version", models.CharField(default="1", max_length=40)),
                        ("source", models.CharField(blank=True, max_length=400)),
                        ("licence", models.CharField(blank=True, max_length=200)),
                        ("checksum", models.CharField(max_length=64)),
                        ("roles", models.JSONField(blank=True, default=dict)),
                        ("is_demo", models.BooleanField(default=False)),
                        ("notes", models.TextField(blank=True)),
                        ("created_at", models.DateTimeField(auto_now_add=True)),
                        (
                            "shared",
                            models.ForeignKey(
                                blank=True,
                                null=True,
                                on_delete=django.db.models.deletion.PROTECT,
                                to="benchmarks.shareddata",
                            ),
                        ),
                        (
                            "made_by",
                            models.ForeignKey(
                                blank=True,
                                null=True,
                                on_delete=django.db.models.deletion.SET_NULL,
                                related_name="datasets_made",
                                to="benchmarks.run",
                            ),
                        ),
                    ],
                    options={
                        "ordering": ["name", "version"],
                        "constraints": [
                            models.UniqueConstraint(
                                fields=("system", "name", "version"), name="dataset_identity"
                            )
                        ],
                    },
                ),
                migrations.CreateModel(
                    name="Task",
                    fields=[
                        (
                            "id",
                            models.BigAutoField(
                                auto_created=True,
                                primary_key=True,
                                serialize=False,
                                verbose_name="ID",
                            ),
                        ),
                        ("external_id", models.CharField(max_length=120)),
                        ("prompt", models.TextField()),
                        ("category", models.CharField(blank=True, max_length=80)),
                        ("payload", models.JSONField(default=dict)),
                        (
                            "dataset",
                            models.ForeignKey(
                                on_delete=django.db.models.deletion.CASCADE,
                                related_name="tasks",
                                to="benchmarks.dataset",
                            ),
                        ),
                    ],
                    options={
                        "ordering": ["id"],
                        "constraints": [
                            models.UniqueConstraint(
                                fields=("dataset", "external_id"), name="task_identity"
                            )
                        ],
                    },
                ),
                migrations.CreateModel(
                    name="Profile",
                    fields=[
                        (
                            "id",
                            models.BigAutoField(
                                auto_created=True,
                                primary_key=True,
                                serialize=False,
                                verbose_name="ID",
                            ),
                        ),
                        ("level", models.CharField(max_length=20)),
                        ("rank", models.PositiveSmallIntegerField()),
                        (
                            "task",
                            models.ForeignKey(
                                on_delete=django.db.models.deletion.CASCADE,
                                related_name="profiles",
                                to="benchmarks.task",
                            ),
                        ),
                    ],
                    options={
                        "ordering": ["task", "rank"],
                        "constraints": [
                            models.UniqueConstraint(
                                fields=("task", "level"), name="profile_identity"
                            )
                        ],
                    },
                ),
                migrations.CreateModel(
                    name="Constraint",
                    fields=[
                        (
                            "id",
                            models.BigAutoField(
                                auto_created=True,
                                primary_key=True,
                                serialize=False,
                                verbose_name="ID",
                            ),
                        ),
                        ("kind", models.CharField(max_length=10)),
                        ("key", models.CharField(max_length=60)),
                        ("text", models.TextField()),
                        ("about", models.CharField(blank=True, max_length=200)),
                        (
                            "profile",
                            models.ForeignKey(
                                on_delete=django.db.models.deletion.CASCADE,
                                related_name="constraints",
                                to="benchmarks.profile",
                            ),
                        ),
                    ],
                    options={
                        "ordering": ["id"],
                        "constraints": [
                            models.UniqueConstraint(
                                fields=("profile", "key"), name="constraint_identity"
                            )
                        ],
                    },
                ),
                migrations.CreateModel(
                    name="Candidate",
                    fields=[
                        (
                            "id",
                            models.BigAutoField(
                                auto_created=True,
                                primary_key=True,
                                serialize=False,
                                verbose_name="ID",
                            ),
                        ),
                        ("key", models.CharField(max_length=60)),
                        (
                            "kind",
                            models.CharField(
                                choices=[("world", "World"), ("user", "User")], max_length=10
                            ),
                        ),
                        ("text", models.TextField()),
                        ("round", models.PositiveSmallIntegerField(blank=True, null=True)),
                        (
                            "decision",
                            models.CharField(
                                blank=True,
                                choices=[("kept", "Kept"), ("removed", "Removed")],
                                max_length=10,
                                null=True,
                            ),
                        ),
                        ("reason", models.TextField(blank=True)),
                        ("decided_by", models.CharField(blank=True, max_length=120)),
                        ("payload", models.JSONField(blank=True, default=dict)),
                        ("created_at", models.DateTimeField(auto_now_add=True)),
                        (
                            "task",
                            models.ForeignKey(
                                db_index=False,
                                on_delete=django.db.models.deletion.CASCADE,
                                related_name="candidates",
                                to="benchmarks.task",
                            ),
                        ),
                    ],
                    options={
                        "ordering": ["task", "key"],
                        "indexes": [
                            models.Index(fields=["task", "decision"], name="candidate_decisions")
                        ],
                        "constraints": [
                            models.UniqueConstraint(
                                fields=("task", "key"), name="candidate_identity"
                            )
                        ],
                    },
                ),
                migrations.CreateModel(
                    name="Run",
                    fields=[
                        (
                            "id",
                            models.BigAutoField(
                                auto_created=True,
                                primary_key=True,
                                serialize=False,
                                verbose_name="ID",
                            ),
                        ),
                        (
                            "kind",
                            models.CharField(
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
                        ("level", models.CharField(blank=True, max_length=20)),
                        ("condition", models.CharField(default="standard", max_length=200)),
                        ("settings", models.JSONField(default=dict)),
                        ("roles", models.JSONField(default=dict)),
                        ("pins", models.JSONField(default=dict)),
                        ("seed", models.BigIntegerField(default=0)),
                        (
                            "status",
                            models.CharField(
                                choices=[
                                    ("queued", "Queued"),
                                    ("running", "Running"),
                                    ("paused", "Paused"),
                                    ("waiting", "Waiting for people"),
                                    ("attention", "Needs attention"),
                                    ("done", "Done"),
                                    ("cancelled", "Cancelled"),
                                ],
                                default="queued",
                                max_length=10,
                            ),
                        ),
                        ("problem", models.TextField(blank=True)),
                        ("cost_cap", models.FloatField(blank=True, null=True)),
                        ("committed", models.FloatField(default=0)),
                        ("currency", models.CharField(blank=True, max_length=8)),
                        ("is_demo", models.BooleanField(default=False)),
                        ("source", models.CharField(blank=True, max_length=400)),
                        ("checksum", models.CharField(blank=True, max_length=64)),
                        ("data_version", models.PositiveIntegerField(default=0)),
                        ("created_at", models.DateTimeField(auto_now_add=True)),
                        ("started_at", models.DateTimeField(blank=True, null=True)),
                        ("finished_at", models.DateTimeField(blank=True, null=True)),
                        (
                            "agent",
                            models.ForeignKey(
                                on_delete=django.db.models.deletion.PROTECT,
                                related_name="runs",
                                to="benchmarks.agent",
                            ),
                        ),
                        (
                            "created_by",
                            models.ForeignKey(
                                blank=True,
                                null=True,
                                on_delete=django.db.models.deletion.SET_NULL,
                                to=settings.AUTH_USER_MODEL,
                            ),
                        ),
                        (
                            "dataset",
                            models.ForeignKey(
                                on_delete=django.db.models.deletion.PROTECT,
                                related_name="runs",
                                to="benchmarks.dataset",
                            ),
                        ),
                        (
                            "experiment",
                            models.ForeignKey(
                                blank=True,
                                null=True,
                                on_delete=django.db.models.deletion.SET_NULL,
                                related_name="runs",
                                to="benchmarks.experiment",
                            ),
                        ),
                        (
                            "primary_judging",
                            models.ForeignKey(
                                blank=True,
                                null=True,
                                on_delete=django.db.models.deletion.SET_NULL,
                                related_name="+",
                                to="benchmarks.judging",
                            ),
                        ),
                    ],
                    options={
                        "ordering": ["-id"],
                        "permissions": [
                            (
                                "view_results",
                                "Can browse datasets, runs, trajectories and analyses",
                            ),
                            ("start_runs", "Can import data and start, pause and cancel runs"),
                            ("answer_asks", "Can answer for roles that people fill in runs"),
                        ],
                        "constraints": [
                            models.UniqueConstraint(
                                condition=models.Q(("kind", "imported")),
                                fields=("checksum", "agent"),
                                name="imported_run_identity",
                            )
                        ],
                    },
                ),
                migrations.CreateModel(
                    name="Trajectory",
                    fields=[
                        (
                            "id",
                            models.BigAutoField(
                                auto_created=True,
                                primary_key=True,
                                serialize=False,
                                verbose_name="ID",
                            ),
                        ),
                        ("attempt", models.PositiveSmallIntegerField(default=1)),
                        ("seed", models.BigIntegerField(default=0)),
                        (
                            "status",
                            models.CharField(
                                choices=[
                                    ("pending", "Pending"),
                                    ("running", "Running"),
                                    ("waiting", "Waiting for a person"),
                                    ("done", "Done"),
                                    ("failed", "Failed"),
                                    ("decision", "Needs decision"),
                                    ("cancelled", "Cancelled"),
                                ],
                                default="pending",
                                max_length=10,
                            ),
                        ),
                        ("termination", models.CharField(blank=True, max_length=40)),
                        ("turn_count", models.PositiveSmallIntegerField(default=0)),
                        ("metrics", models.JSONField(default=dict)),
                        ("undefined", models.JSONField(default=dict)),
                        ("payload", models.JSONField(default=dict)),
                        ("problem", models.TextField(blank=True)),
                        ("schema_version", models.PositiveSmallIntegerField(default=1)),
                        ("scorer_version", models.CharField(blank=True, max_length=20)),
                        ("lease_owner", models.CharField(blank=True, max_length=80)),
                        ("lease_until", models.DateTimeField(blank=True, null=True)),
                        ("reserved", models.BooleanField(default=False)),
                        ("recast", models.JSONField(blank=True, default=dict)),
                        ("started_at", models.DateTimeField(blank=True, null=True)),
                        ("finished_at", models.DateTimeField(blank=True, null=True)),
                        (
                            "judged",
                            models.ForeignKey(
                                blank=True,
                                db_index=False,
                                null=True,
                                on_delete=django.db.models.deletion.CASCADE,
                                related_name="judged_anew",
                                to="benchmarks.trajectory",
                            ),
                        ),
                        (
                            "profile",
                            models.ForeignKey(
                                null=True,
                                on_delete=django.db.models.deletion.PROTECT,
                                to="benchmarks.profile",
                            ),
                        ),
                        (
                            "run",
                            models.ForeignKey(
                                on_delete=django.db.models.deletion.CASCADE,
                                related_name="trajectories",
                                to="benchmarks.run",
                            ),
                        ),
                        (
                            "task",
                            models.ForeignKey(
                                on_delete=django.db.models.deletion.PROTECT,
                                related_name="trajectories",
                                to="benchmarks.task",
                            ),
                        ),
                    ],
                    options={
                        "ordering": ["id"],
                        "indexes": [
                            models.Index(fields=["run", "status", "id"], name="trajectory_pending"),
                            models.Index(
                                fields=["status", "termination", "id"], name="trajectory_filter"
                            ),
                            models.Index(
                                condition=models.Q(("reserved", True)),
                                fields=["status"],
                                name="trajectory_reserved",
                            ),
                            models.Index(
                                condition=models.Q(("judged__isnull", False)),
                                fields=["judged"],
                                name="trajectory_judged",
                            ),
                        ],
                        "constraints": [
                            models.UniqueConstraint(
                                fields=("run", "task", "profile", "attempt"),
                                name="trajectory_identity",
                            ),
                            models.UniqueConstraint(
                                condition=models.Q(("profile__isnull", True)),
                                fields=("run", "task", "attempt"),
                                name="trajectory_identity_without_profile",
                            ),
                        ],
                    },
                ),
                migrations.CreateModel(
                    name="Turn",
                    fields=[
                        (
                            "id",
                            models.BigAutoField(
                                auto_created=True,
                                primary_key=True,
                                serialize=False,
                                verbose_name="ID",
                            ),
                        ),
                        ("index", models.PositiveSmallIntegerField()),
                        ("text", models.TextField()),
                        ("feedback", models.TextField(blank=True)),
                        ("payload", models.JSONField(default=dict)),
                        ("is_final", models.BooleanField(default=False)),
                        (
                            "trajectory",
                            models.ForeignKey(
                                db_index=False,
                                on_delete=django.db.models.deletion.CASCADE,
                                related_name="turns",
                                to="benchmarks.trajectory",
                            ),
                        ),
                    ],
                    options={
                        "ordering": ["trajectory", "index"],
                        "constraints": [
                            models.UniqueConstraint(
                                fields=("trajectory", "index"), name="turn_identity"
                            )
                        ],
                    },
                ),
                migrations.CreateModel(
                    name="Violation",
                    fields=[
                        (
                            "id",
                            models.BigAutoField(
                                auto_created=True,
                                primary_key=True,
                                serialize=False,
                                verbose_name="ID",
                            ),
                        ),
                        ("key", models.CharField(max_length=60)),
                        ("kind", models.CharField(max_length=10)),
                        ("text", models.TextField()),
                        ("revealed", models.BooleanField()),
                        ("new", models.BooleanField()),
                        ("repeated", models.BooleanField()),
                        (
                            "constraint",
                            models.ForeignKey(
                                db_index=False,
                                null=True,
                                on_delete=django.db.models.deletion.SET_NULL,
                                to="benchmarks.constraint",
                            ),
                        ),
                        (
                            "turn",
                            models.ForeignKey(
                                db_index=False,
                                on_delete=django.db.models.deletion.CASCADE,
                                related_name="violations",
                                to="benchmarks.turn",
                            ),
                        ),
                    ],
                    options={
                        "ordering": ["id"],
                        "constraints": [
                            models.UniqueConstraint(
                                fields=("turn", "key"), name="violation_identity"
                            )
                        ],
                    },
                ),
                migrations.CreateModel(
                    name="Exchange",
                    fields=[
                        (
                            "id",
                            models.BigAutoField(
                                auto_created=True,
                                primary_key=True,
                                serialize=False,
                                verbose_name="ID",
                            ),
                        ),
                        ("step", models.PositiveSmallIntegerField()),
                        ("slot", models.PositiveSmallIntegerField()),
                        ("attempt", models.PositiveSmallIntegerField()),
                        ("role", models.CharField(max_length=40)),
                        ("seat", models.CharField(blank=True, max_length=40)),
                        ("ask_digest", models.CharField(max_length=32)),
                        ("messages", models.JSONField(default=list)),
                        ("expect", models.JSONField(default=dict)),
                        ("tools", models.JSONField(default=list)),
                        ("seed", models.BigIntegerField()),
                        ("repeats", models.PositiveSmallIntegerField(default=0)),
                        (
                            "state",
                            models.CharField(
                                choices=[
                                    ("sent", "Sent"),
                                    ("answered", "Answered"),
                                    ("unreadable", "Unreadable"),
                                    ("declined", "Declined"),
                                    ("failed", "Failed"),
                                    ("lost", "Lost in flight"),
                                ],
                                max_length=10,
                            ),
                        ),
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
                        (
                            "answerer",
                            models.ForeignKey(
                                on_delete=django.db.models.deletion.PROTECT,
                                to="benchmarks.answererversion",
                            ),
                        ),
                        (
                            "trajectory",
                            models.ForeignKey(
                                db_index=False,
                                on_delete=django.db.models.deletion.CASCADE,
                                related_name="exchanges",
                                to="benchmarks.trajectory",
                            ),
                        ),
                    ],
                    options={
                        "ordering": ["trajectory", "step", "slot", "attempt"],
                        "indexes": [
                            models.Index(
                                fields=[
                                    "answerer",
                                    "latency",
                                    "state",
                                    "tries",
                                    "tokens_in",
                                    "tokens_out",
                                    "cost",
                                    "most",
                                    "sent_at",
                                    "trajectory",
                                ],
                                name="exchange_use",
                            )
                        ],
                        "constraints": [
                            models.UniqueConstraint(
                                fields=("trajectory", "step", "slot", "attempt"),
                                name="exchange_identity",
                            )
                        ],
                    },
                ),
                migrations.CreateModel(
                    name="OpenAsk",
                    fields=[
                        (
                            "id",
                            models.BigAutoField(
                                auto_created=True,
                                primary_key=True,
                                serialize=False,
                                verbose_name="ID",
                            ),
                        ),
                        ("step", models.PositiveSmallIntegerField()),
                        ("slot", models.PositiveSmallIntegerField()),
                        ("role", models.CharField(max_length=40)),
                        ("seat", models.CharField(blank=True, max_length=40)),
                        ("ask_digest", models.CharField(max_length=32)),
                        ("messages", models.JSONField(default=list)),
                        ("expect", models.JSONField(default=dict)),
                        ("tools", models.JSONField(default=list)),
                        ("context", models.JSONField(default=dict)),
                        ("seed", models.BigIntegerField()),
                        ("opened_at", models.DateTimeField()),
                        ("answered_at", models.DateTimeField(null=True)),
                        (
                            "trajectory",
                            models.ForeignKey(
                                db_index=False,
                                on_delete=django.db.models.deletion.CASCADE,
                                related_name="open_asks",
                                to="benchmarks.trajectory",
                            ),
                        ),
                    ],
                    options={
                        "ordering": ["opened_at"],
                        "constraints": [
                            models.UniqueConstraint(
                                fields=("trajectory", "step", "slot"), name="open_ask_identity"
                            )
                        ],
                    },
                ),
                migrations.CreateModel(
                    name="Suggestion",
                    fields=[
                        (
                            "id",
                            models.BigAutoField(
                                auto_created=True,
                                primary_key=True,
                                serialize=False,
                                verbose_name="ID",
                            ),
                        ),
                        ("step", models.PositiveSmallIntegerField()),
                        ("slot", models.PositiveSmallIntegerField()),
                        ("role", models.CharField(max_length=40)),
                        ("seat", models.CharField(blank=True, max_length=40)),
                        ("ask_digest", models.CharField(max_length=32)),
                        ("seed", models.BigIntegerField()),
                        (
                            "state",
                            models.CharField(
                                choices=[
                                    ("sent", "Sent"),
                                    ("answered", "Answered"),
                                    ("unreadable", "Unreadable"),
                                    ("declined", "Declined"),
                                    ("failed", "Failed"),
                                    ("lost", "Lost in flight"),
                                ],
                                max_length=10,
                            ),
                        ),
                        ("text", models.TextField(blank=True)),
                        ("value", models.JSONField(null=True)),
                        ("reason", models.TextField(blank=True)),
                        ("tokens_in", models.PositiveIntegerField(null=True)),
                        ("tokens_out", models.PositiveIntegerField(null=True)),
                        ("cost", models.FloatField(null=True)),
                        ("latency", models.FloatField(null=True)),
                        ("at", models.DateTimeField(auto_now_add=True)),
                        (
                            "answerer",
                            models.ForeignKey(
                                on_delete=django.db.models.deletion.PROTECT,
                                to="benchmarks.answererversion",
                            ),
                        ),
                        (
                            "trajectory",
                            models.ForeignKey(
                                db_index=False,
                                on_delete=django.db.models.deletion.CASCADE,
                                related_name="suggestions",
                                to="benchmarks.trajectory",
                            ),
                        ),
                    ],
                    options={
                        "ordering": ["trajectory", "step", "slot"],
                        "constraints": [
                            models.UniqueConstraint(
                                fields=("trajectory", "step", "slot"), name="suggestion_identity"
                            )
                        ],
                    },
                ),
                migrations.CreateModel(
                    name="Judging",
                    fields=[
                        (
                            "id",
                            models.BigAutoField(
                                auto_created=True,
                                primary_key=True,
                                serialize=False,
                                verbose_name="ID",
                            ),
                        ),
                        ("name", models.CharField(default="live", max_length=120)),
                        ("created_at", models.DateTimeField(auto_now_add=True)),
                        (
                            "made_by",
                            models.OneToOneField(
                                blank=True,
                                null=True,
                                on_delete=django.db.models.deletion.PROTECT,
                                related_name="makes_judging",
                                to="benchmarks.run",
                            ),
                        ),
                        (
                            "run",
                            models.ForeignKey(
                                on_delete=django.db.models.deletion.CASCADE,
                                related_name="judgings",
                                to="benchmarks.run",
                            ),
                        ),
                    ],
                    options={
                        "ordering": ["id"],
                    },
                ),
                migrations.CreateModel(
                    name="JudgeScore",
                    fields=[
                        (
                            "id",
                            models.BigAutoField(
                                auto_created=True,
                                primary_key=True,
                                serialize=False,
                                verbose_name="ID",
                            ),
                        ),
                        ("seat", models.CharField(max_length=40)),
                        ("dimension", models.CharField(max_length=40)),
                        ("replicate", models.PositiveSmallIntegerField(default=1)),
                        ("value", models.FloatField(null=True)),
                        ("reason", models.TextField(blank=True)),
                        ("level", models.CharField(blank=True, max_length=20)),
                        ("condition", models.CharField(blank=True, max_length=200)),
                        ("turn_index", models.PositiveSmallIntegerField()),
                        ("is_final", models.BooleanField(default=False)),
                        (
                            "agent",
                            models.ForeignKey(
                                db_index=False,
                                on_delete=django.db.models.deletion.PROTECT,
                                to="benchmarks.agent",
                            ),
                        ),
                        (
                            "exchange",
                            models.ForeignKey(
                                db_index=False,
                                null=True,
                                on_delete=django.db.models.deletion.PROTECT,
                                to="benchmarks.exchange",
                            ),
                        ),
                        (
                            "judge",
                            models.ForeignKey(
                                db_index=False,
                                on_delete=django.db.models.deletion.PROTECT,
                                to="benchmarks.answererversion",
                            ),
                        ),
                        (
                            "judging",
                            models.ForeignKey(
                                db_index=False,
                                on_delete=django.db.models.deletion.CASCADE,
                                related_name="scores",
                                to="benchmarks.judging",
                            ),
                        ),
                        (
                            "run",
                            models.ForeignKey(
                                db_index=False,
                                on_delete=django.db.models.deletion.CASCADE,
                                related_name="scores",
                                to="benchmarks.run",
                            ),
                        ),
                        (
                            "trajectory",
                            models.ForeignKey(
                                on_delete=django.db.models.deletion.CASCADE,
                                related_name="scores",
                                to="benchmarks.trajectory",
                            ),
                        ),
                        (
                            "turn",
                            models.ForeignKey(
                                db_index=False,
                                on_delete=django.db.models.deletion.CASCADE,
                                related_name="scores",
                                to="benchmarks.turn",
                            ),
                        ),
                    ],
                    options={
                        "ordering": ["id"],
                        "indexes": [
                            models.Index(
                                fields=[
                                    "judging",
                                    "is_final",
                                    "dimension",
                                    "turn",
                                    "judge",
                                    "seat",
                                    "value",
                                ],
                                name="judge_score_turns",
                            )
                        ],
                        "constraints": [
                            models.UniqueConstraint(
                                fields=(
                                    "turn",
                                    "judging",
                                    "judge",
                                    "seat",
                                    "dimension",
                                    "replicate",
                                ),
                                name="judge_score_identity",
                            )
                        ],
                    },
                ),
            ]
        ),
    ]

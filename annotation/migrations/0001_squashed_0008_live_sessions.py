"""Every table of this app, and the failure labels that ship, for new databases.

The migrations that it replaces are gone: every release, 0.1.0 on, has applied all of them.
"""

from pathlib import Path

import yaml
import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models

from benchmarks.migrations._operations import CreateModels

LABELS = Path(__file__).parent.parent / "failures" / "labels.v1.yaml"


def fill_labels(apps, schema_editor):
    """One label and its first wording per entry, in the order of the file."""
    Label = apps.get_model("annotation", "FailureLabel")
    Wording = apps.get_model("annotation", "FailureWording")
    for rank, entry in enumerate(yaml.safe_load(LABELS.read_text(encoding="utf-8")), 1):
        label = Label.objects.create(**entry, rank=rank * 10)
        words = {name: entry[name] for name in ("title", "definition", "source")}
        Wording.objects.create(label=label, version=1, **words)


class Migration(migrations.Migration):
    initial = True

    replaces = [
        ("annotation", "0001_initial"),
        ("annotation", "0002_dialogue_studies"),
        ("annotation", "0003_items_people_events"),
        ("annotation", "0004_fill_items"),
        ("annotation", "0005_items_required"),
        ("annotation", "0006_remarks"),
        ("annotation", "0007_failure_labels"),
        ("annotation", "0008_live_sessions"),
    ]

    dependencies = [
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
        ("benchmarks", "0001_squashed_0014_construction_judging_experiments"),
    ]

    operations = [
        CreateModels(
            [
                migrations.CreateModel(
                    name="Annotator",
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
                        ("is_simulated", models.BooleanField(default=False)),
                        (
                            "user",
                            models.OneToOneField(
                                on_delete=django.db.models.deletion.CASCADE,
                                related_name="annotator",
                                to=settings.AUTH_USER_MODEL,
                            ),
                        ),
                    ],
                ),
                migrations.CreateModel(
                    name="Study",
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
                        ("kind", models.CharField(max_length=40)),
                        ("questionnaire", models.CharField(max_length=80)),
                        ("background", models.CharField(blank=True, max_length=80)),
                        (
                            "dealing",
                            models.CharField(
                                choices=[
                                    ("named", "Dealt to named annotators"),
                                    ("pool", "Taken from a pool"),
                                ],
                                default="named",
                                max_length=10,
                            ),
                        ),
                        ("lease_minutes", models.PositiveIntegerField(default=120)),
                        ("idle_seconds", models.PositiveIntegerField(default=60)),
                        ("break_minutes", models.PositiveIntegerField(default=45)),
                        ("trains", models.BooleanField(default=False)),
                        ("pass_mark", models.FloatField(default=0.75)),
                        ("consent_version", models.PositiveSmallIntegerField(default=0)),
                        ("blinded", models.BooleanField(default=True)),
                        ("shows_hidden", models.BooleanField(default=True)),
                        ("seed", models.BigIntegerField(default=0)),
                        (
                            "status",
                            models.CharField(
                                choices=[
                                    ("draft", "Draft"),
                                    ("open", "Open"),
                                    ("paused", "Paused"),
                                    ("closed", "Closed"),
                                    ("archived", "Archived"),
                                ],
                                default="draft",
                                max_length=10,
                            ),
                        ),
                        ("closes_at", models.DateTimeField(blank=True, null=True)),
                        ("is_demo", models.BooleanField(default=False)),
                        ("settings", models.JSONField(blank=True, default=dict)),
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
                        "verbose_name_plural": "studies",
                        "ordering": ["-id"],
                    },
                ),
                migrations.CreateModel(
                    name="Membership",
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
                            "role",
                            models.CharField(
                                choices=[
                                    ("annotator", "Annotator"),
                                    ("researcher", "Researcher"),
                                    ("manager", "Manager"),
                                    ("observer", "Observer"),
                                ],
                                max_length=12,
                            ),
                        ),
                        (
                            "user",
                            models.ForeignKey(
                                on_delete=django.db.models.deletion.CASCADE,
                                related_name="memberships",
                                to=settings.AUTH_USER_MODEL,
                            ),
                        ),
                        (
                            "study",
                            models.ForeignKey(
                                on_delete=django.db.models.deletion.CASCADE,
                                related_name="memberships",
                                to="annotation.study",
                            ),
                        ),
                    ],
                    options={
                        "ordering": ["study", "role", "id"],
                        "constraints": [
                            models.UniqueConstraint(
                                fields=("study", "user", "role"), name="membership_identity"
                            )
                        ],
                    },
                ),
                migrations.CreateModel(
                    name="StudyText",
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
                                choices=[("information", "Information"), ("consent", "Consent")],
                                max_length=12,
                            ),
                        ),
                        ("version", models.PositiveSmallIntegerField()),
                        ("text", models.TextField()),
                        ("at", models.DateTimeField(auto_now_add=True)),
                        (
                            "by",
                            models.ForeignKey(
                                null=True,
                                on_delete=django.db.models.deletion.PROTECT,
                                related_name="+",
                                to=settings.AUTH_USER_MODEL,
                            ),
                        ),
                        (
                            "study",
                            models.ForeignKey(
                                on_delete=django.db.models.deletion.CASCADE,
                                related_name="texts",
                                to="annotation.study",
                            ),
                        ),
                    ],
                    options={
                        "ordering": ["study", "kind", "version"],
                        "constraints": [
                            models.UniqueConstraint(
                                fields=("study", "kind", "version"), name="text_identity"
                            )
                        ],
                    },
                ),
                migrations.CreateModel(
                    name="StoredQuestionnaire",
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
                        ("name", models.CharField(max_length=60)),
                        ("version", models.PositiveIntegerField()),
                        ("text", models.TextField()),
                        ("at", models.DateTimeField(auto_now_add=True)),
                        (
                            "by",
                            models.ForeignKey(
                                null=True,
                                on_delete=django.db.models.deletion.PROTECT,
                                related_name="+",
                                to=settings.AUTH_USER_MODEL,
                            ),
                        ),
                    ],
                    options={
                        "ordering": ["name", "version"],
                        "constraints": [
                            models.UniqueConstraint(
                                fields=("name", "version"), name="questionnaire_identity"
                            )
                        ],
                    },
                ),
                migrations.CreateModel(
                    name="Item",
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
                            "use",
                            models.CharField(
                                choices=[
                                    ("main", "Main"),
                                    ("gold", "Gold"),
                                    ("training", "Training"),
                                    ("background", "Background questions"),
                                    ("played", "A session, asked of who played in it"),
                                ],
                                default="main",
                                max_length=10,
                            ),
                        ),
                        ("asked", models.JSONField(default=list)),
                        ("subjects", models.JSONField(blank=True, default=dict)),
                        ("expected", models.JSONField(blank=True, default=dict)),
                        ("rank", models.PositiveIntegerField()),
                        ("wanted", models.PositiveIntegerField(default=1)),
                        ("given", models.PositiveIntegerField(default=0)),
                        ("done", models.PositiveIntegerField(default=0)),
                        (
                            "task",
                            models.ForeignKey(
                                blank=True,
                                null=True,
                                on_delete=django.db.models.deletion.PROTECT,
                                related_name="items",
                                to="benchmarks.task",
                            ),
                        ),
                        (
                            "trajectory",
                            models.ForeignKey(
                                blank=True,
                                null=True,
                                on_delete=django.db.models.deletion.PROTECT,
                                related_name="items",
                                to="benchmarks.trajectory",
                            ),
                        ),
                        (
                            "study",
                            models.ForeignKey(
                                db_index=False,
                                on_delete=django.db.models.deletion.CASCADE,
                                related_name="items",
                                to="annotation.study",
                            ),
                        ),
                    ],
                    options={
                        "ordering": ["study", "rank"],
                        "indexes": [
                            models.Index(
                                condition=models.Q(("given__lt", models.F("wanted"))),
                                fields=["study", "rank"],
                                name="item_free",
                            )
                        ],
                        "constraints": [
                            models.UniqueConstraint(
                                condition=models.Q(("trajectory__isnull", False)),
                                fields=("study", "trajectory"),
                                name="item_of_trajectory",
                            ),
                            models.UniqueConstraint(
                                condition=models.Q(
                                    ("task__isnull", False), ("trajectory__isnull", True)
                                ),
                                fields=("study", "task"),
                                name="item_of_task",
                            ),
                            models.UniqueConstraint(fields=("study", "rank"), name="item_rank"),
                            models.CheckConstraint(
                                condition=models.Q(("given__lte", models.F("wanted"))),
                                name="item_seats",
                            ),
                            models.CheckConstraint(
                                condition=models.Q(("done__lte", models.F("given"))),
                                name="item_done",
                            ),
                        ],
                    },
                ),
                migrations.CreateModel(
                    name="Participant",
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
                        ("number", models.PositiveIntegerField()),
                        (
                            "state",
                            models.CharField(
                                choices=[
                                    ("active", "Active"),
                                    ("paused", "Paused"),
                                    ("withdrawn", "Withdrawn"),
                                    ("erased", "Erased"),
                                ],
                                default="active",
                                max_length=10,
                            ),
                        ),
                        (
                            "training",
                            models.CharField(
                                choices=[
                                    ("none", "None"),
                                    ("passed", "Passed"),
                                    ("failed", "Failed"),
                                ],
                                default="none",
                                max_length=8,
                            ),
                        ),
                        ("consent_version", models.PositiveSmallIntegerField(default=0)),
                        ("told_background", models.BooleanField(default=False)),
                        ("assigned", models.PositiveIntegerField(default=0)),
                        ("submitted", models.PositiveIntegerField(default=0)),
                        ("skipped", models.PositiveIntegerField(default=0)),
                        ("returned", models.PositiveIntegerField(default=0)),
                        ("active_ms", models.PositiveBigIntegerField(default=0)),
                        ("cursor", models.PositiveIntegerField(default=0)),
                        ("break_since", models.DateTimeField(blank=True, null=True)),
                        ("unblinded_at", models.DateTimeField(blank=True, null=True)),
                        ("last_seen_at", models.DateTimeField(blank=True, null=True)),
                        ("joined_at", models.DateTimeField(auto_now_add=True)),
                        (
                            "user",
                            models.ForeignKey(
                                on_delete=django.db.models.deletion.PROTECT,
                                related_name="participations",
                                to=settings.AUTH_USER_MODEL,
                            ),
                        ),
                        (
                            "study",
                            models.ForeignKey(
                                db_index=False,
                                on_delete=django.db.models.deletion.CASCADE,
                                related_name="participants",
                                to="annotation.study",
                            ),
                        ),
                    ],
                    options={
                        "ordering": ["study", "number"],
                        "constraints": [
                            models.UniqueConstraint(
                                fields=("study", "user"), name="participant_identity"
                            ),
                            models.UniqueConstraint(
                                fields=("study", "number"), name="participant_number"
                            ),
                        ],
                    },
                ),
                migrations.CreateModel(
                    name="Assignment",
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
                            "part",
                            models.CharField(
                                choices=[
                                    ("main", "Main"),
                                    ("training", "Training"),
                                    ("background", "Background questions"),
                                ],
                                default="main",
                                max_length=10,
                            ),
                        ),
                        ("position", models.PositiveIntegerField()),
                        (
                            "state",
                            models.CharField(
                                choices=[
                                    ("open", "Open"),
                                    ("submitted", "Submitted"),
                                    ("skipped", "Skipped"),
                                    ("returned", "Returned"),
                                ],
                                default="open",
                                max_length=10,
                            ),
                        ),
                        ("leased_until", models.DateTimeField(blank=True, null=True)),
                        ("skip_reason", models.TextField(blank=True)),
                        ("active_ms", models.PositiveBigIntegerField(default=0)),
                        ("opened_at", models.DateTimeField(blank=True, null=True)),
                        ("submitted_at", models.DateTimeField(blank=True, null=True)),
                        (
                            "annotator",
                            models.ForeignKey(
                                on_delete=django.db.models.deletion.PROTECT,
                                related_name="assignments",
                                to=settings.AUTH_USER_MODEL,
                            ),
                        ),
                        (
                            "trajectory",
                            models.ForeignKey(
                                blank=True,
                                null=True,
                                on_delete=django.db.models.deletion.PROTECT,
                                related_name="assignments",
                                to="benchmarks.trajectory",
                            ),
                        ),
                        (
                            "item",
                            models.ForeignKey(
                                on_delete=django.db.models.deletion.PROTECT,
                                related_name="assignments",
                                to="annotation.item",
                            ),
                        ),
                        (
                            "study",
                            models.ForeignKey(
                                db_index=False,
                                on_delete=django.db.models.deletion.CASCADE,
                                related_name="assignments",
                                to="annotation.study",
                            ),
                        ),
                    ],
                    options={
                        "ordering": ["study", "annotator", "part", "position"],
                        "indexes": [
                            models.Index(
                                fields=["study", "annotator", "part", "state", "position"],
                                name="assignment_next",
                            ),
                            models.Index(fields=["study", "state"], name="assignment_progress"),
                            models.Index(
                                condition=models.Q(("leased_until__isnull", False)),
                                fields=["study", "leased_until"],
                                name="assignment_leases",
                            ),
                        ],
                        "constraints": [
                            models.UniqueConstraint(
                                fields=("study", "annotator", "part", "position"),
                                name="assignment_position",
                            ),
                            models.UniqueConstraint(
                                condition=models.Q(("part", "training"), _negated=True),
                                fields=("item", "annotator"),
                                name="assignment_identity",
                            ),
                        ],
                    },
                ),
                migrations.CreateModel(
                    name="StudyEvent",
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
                                    ("submitted", "Item submitted"),
                                    ("skipped", "Item skipped"),
                                    ("reopened", "Item reopened"),
                                    ("leased", "Item taken from the pool"),
                                    ("returned", "Item returned to the pool"),
                                    ("reassigned", "Item given to somebody else"),
                                    ("assigned", "Items assigned"),
                                    ("created", "Study made"),
                                    ("changed", "Study changed"),
                                    ("status", "Status changed"),
                                    ("text", "Text changed"),
                                    ("role", "Role given or taken"),
                                    ("invited", "Invite made, used or revoked"),
                                    ("consent", "Consent answered"),
                                    ("training", "Training ended"),
                                    ("paused", "Annotator paused or resumed"),
                                    ("message", "Message sent"),
                                    ("unblinded", "Blinding lifted"),
                                    ("adjudicated", "Adjudicated"),
                                    ("revealed", "Judges shown to an adjudicator"),
                                    ("withdrawn", "Annotator withdrawn"),
                                    ("erased", "Annotator erased"),
                                    ("exported", "Exported"),
                                ],
                                max_length=12,
                            ),
                        ),
                        ("reason", models.TextField(blank=True)),
                        ("detail", models.JSONField(blank=True, default=dict)),
                        ("at", models.DateTimeField(auto_now_add=True)),
                        (
                            "about",
                            models.ForeignKey(
                                blank=True,
                                null=True,
                                on_delete=django.db.models.deletion.PROTECT,
                                related_name="+",
                                to=settings.AUTH_USER_MODEL,
                            ),
                        ),
                        (
                            "assignment",
                            models.ForeignKey(
                                blank=True,
                                null=True,
                                on_delete=django.db.models.deletion.CASCADE,
                                related_name="events",
                                to="annotation.assignment",
                            ),
                        ),
                        (
                            "by",
                            models.ForeignKey(
                                blank=True,
                                null=True,
                                on_delete=django.db.models.deletion.PROTECT,
                                related_name="+",
                                to=settings.AUTH_USER_MODEL,
                            ),
                        ),
                        (
                            "study",
                            models.ForeignKey(
                                db_index=False,
                                on_delete=django.db.models.deletion.CASCADE,
                                related_name="events",
                                to="annotation.study",
                            ),
                        ),
                    ],
                    options={
                        "ordering": ["id"],
                        "indexes": [
                            models.Index(fields=["study", "at"], name="event_time"),
                            models.Index(fields=["study", "kind", "at"], name="event_kind"),
                        ],
                    },
                ),
                migrations.CreateModel(
                    name="LivePlan",
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
                        ("mode", models.CharField(max_length=40)),
                        ("practises", models.BooleanField(default=False)),
                        ("shows_suggestions", models.BooleanField(default=False)),
                        (
                            "leaving",
                            models.CharField(
                                choices=[
                                    ("wait", "Wait until they are back"),
                                    ("hand_over", "Let another person take the place"),
                                    ("stand_in", "Let a script or model go on"),
                                    ("cancel", "End the session"),
                                ],
                                default="wait",
                                max_length=10,
                            ),
                        ),
                        ("away_seconds", models.PositiveIntegerField(default=300)),
                        ("reply_seconds", models.PositiveIntegerField(default=0)),
                        ("session_minutes", models.PositiveIntegerField(default=0)),
                        ("settings", models.JSONField(blank=True, default=dict)),
                        (
                            "experiment",
                            models.ForeignKey(
                                on_delete=django.db.models.deletion.PROTECT,
                                related_name="+",
                                to="benchmarks.experiment",
                            ),
                        ),
                        (
                            "study",
                            models.OneToOneField(
                                on_delete=django.db.models.deletion.CASCADE,
                                related_name="live",
                                to="annotation.study",
                            ),
                        ),
                    ],
                ),
                migrations.CreateModel(
                    name="LiveSession",
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
                        ("number", models.PositiveIntegerField()),
                        ("practice", models.BooleanField(default=False)),
                        (
                            "state",
                            models.CharField(
                                choices=[
                                    ("gathering", "Waiting for its people"),
                                    ("running", "Running"),
                                    ("paused", "Paused"),
                                    ("ended", "Ended"),
                                    ("cancelled", "Cancelled"),
                                ],
                                default="gathering",
                                max_length=10,
                            ),
                        ),
                        ("created_at", models.DateTimeField(auto_now_add=True)),
                        ("started_at", models.DateTimeField(blank=True, null=True)),
                        ("paused_at", models.DateTimeField(blank=True, null=True)),
                        ("ends_by", models.DateTimeField(blank=True, null=True)),
                        ("ended_at", models.DateTimeField(blank=True, null=True)),
                        (
                            "created_by",
                            models.ForeignKey(
                                null=True,
                                on_delete=django.db.models.deletion.PROTECT,
                                related_name="+",
                                to=settings.AUTH_USER_MODEL,
                            ),
                        ),
                        (
                            "trajectory",
                            models.OneToOneField(
                                on_delete=django.db.models.deletion.PROTECT,
                                related_name="live_session",
                                to="benchmarks.trajectory",
                            ),
                        ),
                        (
                            "study",
                            models.ForeignKey(
                                db_index=False,
                                on_delete=django.db.models.deletion.CASCADE,
                                related_name="sessions",
                                to="annotation.study",
                            ),
                        ),
                    ],
                    options={
                        "ordering": ["study", "number"],
                        "indexes": [
                            models.Index(
                                condition=models.Q(
                                    ("state__in", ["gathering", "running", "paused"])
                                ),
                                fields=["state"],
                                name="session_open",
                            )
                        ],
                        "constraints": [
                            models.UniqueConstraint(
                                fields=("study", "number"), name="session_identity"
                            )
                        ],
                    },
                ),
                migrations.CreateModel(
                    name="LivePlace",
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
                        ("number", models.PositiveSmallIntegerField()),
                        ("title", models.CharField(max_length=60)),
                        ("roles", models.JSONField(default=list)),
                        ("order", models.PositiveIntegerField(default=0)),
                        ("stand_in", models.CharField(blank=True, max_length=120)),
                        ("joined_at", models.DateTimeField(blank=True, null=True)),
                        ("ready_at", models.DateTimeField(blank=True, null=True)),
                        ("last_seen_at", models.DateTimeField(blank=True, null=True)),
                        (
                            "player",
                            models.ForeignKey(
                                blank=True,
                                null=True,
                                on_delete=django.db.models.deletion.PROTECT,
                                related_name="live_places",
                                to=settings.AUTH_USER_MODEL,
                            ),
                        ),
                        (
                            "session",
                            models.ForeignKey(
                                on_delete=django.db.models.deletion.CASCADE,
                                related_name="places",
                                to="annotation.livesession",
                            ),
                        ),
                    ],
                    options={
                        "ordering": ["session", "number"],
                        "constraints": [
                            models.UniqueConstraint(
                                fields=("session", "number"), name="place_identity"
                            ),
                            models.UniqueConstraint(
                                condition=models.Q(("player__isnull", False)),
                                fields=("session", "player"),
                                name="place_of_player",
                            ),
                        ],
                    },
                ),
                migrations.CreateModel(
                    name="LiveEvent",
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
                                    ("made", "Made"),
                                    ("joined", "Took a place"),
                                    ("ready", "Is ready"),
                                    ("started", "Began"),
                                    ("paused", "Paused"),
                                    ("resumed", "Resumed"),
                                    ("away", "Has not been seen for too long"),
                                    ("returned", "Is back"),
                                    ("left", "Left the place"),
                                    ("stand_in", "A script or model took the place"),
                                    ("taken_over", "Took the place over"),
                                    ("agent", "Given to another agent"),
                                    ("retried", "Failed call tried again"),
                                    ("overridden", "Sent in spite of a hint"),
                                    ("cancelled", "Cancelled"),
                                    ("ended", "Ended"),
                                ],
                                max_length=12,
                            ),
                        ),
                        ("turn", models.PositiveSmallIntegerField()),
                        ("reason", models.TextField(blank=True)),
                        ("detail", models.JSONField(blank=True, default=dict)),
                        ("at", models.DateTimeField(auto_now_add=True)),
                        (
                            "about",
                            models.ForeignKey(
                                blank=True,
                                null=True,
                                on_delete=django.db.models.deletion.PROTECT,
                                related_name="+",
                                to=settings.AUTH_USER_MODEL,
                            ),
                        ),
                        (
                            "by",
                            models.ForeignKey(
                                blank=True,
                                null=True,
                                on_delete=django.db.models.deletion.PROTECT,
                                related_name="+",
                                to=settings.AUTH_USER_MODEL,
                            ),
                        ),
                        (
                            "place",
                            models.ForeignKey(
                                blank=True,
                                null=True,
                                on_delete=django.db.models.deletion.CASCADE,
                                related_name="events",
                                to="annotation.liveplace",
                            ),
                        ),
                        (
                            "session",
                            models.ForeignKey(
                                on_delete=django.db.models.deletion.CASCADE,
                                related_name="events",
                                to="annotation.livesession",
                            ),
                        ),
                    ],
                    options={
                        "ordering": ["id"],
                    },
                ),
                migrations.CreateModel(
                    name="LiveDraft",
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
                        ("fields", models.JSONField(default=dict)),
                        ("version", models.PositiveIntegerField(default=1)),
                        ("at", models.DateTimeField(auto_now=True)),
                        (
                            "trajectory",
                            models.ForeignKey(
                                db_index=False,
                                on_delete=django.db.models.deletion.CASCADE,
                                related_name="+",
                                to="benchmarks.trajectory",
                            ),
                        ),
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
                        "constraints": [
                            models.UniqueConstraint(
                                fields=("trajectory", "step", "slot", "user"), name="draft_identity"
                            )
                        ],
                    },
                ),
                migrations.CreateModel(
                    name="Consent",
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
                        ("given", models.BooleanField()),
                        ("at", models.DateTimeField(auto_now_add=True)),
                        (
                            "user",
                            models.ForeignKey(
                                on_delete=django.db.models.deletion.PROTECT,
                                related_name="+",
                                to=settings.AUTH_USER_MODEL,
                            ),
                        ),
                        (
                            "study",
                            models.ForeignKey(
                                on_delete=django.db.models.deletion.CASCADE,
                                related_name="consents",
                                to="annotation.study",
                            ),
                        ),
                        (
                            "text",
                            models.ForeignKey(
                                on_delete=django.db.models.deletion.PROTECT,
                                related_name="consents",
                                to="annotation.studytext",
                            ),
                        ),
                    ],
                    options={
                        "ordering": ["id"],
                    },
                ),
                migrations.CreateModel(
                    name="Invite",
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
                        ("digest", models.CharField(max_length=64, unique=True)),
                        (
                            "role",
                            models.CharField(
                                choices=[
                                    ("annotator", "Annotator"),
                                    ("researcher", "Researcher"),
                                    ("manager", "Manager"),
                                    ("observer", "Observer"),
                                ],
                                max_length=12,
                            ),
                        ),
                        ("label", models.CharField(blank=True, max_length=120)),
                        ("at", models.DateTimeField(auto_now_add=True)),
                        ("expires_at", models.DateTimeField()),
                        ("revoked_at", models.DateTimeField(blank=True, null=True)),
                        ("used_at", models.DateTimeField(blank=True, null=True)),
                        (
                            "by",
                            models.ForeignKey(
                                null=True,
                                on_delete=django.db.models.deletion.PROTECT,
                                related_name="+",
                                to=settings.AUTH_USER_MODEL,
                            ),
                        ),
                        (
                            "used_by",
                            models.ForeignKey(
                                blank=True,
                                null=True,
                                on_delete=django.db.models.deletion.PROTECT,
                                related_name="+",
                                to=settings.AUTH_USER_MODEL,
                            ),
                        ),
                        (
                            "place",
                            models.ForeignKey(
                                blank=True,
                                null=True,
                                on_delete=django.db.models.deletion.CASCADE,
                                related_name="invites",
                                to="annotation.liveplace",
                            ),
                        ),
                        (
                            "study",
                            models.ForeignKey(
                                on_delete=django.db.models.deletion.CASCADE,
                                related_name="invites",
                                to="annotation.study",
                            ),
                        ),
                    ],
                    options={
                        "ordering": ["-id"],
                    },
                ),
                migrations.CreateModel(
                    name="Message",
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
                        ("text", models.TextField()),
                        ("at", models.DateTimeField(auto_now_add=True)),
                        (
                            "by",
                            models.ForeignKey(
                                null=True,
                                on_delete=django.db.models.deletion.PROTECT,
                                related_name="+",
                                to=settings.AUTH_USER_MODEL,
                            ),
                        ),
                        (
                            "to",
                            models.ForeignKey(
                                blank=True,
                                null=True,
                                on_delete=django.db.models.deletion.PROTECT,
                                related_name="study_messages",
                                to=settings.AUTH_USER_MODEL,
                            ),
                        ),
                        (
                            "study",
                            models.ForeignKey(
                                on_delete=django.db.models.deletion.CASCADE,
                                related_name="messages",
                                to="annotation.study",
                            ),
                        ),
                    ],
                    options={
                        "ordering": ["-id"],
                    },
                ),
                migrations.CreateModel(
                    name="MessageRead",
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
                        ("at", models.DateTimeField(auto_now_add=True)),
                        (
                            "message",
                            models.ForeignKey(
                                on_delete=django.db.models.deletion.CASCADE,
                                related_name="reads",
                                to="annotation.message",
                            ),
                        ),
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
                        "constraints": [
                            models.UniqueConstraint(
                                fields=("message", "user"), name="message_read_identity"
                            )
                        ],
                    },
                ),
                migrations.CreateModel(
                    name="Adjudication",
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
                        ("question", models.CharField(max_length=60)),
                        ("subject", models.CharField(blank=True, max_length=80)),
                        ("value", models.SmallIntegerField(null=True)),
                        ("chosen", models.JSONField(null=True)),
                        ("reason", models.TextField()),
                        ("revealed", models.BooleanField(default=False)),
                        ("at", models.DateTimeField(auto_now_add=True)),
                        (
                            "by",
                            models.ForeignKey(
                                on_delete=django.db.models.deletion.PROTECT,
                                related_name="+",
                                to=settings.AUTH_USER_MODEL,
                            ),
                        ),
                        (
                            "item",
                            models.ForeignKey(
                                on_delete=django.db.models.deletion.PROTECT,
                                related_name="adjudications",
                                to="annotation.item",
                            ),
                        ),
                    ],
                    options={
                        "ordering": ["id"],
                        "indexes": [
                            models.Index(
                                fields=["item", "question", "subject"], name="adjudication_place"
                            )
                        ],
                        "constraints": [
                            models.CheckConstraint(
                                condition=models.Q(
                                    ("value__isnull", False),
                                    ("chosen__isnull", False),
                                    _connector="OR",
                                ),
                                name="adjudication_says_something",
                            )
                        ],
                    },
                ),
                migrations.CreateModel(
                    name="RatingEdit",
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
                        ("question", models.CharField(blank=True, max_length=60)),
                        ("subject", models.CharField(blank=True, max_length=80)),
                        (
                            "aspect",
                            models.CharField(
                                choices=[
                                    ("answer", "Answer"),
                                    ("comment", "Comment"),
                                    ("flag", "Flag"),
                                    ("evidence", "Evidence"),
                                ],
                                default="answer",
                                max_length=10,
                            ),
                        ),
                        ("value", models.SmallIntegerField(null=True)),
                        ("chosen", models.JSONField(null=True)),
                        ("text", models.TextField(blank=True)),
                        ("client_id", models.UUIDField(unique=True)),
                        ("unblinded", models.BooleanField(default=False)),
                        ("client_time", models.DateTimeField(blank=True, null=True)),
                        ("edited_at", models.DateTimeField(auto_now_add=True)),
                        (
                            "assignment",
                            models.ForeignKey(
                                on_delete=django.db.models.deletion.CASCADE,
                                related_name="edits",
                                to="annotation.assignment",
                            ),
                        ),
                        (
                            "by",
                            models.ForeignKey(
                                on_delete=django.db.models.deletion.PROTECT,
                                related_name="+",
                                to=settings.AUTH_USER_MODEL,
                            ),
                        ),
                        (
                            "undoes",
                            models.OneToOneField(
                                blank=True,
                                null=True,
                                on_delete=django.db.models.deletion.RESTRICT,
                                related_name="undone_by",
                                to="annotation.ratingedit",
                            ),
                        ),
                    ],
                    options={
                        "ordering": ["id"],
                    },
                ),
                migrations.CreateModel(
                    name="Rating",
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
                        ("question", models.CharField(blank=True, max_length=60)),
                        ("subject", models.CharField(blank=True, max_length=80)),
                        (
                            "aspect",
                            models.CharField(
                                choices=[
                                    ("answer", "Answer"),
                                    ("comment", "Comment"),
                                    ("flag", "Flag"),
                                    ("evidence", "Evidence"),
                                ],
                                default="answer",
                                max_length=10,
                            ),
                        ),
                        ("value", models.SmallIntegerField(null=True)),
                        ("chosen", models.JSONField(null=True)),
                        ("text", models.TextField(blank=True)),
                        ("version", models.PositiveIntegerField(default=1)),
                        ("updated_at", models.DateTimeField()),
                        (
                            "assignment",
                            models.ForeignKey(
                                db_index=False,
                                on_delete=django.db.models.deletion.CASCADE,
                                related_name="ratings",
                                to="annotation.assignment",
                            ),
                        ),
                        (
                            "edit",
                            models.ForeignKey(
                                db_index=False,
                                on_delete=django.db.models.deletion.RESTRICT,
                                related_name="+",
                                to="annotation.ratingedit",
                            ),
                        ),
                    ],
                    options={
                        "ordering": ["id"],
                        "constraints": [
                            models.UniqueConstraint(
                                fields=("assignment", "question", "subject", "aspect"),
                                name="rating_identity",
                            )
                        ],
                    },
                ),
                migrations.CreateModel(
                    name="FailureLabel",
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
                        ("key", models.SlugField(max_length=60, unique=True)),
                        ("title", models.CharField(max_length=80)),
                        ("definition", models.TextField()),
                        ("system", models.CharField(blank=True, max_length=40)),
                        ("source", models.CharField(blank=True, max_length=200)),
                        ("rank", models.PositiveSmallIntegerField(default=0)),
                        ("retired", models.BooleanField(default=False)),
                        ("made_at", models.DateTimeField(auto_now_add=True)),
                        (
                            "made_by",
                            models.ForeignKey(
                                blank=True,
                                null=True,
                                on_delete=django.db.models.deletion.PROTECT,
                                related_name="+",
                                to=settings.AUTH_USER_MODEL,
                            ),
                        ),
                    ],
                    options={
                        "ordering": ["rank", "id"],
                    },
                ),
                migrations.CreateModel(
                    name="FailureWording",
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
                        ("version", models.PositiveSmallIntegerField()),
                        ("title", models.CharField(max_length=80)),
                        ("definition", models.TextField()),
                        ("source", models.CharField(blank=True, max_length=200)),
                        ("retired", models.BooleanField(default=False)),
                        ("at", models.DateTimeField(auto_now_add=True)),
                        (
                            "by",
                            models.ForeignKey(
                                blank=True,
                                null=True,
                                on_delete=django.db.models.deletion.PROTECT,
                                related_name="+",
                                to=settings.AUTH_USER_MODEL,
                            ),
                        ),
                        (
                            "label",
                            models.ForeignKey(
                                db_index=False,
                                on_delete=django.db.models.deletion.PROTECT,
                                related_name="wordings",
                                to="annotation.failurelabel",
                            ),
                        ),
                    ],
                    options={
                        "ordering": ["label", "version"],
                        "constraints": [
                            models.UniqueConstraint(
                                fields=("label", "version"), name="failure_wording_identity"
                            )
                        ],
                    },
                ),
                migrations.CreateModel(
                    name="TrajectoryLabel",
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
                        ("turn", models.PositiveSmallIntegerField(blank=True, null=True)),
                        ("at", models.DateTimeField(auto_now_add=True)),
                        (
                            "by",
                            models.ForeignKey(
                                on_delete=django.db.models.deletion.PROTECT,
                                related_name="+",
                                to=settings.AUTH_USER_MODEL,
                            ),
                        ),
                        (
                            "label",
                            models.ForeignKey(
                                on_delete=django.db.models.deletion.PROTECT,
                                related_name="uses",
                                to="annotation.failurelabel",
                            ),
                        ),
                        (
                            "trajectory",
                            models.ForeignKey(
                                db_index=False,
                                on_delete=django.db.models.deletion.CASCADE,
                                related_name="failure_labels",
                                to="benchmarks.trajectory",
                            ),
                        ),
                    ],
                    options={
                        "ordering": ["id"],
                        "indexes": [
                            models.Index(fields=["trajectory", "label"], name="label_of_trajectory")
                        ],
                    },
                ),
                migrations.CreateModel(
                    name="LabelRemoval",
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
                        ("at", models.DateTimeField(auto_now_add=True)),
                        (
                            "by",
                            models.ForeignKey(
                                on_delete=django.db.models.deletion.PROTECT,
                                related_name="+",
                                to=settings.AUTH_USER_MODEL,
                            ),
                        ),
                        (
                            "put",
                            models.OneToOneField(
                                on_delete=django.db.models.deletion.CASCADE,
                                related_name="removal",
                                to="annotation.trajectorylabel",
                            ),
                        ),
                    ],
                    options={
                        "ordering": ["id"],
                    },
                ),
                migrations.CreateModel(
                    name="Remark",
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
                        ("turn", models.PositiveSmallIntegerField(blank=True, null=True)),
                        (
                            "where",
                            models.CharField(
                                blank=True,
                                choices=[("plan", "Plan"), ("feedback", "Feedback")],
                                max_length=10,
                            ),
                        ),
                        ("quote", models.TextField(blank=True)),
                        ("start", models.PositiveIntegerField(blank=True, null=True)),
                        ("end", models.PositiveIntegerField(blank=True, null=True)),
                        ("at", models.DateTimeField(auto_now_add=True)),
                        (
                            "by",
                            models.ForeignKey(
                                on_delete=django.db.models.deletion.PROTECT,
                                related_name="+",
                                to=settings.AUTH_USER_MODEL,
                            ),
                        ),
                        (
                            "trajectory",
                            models.ForeignKey(
                                on_delete=django.db.models.deletion.CASCADE,
                                related_name="remarks",
                                to="benchmarks.trajectory",
                            ),
                        ),
                    ],
                    options={
                        "ordering": ["id"],
                        "constraints": [
                            models.CheckConstraint(
                                condition=models.Q(
                                    models.Q(("end__isnull", True), ("start__isnull", True)),
                                    models.Q(
                                        ("end__isnull", False),
                                        ("start__isnull", False),
                                        ("start__lt", models.F("end")),
                                        ("turn__isnull", False),
                                        ("where__in", ("plan", "feedback")),
                                    ),
                                    _connector="OR",
                                ),
                                name="remark_on_a_passage",
                            )
                        ],
                    },
                ),
                migrations.CreateModel(
                    name="RemarkText",
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
                        ("text", models.TextField(blank=True)),
                        ("deleted", models.BooleanField(default=False)),
                        ("at", models.DateTimeField(auto_now_add=True)),
                        (
                            "by",
                            models.ForeignKey(
                                on_delete=django.db.models.deletion.PROTECT,
                                related_name="+",
                                to=settings.AUTH_USER_MODEL,
                            ),
                        ),
                        (
                            "remark",
                            models.ForeignKey(
                                on_delete=django.db.models.deletion.CASCADE,
                                related_name="texts",
                                to="annotation.remark",
                            ),
                        ),
                    ],
                    options={
                        "ordering": ["id"],
                    },
                ),
            ]
        ),
        migrations.RunPython(fill_labels, migrations.RunPython.noop),
    ]

"""What analysis keeps: uploaded tables, saved views, and what is derived from runs."""

from django.conf import settings as django_settings
from django.db import models

from benchmarks.models import Run


class RunFacts(models.Model):
    """What lists of trajectories filter and sort by, for all trajectories of one run.

    ``version`` is that of everything the facts were read from; ``columns`` is what
    `analysis.trajectory_index` packs. Rows may be deleted at any time: they are read again.
    """

    run = models.OneToOneField(
        Run, on_delete=models.CASCADE, primary_key=True, related_name="facts"
    )
    version = models.CharField(max_length=64)
    trajectories = models.PositiveIntegerField()
    columns = models.BinaryField()
    made_at = models.DateTimeField(auto_now=True)

    class Meta:
        verbose_name_plural = "run facts"

    def __str__(self) -> str:
        return f"facts of run {self.run_id}"


class IndexedRun(models.Model):
    """A run whose turns are in the index of words, all of them or those that came first.

    ``version`` is the run's ``data_version`` when all its turns were in; None while they are being
    taken in. ``last_turn`` is the newest turn of any run that was there then. Rows may be deleted
    at any time: what is in the index already is not taken in again.
    """

    run = models.OneToOneField(
        Run, on_delete=models.CASCADE, primary_key=True, related_name="indexed"
    )
    version = models.PositiveIntegerField(null=True)
    trajectories = models.PositiveIntegerField(default=0)
    last_turn = models.BigIntegerField(default=0)

    def __str__(self) -> str:
        return f"index of run {self.run_id}"


class RatingTable(models.Model):
    """A tidy table as it was sent, and what its report is made with.

    ``content`` is the file itself, packed with gzip; ``settings`` are the values of
    `analysis.tables.agreement.inputs.AgreementSettings`, chosen before the first report is made.
    The owner sees the table; others with the right to see results do once it is ``shared``.
    """

    name = models.CharField(max_length=120)
    file = models.CharField(max_length=120)
    checksum = models.CharField(max_length=64)
    rows = models.PositiveIntegerField()
    settings = models.JSONField(default=dict)
    content = models.BinaryField()
    shared = models.BooleanField(default=False)
    created_by = models.ForeignKey(
        django_settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL, related_name="+"
    )
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["-id"]

    def __str__(self) -> str:
        return self.name


class SavedView(models.Model):
    """A page with its filters under a name: ``page`` names the page, ``query`` is its address.

    Its owner sees it, and others with the right to see results once it is ``shared``.
    """

    owner = models.ForeignKey(
        django_settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="saved_views"
    )
    name = models.CharField(max_length=80)
    page = models.CharField(max_length=60)
    query = models.TextField(blank=True)
    shared = models.BooleanField(default=False)
    created_at = models.DateTimeField(auto_now_add=True)
    updated_at = models.DateTimeField(auto_now=True)

    class Meta:
        ordering = ["name", "id"]
        constraints = [
            models.UniqueConstraint(fields=["owner", "page", "name"], name="saved_view_identity")
        ]

    def __str__(self) -> str:
        return self.name

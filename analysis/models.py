"""Models of the analysis: uploaded tables, saved views, and what is derived from runs."""

from django.conf import settings as django_settings
from django.db import models

from annotation.models import Study
from benchmarks.models import AnswererVersion, CallColumns, Endpoint, Job, Run, Trajectory


class RunFacts(models.Model):
    """The index of one run's trajectories: the columns by which lists filter and sort.

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
    `analysis.agreement.inputs.AgreementSettings`, chosen before the first report is made.
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


class FailureClustering(models.Model):
    """What a model read in trajectories: clusters of failures, or answers to a question.

    ``trajectories`` are the ids in the order in which the model reads them. With a ``question``
    they are in random order, and the first ``part`` of them are asked about. ``result`` is the
    payload of `analysis.browser.clusters.episode` or `analysis.browser.questions.episode`: what
    the model said; people's changes are `ClusterEdit` rows, their own answers `QuestionCheck`.
    ``version`` pins the endpoint's exact configuration, ``episode_version`` the prompts. The caps
    are on money (``currency``) and on tokens; ``committed`` and ``committed_tokens`` are what the
    calls count against them.
    """

    class State(models.TextChoices):
        WORKING = "working", "Under way"
        CAPPED = "capped", "Stopped at its cap"
        FAILED = "failed", "Failed"
        DONE = "done", "Done"

    query = models.TextField(blank=True)
    trajectories = models.JSONField()
    endpoint = models.ForeignKey(Endpoint, on_delete=models.PROTECT, related_name="+")
    version = models.CharField(max_length=32)
    episode_version = models.CharField(max_length=20)
    question = models.TextField(blank=True, default="", db_default="")
    part = models.PositiveIntegerField(null=True)
    most_clusters = models.PositiveSmallIntegerField()
    seed = models.BigIntegerField(default=0)
    cost_cap = models.FloatField(null=True, blank=True)
    committed = models.FloatField(default=0.0, db_default=0.0)
    token_cap = models.PositiveIntegerField(null=True, blank=True)
    committed_tokens = models.PositiveBigIntegerField(default=0, db_default=0)
    currency = models.CharField(max_length=8, blank=True)
    state = models.CharField(max_length=8, choices=State.choices, default=State.WORKING)
    problem = models.TextField(blank=True)
    result = models.JSONField(null=True)
    job = models.ForeignKey(Job, null=True, on_delete=models.SET_NULL, related_name="+")
    created_by = models.ForeignKey(
        django_settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL, related_name="+"
    )
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["-id"]

    def __str__(self) -> str:
        return f"clusters {self.pk}"


class ClusterCall(CallColumns):
    """One call to the model that named clusters; ``most_tokens`` is the most that it could use."""

    clustering = models.ForeignKey(
        FailureClustering, on_delete=models.CASCADE, related_name="calls"
    )
    answerer = models.ForeignKey(AnswererVersion, on_delete=models.PROTECT, related_name="+")
    most_tokens = models.PositiveIntegerField(null=True)

    class Meta:
        ordering = ["clustering", "step", "slot", "attempt"]
        constraints = [
            models.UniqueConstraint(
                fields=["clustering", "step", "slot", "attempt"], name="cluster_call_identity"
            )
        ]

    def __str__(self) -> str:
        return f"call {self.step}.{self.slot}.{self.attempt} of clusters {self.clustering_id}"


class ClusterEdit(models.Model):
    """One change that a person made to clusters; rows are only added (`clusters.edits`)."""

    clustering = models.ForeignKey(
        FailureClustering, on_delete=models.CASCADE, related_name="edits"
    )
    kind = models.CharField(max_length=8)
    detail = models.JSONField(default=dict)
    by = models.ForeignKey(
        django_settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL, related_name="+"
    )
    at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["id"]

    def __str__(self) -> str:
        return f"{self.kind} in clusters {self.clustering_id}"


class QuestionCheck(models.Model):
    """What a person answered to a question that a model was asked; rows are only added.

    The newest row of a person on a trajectory counts. A row without a trajectory says that the
    person looked at the model's answers: what they answer afterwards is not blind.
    """

    question = models.ForeignKey(FailureClustering, on_delete=models.CASCADE, related_name="checks")
    trajectory = models.ForeignKey(
        Trajectory, null=True, on_delete=models.CASCADE, related_name="question_checks"
    )
    by = models.ForeignKey(
        django_settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL, related_name="+"
    )
    answer = models.CharField(max_length=12)
    at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["id"]

    def __str__(self) -> str:
        return f"{self.answer} on trajectory {self.trajectory_id}"


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


class Paper(models.Model):
    """A page on which somebody gathers answers, figures and tables for a paper.

    ``title`` is that of the newest version. Its owner sees it; others with the right to see results
    read it, or edit it too, as ``sharing`` says.
    """

    class Sharing(models.TextChoices):
        PRIVATE = "private", "Only you"
        READ = "read", "Others read it"
        EDIT = "edit", "Others edit it"

    title = models.CharField(max_length=200)
    owner = models.ForeignKey(
        django_settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="papers"
    )
    sharing = models.CharField(max_length=8, choices=Sharing.choices, default=Sharing.PRIVATE)
    created_at = models.DateTimeField(auto_now_add=True)
    updated_at = models.DateTimeField(auto_now=True)

    class Meta:
        ordering = ["-updated_at", "-id"]

    def __str__(self) -> str:
        return self.title


class PaperVersion(models.Model):
    """A paper as it was saved once; rows are only added.

    ``blocks`` are those of `analysis.papers.blocks`, in order; ``words`` says what was changed.
    """

    paper = models.ForeignKey(Paper, on_delete=models.CASCADE, related_name="versions")
    number = models.PositiveIntegerField()
    title = models.CharField(max_length=200)
    blocks = models.JSONField(default=list)
    words = models.CharField(max_length=200)
    by = models.ForeignKey(
        django_settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL, related_name="+"
    )
    at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["paper", "-number"]
        constraints = [
            models.UniqueConstraint(fields=["paper", "number"], name="paper_version_identity")
        ]

    def __str__(self) -> str:
        return f"version {self.number} of {self.title}"


class PaperPart(models.Model):
    """What a pin showed when it was pinned: part of a report as JSON, named by its digest.

    ``runs``, ``studies`` and ``trajectory`` are the ids of what it was made from: whoever may not
    see one of these does not see the part.
    """

    paper = models.ForeignKey(Paper, on_delete=models.CASCADE, related_name="parts")
    digest = models.CharField(max_length=64)
    content = models.TextField()
    runs = models.JSONField(default=list)
    studies = models.JSONField(default=list)
    trajectory = models.BigIntegerField(null=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["paper", "digest"], name="paper_part_identity")
        ]

    def __str__(self) -> str:
        return f"part {self.digest[:8]} of paper {self.paper_id}"


class Registration(models.Model):
    """A plan of an analysis as it was frozen, or its withdrawal; rows are only added.

    ``document`` is that of `analysis.registrations.document`, ``digest`` its SHA-256. ``system``
    and ``dataset``, or ``study_name``, repeat what names the data there: on another installation
    these names alone tell what it is about. ``study`` is the study itself where it was registered,
    as long as it exists. An ``imported`` one was frozen elsewhere, at a time that its file states.
    A row that ``withdraws`` another has its reason as its document.
    """

    document = models.JSONField()
    digest = models.CharField(max_length=64, unique=True)
    title = models.CharField(max_length=160)
    system = models.CharField(max_length=40, blank=True)
    dataset = models.CharField(max_length=120, blank=True)
    study_name = models.CharField(max_length=160, blank=True)
    study = models.ForeignKey(
        Study, null=True, blank=True, on_delete=models.SET_NULL, related_name="registrations"
    )
    withdraws = models.OneToOneField(
        "self", null=True, blank=True, on_delete=models.CASCADE, related_name="withdrawal"
    )
    imported = models.BooleanField(default=False)
    by = models.ForeignKey(
        django_settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL, related_name="+"
    )
    at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["-id"]
        indexes = [models.Index(fields=["system", "dataset"], name="registration_dataset")]

    def __str__(self) -> str:
        return self.title

"""Live sessions, their places, events and drafts."""

from django.conf import settings as django_settings
from django.db import models
from django.db.models import Q

from annotation.models.append_only import AppendOnly
from annotation.models.studies import Study
from benchmarks.models import Experiment, Trajectory

USER = django_settings.AUTH_USER_MODEL


class LivePlan(models.Model):
    """The plan of a study of live sessions: how they are played, and what if somebody leaves.

    ``mode`` is one of the modes of the system (``benchmarks.core.ports.people``). ``practises``:
    all play a practice round first. ``shows_suggestions``: players see what a script or model would
    have answered. After ``away_seconds`` without a sign of a player who is asked, ``leaving`` is
    applied to their place; after ``reply_seconds`` it is too, after ``session_minutes`` the session
    ends (0 means no limit). Sessions of a study share the runs of ``experiment``. ``settings``
    records how sessions were drawn (agents, tasks, order, seed), whether players are asked
    afterwards (``asks``), and whether they get hints (``hints``).
    """

    class Leaving(models.TextChoices):
        WAIT = "wait", "Wait until they are back"
        HAND_OVER = "hand_over", "Let another person take the place"
        STAND_IN = "stand_in", "Let a script or model take over"
        CANCEL = "cancel", "End the session"

    study = models.OneToOneField(Study, on_delete=models.CASCADE, related_name="live")
    experiment = models.ForeignKey(Experiment, on_delete=models.PROTECT, related_name="+")
    system = models.CharField(max_length=40)
    mode = models.CharField(max_length=40)
    practises = models.BooleanField(default=False)
    shows_suggestions = models.BooleanField(default=False)
    leaving = models.CharField(max_length=10, choices=Leaving.choices, default=Leaving.WAIT)
    away_seconds = models.PositiveIntegerField(default=300)
    reply_seconds = models.PositiveIntegerField(default=0)
    session_minutes = models.PositiveIntegerField(default=0)
    settings = models.JSONField(default=dict, blank=True)

    def __str__(self) -> str:
        return f"sessions of {self.study_id}"


class LiveSession(models.Model):
    """One episode that people play. Its trajectory is stored like every other.

    It waits until all places that people have to fill are taken and ready. ``state`` is what was
    decided about the session; whose turn it is, the trajectory tells. ``ends_by`` is moved on by as
    long as a pause lasts.
    """

    class State(models.TextChoices):
        GATHERING = "gathering", "Waiting for its people"
        RUNNING = "running", "Running"
        PAUSED = "paused", "Paused"
        ENDED = "ended", "Ended"
        CANCELLED = "cancelled", "Cancelled"

    OVER = (State.ENDED, State.CANCELLED)

    study = models.ForeignKey(
        Study, on_delete=models.CASCADE, related_name="sessions", db_index=False
    )
    number = models.PositiveIntegerField()
    trajectory = models.OneToOneField(
        Trajectory, on_delete=models.PROTECT, related_name="live_session"
    )
    practice = models.BooleanField(default=False)
    state = models.CharField(max_length=10, choices=State.choices, default=State.GATHERING)
    created_by = models.ForeignKey(USER, null=True, on_delete=models.PROTECT, related_name="+")
    created_at = models.DateTimeField(auto_now_add=True)
    started_at = models.DateTimeField(null=True, blank=True)
    paused_at = models.DateTimeField(null=True, blank=True)
    ends_by = models.DateTimeField(null=True, blank=True)
    ended_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ["study", "number"]
        constraints = [
            models.UniqueConstraint(fields=["study", "number"], name="session_identity"),
        ]
        indexes = [
            # Those that a sweep has to look after.
            models.Index(
                fields=["state"],
                condition=Q(state__in=["gathering", "running", "paused"]),
                name="session_open",
            ),
        ]

    def __str__(self) -> str:
        return f"session {self.number} of {self.study_id}"


class LivePlace(models.Model):
    """A place in a session: the roles that one person fills, and who that is now.

    Without a player it is free, unless a ``stand_in`` (a script or model, by the name under which
    runs know it) has taken its roles. ``order`` is the place of this session in its player's list,
    ``notes`` how many private notes its players got, which are events, as are rollbacks, which all
    players read. Its player has seen what the others had said by ``seen_at``.
    What was before is in the session's events.
    """

    session = models.ForeignKey(LiveSession, on_delete=models.CASCADE, related_name="places")
    number = models.PositiveSmallIntegerField()
    title = models.CharField(max_length=60)
    roles = models.JSONField(default=list)
    player = models.ForeignKey(
        USER, null=True, blank=True, on_delete=models.PROTECT, related_name="live_places"
    )
    order = models.PositiveIntegerField(default=0)
    stand_in = models.CharField(max_length=120, blank=True)
    notes = models.PositiveSmallIntegerField(default=0, db_default=0)
    joined_at = models.DateTimeField(null=True, blank=True)
    ready_at = models.DateTimeField(null=True, blank=True)
    seen_at = models.DateTimeField(null=True, blank=True)
    last_seen_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ["session", "number"]
        constraints = [
            models.UniqueConstraint(fields=["session", "number"], name="place_identity"),
            models.UniqueConstraint(
                fields=["session", "player"],
                condition=Q(player__isnull=False),
                name="place_of_player",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.title} in {self.session_id}"


class Duel(models.Model):
    """Two sessions of one player, side by side: two agents on one task under the same settings.

    Both sessions belong to one study, so they share its seed and the roles that people do not fill.
    ``row`` names whoever the sides were balanced for: the players, or a row of the study's design.
    """

    left = models.OneToOneField(LiveSession, on_delete=models.CASCADE, related_name="duel_left")
    right = models.OneToOneField(LiveSession, on_delete=models.CASCADE, related_name="duel_right")
    row = models.CharField(max_length=200, blank=True)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["id"]

    def __str__(self) -> str:
        return f"duel of {self.left_id} and {self.right_id}"


class DuelVote(AppendOnly):
    """Which side of a duel its player preferred, in one turn or at the end (``turn`` 0).

    *Both bad* is a tie of two replies of which neither is of use. Rows are only ever added.
    """

    class Choice(models.TextChoices):
        LEFT = "left", "Left is better"
        TIE = "tie", "Equally good"
        BOTH_BAD = "both_bad", "Both bad"
        RIGHT = "right", "Right is better"

    duel = models.ForeignKey(Duel, on_delete=models.CASCADE, related_name="votes", db_index=False)
    turn = models.PositiveSmallIntegerField()
    choice = models.CharField(max_length=8, choices=Choice.choices)
    by = models.ForeignKey(USER, on_delete=models.PROTECT, related_name="+")
    at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["id"]
        constraints = [
            models.UniqueConstraint(fields=["duel", "turn"], name="vote_identity"),
            models.CheckConstraint(
                condition=Q(choice__in=["left", "tie", "both_bad", "right"]), name="vote_choice"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.choice} in turn {self.turn} of {self.duel_id}"


class LiveEvent(AppendOnly):
    """One thing that happened in a session, replies apart. Rows are only ever added.

    ``turn`` is the turn that was being played (from 1), so that what is said of who filled a place
    holds from that turn on. ``about`` is the person whom it concerns.
    """

    class Kind(models.TextChoices):
        MADE = "made", "Made"
        JOINED = "joined", "Took a place"
        READY = "ready", "Is ready"
        STARTED = "started", "Began"
        PAUSED = "paused", "Paused"
        RESUMED = "resumed", "Resumed"
        AWAY = "away", "Has not been seen for too long"
        RETURNED = "returned", "Is back"
        LEFT = "left", "Left the place"
        STAND_IN = "stand_in", "A script or model took the place"
        TAKEN_OVER = "taken_over", "Took the place over"
        GIVEN_BACK = "given_back", "Gave the place back"
        NOTE = "note", "Wrote to the player"
        AGENT = "agent", "Given to another agent"
        RETRIED = "retried", "Failed call tried again"
        OVERRIDDEN = "overridden", "Sent in spite of a hint"
        ROLLED_BACK = "rolled_back", "Rolled back"
        TAKEN_BACK = "taken_back", "Took a reply back"
        OFFERED = "offered", "Replied where a text was offered"
        CANCELLED = "cancelled", "Cancelled"
        ENDED = "ended", "Ended"

    session = models.ForeignKey(LiveSession, on_delete=models.CASCADE, related_name="events")
    kind = models.CharField(max_length=12, choices=Kind.choices)
    place = models.ForeignKey(
        LivePlace, null=True, blank=True, on_delete=models.CASCADE, related_name="events"
    )
    about = models.ForeignKey(
        USER, null=True, blank=True, on_delete=models.PROTECT, related_name="+"
    )
    turn = models.PositiveSmallIntegerField()
    reason = models.TextField(blank=True)
    detail = models.JSONField(default=dict, blank=True)
    by = models.ForeignKey(USER, null=True, blank=True, on_delete=models.PROTECT, related_name="+")
    at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["id"]

    def __str__(self) -> str:
        return f"{self.kind} in {self.session_id}"


class LiveDraft(models.Model):
    """The text that a player typed and has not sent, for another tab or browser.

    It belongs to an ask (step and slot) and is replaced by what is typed next on this ``version``.
    """

    trajectory = models.ForeignKey(
        Trajectory, on_delete=models.CASCADE, related_name="+", db_index=False
    )
    step = models.PositiveSmallIntegerField()
    slot = models.PositiveSmallIntegerField()
    user = models.ForeignKey(USER, on_delete=models.CASCADE, related_name="+")
    fields = models.JSONField(default=dict)
    version = models.PositiveIntegerField(default=1)
    at = models.DateTimeField(auto_now=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["trajectory", "step", "slot", "user"], name="draft_identity"
            )
        ]

    def __str__(self) -> str:
        return f"draft {self.step}.{self.slot}"

"""Judgings, and judges' scores: narrow rows with the keys that pages group by copied in."""

from django.db import models

from benchmarks.models.endpoints import Agent
from benchmarks.models.log import AnswererVersion, Exchange
from benchmarks.models.runs import Run
from benchmarks.models.trajectories import Trajectory, Turn


class Judging(models.Model):
    """One pass of judges over the turns of a run: live, or as a re-judging of stored turns.

    A re-judging has a run of its own (``made_by``) with its judges and settings.
    """

    run = models.ForeignKey(Run, on_delete=models.CASCADE, related_name="judgings")
    name = models.CharField(max_length=120, default="live")
    made_by = models.OneToOneField(
        Run, null=True, blank=True, on_delete=models.PROTECT, related_name="makes_judging"
    )
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["id"]

    def __str__(self) -> str:
        return self.name


class JudgeCounts(models.Model):
    """The judges' replies and scores of an ended run (`benchmarks.judging.counts`).

    It holds as long as ``version`` is the run's ``data_version``. Rows may be deleted at any time:
    they are counted again.
    """

    run = models.OneToOneField(
        Run, on_delete=models.CASCADE, primary_key=True, related_name="judge_counts"
    )
    version = models.PositiveIntegerField()
    counts = models.JSONField()

    class Meta:
        verbose_name_plural = "judge counts"

    def __str__(self) -> str:
        return f"counts of run {self.run_id}"


class JudgeScore(models.Model):
    """One judge's score of one turn on one dimension; null means unscored, ``reason`` says why.

    Every index slows each reply down, so keys that begin one of the two composite indexes, and keys
    that no page filters by, have no index of their own. ``exchange`` has one, because deleting a
    reply looks for its scores.
    """

    judging = models.ForeignKey(
        Judging, on_delete=models.CASCADE, related_name="scores", db_index=False
    )
    turn = models.ForeignKey(Turn, on_delete=models.CASCADE, related_name="scores", db_index=False)
    judge = models.ForeignKey(AnswererVersion, on_delete=models.PROTECT, db_index=False)
    seat = models.CharField(max_length=40)
    dimension = models.CharField(max_length=40)
    replicate = models.PositiveSmallIntegerField(default=1)
    value = models.FloatField(null=True)
    reason = models.TextField(blank=True)
    exchange = models.ForeignKey(Exchange, null=True, on_delete=models.PROTECT)
    trajectory = models.ForeignKey(Trajectory, on_delete=models.CASCADE, related_name="scores")
    run = models.ForeignKey(Run, on_delete=models.CASCADE, related_name="scores", db_index=False)
    agent = models.ForeignKey(Agent, on_delete=models.PROTECT, db_index=False)
    level = models.CharField(max_length=20, blank=True)
    condition = models.CharField(max_length=200, blank=True)
    turn_index = models.PositiveSmallIntegerField()
    is_final = models.BooleanField(default=False)

    class Meta:
        ordering = ["id"]
        constraints = [
            models.UniqueConstraint(
                fields=["turn", "judging", "judge", "seat", "dimension", "replicate"],
                name="judge_score_identity",
            )
        ]
        # Analysis pages group by turn and judge from this index alone, without reading rows.
        indexes = [
            models.Index(
                fields=["judging", "is_final", "dimension", "turn", "judge", "seat", "value"],
                name="judge_score_turns",
            )
        ]

    def __str__(self) -> str:
        return f"{self.dimension} {self.value}"

"""Stored tasks, runs, trajectories, exchanges and scores."""

from benchmarks.models.branches import Branch
from benchmarks.models.datasets import Candidate, Constraint, Dataset, Profile, SharedData, Task
from benchmarks.models.endpoints import (
    Agent,
    AllowedHost,
    Endpoint,
    EndpointKey,
)
from benchmarks.models.images import TrajectoryImage
from benchmarks.models.jobs import Job, Upload, UploadChunk, WorkerProcess
from benchmarks.models.judging import JudgeCounts, JudgeScore, Judging
from benchmarks.models.lists import ListColumns
from benchmarks.models.log import (
    AnswererVersion,
    CallColumns,
    Exchange,
    OpenAsk,
    StoredMessage,
    Suggestion,
    call_models,
)
from benchmarks.models.runs import COUNTED, Experiment, Run
from benchmarks.models.tokens import ApiToken, StoredAnswer
from benchmarks.models.training_rows import RowDecision
from benchmarks.models.trajectories import Trajectory, Turn, Violation
from benchmarks.models.trials import EndpointTrial, JudgeTrial
from benchmarks.models.validity import ValidityCertificate

__all__ = [
    "COUNTED",
    "Branch",
    "Agent",
    "AllowedHost",
    "AnswererVersion",
    "CallColumns",
    "ApiToken",
    "Candidate",
    "Constraint",
    "Dataset",
    "Endpoint",
    "EndpointKey",
    "EndpointTrial",
    "Exchange",
    "Experiment",
    "Job",
    "JudgeCounts",
    "JudgeScore",
    "JudgeTrial",
    "Judging",
    "ListColumns",
    "OpenAsk",
    "Profile",
    "RowDecision",
    "Run",
    "StoredAnswer",
    "SharedData",
    "StoredMessage",
    "Suggestion",
    "Task",
    "Trajectory",
    "TrajectoryImage",
    "Turn",
    "Upload",
    "UploadChunk",
    "ValidityCertificate",
    "Violation",
    "WorkerProcess",
    "call_models",
]

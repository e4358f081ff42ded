"""Stored tasks, runs, trajectories, exchanges and scores."""

from benchmarks.models.answering import Agent, AnswererVersion
from benchmarks.models.datasets import Candidate, Constraint, Dataset, Profile, SharedData, Task
from benchmarks.models.endpoints import Endpoint, EndpointTrial
from benchmarks.models.exchanges import Exchange, OpenAsk, StoredMessage, Suggestion
from benchmarks.models.jobs import Job
from benchmarks.models.runs import COUNTED, Experiment, Run, Trajectory, Turn, Violation
from benchmarks.models.scores import JudgeScore, Judging
from benchmarks.models.tokens import ApiToken, StoredAnswer
from benchmarks.models.uploads import Upload, UploadChunk

__all__ = [
    "COUNTED",
    "Agent",
    "AnswererVersion",
    "ApiToken",
    "Candidate",
    "Constraint",
    "Dataset",
    "Endpoint",
    "EndpointTrial",
    "Exchange",
    "Experiment",
    "Job",
    "JudgeScore",
    "Judging",
    "OpenAsk",
    "Profile",
    "Run",
    "StoredAnswer",
    "SharedData",
    "StoredMessage",
    "Suggestion",
    "Task",
    "Trajectory",
    "Turn",
    "Upload",
    "UploadChunk",
    "Violation",
]

"""Stored tasks, runs, trajectories, exchanges and scores."""

from benchmarks.models.answering import Agent, AnswererVersion
from benchmarks.models.datasets import Constraint, Dataset, Profile, Task
from benchmarks.models.exchanges import Exchange, OpenAsk, StoredMessage
from benchmarks.models.jobs import Job
from benchmarks.models.runs import Experiment, Run, Trajectory, Turn, Violation
from benchmarks.models.scores import JudgeScore, Judging

__all__ = [
    "Agent",
    "AnswererVersion",
    "Constraint",
    "Dataset",
    "Exchange",
    "Experiment",
    "Job",
    "JudgeScore",
    "Judging",
    "OpenAsk",
    "Profile",
    "Run",
    "StoredMessage",
    "Task",
    "Trajectory",
    "Turn",
    "Violation",
]

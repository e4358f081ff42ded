"""The options of a training run, and their bounds."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from benchmarks.core.system import Setting, read_settings

MAX_SEED = 2**32 - 1

# The paper publishes none of these in its text; the defaults are ours.
OPTIONS = (
    Setting("learning_rate", "float", 5e-6, "Learning rate at the start; it falls to 0 linearly.",
            minimum=0, maximum=1),
    Setting("epochs", "float", 1.0, "Passes over the rows.", minimum=0.001, maximum=1000),
    Setting("steps", "int", 0, "Optimiser steps in place of epochs; 0 counts epochs.", minimum=0),
    Setting("batch", "int", 16, "Rows per optimiser step.", minimum=1, maximum=4096),
    Setting("micro_batch", "int", 1, "Rows in memory at once; must divide the batch.", minimum=1),
    Setting("beta", "float", 0.1, "Beta of DPO: how strongly the reference holds.",
            minimum=0.0001, maximum=100),
    Setting("rank", "int", 4, "Rank of the LoRA adapter.", minimum=1, maximum=1024),
    Setting("alpha", "int", 8, "Scale of the LoRA adapter.", minimum=1, maximum=4096),
    Setting("dropout", "float", 0.05, "Dropout of the LoRA adapter.", minimum=0, maximum=0.9),
    Setting("max_length", "int", 8192, "Rows with more tokens are left out, not cut.", minimum=16),
    Setting("held_out", "float", 0.05, "Share of trajectories whose rows are only evaluated.",
            minimum=0, maximum=0.9),
    Setting("seed", "int", 0, "Draws the split, the adapter, the order and the dropout.",
            minimum=0, maximum=MAX_SEED),
)  # fmt: skip


@dataclass(frozen=True)
class Options:
    """The options of training an adapter; ``OPTIONS`` says what each means."""

    learning_rate: float
    epochs: float
    steps: int
    batch: int
    micro_batch: int
    beta: float
    rank: int
    alpha: int
    dropout: float
    max_length: int
    held_out: float
    seed: int


def read_options(given: Mapping[str, Any]) -> Options:
    """Return the options with their defaults; ``SettingError`` names one that is out of bounds."""
    return Options(**read_settings(OPTIONS, given))

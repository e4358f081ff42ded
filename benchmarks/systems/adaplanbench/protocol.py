"""The disclosure rules of AdaPlanBench as plain values (paper, sections 2.2, C.3, C.4, E.4)."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Any

from benchmarks.core.system import Dimension, Setting
from benchmarks.core.types import Reply
from benchmarks.core.yaml_files import read_yaml_file
from benchmarks.systems.adaplanbench.prompts import PROMPTS

# --- Rubric ---------------------------------------------------------------------------------------


@cache
def load_dimensions(version: str = "") -> tuple[Dimension, ...]:
    """Return the dimensions in the order in which they are asked, as a version of the prompts has
    them.
    """
    rows = read_yaml_file(PROMPTS.files(version)["rubric"])
    return tuple(
        Dimension(
            key=row["key"],
            title=row["title"],
            definition=row["definition"],
            anchors=_by_score(row["anchors"]),
            examples=_by_score(row["examples"]),
            main=row.get("main", False),
            note=row.get("note", ""),
        )
        for row in rows
    )


def _by_score(texts: Mapping[str, str]) -> dict[int, str]:
    return {int(score): text for score, text in texts.items()}


DIMENSIONS = load_dimensions()
RUBRICS = {int(version): load_dimensions(version) for version in PROMPTS.versions()}


WORLD, USER = "world", "user"
KINDS = (WORLD, USER)

SETTINGS = (
    Setting(
        "constraints", "choice", "both",
        "Which hidden constraints exist: both kinds, or one kind alone (dual ablation).",
        ("both", "world_only", "user_only"),
        title="Kinds of constraints",
    ),
    Setting("tracking", "bool", False,
            "Put a block of all constraints disclosed so far in front of the agent's input.",
            title="Tracking of constraints"),
    Setting("refinement", "int", 0,
            "Extra turns after a valid plan that fails the rubric.", minimum=0, maximum=6,
            title="Extra turns"),
    Setting("patience", "int", 2,
            "Turns in a row without a new disclosure before an early stop.", minimum=1, maximum=20),
    Setting("novelty", "choice", "disclosed",
            "What counts as new for the early stop: newly disclosed, or violated and undisclosed.",
            ("disclosed", "violated"), title="New for the early stop"),
    Setting("max_turns", "int", 20, "Turn budget before refinement.", minimum=1, maximum=100,
            title="Turn budget"),
    Setting("tau", "float", 3.5, "Mean score that every counted dimension must reach.",
            minimum=1, maximum=5, title="Pass mark τ"),
    Setting("dimensions", "choice", "all",
            "Rubric dimensions that count for passing: all eight, or the four of the main text.",
            ("all", "main"), title="Dimensions that count"),
    Setting("quorum", "choice", "all",
            "Judges that must have scored a dimension for passing to be defined.",
            ("all", "any"), title="Judges needed"),
    Setting("rubric_judges", "int", 3, "Number of rubric judges.", minimum=1, maximum=9),
    Setting("reply_attempts", "int", 3,
            "How often an unreadable reply is asked for before it is given up.",
            minimum=1, maximum=10, title="Attempts at a reply"),
)  # fmt: skip

COUNTED = {
    "all": tuple(dimension.key for dimension in DIMENSIONS),
    "main": tuple(dimension.key for dimension in DIMENSIONS if dimension.main),
}


@dataclass(frozen=True)
class Disclosure:
    """The constraints that one turn's violations disclose. Sets are tuples of keys in profile
    order, by kind.

    ``revealed`` is F_t, ``new`` N_t = F_t minus D_t, ``repeated`` R_t = V_t and D_t.
    """

    violated: Mapping[str, tuple[str, ...]]
    revealed: Mapping[str, tuple[str, ...]]
    new: Mapping[str, tuple[str, ...]]
    repeated: Mapping[str, tuple[str, ...]]
    undisclosed: Mapping[str, tuple[str, ...]]

    @property
    def valid(self) -> bool:
        return not any(self.violated.values())

    def stalls(self, novelty: str) -> bool:
        """Return whether the turn brings nothing new under a reading of "new"."""
        fresh = self.new if novelty == "disclosed" else self.undisclosed
        return not self.valid and not any(fresh.values())


@dataclass
class Disclosed:
    """D_t: the keys disclosed in earlier turns, by kind, in the order of disclosure."""

    keys: dict[str, list[str]] = field(default_factory=lambda: {kind: [] for kind in KINDS})

    def disclose(self, violated: Mapping[str, Sequence[str]]) -> Disclosure:
        """Apply the single-type rule, world before user, and remember what was revealed."""
        shown = WORLD if violated[WORLD] else USER
        before = {kind: set(self.keys[kind]) for kind in KINDS}

        def pick(keep: Any) -> dict[str, tuple[str, ...]]:
            return {kind: tuple(k for k in violated[kind] if keep(kind, k)) for kind in KINDS}

        disclosure = Disclosure(
            violated=pick(lambda kind, key: True),
            revealed=pick(lambda kind, key: kind == shown),
            new=pick(lambda kind, key: kind == shown and key not in before[kind]),
            repeated=pick(lambda kind, key: key in before[kind]),
            undisclosed=pick(lambda kind, key: key not in before[kind]),
        )
        for kind in KINDS:
            self.keys[kind].extend(disclosure.new[kind])
        return disclosure


@dataclass
class Patience:
    """Counts turns in a row that bring nothing new, under both readings at once."""

    limit: int
    runs: dict[str, int] = field(default_factory=lambda: {"disclosed": 0, "violated": 0})
    stopped_at: dict[str, int] = field(default_factory=dict)

    def spend(self, turn: int, disclosure: Disclosure) -> None:
        for reading in self.runs:
            stalls = disclosure.stalls(reading)
            self.runs[reading] = self.runs[reading] + 1 if stalls else 0
            if self.runs[reading] >= self.limit:
                self.stopped_at.setdefault(reading, turn)


@dataclass(frozen=True)
class RubricRating:
    """The rubric side of a turn: means by dimension, and whether the plan passes.

    ``passed`` is None where the quorum is missed; ``missing`` names the dimensions.
    """

    means: Mapping[str, float | None]
    passed: Mapping[str, bool | None]
    missing: tuple[str, ...]


def rate(scores: Mapping[str, Sequence[float | None]], settings: Mapping[str, Any]) -> RubricRating:
    """Aggregate judges' scores by dimension and hold them against the threshold.

    A dimension counts as scored when every judge (quorum ``all``) or at least one (``any``) gave
    a number. Pass = every counted dimension's mean is at least tau (paper, eq. 8 and 9).
    """
    means: dict[str, float | None] = {}
    for dimension, given in scores.items():
        known = [value for value in given if value is not None]
        enough = bool(known) and (settings["quorum"] == "any" or len(known) == len(given))
        means[dimension] = sum(known) / len(known) if enough else None
    missing = tuple(d for d, mean in means.items() if mean is None)
    return RubricRating(
        means,
        {name: _passes(means, keys, settings["tau"]) for name, keys in COUNTED.items()},
        missing,
    )


def _passes(means: Mapping[str, float | None], counted: Sequence[str], tau: float) -> bool | None:
    values = [means.get(key) for key in counted]
    if any(value is None for value in values):
        return None
    # thirds of whole numbers are not exact in binary; a mean of exactly tau must pass
    return all(value is not None and value >= tau - 1e-9 for value in values)


def read_violations(replies: Mapping[str, Reply]) -> dict[str, tuple[str, ...]] | None:
    """Return V_t by kind from the judges' replies; empty where nobody judges, None if unknown."""
    violated: dict[str, tuple[str, ...]] = dict.fromkeys(KINDS, ())
    for kind, reply in replies.items():
        if not reply.readable:
            return None
        violated[kind] = tuple(reply.value["violated"])
    return violated

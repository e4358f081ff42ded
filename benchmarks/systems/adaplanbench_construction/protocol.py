"""Constants of the construction pipeline: its settings, criteria, grounds, levels and endings."""

from collections.abc import Mapping

from benchmarks.core.system import Setting
from benchmarks.systems.adaplanbench import dataset
from benchmarks.systems.adaplanbench.protocol import USER, WORLD

# The profile after round 1, 2, …: a level holds what was kept in all rounds up to its own.
LEVELS = tuple(dataset.LEVELS.values())
KEEP, REMOVE = "keep", "remove"

CONSTRUCTED, FILTERED_OUT = "constructed", "filtered_out"
# Who may end a construction by not answering; the agent is the first planner.
ANSWERING = ("rewriter", "filter", "planner", "extractor", "merger", "checker")

SETTINGS = (
    Setting("rounds", "int", 3, "Rounds of construction; 1, 2 and 3 make low, mid and high.",
            minimum=1, maximum=len(LEVELS)),
    Setting("plans_per_ask", "int", 3, "Plans that a planner samples in one reply.",
            minimum=1, maximum=8, title="Plans per reply"),
    Setting("planners", "int", 3, "Planners; the agent is the first of them.",
            minimum=1, maximum=3),
    Setting("reply_attempts", "int", 3,
            "How often an unreadable reply is asked for before it is given up.",
            minimum=1, maximum=10, title="Attempts at a reply"),
)  # fmt: skip

# What a request must be to be kept (paper, appendix E.2).
CRITERIA: Mapping[str, str] = {
    "household": "It is something that could come up in or around an ordinary home.",
    "task": "It asks for something to be done, not for knowledge, an explanation or a yes or no.",
    "several_steps": "It takes several steps that have to be thought out.",
    "self_reliant": "It can be done without buying anything, calling anybody or hiring a service.",
    "open": "It does not prescribe a tool or a method.",
    "concrete": "The goal is clear enough to tell afterwards whether it was reached.",
    "practical": "It is not mainly about decoration or taste.",
}

# Why a candidate may be removed.
GROUNDS: Mapping[str, str] = {
    "vague": "One could not tell from a plan whether it goes against this.",
    "query": "It rules out something that the request itself is about.",
    "reference": "It rules out the known solution.",
    "contradictory": "It cannot hold together with another wish that is kept.",
    "exhausting": "Together with the wishes that are kept it leaves no sensible way at all.",
}
GROUNDS_OF = {WORLD: ("vague", "query", "reference"), USER: tuple(GROUNDS)}

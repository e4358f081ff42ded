"""The columns in which a study leaves the installation: one list for every format and its docs."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

# Of the files, not of the product: it grows when a column changes its meaning or goes.
SCHEMA_VERSION = 1
FORMAT = "planjury-study"

# ``texts`` is a list of texts, ``spans`` a list of places in a trajectory.
Kind = Literal["text", "whole", "truth", "time", "texts", "spans"]
SPAN: Sequence[tuple[str, Kind]] = (
    ("turn", "whole"),
    ("where", "text"),
    ("start", "whole"),
    ("end", "whole"),
    ("quote", "text"),
)


@dataclass(frozen=True)
class Column:
    """A column: what it holds, and whether it is kept from those who annotate blind.

    ``local``: its values mean something on this installation alone.
    """

    name: str
    kind: Kind
    says: str
    telling: bool = False
    local: bool = False


_STUDY = (
    Column("schema_version", "whole", "version of these columns"),
    Column("study_key", "text", "the study, the same in every export of it and after a re-import"),
    Column("study", "text", "its name"),
    Column("questionnaire", "text", "the questionnaire with its version, NAME@VERSION"),
    Column("design", "text", "how items were chosen and dealt", telling=True),
    Column("seed", "whole", "seed of the design", telling=True),
)
# Numbers of items follow the order in which they were chosen, which may go by agent, and ids of
# trajectories count up within a run: both would tell which items one agent made.
_ITEM = (
    Column("item", "whole", "number of the item in the study", telling=True),
    Column("use", "text", "main, gold, training, background or played", telling=True),
    Column("dataset", "text", "dataset of the task, with its version", telling=True),
    Column("task", "text", "the task's id in its dataset"),
    Column("level", "text", "level of the hidden conditions"),
    Column("condition", "text", "condition of the run", telling=True),
    Column("attempt", "whole", "number of the attempt at the task", telling=True),
    Column("model", "text", "name of the agent that made the trajectory", telling=True),
    Column("trajectory_id", "whole", "the trajectory on this installation", True, True),
)
_RATER = (
    Column("rater", "text", "pseudonym, the same in every export of this study"),
    Column("annotator", "text", "name of the account; only where names were asked for"),
    Column("simulated", "truth", "whether the rater is a program"),
    Column("part", "text", "main, training or background"),
    Column("position", "whole", "place among this rater's items, within the part"),
    Column("state", "text", "open, submitted, skipped or returned"),
    Column("skip_reason", "text", "why it was skipped"),
    Column("submitted_at", "time", "when it was submitted"),
    Column("active_ms", "whole", "time at work on the whole item, in milliseconds"),
)
_ASKED = (
    Column("question", "text", "key of the question; empty for remarks on the whole item"),
    Column("subject", "text", "the part that was asked about, such as turn-3; empty for all of it"),
    Column("turn", "whole", "number of the turn, where the part is one"),
    Column("dimension", "text", "rubric dimension behind the question, where there is one"),
    Column("scale", "text", "points, choice, marks or text"),
)
_SAID = (
    Column("value", "whole", "score or choice"),
    Column("label", "text", "the choice in words"),
    Column("chosen", "texts", "what was marked; an empty list: nothing is to be marked"),
    Column("text", "text", "an answer in words"),
    Column("comment", "text", "remark beside the answer"),
    Column("flag", "truth", "whether it was flagged"),
    Column("flag_reason", "text", "why it was flagged"),
    Column("evidence", "spans", "places in the trajectory: turn, where, start, end, quote"),
    Column("edits", "whole", "how many edits led to this row, undoing included"),
    Column("answered_at", "time", "when the answer was given; without one, the last remark"),
    Column("after_unblinding", "truth", "said after the rater learnt who made what"),
)
_ADJUDICATED = (
    Column("adjudicated", "truth", "whether an adjudicator decided this place", telling=True),
    Column("adjudicated_value", "whole", "the score or choice decided on", telling=True),
    Column("adjudicated_chosen", "texts", "the marks decided on", telling=True),
    Column("adjudicated_reason", "text", "why", telling=True),
)
_EDIT = (
    Column("edit", "whole", "number of the edit within the item"),
    Column("aspect", "text", "answer, comment, flag or evidence"),
    *_SAID[:1],
    Column("chosen", "texts", "what was marked"),
    Column("spans", "spans", "places in the trajectory, for evidence"),
    Column("text", "text", "words"),
    Column("undoes", "whole", "number of the edit that it takes back"),
    Column("after_unblinding", "truth", "made after the rater learnt who made what"),
    Column("client_id", "text", "id that the browser gave the edit", False, True),
    Column("client_time", "time", "when it was made, by the clock of the browser"),
    Column("edited_at", "time", "when it was stored"),
)
RATING_COLUMNS = (*_STUDY, *_ITEM, *_RATER, *_ASKED, *_SAID, *_ADJUDICATED)
HISTORY_COLUMNS = (*_STUDY, *_ITEM, *_RATER, *_ASKED, *_EDIT)
LOCAL_COLUMNS = tuple(column.name for column in RATING_COLUMNS if column.local)


def columns_for(columns: Sequence[Column], *, blind: bool, names: bool) -> tuple[Column, ...]:
    """The columns that somebody gets."""
    return tuple(
        column
        for column in columns
        if not (blind and column.telling) and (names or column.name != "annotator")
    )

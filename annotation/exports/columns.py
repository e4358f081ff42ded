"""The columns of an exported study: one list for every format and the docs."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

# Of the files, not of the product: it grows when a column changes its meaning or goes.
SCHEMA_VERSION = 1
FORMAT = "planjury-study"

# ``share`` is a number from 0 to 1, ``texts`` a list of texts, ``spans`` one of places.
Kind = Literal["text", "whole", "share", "truth", "time", "texts", "spans"]
SPAN: Sequence[tuple[str, Kind]] = (
    ("turn", "whole"),
    ("where", "text"),
    ("start", "whole"),
    ("end", "whole"),
    ("quote", "text"),
)


@dataclass(frozen=True)
class ExportColumn:
    """A column: what it holds, and whether it is kept from those who annotate blind.

    ``local``: its values mean something on this installation alone.
    """

    name: str
    kind: Kind
    says: str
    telling: bool = False
    local: bool = False


_STUDY = (
    ExportColumn("schema_version", "whole", "version of these columns"),
    ExportColumn(
        "study_key", "text", "the study, the same in every export of it and after a re-import"
    ),
    ExportColumn("study", "text", "its name"),
    ExportColumn("questionnaire", "text", "the questionnaire with its version, NAME@VERSION"),
    ExportColumn("design", "text", "how items were chosen and dealt", telling=True),
    ExportColumn("seed", "whole", "seed of the design", telling=True),
)
# Numbers of items follow the order in which they were chosen, which may go by agent, and ids of
# trajectories count up within a run: both would tell which items one agent made.
_ITEM = (
    ExportColumn("item", "whole", "number of the item in the study", telling=True),
    ExportColumn("use", "text", "main, gold, training, background or played", telling=True),
    ExportColumn("dataset", "text", "dataset of the task, with its version", telling=True),
    ExportColumn("task", "text", "the task's id in its dataset"),
    ExportColumn("level", "text", "level of the hidden conditions"),
    ExportColumn("condition", "text", "condition of the run", telling=True),
    ExportColumn("attempt", "whole", "number of the attempt at the task", telling=True),
    ExportColumn("model", "text", "name of the agent that made the trajectory", telling=True),
    ExportColumn("trajectory_id", "whole", "the trajectory on this installation", True, True),
    ExportColumn(
        "span",
        "text",
        "of a part of a longer session: its first and last turn there, such as 30-45; `turn` "
        "counts from 1 within the part",
        telling=True,
    ),
    ExportColumn(
        "other_model",
        "text",
        "of two trajectories side by side: the agent of the second one; `model` made the first",
        telling=True,
    ),
    ExportColumn(
        "other_trajectory_id", "whole", "the second trajectory on this installation", True, True
    ),
    ExportColumn(
        "probability",
        "share",
        "with which the trajectory was drawn for this study; empty where that is not stored, for "
        "items that were added later, and after an import",
        True,
        True,
    ),
)
_RATER = (
    ExportColumn("rater", "text", "pseudonym, the same in every export of this study"),
    ExportColumn("annotator", "text", "name of the account; only where names were asked for"),
    ExportColumn("simulated", "truth", "whether the rater is a program"),
    ExportColumn("part", "text", "main, training or background"),
    ExportColumn("position", "whole", "place among this rater's items, within the part"),
    ExportColumn(
        "state",
        "text",
        "open, submitted, skipped, returned, or voided: submitted once, and voided by a manager; "
        "analyses take submitted items alone",
    ),
    ExportColumn("skip_reason", "text", "why it was skipped"),
    ExportColumn("note", "text", "what a manager wrote who sent the submission back"),
    ExportColumn("submitted_at", "time", "when it was submitted"),
    ExportColumn("active_ms", "whole", "time at work on the whole item, in milliseconds"),
    ExportColumn(
        "verdicts",
        "text",
        "the judges' verdicts that the rater saw: all, earlier (all but the final plan's), none; "
        "empty where the questionnaire shows none",
    ),
    ExportColumn(
        "rotation",
        "whole",
        "by how many places the questions of each section were rotated; 0: as in the questionnaire",
    ),
    ExportColumn(
        "turns_shown",
        "text",
        "all: from the beginning; one_by_one: each turn was scored before the next was shown",
    ),
    ExportColumn(
        "swapped", "truth", "of two trajectories: whether the second one stood on the left, as A"
    ),
)
_ASKED = (
    ExportColumn("question", "text", "key of the question; empty for remarks on the whole item"),
    ExportColumn(
        "subject", "text", "the part that was asked about, such as turn-3; empty for all of it"
    ),
    ExportColumn("turn", "whole", "number of the turn, where the part is one"),
    ExportColumn("dimension", "text", "rubric dimension behind the question, where there is one"),
    ExportColumn("scale", "text", "points, choice, marks, spans or text"),
)
_ANSWER_COLUMNS = (
    ExportColumn("value", "whole", "score or choice"),
    ExportColumn("label", "text", "the choice in words"),
    ExportColumn(
        "chosen",
        "texts",
        "what was marked; an empty list: nothing is to be marked; "
        "where each condition is decided, KEY:DECISION for each",
    ),
    ExportColumn(
        "marked",
        "spans",
        "passages that were marked: turn, where, start, end, quote, label; an empty list: none",
    ),
    ExportColumn("text", "text", "an answer in words"),
    ExportColumn("comment", "text", "remark beside the answer"),
    ExportColumn("flag", "truth", "whether it was flagged"),
    ExportColumn("flag_reason", "text", "why it was flagged"),
    ExportColumn("evidence", "spans", "places in the trajectory: turn, where, start, end, quote"),
    ExportColumn("edits", "whole", "how many edits led to this row, undoing included"),
    ExportColumn("answered_at", "time", "when the answer was given; without one, the last remark"),
    ExportColumn(
        "after_unblinding", "truth", "whether it was given after the rater learnt who made what"
    ),
)
_ADJUDICATED = (
    ExportColumn("adjudicated", "truth", "whether an adjudicator decided this place", telling=True),
    ExportColumn("adjudicated_value", "whole", "the score or choice decided on", telling=True),
    ExportColumn("adjudicated_chosen", "texts", "the marks decided on", telling=True),
    ExportColumn("adjudicated_reason", "text", "why", telling=True),
    ExportColumn(
        "adjudicated_saw_raters",
        "truth",
        "whether the adjudicator had seen the raters' answers before this decision",
        telling=True,
    ),
)
_EDIT = (
    ExportColumn("edit", "whole", "number of the edit within the item"),
    ExportColumn("aspect", "text", "answer, comment, flag or evidence"),
    *_ANSWER_COLUMNS[:1],
    ExportColumn("chosen", "texts", "what was marked"),
    ExportColumn("spans", "spans", "places in the trajectory, for evidence"),
    ExportColumn("text", "text", "words"),
    ExportColumn("undoes", "whole", "number of the edit that it takes back"),
    ExportColumn(
        "after_unblinding", "truth", "whether it was made after the rater learnt who made what"
    ),
    ExportColumn("client_id", "text", "id that the browser gave the edit", False, True),
    ExportColumn("client_time", "time", "when it was made, by the clock of the browser"),
    ExportColumn("edited_at", "time", "when it was stored"),
)
RATING_COLUMNS = (*_STUDY, *_ITEM, *_RATER, *_ASKED, *_ANSWER_COLUMNS, *_ADJUDICATED)
HISTORY_COLUMNS = (*_STUDY, *_ITEM, *_RATER, *_ASKED, *_EDIT)
LOCAL_COLUMNS = tuple(column.name for column in RATING_COLUMNS if column.local)


def columns_for(
    columns: Sequence[ExportColumn], *, blind: bool, names: bool
) -> tuple[ExportColumn, ...]:
    """Return the columns that somebody gets."""
    return tuple(
        column
        for column in columns
        if not (blind and column.telling) and (names or column.name != "annotator")
    )

"""What a model reads of a failure: the task, how it ended, and its last turns."""

from collections.abc import Sequence

from analysis.browser.clusters.episode import FailureText
from benchmarks.core.registry import find_system
from benchmarks.models import Trajectory, Turn

LAST_TURNS = 3
MOST_TASK, MOST_PLAN, MOST_FEEDBACK = 400, 900, 600
CHUNK = 200


def failure_texts(ids: Sequence[int]) -> list[FailureText]:
    """Return the texts of these trajectories in their order; those without a turn are left out."""
    found: list[FailureText] = []
    for at in range(0, len(ids), CHUNK):
        part = ids[at : at + CHUNK]
        rows = Trajectory.objects.select_related("task", "run__dataset").in_bulk(part)
        turns: dict[int, list[Turn]] = {}
        late = Turn.objects.filter(trajectory__in=part).order_by("trajectory", "index")
        for turn in late.only("trajectory_id", "index", "text", "feedback").iterator():
            kept = turns.setdefault(turn.trajectory_id, [])
            kept.append(turn)
            del kept[:-LAST_TURNS]
        found += [_text(rows[pk], turns[pk]) for pk in part if pk in rows and pk in turns]
    return found


def _text(row: Trajectory, turns: Sequence[Turn]) -> FailureText:
    labels = find_system(row.run.dataset.system).labels
    parts = {
        turn.index: f"Turn {turn.index} of {row.turn_count}\n{_cut(turn.text, MOST_PLAN)}"
        + (f"\nFeedback: {_cut(turn.feedback, MOST_FEEDBACK)}" if turn.feedback else "")
        for turn in turns
    }
    head = (
        f"Task: {_cut(row.task.prompt, MOST_TASK)}\nEnded: {labels.ending(row.termination).title}"
    )
    return FailureText(row.pk, "\n".join([head, *parts.values()]), parts)


def _cut(text: str, most: int) -> str:
    """Return a text without its middle where it is too long: ends tell how something failed."""
    if len(text) <= most:
        return text
    half = most // 2
    return f"{text[:half]} […] {text[-half:]}"

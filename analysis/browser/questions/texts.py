"""What a model and a person read of a trajectory to answer a question about it."""

from collections.abc import Sequence

from analysis.browser.questions.episode import TrajectoryText
from benchmarks.core.registry import find_system
from benchmarks.models import Trajectory, Turn

# Signs of a trajectory, shared by its turns; the middle of longer turns is left out.
MOST_READ, LEAST_TURN, MOST_TASK = 16_000, 300, 1000
CHUNK = 100
CUT = " […] "


def question_texts(ids: Sequence[int]) -> list[TrajectoryText]:
    """Return task, ending and turns of these trajectories in their order.

    Those without a turn are left out. Of very many turns the first and the last are read.
    """
    texts: list[TrajectoryText] = []
    for at in range(0, len(ids), CHUNK):
        some = ids[at : at + CHUNK]
        rows = Trajectory.objects.select_related("task", "run__dataset").in_bulk(some)
        turns: dict[int, list[Turn]] = {}
        stored = Turn.objects.filter(trajectory__in=some).order_by("trajectory", "index")
        for turn in stored.only("trajectory_id", "index", "text", "feedback").iterator():
            turns.setdefault(turn.trajectory_id, []).append(turn)
        texts += [_text(rows[pk], turns[pk]) for pk in some if pk in rows and pk in turns]
    return texts


def _text(row: Trajectory, turns: Sequence[Turn]) -> TrajectoryText:
    most = MOST_READ // LEAST_TURN
    shown = turns if len(turns) <= most else [*turns[: most // 2], *turns[-(most // 2) :]]
    room = max(LEAST_TURN, MOST_READ // len(shown))
    parts: list[str] = []
    for turn in shown:
        if parts and turn is shown[len(shown) // 2] and len(shown) < len(turns):
            parts.append(f"({len(turns) - len(shown)} turns are left out here)")
        feedback = f"\nFeedback: {_cut(turn.feedback, room // 2)}" if turn.feedback else ""
        text = _cut(turn.text, room // 2 if feedback else room)
        parts.append(f"Turn {turn.index} of {row.turn_count}\n{text}{feedback}")
    ending = find_system(row.run.dataset.system).labels.ending(row.termination).title
    head = f"Task: {_cut(row.task.prompt, MOST_TASK)}"
    # A quote may begin with the word that stands before the feedback.
    whole = {turn.index: f"{turn.text}\nFeedback: {turn.feedback}" for turn in turns}
    return TrajectoryText(row.pk, "\n\n".join([head, *parts, f"Ended: {ending}"]), whole)


def _cut(text: str, most: int) -> str:
    """Return a text without its middle where it is too long."""
    return text if len(text) <= most else f"{text[: most // 2]}{CUT}{text[-(most // 2) :]}"

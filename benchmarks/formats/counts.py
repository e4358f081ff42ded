"""Numbers of a trajectory by which a reader can check an import: see docs/trajectories.md."""

from typing import Any

from benchmarks.formats.trajectory import ImportedMessage, ImportedTrajectory

FIRST = 60


def trajectory_counts(trajectory: ImportedTrajectory) -> dict[str, Any]:
    """Return the counts of a trajectory; what its format cannot give is None.

    Messages that the program writes in its user's place are no user messages and begin no turn.
    A call id counts once, and so does its result; a result counts as matched if its call is in the
    same trajectory.
    """
    messages = trajectory.messages
    users = [m for m in messages if m.speaker == "user" and not m.by_program and not m.calls]
    agents = [m for m in messages if m.speaker == "assistant"]
    texts = [m for m in agents if m.text.strip()]
    calls = [call for m in agents for call in m.calls]
    own = _ids([call.id for call in calls if call.by == "agent"])
    results = [m for m in messages if m.speaker == "tool" and m.extra.get("hosted") is not True]
    answered = _ids([m.call_id for m in results])
    matched = len(own & answered)
    marks = [m.extra["failed"] for m in results if isinstance(m.extra.get("failed"), bool)]
    counted = {
        "user": len(users),
        "turns": _turns(messages),
        "assistant": sum(m.speaks for m in agents),
        "assistant_texts": len(texts),
        "tool_calls": len(own),
        "tool_results": len(answered),
        "matched": matched,
        "missing": len(own) - matched,
        "errors": sum(marks) if marks or not results else None,
        "hosted_calls": len(_ids([call.id for call in calls if call.by == "provider"])),
        "images": sum(_images(m) for m in messages),
        "thinking": sum(
            bool(m.reasoning.strip()) or m.extra.get("encrypted") is True for m in agents
        ),
        "tokens_in": _sum([m.tokens_in for m in messages]),
        "tokens_out": _sum([m.tokens_out for m in messages]),
    }
    stated = {name: value for name, value in trajectory.stated_counts.items() if name in counted}
    session = trajectory.session
    return {
        "id": session.get("id") or trajectory.task.id,
        "parent": session.get("parent"),
        "model": trajectory.agent or None,
        **counted,
        **stated,
        "first_user": _start(users[0].text) if users else None,
        "last_assistant": _start(texts[-1].text) if texts else None,
    }


def _ids(given: list[str]) -> set[str]:
    """Return distinct ids; an empty one stands for its place, so that such calls and results match
    by their order.
    """
    return {id or f"\x1f{place}" for place, id in enumerate(given)}


def _turns(messages: tuple[ImportedMessage, ...]) -> int:
    """Return how often the agent begins to speak or act after a message of its user."""
    turns, asked = 0, False
    for message in messages:
        if message.speaker == "user" and not message.by_program:
            asked = True
        elif message.speaker == "assistant" and asked and message.speaks:
            turns, asked = turns + 1, False
    return turns


def _images(message: ImportedMessage) -> int:
    given = message.extra.get("attachments")
    return sum(
        isinstance(one, dict) and one.get("kind") == "image"
        for one in (given if isinstance(given, list) else ())
    )


def _sum(values: list[int | None]) -> int | None:
    stated = [value for value in values if value is not None]
    return sum(stated) if stated else None


def _start(text: str) -> str:
    return " ".join(text.split())[:FIRST]

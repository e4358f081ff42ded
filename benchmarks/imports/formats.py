"""The formats of trajectories made elsewhere, in plain words."""

from dataclasses import dataclass

from benchmarks.formats.registry import FORMATS

ABOUT = {
    "atif": "ATIF 1.0 to 1.7, as Harbor writes it: a trajectory, or a list or ZIP of them, with "
    "continuations.",
    "tau2": "results.json of tau2-bench, or a ZIP of it and its simulations; no voice runs.",
    "inspect": "A log of Inspect, .json or .eval, also of a run that was killed.",
    "tau-bench": "Historical trajectories of tau-bench: a JSON list with task_id, trial, reward "
    "and traj.",
    "openai-chat": "Chat messages as JSON or JSON lines: a list of messages, or messages or traj "
    "beside fields of your own. Also the event logs of OpenAI evals.",
}


@dataclass(frozen=True)
class FormatView:
    """A format that can be imported."""

    name: str
    title: str
    about: str


def import_formats() -> list[FormatView]:
    """All formats by title."""
    found = [FormatView(name, title, ABOUT.get(name, "")) for name, (title, _) in FORMATS.items()]
    return sorted(found, key=lambda view: view.title.lower())

"""Views for pages of ACPBench Hard: scores, checked elements of an answer, figures by group."""

from collections.abc import Mapping
from typing import Any, NamedTuple

from benchmarks.core.ports.display import View
from benchmarks.systems.acpbench_hard.metrics import GROUPS
from benchmarks.systems.acpbench_hard.scoring import QUIRKS
from benchmarks.systems.acpbench_hard.tasks import KINDS, TASKS, shown_answers

_SCORES = {1: ("ok", "1"), 0: ("bad", "0")}


def score_badge(score: float | None) -> tuple[str, str]:
    """Return a badge (tone, text) for a score of 0 or 1, or for none."""
    return _SCORES[int(score)] if score in (0, 1) else ("idle", "unknown")


def mark_badge(mark: Mapping[str, Any]) -> tuple[str, str]:
    """Return a badge (tone, text) for an element of an answer: right, wrong, missing, unknown."""
    if mark.get("part") == "missing":
        return "warn", "missing"
    tones = {True: ("ok", "right"), False: ("bad", "wrong"), None: ("idle", "unknown")}
    return tones[mark.get("right")]


def stored_answer(payload: Mapping[str, Any]) -> list[tuple[str, list[str]]]:
    """Return the stored answer of a question as (what it is, its entries)."""
    return shown_answers(payload["task"], payload["answer"])


def quirk_words(key: str) -> str:
    """Say in a sentence why the two scores differ."""
    return QUIRKS.get(key, key)


def quirk_counts(metrics: Mapping[str, Any]) -> list[tuple[str, int]]:
    """Count why the scores differ in a run, the most frequent reason first."""
    by_count = sorted(metrics.get("quirks", {}).items(), key=lambda item: (-item[1], item[0]))
    return [(quirk_words(key), n) for key, n in by_count]


class GroupMeans(NamedTuple):
    """Both scores of the questions of a kind, as means with their n."""

    scores: tuple[Mapping[str, Any], ...]

    @property
    def n(self) -> int:
        return max(int(score["n"]) for score in self.scores)


def group_rows(metrics: Mapping[str, Any]) -> list[tuple[str, list[tuple[str, GroupMeans]]]]:
    """Return a run's accuracy by kind of question: (title, (kind, means)), where there are
    several.
    """
    groups = []
    for name, title in GROUPS.items():
        rows = metrics.get("accuracy_by_group", {}).get(name, {})
        if rows and (len(rows) > 1 or name == "task"):
            titles = {key: kind.title for key, kind in KINDS.items()} if name == "task" else {}
            means = [
                (titles.get(value, value), GroupMeans((mean["reference"], mean["corrected"])))
                for value, mean in rows.items()
            ]
            groups.append((title, means))
    return groups


def cautions(metrics: Mapping[str, Any]) -> list[tuple[str, str]]:
    """Return remarks on the tasks of a run, each with the title of its task."""
    asked = metrics.get("accuracy_by_group", {}).get("task", {})
    return [
        (task.title, task.caution) for key, task in TASKS.items() if key in asked and task.caution
    ]


DISPLAYS: Mapping[str, View] = {
    "score": score_badge,
    "mark": mark_badge,
    "stored_answer": stored_answer,
    "quirk": quirk_words,
    "quirk_counts": quirk_counts,
    "groups": group_rows,
    "cautions": cautions,
}

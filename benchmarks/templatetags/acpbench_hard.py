"""What pages of ACPBench Hard show: scores, checked elements of an answer, figures by group."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from django import template
from django.utils.html import format_html
from django.utils.safestring import SafeString

from benchmarks.systems.acpbench_hard.answers import shown_answers
from benchmarks.systems.acpbench_hard.metrics import GROUPS
from benchmarks.systems.acpbench_hard.scoring import QUIRKS
from benchmarks.systems.acpbench_hard.tasks import TASKS

register = template.Library()
_SCORES = {1: ("ok", "1"), 0: ("bad", "0")}


def _badge(tone: str, text: str) -> SafeString:
    return format_html('<span class="badge {}">{}</span>', tone, text)


@register.simple_tag
def score_badge(score: float | None) -> SafeString:
    """A score of 0 or 1, or that there is none."""
    return _badge(*(_SCORES[int(score)] if score in (0, 1) else ("idle", "unknown")))


@register.simple_tag
def mark_badge(mark: Mapping[str, Any]) -> SafeString:
    """Whether an element of an answer is right, wrong, missing or not known."""
    if mark.get("part") == "missing":
        return _badge("warn", "missing")
    tones = {True: ("ok", "right"), False: ("bad", "wrong"), None: ("idle", "unknown")}
    return _badge(*tones[mark.get("right")])


@register.filter
def stored_answer(payload: Mapping[str, Any]) -> list[tuple[str, list[str]]]:
    """The stored answer of a question as (what it is, its entries)."""
    return shown_answers(payload["task"], payload["answer"])


@register.filter
def quirk_words(key: str) -> str:
    """Why the two scores differ, in a sentence."""
    return QUIRKS.get(key, key)


@register.filter
def quirk_counts(metrics: Mapping[str, Any]) -> list[tuple[str, int]]:
    """Why the scores differ in a run, the most frequent reason first."""
    found = sorted(metrics.get("quirks", {}).items(), key=lambda item: (-item[1], item[0]))
    return [(quirk_words(key), n) for key, n in found]


@dataclass(frozen=True)
class GroupMeans:
    """Both scores of the questions of a kind, as means with their n."""

    scores: tuple[Mapping[str, Any], ...]

    @property
    def n(self) -> int:
        return max(int(score["n"]) for score in self.scores)


@register.filter
def group_rows(metrics: Mapping[str, Any]) -> list[tuple[str, list[tuple[str, GroupMeans]]]]:
    """A run's accuracy by kind of question: (title, (kind, means)), where there are several."""
    found = []
    for name, title in GROUPS.items():
        rows = metrics.get("accuracy_by_group", {}).get(name, {})
        if rows and (len(rows) > 1 or name == "task"):
            titles = {key: task.title for key, task in TASKS.items()} if name == "task" else {}
            means = [
                (titles.get(value, value), GroupMeans((mean["reference"], mean["corrected"])))
                for value, mean in rows.items()
            ]
            found.append((title, means))
    return found

"""The settings of the builder: its thresholds, how texts are scored, and the limits of ADAPT."""

from collections.abc import Mapping
from typing import Any

from benchmarks.core.system import PROMPTS, SCORER, Setting
from benchmarks.llm.scoring import PROMPT_FORMS
from benchmarks.systems.adapt.settings import BASELINE, NO_FOLD
from benchmarks.systems.adapt.settings import SETTINGS as ADAPT_SETTINGS
from benchmarks.systems.adapt_reflection import prompts
from benchmarks.systems.adapt_reflection.decisions import (
    ARITHMETIC,
    GEOMETRIC,
    TAU_D,
    TAU_U,
    Thresholds,
)

_LIMITS = ("max_actions", "max_questions", "max_unreadable", "ensure_feasible", "require_seen")

SETTINGS = (
    Setting("tau_u", "float", TAU_U, "A question is chosen if it makes the teacher's action more "
            "probable by more than this.", minimum=-1, maximum=1, title="Utility above"),
    Setting("tau_d", "float", TAU_D, "The teacher's action is chosen if it is less probable than "
            "the student's by less than this.", minimum=0, maximum=1, title="Difference below"),
    Setting("mean", "choice", ARITHMETIC, "The mean by which probabilities of tokens become that "
            "of an action.", (ARITHMETIC, GEOMETRIC), title="Mean of probabilities"),
    Setting("prompt_form", "choice", "transcript", "How messages become the prompt of which an "
            "endpoint scores the continuation: completions apply no chat template.",
            tuple(PROMPT_FORMS), title="Form of the prompt"),
    *(setting for setting in ADAPT_SETTINGS if setting.name in _LIMITS),
)  # fmt: skip


def thresholds_of(settings: Mapping[str, Any]) -> Thresholds:
    """Return the thresholds of a run."""
    return Thresholds(settings["tau_u"], settings["tau_d"], settings["mean"])


def play_settings(settings: Mapping[str, Any]) -> dict[str, Any]:
    """Return the settings under which the student plays ADAPT: the baseline, in lines of text."""
    version = str(settings.get(PROMPTS) or prompts.VERSION)
    limits = {name: settings[name] for name in _LIMITS}
    return {
        **limits,
        "method": BASELINE,
        "fold": NO_FOLD,
        "reply_format": "text",
        PROMPTS: prompts.ADAPT_VERSIONS[version],
        **({SCORER: settings[SCORER]} if SCORER in settings else {}),
    }

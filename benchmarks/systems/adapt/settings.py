"""The settings of ADAPT: the method under test, its limits, and how the scene is drawn."""

from collections.abc import Mapping
from typing import Any

from benchmarks.core.ports.comparisons import Caption
from benchmarks.core.system import PROMPTS, Setting
from benchmarks.systems.adapt.dataset import FOLDS

NEVER_ASK, BASELINE, REACT, ALWAYS_ASK = "never_ask", "baseline", "react", "always_ask"
TEACHER, STAR_GATE, REFLECTION_DPO = "teacher", "star_gate", "reflection_dpo"
METHODS: Mapping[str, Caption] = {
    NEVER_ASK: Caption("Never ask", "The agent cannot ask: a lower bound."),
    BASELINE: Caption("Baseline", "The agent is prompted once and may ask."),
    REACT: Caption("ReAct", "As the baseline, with a thought before each action."),
    STAR_GATE: Caption(
        "STaR-GATE", "As the baseline, for a model fine-tuned on its best rollouts."
    ),
    REFLECTION_DPO: Caption(
        "Reflection-DPO", "As the baseline, for a model fine-tuned by Reflection-DPO."
    ),
    ALWAYS_ASK: Caption("Always ask", "A question before every action in the household."),
    TEACHER: Caption("Teacher", "The agent is told the preferences and asks nothing."),
}
NO_ABLATION, NO_REFLECTION, NO_DPO = "none", "no_reflection", "no_dpo"
ABLATIONS: Mapping[str, Caption] = {
    NO_ABLATION: Caption("Nothing left out", "Trained as the method says."),
    NO_REFLECTION: Caption("Without reflection", "Trained on the teacher's actions alone."),
    NO_DPO: Caption("Without DPO", "Fine-tuned on the chosen actions, without the rejected ones."),
}
# Methods under which nobody is asked.
SILENT = (NEVER_ASK, TEACHER)
NO_FOLD = "none"

SETTINGS = (
    Setting("method", "choice", BASELINE,
            "What the agent is told and may do. STaR-GATE and Reflection-DPO are played like the "
            "baseline: what differs is the model at the endpoint.", tuple(METHODS)),
    Setting("ablation", "choice", NO_ABLATION,
            "What was left out when a model was trained for Reflection-DPO (Table 2). It is played "
            "the same way: what differs is the model at the endpoint.", tuple(ABLATIONS)),
    Setting("fold", "choice", NO_FOLD,
            "The fold of personas that the agent was not trained on; the others are seen. With "
            "none, the agent was trained on nobody, and all personas are unseen.",
            (NO_FOLD, *map(str, range(FOLDS))), title="Fold left out"),
    Setting("reply_format", "choice", "text",
            "How the agent replies: a line of text, or a JSON object, to which endpoints can be "
            "held so that every name in it exists.", ("text", "json")),
    Setting("max_actions", "int", 100, "Actions that end the episode, questions included.",
            minimum=1, maximum=500, title="Action limit"),
    Setting("max_questions", "int", 40, "Questions that the agent may ask; one more ends the "
            "episode.", minimum=0, maximum=500, title="Question limit"),
    Setting("max_unreadable", "int", 5, "Replies in a row that are no action and end the episode.",
            minimum=1, maximum=50, title="Unreadable replies in a row"),
    Setting("ensure_feasible", "bool", True,
            "Add an object of each kind that a task cannot do without, where the scene has none.",
            title="Add missing objects"),
    Setting("require_seen", "bool", False,
            "Refuse actions on objects that the agent has not come across; otherwise it may guess "
            "their names.", title="Seen objects only"),
)  # fmt: skip


def played_as(settings: Mapping[str, Any]) -> str:
    """Return what a run plays: its method, or the ablation of it."""
    ablation = str(settings.get("ablation", NO_ABLATION))
    return str(settings["method"]) if ablation == NO_ABLATION else ablation


def prompts_version(settings: Mapping[str, Any]) -> str:
    """Return the version of the prompts that a run is pinned to; '' for the newest."""
    return str(settings.get(PROMPTS, ""))

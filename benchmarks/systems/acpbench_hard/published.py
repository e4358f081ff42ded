"""Figures of the ACPBench Hard paper, as reference rows (Tables 1, 2, 3, 5, 7 and 8).

The paper prints shares with two decimals, here as percent. It asks 130 questions per task, ten of
each domain. The mean over the eight tasks is printed in Table 3 alone; for Tables 1 and 2 it is
computed from the printed shares, which is possible because each task has as many questions.
"""

from collections.abc import Callable, Iterator, Mapping

from benchmarks.core.ports.comparability import (
    Finding,
    PublishedAspect,
    PublishedSetting,
    RunFacts,
    dataset_is,
    decoding,
    same,
    whole_split,
)
from benchmarks.core.ports.published import PaperPreset, Published, ReportPart
from benchmarks.systems.acpbench_hard.settings import BOTH, NL, PDDL, REFERENCE
from benchmarks.systems.acpbench_hard.settings import PAPER as OFFICIAL_PROMPT
from benchmarks.systems.acpbench_hard.tasks import TASKS

PAPER = "ACPBench Hard"
# Questions per task, and per task and domain.
PER_TASK, PER_DOMAIN = 130, 10
_NL = "2-shot, context in natural language"

TABLE_1: Mapping[str, tuple[float, ...]] = {
    "Granite 3.1 8B": (0.00, 0.00, 0.21, 0.08, 0.22, 0.36, 0.33, 0.09),
    "Llama 3.1 8B": (0.00, 0.00, 0.22, 0.06, 0.25, 0.40, 0.33, 0.13),
    "DeepSeek coder 33B": (0.02, 0.02, 0.21, 0.10, 0.17, 0.42, 0.18, 0.15),
    "Granite 34B code": (0.02, 0.00, 0.17, 0.11, 0.18, 0.43, 0.28, 0.12),
}
TABLE_2: Mapping[str, tuple[float, ...]] = {
    "Mixtral 8x22B": (0.10, 0.02, 0.31, 0.26, 0.32, 0.68, 0.37, 0.23),
    "Llama 3.1 70B": (0.12, 0.02, 0.44, 0.20, 0.42, 0.65, 0.28, 0.20),
    "GPT-4o mini": (0.07, 0.01, 0.14, 0.04, 0.35, 0.59, 0.22, 0.27),
    "Llama 3.1 405B": (0.14, 0.04, 0.59, 0.15, 0.48, 0.74, 0.26, 0.48),
    "GPT-4o": (0.25, 0.01, 0.54, 0.29, 0.55, 0.78, 0.32, 0.62),
    "DeepSeek V3": (0.21, 0.05, 0.65, 0.12, 0.47, 0.76, 0.32, 0.56),
    "o1 mini": (0.38, 0.06, 0.44, 0.38, 0.64, 0.70, 0.60, 0.78),
    "GPT OSS 20B": (0.03, 0.09, 0.14, 0.47, 0.62, 0.72, 0.50, 0.14),
    "GPT OSS 120B": (0.00, 0.13, 0.05, 0.49, 0.78, 0.79, 0.68, 0.70),
    "o1-preview": (0.44, 0.12, 0.46, 0.56, 0.80, 0.89, 0.66, 0.26),
    "DeepSeek R1": (0.05, 0.01, 0.52, 0.20, 0.36, 0.77, 0.24, 0.53),
}
# DeepSeek V3 by context form; the last column is the mean as printed.
TABLE_3: Mapping[str, tuple[float, ...]] = {
    "nl": (0.21, 0.05, 0.65, 0.12, 0.47, 0.76, 0.32, 0.56, 0.39),
    "pddl": (0.31, 0.07, 0.74, 0.21, 0.53, 0.87, 0.33, 0.55, 0.44),
    "nl+pddl": (0.32, 0.09, 0.68, 0.19, 0.60, 0.88, 0.37, 0.61, 0.47),
}
TABLE_3_MODEL = "DeepSeek V3"
# Applicable actions of a question: the most, and the mean.
TABLE_5 = {
    "ferry": (10, 5.00), "logistics": (10, 9.50), "blocksworld": (9, 4.60), "grid": (6, 4.00),
    "floortile": (10, 9.50), "grippers": (9, 6.10), "rovers": (10, 7.90), "visitall": (4, 2.80),
    "depot": (10, 9.70), "goldminer": (4, 2.80), "satellite": (8, 8.00), "swap": (49, 37.80),
    "alfworld": (99, 66.20),
}  # fmt: skip
TABLE_7_DOMAINS = (
    "depot", "goldminer", "satellite", "swap", "alfworld", "ferry", "logistics", "blocks", "grid",
    "floortile", "grippers", "rovers", "visitall",
)  # fmt: skip
# Next action by domain. The last row is the share of right answers among applicable actions.
RANDOM = "random (full set)"
TABLE_7: Mapping[str, tuple[float, ...]] = {
    "Mixtral 8x22B": (0.4, 0.2, 0.4, 0.8, 0.1, 0.3, 0.4, 0.3, 0.3, 0.1, 0.2, 0.4, 0.3),
    "Llama 3.1 70B": (0.6, 0.4, 0.5, 0.7, 0.1, 0.2, 0.4, 0.5, 0.5, 0.4, 0.3, 0.3, 0.5),
    "GPT-4o mini": (0.4, 0.4, 0.4, 0.7, 0.0, 0.5, 0.1, 0.4, 0.6, 0.1, 0.2, 0.3, 0.5),
    "DeepSeek V3": (0.5, 0.4, 0.2, 1.0, 0.2, 0.7, 0.8, 0.6, 0.6, 0.0, 0.1, 0.5, 0.5),
    "Llama 3.1 405B": (0.6, 0.4, 0.4, 1.0, 0.4, 0.4, 0.6, 0.2, 0.6, 0.0, 0.3, 0.6, 0.7),
    "GPT-4o": (0.6, 0.7, 0.5, 0.9, 0.4, 0.7, 0.6, 0.6, 0.7, 0.1, 0.2, 0.8, 0.4),
    "DeepSeek R1": (0.4, 0.5, 0.2, 0.9, 0.0, 0.4, 0.6, 0.5, 0.4, 0.0, 0.1, 0.2, 0.5),
    "o1 mini": (0.9, 0.8, 0.5, 0.9, 0.5, 1.0, 0.4, 0.6, 0.9, 0.3, 0.2, 0.4, 0.9),
    "o1-preview": (0.8, 0.9, 0.8, 0.9, 0.9, 1.0, 0.8, 0.8, 0.9, 0.8, 0.1, 0.9, 0.8),
    RANDOM: (0.11, 0.43, 0.04, 0.21, 0.03, 0.19, 0.14, 0.39, 0.36, 0.22, 0.20, 0.26, 0.49),
}
# o1-preview on applicability: exact match and Jaccard similarity, with the digits that are printed.
TABLE_8_MODEL, MEAN = "o1-preview", "mean"
TABLE_8 = {
    "alfworld": ("0", "0.20"), "blocksworld": ("1", "1"), "depot": ("0.3", "0.54"),
    "ferry": ("0.5", "0.5"), "floortile": ("0.2", "0.73"), "goldminer": ("0.9", "0.9"),
    "grid": ("1", "1"), "grippers": ("0", "0"), "logistics": ("0.2", "0.2"),
    "rovers": ("0.2", "0.57"), "satellite": ("0.2", "0.29"), "swap": ("0.3", "0.63"),
    "visitall": ("0.9", "0.9"), MEAN: ("0.44", "0.57"),
}  # fmt: skip


def _percent(share: float) -> float:
    """Return a printed share as percent, without the noise of binary fractions."""
    return round(100 * share, 6)


def _rows() -> Iterator[Published]:
    for table, models in (("Table 1", TABLE_1), ("Table 2", TABLE_2)):
        for model, shares in models.items():
            for task, share in zip(TASKS, shares, strict=True):
                yield Published(model, task, _percent(share), PER_TASK, table, _NL, 0)
            note = f"{_NL}; not printed: the mean of the eight printed shares"
            mean = round(100 * sum(shares) / len(shares), 2)
            yield Published(model, "accurate", mean, None, table, note, 2)
    for form, shares in TABLE_3.items():
        for task, share in zip(TASKS, shares[:-1], strict=True):
            metric = f"{task}@context={form}"
            yield Published(TABLE_3_MODEL, metric, _percent(share), PER_TASK, "Table 3",
                            "2-shot", 0)  # fmt: skip
        metric = f"accurate@context={form}"
        yield Published(TABLE_3_MODEL, metric, _percent(shares[-1]), PER_TASK * len(TASKS),
                        "Table 3", "2-shot; mean as printed", 0)  # fmt: skip
    for domain, (most, mean) in TABLE_5.items():
        for metric, value, digits in (("most_applicable", most, 0), ("applicable", mean, 2)):
            yield Published("questions of the paper", f"{metric}@domain={domain}", value,
                            PER_DOMAIN, "Table 5", "applicability", digits)  # fmt: skip
    for model, shares in TABLE_7.items():
        # All applicable actions count in the last row, so that no number of answers is known.
        n, digits = (None, 0) if model == RANDOM else (PER_DOMAIN, 0)
        for domain, share in zip(TABLE_7_DOMAINS, shares, strict=True):
            yield Published(model, f"nexta@domain={domain}", _percent(share), n, "Table 7", _NL,
                            digits)  # fmt: skip
    for domain, (exact, jaccard) in TABLE_8.items():
        n = PER_TASK if domain == MEAN else PER_DOMAIN
        for metric, printed in (("app", exact), ("jaccard", jaccard)):
            if (metric, domain) == ("app", MEAN):
                continue  # as in Table 2
            name = metric if domain == MEAN else f"{metric}@domain={domain}"
            share = metric == "app"
            value = _percent(float(printed)) if share else float(printed)
            digits = 0 if share else len(printed.partition(".")[2])
            yield Published(TABLE_8_MODEL, name, value, n, "Table 8", _NL, digits)


PUBLISHED = tuple(_rows())

_TABLES = (
    ReportPart("leaderboard", "leaderboard"),
    ReportPart("compare-models", "compare-models"),
    ReportPart("breakdown", "breakdown-task", {"by": "task"}),
    ReportPart("breakdown", "breakdown-domain", {"by": "domain"}),
    ReportPart("breakdown", "breakdown-task-and-domain", {"by": "task+domain"}),
    ReportPart("breakdown", "breakdown-distance", {"by": "distance"}),
)
PRESETS = (
    PaperPreset(
        "acp-main-table", "Accuracy by task",
        "Tables 1, 2, 5, 7 and 8, Figures 1, 3, 5 and 9 to 11: accuracy by task and domain",
        "The accuracy of each agent on each of the eight tasks, beside the paper's models; which "
        "differences are real; accuracy by domain; of the next action by distance to the goal.",
        _TABLES,
        ("Tables 1, 2, 5, 7 and 8",),
        PAPER,
    ),
    PaperPreset(
        "acp-contexts", "Three context forms", "Table 3: natural language, PDDL, or both",
        "What the form of the context does to accuracy on the same questions.",
        (
            ReportPart("conditions", "conditions"),
            ReportPart("effects", "effects-accurate",
                       {"factor": "context", "measure": "accurate"}),
            *_TABLES[:1],
        ),
        ("Table 3",),
        PAPER,
    ),
)  # fmt: skip

# --- the setting of the figures (section 7.1, appendix A.5) ---------------------------------------

SHOTS = 2


def _prompt(*contexts: str) -> Callable[[RunFacts], Finding]:
    def compare(facts: RunFacts) -> Finding:
        official = facts.settings.get("prompt") == OFFICIAL_PROMPT
        context = str(facts.settings.get("context"))
        wording = (
            "wording of the repository"
            if official
            else (f"own wording, version {facts.pins.get('prompts', 'not stored')}")
        )
        fits = official and context in contexts
        return Finding("same" if fits else "different", f"{wording}; context {context}")

    return compare


def _shots(facts: RunFacts) -> Finding:
    shots = facts.settings.get("shots")
    official = facts.settings.get("prompt") == OFFICIAL_PROMPT
    words = "the repository’s" if official else "of our own"
    fits = official and shots == SHOTS
    return Finding("same" if fits else "different", f"{shots} {words}")


def _decoding(facts: RunFacts) -> Finding:
    # With the published prompt, replies are read up to the published stops.
    official = facts.settings.get("prompt") == OFFICIAL_PROMPT
    return decoding(0.0, 1000, more="" if official else "no stop sequences")(facts)


def _scorer(facts: RunFacts) -> Finding:
    counts = facts.settings.get("counts")
    if counts != REFERENCE:
        return Finding("different", f"{counts} score")
    nodes = facts.settings.get("nodes", 0)
    return Finding("same", f"reference score; searches of up to {nodes:,} states in place of K*")


_ASPECTS = {
    "shots": PublishedAspect("2 examples outside the questions: grid and logistics", _shots),
    "split": PublishedAspect("test, 1,040 questions", whole_split(PER_TASK * len(TASKS), "test")),
    "decoding": PublishedAspect(
        "temperature 0, at most 1,000 tokens (GPT OSS: 4,000), stop at a blank line",
        _decoding,
    ),
    "turns": PublishedAspect("one reply", same("one reply")),
    "judges": PublishedAspect("none: symbolic validators", same("none: symbolic validators")),
    "scorer": PublishedAspect("the repository’s evaluators, with the planner K*", _scorer),
    "dataset": PublishedAspect("the repository’s test files, digest not stated", dataset_is()),
}
_WORDING = "the repository’s configs/tasks"
COMPARABILITY = (
    PublishedSetting(
        f"{PAPER} paper",
        {"prompt": PublishedAspect(f"{_WORDING}; context nl", _prompt(NL)), **_ASPECTS},
    ),
    PublishedSetting(
        f"{PAPER} paper",
        {
            "prompt": PublishedAspect(
                f"{_WORDING}; context nl, pddl or both", _prompt(NL, PDDL, BOTH)
            ),
            **_ASPECTS,
        },
        sources=("Table 3",),
    ),
)

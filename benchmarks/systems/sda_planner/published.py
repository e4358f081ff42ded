"""Table 1 of the SDA-Planner paper as reference rows, and the experiments behind its tables.

Figures 4 and 5 (the ablations) are printed as plots without numbers, so no values stand here. The
percentages are whole shares of 348 seen and 370 unseen instances, half of LoTA-Bench's.
"""

from benchmarks.core.ports.comparability import (
    NOT_STATED,
    Compare,
    Finding,
    PublishedAspect,
    PublishedSetting,
    RunFacts,
    dataset_is,
    decoding,
    different,
    own_prompts,
    same,
    setting_words,
    whole_split,
)
from benchmarks.core.ports.published import PaperPreset, PaperStatements, Published, ReportPart

SEEN, UNSEEN = 348, 370
_METRICS = ("accurate", "goal_conditions", "corrections")
_NOTE = "On the simulator with images; this house is symbolic, so compare the order, not the level."
# (model, seen, unseen, average), each SR, GC and No. EC; None where the paper prints a dash.
_TABLE_1: tuple[tuple[str, tuple[float | None, ...]], ...] = (
    ("HLSM", (29.63, 38.74, None, 18.28, 31.24, None, 23.96, 34.99, None)),
    ("SayCan (GPT-3)", (12.30, 24.52, None, 9.88, 22.54, None, 11.09, 23.53, None)),
    ("LLM planner (GPT-4o-mini)", (31.32, 40.97, 3.75, 40.00, 51.15, 3.51, 35.66, 46.06, 3.63)),
    ("Global Planner (GPT-4o-mini)", (35.92, 42.72, 2.42, 42.70, 51.22, 2.06, 39.31, 46.97, 2.24)),
    ("Tree Planner (GPT-4o-mini)", (32.47, 39.82, None, 40.54, 48.36, None, 36.51, 44.09, None)),
    ("SDA-Planner (GPT-4o-mini)", (38.22, 47.10, 3.01, 44.32, 54.73, 3.10, 41.27, 50.92, 3.06)),
)
_COLUMNS = (
    ("Table 1, valid seen", SEEN), ("Table 1, valid unseen", UNSEEN), ("Table 1, average", None),
)  # fmt: skip

PUBLISHED = tuple(
    Published(model, metric, value, n, source, _NOTE)
    for model, values in _TABLE_1
    for column, (source, n) in enumerate(_COLUMNS)
    for metric, value in zip(_METRICS, values[3 * column : 3 * column + 3], strict=True)
    if value is not None
)

PAPER = PaperStatements(
    name="SDA-Planner", tasks="348 seen and 370 unseen instances of ALFRED, six task types"
)


def _effects(factor: str, *measures: str) -> tuple[ReportPart, ...]:
    """Return the pages on what a factor does to success, and to further measures."""
    return (
        ReportPart("effects", f"effects-{factor}", {"factor": factor, "measure": "accurate"}),
        *(
            ReportPart("effects", f"effects-{factor}-{one}", {"factor": factor, "measure": one})
            for one in measures
        ),
    )


_LEADERBOARD = ReportPart("leaderboard", "leaderboard")
PRESETS = (
    PaperPreset(
        "sda-main-table", "Four planners", "Table 1: four planners on the same tasks",
        "Success, goal conditions and corrections of SDA-Planner, Local, Global and Tree Planner, "
        "with the same agents, tasks and seeds.",
        (*_effects("planner", "goal_conditions", "corrections"), _LEADERBOARD), ("Table 1",),
        "SDA-Planner",
    ),
    PaperPreset(
        "sda-ablations", "Ablations of SDA-Planner", "Figures 4 and 5: the ablations",
        "SDA-Planner without adaptation, and without the search tree.",
        (
            *_effects("adaptation", "goal_conditions"), *_effects("search_tree", "goal_conditions"),
            _LEADERBOARD,
        ), ("Figure 4", "Figure 5"),
        "SDA-Planner",
    ),
    PaperPreset(
        "sda-errors", "Injected errors", "Each class of injected error",
        "What things that were moved, hidden, missed or dropped do to SDA-Planner.",
        (*_effects("env_error"), _LEADERBOARD), ("Section 4.3",), "SDA-Planner",
    ),
)  # fmt: skip


# --- the setting of the figures (section 5.1) -----------------------------------------------------


def _shots(facts: RunFacts) -> Finding:
    return Finding("unknown", f"{facts.settings.get('examples', 'number not stored')} of our own")


def _turns(facts: RunFacts) -> Finding:
    names = ("max_steps", "max_corrections")
    limits = ", ".join(setting_words(name, facts.settings.get(name, NOT_STATED)) for name in names)
    return Finding("unknown", limits)


def _setting(words: str, split: Compare, source: str) -> PublishedSetting:
    return PublishedSetting(
        f"{PAPER.name} paper",
        {
            "prompt": PublishedAspect("LoTA-Bench’s prompts", own_prompts),
            "shots": PublishedAspect(NOT_STATED, _shots),
            "split": PublishedAspect(words, split),
            "decoding": PublishedAspect("GPT-4o-mini at temperature 0", decoding(0.0)),
            "turns": PublishedAspect(NOT_STATED, _turns),
            "judges": PublishedAspect("none: goal conditions are checked", same("none")),
            "scorer": PublishedAspect(
                "goal conditions in AI2-THOR, with images",
                different("goal conditions in a symbolic house"),
            ),
            "dataset": PublishedAspect("ALFRED, half of LoTA-Bench’s instances", dataset_is()),
        },
        sources=(source,) if source else (),
    )


COMPARABILITY = (
    _setting(
        f"{SEEN} valid seen and {UNSEEN} valid unseen instances",
        whole_split(SEEN + UNSEEN, "valid_seen", "valid_unseen"),
        "",
    ),
    _setting(f"{SEEN} valid seen instances", whole_split(SEEN, "valid_seen"), _COLUMNS[0][0]),
    _setting(
        f"{UNSEEN} valid unseen instances", whole_split(UNSEEN, "valid_unseen"), _COLUMNS[1][0]
    ),
)

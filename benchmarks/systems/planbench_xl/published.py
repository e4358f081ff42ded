"""Figures of the PlanBench-XL paper, as reference rows.

Only what could be traced stands here: the abstract's two figures, and one that a summary of the
paper quotes. Counts are inferred from the percentages: where n is below 327, queries must have been
left out of the denominator, as the evaluator does with queries that an error kept pending.
"""

from benchmarks.core.ports.comparability import (
    NOT_STATED,
    PublishedAspect,
    PublishedSetting,
    dataset_is,
    decoding,
    own_prompts,
    same,
    settings_are,
    unknown,
    whole_split,
)
from benchmarks.core.ports.published import PaperPreset, Published, ReportPart
from benchmarks.systems.planbench_xl.comparisons import run_name
from benchmarks.systems.planbench_xl.settings import CONDITIONS

_ABSTRACT = "arXiv 2606.22388, abstract"
_SUMMARY = "summary of arXiv 2606.22388 at picx.dev"

PUBLISHED = (
    Published("GPT-5.4", "accurate@blocking=none", 51.90, 316, _ABSTRACT,
              "Block-free. n inferred: 164 of 316 is the only count of 300 to 327 that fits."),
    Published("GPT-5.4", "accurate@blocking=most severe", 11.36, None, _ABSTRACT,
              "The abstract does not say which condition this is. 35 of 308 and 36 of 317 fit."),
    Published("Gemini-3.1-Pro", "accurate@condition=default", 77.06, 327, _SUMMARY,
              "Not checked against the paper's tables. n inferred: 252 of 327."),
)  # fmt: skip

PRESETS = (
    PaperPreset(
        "xl-main-table", "Block-free table", "The main table without blocking",
        "Accuracy, steps, searches, calls, mistakes and coverage of each agent; which "
        "differences are real.",
        (
            ReportPart("leaderboard", "leaderboard"),
            ReportPart("compare-models", "compare-models"),
            ReportPart("tools", "tools"),
        ),
        ("arXiv 2606.22388, abstract",),
        "PlanBench-XL",
    ),
    PaperPreset(
        "xl-conditions", "Twelve conditions", "The twelve conditions of blocking",
        "What each condition does to accuracy on the same tasks: blocking, feedback, types of "
        "blocking tools, share of paths kept and length of the remaining path; the main table "
        "under each condition.",
        (
            ReportPart("conditions", "conditions"),
            *(
                ReportPart("leaderboard", f"leaderboard-{name.replace('_', '-')}",
                     {"condition": run_name(name)})
                for name in CONDITIONS
            ),
            *(
                ReportPart("tools", f"tools-{name}", {"condition": run_name(name)})
                for name in ("default", "blocker", "feedback")
            ),
        ),
        ("arXiv 2606.22388, abstract",),
        "PlanBench-XL",
    ),
)  # fmt: skip

# The paper's text was not at hand: what its repository does by default stands for its setting.
_LIMITS = {"max_steps": 100, "max_label_errors": 3, "max_retrieval_errors": 3,
           "max_call_errors": 3, "max_total_tools": 30, "noise": True}  # fmt: skip
_RULES = {"trust": "datatype", "answer_match": "substring", "untrusted_match": "always",
          "ambiguous_record": "leave_out"}  # fmt: skip
COMPARABILITY = (
    PublishedSetting(
        "PlanBench-XL paper",
        {
            "prompt": PublishedAspect("the repository’s prompts", own_prompts),
            "shots": PublishedAspect(NOT_STATED, unknown("no examples")),
            "split": PublishedAspect("327 queries", whole_split(327)),
            "decoding": PublishedAspect(NOT_STATED, decoding(None)),
            "turns": PublishedAspect(
                "the repository’s limits: 100 steps, 3 errors of a kind, 30 tools a search",
                settings_are(_LIMITS),
            ),
            "judges": PublishedAspect("none: answers are matched", same("none")),
            "scorer": PublishedAspect("the repository’s evaluator", settings_are(_RULES)),
            "dataset": PublishedAspect("retail data, digest not stated", dataset_is()),
        },
    ),
)

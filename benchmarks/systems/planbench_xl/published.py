"""Figures of the PlanBench-XL paper, as reference rows.

Only what could be traced stands here: the abstract's two figures, and one that a summary of the
paper quotes. Counts are inferred from the percentages: where n is below 327, queries must have been
left out of the denominator, as the evaluator does with queries that an error kept pending.
"""

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

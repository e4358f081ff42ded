"""The shipped experiments: what each gives, and what of its system's paper that is."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from benchmarks.core.errors import UnknownName
from benchmarks.experiments.design import Design, read_design
from benchmarks.experiments.presets import presets
from benchmarks.systems.planbench_xl.comparisons import run_name as condition_filter
from benchmarks.systems.planbench_xl.settings import CONDITIONS as XL_CONDITIONS


@dataclass(frozen=True)
class Part:
    """A page of analysis with its filters, under a name of its own.

    ``later``: with what takes longer than a page. A page on people's answers is left out where
    nobody answered about these runs, one on a condition where no run has it.
    """

    page: str
    name: str
    filters: Mapping[str, Any] = field(default_factory=dict)
    later: bool = False


@dataclass(frozen=True)
class Preset:
    """A shipped experiment. ``paper`` says which of the paper's tables and figures it is,
    ``sources`` where its numbers are printed, ``of`` names the paper.
    """

    name: str
    title: str
    paper: str
    gives: str
    parts: tuple[Part, ...]
    sources: tuple[str, ...] = ()
    of: str = "AdaPlanBench"

    @property
    def design(self) -> Design:
        """The matrix of its runs, as its file has it."""
        text = next(shipped.text for shipped in presets() if shipped.key == self.name)
        return read_design(text)


LEADERBOARD = Part("leaderboard", "leaderboard")


def _effects(factor: str) -> tuple[Part, ...]:
    return tuple(
        Part("effects", f"effects-{measure}", {"factor": factor, "measure": measure})
        for measure in ("accurate", "valid")
    )


XL_SOURCES = ("arXiv 2606.22388, abstract",)


PRESETS: Mapping[str, Preset] = {
    preset.name: preset
    for preset in (
        Preset(
            "main-table", "Main table",
            "Table 3, with Tables 4, 8 and 9 and Figures 3 and 19 to 23",
            "Accuracy, valid plans, turns and violations of each agent, beside the published rows, "
            "with several seeds the mean and spread over them; rubric scores of final plans and by "
            "turn; how far judges differ from each other, and from people where people answered; "
            "which differences are real.",
            (
                LEADERBOARD,
                Part("compare-models", "compare-models"),
                Part("rubric", "rubric"),
                Part("decline", "decline"),
                Part("dispersion", "dispersion", later=True),
                Part("agreement", "agreement"),
            ),
            ("Table 3", "Table 8", "Table 9"),
        ),
        Preset(
            "complexity", "Complexity", "Figure 2, with Table 2",
            "Accuracy and valid plans at the levels low, mid and high, and the sizes of profiles.",
            _effects("level"),
        ),
        Preset(
            "tracking", "Constraint tracking", "Figure 4",
            "Accuracy and valid plans with and without a block of all constraints told so far.",
            _effects("tracking"),
        ),
        Preset(
            "refinement", "Refinement", "Figure 5",
            "Accuracy and valid plans after 0 to 6 extra turns with feedback on the rubric.",
            (
                Part("refinement", "refinement"),
                Part("refinement", "refinement-refined", {"among": "refined"}),
            ),
        ),
        Preset(
            "ablation", "Dual ablation", "Figure 6",
            "Accuracy and valid plans under both kinds of constraints, and under each kind alone; "
            "user against world constraints on the same tasks.",
            _effects("constraints"),
        ),
        Preset(
            "temperature", "Temperature", "Table 5",
            "Accuracy and valid plans at temperatures of 0, 0.7 and 1.",
            _effects("temperature"),
            ("Table 5",),
        ),
        Preset(
            "threshold", "Thresholds", "Table 10",
            "Accuracy and order of the agents at rubric thresholds τ from 2 to 5, with intervals "
            "of ranks.",
            (Part("sweeps", "sweeps", later=True),),
            ("Table 10",),
        ),
        Preset(
            "xl-main-table", "Block-free table", "The main table without blocking",
            "Accuracy, steps, searches, calls, mistakes and coverage of each agent; which "
            "differences are real.",
            (
                LEADERBOARD,
                Part("compare-models", "compare-models"),
                Part("tools", "tools"),
            ),
            XL_SOURCES,
            "PlanBench-XL",
        ),
        Preset(
            "xl-conditions", "Twelve conditions", "The twelve conditions of blocking",
            "What each condition does to accuracy on the same tasks: blocking, feedback, types of "
            "blocking tools, share of paths kept and length of the remaining path; the main table "
            "under each condition.",
            (
                Part("conditions", "conditions"),
                *(
                    Part("leaderboard", f"leaderboard-{name.replace('_', '-')}",
                         {"condition": condition_filter(name)})
                    for name in XL_CONDITIONS
                ),
                *(
                    Part("tools", f"tools-{name}", {"condition": condition_filter(name)})
                    for name in ("default", "blocker", "feedback")
                ),
            ),
            XL_SOURCES,
            "PlanBench-XL",
        ),
    )
}  # fmt: skip


def find_preset(name: str) -> Preset:
    """A preset by name, with or without hyphens, spaces and capitals."""
    plain = {_plain(known): preset for known, preset in PRESETS.items()}
    if _plain(name) not in plain:
        raise UnknownName("preset", name, list(PRESETS))
    return plain[_plain(name)]


def _plain(name: str) -> str:
    return re.sub(r"[\s_-]", "", name).casefold()


def parts_of(preset: str, design: Design) -> tuple[Part, ...]:
    """The parts of a report on an experiment: those of its preset, else what its design varies."""
    if preset in PRESETS:
        return PRESETS[preset].parts
    settings = {name for condition in design.conditions for name in condition}
    varied = [("level", len(design.levels) > 1), ("temperature", len(design.temperatures) > 1)]
    varied += [(name, name in settings) for name in ("constraints", "tracking")]
    found = [part for factor, so in varied if so for part in _effects(factor)]
    if "refinement" in settings:
        found += PRESETS["refinement"].parts
    return (*found,) or PRESETS["main-table"].parts

"""A registration as text, in the sections that registries such as OSF ask for."""

from collections.abc import Iterator
from typing import NamedTuple

from analysis.registrations.document import CORRECTIONS, SIGNS, Plan
from analysis.reports.formatting import plural

ANY = "not fixed"
SCORES = {
    "": "corrected by people where they rated enough, else judges",
    "judges": "judges", "people": "people", "corrected": "judges corrected by people",
}  # fmt: skip


class Section(NamedTuple):
    """A part of a registration: its heading, and lines of label and value."""

    title: str
    lines: list[tuple[str, str]]


def sections(plan: Plan) -> list[Section]:
    """Return what is registered, section by section; what is left open says so."""
    hypotheses = [
        (f"Hypothesis {number}", f"{one.first} {SIGNS[one.direction]} {one.second}")
        for number, one in enumerate(plan.comparisons, 1)
    ]
    about = [("Question", plan.kind.title), *hypotheses]
    if plan.reasons:
        about.append(("Reasons", plan.reasons))
    return [
        Section("Study information", about),
        Section("Data", list(_data(plan))),
        Section("Sampling plan", list(_sample(plan))),
        Section("Variables", [("Measure", plan.measure), *_scores(plan)]),
        Section("Analysis plan", list(_analysis(plan))),
    ]


def _data(plan: Plan) -> Iterator[tuple[str, str]]:
    if plan.study:
        yield "Study", plan.study
        yield "Questionnaire", plan.questionnaire
    else:
        yield "Benchmark system", plan.system
        yield "Dataset", f"{plan.dataset}, version {plan.version}"
        if plan.checksum:
            yield "Checksum of the dataset", plan.checksum
        yield "Experiment", plan.experiment or "all runs on the dataset"
    yield "Level", plan.level or ("all of the study" if plan.study else "none: it has no levels")
    yield "Condition", plan.condition or "all of the study"
    if plan.agents:
        yield "Agents", ", ".join(plan.agents)
    yield "Judging", plan.judging or "the primary one"
    yield "Judges", ", ".join(plan.judges) or ANY
    for name, version in sorted(plan.versions.items()):
        yield f"Version of {name}", version


def _sample(plan: Plan) -> Iterator[tuple[str, str]]:
    yield "Registered", f"{plan.registered_at}, before the first answer"
    if plan.study:
        yield "Items", f"{plan.items:,}" if plan.items else ANY
        yield "Raters of each item", str(plan.raters or ANY)
    else:
        yield "Tasks for each agent", f"{plan.tasks:,}" if plan.tasks else ANY
        yield "Trajectories for each agent", f"{plan.trajectories:,}" if plan.trajectories else ANY
        if plan.task_set:
            yield "Digest of the tasks' ids", plan.task_set
    yield "Stopping rule", plan.stopping


def _scores(plan: Plan) -> Iterator[tuple[str, str]]:
    if not plan.study:
        yield "Scores of", SCORES[plan.whose_scores]


def _analysis(plan: Plan) -> Iterator[tuple[str, str]]:
    yield "Pages", ", ".join(plan.kind.pages.values())
    family = plural(plan.family, "comparison") if plan.family else "as the page states it"
    yield "Family", family
    yield "Correction", f"{CORRECTIONS[plan.correction]}, two-sided, α = {plan.alpha:g}"
    if plan.epsilon is not None:
        yield "ε of the alternative annotator test", f"{plan.epsilon:g}"
    if plan.study:
        simulated = {"exclude": "left out", "include": "counted"}[plan.simulated]
        yield "Simulated annotators", simulated
        yield "Answers after unblinding", "left out" if plan.unblinded else "counted"
    else:
        counted = "all" if plan.all_tasks else "those that their own reference solves"
        yield "Tasks that count", counted
    yield "Other exclusions", plan.exclusions or "none"


def as_text(plan: Plan, digest: str) -> str:
    """Return a registration as plain text to copy into a registry."""
    lines = [plan.title, "=" * len(plan.title), ""]
    for section in sections(plan):
        lines += [section.title, "-" * len(section.title)]
        lines += [f"{label}: {value}" for label, value in section.lines]
        lines.append("")
    lines.append(f"SHA-256 of the registration: {digest}")
    return "\n".join(lines) + "\n"

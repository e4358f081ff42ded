"""What all reports say alike: which runs, who judged, what is not the real thing, where to look."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from django.urls import NoReverseMatch, reverse

from analysis.figures.elements import label as escaped
from analysis.figures.narrow import narrow_layout
from analysis.figures.theme import Style, assign_styles, figure_json
from analysis.filters import KEPT, with_query
from analysis.filters.runs import SHOWN
from analysis.filters.selection import ChosenRun, Selection
from analysis.reports.content import Badge, Banner, Cell, FigureSpec, Notice
from analysis.reports.formatting import listed, plural
from analysis.stats.results import Estimate
from benchmarks.core.registry import SYSTEMS, get_system
from benchmarks.core.system import Dimension
from benchmarks.models import Agent
from benchmarks.runs.cautions import tasks_cautions

LABEL_WORDS = {
    "scripted": Badge("scripted", "aside", "A script, not a model: it shows how things work."),
    "recorded": Badge(
        "recorded", "aside", "Answers that were recorded elsewhere, drawn from a pool."
    ),
    "lexicon": Badge("lexicon", "aside", "A list of words decides, not a model."),
    "simulated": Badge(
        "simulated", "aside", "A fake endpoint answers: a program that makes answers up."
    ),
    "human": Badge("person", "", "A person takes this part."),
}
# Two ways to say one thing: without a single turn there is no record of what had run out.
SAME_REASONS = {
    "ended as pool_exhausted": ("the pool of recorded answers ran out before the trajectory ended"),
}
# Lists of trajectories know the verdicts of each run's primary judging alone.
# Of rubric scores, and of people's ratings.
RUBRIC_SCALE: tuple[float, float] = (1, 5)
REPLACED = "; shown is "
OF_PRIMARY = frozenset({"accurate", "valid", "unscored", "score", "spread"})
PUBLISHED_BADGE = Badge("published", "", "A figure from the paper, not from a run here.")


def address(name: str, query: Mapping[str, Any] | str | None = None, **kwargs: Any) -> str:
    """An address by name, or nothing where there is none."""
    try:
        return with_query(reverse(name, kwargs=kwargs), query or {})
    except NoReverseMatch:
        return ""


def trajectories_of(run: ChosenRun, **more: Any) -> str:
    """The list of a run's trajectories, filtered.

    Where another judging counts here, filters that would choose by verdicts of the primary one are
    left out.
    """
    if run.judging != run.primary:
        more = {word: value for word, value in more.items() if word not in OF_PRIMARY}
    return trajectories({"run": run.pk, **more})


def trajectories(query: Mapping[str, Any]) -> str:
    """The list of trajectories, filtered; a value may be a list."""
    return address("analysis:trajectory_list", query)


def page_of(name: str, selection: Selection, **more: Any) -> str:
    """Another page of analysis about the same runs."""
    shared = selection.filters.only(KEPT)
    return address(f"analysis:{name}", shared.query(**more))


def side_by_side(a: ChosenRun, b: ChosenRun, measure: str, **more: Any) -> str:
    """Two runs task by task."""
    return address("analysis:compare_runs", {"a": a.pk, "b": b.pk, "measure": measure, **more})


def successes(run: ChosenRun, share: Estimate, metric: str = "accurate") -> str:
    """The trajectories that a share counts as successes; without any, all that it counts."""
    return trajectories_of(run, **{metric: "yes" if share.value else ["yes", "no"]})


def dimensions_of(system: str) -> tuple[Dimension, ...]:
    return get_system(system).dimensions if system in SYSTEMS else ()


def titles_of(system: str) -> dict[str, str]:
    return {dimension.key: dimension.title for dimension in dimensions_of(system)}


def in_words(reason: str, titles: Mapping[str, str]) -> str:
    """A reason with dimensions by title instead of key, and codes without underscores."""
    reason = SAME_REASONS.get(reason, reason)
    for key, title in titles.items():
        reason = reason.replace(key, title.lower())
    return reason.replace("judge scored: ", "judge scored ").replace("_", " ")


def label_of(run: ChosenRun, role: str) -> set[str]:
    """Who fills a role: scripted, recorded, lexicon, human, …"""
    return {str(filler.get("label", "")) for filler in run.casting.get(role, ())}


def judge_roles(system: str) -> list[str]:
    """The judging roles of a system; those of systems that are not known are not."""
    known = get_system(system).roles if system in SYSTEMS else ()
    return [role.name for role in known if role.judges]


def judge_labels(runs: Iterable[ChosenRun], system: str) -> set[str]:
    """Of what kind the judges are, over all judging roles."""
    return {label for run in runs for role in judge_roles(system) for label in label_of(run, role)}


def agent_badges(run: ChosenRun) -> tuple[Badge, ...]:
    badges = [LABEL_WORDS[run.agent_kind]] if run.agent_kind in LABEL_WORDS else []
    if not run.finished:
        words = f"{run.done} of {run.total} trajectories are done"
        badges.append(Badge("unfinished", "warn", words))
    return tuple(badges)


def agent_cell(run: ChosenRun) -> Cell:
    """The name of a run's agent, leading to the run's trajectories."""
    return Cell(
        run.label,
        (run.label, run.agent_kind, f"run {run.pk}"),
        url=trajectories_of(run),
        badges=agent_badges(run),
    )


def dataset_name(selection: Selection) -> str:
    """The dataset in words; its version only where there was another."""
    dataset = selection.dataset
    if dataset is None:
        return ""
    return dataset.name if dataset.version == "1" else f"{dataset.name}, version {dataset.version}"


def banners(selection: Selection) -> tuple[Banner, ...]:
    """What marks the runs, or their tasks, as something else than the work of models."""
    runs, found = selection.runs, []
    kinds = {run.agent_kind for run in runs}
    judges = judge_labels(runs, selection.system)
    made_by = []
    simulated = any("simulated" in label_of(run, role) for run in runs for role in run.casting)
    if simulated:
        made_by.append("a fake endpoint, which makes answers up")
    if "scripted" in kinds:
        made_by.append("scripted agents")
    if "recorded" in kinds:
        made_by.append("agents that draw recorded answers from a pool")
    if "scripted" in judges:
        made_by.append("scripted judges")
    if "lexicon" in judges:
        made_by.append("lexicon judges, which decide by lists of words")
    if any(run.is_demo for run in runs):
        title, end = "Demo data", "Nothing here says anything about a real model."
    elif simulated:
        title, end = "Simulated answers", "Nothing here says anything about a model."
    elif "lexicon" in judges:
        title, end = "Lexicon judges", "Their verdicts are rough."
    elif "recorded" in kinds:
        title, end = "Recorded answers", "Nobody re-planned: an answer was chosen from the pool."
    else:
        title, end = "Scripted parts", "Read the figures with that in mind."
    if made_by:
        found.append(Banner(title, f"Made with {listed(made_by)}. {end}"))
    imported = sum(run.imported for run in runs)
    if imported:
        words = f"{plural(imported, 'run was', 'runs were')} made elsewhere and imported."
        found.append(Banner("Imported", words))
    if selection.dataset is not None:
        found += [Banner(one.title, one.text) for one in tasks_cautions(selection.dataset)]
    return tuple(found)


def styles(labels: Sequence[str]) -> dict[str, Style]:
    """One look per agent: the same on all pages, because every agent is passed, oldest first."""
    known = Agent.objects.order_by("pk").values_list("title", flat=True)
    return assign_styles([*known, *labels])


def selection_notices(selection: Selection) -> list[Notice]:
    """What the address asked for and did not get, and runs that are not finished."""
    notices = [
        Notice(note, "info" if note.startswith(SHOWN) else "warning") for note in selection.notes
    ]
    replaced = [line for line in selection.left_out if REPLACED in line]
    if replaced:
        text = "; ".join(replaced[:5]) + (f"; and {len(replaced) - 5} more" * (len(replaced) > 5))
        notices.append(
            Notice(f"Several runs of one agent fit here, and one of each is shown. {text}.")
        )
    if any(run.judging != run.primary for run in selection.runs):
        text = (
            "Scores, and metrics that follow from them, are those of the judging "
            f"“{selection.filters.judging}”. Lists of trajectories, and what compares two of them, "
            "show each run's primary judging."
        )
        notices.append(Notice(text, "info"))
    open_runs = [run for run in selection.runs if not run.finished]
    if open_runs:
        names = [f"{run.label} ({run.done} of {run.total})" for run in open_runs]
        notices.append(
            Notice(
                f"Not finished, so the figures will still move: {listed(names, most=5)}.", "info"
            )
        )
    return notices


def how_runs(selection: Selection) -> list[str]:
    """Dataset, level, condition, runs, seeds, judging and versions, to copy."""
    runs = selection.runs
    if not runs:
        return []
    by_label: dict[str, list[str]] = {}
    for run in runs:
        by_label.setdefault(run.label, []).append(str(run.pk))
    numbers = ", ".join(
        f"{label} (run{'s' if len(pks) > 1 else ''} {', '.join(pks)})"
        for label, pks in by_label.items()
    )
    levels = sorted({run.level or "none" for run in runs})
    # A setting that is itself called condition need not be named twice.
    conditions = sorted({run.condition.removeprefix("condition=") for run in runs})
    if all(run.imported for run in runs):
        return [
            f"Dataset {dataset_name(selection)}, made elsewhere and imported. Runs: {numbers}.",
            *_left_out(selection),
        ]
    leveled = f" level {', '.join(levels)};" if levels != ["none"] else ""
    judged = (
        f"Judging: {_same(run.judging_name or 'none' for run in runs)}; judges: "
        f"{_same(_judges(run, selection.system) for run in runs)}. "
    )
    lines = [
        f"Dataset {dataset_name(selection)};{leveled} condition {'; '.join(conditions)}.",
        f"Runs: {numbers}. Seed of the runs: {_same(str(run.seed) for run in runs)}.",
        f"{judged if judge_roles(selection.system) else 'Nobody judges. '}"
        f"Scorer version {_same(run.pins.get('scorer', 'unknown') for run in runs)}, protocol "
        f"{_same(run.pins.get('protocol', 'unknown') for run in runs)}, prompts "
        f"{_same(run.pins.get('prompts', 'unknown') for run in runs)}.",
    ]
    return [*lines, *_left_out(selection)]


def _left_out(selection: Selection) -> list[str]:
    lines = []
    if selection.left_out:
        lines.append(f"Runs left out: {'; '.join(selection.left_out)}.")
    if selection.filters.agents:
        lines.append("Only the chosen agents are counted.")
    return lines


def _judges(run: ChosenRun, system: str) -> str:
    if run.imported or system not in SYSTEMS:
        return "as imported"
    words = []
    for role in get_system(system).roles:
        if role.judges and run.casting.get(role.name):
            fillers = [_filler(filler, system) for filler in run.casting[role.name]]
            words.append(f"{role.title.lower()}: {', '.join(fillers)}")
    return "; ".join(words) or "none"


def _filler(filler: Mapping[str, Any], system: str) -> str:
    """Who fills a role, by title, with the version."""
    policy = str(filler.get("policy") or "")
    known = get_system(system).scripted.get(policy)
    name = known.title if known is not None else policy or filler.get("label")
    return f"{name} {filler.get('version', '')}".strip()


def _same(values: Iterable[str]) -> str:
    """One word for all where they agree, else each that occurs."""
    return " / ".join(dict.fromkeys(values))


def figure_spec(
    name: str,
    title: str,
    subtitle: str,
    figure: dict[str, Any],
    *,
    urls: Mapping[str, str] | None = None,
    least_width: int = 0,
    table: str = "",
) -> FigureSpec:
    """A figure ready to be served, with its layout for narrow screens.

    Under ``least_width`` pixels it scrolls inside its frame instead. ``table`` names the table
    that holds its numbers, where that has another name than the figure.
    """
    figure = linked(figure, urls or {})
    layout = figure["layout"] | {"meta": {"minWidth": least_width}}
    names = {trace["name"] for trace in figure["data"] if trace.get("name")}
    legend = sum(1 + name.count("<br>") for name in names) if len(names) > 1 else 0
    narrow = narrow_layout(layout, names_inside=not least_width, legend=legend)
    drawn = {"data": figure["data"], "layout": layout, "narrow": narrow}
    return FigureSpec(name, title, subtitle, figure_json(drawn), layout["height"], table)


def linked(figure: dict[str, Any], urls: Mapping[str, str]) -> dict[str, Any]:
    """Give the points of a figure the addresses of what they count.

    A point belongs to the name on its vertical axis, or else to the name of its line.
    """
    urls = {escaped(name): url for name, url in urls.items() if url}
    for trace in figure["data"]:
        if trace.get("hoverinfo") == "skip" or not isinstance(trace.get("y"), list):
            continue
        fallback = urls.get(trace.get("name", ""), "")
        found = [urls.get(str(place), fallback) for place in trace["y"]]
        if any(found):
            trace["customdata"] = found
    return figure

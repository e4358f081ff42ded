"""Compare a registered plan with what a page used; pure, without queries."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple

from analysis.registrations.document import CORRECTIONS, Plan
from analysis.reports.formatting import listed, plural


@dataclass(frozen=True)
class Used:
    """What a page used: its filters, its family, and the cut of its data.

    ``measures`` are those of which the page states comparisons; ``agents`` all of its family,
    ``shown`` those that it shows. Counts of tasks and trajectories (``planned`` and ``done``) are
    by agent. ``chosen_runs``: runs were picked one by one; ``experiments`` counts those of the
    registered name; ``rated``: people scored its plans, so that ``scores`` can be chosen;
    ``shows_rest``: the reader asked for what is left of deleted data.
    ``first_answer`` is the time of the earliest answer (UTC, as in documents).
    ``imported`` are agents whose answers were made elsewhere. ``left_out`` says which people's
    answers do not count although the filters take them.
    """

    version: str = ""
    checksum: str = ""
    questionnaire: str = ""
    measures: tuple[str, ...] | None = None
    correction: str = ""
    family: int | None = None
    alpha: float = 0.05
    epsilon: float | None = None
    experiment: str = ""
    experiments: int = 1
    level: str = ""
    condition: str = ""
    judging: str = ""
    all_tasks: bool = False
    scores: str = ""
    rated: bool = False
    aligned: str = ""
    simulated: str = ""
    unblinded: str = ""
    chosen_runs: bool = False
    shows_rest: bool = False
    agents: tuple[str, ...] = ()
    shown: tuple[str, ...] = ()
    judges: tuple[str, ...] = ()
    versions: Mapping[str, Sequence[str]] = field(default_factory=dict)
    settings: tuple[str, ...] = ()
    tasks: Mapping[str, int] = field(default_factory=dict)
    planned: Mapping[str, int] = field(default_factory=dict)
    done: Mapping[str, int] = field(default_factory=dict)
    task_sets: tuple[str, ...] = ()
    items: int | None = None
    raters: tuple[int, ...] = ()
    answers: int | None = None
    imported: tuple[str, ...] = ()
    first_answer: str = ""
    left_out: str = ""


class Difference(NamedTuple):
    """One point in which a page differs from a registration."""

    aspect: str
    here: str
    registered: str

    def __str__(self) -> str:
        return f"{self.aspect} ({self.here}; registered: {self.registered})"


# What makes a page one about other data or of another analysis because its reader chose so.
READERS_CHOICES = frozenset(
    (
        "experiment", "level", "condition", "judging", "scores of", "measure", "turns", "runs",
        "tasks that count", "agents shown", "simulated annotators", "answers after unblinding",
        "ε", "deleted data", "registration",
    )
)  # fmt: skip


class Standing(NamedTuple):
    """How a page stands to a registration; ``reason`` says why it is undefined.

    ``withheld``: part of the data is gone, so that the page would show the number of the rest.
    """

    status: Literal["registered", "exploratory", "undefined"]
    differences: tuple[Difference, ...] = ()
    reason: str = ""
    withheld: bool = False


def standing(
    plan: Plan, used: Used, *, verified: bool = True, withdrawn: str = "", gone: str = ""
) -> Standing:
    """Say whether what a page used is as registered, and if not, name each difference.

    ``verified``: the stored document still has its digest; ``withdrawn`` is the day on which the
    registration was withdrawn, if it was. Where an agent of a comparison has no data the
    comparison is undefined, whatever else differs. Where some of its data are ``gone`` it is
    undefined too, unless the reader chose to look at something else.
    """
    missing = _missing(plan, used)
    if missing:
        return Standing("undefined", reason=missing)
    altered = [] if verified else [Difference("document", "altered since", "as its SHA-256 says")]
    if withdrawn:
        altered.append(Difference("registration", f"withdrawn on {withdrawn}", "valid"))
    found = (*altered, *_choices(plan, used), *_agents(plan, used), *_sample(plan, used))
    if gone and READERS_CHOICES.isdisjoint(one.aspect for one in found):
        return Standing("undefined", reason=gone, withheld=True)
    return Standing("exploratory" if found else "registered", found)


def _missing(plan: Plan, used: Used) -> str:
    """Return which data of the registered comparisons are not there."""
    kind, known = ("judge", used.judges) if plan.question == "judge" else ("run", used.agents)
    without = [name for name in plan.compared if name not in known and not plan.is_pooled]
    if without:
        return (
            f"no finished run of {listed(without)} is here: deleted, or not made yet"
            if kind == "run"
            else f"no judge {listed(without)} is here: deleted, or not cast yet"
        )
    if used.answers == 0:
        return "no answer of this study is left, or none was given yet"
    if not plan.study and not any(used.done.values()):
        return "no trajectory is finished: deleted, or not made yet"
    return ""


def _choices(plan: Plan, used: Used) -> Iterator[Difference]:
    """Yield what the address or the product chose otherwise than registered."""
    open_words = "any"
    simple: Sequence[tuple[str, Any, Any, str]] = (
        ("version of the dataset", used.version, plan.version, open_words),
        ("content of the dataset", used.checksum[:12], plan.checksum[:12], open_words),
        ("questionnaire", used.questionnaire, plan.questionnaire, open_words),
        ("experiment", used.experiment, plan.experiment, "all runs"),
        ("level", used.level, plan.level, "all"),
        ("condition", used.condition, plan.condition, "all"),
        ("judging", used.judging, plan.judging, "the primary one"),
    )
    # What a study registers of its source may be empty and then means all of it.
    for aspect, here, registered, empty in simple:
        if here != registered and not (registered == "" and empty == open_words):
            yield Difference(aspect, here or empty, registered or empty)
    # Where people rated nothing, judges' scores are shown, which an open plan means then.
    scores = used.scores if used.rated else "judges"
    if scores != plan.whose_scores and (used.rated or plan.whose_scores):
        usual = "corrected where people rated enough"
        yield Difference("scores of", scores or usual, plan.whose_scores or usual)
    if used.measures is not None and plan.measure not in used.measures:
        yield Difference("measure", listed(used.measures) or "none", plan.measure)
    if used.correction != plan.correction:
        names = (CORRECTIONS[used.correction], CORRECTIONS[plan.correction])
        yield Difference("correction", *names)
    if used.alpha != plan.alpha:
        yield Difference("α", f"{used.alpha:g}", f"{plan.alpha:g}")
    if used.family is not None and plan.family is not None and used.family != plan.family:
        yield Difference("family", plural(used.family, "comparison"),
                         plural(plan.family, "comparison"))  # fmt: skip
    if used.epsilon is not None and plan.epsilon is not None and used.epsilon != plan.epsilon:
        yield Difference("ε", f"{used.epsilon:g}", f"{plan.epsilon:g}")
    if used.all_tasks != plan.all_tasks:
        counted = ("those that their reference solves", "all")
        yield Difference("tasks that count", counted[used.all_tasks], counted[plan.all_tasks])
    if used.aligned:
        yield Difference("turns", "counted from the last", "counted from the first")
    if used.chosen_runs:
        yield Difference("runs", "picked one by one", "those of the experiment")
    if used.shows_rest:
        yield Difference("deleted data", "what is left is shown", "all")
    if used.experiments > 1:
        yield Difference("experiments of this name", str(used.experiments), "1")
    if plan.study and used.simulated != plan.simulated:
        words = {"include": "counted", "exclude": "left out"}
        yield Difference("simulated annotators", words.get(used.simulated, "?"),
                         words[plan.simulated])  # fmt: skip
    if plan.study and used.unblinded != plan.unblinded:
        late = {"": "counted", "exclude": "left out"}
        yield Difference("answers after unblinding", late[used.unblinded], late[plan.unblinded])
    if used.left_out:
        yield Difference("exclusions", used.left_out, "no such answers left out")


def _agents(plan: Plan, used: Used) -> Iterator[Difference]:
    """Yield changes of who is compared, and of how they were run and judged."""
    if plan.agents and used.agents != plan.agents:
        added = [f"with {name}" for name in used.agents if name not in plan.agents]
        gone = [f"without {name}" for name in plan.agents if name not in used.agents]
        yield Difference("agents", listed([*added, *gone]), plural(len(plan.agents), "agent"))
    hidden = [name for name in plan.compared if name in used.agents and name not in used.shown]
    if hidden:
        yield Difference("agents shown", f"without {listed(hidden)}", "all that are compared")
    if plan.judges and used.judges != plan.judges:
        yield Difference("judges", listed(used.judges) or "none", listed(plan.judges))
    for name, version in plan.versions.items():
        others = [here for here in used.versions.get(name, ()) if here != version]
        if others:
            yield Difference(f"version of {name}", listed(others), version)
    if plan.settings and any(here != plan.settings for here in used.settings):
        yield Difference("settings of the runs", "others", f"digest {plan.settings[:12]}")


def _sample(plan: Plan, used: Used) -> Iterator[Difference]:
    """Yield changes of the sample: data from before, added later, missing, or of other tasks."""
    if used.first_answer and used.first_answer < plan.registered_at:
        yield Difference("data from before", f"first answer {used.first_answer}",
                         f"on {plan.registered_at}")  # fmt: skip
    if used.imported:
        yield Difference("imported data", f"of {listed(used.imported)}, answered nobody knows when",
                         "answered after registering")  # fmt: skip
    for aspect, planned, here in (
        ("tasks", plan.tasks, used.tasks),
        ("trajectories", plan.trajectories, used.planned),
    ):
        if planned is not None:
            other = {name: count for name, count in here.items() if count != planned}
            if other:
                more = "data added later" if max(other.values()) > planned else "data missing"
                yield Difference(f"{more}: {aspect}", _by_agent(other), f"{planned:,} each")
    open_now = {name: count for name, count in used.done.items() if count < used.planned[name]}
    if open_now:
        of = {name: f"{count:,} of {used.planned[name]:,}" for name, count in open_now.items()}
        yield Difference("stopping: finished so far", _by_agent(of), "all")
    if plan.task_set and any(here != plan.task_set for here in used.task_sets):
        yield Difference("set of tasks", "another", f"digest {plan.task_set[:12]}")
    if used.items is not None and plan.items is not None and used.items != plan.items:
        more = "data added later" if used.items > plan.items else "data missing"
        yield Difference(f"{more}: items", f"{used.items:,}", f"{plan.items:,}")
    if plan.raters is not None and any(count != plan.raters for count in used.raters):
        yield Difference("raters of an item", listed([str(count) for count in used.raters]),
                         str(plan.raters))  # fmt: skip
    if plan.items is not None and plan.raters is not None and used.answers is not None:
        wanted = plan.items * plan.raters
        if used.answers < wanted:
            yield Difference("stopping: answers so far", f"{used.answers:,}", f"{wanted:,}")
        elif used.answers > wanted:
            yield Difference("data added later: answers", f"{used.answers:,}", f"{wanted:,}")


def _by_agent(counts: Mapping[str, object]) -> str:
    return listed([f"{name} {count}" for name, count in counts.items()])

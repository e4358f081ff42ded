"""The labels port: the endings, metrics and settings of a system in words, for pages."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from benchmarks.core.ports.results import HeaderAnswer, Tone, TrajectoryResult, verdict_result
from benchmarks.core.types import Json, Outcome, Task, Turn


@dataclass(frozen=True)
class Ending:
    """A way in which an episode can end: a few words, a sentence, and how it looks.

    ``does`` says what trajectories do that end so: "stop early", as in "18 of 22 stop early".
    """

    title: str
    sentence: str
    tone: Tone = ""
    does: str = ""


@dataclass(frozen=True)
class Measure:
    """A metric of runs, and how sentences name it.

    A ``rate`` is a share of trajectories, each of which has 0 or 1. A ``fraction`` is the mean of a
    share that each trajectory has, from 0 to 1. Both are shown in percent. A ``percent`` is such a
    mean stored in percent, from 0 to 100; a ``mean`` is any other, from 0 on.

    ``noun`` names the measure in a sentence ("success rate"; the title where there is none), and
    ``says`` is what an agent is on the trajectories that a rate counts ("successful on").
    """

    title: str
    help: str
    kind: Literal["rate", "fraction", "percent", "mean"] = "mean"
    noun: str = ""
    says: str = ""

    @property
    def in_percent(self) -> bool:
        """Return whether values are shares, which pages show in percent."""
        return self.kind in ("rate", "fraction")

    @property
    def most(self) -> float | None:
        """The largest value that a trajectory can have, where there is one."""
        return 1.0 if self.in_percent else 100.0 if self.kind == "percent" else None

    @property
    def name(self) -> str:
        """The measure's name in a sentence."""
        return self.noun or self.title

    def words(self, value: float) -> str:
        """Return a value as it is written: a share or a percentage in percent."""
        if self.most is None:
            return f"{value:.3g}"
        return f"{100 * value / self.most:.1f} %"


def plain(code: str) -> str:
    """Return a code as words, for codes that have no label."""
    words = code.replace("_", " ").replace("-", " ").strip()
    return words[:1].upper() + words[1:]


@dataclass(frozen=True)
class Labels:
    """A system's labels; every one is optional.

    ``endings`` are by termination code, ``measures`` by metric and in the order in which pages show
    them. ``headline`` names the measures by which agents are ranked: the first decides, the second
    stands beside it; more of either is better. A system without the first has no leaderboard.
    ``costs`` are measures of what a result takes, such as steps; less of them is better.
    ``verdicts`` are the yes-or-no metrics of a trajectory with their titles, ``columns`` the
    metrics that lists of trajectories show. ``hidden`` says in a sentence what agents are not told
    beside constraints, ``disclosure`` how agents come to know of constraints. ``choices`` explains
    the choices of settings, by setting and choice; ``first_settings`` are the settings that forms
    do not fold away. ``result`` says whether a trajectory is right (default: by the first headline
    measure, where that is a rate), ``answer`` what its last turn answered and what was expected,
    from the task, that turn, the outcome and the run's settings. ``explain`` says why a trajectory
    ended, ``explain_reason`` rewords why a metric is undefined. ``replies`` describes, by kind of
    reply, what form a reply needs and gives an example. ``answer_verdicts`` are people's verdicts
    on recorded answers, best first. ``not_judged`` is what pages about judges and hidden
    constraints say of a system without them, ``no_verdict`` why a trajectory has no violations.
    ``folds`` says of the payload of a turn whether the line with its number tells enough, so that
    the page of a trajectory folds it.
    Without ``violations`` turns name none, and pages do not say of a constraint that it was kept.
    """

    endings: Mapping[str, Ending] = field(default_factory=dict)
    measures: Mapping[str, Measure] = field(default_factory=dict)
    headline: tuple[str, ...] = ("accurate",)
    costs: tuple[str, ...] = ()
    verdicts: Mapping[str, str] = field(
        default_factory=lambda: {"valid": "Valid", "accurate": "Passes"}
    )
    columns: tuple[str, ...] = ()
    hidden: str = ""
    disclosure: str = (
        "The agent learns of a constraint only after violating it. Each level includes the "
        "constraints of the level before."
    )
    choices: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    first_settings: Sequence[str] = ()
    result: Callable[[Outcome], TrajectoryResult] | None = None
    answer: Callable[[Task, Turn, Outcome, Mapping[str, Any]], HeaderAnswer] | None = None
    explain: Callable[[Outcome, Mapping[str, Any]], str] | None = None
    explain_reason: Callable[[str], str] | None = None
    replies: Mapping[str, Callable[[Mapping[str, Any]], tuple[str, str]]] = field(
        default_factory=dict
    )
    answer_verdicts: Mapping[str, str] = field(default_factory=dict)
    not_judged: str = ""
    no_verdict: str = "not recorded"
    folds: Callable[[Json], bool] | None = None
    violations: bool = True

    def ending(self, termination: str) -> Ending:
        """Return the label of an ending; an unknown code is its own title."""
        return self.endings.get(termination) or Ending(plain(termination), "")

    @property
    def headlines(self) -> tuple[str, ...]:
        """Return the measures by which agents are ranked; none where the first is unknown."""
        known = tuple(name for name in self.headline if name in self.measures)
        return known if known[:1] == self.headline[:1] else ()

    @property
    def list_order(self) -> str:
        """Return the measure by which lists of trajectories are sorted: that by which agents are
        ranked, else the first that lists show.
        """
        return next(iter((*self.headlines, *self.columns)), "")

    @property
    def column_measures(self) -> dict[str, Measure]:
        """Return the measures that lists of trajectories show."""
        return {name: self.measures[name] for name in self.columns}

    def result_of(self, outcome: Outcome) -> TrajectoryResult:
        """Return whether a trajectory is right; its ending, where the system has no verdict."""
        if self.result is not None:
            return self.result(outcome)
        ending = self.ending(outcome.termination)
        if not self.headlines or self.measures[self.headline[0]].kind != "rate":
            return TrajectoryResult(ending.title, ending.tone)
        return verdict_result(outcome.metrics.get(self.headline[0]), ending.title)

    def explain_outcome(self, outcome: Outcome, settings: Mapping[str, Any]) -> str:
        """Return why a trajectory ended, in a sentence or two."""
        if self.explain is None:
            return self.ending(outcome.termination).sentence
        return self.explain(outcome, settings)

    def reword_reason(self, reason: str) -> str:
        """Return why a metric is undefined, with the system's titles in place of its keys."""
        return self.explain_reason(reason) if self.explain_reason else reason

"""Who spoke for the user in each trajectory, how, and what came of it."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from statistics import fmean
from typing import TYPE_CHECKING, Any, NamedTuple

from analysis.filters.selection import ChosenRun
from analysis.frames.disclosures import disclosure_frame
from analysis.frames.outcomes import MIXED, VALID, by_id, counted, outcome_frame
from analysis.frames.people_scores import feedback_frame
from annotation.models import Annotator, LiveEvent, LivePlace, LivePlan
from benchmarks.asks.players import PREFIX
from benchmarks.core.ports.comparisons import SimulatedUser
from benchmarks.core.ports.labels import Measure
from benchmarks.core.system import System
from benchmarks.models import Exchange, Task, Trajectory
from benchmarks.roles.selectors import policy_title

if TYPE_CHECKING:
    from pandas import DataFrame

WORDS, MESSAGES, TOLD, TOLD_AT, ACCEPTED = "words", "messages", "told", "told_at", "accepted"
NO_ONE_AGENT = "a person was the agent, but not one alone"
ONE_SIDE = (
    "a person was the agent, and did not play the task with both a person and a simulator as user"
)
NOBODY = "not known who was there: the agent never turned to the user"
SEVERAL = "several people spoke"
NO_REFERENCE = (
    "needs a verdict by the same judges on all plans: re-judge these runs and choose that pass "
    "under Judging"
)
NOT_RATED = "nobody rated it for people and for a simulator"
COLUMNS = ("trajectory", "run", "agent", "task", "who", "simulator")


class UserMeasure(NamedTuple):
    """A measure of trajectories by who speaks for the user; ``about`` groups them on pages."""

    measure: Measure
    about: str


class UserRows(NamedTuple):
    """A row per trajectory: `COLUMNS` and the measures.

    ``who`` is a code of the person, None where a ``simulator`` speaks. ``missing`` says of a
    measure why it has no column, ``left_out`` counts trajectories by reason. ``simulated_raters``:
    scripts are among those who rated feedback. ``scripted`` are the codes of people that are
    simulated accounts. In ``with_people`` trajectories a person is the agent.
    """

    frame: "DataFrame"
    measures: dict[str, UserMeasure]
    missing: dict[str, str]
    left_out: dict[str, int]
    simulated_raters: bool
    scripted: frozenset[str]
    with_people: int


def simulator_of(run: ChosenRun, roles: Sequence[str], system: System) -> str:
    """Return who filled the user's roles in a run, in words; empty where people did."""
    names: dict[str, None] = {}
    for role in roles:
        for row in run.roles.get(role, ()):
            if row["kind"] == "human":
                return ""
            title = policy_title(system, row["policy"]) if "policy" in row else row.get("title")
            names[str(title or row.get("endpoint") or row["kind"])] = None
    return " + ".join(names)


def user_rows(
    runs: Sequence[ChosenRun],
    system: System,
    user: SimulatedUser,
    roles: Sequence[str],
    studies: Sequence[int],
) -> UserRows:
    """Return the finished trajectories of the runs, with who spoke for the user and how.

    ``roles`` are those that people fill where they speak for the user. Trajectories with several
    people as user, or with a role handed over, are left out and counted. Each person who is the
    agent is an agent of their own, and counts at tasks that they played with both a person and a
    simulator as user.
    """
    runs = [run for run in runs if not run.imported]
    done = Trajectory.objects.filter(counted(by_id(runs)), status=Trajectory.Status.DONE)
    spoken = _spoken(done.order_by().values("pk"), system, user.role, roles)
    players = _players(done.order_by().values("pk"), user.role)
    planned = _people_as_agents(done.order_by().values("pk"))
    simulators = {run.pk: simulator_of(run, roles, system) for run in runs}
    known, left_out = by_id(runs), Counter[str]()
    records, words = [], {}
    met = defaultdict[tuple[str, int], set[bool]](set)
    for pk, run, task, role_changes in done.order_by("pk").values_list(
        "pk", "run", "task", "role_changes"
    ):
        people, messages = spoken.get(pk, (set(), []))
        if not simulators[run]:
            people = people or players.get(pk, set())
        why = ""
        agent, by_person = known[run].agent, known[run].agent_kind == "human"
        if role_changes:
            why = MIXED
        elif by_person and len(planned[pk]) != 1:
            why = NO_ONE_AGENT
        elif not simulators[run] and len(people) != 1:
            why = SEVERAL if people else NOBODY
        if why:
            left_out[why] += 1
            continue
        who = None if simulators[run] else next(iter(people))
        words[pk] = messages
        if by_person:
            agent = f"{agent} {next(iter(planned[pk]))}"
            met[agent, task].add(who is None)
        records.append((pk, run, agent, task, who, simulators[run]))
    one_side = {block for block, sides in met.items() if len(sides) == 1}
    compared = [row for row in records if row[2:4] not in one_side]
    if left := len(records) - len(compared):
        left_out[ONE_SIDE] = left
    with_people = sum(row[2:4] in met for row in compared)
    frame = _frame(compared)
    if frame["who"].isna().all() or frame["who"].notna().all():
        # There is nobody to compare with.
        return UserRows(frame, {}, {}, dict(left_out), False, frozenset(), with_people)
    measures, missing = _add_conduct(frame, runs, system, user, words)
    simulated = _add_feedback(frame, runs, system, studies, measures, missing)
    scripted = _scripted(frame.loc[frame["who"].notna(), "who"])
    return UserRows(frame, measures, missing, dict(left_out), simulated, scripted, with_people)


def _scripted(codes: Iterable[str]) -> frozenset[str]:
    """Return those codes of people that belong to simulated accounts."""
    users = Annotator.objects.filter(is_simulated=True).values_list("user", flat=True)
    return frozenset(codes) & {f"{PREFIX}{user}" for user in users}


def _frame(records: Sequence[tuple[Any, ...]]) -> "DataFrame":
    import pandas as pd

    return pd.DataFrame(records, columns=list(COLUMNS))


def _spoken(
    trajectories: Any, system: System, role: str, roles: Sequence[str]
) -> dict[int, tuple[set[str], list[str]]]:
    """Return, by trajectory, the people who replied in the roles, and the user's messages."""
    spoken: dict[int, tuple[set[str], list[str]]] = {}
    rows = Exchange.objects.filter(
        trajectory__in=trajectories, role__in=[*roles, role], state=Exchange.State.ANSWERED
    )
    forms = system.people.reply_forms
    for pk, by, kind, name, expect, text in rows.order_by("trajectory", "step", "slot").values_list(
        "trajectory", "role", "answerer__kind", "answerer__name", "expect__kind", "text"
    ):
        people, messages = spoken.setdefault(pk, (set(), []))
        if kind == "human":
            people.add(name)
        if by == role:
            form = forms.get(expect)
            messages.append(form.spoken(text) if form and form.spoken else text)
    return spoken


def _players(trajectories: Any, role: str) -> dict[int, set[str]]:
    """Return who had the user's place, for trajectories in which nobody was asked."""
    players: dict[int, set[str]] = defaultdict(set)
    rows = LivePlace.objects.filter(session__trajectory__in=trajectories, player__isnull=False)
    for pk, roles, player in rows.order_by().values_list("session__trajectory", "roles", "player"):
        if role in roles:
            players[pk].add(f"{PREFIX}{player}")
    return players


def _people_as_agents(trajectories: Any) -> dict[int, set[str]]:
    """Return the people who replied as the agent, by trajectory."""
    people: dict[int, set[str]] = defaultdict(set)
    rows = Exchange.objects.filter(
        trajectory__in=trajectories, role="agent", state=Exchange.State.ANSWERED,
        answerer__kind="human",
    )  # fmt: skip
    for pk, name in rows.order_by().values_list("trajectory", "answerer__name").distinct():
        people[pk].add(name)
    return people


def _add_conduct(
    frame: "DataFrame",
    runs: Sequence[ChosenRun],
    system: System,
    user: SimulatedUser,
    words: Mapping[int, Sequence[str]],
) -> tuple[dict[str, UserMeasure], dict[str, str]]:
    """Add to the frame what the log and the system's ports say of the user and of success."""
    ids, labels = frame["trajectory"], system.labels
    measures: dict[str, UserMeasure] = {}
    missing: dict[str, str] = {}

    def add(name: str, measure: Measure, about: str, values: Iterable[float | None]) -> None:
        frame[name] = list(values)
        frame[name] = frame[name].astype("float64")
        measures[name] = UserMeasure(measure, about)

    lengths = [[len(text.split()) for text in words[pk]] for pk in ids]
    add(WORDS, Measure("Words per message", "Mean of the user’s messages."), "behaviour",
        (fmean(some) if some else None for some in lengths))  # fmt: skip
    add(MESSAGES, Measure("Messages", "Messages of the user per trajectory."), "behaviour",
        (len(words[pk]) for pk in ids))  # fmt: skip
    if (told := system.disclosures) is not None:
        when: dict[int, list[int]] = defaultdict(list)
        rows = disclosure_frame(runs, told)
        for pk, turn in zip(rows["trajectory"].tolist(), rows["told"].tolist(), strict=True):
            when[pk].append(turn)
        noun = f"{told.noun}s {told.verb}"
        add(TOLD, Measure(noun.capitalize(), f"{noun.capitalize()} per trajectory."), "behaviour",
            (len(when[pk]) for pk in ids))  # fmt: skip
        add(TOLD_AT, Measure(f"{told.verb.capitalize()} after {told.turn}",
                             f"Mean number of the {told.turn} after which they were {told.verb}."),
            "behaviour", (fmean(when[pk]) if when[pk] else None for pk in ids))  # fmt: skip
    else:
        missing["What is revealed and when"] = "this system’s runs do not record it"
    headline = labels.headlines[:1]
    names = [*user.metrics, *headline, *([VALID] if VALID in labels.measures else [])]
    outcomes = outcome_frame(runs, names).set_index("trajectory").reindex(ids)
    for name in user.metrics:
        add(name, labels.measures[name], "behaviour", outcomes[name].tolist())
    if VALID not in labels.measures:
        missing["Invalid plans accepted"] = "the user of this system accepts no plans"
    elif any(run.rejudged_by for run in runs):
        played = dict(Trajectory.objects.filter(pk__in=ids.tolist()).values_list("pk", "metrics"))
        accepted = [played[pk].get(VALID) for pk in ids]
        measure = Measure("Invalid plans accepted",
                          "Trajectories that ended with a plan taken as valid which the chosen "
                          "judging calls invalid.", "rate")  # fmt: skip
        add(ACCEPTED, measure, "behaviour",
            (None if taken is None or valid != valid else float(taken > valid)
             for taken, valid in zip(accepted, outcomes[VALID].tolist(), strict=True)))  # fmt: skip
    else:
        missing["Invalid plans accepted"] = NO_REFERENCE
    for name in headline:
        add(name, labels.measures[name], "success", outcomes[name].tolist())
    return measures, missing


def _add_feedback(
    frame: "DataFrame",
    runs: Sequence[ChosenRun],
    system: System,
    studies: Sequence[int],
    measures: dict[str, UserMeasure],
    missing: dict[str, str],
) -> bool:
    """Add people's ratings of the feedback; return whether scripts are among those who rated."""
    simulated = False
    for question, measure in system.comparisons.feedback_ratings.items():
        ratings = feedback_frame(runs, question, studies).set_index("trajectory")
        ratings = ratings.reindex(frame["trajectory"])
        rated = ratings["rated"].notna().to_numpy()
        sides = frame["who"].isna()[rated]
        if sides.nunique() < 2:
            missing[measure.title] = NOT_RATED
            continue
        frame[question] = ratings["rated"].to_numpy(dtype="float64")
        measures[question] = UserMeasure(measure, "feedback")
        simulated |= bool(ratings["simulated"].fillna(False).astype(bool).any())
    return simulated


def session_chances(
    runs: Sequence[ChosenRun], tasks: Iterable[int]
) -> dict[tuple[str, int], float]:
    """Return the probability with which each (agent, task) was drawn to be played by people.

    ``runs`` are those with people. Pairs that no study could draw, or of which the chance is not
    known, are left out. Several studies combine.
    """
    experiments = {run.experiment for run in runs}
    plans = LivePlan.objects.filter(experiment__in=experiments).order_by("pk")
    rows = Task.objects.filter(pk__in=set(tasks)).values_list("pk", "external_id", "category")
    about = {pk: (name, kind) for pk, name, kind in rows}
    missed: dict[tuple[str, int], float] = {}
    for settings in plans.values_list("settings", flat=True):
        design = settings.get("design") or {}
        drawn, among = design.get("drawn") or {}, set(design.get("among", ()))
        agents = design.get("agents", ())
        pairs = len(agents) * len(design.get("tasks", ()))
        if not pairs:
            continue
        dealt = min(1.0, design["players"] * design["each"] / pairs)
        for pk, (name, kind) in about.items():
            some, of = drawn.get(kind, (0, 0))
            if not some or (among and name not in among):
                continue
            for agent in agents:
                left = missed.get((agent, pk), 1.0)
                missed[agent, pk] = left * (1 - dealt * some / of)
    return {pair: 1 - left for pair, left in missed.items()}


class OfferedTexts(NamedTuple):
    """Replies of people for which a text was offered, and the mean share of words that differ."""

    replies: int
    distance: float


def offered_texts(trajectories: Iterable[int]) -> OfferedTexts | None:
    """Return how far people's replies are from the texts that were offered; None without any.

    A reply that was taken back and sent again counts once, as it was sent last.
    """
    events = LiveEvent.objects.filter(
        session__trajectory__in=list(trajectories), kind=LiveEvent.Kind.OFFERED
    )
    distances = {
        (session, detail["step"], detail["slot"]): float(detail["distance"])
        for session, detail in events.order_by("pk").values_list("session", "detail")
    }
    return OfferedTexts(len(distances), fmean(distances.values())) if distances else None

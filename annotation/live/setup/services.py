"""Create studies of sessions from a request: a single session, or all of a design."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from typing import Any

from django.contrib.auth.models import User
from django.db import transaction

from annotation.consent.services import set_study_text
from annotation.designs.orders import Method
from annotation.designs.types import DesignError
from annotation.errors import Refused
from annotation.live.duels.sides import Placement, is_swapped
from annotation.live.setup.design import SessionDesign, draw_sessions, in_words
from annotation.live.setup.sessions import make_session, mode_of, store_live_study
from annotation.models import Duel, LivePlan, LiveSession, Membership, Study, StudyText
from annotation.models.studies import DUELS
from annotation.questionnaires import QuestionnaireError, load_questionnaire
from annotation.questionnaires.types import ANY, PLAYING
from annotation.studies.services import role_labels_of
from annotation.studies.setup import add_member
from benchmarks.core.errors import CoreError
from benchmarks.core.ports.people import Mode
from benchmarks.core.registry import find_system, get_system
from benchmarks.core.system import read_settings
from benchmarks.models import Agent, Dataset, Task
from benchmarks.roles.judge_fit import judge_misfits
from benchmarks.roles.services import HUMAN, PERSON, assign_roles, ensure_scripted_agents

# The questionnaire of a study that asks nothing after its sessions, for a study has to have one.
UNASKED = "playing@1"
# What the votes of duels are about.
DUEL_VOTES = "duel@1"


@dataclass(frozen=True)
class SessionRequest:
    """The settings of all sessions of a study.

    ``questionnaire`` is asked of every player after each session, none where it is empty. ``level``
    is empty where the dataset has none; ``settings`` and ``roles`` are as runs take them.
    ``duels``: sessions are played two at a time, side by side (`annotation.live.duels`).
    """

    name: str
    dataset: Dataset
    mode: str
    level: str = ""
    settings: Mapping[str, Any] = field(default_factory=dict)
    roles: Mapping[str, Sequence[str]] = field(default_factory=dict)
    questionnaire: str = UNASKED
    blinded: bool = True
    practises: bool = False
    shows_suggestions: bool = False
    hints: bool = False
    duels: bool = False
    leaving: str = LivePlan.Leaving.WAIT
    away_seconds: int = 300
    reply_seconds: int = 0
    session_minutes: int = 0
    information: str = ""
    consent: str = ""
    seed: int = 0


def store_session_request(
    *, wish: SessionRequest, by: User, more: Mapping[str, Any] | None = None
) -> tuple[Study, LivePlan]:
    """Return an open study without sessions; ``more`` is kept in the plan's settings beside the
    cast.
    """
    mode = mode_of(wish.dataset.system, wish.mode)
    if wish.duels:
        _refuse_unfit_for_duels(wish, mode)
    asks = bool(wish.questionnaire) and not wish.duels  # its votes are what a duel asks
    questionnaire = DUEL_VOTES if wish.duels else wish.questionnaire or UNASKED
    if asks:
        _check_questionnaire(questionnaire, wish.dataset.system)
    study = Study(
        name=wish.name.strip()[:160],
        questionnaire=questionnaire,
        blinded=wish.blinded,
        seed=wish.seed,
        status=Study.Status.OPEN,
        is_demo=wish.dataset.is_demo,
        created_by=by,
        settings={DUELS: True} if wish.duels else {},
    )
    plan = LivePlan(
        system=wish.dataset.system,
        mode=wish.mode,
        practises=wish.practises,
        shows_suggestions=wish.shows_suggestions,
        leaving=wish.leaving,
        away_seconds=wish.away_seconds,
        reply_seconds=wish.reply_seconds,
        session_minutes=wish.session_minutes,
        settings={
            "asks": asks,
            "hints": wish.hints,
            "cast": {
                "dataset": wish.dataset.pk,
                "level": wish.level,
                "settings": dict(wish.settings),
                "roles": {role: list(names) for role, names in wish.roles.items()},
            },
            "seed": wish.seed,
            **(more or {}),
        },
    )
    with transaction.atomic():
        store_live_study(study=study, plan=plan, by=by)
        for kind, text in (
            (StudyText.Kind.INFORMATION, wish.information),
            (StudyText.Kind.CONSENT, wish.consent),
        ):
            if text.strip():
                set_study_text(study=study, kind=kind, text=text, by=by)
    return study, plan


def _refuse_unfit_for_duels(wish: SessionRequest, mode: Mode) -> None:
    """Refuse duels in which nobody talks with two agents, or in which one side goes without the
    player.
    """
    if not mode.duels:
        modes = find_system(wish.dataset.system).modes()
        fit = " or ".join(repr(each.title) for each in modes if each.duels)
        words = f"choose {fit}" if fit else "this benchmark has no such mode"
        raise Refused("invalid", f"in a duel one person talks with two agents; {words}")
    if wish.leaving not in (LivePlan.Leaving.WAIT, LivePlan.Leaving.CANCEL):
        raise Refused("invalid", "when the player of a duel leaves, it waits or ends; choose one")
    if wish.reply_seconds:
        raise Refused(
            "invalid",
            "a duel has no time limit per reply, because one agent’s reply waits for the other’s",
        )
    if wish.shows_suggestions:
        raise Refused("invalid", "a duel shows no suggestions")


def _check_questionnaire(id: str, system: str) -> None:
    try:
        questionnaire = load_questionnaire(id)
    except QuestionnaireError as error:
        raise Refused("invalid", str(error)) from error
    if questionnaire.unit != "trajectory" or questionnaire.system not in (ANY, system):
        words = "does not ask about what was played here; choose another one, or none"
        raise Refused("invalid", f"{questionnaire.title!r} {words}")
    if questionnaire.kind != PLAYING:
        words = (
            "judges what the players did themselves; choose one about playing, or none, and have "
            "the session judged by others in a study of its runs"
        )
        raise Refused("invalid", f"{questionnaire.title!r} {words}")


def create_session(
    *, wish: SessionRequest, agent: Agent | None, task: Task, mine: int | None = None, by: User
) -> LiveSession:
    """Return one session with a study of its own. ``mine`` is the number of the place that ``by``
    takes.

    ``agent`` is None where a person is the agent.
    """
    with transaction.atomic():
        study, plan = store_session_request(wish=wish, by=by)
        return add_session(
            study=study,
            plan=plan,
            agent=agent,
            task=task,
            players={mine: by} if mine else {},
            by=by,
        )


def add_session(
    *,
    study: Study,
    plan: LivePlan,
    agent: Agent | None,
    task: Task,
    players: Mapping[int, User] | None = None,
    order: int = 0,
    practice: bool = False,
    label: bool = True,
    by: User | None,
) -> LiveSession:
    """Return a further session of a study with the cast of its plan; ``players`` by number of
    place.
    """
    mode = mode_of(plan.system, plan.mode)
    cast = plan.settings.get("cast", {})
    players = players or {}
    unknown = set(players) - set(range(1, len(mode.places) + 1))
    if unknown:
        raise Refused("invalid", "there is no such place in this mode")
    if "agent" in mode.roles:
        agent = human_agent()
    elif agent is None or agent.kind == Agent.Kind.HUMAN:
        raise Refused("invalid", "choose an agent that is no person, or a mode with one as agent")
    if not practice:
        refuse_unread(plan, mode, agent)
    with transaction.atomic():
        for user in players.values():
            add_member(study=study, user=user, role=Membership.Role.ANNOTATOR, by=by)
        session = make_session(
            study=study,
            agent=agent,
            task=task,
            level=cast.get("level", ""),
            settings=cast.get("settings", {}),
            roles=cast.get("roles", {}),
            players=[players.get(number) for number in range(1, len(mode.places) + 1)],
            order=order,
            practice=practice,
            by=by,
        )
        if label and not practice:
            label_study(study)
    return session


def create_duel(
    *, wish: SessionRequest, agents: Sequence[Agent], task: Task, mine: int | None = None, by: User
) -> Duel:
    """Return one duel with a study of its own. ``mine`` is the number of the place that ``by``
    takes.
    """
    with transaction.atomic():
        study, plan = store_session_request(wish=wish, by=by)
        players = {mine: by} if mine else {}
        return add_duel(study=study, plan=plan, agents=agents, task=task, players=players, by=by)


def add_duel(
    *,
    study: Study,
    plan: LivePlan,
    agents: Sequence[Agent],
    task: Task,
    players: Mapping[int, User] | None = None,
    row: str = "",
    by: User,
    **options: Any,
) -> Duel:
    """Return a further duel of a study: two sessions on one task, under the study's one seed.

    ``row`` names who plays where they are not known yet. ``options`` are those of `add_session`.
    """
    if len({agent.pk for agent in agents}) != 2:
        raise Refused("invalid", "a duel is between two different agents")
    first, second = sorted(agents, key=lambda agent: agent.name)
    row = row or " + ".join(f"person {user.pk}" for user in (players or {}).values())
    with transaction.atomic():
        swapped = is_swapped(
            pair=(first.name, second.name),
            player=row,
            task=task.external_id,
            earlier=_placements(study),
            seed=study.seed,
        )
        left, right = (
            add_session(
                study=study, plan=plan, agent=agent, task=task, players=players, by=by, **options
            )
            for agent in ((second, first) if swapped else (first, second))
        )
        return Duel.objects.create(left=left, right=right, row=row)


def _placements(study: Study) -> list[Placement]:
    rows = Duel.objects.filter(left__study=study).order_by("pk").values_list(
        "left__trajectory__run__agent__name", "right__trajectory__run__agent__name", "row",
        "left__trajectory__task__external_id",
    )  # fmt: skip
    return [
        Placement((min(left, right), max(left, right)), row, task, swapped=left > right)
        for left, right, row, task in rows
    ]


def refuse_unread(plan: LivePlan, mode: Mode, agent: Agent) -> None:
    """Refuse a session in which nobody could decide whether the agent's plans are valid.

    A scripted judge cannot read what a person or a language model plans, and a lexicon judge needs
    words for each condition: with such a one a session would end after its first plan.
    """
    cast = plan.settings.get("cast", {})
    dataset = Dataset.objects.get(pk=cast["dataset"])
    system = get_system(plan.system)
    settings = read_settings(system.settings, cast.get("settings", {}))
    people = {role: [HUMAN] for role in mode.roles if role != "agent"}
    try:
        roles = assign_roles(system, dataset, agent, settings, {**cast.get("roles", {}), **people})
        misfits = judge_misfits(system, dataset, [cast.get("level", "")], roles)
    except CoreError as error:
        raise Refused("invalid", str(error)) from error
    if misfit := next((each for each in misfits if each.role.decides), None):
        why = "scripts cannot read free plans" if misfit.policy.pool_only else misfit.why[:-1]
        raise Refused(
            "invalid",
            f"choose a language model as {misfit.role.title.lower()}: {why}. Or choose a mode in "
            "which a person decides",
        )


@dataclass(frozen=True)
class DesignRequest:
    """The agents and tasks that players meet, and who the players are.

    ``drawn`` says by kind of task how many were drawn of how many, and ``among`` names the tasks
    that could be, where these were not all of the dataset; without it nobody knows.

    ``agents`` is empty where a person is the agent. ``duels``: players meet them two at a time, so
    ``each`` counts duels. ``rows`` are groups of as many players as the
    mode has places; where they are not named (whoever joins by link), their number alone.
    """

    agents: Sequence[Agent]
    tasks: Sequence[Task]
    rows: Sequence[Sequence[User]] | int
    each: int
    order: Method
    drawn: Mapping[str, tuple[int, int]] = field(default_factory=dict)
    among: Sequence[str] = ()
    duels: bool = False

    @property
    def met(self) -> Sequence[tuple[Agent, ...]]:
        """Whom a player meets at once: one agent, each two of them, or nobody but people."""
        if not self.duels:
            return [(agent,) for agent in self.agents] or [()]
        return list(combinations(self.agents, 2))

    def met_names(self, attribute: str = "title") -> list[str]:
        """Return the names of those, empty for people."""
        return [" – ".join(getattr(agent, attribute) for agent in agents) for agents in self.met]

    @property
    def pooled(self) -> bool:
        return isinstance(self.rows, int)

    @property
    def names(self) -> list[str]:
        """The names of the rows in the balance tables."""
        if isinstance(self.rows, int):
            return [f"player {number:0{len(str(self.rows))}}" for number in range(1, self.rows + 1)]
        return [" + ".join(user.get_username() for user in row) for row in self.rows]


def draw_design(*, design: DesignRequest, seed: int) -> SessionDesign:
    """Return what a design gives each row of players; the same wishes and seed give the same."""
    try:
        return draw_sessions(
            agents=design.met_names(),
            tasks=[task.external_id for task in design.tasks],
            rows=design.names,
            each=design.each,
            order=design.order,
            seed=seed,
        )
    except DesignError as error:
        raise Refused("invalid", "; ".join(error.problems)) from error


def create_sessions(*, wish: SessionRequest, design: DesignRequest, by: User) -> Study:
    """Return a study with all sessions of a design: all of them or nothing."""
    drawn = draw_design(design=design, seed=wish.seed)
    record = {
        "players": "pool" if design.pooled else "named",
        "design": {
            "agents": [agent.name for agent in design.agents],
            "tasks": [task.external_id for task in design.tasks],
            "players": len(drawn.rows),
            "places": len(mode_of(wish.dataset.system, wish.mode).places),
            "each": design.each,
            "order": design.order,
            "method": drawn.certificate.method,
            "warnings": [in_words(words) for words in drawn.certificate.warnings],
            "sha256": drawn.certificate.sha256,
            "drawn": dict(design.drawn),
            "among": list(design.among),
        },
    }
    with transaction.atomic():
        study, plan = store_session_request(wish=wish, by=by, more=record)
        numbers: list[list[int]] = []
        for place, (_, pairs) in enumerate(drawn.rows):
            row = () if isinstance(design.rows, int) else design.rows[place]
            sessions: list[LiveSession] = []
            for order, (met, task) in enumerate(pairs, 1):
                agents = design.met[met]
                common: dict[str, Any] = {
                    "study": study, "plan": plan, "task": design.tasks[task], "order": order,
                    "players": dict(enumerate(row, 1)), "label": False, "by": by,
                }  # fmt: skip
                if design.duels:
                    name = drawn.rows[place][0] if design.pooled else ""
                    duel = add_duel(agents=agents, row=name, **common)
                    sessions += [duel.left, duel.right]
                else:
                    sessions.append(add_session(agent=agents[0] if agents else None, **common))
            numbers.append([session.number for session in sessions])
        plan.settings = {**plan.settings, "rows": numbers}
        plan.save(update_fields=["settings"])
        label_study(study)
    return study


def human_agent() -> Agent:
    """Return the agent that stands for people."""
    ensure_scripted_agents()
    return Agent.objects.get(name=PERSON)


def label_study(study: Study) -> None:
    """Keep what kinds of agents and others play in a study, for its banner."""
    runs = LiveSession.objects.filter(study=study, practice=False).order_by()
    labels = role_labels_of(list(runs.values_list("trajectory__run", flat=True).distinct()))
    fresh = Study.objects.select_for_update(no_key=True).get(pk=study.pk)
    if fresh.settings.get("labels") != labels:
        fresh.settings = {**fresh.settings, "labels": labels}
        fresh.save(update_fields=["settings"])
    study.settings = fresh.settings

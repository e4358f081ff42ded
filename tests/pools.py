"""Studies of any size, whose items are taken from a pool: for trials and benchmarks.

Their trajectories are copies of some that the demo's scripted agents really played, so pages are as
long as in use; a hundred thousand are made in seconds.
"""

from collections import Counter
from collections.abc import Sequence

from django.contrib.auth.hashers import make_password
from django.contrib.auth.models import User
from django.db import connection, models

from annotation.models import Assignment, Study
from annotation.studies.setup import NewItem, store_study
from benchmarks.models import Agent, Run, Trajectory, Turn, Violation
from benchmarks.roles.services import ensure_scripted_agents
from benchmarks.runs.services import start_runs
from benchmarks.runs.worker import work_on_run
from benchmarks.systems.adaplanbench.scripted import TEMPERAMENTS
from tests.functional.harried import save_tasks

QUESTIONS = "ten_questions@1"
PASSWORD = "a pool of items"
AGENTS, TASKS = 3, 8
State = Assignment.State


def make_trajectories(count: int) -> list[int]:
    """The ids of so many ended trajectories, made as far as they are not there."""
    if not Run.objects.exists():
        _play()
    found = Trajectory.objects.filter(status=Trajectory.Status.DONE).order_by("attempt", "pk")
    while (there := found.count()) < count:
        first = found.filter(attempt=1).count()
        last = found.last()
        assert last is not None
        _copy(after=last.attempt, copies=-(-(count - there) // first))
    return list(found.values_list("pk", flat=True)[:count])


def _play() -> None:
    """Let the demo's agents play some of its tasks."""
    ensure_scripted_agents()
    agents = list(Agent.objects.filter(name__in=TEMPERAMENTS).order_by("name")[:AGENTS])
    for run in start_runs(dataset=save_tasks(TASKS), agents=agents, levels=["high"], wake=False):
        work_on_run(run_id=run.pk, owner="pools")


def _copy(*, after: int, copies: int) -> None:
    """Copy all first attempts, with turns and violations, as later attempts."""
    numbers = "WITH RECURSIVE n(k) AS (SELECT %s + 1 UNION ALL SELECT k + 1 FROM n WHERE k < %s)"
    span = [after, after + copies]
    played = "benchmarks_trajectory", "benchmarks_turn", "benchmarks_violation"
    trajectory, turn, violation = played
    same = (
        f"JOIN {trajectory} o ON o.attempt = 1 JOIN {trajectory} c ON c.attempt = n.k "
        "AND c.run_id = o.run_id AND c.task_id = o.task_id AND c.profile_id = o.profile_id"
    )
    statements = (
        f"INSERT INTO {trajectory} ({_names(Trajectory, 'attempt')}, attempt) {numbers} "
        f"SELECT {_names(Trajectory, 'attempt', of='o')}, n.k FROM n "
        f"JOIN {trajectory} o ON o.attempt = 1 ORDER BY n.k, o.id",
        f"INSERT INTO {turn} ({_names(Turn, 'trajectory_id')}, trajectory_id) {numbers} "
        f"SELECT {_names(Turn, 'trajectory_id', of='t')}, c.id FROM n {same} "
        f"JOIN {turn} t ON t.trajectory_id = o.id",
        f"INSERT INTO {violation} ({_names(Violation, 'turn_id')}, turn_id) {numbers} "
        f"SELECT {_names(Violation, 'turn_id', of='v')}, copy.id FROM n {same} "
        f"JOIN {turn} t ON t.trajectory_id = o.id JOIN {violation} v ON v.turn_id = t.id "
        f'JOIN {turn} copy ON copy.trajectory_id = c.id AND copy."index" = t."index"',
    )
    with connection.cursor() as cursor:
        for statement in statements:
            cursor.execute(statement, span)
        if connection.vendor == "postgresql":
            cursor.execute(f"ANALYZE {', '.join(played)}")


def _names(model: type[models.Model], but: str, *, of: str = "") -> str:
    """The columns of a table, without its key and one more."""
    columns = [field.column for field in model._meta.local_concrete_fields]
    quote, prefix = connection.ops.quote_name, f"{of}." if of else ""
    return ", ".join(prefix + quote(name) for name in columns if name not in ("id", but))


def make_people(names: Sequence[str]) -> list[User]:
    """Accounts with the password of this module; it is hashed once for all of them."""
    there = {user.username: user for user in User.objects.filter(username__in=names)}
    missing = [name for name in names if name not in there]
    if missing:
        hashed = make_password(PASSWORD)
        User.objects.bulk_create([User(username=name, password=hashed) for name in missing])
    return list(User.objects.filter(username__in=names).order_by("pk"))


def make_pool(*, items: int, people: Sequence[User], wanted: int = 1) -> Study:
    """An open study of so many items; whoever of ``people`` is free takes the next."""
    study = Study(
        name=f"{items} items", questionnaire=QUESTIONS, dealing=Study.Dealing.POOL,
        status=Study.Status.OPEN,
    )  # fmt: skip
    rows = [NewItem(trajectory=pk, wanted=wanted) for pk in make_trajectories(items)]
    return store_study(study=study, items=rows, people=people)


def check_counters(study: Study) -> None:
    """See that items and people count what the rows say, and that no item has a seat too many."""
    rows = list(study.assignments.values_list("item", "annotator", "part", "state", "active_ms"))
    main = [(item, user, state) for item, user, part, state, _ in rows if part == "main"]
    assert len({(item, user) for item, user, _ in main}) == len(main), "somebody got an item twice"
    held = Counter(item for item, _, _, state, _ in rows if state in (State.OPEN, State.SUBMITTED))
    done = Counter(item for item, _, _, state, _ in rows if state == State.SUBMITTED)
    for item in study.items.all():
        assert (item.given, item.done) == (held[item.pk], done[item.pk]), item
        assert item.given <= item.wanted, item
    for person in study.participants.all():
        mine = Counter(state for _, user, state in main if user == person.user_id)
        counted = (person.assigned, person.submitted, person.skipped, person.returned)
        states = (mine[State.SUBMITTED], mine[State.SKIPPED], mine[State.RETURNED])
        assert counted == (mine.total(), *states), person
        assert person.active_ms == sum(
            active for _, user, part, state, active in rows
            if (user, part, state) == (person.user_id, "main", State.SUBMITTED)
        )  # fmt: skip

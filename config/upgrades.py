"""What a database lacks of this version, and whether the previous release tolerates it.

In a rolling upgrade the first server of the new release migrates the database, and those of the
previous release run beside it until their turn comes.
"""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from django.core.management import call_command
from django.core.management.base import CommandError
from django.db import connection, migrations, models
from django.db.backends.base.base import BaseDatabaseWrapper
from django.db.migrations.executor import MigrationExecutor
from django.db.migrations.operations.base import Operation
from django.db.migrations.state import ProjectState
from django.db.models import NOT_PROVIDED

from benchmarks.locks import session_lock

# What code that does not know of it need not notice.
_UNNOTICED = (
    migrations.CreateModel,
    migrations.AddIndex,
    migrations.RemoveIndex,
    migrations.RenameIndex,
    migrations.RemoveConstraint,
    migrations.AlterModelOptions,
    migrations.AlterModelManagers,
)

# Whether these do any harm, only the author of a migration can say.
_JUDGED_BY_AUTHOR = (migrations.RunPython, migrations.RunSQL, migrations.AddConstraint)


def is_behind(connection: BaseDatabaseWrapper) -> bool:
    """Say whether a database lacks migrations of this version."""
    executor = MigrationExecutor(connection)
    return bool(executor.migration_plan(executor.loader.graph.leaf_nodes()))


def is_pooled(connection: BaseDatabaseWrapper) -> bool:
    """Return whether the address is that of a pooler, where settings of a session do not hold."""
    return bool(connection.settings_dict.get("DISABLE_SERVER_SIDE_CURSORS"))


def refuse_pooler(connection: BaseDatabaseWrapper) -> None:
    """Raise an error if settings of this session would reach other sessions of a pooler."""
    if is_pooled(connection):
        raise CommandError(
            "DATABASE_URL leads to a pooler (pooler=transaction). Bring the database up to date "
            "with manage.py migrate at the address of PostgreSQL itself."
        )


def migrate_if_needed() -> bool:
    """Apply what has not been applied; say whether there was anything.

    Of several machines that start at once the first does it, and the others wait for it.
    """
    if not is_behind(connection):
        return False
    refuse_pooler(connection)
    with session_lock("migrate"):
        if not is_behind(connection):
            return False
        call_command("migrate", interactive=False, verbosity=0)
    return True


class PlannedMigration(NamedTuple):
    """A migration that is not applied, and why the previous release would not tolerate it."""

    name: str
    obstacles: tuple[str, ...]


def planned_migrations() -> list[PlannedMigration]:
    """Return the migrations that are not applied, in their order.

    A migration whose steps in Python or SQL, or whose wider constraints, do no harm to the previous
    release says so in ``tolerated_because``.
    """
    executor = MigrationExecutor(connection)
    graph = executor.loader.graph
    plan = executor.migration_plan(graph.leaf_nodes())
    state = graph.make_state([n for n in executor.loader.applied_migrations if n in graph.nodes])
    planned = []
    for migration, _ in plan:
        obstacles = tuple(_obstacles(migration, migration.operations, state))
        planned.append(PlannedMigration(str(migration), obstacles))
        state = migration.mutate_state(state)
    return planned


def _obstacles(
    migration: migrations.Migration, operations: Sequence[Operation], state: ProjectState
) -> Iterator[str]:
    """Something that keeps the previous release from going on; ``state`` is what it was before."""
    state = state.clone()
    for operation in operations:
        before = state.clone()
        operation.state_forwards(migration.app_label, state)
        if isinstance(operation, migrations.SeparateDatabaseAndState):
            yield from _obstacles(migration, operation.database_operations, before)
        elif isinstance(operation, _JUDGED_BY_AUTHOR):
            if not getattr(migration, "tolerated_because", ""):
                yield f"{operation.describe()}: not known to be harmless"
        elif isinstance(operation, migrations.AddField):
            if not _may_be_left_out(operation.field):
                yield (
                    f"{operation.model_name}.{operation.name} is new and has no default in the "
                    "database, so the previous release cannot add rows"
                )
        elif isinstance(operation, migrations.AlterField):
            model, name = (migration.app_label, operation.model_name_lower), operation.name
            old, new = before.models[model].fields[name], state.models[model].fields[name]
            if not _holds_as_much(old, new):
                yield f"{operation.describe()}: the previous release may not be able to use it"
        elif not isinstance(operation, _UNNOTICED):
            yield f"{operation.describe()}: not known to be harmless"


def _may_be_left_out(field: models.Field) -> bool:  # type: ignore[type-arg]
    """Return whether an INSERT that does not name the column succeeds."""
    return field.null or field.many_to_many or field.db_default is not NOT_PROVIDED


def _holds_as_much(old: models.Field, new: models.Field) -> bool:  # type: ignore[type-arg]
    """Return whether an altered column takes all values that it took, under the same name."""
    if old.db_column != new.db_column or (new.unique and not old.unique):
        return False
    if old.null and not new.null:
        return False
    if type(old) is not type(new):
        return False
    if old.related_model != new.related_model:
        return False
    lengths = old.max_length, new.max_length
    return lengths[0] == lengths[1] or bool(lengths[0] and lengths[1] and lengths[0] < lengths[1])

"""Whether the previous release can go on working while this one's migrations are applied.

In a rolling upgrade the first server of the new release migrates the database, and those of the
previous release run beside it until their turn comes.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from django.db import connection, migrations, models
from django.db.migrations.executor import MigrationExecutor
from django.db.migrations.operations.base import Operation
from django.db.models import NOT_PROVIDED

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


@dataclass(frozen=True)
class PlannedMigration:
    """A migration that is not applied, and why the previous release would not tolerate it."""

    name: str
    hindrances: tuple[str, ...]


def planned_migrations() -> list[PlannedMigration]:
    """Return the migrations that are not applied, in their order."""
    executor = MigrationExecutor(connection)
    plan = executor.migration_plan(executor.loader.graph.leaf_nodes())
    return [
        PlannedMigration(str(migration), tuple(_hindrances(migration.operations)))
        for migration, _ in plan
    ]


def _hindrances(operations: Sequence[Operation]) -> Iterator[str]:
    for operation in operations:
        if isinstance(operation, migrations.SeparateDatabaseAndState):
            yield from _hindrances(operation.database_operations)
        elif isinstance(operation, migrations.AddField):
            if not _may_be_left_out(operation.field):
                yield (
                    f"{operation.model_name}.{operation.name} is new and has no default in the "
                    "database, so the previous release cannot add rows"
                )
        elif not isinstance(operation, _UNNOTICED):
            yield f"{operation.describe()}: not known to be harmless"


def _may_be_left_out(field: models.Field) -> bool:  # type: ignore[type-arg]
    """Return whether an INSERT that does not name the column succeeds."""
    return field.null or field.many_to_many or field.db_default is not NOT_PROVIDED

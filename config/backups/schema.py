"""Tables and columns as a set of applied migrations has them, be it older than this version's."""

from collections.abc import Collection, Iterable, Mapping
from contextlib import suppress
from functools import cached_property
from typing import Any, TypeAlias

from django.apps import apps
from django.db import models
from django.db.backends.base.base import BaseDatabaseWrapper
from django.db.migrations.loader import MigrationLoader
from django.db.migrations.recorder import MigrationRecorder

from config.backups.errors import BackupError
from config.backups.manifest import Table, product_version

Node = tuple[str, str]
Model = type[models.Model]
Field: TypeAlias = "models.Field[Any, Any]"
# Made anew with every database, or worth nothing without the rest.
NOT_DATA = {
    "contenttypes.ContentType",
    "auth.Permission",
    "sessions.Session",
    "analysis.RunFacts",
}
# What ships with the product has nobody in this column; only what people added is missed.
BY_PEOPLE = {"annotation.FailureLabel": "made_by", "annotation.FailureWording": "by"}


class Schema:
    """The models at ``applied``, and how that state compares with this version's."""

    def __init__(self, applied: Collection[Node], *, whose: str) -> None:
        # Squashed migrations and those that they replace: old databases know only the latter.
        self._loader = MigrationLoader(None, replace_migrations=False)
        known = set(self._loader.graph.nodes)
        if unknown := sorted(set(applied) - known):
            names = ", ".join(f"{app} {name}" for app, name in unknown[:3])
            raise BackupError(
                f"{whose} is newer than this PlanJury ({product_version()}), which does not know "
                f"the migration{'s' * (len(unknown) > 1)} {names}"
                f"{' and others' * (len(unknown) > 3)}. Install the newer version first."
            )
        self.applied = frozenset(applied)
        self._path = self._without_other_path()
        self.is_older = bool(known - self._replaced - self._path)

    @property
    def leaves(self) -> list[Node]:
        """What a new database has to be migrated to in order to get here."""
        nodes = self._loader.graph.node_map
        return sorted(
            node
            for node in self._path
            if not any(
                child.key in self._path and child.key[0] == node[0]
                for child in nodes[node].children
            )
        )

    @property
    def _replaced(self) -> frozenset[Node]:
        """The migrations that squashed ones stand for."""
        squashed = self._loader.replacements.values()
        return frozenset(node for migration in squashed for node in migration.replaces)

    def _without_other_path(self) -> frozenset[Node]:
        """What was applied, with squashed migrations or what they replace, but not both.

        They lead to the same tables. A database that has all of the replaced ones counts as if the
        squashed ones had made it. For one that was left half way the replaced ones count.
        """
        if self._replaced <= self.applied:
            return (self.applied - self._replaced) | self._loader.replacements.keys()
        return self.applied - self._loader.replacements.keys()

    @cached_property
    def models(self) -> Mapping[str, Model]:
        """The models by table, those of many-to-many relations among them."""
        if not self.applied:
            return {}
        state = self._loader.project_state(self.leaves)
        return {
            model._meta.db_table: model
            for model in state.apps.get_models(include_auto_created=True)
            if model._meta.managed and not model._meta.proxy
        }

    def check_tables(self, tables: Iterable[Table]) -> None:
        """Refuse a backup whose tables are not those of its migrations."""
        given = {table.name: dict(table.columns) for table in tables}
        for name in sorted(given.keys() ^ self.models.keys()):
            raise BackupError(f"The backup and its migrations differ about table {name}.")
        for name, model in self.models.items():
            if given[name] != column_kinds(model):
                raise BackupError(f"The backup and its migrations differ about table {name}.")


def stored_schema(connection: BaseDatabaseWrapper) -> Schema:
    """The schema that a database has."""
    applied = MigrationRecorder(connection).applied_migrations()
    return Schema(applied.keys(), whose="The database")


def columns(model: Model) -> dict[str, Field]:
    """The columns of a table with their fields, in the order of the model."""
    return {str(field.column): field for field in model._meta.local_concrete_fields}


def column_kinds(model: Model) -> dict[str, str]:
    """What a backup says of a table's columns."""
    return {column: field.get_internal_type() for column, field in columns(model).items()}


def data_counts(connection: BaseDatabaseWrapper, schema: Schema) -> dict[str, int]:
    """How many rows there are of what people would miss, by a name that they know; most first."""
    found = []
    for model in schema.models.values():
        if model._meta.label not in NOT_DATA:
            rows = model._base_manager.using(connection.alias).all()
            if column := BY_PEOPLE.get(model._meta.label):
                rows = rows.exclude(**{column: None})
            count = rows.count()
            found.append((_name(model, count), count))
    return {name: count for name, count in sorted(found, key=lambda each: -each[1]) if count}


def _name(model: Model, count: int) -> str:
    """Of today's model, if there still is one: those of older states have no words for people."""
    with suppress(LookupError):
        model = apps.get_model(model._meta.label)
    return str(model._meta.verbose_name if count == 1 else model._meta.verbose_name_plural)

"""An operation that migrations of all apps use; Django passes over modules that begin with "_"."""

from collections.abc import Sequence
from contextlib import suppress
from typing import Any

from django.db import migrations
from django.db.migrations.operations.base import Operation


class CreateModels(Operation):
    """Create models at once, which may refer to one another in any order.

    After each single ``CreateModel`` Django renders every model again that is related to the new one,
    and nearly all of them are. Here they are rendered once, when all are known.
    """

    def __init__(self, operations: Sequence[migrations.CreateModel]) -> None:
        self.operations = operations

    def state_forwards(self, app_label: str, state: Any) -> None:
        with suppress(AttributeError):
            del state.apps  # a cached property
        for operation in self.operations:
            operation.state_forwards(app_label, state)

    def database_forwards(
        self, app_label: str, schema_editor: Any, from_state: Any, to_state: Any
    ) -> None:
        for operation in self.operations:
            operation.database_forwards(app_label, schema_editor, from_state, to_state)

    def database_backwards(
        self, app_label: str, schema_editor: Any, from_state: Any, to_state: Any
    ) -> None:
        for operation in reversed(self.operations):
            operation.database_backwards(app_label, schema_editor, from_state, to_state)

    def describe(self) -> str:
        return f"Create {len(self.operations)} models"

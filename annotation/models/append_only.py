"""A base for rows that are only added, never changed or deleted."""

from typing import Any, NoReturn, TypeVar

from django.db import models

M = TypeVar("M", bound=models.Model)


class AppendOnlyQuerySet(models.QuerySet[M]):
    """Refuses what would change or delete rows.

    Deleting a study as a whole deletes its record with it; that goes by the study, not by here.
    """

    def update(self, **kwargs: Any) -> NoReturn:
        """Refuse; see `erase_words`."""
        raise TypeError(f"rows of {self.model._meta.verbose_name_plural} are only ever added")

    def bulk_update(self, *args: Any, **kwargs: Any) -> NoReturn:
        """Refuse."""
        self.update()

    def delete(self) -> NoReturn:
        """Refuse."""
        self.update()

    def erase_words(self, **blank: Any) -> int:
        """Blank what a person said, where that person is erased. The only way to change a row."""
        return super().update(**blank)

    def erase_rows(self) -> int:
        """Delete rows that are nothing but a choice of a person whose choices are erased."""
        return super().delete()[0]


class AppendOnly(models.Model):
    """A model whose rows are added once and stay as they are."""

    objects = AppendOnlyQuerySet.as_manager()

    class Meta:
        abstract = True

    def save(self, *args: Any, **kwargs: Any) -> None:
        """Add the row; one that is stored stays as it is."""
        if not self._state.adding:
            type(self).objects.all().update()
        super().save(*args, **kwargs)

    def delete(self, *args: Any, **kwargs: Any) -> NoReturn:
        """Refuse."""
        type(self).objects.all().update()
        raise AssertionError  # the line above has raised

"""Which columns of a list a person chose to see."""

from django.conf import settings
from django.db import models


class ListColumns(models.Model):
    """The columns of one list that a person switched on or off.

    ``shown`` maps the key of a column to whether it is shown; columns that are not in it are shown
    as the list's default has it, so that a new column appears for everybody. The keys that a person
    chose for the desk are kept here, too, as a list of that name (`annotation.desk.keys`).
    """

    user = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="list_columns"
    )
    list = models.CharField(max_length=40)
    shown = models.JSONField(default=dict)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["user", "list"], name="one_choice_of_columns_a_list")
        ]

    def __str__(self) -> str:
        return f"columns of {self.list} for {self.user_id}"

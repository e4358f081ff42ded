"""The retention times of a study, as its settings hold them. Without one, everything is kept."""

from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from typing import Any

from annotation.models import Study

RETENTION = "retention"
MOST_DAYS = 36_500
# What can be removed, in words. The keys are fields of the rule.
PARTS: Mapping[str, str] = {
    "platform_ids": "Participants’ IDs at recruiting platforms",
    "invitations": "Names and addresses of invitations",
    "answers": "Texts, quotes and background answers of annotators",
}


@dataclass(frozen=True)
class RetentionRule:
    """Days after the closing of a study at which parts of it are removed; None keeps them.

    ``archive`` has the study exported into the server's archive before the answers are removed.
    """

    platform_ids: int | None = None
    invitations: int | None = None
    answers: int | None = None
    archive: bool = False

    def problems(self) -> Iterator[tuple[str, str]]:
        """Yield what is wrong with the rule: the name of a field, and what it takes."""
        for part in PARTS:
            days = getattr(self, part)
            if days is not None and (type(days) is not int or not 1 <= days <= MOST_DAYS):
                yield part, f"a whole number of days from 1 to {MOST_DAYS:,} is expected, or none"
        if self.archive and self.answers is None:
            yield "archive", "an archive is written before answers go; say after how many days"

    @property
    def days(self) -> dict[str, int]:
        """The days by part, of the parts that are not kept."""
        return {part: days for part in PARTS if (days := getattr(self, part)) is not None}

    @property
    def stored(self) -> dict[str, Any]:
        """The rule as the settings of a study hold it."""
        return {name: value for name, value in asdict(self).items() if value not in (None, False)}


def retention_rule(study: Study) -> RetentionRule:
    """Return the retention times of a study."""
    return RetentionRule(**study.settings.get(RETENTION, {}))

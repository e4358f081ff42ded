"""The retention times of a study, as its settings hold them. Without one, everything is kept."""

from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from typing import Annotated, Any

from pydantic import StrictBool, with_config

from annotation.models import Study
from benchmarks.core.schemas import STRICT, Checked, expects

RETENTION = "retention"
MOST_DAYS = 36_500
# What can be removed, in words. The keys are fields of the rule.
PARTS: Mapping[str, str] = {
    "platform_ids": "Participants’ IDs at recruiting platforms",
    "invitations": "Names and addresses of invitations",
    "answers": "Texts, quotes and background answers of annotators",
}
Days = Annotated[
    int | None,
    expects(f"a whole number of days from 1 to {MOST_DAYS:,}, or none",
        strict=True, ge=1, le=MOST_DAYS),
]  # fmt: skip


@with_config(STRICT)
@dataclass(frozen=True)
class RetentionRule:
    """Days after the closing of a study at which parts of it are removed; None keeps them.

    ``archive`` has the study exported into the server's archive before the answers are removed.
    """

    platform_ids: Days = None
    invitations: Days = None
    answers: Days = None
    archive: StrictBool = False

    def problems(self) -> Iterator[tuple[str, str]]:
        """Yield what is wrong with the rule: the name of a field, and what it takes."""
        for (name,), expected, _ in RULES.faults(asdict(self)):
            yield str(name), f"expected {expected}"
        yield from self.conflicts()

    def conflicts(self) -> Iterator[tuple[str, str]]:
        """Yield where parts of the rule contradict each other."""
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


RULES = Checked[RetentionRule](RetentionRule)


def retention_rule(study: Study) -> RetentionRule:
    """Return the retention times of a study."""
    return RetentionRule(**study.settings.get(RETENTION, {}))

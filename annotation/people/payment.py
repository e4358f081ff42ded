"""What each annotator of a study did and is paid for it, with or without a recruiting platform."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from decimal import ROUND_HALF_UP, Decimal
from typing import Any

from django.contrib.auth.models import User

from annotation.models import Study
from annotation.studies.progress import AnnotatorProgress, study_progress

CENT = Decimal("0.01")
COLUMNS = (
    "annotator", "account", "simulated", "stage", "items_submitted", "gold_submitted",
    "items_skipped", "active_minutes", "pay",
)  # fmt: skip


@dataclass(frozen=True)
class PayRate:
    """What is paid for an hour of active time and for an item, gold items too; None: nothing."""

    per_hour: Decimal | None = None
    per_item: Decimal | None = None

    def pay(self, row: AnnotatorProgress) -> Decimal | None:
        """Return what somebody is paid; None without a rate."""
        if self.per_hour is None and self.per_item is None:
            return None
        hours = Decimal(round(row.active_seconds * 1000)) / 3_600_000
        items = row.counts.submitted + row.counts.gold
        total = hours * (self.per_hour or 0) + items * (self.per_item or 0)
        return total.quantize(CENT, ROUND_HALF_UP)


@dataclass(frozen=True)
class PaymentRow:
    """One annotator, their active minutes (None where none are known) and their pay."""

    person: AnnotatorProgress
    minutes: float | None
    pay: Decimal | None


def study_payments(study: Study, rate: PayRate, *, blind: User | None = None) -> list[PaymentRow]:
    """Return what everybody did, also who has left since, by their numbers; a ``blind`` reader is
    not told gold items apart.
    """
    people = sorted(study_progress(study, blind=blind).people, key=lambda row: row.number)
    return [PaymentRow(row, row.active_seconds / 60 or None, rate.pay(row)) for row in people]


def total_pay(rows: Sequence[PaymentRow]) -> Decimal | None:
    """Return the sum of all pay; None without a rate."""
    paid = [row.pay for row in rows if row.pay is not None]
    return sum(paid, Decimal(0)) if paid else None


def payment_table(rows: Sequence[PaymentRow]) -> Iterator[Sequence[Any]]:
    """Yield a heading, then a line for each annotator."""
    yield COLUMNS
    for row in rows:
        person, counts = row.person, row.person.counts
        yield (
            person.number, person.username, person.is_simulated, person.stage, counts.submitted,
            counts.gold, counts.skipped, None if row.minutes is None else round(row.minutes, 1),
            row.pay,
        )  # fmt: skip

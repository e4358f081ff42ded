"""The work and pay of each annotator of a study, with or without a recruiting platform."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from decimal import ROUND_HALF_UP, Decimal
from typing import Any

from django import forms
from django.contrib.auth.models import User
from django.http import HttpRequest, HttpResponseBase, StreamingHttpResponse
from django.shortcuts import render
from django.utils.text import slugify
from django.views.decorators.http import require_GET

from annotation.access import fetch_managed_study
from annotation.annotator_quality.checks import elapsed_by_person
from annotation.models import Participant, Recruit, Study
from annotation.studies.progress import AnnotatorProgress, study_progress
from annotation.study_frame.context import blind_reader, study_context
from benchmarks.access import signed_in
from benchmarks.filters import AddressForm
from benchmarks.tables import csv_lines

CENT = Decimal("0.01")
COLUMNS = (
    "annotator", "account", "simulated", "stage", "items_submitted", "gold_submitted",
    "items_skipped", "active_minutes", "elapsed_minutes", "signs", "pay",
)  # fmt: skip


@dataclass(frozen=True)
class PayRate:
    """The pay for an hour of active time and for an item, gold items too; None: nothing."""

    per_hour: Decimal | None = None
    per_item: Decimal | None = None

    def pay(self, row: AnnotatorProgress) -> Decimal | None:
        """Return what somebody is paid; None without a rate, or for hours that nobody knows."""
        if self.per_hour is None and self.per_item is None:
            return None
        if self.per_hour and hours_unknown(row):
            return None
        hours = Decimal(round(row.active_seconds * 1000)) / 3_600_000
        items = row.counts.submitted + row.counts.gold
        total = hours * (self.per_hour or 0) + items * (self.per_item or 0)
        return total.quantize(CENT, ROUND_HALF_UP)


@dataclass(frozen=True)
class PaymentRow:
    """One annotator, their active minutes, the minutes that they had submitted items open by the
    server's clock (None where these are not known), and their pay.
    """

    person: AnnotatorProgress
    minutes: float | None
    elapsed: float | None
    pay: Decimal | None

    @property
    def submitted(self) -> int:
        """The number of submitted items, gold among them."""
        return self.person.counts.submitted + self.person.counts.gold


def hours_unknown(row: AnnotatorProgress) -> bool:
    """Return whether somebody submitted items of which no active time is known."""
    return bool(row.counts.submitted + row.counts.gold) and not row.active_seconds


def study_payments(study: Study, rate: PayRate, *, blind: User | None = None) -> list[PaymentRow]:
    """Return what everybody did, also who has left since, by their numbers; a ``blind`` reader is
    not told gold items apart.
    """
    people = sorted(study_progress(study, blind=blind).people, key=lambda row: row.number)
    numbers = dict(Participant.objects.filter(study=study).values_list("number", "user"))
    elapsed = elapsed_by_person(study)
    return [
        PaymentRow(
            row,
            row.active_seconds / 60 or None,
            None if (seconds := elapsed.get(numbers[row.number])) is None else seconds / 60,
            rate.pay(row),
        )
        for row in people
    ]


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
            counts.gold, counts.skipped, _rounded(row.minutes), _rounded(row.elapsed),
            "; ".join(person.signs), row.pay,
        )  # fmt: skip


def _rounded(minutes: float | None) -> float | None:
    return None if minutes is None else round(minutes, 1)


class PayRateForm(AddressForm):
    """The form for the pay of an hour and of an item; it is kept in the address alone."""

    per_hour = forms.DecimalField(
        label="Pay for an hour of active time", required=False, min_value=0, max_value=10_000,
        max_digits=8, decimal_places=2,
    )  # fmt: skip
    per_item = forms.DecimalField(
        label="Pay for an item", required=False, min_value=0, max_value=10_000,
        max_digits=8, decimal_places=2,
    )  # fmt: skip

    @property
    def rate(self) -> PayRate:
        """The rate, as far as it can be read."""
        chosen = self.chosen()
        return PayRate(chosen.get("per_hour"), chosen.get("per_item"))


@require_GET
@signed_in
def payment(request: HttpRequest, pk: int) -> HttpResponseBase:
    """Show everybody's minutes, and what they are paid at a rate."""
    access = fetch_managed_study(request, pk)
    form = PayRateForm(request.GET)
    rows = study_payments(access.study, form.rate, blind=blind_reader(access))
    context = {
        **study_context(access, "payment"),
        "form": form,
        "rows": rows,
        "total": total_pay(rows),
        "unpaid": sum(row.pay is None for row in rows),
        "query": request.GET.urlencode(),
        "recruits": Recruit.objects.filter(study=access.study).exists(),
    }
    return render(request, "annotation/study_payment.html", context)


@require_GET
@signed_in
def payment_file(request: HttpRequest, pk: int) -> HttpResponseBase:
    """Send the same as CSV."""
    access = fetch_managed_study(request, pk)
    rate = PayRateForm(request.GET).rate
    rows = study_payments(access.study, rate, blind=blind_reader(access))
    response = StreamingHttpResponse(
        csv_lines(payment_table(rows)), content_type="text/csv; charset=utf-8"
    )
    name = f"{slugify(access.study.name) or 'study'}-minutes.csv"
    response["Content-Disposition"] = f'attachment; filename="{name}"'
    return response

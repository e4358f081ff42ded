"""The page and the file with everybody's minutes and pay."""

from django import forms
from django.http import HttpRequest, HttpResponseBase, StreamingHttpResponse
from django.shortcuts import render
from django.utils.text import slugify
from django.views.decorators.http import require_GET

from annotation.access import fetch_managed_study
from annotation.models import Recruit
from annotation.people.payment import PayRate, payment_table, study_payments, total_pay
from annotation.studies.views import blind_reader, study_context
from benchmarks.access import signed_in
from benchmarks.filters import AddressForm
from benchmarks.tables import csv_lines


class PayRateForm(AddressForm):
    """What an hour and an item are paid; kept in the address alone."""

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

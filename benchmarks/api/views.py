"""A person's tokens for the HTTP API: made, shown once, revoked."""

from datetime import datetime, timedelta

from django import forms
from django.contrib import messages
from django.contrib.auth.models import User
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import get_object_or_404, render
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_POST

from benchmarks.access import signed_in
from benchmarks.api.tokens import create_token, revoke_token, token_rows, tokens_of
from benchmarks.core.errors import CoreError
from benchmarks.core.problems import text_fault

DAYS = (("30", "30 days"), ("90", "90 days"), ("365", "A year"), ("0", "Until it is revoked"))


class TokenForm(forms.Form):
    """A new token."""

    use_required_attribute = False

    name = forms.CharField(
        label="Name", max_length=80, help_text="What it is for, such as “nightly export”."
    )
    days = forms.ChoiceField(label="Lasts", choices=DAYS, initial="90")
    read_only = forms.BooleanField(label="May only read", required=False, initial=True)

    def clean_name(self) -> str:
        name: str = self.cleaned_data["name"]
        if fault := text_fault(name, 80):
            raise forms.ValidationError(f"Expected {fault}.")
        return name

    @property
    def expires_at(self) -> datetime | None:
        """The moment from which it no longer works."""
        days = int(self.cleaned_data["days"])
        return timezone.now() + timedelta(days=days) if days else None


@signed_in
@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
def token_list(request: HttpRequest) -> HttpResponse:
    """Show one's own tokens; a new one is in the answer to the form and nowhere after that."""
    assert isinstance(request.user, User)
    form = TokenForm(request.POST or None)
    secret, status = "", 200
    if request.method == "POST":
        status = 422
        if form.is_valid():
            try:
                _, secret = create_token(
                    user=request.user,
                    name=form.cleaned_data["name"],
                    read_only=form.cleaned_data["read_only"],
                    expires_at=form.expires_at,
                )
            except CoreError as error:
                form.add_error(None, f"{str(error)[:1].upper()}{str(error)[1:]}.")
            else:
                form, status = TokenForm(), 200
    context = {"form": form, "secret": secret, "rows": token_rows(request.user)}
    return render(request, "account/tokens.html", context, status=status)


@signed_in
@require_POST
def token_revoke(request: HttpRequest, token_id: int) -> HttpResponse:
    assert isinstance(request.user, User)
    token = get_object_or_404(tokens_of(request.user), pk=token_id)
    revoke_token(token=token)
    messages.success(request, f"“{token.name}” is revoked: programs that use it are refused.")
    return HttpResponseRedirect(reverse("programs:token_list"))

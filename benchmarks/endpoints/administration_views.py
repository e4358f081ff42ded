"""The page where administrators decide where endpoints may be, who may add them, and with what."""

from collections.abc import Callable, Mapping
from typing import Any

from django import forms
from django.conf import settings
from django.contrib import messages
from django.contrib.auth.models import User
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import get_object_or_404, render
from django.urls import reverse
from django.views.decorators.http import require_http_methods

from benchmarks.access import ENDPOINTS, START, allow, signed_in
from benchmarks.core.errors import CoreError
from benchmarks.endpoints import administration
from benchmarks.endpoints.presets import PRESETS
from benchmarks.endpoints.rules import EndpointRules
from benchmarks.llm.hosts import HostRuleError, read_host_rule
from benchmarks.llm.security import KEY_PREFIX
from benchmarks.models import AllowedHost, EndpointKey
from benchmarks.paging import as_id

_MODEL_BACKEND = "django.contrib.auth.backends.ModelBackend"
_PLAIN = {"spellcheck": "false", "autocapitalize": "none", "autocomplete": "off"}


def people_who_start() -> Any:
    """Return the people who may start runs, without administrators, who may do everything."""
    rows = User.objects.with_perm(START, backend=_MODEL_BACKEND, include_superusers=False)
    return rows.order_by("username")


class HostForm(forms.Form):
    """One entry of the list of allowed hosts."""

    use_required_attribute = False
    entry = forms.CharField(
        label="Host",
        max_length=261,
        widget=forms.TextInput(attrs={**_PLAIN, "placeholder": "api.example.org"}),
        help_text="A host, with or without a port; a pattern such as <code>*.example.org</code> "
        "for all hosts below a domain; a private address, or a range such as "
        "<code>10.1.0.0/16</code>.",
    )


class KeyForm(forms.Form):
    """A key, its host, and the people who may use it."""

    use_required_attribute = False
    variable = forms.CharField(
        label="Environment variable",
        max_length=80,
        widget=forms.TextInput(attrs={"spellcheck": "false", "list": "set-variables"}),
        help_text=f"Its name, which starts with <code>{KEY_PREFIX}</code>. Never the key itself.",
    )
    host = forms.CharField(
        label="Host",
        max_length=261,
        widget=forms.TextInput(attrs={**_PLAIN, "placeholder": "api.example.org"}),
        help_text="The only host that the key is sent to, with its port unless that is 443.",
    )
    users = forms.ModelMultipleChoiceField(
        label="Who may use it",
        queryset=User.objects.none(),
        required=False,
        widget=forms.CheckboxSelectMultiple,
        help_text="They may start runs with it, and use it in endpoints that they add.",
    )
    shared = forms.BooleanField(
        label="Everybody who may start runs may use endpoints with it", required=False
    )

    def __init__(self, data: Any = None, *, key: EndpointKey | None = None) -> None:
        initial = {}
        if key is not None:
            initial = {"variable": key.variable, "host": key.host, "shared": key.shared}
            initial["users"] = list(key.users.values_list("pk", flat=True))
        super().__init__(data, initial=initial)
        users = self.fields["users"]
        assert isinstance(users, forms.ModelMultipleChoiceField)
        users.queryset = people_who_start()


class AdderForm(forms.Form):
    """A person who may add endpoints from now on."""

    use_required_attribute = False
    user = forms.ModelChoiceField(
        label="Person", queryset=User.objects.none(), empty_label="Choose a person"
    )

    def __init__(self, data: Any = None) -> None:
        super().__init__(data)
        user = self.fields["user"]
        assert isinstance(user, forms.ModelChoiceField)
        known = [person.pk for person in administration.people_who_add()]
        user.queryset = people_who_start().exclude(pk__in=known)


@signed_in
@require_http_methods(["GET", "HEAD", "POST"])
def endpoint_rules(request: HttpRequest) -> HttpResponse:
    """Show the rules for endpoints with their forms, and change one of them (``do``)."""
    allow(request, ENDPOINTS)
    assert isinstance(request.user, User)
    shown: dict[str, forms.Form] = {}
    status = 200
    if request.method == "POST":
        act = _ACTIONS.get(request.POST.get("do", ""))
        if act is None:
            return HttpResponseRedirect(reverse("benchmarks:endpoint_rules"))
        name, form, words = act(request, request.user)
        if words:
            messages.success(request, words)
            return HttpResponseRedirect(f"{reverse('benchmarks:endpoint_rules')}#{name}")
        shown[name], status = form, 422
    key = _wanted_key(request)
    rules = EndpointRules.load()
    context = {
        "fixed": [_entry(text) for text in settings.PLANJURY_ENDPOINT_HOSTS],
        "added": AllowedHost.objects.select_related("added_by"),
        "keys": _keys(),
        "unbound": [name for name in administration.set_variables() if name not in rules.keys],
        "variables": administration.set_variables(),
        "people": administration.people_who_add(),
        "host_form": shown.get("hosts") or HostForm(),
        "key_form": shown.get("keys") or KeyForm(key=key),
        "key": key,
        "adder_form": shown.get("people") or AdderForm(),
        "presets": [one for one in PRESETS if one.host not in rules.hosts],
    }
    return render(request, "benchmarks/endpoints/endpoint_rules.html", context, status=status)


def _wanted_key(request: HttpRequest) -> EndpointKey | None:
    pk = as_id(request.GET.get("key", ""))
    return None if pk is None else get_object_or_404(EndpointKey, pk=pk)


def _keys() -> list[dict[str, Any]]:
    there = set(administration.set_variables())
    rows = EndpointKey.objects.select_related("bound_by").prefetch_related("users")
    return [{"row": row, "is_set": row.variable in there} for row in rows]


def _entry(text: str) -> dict[str, str]:
    """Return an entry of the environment, and what is wrong with it."""
    try:
        return {"text": read_host_rule(text).text, "problem": ""}
    except HostRuleError as error:
        return {"text": text, "problem": str(error)}


# The part of the page, its form if something is wrong with it, and what was done otherwise.
Done = tuple[str, forms.Form, str]


def _try(name: str, form: forms.Form, field: str, do: Callable[[], str]) -> Done:
    """Do something with a form; a refusal appears beside its field."""
    if form.is_valid():
        try:
            return name, form, do()
        except CoreError as error:
            text = str(error)
            form.add_error(field, f"{text[:1].upper()}{text[1:]}.")
    return name, form, ""


def _allow_host(request: HttpRequest, by: User) -> Done:
    form = HostForm(request.POST)

    def do() -> str:
        row = administration.allow_host(entry=form.cleaned_data["entry"], by=by)
        return f"Endpoints may be at {row.entry} now."

    return _try("hosts", form, "entry", do)


def _remove_host(request: HttpRequest, by: User) -> Done:
    row = get_object_or_404(AllowedHost, pk=as_id(request.POST.get("host", "")) or 0)
    administration.remove_host(host=row, by=by)
    return "hosts", HostForm(), f"{row.entry} is no longer allowed."


def _bind_key(request: HttpRequest, by: User) -> Done:
    form = KeyForm(request.POST)

    def do() -> str:
        given = form.cleaned_data
        row = administration.bind_key(
            variable=given["variable"].strip(), host=given["host"], users=list(given["users"]),
            shared=given["shared"], by=by,
        )  # fmt: skip
        return f"{row.variable} is bound to {row.host}."

    wrong = "host"
    if not form.data.get("variable", "").strip().startswith(KEY_PREFIX):
        wrong = "variable"
    return _try("keys", form, wrong, do)


def _unbind_key(request: HttpRequest, by: User) -> Done:
    row = get_object_or_404(EndpointKey, pk=as_id(request.POST.get("key", "")) or 0)
    administration.unbind_key(key=row, by=by)
    return "keys", KeyForm(), f"{row.variable} is no longer bound."


def _grant(request: HttpRequest, by: User) -> Done:
    form = AdderForm(request.POST)

    def do() -> str:
        administration.grant_adding(user=form.cleaned_data["user"], by=by)
        return f"{form.cleaned_data['user']} may add endpoints now."

    return _try("people", form, "user", do)


def _revoke(request: HttpRequest, by: User) -> Done:
    user = get_object_or_404(User, pk=as_id(request.POST.get("user", "")) or 0)
    administration.revoke_adding(user=user, by=by)
    return "people", AdderForm(), f"{user} may no longer add endpoints."


_ACTIONS: Mapping[str, Callable[[HttpRequest, User], Done]] = {
    "allow": _allow_host,
    "remove": _remove_host,
    "bind": _bind_key,
    "unbind": _unbind_key,
    "grant": _grant,
    "revoke": _revoke,
}

"""The form of an endpoint; refusals of the client's rules appear beside their field."""

import json
import os
from collections.abc import Mapping
from typing import Any

from django import forms
from django.contrib.auth.models import User
from django.core.validators import RegexValidator
from django.utils.html import format_html
from django.utils.text import slugify

from benchmarks.core.digests import storable
from benchmarks.core.errors import CoreError, SettingError
from benchmarks.core.problems import json_fault
from benchmarks.endpoints.presets import PRESETS, EndpointPreset
from benchmarks.endpoints.requests import EndpointRequest
from benchmarks.endpoints.rules import EndpointRules, is_delegate
from benchmarks.endpoints.services import LOCKED
from benchmarks.llm.config import EndpointConfig, check_parameters
from benchmarks.llm.security import (
    KEY_PREFIX,
    EndpointRefused,
    check_key_variable,
    read_address,
    read_key,
)
from benchmarks.models import Agent, Endpoint
from benchmarks.request_fields import request_form


class ParametersField(forms.CharField):
    """A field for parameters as a JSON object; errors say where in the text they are."""

    widget = forms.Textarea(attrs={"rows": 6, "spellcheck": "false", "class": "code"})

    def prepare_value(self, value: Any) -> Any:
        if not isinstance(value, dict):
            return value
        return json.dumps(value, indent=2, ensure_ascii=False) if value else ""

    def has_changed(self, initial: Any, data: Any) -> bool:
        return bool(self.prepare_value(initial) != data)

    def clean(self, value: Any) -> dict[str, Any]:
        if isinstance(value, dict):  # of a field that is locked
            return value
        text = super().clean(value).strip()
        parameters = read_parameters(text) if text else {}
        try:
            check_parameters(parameters)
        except SettingError as error:
            raise forms.ValidationError(in_words(error)) from None
        return parameters


def preset_of(name: str) -> EndpointPreset | None:
    """Return the preset of an address; None if there is none of this name."""
    return next((preset for preset in PRESETS if preset.key == name), None)


def read_parameters(text: str) -> dict[str, Any]:
    """Parse a JSON object with unique names; errors name line and column."""
    try:
        parameters = json.loads(text, object_pairs_hook=_once, parse_constant=_no_number)
    except json.JSONDecodeError as error:
        raise forms.ValidationError(f"This is not JSON: {json_fault(error)}.") from None
    except _NoParameter as error:
        raise forms.ValidationError(str(error)) from None
    except (ValueError, RecursionError):
        raise forms.ValidationError("Expected JSON of a usual size and depth.") from None
    if not isinstance(parameters, dict):
        raise forms.ValidationError(
            'Expected a JSON object such as {"temperature": 0, "max_tokens": 1024}, '
            f"found {_KINDS.get(type(parameters).__name__, 'something else')}."
        )
    if storable(parameters) != parameters:
        raise forms.ValidationError("It holds a character that cannot be stored (such as \\u0000).")
    return parameters


_KINDS = {
    "list": "a list", "str": "a text", "int": "a number", "float": "a number", "bool": "a truth",
    "NoneType": "null",
}  # fmt: skip


class _NoParameter(Exception):
    """Raised for JSON that Python accepts and endpoints do not."""


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    values: dict[str, Any] = {}
    for name, value in pairs:
        if name in values:
            raise _NoParameter(f"The name {name!r} occurs twice.")
        values[name] = value
    return values


def _no_number(name: str) -> None:
    raise _NoParameter(f"{name} is no JSON value.")


def in_words(error: SettingError) -> str:
    """Describe a refused setting, its name first."""
    return f"{error.name}: expected {error.expected}, found {error.found!r}."


MOST_PARAMETERS = 20_000
_PRICE = {"min": "0", "step": "any", "inputmode": "decimal"}


_EndpointFields: Any = request_form(
    EndpointRequest,
    name={"kind": forms.SlugField},
    base_url={"widget": forms.TextInput({"inputmode": "url", "placeholder": "https://host/v1"})},
    parameters={"kind": ParametersField, "max_length": MOST_PARAMETERS},
    structured={"kind": forms.ChoiceField, "choices": Endpoint.Structured.choices},
    key_variable={
        "widget": forms.TextInput({"spellcheck": "false", "autocapitalize": "characters"})
    },
    price_in={"widget": forms.NumberInput(_PRICE)},
    price_out={"widget": forms.NumberInput(_PRICE)},
    currency={
        "validators": [RegexValidator(r"^[A-Z]{3}\Z", "Expected three letters, such as EUR.")]
    },
)


class EndpointForm(_EndpointFields):  # type: ignore[misc]  # made of the request
    """An endpoint. Fields that shape replies are locked once it has been asked."""

    use_required_attribute = False

    def __init__(
        self,
        data: Mapping[str, Any] | None = None,
        *,
        endpoint: Endpoint | None = None,
        locked: bool = False,
        copied: Endpoint | None = None,
        preset: EndpointPreset | None = None,
        by: User | None = None,
    ) -> None:
        """Make the form; ``by`` makes or changes the endpoint, None being the terminal."""
        source = endpoint or copied
        initial = {name: getattr(source, name) for name in self.base_fields} if source else {}
        if preset is not None:
            initial |= preset.initial
        if copied is not None:
            initial |= {"title": "", "name": ""}
        super().__init__(data, initial=initial or None)
        self.endpoint = endpoint
        self.rules = EndpointRules.load()
        self.delegated = endpoint.delegated if endpoint is not None else is_delegate(by)
        maker = endpoint.created_by if endpoint is not None else by
        self.maker = maker.pk if maker is not None else None
        self.fields["base_url"].help_text = format_html(
            "Up to and with <code>/v1</code>; plain http for this machine alone. Allowed hosts: "
            "{}. {}",
            ", ".join(self.rules.hosts) or "none",
            "An administrator can allow others."
            if is_delegate(by)
            else "You can allow others under Hosts and keys.",
        )
        if by is not None and self.delegated:
            self._offer_keys(by)
        else:
            self.fields["key_variable"].help_text = format_html(
                "The name of the environment variable, which must start with <code>{}</code>, "
                "never the key itself. Empty for endpoints without one. {}",
                KEY_PREFIX,
                _key_help((self.data if self.is_bound else self.initial).get("key_variable", "")),
            )
        if endpoint is not None:
            self.fields["name"].disabled = True
        if locked:
            names = [*LOCKED, "simulated"] if endpoint and endpoint.simulated else LOCKED
            for name in names:
                self.fields[name].disabled = True

    def _offer_keys(self, by: User) -> None:
        """Offer the keys that the maker was granted, each with its host."""
        granted = self.rules.granted_to(by)
        now = self.initial.get("key_variable", "")
        choices = [("", "No key"), *((name, f"{name}, for {granted[name]}") for name in granted)]
        if now and now not in granted:
            choices.append((now, f"{now} (not granted to you)"))
        help_text = (
            "Keys that an administrator granted you, each for its host."
            if granted
            else "No key was granted to you yet. An administrator can do so; a server on this "
            "machine needs none."
        )
        self.fields["key_variable"] = forms.ChoiceField(
            label="Key", choices=choices, required=False, help_text=help_text
        )

    def clean_title(self) -> str:
        return str(self.cleaned_data["title"]).strip()

    def clean_base_url(self) -> str:
        url = str(self.cleaned_data["base_url"]).strip().rstrip("/")
        try:
            self.rules.check_address(read_address(url), delegated=self.delegated)
        except EndpointRefused as error:
            raise forms.ValidationError(_sentence(error)) from None
        return url

    def clean_key_variable(self) -> str:
        name = str(self.cleaned_data["key_variable"]).strip()
        try:
            check_key_variable(name)
        except EndpointRefused as error:
            raise forms.ValidationError(_sentence(error)) from None
        return name

    def clean(self) -> dict[str, Any]:
        cleaned: dict[str, Any] = super().clean() or {}
        if cleaned.get("title") == "" and cleaned.get("model"):
            cleaned["title"] = cleaned["model"]
        if self.endpoint is None and "title" in cleaned and "name" not in self.errors:
            cleaned["name"] = cleaned.get("name") or slugify(cleaned["title"])[:60].strip("-")
            self._check_name(cleaned["name"])
        if "base_url" in cleaned and cleaned.get("key_variable"):
            try:
                self.rules.check_key(
                    cleaned["key_variable"],
                    read_address(cleaned["base_url"]),
                    self.delegated,
                    self.maker,
                )
            except EndpointRefused as error:
                self.add_error("key_variable", _sentence(error))
        if not self.errors:
            values = {name: value for name, value in cleaned.items() if name not in _NOT_ASKED}
            try:
                EndpointConfig(**values)
            except SettingError as error:
                field = error.name if error.name in self.fields else "parameters"
                self.add_error(field, in_words(error))
            except CoreError as error:
                self.add_error(None, _sentence(error))
        return cleaned

    def _check_name(self, name: str) -> None:
        if not name:
            self.add_error("name", "Give a name of letters, digits and hyphens.")
        elif (
            Endpoint.objects.filter(name=name).exists() or Agent.objects.filter(name=name).exists()
        ):
            # A name that was made of the title is changed there.
            field = "name" if self.data.get("name") else "title"
            self.add_error(field, f"The name {name!r} is taken by another endpoint or agent.")


_NOT_ASKED = ("title", "simulated")


def _sentence(error: Exception) -> str:
    text = str(error)
    return text[:1].upper() + text[1:] + "."


def _key_help(variable: str) -> str:
    """Say whether a variable is set on this machine, without its value."""
    if not variable.startswith(KEY_PREFIX):
        return ""
    try:
        read_key(variable, os.environ)
    except EndpointRefused as error:
        return f"On this machine now: {error}."
    return f"{variable} is set on this machine; workers on others need it too."

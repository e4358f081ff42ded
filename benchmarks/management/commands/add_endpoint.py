"""``manage.py add_endpoint``: what the page "Add an endpoint" does, from a terminal."""

from argparse import ArgumentParser
from typing import Any

from django import forms
from django.core.management.base import BaseCommand, CommandError
from django.utils.html import strip_tags

from benchmarks.core.errors import CoreError
from benchmarks.endpoints.forms import EndpointForm
from benchmarks.endpoints.services import create_endpoint


class Command(BaseCommand):
    """Add a language model; options are the fields of the form, checked by its rules."""

    help = "Add a language model at an OpenAI-compatible endpoint, and the agent of the same name."

    def add_arguments(self, parser: ArgumentParser) -> None:
        for name, field in EndpointForm.base_fields.items():
            option = f"--{name.replace('_', '-')}"
            text = f"{field.label}. {strip_tags(str(field.help_text))}".strip()
            about = text.replace("%", "%%")  # argparse formats help texts
            if isinstance(field, forms.BooleanField):
                parser.add_argument(option, action="store_true", help=about)
            elif isinstance(field, forms.ChoiceField):
                choices = [str(value) for value, _ in field.choices]  # type: ignore[misc, union-attr]
                parser.add_argument(option, choices=choices, default=field.initial, help=about)
            else:
                needed = field.required and field.initial is None
                parser.add_argument(option, required=needed, default=field.initial, help=about)

    def handle(self, *args: Any, **options: Any) -> None:
        given = {name: options[name] for name in EndpointForm.base_fields}
        form = EndpointForm({name: value for name, value in given.items() if value is not None})
        if not form.is_valid():
            notes = []
            for name, errors in form.errors.items():
                words = " ".join(map(str, errors))
                notes.append(f"--{name.replace('_', '-')}: {words}" if name in given else words)
            raise CommandError("Nothing was stored. " + "; ".join(notes))
        try:
            made = create_endpoint(**form.cleaned_data)
        except CoreError as error:
            raise CommandError(f"Nothing was stored. {error}") from None
        self.stdout.write(
            f"{made.title} was added. Use it with `--agent {made.name}`, in roles as "
            f"endpoint:{made.name}."
        )

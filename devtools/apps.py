"""The app of tools for developers, on which no other app rests."""

from django.apps import AppConfig


class DevtoolsConfig(AppConfig):
    """A fake endpoint, replays of recordings of a reference runtime, and the style guide."""

    name = "devtools"
    label = "devtools"
    verbose_name = "Tools for developers"

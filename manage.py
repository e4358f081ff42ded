#!/usr/bin/env python
"""PlanJury's command line."""

import os
import sys


def main() -> None:
    """Run the management command named on the command line."""
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings.local")
    from django.conf import settings
    from django.core.exceptions import ImproperlyConfigured

    try:
        # Read here, for Django would report broken settings as an unknown command.
        settings.INSTALLED_APPS  # noqa: B018
    except ImproperlyConfigured as error:
        sys.exit(str(error))
    from config.command_line import run_command

    run_command(sys.argv)


if __name__ == "__main__":
    main()

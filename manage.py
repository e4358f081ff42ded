#!/usr/bin/env python
"""PlanJury's command line."""

import os
import sys
from pathlib import Path


def main() -> None:
    """Run the management command named on the command line."""
    # Where the wheel is installed, the packages lie beside this file and not on the path.
    sys.path.insert(0, str(Path(__file__).resolve().parent))
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings.local")
    if sys.argv[1:2] == ["demo"] and "--help" not in sys.argv:
        from config.demo_folder import use_temporary_folder

        use_temporary_folder()
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

"""Import MacGyver problems with their recorded answers."""

from benchmarks.management.dataset_import import FormatImportCommand


class Command(FormatImportCommand):
    """An alias of ``import_dataset adaplanbench --format macgyver``."""

    help = (
        "Import MacGyver problems and recorded answers as tasks with profiles and pools of plans."
    )
    system, format = "adaplanbench", "macgyver"

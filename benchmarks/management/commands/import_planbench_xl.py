"""Import the data of PlanBench-XL."""

from benchmarks.management.dataset_import import FormatImportCommand


class Command(FormatImportCommand):
    """An alias of ``import_dataset planbench_xl --format published``."""

    help = "Import a folder with the eight JSON files of PlanBench-XL, plain or as .gz."
    system, format = "planbench_xl", "published"

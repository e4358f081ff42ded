"""Import the published AdaPlanBench file."""

from benchmarks.management.dataset_import import FormatImportCommand


class Command(FormatImportCommand):
    """An alias of ``import_dataset adaplanbench --format published``."""

    help = "Import queries and profiles in the published format (adaplanbench_queries.json)."
    system, format = "adaplanbench", "published"

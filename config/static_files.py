"""Static files under names that change with their content; imports between scripts follow."""

from collections.abc import Iterable
from typing import Any

from django.contrib.staticfiles.finders import AppDirectoriesFinder
from whitenoise.storage import CompressedManifestStaticFilesStorage


class StaticFiles(CompressedManifestStaticFilesStorage):  # type: ignore[misc]  # no types
    """WhiteNoise's storage, which also puts the hashed names into `import … from "./x.js";`."""

    support_js_module_import_aggregation = True


class UsedFilesFinder(AppDirectoriesFinder):
    """Find the files of apps, without those of htmx that no page uses.

    Comments in its extensions show imports, which the storage would take for files.
    """

    def list(self, ignore_patterns: Iterable[str] | None) -> Iterable[Any]:
        """Return the files to be collected."""
        return super().list([*(ignore_patterns or ()), "hx-*.js", "ht*x-4*.js"])

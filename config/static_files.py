"""Static files under names that change with their content; imports between scripts follow."""

from collections.abc import Iterable
from typing import Any

from django.contrib.staticfiles.finders import AppDirectoriesFinder
from whitenoise.storage import CompressedManifestStaticFilesStorage


class StaticFiles(CompressedManifestStaticFilesStorage):  # type: ignore[misc]  # no types
    """WhiteNoise's storage, which also puts the hashed names into `import … from "./x.js";`."""

    support_js_module_import_aggregation = True


# Extensions of htmx, whose comments show imports that the storage would take for files, and what
# Django's admin and htmx load in its minified form. To search and compress these takes a second.
UNUSED = ("hx-*.js", "ht*x-4*.js", "htmx-2.js", "jquery.js", "select2.full.js", "xregexp.js")


class UsedFilesFinder(AppDirectoriesFinder):
    """Find the files of apps, without those that no page loads."""

    def list(self, ignore_patterns: Iterable[str] | None) -> Iterable[Any]:
        """Return the files to be collected."""
        return super().list([*(ignore_patterns or ()), *UNUSED])

"""Static files under names that change with their content; imports between scripts follow."""

from whitenoise.storage import CompressedManifestStaticFilesStorage


class StaticFiles(CompressedManifestStaticFilesStorage):  # type: ignore[misc]  # no types
    """WhiteNoise's storage, which also puts the hashed names into `import … from "./x.js";`."""

    support_js_module_import_aggregation = True

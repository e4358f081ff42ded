"""Static files under names that change with their content."""

from typing import Any

from whitenoise.storage import CompressedManifestStaticFilesStorage


class StaticFiles(CompressedManifestStaticFilesStorage):  # type: ignore[misc]  # no types
    """WhiteNoise's own, but each address is put together once: a page names some twenty of them."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._known: dict[str, str] = {}

    def url(self, name: str, force: bool = False) -> str:
        """The address of a file."""
        found = self._known.get(name)
        if found is None:
            found = self._known[name] = super().url(name, force)
        return found

    def save_manifest(self) -> None:
        """Keep the new names; the addresses of the old ones are forgotten."""
        self._known.clear()
        super().save_manifest()

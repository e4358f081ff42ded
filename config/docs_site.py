"""The documentation, as ``make docs`` builds it, under ``/docs/``."""

import hashlib
import re
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

from django.conf import settings
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.utils.http import quote_etag
from django.views.decorators.http import condition, require_safe

NOT_BUILT = "The documentation is not built here: run `make docs` in the sources of PlanJury.\n"
# What the site holds; a licence or a notebook is shown as text.
TYPES = {
    ".css": "text/css; charset=utf-8",
    ".html": "text/html; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".json": "application/json",
    ".png": "image/png",
    ".svg": "image/svg+xml",
    ".webp": "image/webp",
    ".woff2": "font/woff2",
}
# Names that hold the digest of what is in the file.
HASHED = re.compile(r"\b[0-9a-f]{8}\b[^/]*$")


class SiteFile(NamedTuple):
    """A file of the site."""

    path: Path
    etag: str


def site_files() -> dict[str, SiteFile]:
    """Return the files of the built site by their addresses below ``/docs/``.

    Only these are served, so no address leads out of the folder.
    """
    index = Path(settings.DOCS_SITE) / "index.html"
    return _listed(index.parent, index.stat().st_mtime_ns) if index.exists() else {}


@lru_cache(maxsize=1)
def _listed(folder: Path, built_at: int) -> dict[str, SiteFile]:
    return {
        path.relative_to(folder).as_posix().removesuffix("index.html"): SiteFile(
            path, quote_etag(hashlib.sha256(path.read_bytes()).hexdigest()[:32])
        )
        for path in folder.rglob("*")
        if path.is_file()
    }


def _etag(request: HttpRequest, path: str) -> str | None:
    file = site_files().get(path)
    return file.etag if file else None


@require_safe
@condition(etag_func=_etag)
def docs(request: HttpRequest, path: str) -> HttpResponse:
    """Answer with a file of the documentation."""
    files = site_files()
    if not files:
        return HttpResponse(NOT_BUILT, status=404, content_type="text/plain; charset=utf-8")
    if f"{path}/" in files:
        return redirect("docs", path=f"{path}/", permanent=True)
    if path not in files:
        raise Http404
    file = files[path].path
    kind = TYPES.get(file.suffix, "text/plain; charset=utf-8")
    response = HttpResponse(file.read_bytes(), content_type=kind)
    # Else a browser asks each time whether the file is as it was: an upgrade shows at once.
    response["Cache-Control"] = "max-age=31536000, immutable" if HASHED.search(path) else "no-cache"
    return response

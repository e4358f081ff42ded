"""The context of every page: the main menu, as far as this person may use it; how to sign in."""

from functools import partial
from typing import Any

from django.conf import settings
from django.http import HttpRequest
from django.urls import NoReverseMatch, get_script_prefix, reverse
from django.utils.functional import SimpleLazyObject

from benchmarks.access import visibility

# Label, name of the address, and whether it takes the right to see results.
PLACES = (
    ("Runs", "benchmarks:run_list", True),
    ("Trajectories", "analysis:trajectory_list", True),
    ("Studies", "annotation:study_list", False),
    ("Sessions", "annotation:session_list", False),
    ("Analysis", "analysis:index", True),
)
# What stands beside runs, in a second bar: what they are made of.
BESIDE_RUNS = (
    ("All runs", "benchmarks:run_list"),
    ("Experiments", "benchmarks:experiment_list"),
    ("Datasets", "benchmarks:dataset_list"),
    ("Agents", "benchmarks:agent_list"),
    ("Endpoints", "benchmarks:endpoint_list"),
    ("Judges", "benchmarks:judge_list"),
)
SEARCH = "analysis:trajectory_list"
SEE_RESULTS = "benchmarks.view_results"


def navigation(request: HttpRequest) -> dict[str, Any]:
    """Give ``nav`` and ``subnav`` (label, url, current each) and ``search_url``.

    All are empty for those not signed in, and ``subnav`` outside the pages beside runs.

    Found out where a page shows its bar: the desk has none, and asks for no rights.
    """
    return {
        "nav": SimpleLazyObject(partial(_places, request)),
        "subnav": SimpleLazyObject(partial(_beside_runs, request)),
        "search_url": SimpleLazyObject(partial(_search, request)),
    }


def _places(request: HttpRequest) -> list[dict[str, str]]:
    sees_results = _sees_results(request)
    if sees_results is None:
        return []
    places = []
    for label, name, results in PLACES:
        url = _url(name)
        if url and (sees_results or not results):
            current = _current(request.path, url)
            if name == "benchmarks:run_list" and not current and _beside_runs(request):
                current = "true"
            places.append({"label": label, "url": url, "current": current})
    return places


def _beside_runs(request: HttpRequest) -> list[dict[str, str]]:
    """Return the places beside runs, if this page is one of them."""
    if not _sees_results(request):
        return []
    places = [
        {"label": label, "url": url, "current": _current(request.path, url)}
        for label, name in BESIDE_RUNS
        if (url := _url(name))
    ]
    return places if any(place["current"] for place in places) else []


def _search(request: HttpRequest) -> str:
    return _url(SEARCH) if _sees_results(request) else ""


def _sees_results(request: HttpRequest) -> bool | None:
    """Return whether this person may see results; None for those not signed in."""
    user = getattr(request, "user", None)
    if user is None or not user.is_authenticated:
        return None
    return bool(user.has_perm(SEE_RESULTS))


def seen(request: HttpRequest) -> dict[str, Any]:
    """Give ``seen``, what is closed to this person; found out where a page asks for it."""
    return {"seen": SimpleLazyObject(partial(visibility, request))}


def single_sign_on(request: HttpRequest) -> dict[str, Any]:
    """Give ``oidc`` (name, url) where people may sign in through a server of their institution."""
    server = settings.OIDC
    if not server.complete:
        return {"oidc": None}
    url = reverse("openid_connect_login", kwargs={"provider_id": server.key})
    return {"oidc": {"name": server.name, "url": url}}


def _url(name: str) -> str:
    """Return the address of ``name``, or nothing while there is none."""
    try:
        return reverse(name)
    except NoReverseMatch:
        return ""


def _current(path: str, url: str) -> str:
    """Return the value of aria-current: this very page, a page within that place, or neither."""
    if path == url:
        return "page"
    return "true" if _section(path) == _section(url) else ""


def _section(path: str) -> str:
    return path.removeprefix(get_script_prefix()).partition("/")[0]

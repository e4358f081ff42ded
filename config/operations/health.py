"""``/health/live``, ``/health/ready`` and ``/metrics``, for programs that watch a server.

They are answered before anything else, because such programs ask by IP address, over plain HTTP and
without a session. Everybody is told one word; reasons are for the addresses in ``HEALTH_IPS``.
"""

from ipaddress import ip_address
from secrets import compare_digest

from django.conf import settings
from django.http import HttpRequest, HttpResponse, JsonResponse

from config.middleware import GetResponse
from config.operations.metrics import CONTENT_TYPE, exposition
from config.operations.probes import readiness

RETRY_SECONDS = 5


def answer_probes(get_response: GetResponse) -> GetResponse:
    """Answer the addresses of this module (middleware)."""
    pages = {"/health/live": live, "/health/ready": ready, "/metrics": metrics}

    def answer(request: HttpRequest) -> HttpResponse:
        page = pages.get(request.path_info)
        if page is None:
            return get_response(request)
        if request.method not in ("GET", "HEAD"):
            return HttpResponse(status=405, headers={"Allow": "GET, HEAD"})
        response = page(request)
        response["Cache-Control"] = "no-store"
        return response

    return answer


def live(request: HttpRequest) -> HttpResponse:
    """Answer 200: the process answers requests. It looks at nothing else."""
    return HttpResponse("live\n", content_type="text/plain")


def ready(request: HttpRequest) -> HttpResponse:
    """Answer whether requests should be sent here: 200, or 503."""
    current = readiness()
    response: HttpResponse
    if _may_know_reasons(request):
        checks = {probe.name: {"ok": probe.ok, "detail": probe.detail} for probe in current.probes}
        response = JsonResponse(
            {"status": current.status, "version": settings.VERSION, "checks": checks}
        )
    else:
        # Whether background work waits is nobody else's business.
        response = HttpResponse("ready\n" if current.ready else "not ready\n", "text/plain")
    if not current.ready:
        response.status_code = 503
        response["Retry-After"] = str(RETRY_SECONDS)
    return response


def metrics(request: HttpRequest) -> HttpResponse:
    """Send numbers in the text format of Prometheus, to whoever has the token."""
    token = settings.METRICS_TOKEN
    if not token:
        return HttpResponse(status=404)
    given = request.headers.get("Authorization", "")
    if not compare_digest(given.encode(), f"Bearer {token}".encode()):
        return HttpResponse(status=401, headers={"WWW-Authenticate": "Bearer"})
    return HttpResponse(exposition(), content_type=CONTENT_TYPE)


def _may_know_reasons(request: HttpRequest) -> bool:
    try:
        address = ip_address(request.META.get("REMOTE_ADDR", ""))
    except ValueError:
        return False
    # An IPv4 address as a socket of IPv6 shows it.
    address = getattr(address, "ipv4_mapped", None) or address
    return any(address in network for network in settings.HEALTH_IPS)

"""What a browser may do on a page."""

from dataclasses import asdict

from csp.constants import HEADER
from csp.middleware import CSPMiddleware
from csp.utils import build_policy
from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.utils.functional import cached_property

# What views and templates may ask for of their own; none does.
_OWN = {"_csp_config", "_csp_update", "_csp_replace", "_csp_exempt"}


class ContentPolicy(CSPMiddleware):
    """The header of the settings, put together once: nothing in it differs between answers."""

    @cached_property
    def _header(self) -> str:
        return build_policy(**asdict(self.get_policy_parts(HttpRequest(), HttpResponse())))

    def process_response(
        self, request: HttpRequest, response: HttpResponseBase
    ) -> HttpResponseBase:
        """Add the header, where there is none."""
        asked = "_csp_nonce" in vars(request) or not _OWN.isdisjoint(vars(response))
        if asked or settings.DEBUG:
            return super().process_response(request, response)
        response.headers.setdefault(HEADER, self._header)
        return response

"""All addresses. Each app has its own urls.py; the first match wins."""

from allauth.account.decorators import secure_admin_login
from allauth.socialaccount.models import SocialAccount, SocialApp, SocialToken
from django.conf import settings
from django.contrib import admin
from django.urls import include, path, re_path

from analysis.api import router as analysis
from analysis.comparison_api import router as comparisons
from analysis.label_api import router as labels
from analysis.paper_api import router as papers
from analysis.registration_api import router as registrations
from annotation.api import desk, links, ratings, sessions, studies
from annotation.api.errors import HANDLERS
from benchmarks.api.build import make_api
from config.docs_site import docs

# The admin's own login page would let people in past their second factor.
admin.site.login = secure_admin_login(admin.site.login)  # type: ignore[method-assign]
# Secrets of servers are in the environment and nowhere else.
admin.site.unregister([SocialApp, SocialToken])
if not settings.OIDC.complete:
    admin.site.unregister(SocialAccount)
admin.site.site_header = "PlanJury administration"
admin.site.site_title = "PlanJury"

# What allauth answers where somebody tries too often.
handler429 = "config.accounts.too_many_requests"
handler500 = "benchmarks.outages.server_error"

api = make_api(
    [
        ("/studies", studies.router),
        ("/studies", ratings.router),
        ("/studies", desk.router),
        ("/studies", links.router),
        ("", sessions.router),
        ("", analysis),
        ("", papers),
        ("", comparisons),
        ("", registrations),
        ("", labels),
    ],
    handlers=HANDLERS,
)

urlpatterns = [
    path("admin/", admin.site.urls),
    path("accounts/", include("config.account_urls")),
    path("server/", include("config.operations.urls")),
    path("api/v1/", api.urls),
    re_path(r"^docs/(?P<path>.*)$", docs, name="docs"),
    path("", include("annotation.urls")),
    path("", include("benchmarks.api.urls")),
    path("", include("benchmarks.urls")),
    path("", include("analysis.urls")),
    path("", include("devtools.urls")),
]

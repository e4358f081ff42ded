"""The site's addresses where a server of identities is configured."""

from django.urls import include, path

from config.sso import sso_urls
from config.urls import handler429
from config.urls import urlpatterns as others

__all__ = ["handler429", "urlpatterns"]
urlpatterns = [path("accounts/oidc/", include(sso_urls())), *others]

"""Addresses of signing in through a server; there only where one is configured."""

from allauth.socialaccount import views as identities
from allauth.socialaccount.providers.openid_connect import views as provider
from django.urls import path

from config.oidc.views import leave

urlpatterns = [
    path("", identities.connections, name="socialaccount_connections"),
    path("cancelled/", identities.login_cancelled, name="socialaccount_login_cancelled"),
    path("error/", identities.login_error, name="socialaccount_login_error"),
    path("<str:provider_id>/login/", leave, name="openid_connect_login"),
    path("<str:provider_id>/login/callback/", provider.callback, name="openid_connect_callback"),
]

"""Addresses of accounts: what allauth offers, as far as this product has a use for it.

No mail is sent, so there are no addresses to confirm and no passwords to reset by mail. A link that
``create_accounts`` wrote lets somebody choose their first password.
"""

from allauth.account import views
from django.conf import settings
from django.urls import URLPattern, URLResolver, include, path

from config.accounts import first_password
from config.sso import sso_urls

urlpatterns: list[URLPattern | URLResolver] = [
    path("login/", views.login, name="account_login"),
    path("logout/", views.logout, name="account_logout"),
    path("inactive/", views.account_inactive, name="account_inactive"),
    path("signup/", views.signup, name="account_signup"),
    path("reauthenticate/", views.reauthenticate, name="account_reauthenticate"),
    path("password/change/", views.password_change, name="account_change_password"),
    path("password/set/", views.password_set, name="account_set_password"),
    path("start/<uidb64>/<token>/", first_password, name="account_start"),
    path("2fa/", include("allauth.mfa.urls")),
]
if settings.OIDC.complete:
    urlpatterns.append(path("oidc/", include(sso_urls())))

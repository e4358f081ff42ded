"""Addresses of what people need for their programs, beside the API itself."""

from django.urls import path

from benchmarks.api import views as tokens

app_name = "programs"
urlpatterns = [
    path("account/tokens/", tokens.token_list, name="token_list"),
    path("account/tokens/<int:token_id>/revoke/", tokens.token_revoke, name="token_revoke"),
]

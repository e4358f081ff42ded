"""Addresses of the analysis app."""

from django.urls import URLPattern, URLResolver

app_name = "analysis"
urlpatterns: list[URLPattern | URLResolver] = []

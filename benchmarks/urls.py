"""Addresses of the benchmarks app."""

from django.urls import URLPattern, URLResolver

app_name = "benchmarks"
urlpatterns: list[URLPattern | URLResolver] = []

"""URLs of endpoints."""

from django.urls import path

from benchmarks.endpoints import views
from benchmarks.endpoints.administration_views import endpoint_rules
from benchmarks.endpoints.guide import endpoint_guide

urlpatterns = [
    path("endpoints/", views.endpoint_list, name="endpoint_list"),
    path("endpoints/new/", views.endpoint_new, name="endpoint_new"),
    path("endpoints/rules/", endpoint_rules, name="endpoint_rules"),
    path("endpoints/start/", endpoint_guide, name="endpoint_guide"),
    path("endpoints/<int:endpoint_id>/", views.endpoint, name="endpoint"),
    path("endpoints/<int:endpoint_id>/edit/", views.endpoint_edit, name="endpoint_edit"),
    path("endpoints/<int:endpoint_id>/retire/", views.endpoint_retire, name="endpoint_retire"),
    path("endpoints/<int:endpoint_id>/try/", views.endpoint_try, name="endpoint_try"),
    path("endpoints/<int:endpoint_id>/trials/", views.endpoint_trials, name="endpoint_trials"),
]

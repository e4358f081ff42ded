"""URLs of agents."""

from django.urls import path

from benchmarks.roles import views

urlpatterns = [
    path("agents/", views.agent_list, name="agent_list"),
]
